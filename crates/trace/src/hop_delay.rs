//! Delay from the second node of a path on, without the sender's own access link.

use fairlane_net::{HopEvent, Interest, Observer, PacketRef, PortId, ReceiveEvent, SendEvent, Summary};
use fairlane_units::Time;

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
struct Trip {
    first_hop: u32,
    left_first: Time,
}

/// Time of each flow's data packets from the far end of their first link to the receiver.
#[derive(Clone, Debug, Default)]
pub struct HopDelay {
    trips: Vec<Trip>,
    flows: Vec<Summary>,
    from: Time,
}

impl HopDelay {
    /// Observes `flows` flows; packets that arrive before `from` (the end of the warm-up) are not counted.
    pub fn new(flows: usize, from: Time) -> Self {
        Self { trips: Vec::new(), flows: vec![Summary::default(); flows], from }
    }

    /// Delays after the first link, by flow.
    pub fn flows(&self) -> &[Summary] {
        &self.flows
    }

    fn trip(&mut self, id: PacketRef) -> &mut Trip {
        let i = id.0 as usize;
        if i >= self.trips.len() {
            self.trips.resize(i + 1, Trip { first_hop: u32::MAX, left_first: Time::MAX });
        }
        &mut self.trips[i]
    }
}

impl Observer for HopDelay {
    fn port_interest(&self, _: PortId) -> Interest {
        Interest::HOP
    }

    fn on_send(&mut self, e: &SendEvent) {
        let first_hop = e.pkt.hop;
        *self.trip(e.pkt.id) = Trip { first_hop, left_first: Time::MAX };
    }

    fn on_hop(&mut self, e: &HopEvent) {
        let trip = self.trip(e.pkt.id);
        if trip.first_hop == e.pkt.hop {
            trip.left_first = e.time;
        }
    }

    fn on_receive(&mut self, e: &ReceiveEvent) {
        let left = std::mem::replace(&mut self.trip(e.pkt.id).left_first, Time::MAX);
        if e.pkt.data && e.endpoint.receives() && e.time >= self.from && left <= e.time {
            self.flows[e.flow.0 as usize].add((e.time - left).as_ps());
        }
    }
}
