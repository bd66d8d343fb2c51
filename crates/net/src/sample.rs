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
    /// Payload bytes that reached the receiver for the first time since the sample before.
    pub arrived: u64,
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
    /// Bits carried since the sample before.
    pub carried: f64,
    /// Packets dropped since the sample before.
    pub drops: u64,
    /// Those of them that a link lost which was down.
    pub outage: u64,
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

/// Counters of a flow at the sample before. Counters fall back to zero at the end of the warm-up: these then go below it, and wrap.
#[derive(Clone, Debug, Default)]
struct FlowBefore {
    received: u64,
    arrived: u64,
}

/// Those of a port.
#[derive(Clone, Debug, Default)]
struct PortBefore {
    carried: f64,
    drops: u64,
    outage: u64,
}

impl PortBefore {
    fn now<Q: Qdisc>(port: &Port<Q>, time: Time) -> Self {
        let c = port.counters();
        Self { carried: port.carried(time), drops: c.drops.iter().sum(), outage: c.outage_losses() }
    }
}

/// The sampler and what it has recorded.
#[derive(Clone, Debug)]
pub struct Sampler {
    step: Dur,
    flows_before: Vec<FlowBefore>,
    ports_before: Vec<PortBefore>,
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

    /// All counters are about to begin anew.
    pub(crate) fn reset<'a, Q: Qdisc + 'a>(&mut self, time: Time, flows: impl Iterator<Item = &'a Flow>, ports: &[Port<Q>]) {
        for (before, flow) in self.flows_before.iter_mut().zip(flows) {
            before.received = before.received.wrapping_sub(flow.counters.received_bytes);
        }
        for (before, &i) in self.ports_before.iter_mut().zip(&self.watched) {
            let now = PortBefore::now(&ports[i as usize], time);
            (before.carried, before.drops) = (before.carried - now.carried, before.drops.wrapping_sub(now.drops));
            before.outage = before.outage.wrapping_sub(now.outage);
        }
    }

    /// Takes one sample; returns when the next is due. `ends`: sender and receiver. `open`: the shares of the flows that controls govern.
    pub(crate) fn record<'a, Q: Qdisc + 'a, E: Endpoint + 'a>(
        &mut self,
        time: Time,
        flows: impl ExactSizeIterator<Item = &'a Flow>,
        ends: impl Fn(usize) -> (&'a E, &'a E),
        ports: &[Port<Q>],
        mut open: Option<impl Iterator<Item = f64>>,
    ) -> Time {
        let step = self.step;
        self.flows_before.resize_with(flows.len(), FlowBefore::default);
        for (i, flow) in flows.enumerate() {
            let ((sender, receiver), before) = (ends(i), &mut self.flows_before[i]);
            let now = FlowBefore { received: flow.counters.received_bytes, arrived: flow.delivered + receiver.kept() };
            let sample = FlowSample {
                time,
                step,
                view: sender.view(),
                arrived: now.arrived.saturating_sub(before.arrived), // a reset throws away what waited
                received: now.received.wrapping_sub(before.received),
                open: open.as_mut().and_then(Iterator::next).unwrap_or(f64::NAN),
            };
            self.flows.push(i as u32, &sample, |out| sender.gauges(out));
            *before = now;
        }
        self.ports_before.resize_with(self.watched.len(), PortBefore::default);
        for (&i, before) in self.watched.iter().zip(&mut self.ports_before) {
            let port = &ports[i as usize];
            let now = PortBefore::now(port, time);
            let (carried, drops) = (now.carried - before.carried, now.drops.wrapping_sub(before.drops));
            let outage = now.outage.wrapping_sub(before.outage);
            let sample = PortSample { time, step, backlog: port.qdisc().backlog(), carried, drops, outage };
            self.links.push(i, &sample, |out| port.qdisc().gauges(out));
            *before = now;
        }
        time + step
    }
}
