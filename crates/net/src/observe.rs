//! What can be watched. Observers see `&Event` and nothing else, so watching cannot change a result.

use crate::endpoint::SenderState;
use crate::ids::{EpId, FlowId, PortId};
use crate::limit::Limit;
use crate::packet::{Packet, Segment};
use crate::parallel::Ledger;
use crate::qdisc::{Backlog, DropReason};
use fairlane_units::Time;
use fairlane_wireless::{Frame, Power};

/// Each event once: its meaning, struct, hook and fields. Expands to the structs and the [`Observer`] trait.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident => $hook:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? })*) => {
        $($(#[$doc])* #[derive(Clone, Copy, Debug, PartialEq)] pub struct $event { $($(#[$fdoc])* pub $field: $ty),* })*
        /// Receives events in the order of simulated time. Every hook has an empty default; the loop compiled for `()` calls none.
        pub trait Observer {
            /// Whether events are made at all.
            const ON: bool = true;
            /// Whether the world is one part of a network that runs in several, see [`crate::Parts`].
            #[doc(hidden)]
            const PART: bool = false;
            /// Where a part notes what the others have to know.
            #[doc(hidden)]
            #[inline]
            fn ledger(&mut self) -> Option<&mut Ledger> {
                None
            }
            /// Whether what happens at this port is of interest: the events that name a port are made for such ports only.
            #[inline]
            fn sees(&self, port: PortId) -> bool {
                let _ = port;
                true
            }
            /// Whether packets that come to the queue of a port that is seen are to be told of.
            #[inline]
            fn joins(&self, port: PortId) -> bool {
                self.sees(port)
            }
            /// Whether packets at the far end of the link of a port are to be told of.
            #[inline]
            fn crosses(&self, port: PortId) -> bool {
                self.sees(port)
            }
            /// Whether departures from this port are to be carried out when they are due, so that their events stand in the order of time among
            /// all others. Otherwise they may be told of later, though still in order among themselves.
            #[inline]
            fn prompt(&self, port: PortId) -> bool {
                self.sees(port)
            }
            /// Whether what this endpoint sends and receives is of interest: sending and receiving are told of such endpoints only.
            #[inline]
            fn hears(&self, endpoint: EpId) -> bool {
                let _ = endpoint;
                true
            }
            /// Whether this endpoint is to be looked at after each call.
            #[inline]
            fn looks(&self, endpoint: EpId) -> bool {
                let _ = endpoint;
                false
            }
            /// Whether frames that the wireless station of this port sends or receives are to be told of.
            #[inline]
            fn frames(&self, port: PortId) -> bool {
                let _ = port;
                false
            }
            /// Whether what limits the sender at this endpoint is to be told after each call.
            #[inline]
            fn weighs(&self, endpoint: EpId) -> bool {
                let _ = endpoint;
                false
            }
            /// Whether the inner variables of this port's queue are to be told each time that a packet comes or goes.
            #[inline]
            fn measures(&self, port: PortId) -> bool {
                let _ = port;
                false
            }
            /// Whether those of this endpoint are to be told after each call.
            #[inline]
            fn measures_end(&self, endpoint: EpId) -> bool {
                let _ = endpoint;
                false
            }
            /// Another port whose departures up to then are to be told of before a packet is that has crossed the link of this one.
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                let _ = port;
                None
            }
            /// Whether the world is to stop behind this event, for what was told of to be heard before it goes on.
            #[inline]
            fn enough(&self) -> bool {
                false
            }
            $($(#[$doc])* #[inline] fn $hook(&mut self, e: &$event) { let _ = e; })*
        }
        impl Observer for () {
            const ON: bool = false;
            #[inline]
            fn sees(&self, _: PortId) -> bool {
                false
            }
        }
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const ON: bool = A::ON || B::ON;
            #[inline]
            fn sees(&self, port: PortId) -> bool {
                (A::ON && self.0.sees(port)) || (B::ON && self.1.sees(port))
            }
            #[inline]
            fn joins(&self, port: PortId) -> bool {
                (A::ON && self.0.joins(port)) || (B::ON && self.1.joins(port))
            }
            #[inline]
            fn crosses(&self, port: PortId) -> bool {
                (A::ON && self.0.crosses(port)) || (B::ON && self.1.crosses(port))
            }
            #[inline]
            fn prompt(&self, port: PortId) -> bool {
                (A::ON && self.0.prompt(port)) || (B::ON && self.1.prompt(port))
            }
            #[inline]
            fn hears(&self, endpoint: EpId) -> bool {
                (A::ON && self.0.hears(endpoint)) || (B::ON && self.1.hears(endpoint))
            }
            #[inline]
            fn looks(&self, endpoint: EpId) -> bool {
                (A::ON && self.0.looks(endpoint)) || (B::ON && self.1.looks(endpoint))
            }
            #[inline]
            fn frames(&self, port: PortId) -> bool {
                (A::ON && self.0.frames(port)) || (B::ON && self.1.frames(port))
            }
            #[inline]
            fn weighs(&self, endpoint: EpId) -> bool {
                (A::ON && self.0.weighs(endpoint)) || (B::ON && self.1.weighs(endpoint))
            }
            #[inline]
            fn measures(&self, port: PortId) -> bool {
                (A::ON && self.0.measures(port)) || (B::ON && self.1.measures(port))
            }
            #[inline]
            fn measures_end(&self, endpoint: EpId) -> bool {
                (A::ON && self.0.measures_end(endpoint)) || (B::ON && self.1.measures_end(endpoint))
            }
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                self.0.before_hop(port).or_else(|| self.1.before_hop(port))
            }
            #[inline]
            fn enough(&self) -> bool {
                (A::ON && self.0.enough()) || (B::ON && self.1.enough())
            }
            $(#[inline] fn $hook(&mut self, e: &$event) { if A::ON { self.0.$hook(e); } if B::ON { self.1.$hook(e); } })*
        }
        impl<O: Observer> Observer for &mut O {
            const ON: bool = O::ON;
            #[inline]
            fn sees(&self, port: PortId) -> bool {
                (**self).sees(port)
            }
            #[inline]
            fn joins(&self, port: PortId) -> bool {
                (**self).joins(port)
            }
            #[inline]
            fn crosses(&self, port: PortId) -> bool {
                (**self).crosses(port)
            }
            #[inline]
            fn prompt(&self, port: PortId) -> bool {
                (**self).prompt(port)
            }
            #[inline]
            fn hears(&self, endpoint: EpId) -> bool {
                (**self).hears(endpoint)
            }
            #[inline]
            fn looks(&self, endpoint: EpId) -> bool {
                (**self).looks(endpoint)
            }
            #[inline]
            fn frames(&self, port: PortId) -> bool {
                (**self).frames(port)
            }
            #[inline]
            fn weighs(&self, endpoint: EpId) -> bool {
                (**self).weighs(endpoint)
            }
            #[inline]
            fn measures(&self, port: PortId) -> bool {
                (**self).measures(port)
            }
            #[inline]
            fn measures_end(&self, endpoint: EpId) -> bool {
                (**self).measures_end(endpoint)
            }
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                (**self).before_hop(port)
            }
            #[inline]
            fn enough(&self) -> bool {
                (**self).enough()
            }
            $(#[inline] fn $hook(&mut self, e: &$event) { (**self).$hook(e); })*
        }
    };
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// In the queue of a port.
    Queue(PortId),
    /// In an endpoint.
    End(EpId),
}

events! {
    /// An endpoint handed a segment to the network.
    SendEvent => on_send {
        /// When.
        time: Time,
        /// Which endpoint.
        endpoint: EpId,
        /// The packet as the first port will see it.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
    /// A port accepted a packet, to wait or to be sent at once.
    EnqueueEvent => on_enqueue {
        /// When.
        time: Time,
        /// Which port.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// What waits now, the packet included unless it was sent at once.
        backlog: Backlog,
    }
    /// A packet left the queue: its transmission begins.
    DequeueEvent => on_dequeue {
        /// When.
        time: Time,
        /// Which port.
        port: PortId,
        /// The packet; `at` is its arrival time at this queue.
        pkt: Packet,
        /// What waits behind it.
        backlog: Backlog,
        /// The segment.
        seg: Segment,
    }
    /// A packet was dropped by a queue or lost on a link.
    DropEvent => on_drop {
        /// When.
        time: Time,
        /// Which port.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// Why.
        why: DropReason,
        /// What waits now in the queue of that port.
        backlog: Backlog,
        /// The segment.
        seg: Segment,
    }
    /// The last bit of a packet reached the far end of a link.
    HopEvent => on_hop {
        /// When.
        time: Time,
        /// The port whose link it crossed.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
    /// A wireless station begins to send a frame, or has received one well, whomever it was for.
    FrameEvent => on_frame {
        /// When.
        time: Time,
        /// The port of that station.
        port: PortId,
        /// The port of the station that sends.
        from: PortId,
        /// The port of the station that the frame is for.
        to: PortId,
        /// The frame; its stations are numbered on their channel.
        frame: Frame,
        /// Its power, where it was received.
        heard: Option<Power>,
        /// What data that are sent carry, unless their receiver has it already.
        packet: Option<(Packet, Segment)>,
    }
    /// A control opened or closed a flow, or the flow is over, whose turn ends with it.
    TurnEvent => on_turn {
        /// When.
        time: Time,
        /// Which flow.
        flow: FlowId,
        /// Whether it may send from now on.
        open: bool,
    }
    /// An endpoint was called: what holds of it now, before what it sends goes out.
    MomentEvent => on_moment {
        /// When.
        time: Time,
        /// Which endpoint.
        endpoint: EpId,
        /// Window and states.
        moment: SenderState,
    }
    /// An inner variable of a queue or of an endpoint, as its time series have it.
    GaugeEvent => on_gauge {
        /// When.
        time: Time,
        /// Whose.
        of: Inside,
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
    }
    /// An endpoint was called: what limits it until the next call, before what it sends goes out.
    LimitEvent => on_limit {
        /// When.
        time: Time,
        /// Which endpoint.
        endpoint: EpId,
        /// What limits it.
        limit: Limit,
        /// Retransmission timeouts so far.
        timeouts: u64,
    }
    /// A segment reached an endpoint.
    ReceiveEvent => on_receive {
        /// When.
        time: Time,
        /// Which endpoint.
        endpoint: EpId,
        /// The flow.
        flow: FlowId,
        /// The packet as it arrived.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
}
