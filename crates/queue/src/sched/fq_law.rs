//! Flow queues with a law in each: what FQ-CoDel and FQ-PIE have in common.

use super::flow_queues::{Equal, FlowQueues};
use super::hash::{FlowMap, HashBy};
use super::room::Room;
use super::{check, fifo::Fifo};
use crate::discipline::Problem;
use crate::law::Law;
use crate::limit::Limit;
use fairlane_net::{Backlog, BuildContext, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Len, Time};

fairlane_units::params! {
    /// Parameters of FQ-CoDel's scheduler (RFC 8290), for any law.
    pub part FqScheduler {
        /// Limit of all queues together; the packet in transmission is not counted (RFC 8290 section 5.2.3).
        pub limit: Len = Len::Packets(10_240),
        /// Limit of all queues together in bytes on the wire (tc's memory_limit, which counts the kernel's buffers). Unset: `limit` is the only one.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub memory_limit: Option<Bytes> = None,
        /// Number of queues that flows are hashed into (RFC 8290 section 5.2.5).
        #[schemars(range(min = 1, max = 65536))]
        pub flows: u32 = 1024,
        /// Field that the packets of one queue share.
        pub hash: HashBy = HashBy::Flow,
        /// Salt of the hash (RFC 8290 section 4.1). Unset: drawn from the random stream of the queue.
        pub salt: Option<u64> = None,
        /// Bytes a queue may send in its turn (RFC 8290 section 5.2.4).
        #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
        pub quantum: Bytes = Bytes(1514),
        /// Most packets dropped at a time from the head of the queue that holds most bytes, when there is no room (RFC 8290 section 4.1).
        #[schemars(range(min = 1, max = 65536))]
        pub drop_batch: u32 = 64,
        /// True if a new queue that is found empty leaves at once where there are no old ones, as in Linux; else it passes through the old ones in any case (RFC 8290
        /// section 4.2).
        pub leave_new: bool = false,
    }
}

impl FqScheduler {
    pub(crate) fn check(&self) -> Result<(), Problem> {
        check::holds("limit", Some(self.limit))?;
        check::some("memory_limit", self.memory_limit.map_or(1, Bytes::get))?;
        check::some("flows", u64::from(self.flows))?;
        check::some("quantum", self.quantum.get())?;
        check::some("drop_batch", u64::from(self.drop_batch))
    }
}

/// Flows hashed into queues, each under a law of its own, served by deficit round robin with new flows first (RFC 8290).
#[derive(Clone, Debug)]
pub struct FqFlows<L> {
    map: FlowMap,
    queues: FlowQueues<L>,
    room: Room,
    drop_batch: u32,
    /// True if a full buffer refuses what arrives.
    refuses: bool,
}

impl<L: Law> FqFlows<L> {
    pub(crate) fn new(p: &FqScheduler, law: L, context: &BuildContext<'_>) -> Self {
        Self {
            map: FlowMap::new(p.hash, Some(p.flows), p.salt, context),
            queues: FlowQueues::new(Fifo::new(law, Limit::NONE), p.flows as usize, p.quantum.get(), context.link.rate).leaving(p.leave_new),
            room: Room::new(p.limit).within(p.memory_limit.map_or(u64::MAX, Bytes::get)),
            drop_batch: p.drop_batch,
            refuses: false,
        }
    }

    /// Sets if a packet that arrives at a full buffer is refused before its law decides.
    #[must_use]
    pub(crate) fn refusing(mut self, refuses: bool) -> Self {
        self.refuses = refuses;
        self
    }

    /// The laws of the queues used so far.
    pub fn laws(&self) -> impl Iterator<Item = &L> {
        self.queues.laws()
    }
}

impl<L: Law> Qdisc for FqFlows<L> {
    #[inline]
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let name = self.map.queue(&p, cx.rng);
        if self.refuses {
            let mut with = self.queues.held();
            with.add(&p);
            if self.room.exceeded(with) {
                return self.queues.refuse(name, p, cx);
            }
        }
        self.queues.enqueue(name, p, cx, &mut Equal);
        while self.room.exceeded(self.queues.held()) && self.queues.drop_from_longest(self.drop_batch, cx).is_some() {}
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        self.queues.dequeue(cx, &mut Equal)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queues.held()
    }

    fn has_timer(&self) -> bool {
        L::HAS_TIMER
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        self.queues.on_timer(cx)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let [new, old] = self.queues.counts();
        out("new_flows", new as f64);
        out("old_flows", old as f64);
    }
}
