//! Flow controllers of a world, and the gates of their flows.
//!
//! The loop compiled for `()` calls nothing here.

use crate::control::{Control, SenderSignal};
use crate::endpoint::{Cx, Endpoint, Timers};
use crate::flow::Flow;
use crate::ids::{EpId, FlowId};
use crate::packet::Proto;
use crate::side::Side;
use fairlane_units::{Dur, Time};

/// No entry.
const NONE: u32 = u32::MAX;

/// Notification of a controller about a gate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notification {
    Begin,
    Signal(SenderSignal),
    Finish,
}

/// Counters of a sender at its last notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    fast_recoveries: u64,
    timeouts: u64,
    ecn_cuts: u64,
}

/// Gate of a controlled flow.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) flow: u32,
    pub(crate) controller: u32,
    /// Number of the flow in the list of its controller.
    pub(crate) member: u32,
    pub(crate) closed: bool,
    pub(crate) begun: bool,
    pub(crate) ended: bool,
    /// True if the application stopped: no more data follows.
    pub(crate) stopped: bool,
    /// True if the endpoint holds data while the gate is closed.
    pub(crate) keeps: bool,
    /// True if the clock of the application is stopped for this gate.
    pub(crate) stands: bool,
    seen: Seen,
    /// Time up to which `open_time` is counted.
    pub(crate) since: Time,
    pub(crate) open_time: Dur,
    pub(crate) turns: u32,
    /// `open_time` at the last sample.
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

/// Clock of an application whose flows may be closed.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// True after the first wake-up.
    pub(crate) woken: bool,
    /// Closed gates for which the clock is stopped.
    pub(crate) stops: u32,
    /// Time when the clock was stopped.
    pub(crate) since: Time,
    /// Wake-up that was due later when the clock was stopped.
    pub(crate) wake: Time,
    /// Total time for which the clock was stopped.
    pub(crate) lag: Dur,
    /// Bytes that arrived while the clock was stopped, by endpoint.
    pub(crate) owed: Vec<(EpId, u64)>,
    /// Its flows that have a controller.
    pub(crate) flows: Vec<u32>,
}

/// A controller with the gates of its flows.
#[derive(Clone, Debug)]
pub(crate) struct Controller<C> {
    pub(crate) control: C,
    pub(crate) gates: Vec<u32>,
    pub(crate) wake: Time,
    pub(crate) armed: Time,
}

/// All flow controllers of a world.
#[derive(Clone, Debug)]
pub(crate) struct FlowControllers<C> {
    pub(crate) controllers: Vec<Controller<C>>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) clocks: Vec<Clock>,
    /// Gate of each flow.
    pub(crate) gate_of: Vec<u32>,
    /// Clock of each application.
    pub(crate) clock_of: Vec<u32>,
    pub(crate) notifications: Vec<(u32, Notification)>,
    pub(crate) orders: Vec<(usize, bool)>,
}

impl<C: Control> FlowControllers<C> {
    /// Creates the controllers of these flows. The error is a flow with two controllers.
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
            controllers: Vec::new(),
            gates: Vec::new(),
            clocks: Vec::new(),
            gate_of: vec![NONE; flows.len()],
            clock_of: vec![NONE; apps],
            notifications: Vec::new(),
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
                    g.clocks.push(Clock {
                        woken: false,
                        stops: 0,
                        since: Time::ZERO,
                        wake: Time::MAX,
                        lag: Dur::ZERO,
                        owed: Vec::new(),
                        flows: Vec::new(),
                    });
                }
                g.clocks[*clock as usize].flows.push(id.0);
                g.gates.push(Gate {
                    flow: id.0,
                    controller: g.controllers.len() as u32,
                    member: member as u32,
                    closed,
                    begun: false,
                    ended: false,
                    stopped: false,
                    // Before the run an endpoint only remembers that it is held.
                    keeps: closed && hold(&mut endpoints[2 * f], &mut sides[2 * f].timers),
                    stands: false,
                    seen: Seen::default(),
                    since: Time::ZERO,
                    open_time: Dur::ZERO,
                    turns: 0,
                    sampled: Dur::ZERO,
                });
            }
            let gates = (first..g.gates.len() as u32).collect();
            g.controllers.push(Controller { control, gates, wake: Time::MAX, armed: Time::MAX });
        }
        g.clocks.iter_mut().for_each(|clock| clock.flows.sort_unstable());
        Ok(Some(Box::new(g)))
    }

    pub(crate) fn gate_mut(&mut self, flow: usize) -> Option<(u32, &mut Gate)> {
        let i = self.gate_of[flow];
        self.gates.get_mut(i as usize).map(|g| (i, g))
    }

    /// Total time for which the clock of an application was stopped.
    pub(crate) fn lag(&self, app: usize) -> Dur {
        self.clocks.get(self.clock_of[app] as usize).map_or(Dur::ZERO, |c| c.lag)
    }

    /// Keeps bytes that arrived for an application with a stopped clock. Returns false if its clock runs.
    pub(crate) fn keep(&mut self, app: usize, at: EpId, bytes: u64) -> bool {
        let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize).filter(|c| c.stops > 0) else { return false };
        match clock.owed.iter_mut().find(|o| o.0 == at) {
            Some(o) => o.1 += bytes,
            None => clock.owed.push((at, bytes)),
        }
        true
    }

    /// True for the sender of a closed flow that ignores arriving segments.
    pub(crate) fn deaf(&self, ep: u32) -> bool {
        let gate = self.gates.get(self.gate_of[(ep >> 1) as usize] as usize);
        ep & 1 == 0 && gate.is_some_and(|g| g.closed && g.begun && !g.ended && self.controllers[g.controller as usize].control.deaf())
    }

    /// Starts a flow.
    pub(crate) fn begin(&mut self, flow: usize, now: Time) {
        let Some((i, gate)) = self.gate_mut(flow).filter(|g| !g.1.begun) else { return };
        gate.begun = true;
        gate.since = now;
        gate.turns += u32::from(!gate.closed);
        self.notifications.push((i, Notification::Begin));
    }

    /// Notes that the application of a flow stopped.
    pub(crate) fn stop(&mut self, flow: usize) {
        if let Some((_, gate)) = self.gate_mut(flow) {
            gate.stopped = true;
        }
    }

    /// Ends a flow whose application is replaced, and notifies its controller.
    pub(crate) fn abandon(&mut self, flow: usize, app: usize) {
        if let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize) {
            clock.wake = Time::MAX;
            clock.owed.clear();
        }
        if let Some((i, _)) = self.gate_mut(flow).filter(|g| g.1.begun && !g.1.ended) {
            self.notifications.push((i, Notification::Finish));
        }
    }

    /// Resets the gate of a flow that reconnects with a new sender and a new application.
    pub(crate) fn renew<E: Endpoint>(&mut self, flow: usize, app: usize, sender: &mut E, timers: &mut Timers) {
        let Some(gate) = self.gates.get_mut(self.gate_of[flow] as usize) else { return };
        let closed = self.controllers[gate.controller as usize].control.begins_closed();
        (gate.closed, gate.keeps, gate.stands) = (closed, closed && hold(sender, timers), false);
        (gate.begun, gate.ended, gate.stopped, gate.seen) = (false, false, false, Seen::default());
        if let Some(clock) = self.clocks.get_mut(self.clock_of[app] as usize) {
            (clock.woken, clock.stops, clock.lag) = (false, 0, Dur::ZERO);
        }
    }

    /// Checks a sender after each call: queues notifications of congestion and of the end of the flow.
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
                self.notifications.push((i, Notification::Signal(sign)));
            }
        }
        if over {
            self.notifications.push((i, Notification::Finish));
        }
    }

    /// Resets the counters.
    pub(crate) fn reset(&mut self, now: Time) {
        for g in &mut self.gates {
            g.count(now);
            (g.open_time, g.sampled, g.turns) = (Dur::ZERO, Dur::ZERO, u32::from(g.open()));
        }
    }

    /// Open time of a flow since the last reset, and the number of times it was opened.
    pub(crate) fn opened(&self, flow: usize, now: Time) -> Option<(Dur, u32)> {
        let g = self.gates.get(self.gate_of[flow] as usize)?;
        let running = if g.open() { now - g.since } else { Dur::ZERO };
        Some((g.open_time + running, g.turns))
    }

    /// Share of the time since the last sample in which each flow was open; NaN without a controller.
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

/// Holds an endpoint that has not begun.
fn hold<E: Endpoint>(e: &mut E, timers: &mut Timers) -> bool {
    e.hold(true, &mut Cx::new(Time::ZERO, &mut Vec::new(), timers))
}
