//! The controls of a world and the gates of their flows.
//!
//! Nothing here is called in the loop compiled for `()`.

use crate::control::{Control, SenderSignal};
use crate::endpoint::{Cx, Endpoint, Timers};
use crate::flow::Flow;
use crate::ids::{EpId, FlowId};
use crate::packet::Proto;
use crate::side::Side;
use fairlane_units::{Dur, Time};

/// No entry.
const NONE: u32 = u32::MAX;

/// What a control is to be told of a gate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    Begin,
    Signal(SenderSignal),
    Finish,
}

/// Counters of a sender when its control last heard of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    fast_recoveries: u64,
    timeouts: u64,
    ecn_cuts: u64,
}

/// A governed flow.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) flow: u32,
    pub(crate) warden: u32,
    /// Its number among the flows of its control.
    pub(crate) member: u32,
    pub(crate) closed: bool,
    pub(crate) begun: bool,
    pub(crate) ended: bool,
    /// The application stopped: what was sent is all there is.
    pub(crate) stopped: bool,
    /// The endpoint keeps what is written while it is closed.
    pub(crate) keeps: bool,
    /// The application stands still for it.
    pub(crate) stands: bool,
    seen: Seen,
    /// When it was last opened or closed, or its time last counted.
    pub(crate) since: Time,
    pub(crate) open_time: Dur,
    pub(crate) turns: u32,
    /// Open time up to the last sample.
    pub(crate) sampled: Dur,
}

impl Gate {
    pub(crate) fn open(&self) -> bool {
        self.begun && !self.ended && !self.closed
    }
    pub(crate) fn count(&mut self, now: Time) {
        if self.open() {
            self.open_time += now - self.since;
        }
        self.since = now;
    }
}

/// An application of which a flow may be closed.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// It was woken once.
    pub(crate) woken: bool,
    /// Closed flows whose endpoint does not keep what is written.
    pub(crate) stops: u32,
    /// When it came to stand.
    pub(crate) since: Time,
    /// What it was waiting for.
    pub(crate) wake: Time,
    /// For how long it has stood still so far.
    pub(crate) lag: Dur,
    /// Bytes that arrived meanwhile, by endpoint.
    pub(crate) owed: Vec<(EpId, u64)>,
}

/// A control with its flows.
#[derive(Clone, Debug)]
pub(crate) struct Warden<C> {
    pub(crate) control: C,
    pub(crate) gates: Vec<u32>,
    pub(crate) wake: Time,
    pub(crate) armed: Time,
}

/// All controls of a world.
#[derive(Clone, Debug)]
pub(crate) struct Govern<C> {
    pub(crate) wardens: Vec<Warden<C>>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) clocks: Vec<Clock>,
    /// By flow, its gate; by application, its clock.
    pub(crate) gate_of: Vec<u32>,
    pub(crate) clock_of: Vec<u32>,
    pub(crate) news: Vec<(u32, News)>,
    pub(crate) orders: Vec<(usize, bool)>,
}

impl<C: Control> Govern<C> {
    /// The controls of these flows; an error names a flow that two of them govern.
    pub(crate) fn new<E: Endpoint>(
        controls: Vec<(C, Vec<FlowId>)>,
        flows: &[Flow],
        sides: &mut [Side],
        endpoints: &mut [E],
        apps: usize,
    ) -> Result<Option<Box<Self>>, FlowId> {
        if controls.is_empty() {
            return Ok(None);
        }
        let mut g = Self {
            wardens: Vec::new(),
            gates: Vec::new(),
            clocks: Vec::new(),
            gate_of: vec![NONE; flows.len()],
            clock_of: vec![NONE; apps],
            news: Vec::new(),
            orders: Vec::new(),
        };
        for (control, members) in controls {
            let closed = control.begins_closed();
            let first = g.gates.len() as u32;
            for (member, id) in members.iter().enumerate() {
                let f = id.0 as usize;
                if g.gate_of[f] != NONE {
                    return Err(*id);
                }
                g.gate_of[f] = g.gates.len() as u32;
                let clock = &mut g.clock_of[flows[f].app as usize];
                if *clock == NONE {
                    *clock = g.clocks.len() as u32;
                    g.clocks.push(Clock { woken: false, stops: 0, since: Time::ZERO, wake: Time::MAX, lag: Dur::ZERO, owed: Vec::new() });
                }
                g.gates.push(Gate {
                    flow: id.0,
                    warden: g.wardens.len() as u32,
                    member: member as u32,
                    closed,
                    begun: false,
                    ended: false,
                    stopped: false,
                    // Nothing was sent yet: an endpoint that is told to hold has nothing to do but to remember it.
                    keeps: closed && tell(&mut endpoints[2 * f], &mut sides[2 * f].timers),
                    stands: false,
                    seen: Seen::default(),
                    since: Time::ZERO,
                    open_time: Dur::ZERO,
                    turns: 0,
                    sampled: Dur::ZERO,
                });
            }
            let gates = (first..g.gates.len() as u32).collect();
            g.wardens.push(Warden { control, gates, wake: Time::MAX, armed: Time::MAX });
        }
        Ok(Some(Box::new(g)))
    }

    pub(crate) fn gate_mut(&mut self, flow: usize) -> Option<(u32, &mut Gate)> {
        let i = self.gate_of[flow];
        self.gates.get_mut(i as usize).map(|g| (i, g))
    }

    /// For how long an application has stood still so far.
    pub(crate) fn lag(&self, app: usize) -> Dur {
        self.clocks.get(self.clock_of[app] as usize).map_or(Dur::ZERO, |c| c.lag)
    }

    /// Keeps what arrived for an application that stands still; false if it does not.
    pub(crate) fn keep(&mut self, app: usize, at: EpId, bytes: u64) -> bool {
        let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize).filter(|c| c.stops > 0) else { return false };
        match clock.owed.iter_mut().find(|o| o.0 == at) {
            Some(o) => o.1 += bytes,
            None => clock.owed.push((at, bytes)),
        }
        true
    }

    /// Whether the sender of a closed flow does not hear.
    pub(crate) fn deaf(&self, ep: u32) -> bool {
        let gate = self.gates.get(self.gate_of[(ep >> 1) as usize] as usize);
        ep & 1 == 0 && gate.is_some_and(|g| g.closed && g.begun && !g.ended && self.wardens[g.warden as usize].control.deaf())
    }

    /// A flow starts.
    pub(crate) fn begin(&mut self, flow: usize, now: Time) {
        let Some((i, gate)) = self.gate_mut(flow).filter(|g| !g.1.begun) else { return };
        gate.begun = true;
        gate.since = now;
        gate.turns += u32::from(!gate.closed);
        self.news.push((i, News::Begin));
    }

    /// The application of a flow stops it.
    pub(crate) fn stop(&mut self, flow: usize) {
        if let Some((_, gate)) = self.gate_mut(flow) {
            gate.stopped = true;
        }
    }

    /// What an application that is gone has stood still for is nobody's, and its flow is over: its control is to hear of it.
    pub(crate) fn abandon(&mut self, flow: usize, app: usize) {
        if let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize) {
            clock.wake = Time::MAX;
            clock.owed.clear();
        }
        if let Some((i, _)) = self.gate_mut(flow).filter(|g| g.1.begun && !g.1.ended) {
            self.news.push((i, News::Finish));
        }
    }

    /// A flow is to begin again as if it never had: with this sender, and an application whose clock is right.
    pub(crate) fn renew<E: Endpoint>(&mut self, flow: usize, app: usize, sender: &mut E, timers: &mut Timers) {
        let Some(gate) = self.gates.get_mut(self.gate_of[flow] as usize) else { return };
        let closed = self.wardens[gate.warden as usize].control.begins_closed();
        (gate.closed, gate.keeps, gate.stands) = (closed, closed && tell(sender, timers), false);
        (gate.begun, gate.ended, gate.stopped, gate.seen) = (false, false, false, Seen::default());
        if let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize) {
            (clock.woken, clock.stops, clock.lag) = (false, 0, Dur::ZERO);
        }
    }

    /// After a call of an endpoint: whether it met congestion, and whether the flow is over.
    pub(crate) fn look<E: Endpoint>(&mut self, flow: usize, f: &Flow, proto: Proto, sender: &E) {
        let Some((i, gate)) = self.gate_mut(flow).filter(|g| g.1.begun && !g.1.ended) else { return };
        let v = sender.view();
        let seen = Seen { fast_recoveries: v.fast_recoveries, timeouts: v.timeouts, ecn_cuts: v.ecn_cuts };
        let before = std::mem::replace(&mut gate.seen, seen);
        let sent_once = v.data_bytes - v.retransmit_bytes;
        let over = match proto {
            Proto::Tcp => f.closed && v.acked >= f.own_written() || gate.stopped && v.acked >= sent_once,
            Proto::Udp => f.completed != Time::MAX || gate.stopped || f.closed && f.amount == 0 && sent_once >= f.own_written(),
        };
        for (sign, new) in [
            (SenderSignal::FastRetransmit, seen.fast_recoveries > before.fast_recoveries),
            (SenderSignal::Timeout, seen.timeouts > before.timeouts),
            (SenderSignal::Echo, seen.ecn_cuts > before.ecn_cuts),
        ] {
            if new {
                self.news.push((i, News::Signal(sign)));
            }
        }
        if over {
            self.news.push((i, News::Finish));
        }
    }

    /// Counters begin anew.
    pub(crate) fn reset(&mut self, now: Time) {
        for g in &mut self.gates {
            g.count(now);
            (g.open_time, g.sampled, g.turns) = (Dur::ZERO, Dur::ZERO, u32::from(g.open()));
        }
    }

    /// How long a flow was open since counters were last reset, and how often it was opened.
    pub(crate) fn opened(&self, flow: usize, now: Time) -> Option<(Dur, u32)> {
        let g = self.gates.get(self.gate_of[flow] as usize)?;
        let running = if g.open() { now - g.since } else { Dur::ZERO };
        Some((g.open_time + running, g.turns))
    }

    /// For each flow the share of the time since the last sample in which it was open; NaN without a control.
    pub(crate) fn shares<'a>(&'a mut self, now: Time, step: Dur) -> impl Iterator<Item = f64> + 'a {
        for g in &mut self.gates {
            g.count(now);
        }
        let (gates, gate_of) = (&mut self.gates, &self.gate_of);
        gate_of.iter().map(move |&i| {
            let Some(g) = gates.get_mut(i as usize) else { return f64::NAN };
            let share = (g.open_time - g.sampled).as_secs_f64() / step.as_secs_f64();
            g.sampled = g.open_time;
            share
        })
    }
}

/// Tells an endpoint that has not begun to hold.
fn tell<E: Endpoint>(e: &mut E, timers: &mut Timers) -> bool {
    e.hold(true, &mut Cx::new(Time::ZERO, &mut Vec::new(), timers))
}
