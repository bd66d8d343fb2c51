//! Time series, sampled at a fixed step by a source of events of its own. Which columns there are, its user says: the world only
//! knows what can be seen of a flow and of a port at one instant.

use super::columns::{Column, FLOW, FlowSample, PORT, PortSample, word};
use super::recording::{Made, Recording};
use super::rows::Rows;
use crate::endpoint::{Endpoint, SenderSample};
use crate::flow::Flow;
use crate::observe::Observer;
use crate::path::Path;
use crate::port::Port;
use crate::qdisc::{Backlog, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};

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

/// A series that is being recorded.
#[derive(Clone, Debug)]
pub struct Series<const N: usize> {
    /// What is recorded.
    pub kept: Recording,
    rows: Rows<N>,
    /// Rows whose gauges may be others at this instant than before.
    telling: Vec<u32>,
    /// The values of all gauges at this instant.
    gauges: Vec<Vec<f64>>,
}

impl<const N: usize> Series<N> {
    fn new(kept: Recording) -> Self {
        Self { kept, rows: Rows::new(), telling: Vec::new(), gauges: Vec::new() }
    }

    /// The row of a subject at this instant; without it, it is as before.
    #[inline]
    fn put(&mut self, subject: usize, now: [u64; N]) {
        self.rows.put(subject, now, &mut self.kept.shelf.rows);
    }

    /// The instant has the rows of so many subjects. `gauges` are told the row's place there, if it may have some, and add to it.
    fn end(&mut self, count: usize, mut gauges: impl FnMut(usize, &mut dyn FnMut(&'static str, f64))) {
        let asked = self.kept.asked();
        let (kept, told) = (&mut self.kept, &mut self.gauges);
        self.rows.end(&mut kept.shelf.rows);
        let before = kept.spans.last().map_or(0, |(of, _)| *of);
        for column in told.iter_mut() {
            // Less what the shelf has added.
            column.truncate(before);
            column.resize(count, f64::NAN);
        }
        for i in self.telling.drain(..).map(|i| i as usize) {
            told.iter_mut().for_each(|column| column[i] = f64::NAN);
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
            kept.shelf.put(at, column);
        }
        kept.shelf.end();
        match kept.spans.last_mut() {
            Some((of, instants)) if *of == count => *instants += 1,
            _ => kept.spans.push((count, 1)),
        }
    }
}

/// Counters of a flow at the sample before. Counters fall back to zero at the end of the warm-up: these then go below it, and wrap.
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

/// The sampler and what it has recorded.
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
    /// Samples flows, and links in `watched`.
    pub(crate) fn new(sampling: Sampling, watched: Vec<u32>) -> Self {
        let Sampling { step, flows, ports } = sampling;
        let ports_before = vec![PortBefore::default(); watched.len()];
        let (names, fill): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
        let flows = Series::new(Recording::new(step, Made::Flows(fill), names, Vec::new()));
        let (names, fill): (Vec<_>, Vec<_>) = ports.into_iter().unzip();
        let mut links = Series::new(Recording::new(step, Made::Ports(fill), names, watched));
        links.rows.set_len(ports_before.len());
        Self { step, flows_before: Vec::new(), ports_before, flows, links }
    }

    /// By port, true if it is sampled.
    pub(crate) fn sampled_ports(sampler: Option<&Self>, count: usize) -> Vec<bool> {
        let mut sampled = vec![false; count];
        sampler.iter().flat_map(|s| &s.links.kept.subjects).for_each(|&i| sampled[i as usize] = true);
        sampled
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

    /// Takes one sample and returns the time of the next. `ends`: sender and receiver of a flow. `open`: open shares of the flows under flow control.
    pub(crate) fn record<'a, Q: Qdisc, H: EventQueue, E: Endpoint + 'a, O: Observer>(
        &mut self,
        time: Time,
        path: &mut Path<Q, H>,
        ends: impl Fn(usize) -> (&'a E, &'a E),
        mut open: Option<impl Iterator<Item = f64>>,
        obs: &mut O,
    ) -> Time {
        // Whose series has no columns is not looked at.
        let count = if self.flows.kept.asked() == 0 { 0 } else { path.flows.len() };
        if count > self.flows_before.len() {
            self.flows_before.resize_with(count, FlowBefore::default);
            let subjects = &mut self.flows.kept.subjects;
            subjects.extend(subjects.len() as u32..count as u32);
            self.flows.rows.set_len(count);
        }
        for i in 0..count {
            let (before, flow) = (&mut self.flows_before[i], &path.flows[i]);
            let (sender, receiver) = ends(i);
            let (received, arrived) = (flow.counters.received_bytes, flow.delivered + flow.kept(receiver));
            let SenderSample { cwnd, ssthresh, in_flight, srtt } = sender.sample();
            let now = (arrived.saturating_sub(before.arrived), received.wrapping_sub(before.received)); // a reset throws away what waited
            let share = open.as_mut().and_then(Iterator::next);
            *before = FlowBefore { received, arrived };
            self.flows.telling.push(i as u32);
            self.flows.put(i, [cwnd, ssthresh, in_flight, srtt.as_ps(), now.0, now.1, word(share.unwrap_or(f64::NAN))]);
        }
        self.flows.end(count, |i, out| ends(i).0.gauges(out));
        let watched = std::mem::take(&mut self.links.kept.subjects);
        for (row, (&i, before)) in watched.iter().zip(&mut self.ports_before).enumerate() {
            let mut port = &path.ports[i as usize];
            // Other ports start their due transmissions later: nobody can tell.
            if port.queued && port.busy_until <= time {
                path.settle::<O, true>(i, time, obs);
                port = &path.ports[i as usize];
            }
            // Tail drop has no gauges.
            if port.qdisc.tail().is_none() {
                self.links.telling.push(row as u32);
            }
            let mut now = PortBefore::now(port, time);
            // `carried` never falls, but for the rounding of the packet in transmission.
            debug_assert!(before.carried - now.carried < 100.0 + 1e-9 * now.carried, "{} bits after {}", now.carried, before.carried);
            now.carried = now.carried.max(before.carried);
            let Backlog { pkts, bytes } = port.backlog();
            let (drops, outage) = (now.drops.wrapping_sub(before.drops), now.outage.wrapping_sub(before.outage));
            let words = [word(now.carried - before.carried), pkts.into(), bytes, drops, outage];
            *before = now;
            self.links.put(row, words);
        }
        self.links.end(watched.len(), |i, out| path.ports[watched[i] as usize].qdisc().gauges(out));
        self.links.kept.subjects = watched;
        time + self.step
    }
}
