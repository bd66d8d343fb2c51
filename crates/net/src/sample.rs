//! Time series, sampled at a fixed step by a source of events of its own. Which columns there are, its user says: the world only
//! knows what can be seen of a flow and of a port at one instant.

use crate::endpoint::{Endpoint, FlowView};
use crate::flow::Flow;
use crate::port::Port;
use crate::qdisc::{Backlog, Qdisc};
use fairlane_units::{Dur, Time};

/// A flow at the instant of a sample.
#[derive(Clone, Debug)]
pub struct FlowSample {
    /// Now.
    pub time: Time,
    /// Time since the sample before.
    pub step: Dur,
    /// What its sender says of itself.
    pub view: FlowView,
    /// Bytes delivered in order to the application since the sample before.
    pub delivered: u64,
    /// Bytes on the wire that reached the receiver since the sample before.
    pub received: u64,
    /// Share of the step in which its control let the flow send; NaN for a flow without one.
    pub open: f64,
}

/// A port at the instant of a sample.
#[derive(Clone, Debug)]
pub struct PortSample {
    /// Now.
    pub time: Time,
    /// Time since the sample before.
    pub step: Dur,
    /// What waits.
    pub backlog: Backlog,
    /// Bytes whose transmission began since the sample before.
    pub sent: u64,
    /// Packets dropped since the sample before.
    pub drops: u64,
}

/// How one column comes out of samples of type `S`: its name and the expression.
pub type Column<S> = (&'static str, fn(&S) -> f64);

/// What is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Time between two samples.
    pub step: Dur,
    /// Columns of the flows' series.
    pub flows: Vec<Column<FlowSample>>,
    /// Columns of the ports' series.
    pub ports: Vec<Column<PortSample>>,
}

/// A series: one row a subject and sample.
#[derive(Clone, Debug)]
pub struct Rows<S> {
    values: Vec<fn(&S) -> f64>,
    /// The flow or port of each row, by its number.
    pub subject: Vec<u32>,
    /// Columns by name: those asked for, then the gauges of endpoints and queues that have some, in the order of their first value;
    /// NaN where a subject has none of that name.
    pub columns: Vec<(&'static str, Vec<f64>)>,
}

impl<S> Rows<S> {
    fn new(columns: Vec<Column<S>>) -> Self {
        let (columns, values) = columns.into_iter().map(|(name, value)| ((name, Vec::new()), value)).unzip();
        Self { values, subject: Vec::new(), columns }
    }

    /// One more row; `gauges` may add to it.
    fn push(&mut self, subject: u32, sample: &S, gauges: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        self.subject.push(subject);
        for ((_, column), value) in self.columns.iter_mut().zip(&self.values) {
            column.push(value(sample));
        }
        let rows = self.subject.len();
        gauges(&mut |name, value| self.set_gauge(rows, name, value));
        for (_, column) in &mut self.columns[self.values.len()..] {
            column.resize(rows, f64::NAN);
        }
    }

    /// The value of one gauge in the row that is the last of `rows`.
    fn set_gauge(&mut self, rows: usize, name: &'static str, value: f64) {
        let asked = self.values.len();
        let k = self.columns[asked..].iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
            self.columns.push((name, Vec::new()));
            self.columns.len() - 1 - asked
        });
        let column = &mut self.columns[asked + k].1;
        column.resize(rows - 1, f64::NAN);
        column.push(value);
    }
}

/// Counters at the sample before.
#[derive(Clone, Debug, Default)]
struct Before {
    bytes: u64,
    other: u64,
}

/// What was counted since `before`; counters fall back to zero at the end of the warm-up, and that step then counts from there.
fn since(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}

/// The sampler and what it has recorded.
#[derive(Clone, Debug)]
pub struct Sampler {
    step: Dur,
    flows_before: Vec<Before>,
    ports_before: Vec<Before>,
    /// Ports that are sampled.
    watched: Vec<u32>,
    /// Flows over time.
    pub flows: Rows<FlowSample>,
    /// Links over time.
    pub links: Rows<PortSample>,
}

impl Sampler {
    /// Samples flows, and links in `watched`.
    pub(crate) fn new(sampling: Sampling, watched: Vec<u32>) -> Self {
        let Sampling { step, flows, ports } = sampling;
        Self { step, flows_before: Vec::new(), ports_before: Vec::new(), watched, flows: Rows::new(flows), links: Rows::new(ports) }
    }

    /// The step.
    pub fn step(&self) -> Dur {
        self.step
    }

    /// Takes one sample; returns when the next is due. `open`: the shares of the flows that controls govern.
    pub(crate) fn record<'a, Q: Qdisc + 'a, E: Endpoint + 'a>(
        &mut self,
        time: Time,
        flows: impl ExactSizeIterator<Item = &'a Flow>,
        sender: impl Fn(usize) -> &'a E,
        ports: &[Port<Q>],
        mut open: Option<impl Iterator<Item = f64>>,
    ) -> Time {
        let step = self.step;
        self.flows_before.resize_with(flows.len(), Before::default);
        for (i, flow) in flows.enumerate() {
            let (endpoint, before) = (sender(i), &mut self.flows_before[i]);
            let now = Before { bytes: flow.counters.received_bytes, other: flow.delivered };
            let sample = FlowSample {
                time,
                step,
                view: endpoint.view(),
                delivered: now.other - before.other,
                received: since(now.bytes, before.bytes),
                open: open.as_mut().and_then(Iterator::next).unwrap_or(f64::NAN),
            };
            self.flows.push(i as u32, &sample, |out| endpoint.gauges(out));
            *before = now;
        }
        self.ports_before.resize_with(self.watched.len(), Before::default);
        for (&i, before) in self.watched.iter().zip(&mut self.ports_before) {
            let port = &ports[i as usize];
            let c = port.counters();
            let now = Before { bytes: c.sent_bytes, other: c.drops.iter().sum() };
            let (sent, drops) = (since(now.bytes, before.bytes), since(now.other, before.other));
            let sample = PortSample { time, step, backlog: port.qdisc().backlog(), sent, drops };
            self.links.push(i, &sample, |out| port.qdisc().gauges(out));
            *before = now;
        }
        time + step
    }
}
