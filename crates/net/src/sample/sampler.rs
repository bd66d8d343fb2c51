//! Time series, sampled at a fixed step by a source of events of its own. Which columns there are, its user says: the world only
//! knows what can be seen of a flow and of a port at one instant.

use super::columns::{Column, FLOW, FlowSample, PORT, PortSample, word};
use super::recording::{Made, Recording};
use super::rows::Rows;
use crate::endpoint::{Endpoint, SenderSample};
use crate::flow::Flow;
use crate::ids::PortId;
use crate::observe::Observer;
use crate::path::Path;
use crate::port::Port;
use crate::qdisc::{Backlog, Qdisc};
use crate::side::Side;
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
    /// Bytes that the network has brought and nothing arrived in the whole step: while nothing happens to its ends, its row stays as it is.
    still: bool,
}

/// More than any port sends.
const NEVER: u64 = u64::MAX;

/// Those of a port.
#[derive(Clone, Copy, Debug)]
struct PortBefore {
    /// Bytes that had been sent, if the port was at rest then and for the whole step: while it stays so, its row does. Else [`NEVER`].
    still: u64,
    carried: f64,
    drops: u64,
    outage: u64,
}

impl PortBefore {
    const NONE: Self = Self { still: NEVER, carried: 0.0, drops: 0, outage: 0 };

    #[inline]
    fn now<Q: Qdisc>(port: &Port<Q>, time: Time) -> Self {
        let (carried, drops, outage) = port.progress(time);
        Self { still: NEVER, carried, drops, outage }
    }
}

/// The sampler and what it has recorded.
#[derive(Clone, Debug)]
pub struct Sampler {
    step: Dur,
    flows_before: Vec<FlowBefore>,
    ports_before: Vec<PortBefore>,
    /// By row: [`PortBefore::still`] of a port of which that alone and whether something was lost say if it stands still, side by side since most do; else [`NEVER`].
    quiet: Vec<u64>,
    /// Stretches of subjects of the links' series that are ports with numbers one after the other, as all of a network are: its first port, and how many.
    runs: Vec<(u32, u32)>,
    /// Rows that are not passed over.
    looked_at: Vec<u32>,
    /// Flows over time.
    pub flows: Series<FLOW>,
    /// Links over time.
    pub links: Series<PORT>,
}

impl Sampler {
    /// Samples flows, and links in `watched`.
    pub(crate) fn new(sampling: Sampling, watched: Vec<u32>) -> Self {
        let Sampling { step, flows, ports } = sampling;
        let ports_before = vec![PortBefore::NONE; watched.len()];
        let (names, fill): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
        let flows = Series::new(Recording::new(step, Made::Flows(fill), names, Vec::new()));
        let (names, fill): (Vec<_>, Vec<_>) = ports.into_iter().unzip();
        let mut links = Series::new(Recording::new(step, Made::Ports(fill), names, watched));
        links.rows.set_len(ports_before.len());
        let quiet = vec![NEVER; ports_before.len()];
        let runs = links.kept.subjects.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run.len() as u32)).collect();
        Self { step, flows_before: Vec::new(), ports_before, quiet, runs, looked_at: Vec::new(), flows, links }
    }

    /// Ports that are sampled.
    pub(crate) fn watched(&self) -> &[u32] {
        &self.links.kept.subjects
    }

    /// The step.
    pub fn step(&self) -> Dur {
        self.step
    }

    /// A port is about to be another.
    pub(crate) fn look_at(&mut self, port: PortId) {
        for (quiet, _) in self.quiet.iter_mut().zip(&self.links.kept.subjects).filter(|(_, i)| **i == port.0) {
            *quiet = NEVER;
        }
    }

    /// All counters are about to begin anew.
    pub(crate) fn reset<'a, Q: Qdisc + 'a>(&mut self, time: Time, flows: impl Iterator<Item = &'a Flow>, ports: &[Port<Q>]) {
        for (before, flow) in self.flows_before.iter_mut().zip(flows) {
            before.received = before.received.wrapping_sub(flow.counters.received_bytes);
            before.still = false;
        }
        self.quiet.fill(NEVER);
        for (before, &i) in self.ports_before.iter_mut().zip(&self.links.kept.subjects) {
            let now = PortBefore::now(&ports[i as usize], time);
            before.still = NEVER;
            (before.carried, before.drops) = (before.carried - now.carried, before.drops.wrapping_sub(now.drops));
            before.outage = before.outage.wrapping_sub(now.outage);
        }
    }

    /// Takes one sample; returns when the next is due. `ends`: sender and receiver, of which `sides` say whether anything has happened to them since the last one.
    /// `open`: the shares of the flows that controls govern.
    pub(crate) fn record<'a, Q: Qdisc, H: EventQueue, E: Endpoint + 'a, O: Observer>(
        &mut self,
        time: Time,
        path: &mut Path<Q, H>,
        ends: impl Fn(usize) -> (&'a E, &'a E),
        sides: &mut [Side],
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
        for (i, (sides, before)) in (0..).zip(sides.as_chunks::<2>().0.iter().zip(&self.flows_before)) {
            if before.still && !sides[0].stirred && !sides[1].stirred {
                debug_assert!({
                    let (flow, (sender, receiver)) = (&path.flows[i as usize], ends(i as usize));
                    let SenderSample { cwnd, ssthresh, in_flight, srtt } = sender.sample();
                    let arrived = (flow.delivered + flow.kept(receiver)).saturating_sub(before.arrived);
                    let last = self.flows.rows.last(i as usize);
                    last.is_some_and(|row| row[..6] == [cwnd, ssthresh, in_flight, srtt.as_ps(), arrived, 0])
                        && flow.counters.received_bytes == before.received
                });
            } else {
                self.looked_at.push(i);
            }
        }
        for i in self.looked_at.drain(..).map(|i| i as usize) {
            sides[2 * i..2 * i + 2].iter_mut().for_each(|side| side.stirred = false);
            let (before, flow) = (&mut self.flows_before[i], &path.flows[i]);
            let (sender, receiver) = ends(i);
            let (received, arrived) = (flow.counters.received_bytes, flow.delivered + flow.kept(receiver));
            let SenderSample { cwnd, ssthresh, in_flight, srtt } = sender.sample();
            let now = (arrived.saturating_sub(before.arrived), received.wrapping_sub(before.received)); // a reset throws away what waited
            // Where there are controls no flow is passed over.
            let share = open.as_mut().and_then(Iterator::next);
            *before = FlowBefore { received, arrived, still: now == (0, 0) && share.is_none() };
            self.flows.telling.push(i as u32);
            self.flows.put(i, [cwnd, ssthresh, in_flight, srtt.as_ps(), now.0, now.1, word(share.unwrap_or(f64::NAN))]);
        }
        self.flows.end(count, |i, out| ends(i).0.gauges(out));
        let watched = std::mem::take(&mut self.links.kept.subjects);
        path.count_begun(time);
        let mut row = 0;
        for &(first, len) in &self.runs {
            let ports = &path.ports[first as usize..(first + len) as usize];
            for (row, (port, &quiet)) in (row..).zip(ports.iter().zip(&self.quiet[row as usize..])) {
                let counters = port.counters();
                if counters.sent_bytes == quiet && !counters.has_rare() {
                    debug_assert!(!port.queued && path.at_work(watched[row as usize], time) <= time, "it has stood still");
                } else {
                    self.looked_at.push(row);
                }
            }
            row += len;
        }
        for row in self.looked_at.drain(..).map(|row| row as usize) {
            let (i, before) = (watched[row], &mut self.ports_before[row]);
            let mut port = &path.ports[i as usize];
            // What the others carry out late nobody sees, or hears of in time.
            if port.queued && port.busy_until <= time {
                path.settle::<O, true>(i, time, obs);
                port = &path.ports[i as usize];
            }
            // A packet that comes to a free transmitter sets off at once there, or is dropped. Nor do such queues have gauges.
            let plain = port.lane.is_some() || port.fed_by != u32::MAX;
            if !plain {
                self.links.telling.push(row as u32);
            }
            let sent = port.counters().sent_bytes;
            if sent == before.still && port.rests(time) {
                continue;
            }
            let until = path.at_work(i, time);
            // As it is when nothing but what has begun is on its way there.
            let port = &mut path.ports[i as usize];
            let begins = std::mem::replace(&mut port.busy_until, until);
            let mut now = PortBefore::now(port, time);
            // What is carried never falls, but for the rounding of the packet in transmission.
            debug_assert!(before.carried - now.carried < 100.0 + 1e-9 * now.carried, "{} bits after {}", now.carried, before.carried);
            now.carried = now.carried.max(before.carried);
            let Backlog { pkts, bytes } = port.backlog();
            let (drops, outage) = (now.drops.wrapping_sub(before.drops), now.outage.wrapping_sub(before.outage));
            let words = [word(now.carried - before.carried), pkts.into(), bytes, drops, outage];
            let still = if port.rests(time) && words.iter().all(|w| *w == 0) { sent } else { NEVER };
            *before = PortBefore { still, ..now };
            self.quiet[row] = if plain { still } else { NEVER };
            port.busy_until = begins;
            self.links.put(row, words);
        }
        self.links.end(watched.len(), |i, out| path.ports[watched[i] as usize].qdisc().gauges(out));
        self.links.kept.subjects = watched;
        time + self.step
    }
}
