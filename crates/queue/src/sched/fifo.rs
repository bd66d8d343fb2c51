//! First in, first out, under one law.

use crate::law::{Law, LawCx, Verdict, Victim};
use crate::limit::{Front, Limit};
use crate::sched::rounds::DropFrom;
use crate::sched::waiting::Waiting;
use fairlane_net::{Backlog, DropReason, Ecn, FlowId, Packet, QCx, Qdisc, Room};
use fairlane_units::Time;

/// One queue under the law `L`. Its ring grows by doubling and never shrinks, so a run allocates a handful of times.
#[derive(Clone, Debug)]
pub struct Fifo<L> {
    law: L,
    limit: Limit,
    front: Front,
    /// Marks that packets at the head are to carry, one each.
    owed: u32,
    /// Bytes queued; the packets count themselves.
    bytes: u64,
    queue: Waiting,
}

impl<L: Law> Fifo<L> {
    /// An empty queue.
    pub fn new(law: L, limit: Limit) -> Self {
        Self { law, limit, front: Front::default(), owed: 0, bytes: 0, queue: Waiting::default() }
    }

    /// With another packet than the arriving one to bear what the law decides at its arrival.
    #[must_use]
    pub fn bearing(mut self, front: Front) -> Self {
        self.front = front;
        self
    }

    #[inline]
    fn held(&self) -> Backlog {
        Backlog { pkts: self.queue.len() as u32, bytes: self.bytes }
    }

    /// Its law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// Its law, to be changed.
    pub fn law_mut(&mut self) -> &mut L {
        &mut self.law
    }

    /// The packets waiting, in order.
    pub fn packets(&self) -> &Waiting {
        &self.queue
    }

    /// Removes the packet at place `i` (0 is the head), for a scheduler that must make room.
    pub fn evict(&mut self, i: usize) -> Option<Packet> {
        let p = self.queue.remove(i)?;
        self.bytes -= u64::from(p.len);
        self.law.on_evict(&p);
        Some(p)
    }

    /// Drops an arriving packet for which a scheduler has no room; the law hears of the overflow alone.
    pub(crate) fn refuse(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let held = self.held();
        self.law.on_overflow(&p, &mut LawCx { now: cx.now, rng: cx.rng, held, queue: &self.queue });
        cx.drop(p, DropReason::Overflow);
    }

    #[inline]
    fn ask(&mut self, cx: &mut QCx<'_>, f: impl FnOnce(&mut L, &mut LawCx<'_>) -> Verdict) -> Verdict {
        let held = self.held();
        f(&mut self.law, &mut LawCx { now: cx.now, rng: cx.rng, held, queue: &self.queue })
    }

    /// Drops the packet the law chooses. Returns whether the arriving packet now has room.
    #[cold]
    fn overflow(&mut self, p: &Packet, cx: &mut QCx<'_>) -> bool {
        let held = self.held();
        let victim = self.law.on_overflow(p, &mut LawCx { now: cx.now, rng: cx.rng, held, queue: &self.queue });
        let at = match victim {
            Victim::Arriving if L::FRONT && self.front.drop_from == DropFrom::Head => Some(0),
            Victim::Arriving => None,
            Victim::Head => Some(0),
            Victim::At(i) => Some(i),
        };
        // In bytes, one small victim may not be room enough: take the packets that follow it, too.
        while let Some(out) = at.and_then(|i| self.evict(i)) {
            cx.drop(out, DropReason::Overflow);
            if self.limit.admits(self.held(), p.len) {
                return true;
            }
        }
        cx.drop(*p, DropReason::Overflow);
        false
    }

    /// Applies a verdict. Returns whether the packet lives.
    #[inline]
    fn apply(v: Verdict, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        match v {
            Verdict::Pass => true,
            Verdict::Mark if p.ecn.capable() => {
                cx.mark(p);
                true
            }
            Verdict::Mark => {
                cx.drop(*p, DropReason::Early);
                false
            }
            Verdict::Drop(why) | Verdict::DropBoth(why) => {
                cx.drop(*p, why);
                false
            }
        }
    }

    /// True if an arriving packet is admitted. Overflow comes before the law's own reason, so that a drop has one.
    #[inline]
    fn arrive(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        let v = self.ask(cx, |law, lcx| law.on_enqueue(p, lcx));
        if let Verdict::DropBoth(why) = v {
            self.drop_victims(why, cx);
            cx.drop(*p, why);
            return false;
        }
        if !self.limit.admits(self.held(), p.len) {
            self.overflow(p, cx)
        } else if L::FRONT && v != Verdict::Pass {
            self.bear(v, p, cx)
        } else {
            Self::apply(v, p, cx)
        }
    }

    /// Applies a verdict on an arrival to the packet that is to bear it. Returns whether the arriving packet lives.
    #[cold]
    fn bear(&mut self, v: Verdict, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        let marks = v == Verdict::Mark && p.ecn.capable();
        let from = if marks { self.front.mark_from } else { self.front.drop_from };
        if from == DropFrom::Tail || self.queue.is_empty() {
            return Self::apply(v, p, cx);
        }
        if marks {
            // One that carries a mark already is reported; another one need not be.
            self.owed += u32::from(p.ecn != Ecn::Ce);
            return true;
        }
        if let Some(head) = self.evict(0) {
            cx.drop(head, if let Verdict::Drop(why) = v { why } else { DropReason::Early });
        }
        true
    }

    /// Marks a leaving packet for one that came later, if it can carry a mark and has none.
    #[cold]
    fn pay(&mut self, p: &mut Packet, cx: &mut QCx<'_>) {
        if p.ecn.capable() && p.ecn != Ecn::Ce {
            self.owed -= 1;
            cx.mark(p);
        }
        if self.queue.is_empty() {
            // The packet that was to carry more of them was dropped.
            self.owed = 0;
        }
    }

    /// Drops the waiting packets that the law names.
    #[cold]
    fn drop_victims(&mut self, why: DropReason, cx: &mut QCx<'_>) {
        for k in 0..self.law.victims().len() {
            if let Some(out) = self.law.victims().get(k).copied().and_then(|i| self.evict(i)) {
                cx.drop(out, why);
            }
        }
    }

    /// Takes the packet at the head, or the length of one that the law drops; none if no packet waits.
    pub(crate) fn judge(&mut self, cx: &mut QCx<'_>) -> Option<Result<Packet, u32>> {
        let mut p = self.queue.pop_front()?;
        self.bytes -= u64::from(p.len);
        Some(if self.leave(&mut p, cx) { Ok(p) } else { Err(p.len) })
    }

    /// True if a packet at the head is sent.
    #[inline]
    fn leave(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        let v = self.ask(cx, |law, lcx| law.on_dequeue(p, lcx));
        if L::FRONT && self.owed != 0 {
            self.pay(p, cx);
        }
        Self::apply(v, p, cx)
    }
}

impl<L: Law> Qdisc for Fifo<L> {
    #[inline]
    fn enqueue(&mut self, mut p: Packet, cx: &mut QCx<'_>) {
        if self.arrive(&mut p, cx) {
            self.bytes += u64::from(p.len);
            self.queue.push_back(p);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        while let Some(mut p) = self.queue.pop_front() {
            self.bytes -= u64::from(p.len);
            if self.leave(&mut p, cx) {
                return Some(p);
            }
        }
        self.owed = 0;
        self.law.on_empty(cx.now);
        None
    }

    #[inline]
    fn pass(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        if self.arrive(p, cx) && self.leave(p, cx) {
            return true;
        }
        self.owed = 0;
        self.law.on_empty(cx.now);
        false
    }

    fn tail(&self) -> Option<Room> {
        L::IDLE.then(|| self.limit.room())
    }

    fn give_back(&mut self) {
        if self.queue.is_empty() {
            self.queue = Waiting::default();
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.held()
    }

    #[inline]
    fn head(&self) -> Option<&Packet> {
        self.queue.front()
    }

    fn has_timer(&self) -> bool {
        L::HAS_TIMER
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let held = self.held();
        self.law.on_timer(&mut LawCx { now: cx.now, rng: cx.rng, held, queue: &self.queue })
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.law.gauges(out);
    }

    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        self.law.window_clamp(flow)
    }

    fn clamps(&self) -> bool {
        L::CLAMPS
    }

    fn drops_late(&self) -> bool {
        L::DROPS_LATE
    }
}
