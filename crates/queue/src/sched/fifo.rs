//! First in, first out, under one law.

use crate::law::{Law, LawCx, Verdict, Victim};
use crate::limit::Limit;
use fairlane_net::{Backlog, QCx, QPkt, Qdisc, Why};
use fairlane_units::Time;
use std::collections::VecDeque;

/// One queue under the law `L`. Its ring grows by doubling and never shrinks, so a run allocates a handful of times.
#[derive(Clone, Debug)]
pub struct Fifo<L> {
    law: L,
    limit: Limit,
    held: Backlog,
    queue: VecDeque<QPkt>,
}

impl<L: Law> Fifo<L> {
    /// An empty queue.
    pub fn new(law: L, limit: Limit) -> Self {
        Self { law, limit, held: Backlog::default(), queue: VecDeque::new() }
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
    pub fn packets(&self) -> &VecDeque<QPkt> {
        &self.queue
    }

    /// Removes the packet at place `i` (0 is the head), for a scheduler that must make room.
    pub fn evict(&mut self, i: usize) -> Option<QPkt> {
        let p = if i == 0 { self.queue.pop_front() } else { self.queue.remove(i) }?;
        self.held.sub(&p);
        Some(p)
    }

    #[inline]
    fn ask(&mut self, cx: &mut QCx<'_>, f: impl FnOnce(&mut L, &mut LawCx<'_>) -> Verdict) -> Verdict {
        f(&mut self.law, &mut LawCx { now: cx.now, rng: cx.rng, held: self.held, queue: &self.queue })
    }

    /// Drops the packet the law chooses. Returns the arriving packet if it now has room.
    #[cold]
    fn overflow(&mut self, p: QPkt, cx: &mut QCx<'_>) -> Option<QPkt> {
        let victim = self.law.on_overflow(&p, &mut LawCx { now: cx.now, rng: cx.rng, held: self.held, queue: &self.queue });
        let mut at = match victim {
            Victim::Arriving => None,
            Victim::Head => Some(0),
            Victim::At(i) => Some(i),
        };
        // In bytes, one small victim may not be room enough: take the packets that follow it, too.
        while let Some(i) = at {
            match self.evict(i) {
                Some(out) => cx.drop(out, Why::Overflow),
                None => at = None,
            }
            if self.limit.admits(self.held, p.len) {
                return Some(p);
            }
        }
        cx.drop(p, Why::Overflow);
        None
    }

    /// Applies a verdict: the packet if it lives.
    #[inline]
    fn apply(v: Verdict, mut p: QPkt, cx: &mut QCx<'_>) -> Option<QPkt> {
        match v {
            Verdict::Pass => Some(p),
            Verdict::Mark if p.ecn.capable() => {
                cx.mark(&mut p);
                Some(p)
            }
            Verdict::Mark => {
                cx.drop(p, Why::Early);
                None
            }
            Verdict::Drop(why) => {
                cx.drop(p, why);
                None
            }
        }
    }

    /// What becomes of an arriving packet. Overflow comes before the law's own reason, so that a packet has one.
    #[inline]
    fn arrive(&mut self, p: QPkt, cx: &mut QCx<'_>) -> Option<QPkt> {
        let v = self.ask(cx, |law, lcx| law.on_enqueue(&p, lcx));
        if self.limit.admits(self.held, p.len) { Self::apply(v, p, cx) } else { self.overflow(p, cx) }
    }
}

impl<L: Law> Qdisc for Fifo<L> {
    #[inline]
    fn enqueue(&mut self, p: QPkt, cx: &mut QCx<'_>) {
        if let Some(p) = self.arrive(p, cx) {
            self.held.add(&p);
            self.queue.push_back(p);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<QPkt> {
        while let Some(p) = self.queue.pop_front() {
            self.held.sub(&p);
            let v = self.ask(cx, |law, lcx| law.on_dequeue(&p, lcx));
            if let Some(p) = Self::apply(v, p, cx) {
                return Some(p);
            }
        }
        self.law.on_empty(cx.now);
        None
    }

    #[inline]
    fn pass(&mut self, p: QPkt, cx: &mut QCx<'_>) -> Option<QPkt> {
        let Some(p) = self.arrive(p, cx) else {
            self.law.on_empty(cx.now);
            return None;
        };
        let v = self.ask(cx, |law, lcx| law.on_dequeue(&p, lcx));
        let out = Self::apply(v, p, cx);
        if out.is_none() {
            self.law.on_empty(cx.now);
        }
        out
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.held
    }

    fn has_timer(&self) -> bool {
        L::HAS_TIMER
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        self.law.on_timer(&mut LawCx { now: cx.now, rng: cx.rng, held: self.held, queue: &self.queue })
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.law.gauges(out);
    }
}
