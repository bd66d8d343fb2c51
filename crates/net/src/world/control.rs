//! Effects of flow controllers in a world: on endpoints, applications and their clocks.

use super::{Components, World};
use crate::app::App;
use crate::control::{Control, ControlCx};
use crate::controllers::{Clock, FlowControllers, Notification};
use crate::endpoint::Endpoint;
use crate::ids::FlowId;
use crate::observe::{Observer, TurnEvent};
use crate::order::Turn;
use crate::side::Host;
use fairlane_engine::EventQueue;
use fairlane_engine::steps::step;
use fairlane_units::{Dur, Time};

impl<P: Components, H: EventQueue> World<P, H> {
    /// Begins a closed flow at the first wake-up of its application. Returns true if the wake-up has to wait.
    #[inline]
    pub(crate) fn begins_closed(&mut self, app: usize, now: Time) -> bool {
        let clock = self.controllers.as_mut().and_then(|g| g.clocks.get_mut(g.clock_of[app] as usize));
        clock.is_some_and(|c| !std::mem::replace(&mut c.woken, true)) && self.begins_closed_now(app, now)
    }

    #[cold]
    fn begins_closed_now(&mut self, app: usize, now: Time) -> bool {
        let Some(g) = &mut self.controllers else { return false };
        self.hosts[app].wake = now;
        let clock = g.clock_of[app] as usize;
        for k in 0..g.clocks[clock].flows.len() {
            step(1);
            let f = g.clocks[clock].flows[k] as usize;
            if let Some((_, gate)) = g.gate_mut(f).filter(|g| g.1.closed && !g.1.keeps) {
                gate.stands = true;
                self.path.flows[f].started = now;
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

    /// Cancels the wake-ups of an application whose flow has ended.
    pub(crate) fn forget(&mut self, app: usize) {
        self.hosts[app].wake = Time::MAX;
        if let Some(clock) = self.controllers.as_mut().and_then(|g| g.clocks.get_mut(g.clock_of[app] as usize)) {
            clock.wake = Time::MAX;
        }
    }

    /// Wakes a flow controller.
    #[cold]
    pub(crate) fn on_control(&mut self, number: usize, now: Time) {
        let slot = self.path.slots.controls + number as u32;
        let Some(g) = &mut self.controllers else { return };
        let FlowControllers { controllers, orders, .. } = &mut **g;
        let w = &mut controllers[number];
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

    /// Notifies the flow controllers and carries out their orders, until there are no more.
    #[inline]
    pub(crate) fn notify_controllers<O: Observer>(&mut self, control: Option<usize>, now: Time, obs: &mut O) {
        if self.controllers.as_ref().is_some_and(|g| control.is_some() || !g.notifications.is_empty()) {
            self.notify_controllers_now(control, now, obs);
        }
    }

    #[cold]
    fn notify_controllers_now<O: Observer>(&mut self, control: Option<usize>, now: Time, obs: &mut O) {
        if let Some(number) = control {
            self.carry_out(number, now, obs);
        }
        let mut read = 0;
        // Orders may cause more notifications.
        while let Some(&(gate, notification)) = self.controllers.as_ref().and_then(|g| g.notifications.get(read)) {
            read += 1;
            let over = matches!(notification, Notification::Finish);
            if let Some(g) = self.controllers.as_ref().map(|g| &g.gates[gate as usize]).filter(|g| over && g.open()) {
                obs.on_turn(&TurnEvent { time: now, flow: FlowId(g.flow), open: false });
            }
            if let Some(number) = self.pass_on(gate, notification, now) {
                if over {
                    self.set_gate(gate, true, now, obs);
                }
                self.carry_out(number, now, obs);
            }
        }
        if let Some(g) = &mut self.controllers {
            g.notifications.clear();
        }
    }

    /// Passes a notification to the controller of a gate. Returns the number of the controller.
    fn pass_on(&mut self, gate: u32, notification: Notification, now: Time) -> Option<usize> {
        let g = &mut **self.controllers.as_mut()?;
        let gate = g.gates.get_mut(gate as usize)?;
        if gate.ended {
            return None;
        }
        let (number, member) = (gate.controller as usize, gate.member as usize);
        let w = &mut g.controllers[number];
        let mut cx = ControlCx { now, orders: &mut g.orders, wake: &mut w.wake };
        match notification {
            Notification::Begin => w.control.on_begin(member, &mut cx),
            Notification::Signal(signal) => w.control.on_signal(member, signal, &mut cx),
            Notification::Finish => {
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
        let Some(g) = &mut self.controllers else { return };
        let mut orders = std::mem::take(&mut g.orders);
        for (member, open) in orders.drain(..) {
            let Some(&gate) = self.controllers.as_ref().and_then(|g| g.controllers[number].gates.get(member)) else { continue };
            if self.controllers.as_ref().is_some_and(|g| !g.gates[gate as usize].ended) {
                self.set_gate(gate, open, now, obs);
            }
        }
        if let Some(g) = &mut self.controllers {
            g.orders = orders;
        }
    }

    fn set_gate<O: Observer>(&mut self, gate: u32, open: bool, now: Time, obs: &mut O) {
        let Some(g) = &mut self.controllers else { return };
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
        let Some(g) = &mut self.controllers else { return };
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

    /// Restarts the clock of an application.
    fn go_on<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O) {
        let Some(g) = &mut self.controllers else { return };
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
            let newest = self.newest_datagram(at.0);
            self.with_app(app, now, obs, |a, cx| {
                cx.newest = newest;
                a.on_delivered(at, bytes, cx);
            });
        }
    }

    /// Open time of a flow since the last reset, and the number of times it was opened; `None` without a flow controller.
    pub fn opened(&self, flow: FlowId) -> Option<(Dur, u32)> {
        self.controllers.as_ref()?.opened(flow.0 as usize, self.path.now)
    }
}

/// Stops the clock of an application.
fn stand<A: App>(clock: &mut Clock, host: &mut Host<A>, now: Time) {
    clock.stops += 1;
    if clock.stops == 1 {
        clock.since = now;
        clock.wake = std::mem::replace(&mut host.wake, Time::MAX);
    }
}
