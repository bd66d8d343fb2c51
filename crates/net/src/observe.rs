//! Events and observers. Observers see `&Event` and nothing else, so watching cannot change a result.

use crate::endpoint::SenderState;
use crate::flow::Flow;
use crate::ids::{EpId, FlowId, PortId};
use crate::limit::Limit;
use crate::packet::{Packet, Segment};
use crate::qdisc::{Backlog, DropReason};
use fairlane_engine::Slot;
use fairlane_units::{Dur, Time};
use fairlane_wireless::{Frame, Power};
use std::ops::BitOr;

/// Events of a port or an endpoint that an observer subscribes to, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u16);

impl Interest {
    /// No events.
    pub const NONE: Self = Self(0);
    /// Port: departures and drops.
    pub const PORT: Self = Self(1);
    /// Port, with [`Self::PORT`]: packets that join the queue.
    pub const ENQUEUE: Self = Self(1 << 1);
    /// Port: packets at the far end of its link.
    pub const HOP: Self = Self(1 << 2);
    /// Port: departures are carried out when they are due, so that their events are in time order with all others. Otherwise they may come
    /// later, in order among themselves.
    pub const PROMPT: Self = Self(1 << 3);
    /// Port: frames that its wireless station sends or receives.
    pub const FRAME: Self = Self(1 << 4);
    /// Gauges: of a port's queue with each packet that comes or goes, of an endpoint after each call.
    pub const GAUGE: Self = Self(1 << 5);
    /// Endpoint: segments sent and received.
    pub const SEGMENT: Self = Self(1 << 6);
    /// Endpoint: state of the sender after each call.
    pub const STATE: Self = Self(1 << 7);
    /// Endpoint: what limits the sender, after each call.
    pub const LIMIT: Self = Self(1 << 8);
    /// Port: all events of packets, in time order.
    pub const PACKETS: Self = Self(Self::PORT.0 | Self::ENQUEUE.0 | Self::HOP.0 | Self::PROMPT.0);

    /// Returns true if any event of `other` is in the set.
    #[inline(always)]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Returns the set if `yes`, else the empty set.
    #[inline]
    #[must_use]
    pub const fn when(self, yes: bool) -> Self {
        if yes { self } else { Self::NONE }
    }
}

impl BitOr for Interest {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Record of what one part of a partitioned network has to tell the other parts.
#[doc(hidden)]
pub trait PartLedger {
    /// Begins an event.
    fn begin(&mut self, time: Time, number: Slot);
    /// Returns true if the endpoint is in another part.
    fn is_away(&self, ep: u32) -> bool;
    /// Records a round-trip time that an end of a flow measured.
    fn measured(&mut self, flow: FlowId, rtt: Dur);
    /// Records that the application of a flow with a receiver elsewhere began, wrote or stopped.
    fn wrote(&mut self, id: FlowId, flow: &Flow);
    /// Records a delivery of a flow with a sender elsewhere, if it may be the last.
    fn delivered(&mut self, id: FlowId, flow: &Flow);
    /// Records that the queue of a port dropped data of a TCP flow.
    fn lost(&mut self, port: u32, flow: FlowId, at: Time);
}

/// Defines each event once, with its hook and fields. Expands to the structs and the [`Observer`] trait.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident => $hook:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? })*) => {
        $($(#[$doc])* #[derive(Clone, Copy, Debug, PartialEq)] pub struct $event { $($(#[$fdoc])* pub $field: $ty),* })*
        /// Receives events in the order of simulated time. Every hook has an empty default; the loop compiled for `()` calls none.
        pub trait Observer {
            /// True if events are made at all.
            const ON: bool = true;
            /// True if the world is one part of a partitioned network, see [`crate::ParallelWorld`].
            #[doc(hidden)]
            const PART: bool = false;
            /// Ledger of a part.
            #[doc(hidden)]
            #[inline]
            fn ledger(&mut self) -> Option<&mut dyn PartLedger> {
                None
            }
            /// Events of a port that are reported.
            #[inline]
            fn port_interest(&self, port: PortId) -> Interest {
                let _ = port;
                Interest::PACKETS
            }
            /// Events of an endpoint that are reported.
            #[inline]
            fn endpoint_interest(&self, endpoint: EpId) -> Interest {
                let _ = endpoint;
                Interest::SEGMENT
            }
            /// Returns true if any of `events` of a port is reported.
            #[inline(always)]
            fn wants_at(&self, port: PortId, events: Interest) -> bool {
                Self::ON && self.port_interest(port).has(events)
            }
            /// Returns true if any of `events` of an endpoint is reported.
            #[inline(always)]
            fn wants_of(&self, endpoint: EpId, events: Interest) -> bool {
                Self::ON && self.endpoint_interest(endpoint).has(events)
            }
            /// Another port whose due departures are reported before a packet that has crossed the link of this one.
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                let _ = port;
                None
            }
            /// Returns true if the world is to stop after this event, so that reports are read before it continues.
            #[inline]
            fn enough(&self) -> bool {
                false
            }
            $($(#[$doc])* #[inline] fn $hook(&mut self, e: &$event) { let _ = e; })*
        }
        impl Observer for () {
            const ON: bool = false;
            #[inline]
            fn port_interest(&self, _: PortId) -> Interest {
                Interest::NONE
            }
        }
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const ON: bool = A::ON || B::ON;
            #[inline]
            fn port_interest(&self, port: PortId) -> Interest {
                self.0.port_interest(port).when(A::ON) | self.1.port_interest(port).when(B::ON)
            }
            #[inline]
            fn endpoint_interest(&self, endpoint: EpId) -> Interest {
                self.0.endpoint_interest(endpoint).when(A::ON) | self.1.endpoint_interest(endpoint).when(B::ON)
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
            fn port_interest(&self, port: PortId) -> Interest {
                (**self).port_interest(port)
            }
            #[inline]
            fn endpoint_interest(&self, endpoint: EpId) -> Interest {
                (**self).endpoint_interest(endpoint)
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

/// Owner of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Queue of a port.
    Queue(PortId),
    /// Endpoint.
    End(EpId),
}

events! {
    /// An endpoint handed a segment to the network.
    SendEvent => on_send {
        /// Time.
        time: Time,
        /// Endpoint.
        endpoint: EpId,
        /// The packet as the first port receives it.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
    /// A port accepted a packet, to wait or to be sent at once.
    EnqueueEvent => on_enqueue {
        /// Time.
        time: Time,
        /// Port.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// Backlog, including the packet unless it was sent at once.
        backlog: Backlog,
    }
    /// A packet left the queue: its transmission begins.
    DequeueEvent => on_dequeue {
        /// Time.
        time: Time,
        /// Port.
        port: PortId,
        /// The packet; `at` is its arrival time at this queue.
        pkt: Packet,
        /// Backlog behind it.
        backlog: Backlog,
        /// The segment.
        seg: Segment,
    }
    /// A packet was dropped by a queue or lost on a link.
    DropEvent => on_drop {
        /// Time.
        time: Time,
        /// Port.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// Reason.
        why: DropReason,
        /// Backlog of the port.
        backlog: Backlog,
        /// The segment.
        seg: Segment,
    }
    /// The last bit of a packet reached the far end of a link.
    HopEvent => on_hop {
        /// Time.
        time: Time,
        /// Port of the link it crossed.
        port: PortId,
        /// The packet.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
    /// A wireless station begins to send a frame, or has received one without error, whether for itself or not.
    FrameEvent => on_frame {
        /// Time.
        time: Time,
        /// Port of that station.
        port: PortId,
        /// Port of the sending station.
        from: PortId,
        /// Port of the destination station.
        to: PortId,
        /// The frame; its stations are numbered on their channel.
        frame: Frame,
        /// Received power, if it was received.
        heard: Option<Power>,
        /// Packet of a data frame that is sent, unless its receiver has it already.
        packet: Option<(Packet, Segment)>,
    }
    /// A flow controller opened or closed a flow, or the flow has ended.
    TurnEvent => on_turn {
        /// Time.
        time: Time,
        /// Flow.
        flow: FlowId,
        /// True if it may send from now on.
        open: bool,
    }
    /// An endpoint was called: its state, before its segments are sent.
    StateEvent => on_state {
        /// Time.
        time: Time,
        /// Endpoint.
        endpoint: EpId,
        /// Window and states.
        state: SenderState,
    }
    /// Gauge of a queue or of an endpoint, as in its time series.
    GaugeEvent => on_gauge {
        /// Time.
        time: Time,
        /// Owner.
        of: Inside,
        /// Name.
        name: &'static str,
        /// Value.
        value: f64,
    }
    /// An endpoint was called: what limits it until the next call, before its segments are sent.
    LimitEvent => on_limit {
        /// Time.
        time: Time,
        /// Endpoint.
        endpoint: EpId,
        /// Limit.
        limit: Limit,
        /// Retransmission timeouts so far.
        timeouts: u64,
    }
    /// A segment reached an endpoint.
    ReceiveEvent => on_receive {
        /// Time.
        time: Time,
        /// Endpoint.
        endpoint: EpId,
        /// The flow.
        flow: FlowId,
        /// The packet as it arrived.
        pkt: Packet,
        /// The segment.
        seg: Segment,
    }
}
