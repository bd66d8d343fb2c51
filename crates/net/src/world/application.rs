//! Calls of applications, and their actions.

use super::{Components, World};
use crate::app::{Action, App, AppCx};
use crate::endpoint::Endpoint;
use crate::ids::EpId;
use crate::observe::Observer;
use crate::order::Turn;
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};

impl<P: Components, H: EventQueue> World<P, H> {
    pub(super) fn on_host<O: Observer>(&mut self, number: u32, now: Time, obs: &mut O) {
        let Some(app) = self.host_of(number) else { return };
        let host = &mut self.hosts[app];
        if host.armed == now {
            host.armed = Time::MAX;
        }
        if host.wake <= now {
            host.wake = Time::MAX;
            if O::ON && self.begins_closed(app, now) {
                return;
            }
            self.with_app(app, now, obs, |a, cx| a.on_wake(cx));
        } else if host.wake < host.armed {
            host.armed = host.wake;
            self.path.push(host.wake, self.path.slots.hosts + number, Turn::Act);
        }
    }

    /// Calls an application, and carries out its requests.
    pub(crate) fn with_app<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O, call: impl FnOnce(&mut P::App, &mut AppCx<'_>)) {
        let mut actions = std::mem::take(&mut self.actions);
        let host = &mut self.hosts[app];
        // The clock of an application is late by the time for which it was stopped.
        let lag = if O::ON { self.controllers.as_ref().map_or(Dur::ZERO, |g| g.lag(app)) } else { Dur::ZERO };
        if lag > Dur::ZERO && host.wake != Time::MAX {
            host.wake = Time::ZERO + host.wake.since(Time::ZERO + lag);
        }
        call(
            &mut host.app,
            &mut AppCx {
                now: Time::ZERO + now.since(Time::ZERO + lag),
                rng: &mut host.rng,
                actions: &mut actions,
                wake: &mut host.wake,
                newest: None,
            },
        );
        if lag > Dur::ZERO && host.wake != Time::MAX {
            host.wake += lag;
        }
        if host.wake < host.armed {
            host.armed = host.wake.max(now);
            self.path.push(host.armed, self.path.slots.hosts + host.number, Turn::Act);
        }
        for (end, mut action) in actions.drain(..) {
            if let Action::Done { since } = &mut action {
                *since += lag;
            }
            self.act(end, action, now, obs);
        }
        // A nested call may have left its buffer: keep the larger one.
        if actions.capacity() > self.actions.capacity() {
            self.actions = actions;
        }
    }

    pub(super) fn act<O: Observer>(&mut self, end: EpId, action: Action, now: Time, obs: &mut O) {
        let id = end.flow();
        let sender = EpId::sender(id).0;
        let flow = &mut self.path.flows[self.path.places[id.0 as usize] as usize];
        match action {
            Action::Done { since } => return flow.counters.transactions.get_or_insert_default().add((now - since).as_ps()),
            Action::Plays { lasts } => return flow.plays(now, now + lasts),
            Action::PlayEnds => return flow.play_ends(now),
            Action::Write { .. } | Action::Stop => {}
        }
        let first = flow.started == Time::MAX;
        if first {
            flow.started = now;
            if O::ON
                && let Some(g) = &mut self.controllers
            {
                g.begin(id.0 as usize, now);
            }
        }
        if flow.amount != 0 && flow.completed != Time::MAX {
            return;
        }
        match action {
            // Only data of the sending end counts as written.
            Action::Write { bytes, fin } if !end.receives() && flow.amount == 0 => {
                flow.written = flow.written.saturating_add(bytes);
                flow.closed |= fin;
            }
            Action::Stop if !end.receives() => {
                flow.closed = false;
                if O::ON
                    && let Some(g) = &mut self.controllers
                {
                    g.stop(id.0 as usize);
                }
            }
            _ => {}
        }
        let mut away = false;
        if O::PART
            && let Some(ledger) = obs.ledger()
            && ledger.is_away(sender + 1)
        {
            ledger.wrote(id, flow);
            away = true;
        }
        if first {
            if !(O::PART && away) {
                self.with_endpoint(sender + 1, now, obs, |e, cx| e.start(cx));
            }
            self.with_endpoint(sender, now, obs, |e, cx| e.start(cx));
        }
        self.with_endpoint(end.0, now, obs, |e, cx| match action {
            Action::Write { bytes, fin } => e.on_write(bytes, fin, cx),
            Action::Stop => e.on_stop(cx),
            _ => {}
        });
    }
}
