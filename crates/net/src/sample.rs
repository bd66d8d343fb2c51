//! Time series, sampled at a fixed step by a source of events of its own. Which columns there are, its user says: the world only
//! knows what can be seen of a flow and of a port at one instant.

use crate::endpoint::{Endpoint, FlowView};
use crate::flow::Flow;
use crate::port::Port;
use crate::qdisc::{Backlog, Qdisc};
use crate::shelf::{Reading, Shelf};
use fairlane_units::{Dur, Time};
use std::io;

/// What series show of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderSample {
    /// Congestion window in bytes; 0 for a transport without one.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` while there is none.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Dur,
}

impl From<FlowView> for SenderSample {
    fn from(v: FlowView) -> Self {
        Self { cwnd: v.cwnd, ssthresh: v.ssthresh, in_flight: v.in_flight, srtt: v.srtt }
    }
}

/// A flow at the instant of a sample.
#[derive(Clone, Debug)]
pub struct FlowSample {
    /// Now, in seconds.
    pub time: f64,
    /// Seconds since the sample before.
    pub step: f64,
    /// What its sender says of itself.
    pub sender: SenderSample,
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
    /// Now, in seconds.
    pub time: f64,
    /// Seconds since the sample before.
    pub step: f64,
    /// What waits.
    pub backlog: Backlog,
    /// Bits carried since the sample before.
    pub carried: f64,
    /// Packets dropped since the sample before.
    pub drops: u64,
    /// Those of them that a link lost which was down.
    pub outage: u64,
}

/// Adds the values of all subjects at one instant to a column.
pub type Fill<S> = fn(&[S], &mut Vec<f64>);

/// How one column comes out of samples of type `S`: by its name.
pub type Column<S> = (&'static str, Fill<S>);

/// What is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Time between two samples.
    pub step: Dur,
    /// Columns of the flows' series; none: flows are not looked at.
    pub flows: Vec<Column<FlowSample>>,
    /// Columns of the ports' series.
    pub ports: Vec<Column<PortSample>>,
}

/// A series: one row a subject and sample, instant by instant.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Flows or ports by number, in the order in which each instant has them.
    pub subjects: Vec<u32>,
    /// How many of them an instant had, and how many instants in a row that was so.
    pub spans: Vec<(usize, usize)>,
    /// Names of the columns: those asked for, then the gauges of endpoints and queues that have some, in the order of their first value.
    pub names: Vec<&'static str>,
    shelf: Shelf,
}

impl Recording {
    /// The values of a column; NaN where a subject has none of that name. `None` if there is no such column.
    ///
    /// # Errors
    /// The temporary file that holds it cannot be read.
    pub fn column(&self, name: &str) -> Option<io::Result<Vec<f64>>> {
        let at = self.names.iter().position(|n| *n == name)?;
        let (mut reading, mut out) = (Reading::default(), Vec::with_capacity(self.spans.iter().map(|(rows, n)| rows * n).sum()));
        Some(self.shelf.read(at, &mut reading, self.instants(), &mut out).map(|()| out))
    }

    /// How many rows each instant has.
    fn instants(&self) -> impl Iterator<Item = usize> {
        self.spans.iter().flat_map(|&(rows, instants)| std::iter::repeat_n(rows, instants))
    }

    /// The next instants of some columns, of which `place` is the same from call to call; no more than `most` rows, but one instant at
    /// least. `None` at the end.
    ///
    /// # Errors
    /// As `column`; or there is no such column.
    pub fn next(&self, place: &mut Place, columns: &[usize], most: usize) -> io::Result<Option<Stretch>> {
        place.readings.resize_with(columns.len(), Reading::default);
        let mut rows = Vec::new();
        let mut all = 0;
        while let Some(&(of, instants)) = self.spans.get(place.span) {
            let room = most.saturating_sub(all).checked_div(of).map_or(usize::MAX, |n| n.max(usize::from(rows.is_empty())));
            let taken = room.min(instants - place.instant);
            if taken == 0 {
                break;
            }
            rows.resize(rows.len() + taken, of);
            all += taken * of;
            place.instant += taken;
            if place.instant == instants {
                (place.span, place.instant) = (place.span + 1, 0);
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(columns.len());
        for (&at, reading) in columns.iter().zip(&mut place.readings) {
            let mut column = Vec::with_capacity(all);
            self.shelf.read(at, reading, rows.iter().copied(), &mut column)?;
            values.push(column);
        }
        Ok(Some(Stretch { rows, columns: values }))
    }

    fn add(&mut self, name: &'static str) {
        self.names.push(name);
        self.shelf.add();
    }
}

/// How far a series has been read.
#[derive(Clone, Debug, Default)]
pub struct Place {
    span: usize,
    /// Of the span.
    instant: usize,
    readings: Vec<Reading>,
}

/// Some instants of a series.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// How many rows each has.
    pub rows: Vec<usize>,
    /// The values of each column.
    pub columns: Vec<Vec<f64>>,
}

/// A series that is being recorded.
#[derive(Clone, Debug)]
pub struct Rows<S> {
    fill: Vec<Fill<S>>,
    /// What is recorded.
    pub kept: Recording,
    /// Samples of the instant that is being recorded.
    block: Vec<S>,
    /// Values of one column at this instant, and of all gauges.
    now: Vec<f64>,
    gauges: Vec<Vec<f64>>,
}

impl<S> Rows<S> {
    fn new(columns: Vec<Column<S>>, subjects: Vec<u32>) -> Self {
        let mut kept = Recording { subjects, spans: Vec::new(), names: Vec::new(), shelf: Shelf::default() };
        columns.iter().for_each(|(name, _)| kept.add(name));
        let fill = columns.into_iter().map(|(_, fill)| fill).collect();
        Self { fill, kept, block: Vec::new(), now: Vec::new(), gauges: Vec::new() }
    }

    /// The rows of one instant: all samples in `block`. `gauges` are told the row's place there, and may add to it.
    fn take(&mut self, mut gauges: impl FnMut(usize, &mut dyn FnMut(&'static str, f64))) {
        let (asked, count) = (self.fill.len(), self.block.len());
        for (at, fill) in self.fill.iter().enumerate() {
            self.now.clear();
            fill(&self.block, &mut self.now);
            self.kept.shelf.put(at, &mut self.now);
        }
        let (kept, told) = (&mut self.kept, &mut self.gauges);
        for column in told.iter_mut() {
            column.clear();
            column.resize(count, f64::NAN);
        }
        for i in 0..count {
            // Algorithms tell their variables in one order: the next column is looked at first.
            let mut next = asked;
            gauges(i, &mut |name, value| {
                let is = |n: &&'static str| std::ptr::eq(*n, name) || *n == name;
                let at = if kept.names.get(next).is_some_and(is) {
                    next
                } else if let Some(at) = kept.names[asked..].iter().position(is) {
                    asked + at
                } else {
                    kept.add(name);
                    told.push(vec![f64::NAN; count]);
                    kept.names.len() - 1
                };
                next = at + 1;
                told[at - asked][i] = value;
            });
        }
        for (at, column) in told.iter_mut().enumerate() {
            kept.shelf.put(asked + at, column);
        }
        kept.shelf.end();
        match kept.spans.last_mut() {
            Some((of, instants)) if *of == count => *instants += 1,
            _ => kept.spans.push((count, 1)),
        }
        self.block.clear();
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
    /// Flows over time.
    pub flows: Rows<FlowSample>,
    /// Links over time.
    pub links: Rows<PortSample>,
}

impl Sampler {
    /// Samples flows, and links in `watched`.
    pub(crate) fn new(sampling: Sampling, watched: Vec<u32>) -> Self {
        let Sampling { step, flows, ports } = sampling;
        let (flows_before, ports_before) = (Vec::new(), vec![PortBefore::default(); watched.len()]);
        Self { step, flows_before, ports_before, flows: Rows::new(flows, Vec::new()), links: Rows::new(ports, watched) }
    }

    /// Ports that are sampled.
    pub(crate) fn watched(&self) -> &[u32] {
        &self.links.kept.subjects
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
        for (before, &i) in self.ports_before.iter_mut().zip(&self.links.kept.subjects) {
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
        let (now_s, step) = (time.as_secs_f64(), self.step.as_secs_f64());
        // Whose series has no columns is not looked at.
        let count = if self.flows.fill.is_empty() { 0 } else { flows.len() };
        self.flows_before.resize_with(count, FlowBefore::default);
        let subjects = &mut self.flows.kept.subjects;
        subjects.extend(subjects.len() as u32..count as u32);
        self.flows.block.extend(flows.zip(&mut self.flows_before).enumerate().map(|(i, (flow, before))| {
            let (sender, receiver) = ends(i);
            let now = FlowBefore { received: flow.counters.received_bytes, arrived: flow.delivered + flow.kept(receiver) };
            let sample = FlowSample {
                time: now_s,
                step,
                sender: sender.sample(),
                arrived: now.arrived.saturating_sub(before.arrived), // a reset throws away what waited
                received: now.received.wrapping_sub(before.received),
                open: open.as_mut().and_then(Iterator::next).unwrap_or(f64::NAN),
            };
            *before = now;
            sample
        }));
        self.flows.take(|i, out| ends(i).0.gauges(out));
        let Rows { kept: Recording { subjects, .. }, block, .. } = &mut self.links;
        block.extend(subjects.iter().zip(&mut self.ports_before).map(|(&i, before)| {
            let port = &ports[i as usize];
            let now = PortBefore::now(port, time);
            let (carried, drops) = (now.carried - before.carried, now.drops.wrapping_sub(before.drops));
            let outage = now.outage.wrapping_sub(before.outage);
            *before = now;
            PortSample { time: now_s, step, backlog: port.backlog(), carried, drops, outage }
        }));
        let watched = std::mem::take(&mut self.links.kept.subjects);
        self.links.take(|i, out| ports[watched[i] as usize].qdisc().gauges(out));
        self.links.kept.subjects = watched;
        time + self.step
    }
}
