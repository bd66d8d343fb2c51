//! Flows that begin again: a new connection of the same flow, with ends that know nothing of those before them.
//!
//! The connection before, if it is not over by then, is aborted (RFC 9293 section 3.10.5) without a word to anybody: its ends are gone with all they had
//! to send or to deliver. Its packets under way are carried on and count where they pass and arrive, as those of any flow, but
//! nobody hears of them: the new connection is one between other ports, so that no packet of the old one is acceptable to it, and TIME-WAIT (section 3.4.1) has
//! nothing to guard against. Counters of the flow add up over its connections.

use super::{Components, World};
use crate::endpoint::{Endpoint, Timers};
use crate::flow::Past;
use crate::ids::{EpId, FlowId};
use crate::limit::Limit;
use crate::observe::{Interest, LimitEvent, MomentEvent, Observer};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Begins a flow again, now: with a fresh application, sender and receiver. It goes on with the random numbers of its application.
    pub fn begin<O: Observer>(&mut self, id: FlowId, app: P::App, ends: [P::Endpoint; 2], obs: &mut O) {
        let (number, now) = (id.0 as usize, self.path.now);
        let [sender, receiver] = [EpId::sender(id), EpId::receiver(id)];
        let flow = &mut self.path.flows[number];
        let view = flow.view(&self.endpoints[sender.0 as usize]);
        let kept = flow.kept(&self.endpoints[receiver.0 as usize]);
        flow.past = Some(Box::new(Past { view, kept, delivered: flow.delivered }));
        (flow.started, flow.completed) = (Time::MAX, Time::MAX);
        (flow.written, flow.closed) = (flow.delivered + flow.amount, flow.amount != 0);
        let host = flow.app as usize;
        for (ep, mut end) in [sender, receiver].into_iter().zip(ends) {
            if let Some(first) = self.route(ep).next() {
                end.attach(self.port(first).link().rate);
            }
            end.reseed(self.hosts[host].rng.next_u64());
            let side = &mut self.sides[ep.0 as usize];
            side.timers = Timers::default();
            side.conn = side.conn.wrapping_add(1);
            self.endpoints[ep.0 as usize] = end;
        }
        if let Some(g) = &mut self.controllers {
            g.abandon(number, host);
            self.notify_controllers(None, now, obs);
        }
        let (ep, side) = (&mut self.endpoints[sender.0 as usize], &mut self.sides[sender.0 as usize]);
        if let Some(g) = &mut self.controllers {
            g.renew(number, host, ep, &mut side.timers);
        }
        if O::ON {
            if obs.endpoint_interest(sender).has(Interest::STATE)
                && let Some(moment) = self.moment(sender)
            {
                obs.on_moment(&MomentEvent { time: now, endpoint: sender, moment });
            }
            if obs.endpoint_interest(sender).has(Interest::LIMIT) {
                // Until the application writes nothing is to be limited.
                obs.on_limit(&LimitEvent { time: now, endpoint: sender, limit: Limit::Nothing, timeouts: view.timeouts });
            }
        }
        self.set_app(id, app);
    }
}
