//! The controls of a world and the gates of their flows: what closing a flow does to its endpoint and to its application.
//!
//! Nothing here is called in the loop compiled for `()`.

use crate::app::App;
use crate::control::{Control, ControlCx, Sign};
use crate::endpoint::{Cx, Endpoint, Timers};
use crate::observe::{Observer, TurnEvent};
use crate::order::Turn;
use crate::packet::{FlowId, Proto};
use crate::world::{EpId, Flow, Host, Plugs, Side, World};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};

/// No entry.
const NONE: u32 = u32::MAX;

/// What a control is to be told of a gate.
#[derive(Clone, Copy, Debug)]
enum News {
    Begin,
    Sign(Sign),
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
struct Gate {
    flow: u32,
    warden: u32,
    /// Its number among the flows of its control.
    member: u32,
    closed: bool,
    begun: bool,
    ended: bool,
    /// The application stopped: what was sent is all there is.
    stopped: bool,
    /// The endpoint keeps what is written while it is closed.
    keeps: bool,
    /// The application stands still for it.
    stands: bool,
    seen: Seen,
    /// When it was last opened or closed, or its time last counted.
    since: Time,
    open_time: Dur,
    turns: u32,
    /// Open time up to the last sample.
    sampled: Dur,
}

impl Gate {
    fn open(&self) -> bool {
        self.begun && !self.ended && !self.closed
    }
    fn count(&mut self, now: Time) {
        if self.open() {
            self.open_time += now - self.since;
        }
        self.since = now;
    }
}

/// An application of which a flow may be closed.
#[derive(Clone, Debug)]
struct Clock {
    /// It was woken once.
    woken: bool,
    /// Closed flows whose endpoint does not keep what is written.
    stops: u32,
    /// When it came to stand.
    since: Time,
    /// What it was waiting for.
    wake: Time,
    /// For how long it has stood still so far.
    lag: Dur,
    /// Bytes that arrived meanwhile, by endpoint.
    owed: Vec<(EpId, u64)>,
}

/// A control with its flows.
#[derive(Clone, Debug)]
struct Warden<C> {
    control: C,
    gates: Vec<u32>,
    wake: Time,
    armed: Time,
}

/// All controls of a world.
#[derive(Clone, Debug)]
pub(crate) struct Govern<C> {
    wardens: Vec<Warden<C>>,
    gates: Vec<Gate>,
    clocks: Vec<Clock>,
    /// By flow, its gate; by application, its clock.
    gate_of: Vec<u32>,
    clock_of: Vec<u32>,
    news: Vec<(u32, News)>,
    orders: Vec<(usize, bool)>,
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

    /// Number of controls.
    pub(crate) fn len(&self) -> usize {
        self.wardens.len()
    }

    fn gate_mut(&mut self, flow: usize) -> Option<(u32, &mut Gate)> {
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

    /// After a call of an endpoint: whether it met congestion, and whether the flow is over.
    pub(crate) fn look<E: Endpoint>(&mut self, flow: usize, f: &Flow, proto: Proto, sender: &E) {
        let Some((i, gate)) = self.gate_mut(flow).filter(|g| g.1.begun && !g.1.ended) else { return };
        let v = sender.view();
        let seen = Seen { fast_recoveries: v.fast_recoveries, timeouts: v.timeouts, ecn_cuts: v.ecn_cuts };
        let before = std::mem::replace(&mut gate.seen, seen);
        let sent_once = v.data_bytes - v.retransmit_bytes;
        let over = match proto {
            Proto::Tcp => f.closed && v.acked >= f.written || gate.stopped && v.acked >= sent_once,
            Proto::Udp => f.completed != Time::MAX || gate.stopped || f.closed && f.amount == 0 && sent_once >= f.written,
        };
        for (sign, new) in [
            (Sign::FastRetransmit, seen.fast_recoveries > before.fast_recoveries),
            (Sign::Timeout, seen.timeouts > before.timeouts),
            (Sign::Echo, seen.ecn_cuts > before.ecn_cuts),
        ] {
            if new {
                self.news.push((i, News::Sign(sign)));
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

impl<P: Plugs, H: EventQueue> World<P, H> {
    /// Whether this is an application's first wake-up, and that of a closed flow: the flow begins, and what the application woke for waits.
    #[inline]
    pub(crate) fn begins_closed(&mut self, app: usize, now: Time) -> bool {
        let clock = self.govern.as_mut().and_then(|g| g.clocks.get_mut(g.clock_of[app] as usize));
        clock.is_some_and(|c| !std::mem::replace(&mut c.woken, true)) && self.begins_closed_now(app, now)
    }

    #[cold]
    fn begins_closed_now(&mut self, app: usize, now: Time) -> bool {
        let Some(g) = &mut self.govern else { return false };
        self.hosts[app].wake = now;
        let clock = g.clock_of[app] as usize;
        for (f, flow) in self.path.flows.iter_mut().enumerate().filter(|(_, f)| f.app as usize == app) {
            if let Some((_, gate)) = g.gate_mut(f).filter(|g| g.1.closed && !g.1.keeps) {
                gate.stands = true;
                flow.started = now;
                g.begin(f, now);
                stand(&mut g.clocks[clock], &mut self.hosts[app], now);
            }
        }
        let waits = g.clocks[clock].stops > 0;
        if !waits {
            self.hosts[app].wake = Time::MAX;
        }
        waits
    }

    /// A flow has all it was to carry: its application is not woken again.
    pub(crate) fn forget(&mut self, app: usize) {
        self.hosts[app].wake = Time::MAX;
        if let Some(clock) = self.govern.as_mut().and_then(|g| g.clocks.get_mut(g.clock_of[app] as usize)) {
            clock.wake = Time::MAX;
        }
    }

    /// The time a control asked for has come.
    #[cold]
    pub(crate) fn on_control(&mut self, number: usize, now: Time) {
        let slot = self.path.slots.controls + number as u32;
        let Some(g) = &mut self.govern else { return };
        let Govern { wardens, orders, .. } = &mut **g;
        let w = &mut wardens[number];
        if w.armed == now {
            w.armed = Time::MAX;
        }
        if w.wake <= now {
            w.wake = Time::MAX;
            w.control.on_wake(&mut ControlCx { now, orders, wake: &mut w.wake });
        }
        if w.wake < w.armed {
            w.armed = w.wake.max(now);
            self.path.push(w.armed, slot, Turn::Look);
        }
    }

    /// Tells the controls what happened, and does what they say, until there is nothing more.
    #[inline]
    pub(crate) fn govern<O: Observer>(&mut self, control: Option<usize>, now: Time, obs: &mut O) {
        if self.govern.as_ref().is_some_and(|g| control.is_some() || !g.news.is_empty()) {
            self.govern_on(control, now, obs);
        }
    }

    #[cold]
    fn govern_on<O: Observer>(&mut self, control: Option<usize>, now: Time, obs: &mut O) {
        if let Some(number) = control {
            self.carry_out(number, now, obs);
        }
        let mut read = 0;
        // Carrying out may bring more.
        while let Some(&(gate, news)) = self.govern.as_ref().and_then(|g| g.news.get(read)) {
            read += 1;
            let over = matches!(news, News::Finish);
            if let Some(g) = self.govern.as_ref().map(|g| &g.gates[gate as usize]).filter(|g| over && g.open()) {
                obs.on_turn(&TurnEvent { time: now, flow: FlowId(g.flow), open: false });
            }
            if let Some(number) = self.pass_on(gate, news, now) {
                if over {
                    self.set_gate(gate, true, now, obs);
                }
                self.carry_out(number, now, obs);
            }
        }
        if let Some(g) = &mut self.govern {
            g.news.clear();
        }
    }

    /// Tells the control of a gate the news; the number of the control.
    fn pass_on(&mut self, gate: u32, news: News, now: Time) -> Option<usize> {
        let g = &mut **self.govern.as_mut()?;
        let gate = g.gates.get_mut(gate as usize)?;
        if gate.ended {
            return None;
        }
        let (number, member) = (gate.warden as usize, gate.member as usize);
        let w = &mut g.wardens[number];
        let mut cx = ControlCx { now, orders: &mut g.orders, wake: &mut w.wake };
        match news {
            News::Begin => w.control.on_begin(member, &mut cx),
            News::Sign(sign) => w.control.on_sign(member, sign, &mut cx),
            News::Finish => {
                gate.count(now);
                gate.ended = true;
                w.control.on_finish(member, &mut cx);
            }
        }
        if w.wake < w.armed {
            w.armed = w.wake.max(now);
            let at = w.armed;
            self.path.push(at, self.path.slots.controls + number as u32, Turn::Look);
        }
        Some(number)
    }

    fn carry_out<O: Observer>(&mut self, number: usize, now: Time, obs: &mut O) {
        let Some(g) = &mut self.govern else { return };
        let mut orders = std::mem::take(&mut g.orders);
        for (member, open) in orders.drain(..) {
            let Some(&gate) = self.govern.as_ref().and_then(|g| g.wardens[number].gates.get(member)) else { continue };
            if self.govern.as_ref().is_some_and(|g| !g.gates[gate as usize].ended) {
                self.set_gate(gate, open, now, obs);
            }
        }
        if let Some(g) = &mut self.govern {
            g.orders = orders;
        }
    }

    fn set_gate<O: Observer>(&mut self, gate: u32, open: bool, now: Time, obs: &mut O) {
        let Some(g) = &mut self.govern else { return };
        let gate = &mut g.gates[gate as usize];
        if gate.closed != open {
            return;
        }
        gate.count(now);
        gate.closed = !open;
        let (flow, ended) = (gate.flow, gate.ended);
        gate.turns += u32::from(gate.open());
        if gate.begun && !ended {
            obs.on_turn(&TurnEvent { time: now, flow: FlowId(flow), open });
        }
        let mut keeps = false;
        self.with_endpoint(2 * flow, now, obs, |e, cx| keeps = e.hold(!open, cx));
        let app = self.path.flows[flow as usize].app as usize;
        let Some(g) = &mut self.govern else { return };
        let i = g.clock_of[app] as usize;
        let woken = g.clocks[i].woken;
        let Some((_, gate)) = g.gate_mut(flow as usize) else { return };
        gate.keeps = keeps && !open;
        let stood = std::mem::replace(&mut gate.stands, !open && !keeps && woken);
        if gate.stands {
            stand(&mut g.clocks[i], &mut self.hosts[app], now);
        } else if stood {
            g.clocks[i].stops -= 1;
            if g.clocks[i].stops == 0 {
                self.go_on(app, now, obs);
            }
        }
    }

    /// An application's clock goes on.
    fn go_on<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O) {
        let Some(g) = &mut self.govern else { return };
        let clock = &mut g.clocks[g.clock_of[app] as usize];
        let stood = now - clock.since;
        clock.lag += stood;
        let owed = std::mem::take(&mut clock.owed);
        let host = &mut self.hosts[app];
        if clock.wake != Time::MAX {
            host.wake = clock.wake + stood;
            if host.wake < host.armed {
                host.armed = host.wake;
                self.path.push(host.wake, self.path.slots.hosts + app as u32, Turn::Act);
            }
        }
        for (at, bytes) in owed {
            self.with_app(app, now, obs, |a, cx| a.on_delivered(at, bytes, cx));
        }
    }

    /// How long the control of a flow kept it open since counters were last reset, and how often it was opened; `None` without one.
    pub fn opened(&self, flow: FlowId) -> Option<(Dur, u32)> {
        self.govern.as_ref()?.opened(flow.0 as usize, self.path.now)
    }
}

/// An application comes to stand.
fn stand<A: App>(clock: &mut Clock, host: &mut Host<A>, now: Time) {
    clock.stops += 1;
    if clock.stops == 1 {
        clock.since = now;
        clock.wake = std::mem::replace(&mut host.wake, Time::MAX);
    }
}
