//! Laws: what a queue does to the packets that pass through it. A law never stores a packet.

pub(crate) mod afd;
pub(crate) mod ared;
pub(crate) mod avq;
pub(crate) mod blue;
mod bounds;
pub(crate) mod choke;
pub(crate) mod cobalt;
pub(crate) mod codel;
pub(crate) mod docsis_pie;
pub(crate) mod droptail;
pub(crate) mod fred;
pub(crate) mod green;
pub(crate) mod headdrop;
mod idle;
pub(crate) mod management;
pub(crate) mod modred;
mod pair;
pub(crate) mod pi;
pub(crate) mod pi2;
pub(crate) mod pie;
pub(crate) mod randomdrop;
pub(crate) mod red;
pub(crate) mod rem;
pub(crate) mod rio;
pub(crate) mod sfb;
pub(crate) mod wred;

#[cfg(test)]
mod testing;

use crate::sched::waiting::Waiting;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, DropReason, FlowId, Packet};
use fairlane_units::Time;

/// Decision of a law on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Leave it alone.
    Pass,
    /// Set congestion experienced (RFC 3168 section 5); a packet that is not ECN-capable is dropped instead.
    Mark,
    /// Drop it.
    Drop(DropReason),
    /// Drop the arriving packet and the waiting ones that [`Law::victims`] names (CHOKe). Only as an answer to `on_enqueue`.
    DropBoth(DropReason),
}

/// Which packet makes room when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The one arriving.
    Arriving,
    /// The one that has waited longest; the arriving packet is kept.
    Head,
    /// The one at this place in the queue, 0 being the head; the arriving packet is kept.
    At(usize),
}

/// The surroundings of a law during one call.
pub struct LawCx<'a> {
    /// The time of the call.
    pub now: Time,
    /// The queue's random stream.
    pub rng: &'a mut Stream,
    /// Backlog without the packet in question.
    pub held: Backlog,
    /// The packets waiting, in order, without the packet in question.
    pub queue: &'a Waiting,
}

/// An active queue management algorithm, or none.
///
/// The scheduler calls it for every arrival and departure, also for a packet that passes an empty
/// queue without being stored; everything it leaves out costs nothing.
pub trait Law: Clone + Send {
    /// True if [`Law::on_timer`] wants to be called.
    const HAS_TIMER: bool = false;
    /// True if [`Law::window_clamp`] may ever answer.
    const CLAMPS: bool = false;
    /// True if it neither judges nor remembers packets.
    const IDLE: bool = false;
    /// True if [`Law::on_dequeue`] may answer with a drop.
    const DROPS_LATE: bool = false;
    /// True if [`Law::other_backlog`] wants to be called.
    const USES_OTHER_BACKLOG: bool = false;
    /// True if [`Law::bulk_flows`] wants to be called.
    const COUNTS_BULK: bool = false;
    /// True if another packet than the arriving one may bear what [`Law::on_enqueue`] decides: a law that keeps no account of whose packets it lets in.
    const FRONT: bool = false;

    /// A packet arrives; called whether or not there is room for it.
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let _ = (p, cx);
        Verdict::Pass
    }
    /// The packet that `on_enqueue` just saw has no room, whatever its verdict was.
    #[inline]
    fn on_overflow(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Victim {
        let _ = (p, cx);
        Victim::Arriving
    }
    /// Places of the waiting packets to drop after [`Verdict::DropBoth`]: 0 is the head, each place once, the last place first.
    fn victims(&self) -> &[usize] {
        &[]
    }
    /// A packet is about to start its transmission.
    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let _ = (p, cx);
        Verdict::Pass
    }
    /// So many bytes wait in the other queues of the scheduler that this one is part of; called before it is asked for a packet.
    #[inline]
    fn other_backlog(&mut self, bytes: u64) {
        let _ = bytes;
    }
    /// Notes how many queues of the scheduler hold packets in turn after turn, this one among them. Called before a packet is taken.
    #[inline]
    fn bulk_flows(&mut self, n: u32) {
        let _ = n;
    }
    /// A waiting packet was removed to make room, or named by [`Law::victims`]; it will not be sent.
    #[inline]
    fn on_evict(&mut self, p: &Packet) {
        let _ = p;
    }
    /// A packet was wanted and none is left, because the law dropped the last of them. A port does not ask an empty
    /// queue: a law that needs idle time reckons it from the last departure, as RED does.
    #[inline]
    fn on_empty(&mut self, now: Time) {
        let _ = now;
    }
    /// Periodic update: called at time zero and at each time it returned last.
    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        let _ = cx;
        None
    }
    /// The largest receive window, in bytes, that acknowledgements of `flow` may show on their way back (ModRED). `None` leaves them alone.
    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        let _ = flow;
        None
    }
    /// Inner variables for plots, by name.
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
}
