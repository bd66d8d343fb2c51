//! Checks that hold for every network: its packets are counted by events, and neither observers, event queues nor copies change it.

use crate::minimal::{Dumbbell, MinimalComponents};
use fairlane_engine::{EventQueue, QuadHeap, Sorted, Tournament, Wheel};
use fairlane_net::*;
use fairlane_units::Time;
use proptest::prelude::*;

/// End of the runs.
pub(crate) const END: Time = Time::from_ps(700_000_000_000);

/// A network to build.
pub(crate) trait Network {
    fn world<H: EventQueue>(&self) -> World<MinimalComponents, H>;
}

impl Network for Dumbbell {
    fn world<H: EventQueue>(&self) -> World<MinimalComponents, H> {
        self.build()
    }
}

/// Packets and bytes by the events alone.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) sent: (u64, u64),
    pub(crate) received: (u64, u64),
    pub(crate) dropped: (u64, u64),
    last: Time,
}

fn count(sum: &mut (u64, u64), pkt: &Packet) {
    *sum = (sum.0 + 1, sum.1 + u64::from(pkt.len));
}

impl Ledger {
    fn tick(&mut self, now: Time) {
        assert!(now >= self.last, "observers see events in the order of time");
        self.last = now;
    }
    /// Packets and bytes in the network.
    pub(crate) fn alive(&self) -> (u64, u64) {
        (self.sent.0 - self.received.0 - self.dropped.0, self.sent.1 - self.received.1 - self.dropped.1)
    }
}

impl Observer for Ledger {
    fn on_send(&mut self, e: &SendEvent) {
        count(&mut self.sent, &e.pkt);
        self.tick(e.time);
    }
    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        self.tick(e.time);
    }
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        self.tick(e.time);
    }
    fn on_drop(&mut self, e: &DropEvent) {
        count(&mut self.dropped, &e.pkt);
        self.tick(e.time);
    }
    fn on_hop(&mut self, e: &HopEvent) {
        self.tick(e.time);
    }
    fn on_receive(&mut self, e: &ReceiveEvent) {
        count(&mut self.received, &e.pkt);
        self.tick(e.time);
    }
}

/// Fingerprint and counters of a run, and its number of events.
fn run<H: EventQueue>(net: &impl Network, obs: &mut impl Observer) -> ((u64, Vec<PortCounters>), u64) {
    let mut w = net.world::<H>();
    w.advance(END, u64::MAX, obs);
    w.settle(obs);
    ((w.fingerprint(), w.ports().iter().map(|p| p.counters().clone()).collect()), w.events())
}

/// Runs it watched by `obs`, and on each event queue.
pub(crate) fn observer_and_event_queue_change_nothing(net: &impl Network, obs: &mut impl Observer) -> Result<(), TestCaseError> {
    let want = run::<QuadHeap>(net, &mut ());
    prop_assert_eq!(&run::<QuadHeap>(net, obs).0, &want.0);
    prop_assert_eq!(&run::<Sorted>(net, &mut ()), &want);
    prop_assert_eq!(&run::<Tournament>(net, &mut ()), &want);
    prop_assert_eq!(&run::<Wheel>(net, &mut ()), &want);
    Ok(())
}

/// Stops the run at `pause`, every 97 events until then, and continues it and a copy.
pub(crate) fn clone_and_pauses_change_nothing(net: &impl Network, pause: Time) -> Result<(), TestCaseError> {
    let mut whole = net.world::<QuadHeap>();
    whole.advance(END, u64::MAX, &mut ());
    let mut first = net.world::<QuadHeap>();
    while !first.advance(pause, 97, &mut ()) {}
    let mut branch = first.clone();
    first.advance(END, u64::MAX, &mut ());
    branch.advance(END, u64::MAX, &mut ());
    prop_assert_eq!(first.fingerprint(), whole.fingerprint());
    prop_assert_eq!(branch.fingerprint(), whole.fingerprint());
    Ok(())
}
