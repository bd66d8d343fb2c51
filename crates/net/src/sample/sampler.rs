//! The sampler: takes a sample of all flows and of chosen ports at a fixed step. Users choose the columns that are made of the samples.

use super::columns::{Column, FLOW, FlowSample, PORT, PortSample, word};
use super::recording::{Fills, Recording};
use crate::endpoint::{Endpoint, SenderSample};
use crate::flow::Flow;
use crate::observe::Observer;
use crate::path::Path;
use crate::port::Port;
use crate::qdisc::{Backlog, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};

/// Step and columns of the time series.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Time between two samples.
    pub step: Dur,
    /// Columns of the flows' series; if empty, flows are not sampled.
    pub flows: Vec<Column<FlowSample>>,
    /// Columns of the ports' series.
    pub ports: Vec<Column<PortSample>>,
}

/// A series that is being recorded.
#[derive(Clone, Debug)]
pub struct Series<const N: usize> {
    /// The recorded part.
    pub kept: Recording,
    /// Values of all gauges at this instant.
    gauges: Vec<Vec<f64>>,
}

impl<const N: usize> Series<N> {
    fn new(step: Dur, fills: Fills, names: Vec<&'static str>, subjects: Vec<u32>) -> Self {
        Self { kept: Recording::new(step, fills, N, names, subjects), gauges: Vec::new() }
    }

    /// Adds the sample of the next subject of this instant.
    #[inline]
    fn push(&mut self, sample: [u64; N]) {
        self.kept.push(sample);
    }

    /// Ends an instant with `count` rows; `gauges` passes the gauges of a row to its argument.
    fn end(&mut self, count: usize, mut gauges: impl FnMut(usize, &mut dyn FnMut(&'static str, f64))) {
        let sampled = self.kept.sampled_columns();
        let (kept, columns) = (&mut self.kept, &mut self.gauges);
        for column in columns.iter_mut() {
            column.clear();
            column.resize(count, f64::NAN);
        }
        for i in 0..count {
            // Algorithms report their gauges in one order: the next column is tried first.
            let mut next = sampled;
            gauges(i, &mut |name, value| {
                let is = |n: &&'static str| std::ptr::eq(*n, name) || *n == name;
                let at = if kept.names.get(next).is_some_and(is) {
                    next
                } else if let Some(at) = kept.names[sampled..].iter().position(is) {
                    sampled + at
                } else {
                    kept.add_gauge(name);
                    columns.push(vec![f64::NAN; count]);
                    kept.names.len() - 1
                };
                next = at + 1;
                columns[at - sampled][i] = value;
            });
        }
        kept.end_instant(count, columns);
    }
}

/// Counters of a flow at the previous sample. A reset at the end of the warm-up may take them below zero: they wrap.
#[derive(Clone, Debug, Default)]
struct FlowBefore {
    received: u64,
    arrived: u64,
}

/// Counters of a port at the previous sample.
#[derive(Clone, Copy, Debug, Default)]
struct PortBefore {
    carried: f64,
    drops: u64,
    outage: u64,
}

impl PortBefore {
    #[inline]
    fn now<Q: Qdisc>(port: &Port<Q>, time: Time) -> Self {
        let (carried, drops, outage) = port.progress(time);
        Self { carried, drops, outage }
    }
}

/// The sampler and its recordings.
#[derive(Clone, Debug)]
pub struct Sampler {
    step: Dur,
    flows_before: Vec<FlowBefore>,
    ports_before: Vec<PortBefore>,
    /// Flows over time.
    pub flows: Series<FLOW>,
    /// Links over time.
    pub links: Series<PORT>,
}

impl Sampler {
    /// Creates a sampler of flows, and of the links in `watched`.
    pub(crate) fn new(sampling: Sampling, watched: Vec<u32>) -> Self {
        let Sampling { step, flows, ports } = sampling;
        let ports_before = vec![PortBefore::default(); watched.len()];
        let (names, fill): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
        let flows = Series::new(step, Fills::Flows(fill), names, Vec::new());
        let (names, fill): (Vec<_>, Vec<_>) = ports.into_iter().unzip();
        let links = Series::new(step, Fills::Ports(fill), names, watched);
        Self { step, flows_before: Vec::new(), ports_before, flows, links }
    }

    /// Returns for each port true if it is sampled.
    pub(crate) fn sampled_ports(sampler: Option<&Self>, count: usize) -> Vec<bool> {
        let mut sampled = vec![false; count];
        sampler.iter().flat_map(|s| &s.links.kept.subjects).for_each(|&i| sampled[i as usize] = true);
        sampled
    }

    /// Time between two samples.
    pub fn step(&self) -> Dur {
        self.step
    }

    /// Prepares for a reset of all counters.
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

    /// Takes one sample and returns the time of the next. `ends`: sender and receiver of a flow. `open`: open shares of the flows under flow control.
    pub(crate) fn record<'a, Q: Qdisc, H: EventQueue, E: Endpoint + 'a, O: Observer>(
        &mut self,
        time: Time,
        path: &mut Path<Q, H>,
        ends: impl Fn(usize) -> (&'a E, &'a E),
        mut open: Option<impl Iterator<Item = f64>>,
        obs: &mut O,
    ) -> Time {
        // A series without columns is not sampled.
        let count = if self.flows.kept.sampled_columns() == 0 { 0 } else { path.flows.len() };
        if count > self.flows_before.len() {
            self.flows_before.resize_with(count, FlowBefore::default);
            let subjects = &mut self.flows.kept.subjects;
            subjects.extend(subjects.len() as u32..count as u32);
        }
        for i in 0..count {
            let (before, flow) = (&mut self.flows_before[i], &path.flows[i]);
            let (sender, receiver) = ends(i);
            let (received, arrived) = (flow.counters.received_bytes, flow.delivered + flow.kept(receiver));
            let SenderSample { cwnd, ssthresh, in_flight, srtt } = sender.sample();
            let now = (arrived.saturating_sub(before.arrived), received.wrapping_sub(before.received)); // a reset discards kept bytes
            let share = open.as_mut().and_then(Iterator::next);
            *before = FlowBefore { received, arrived };
            self.flows.push([cwnd, ssthresh, in_flight, srtt.as_ps(), now.0, now.1, word(share.unwrap_or(f64::NAN))]);
        }
        self.flows.end(count, |i, out| ends(i).0.gauges(out));
        let watched = std::mem::take(&mut self.links.kept.subjects);
        for (&i, before) in watched.iter().zip(&mut self.ports_before) {
            let mut port = &path.ports[i as usize];
            // Ports without a sampler may start due transmissions later: no result depends on it.
            if port.queued && port.busy_until <= time {
                path.settle::<O, true>(i, time, obs);
                port = &path.ports[i as usize];
            }
            let mut now = PortBefore::now(port, time);
            // `carried` never falls, but for the rounding of the packet in transmission.
            debug_assert!(before.carried - now.carried < 100.0 + 1e-9 * now.carried, "{} bits after {}", now.carried, before.carried);
            now.carried = now.carried.max(before.carried);
            let Backlog { pkts, bytes } = port.backlog();
            let (drops, outage) = (now.drops.wrapping_sub(before.drops), now.outage.wrapping_sub(before.outage));
            let words = [word(now.carried - before.carried), pkts.into(), bytes, drops, outage];
            *before = now;
            self.links.push(words);
        }
        self.links.end(watched.len(), |i, out| path.ports[watched[i] as usize].qdisc().gauges(out));
        self.links.kept.subjects = watched;
        time + self.step
    }
}
