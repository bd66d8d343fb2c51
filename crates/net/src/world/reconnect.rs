//! Reconnecting flows: a new connection of the same flow, with new endpoints.
//!
//! An old connection that is still open is aborted (RFC 9293 section 3.10.5) without a RST: its endpoints are dropped with their data. Its packets in flight
//! continue and are counted, but no endpoint receives them. The new connection uses other port numbers, so it accepts no packet of the old one, and TIME-WAIT
//! (section 3.4.1) is not needed. Counters of a flow are sums over its connections.

use super::{Components, World};
use crate::endpoint::{Endpoint, Timers};
use crate::flow::Past;
use crate::ids::{EpId, FlowId};
use crate::limit::Limit;
use crate::observe::{Interest, LimitEvent, Observer, StateEvent};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Begins a flow again, now, with a new application, sender and receiver. The random stream of its application continues.
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
            if obs.wants_of(sender, Interest::STATE)
                && let Some(state) = self.moment(sender)
            {
                obs.on_state(&StateEvent { time: now, endpoint: sender, state });
            }
            if obs.wants_of(sender, Interest::LIMIT) {
                // Nothing limits a sender without data.
                obs.on_limit(&LimitEvent { time: now, endpoint: sender, limit: Limit::Nothing, timeouts: view.timeouts });
            }
        }
        self.set_app(id, app);
    }
}
