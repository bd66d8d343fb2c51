//! Flows that are built when they begin, and give up their places when they have ended.

use super::{Components, World};
use crate::app::App;
use crate::endpoint::{Endpoint, FlowView};
use crate::flow::Flow;
use crate::ids::{EpId, FlowId, PortId};
use crate::lifetime::{ENDED, EndedFlow, FlowSum, Lifetimes, NewFlow, WAITING};
use crate::order::Turn;
use crate::side::{Host, Side};
use fairlane_engine::{EventQueue, Stream};
use fairlane_units::{Rate, Time};

impl<P: Components, H: EventQueue> World<P, H> {
    /// Index of the application with this number; a flow that has not begun is built. `None` if the flow has ended, and the event is stale.
    #[inline]
    pub(super) fn host_of(&mut self, number: u32) -> Option<usize> {
        if self.lifetimes.is_none() {
            return Some(number as usize);
        }
        match self.path.places[number as usize] {
            WAITING => self.build_flow(FlowId(number)),
            ENDED => None,
            place => Some(place as usize),
        }
    }

    /// Builds a flow at a free place, after looking for flows that have ended. Queues the first event of the next flow.
    fn build_flow(&mut self, id: FlowId) -> Option<usize> {
        self.end_some();
        let l = self.lifetimes.as_mut()?;
        let NewFlow { app, sender, receiver, amount } = l.factory.build(id);
        let (name, ends) = (l.factory.name(id).clone(), l.factory.ends(id));
        let place = l.place(id);
        l.begins();
        let rng = Stream::new(l.seed, "app", &name, "traffic");
        let mut flow = Flow::new(name);
        (flow.app, flow.watched) = (place, app.listens());
        (flow.amount, flow.written, flow.closed) = (amount, amount, amount != 0);
        let routes = [EpId::sender(id), EpId::receiver(id)].map(|ep| l.routes[ep.0 as usize]);
        let next = l.next_start().map(|f| (f, l.factory.starts_at(f)));
        let i = place as usize;
        for (k, (mut end, route)) in [sender, receiver].into_iter().zip(routes).enumerate() {
            if let Some(rate) = self.first_rate(route) {
                end.attach(rate);
            }
            put(&mut self.endpoints, 2 * i + k, end);
            put(&mut self.sides, 2 * i + k, Side::new(route, ends.proto));
        }
        put(&mut self.hosts, i, Host { app, number: id.0, rng, wake: self.path.now, armed: self.path.now });
        put(&mut self.path.flows, i, flow);
        self.path.places[id.0 as usize] = place;
        if let Some((flow, at)) = next {
            self.path.push(at, self.path.slots.hosts + flow.0, Turn::Act);
        }
        Some(i)
    }

    /// Rate of the first link of a route.
    fn first_rate(&self, route: u32) -> Option<Rate> {
        self.hops_from(route).next().map(|port| self.port(PortId(port)).link().rate)
    }

    /// Looks at some places, and takes the flows that have ended off them.
    fn end_some(&mut self) {
        let Some(l) = &mut self.lifetimes else { return };
        for (place, id) in l.look().into_iter().flatten() {
            let (flow, host) = (&self.path.flows[place], &self.hosts[place]);
            let timers = [2 * place, 2 * place + 1].map(|at| self.sides[at].timers.next());
            if flow.in_network == 0 && host.wake == Time::MAX && timers == [Time::MAX; 2] {
                let (view, kept) = (flow.view(&self.endpoints[2 * place]), flow.kept(&self.endpoints[2 * place + 1]));
                let flow = std::mem::take(&mut self.path.flows[place]);
                self.path.places[id.0 as usize] = ENDED;
                l.end(place, id, flow, view, kept);
            }
        }
    }

    /// Flow with its counters; `None` if it has not begun or is counted in a [`FlowSum`].
    pub fn flow(&self, id: FlowId) -> Option<&Flow> {
        let i = id.0 as usize;
        match (self.path.places[i], &self.lifetimes) {
            (WAITING, _) => None,
            (ENDED, Some(l)) => Some(&l.kept.get(i)?.as_deref()?.flow),
            (place, _) => self.path.flows.get(place as usize),
        }
    }

    /// Ended flow that is counted in a [`FlowSum`], and the number of that sum.
    pub fn ended(&self, id: FlowId) -> Option<(EndedFlow, usize)> {
        let (l, i) = (self.lifetimes.as_ref()?, id.0 as usize);
        let counted = self.path.places[i] == ENDED && l.kept.get(i).is_none_or(Option::is_none);
        if counted { Some((l.ended[i], l.factory.sum(id)?)) } else { None }
    }

    /// True if a flow has ever begun.
    pub fn has_begun(&self, id: FlowId) -> bool {
        self.path.places[id.0 as usize] == ENDED || self.flow(id).is_some_and(Flow::has_begun)
    }

    /// Payload bytes of a flow that were delivered since the last reset.
    pub fn delivered_bytes(&self, id: FlowId) -> u64 {
        self.ended(id).map_or_else(|| self.flow(id).map_or(0, |f| f.counters.delivered), |(e, _)| e.delivered)
    }

    /// Bytes on the wire of a flow's data packets that arrived since the last reset.
    pub fn received_bytes(&self, id: FlowId) -> u64 {
        self.ended(id).map_or_else(|| self.flow(id).map_or(0, |f| f.counters.received_bytes), |(e, _)| e.received)
    }

    /// Sums of the flows that have ended.
    pub fn sums(&self) -> &[FlowSum] {
        self.lifetimes.as_ref().map_or(&[], |l| &l.sums)
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.path.places.len()
    }

    /// View of the sender, and undelivered bytes of the receiver, of a flow that is built when it begins.
    pub(super) fn outcome(&self, l: &Lifetimes<P>, id: FlowId) -> (FlowView, u64) {
        let i = id.0 as usize;
        match self.path.places[i] {
            WAITING => {
                let mut sender = l.factory.build(id).sender;
                if let Some(rate) = self.first_rate(l.routes[EpId::sender(id).0 as usize]) {
                    sender.attach(rate);
                }
                (sender.view(), 0)
            }
            ENDED => l.kept.get(i).and_then(|k| k.as_deref()).map_or_else(Default::default, |k| (k.view, k.kept)),
            place => {
                let (i, flow) = (place as usize, &self.path.flows[place as usize]);
                match self.endpoints.get(2 * i..2 * i + 2) {
                    Some(ends) => (flow.view(&ends[0]), flow.kept(&ends[1])),
                    None => (self.last_views[i], self.last_kept[i]),
                }
            }
        }
    }
}

/// Puts an item at a place: an existing one, or the next.
fn put<T>(all: &mut Vec<T>, place: usize, item: T) {
    match all.get_mut(place) {
        Some(old) => *old = item,
        None => all.push(item),
    }
}
