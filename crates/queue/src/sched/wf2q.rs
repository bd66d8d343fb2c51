//! WF2Q+: fair queueing that also keeps a class from running ahead of its share.

use super::bank::{Bank, WeightedParams, nature_of_classes_or};
use super::heap::MinHeap;
use super::ledger::Ledger;
use super::wfq::{PER_BYTE, check_shares, cost};
use crate::discipline::{Capabilities, Discipline, Problem};
use fairlane_net::{BuildContext, Packet, QCx, Qdisc};
use fairlane_units::{Len, Rate, Time};

fairlane_units::params! {
    /// WF2Q+ sends, of the packets that a fluid fair server would have begun by now, the one that it would finish first (Bennett and Zhang 1997).
    pub struct Wf2qParams<S> {
        /// The classes, each with a `match`, a `queue` and a `weight` of 1 to 65535. None: each flow is a class of weight 1.
        pub classes: Vec<WeightedParams<S>> = vec![],
        /// The queue of each flow, where no classes are given.
        pub queue: Box<S> = Box::default(),
        /// Rate of virtual time while no packet waits: by its definition V grows at least as fast as real time. Unset: that of the link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Limit of all classes together. Unset: only the limits of their queues.
        pub limit: Option<Len> = None,
    }
}

impl<S: Discipline> Discipline for Wf2qParams<S> {
    type Queue = Wf2q<S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check_shares(&self.classes, &self.queue, self.rate, self.limit, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Wf2q<S::Queue> {
        let bank = Bank::of_classes_or_flows(&self.classes, &*self.queue, self.limit, context);
        let mut q = Wf2q {
            bank,
            lanes: vec![],
            eligible: MinHeap::default(),
            early: MinHeap::default(),
            aside: vec![],
            sum: 0,
            now: 0,
            carry: 0,
            rate: self.rate.unwrap_or(context.link.rate),
            began: (Time::ZERO, 0),
        };
        self.classes.iter().for_each(|c| q.grow(c.weight));
        q
    }

    fn capabilities(&self) -> Capabilities {
        nature_of_classes_or(&self.classes, &*self.queue)
    }
}

#[derive(Clone, Debug)]
struct Lane {
    waiting: Ledger,
    weight: u32,
    /// Start tag of the packet that is next.
    start: u128,
    /// Finish tag of the packet that was sent last.
    finish: u128,
}

/// Fair queues of which those may send that have not had their share.
#[derive(Clone, Debug)]
pub struct Wf2q<Q> {
    bank: Bank<Q>,
    lanes: Vec<Lane>,
    /// Classes whose next packet has a start tag of at most V, by its finish tag.
    eligible: MinHeap<u128>,
    /// The other classes that hold packets, by the start tag.
    early: MinHeap<u128>,
    /// Classes passed over in one call, because a shaper holds them.
    aside: Vec<usize>,
    /// Sum of all weights.
    sum: u32,
    /// V in picobits per unit of weight, as of the end of the transmission in progress, and the work that is not yet a step of it.
    now: u128,
    carry: u128,
    rate: Rate,
    /// When the last transmission began, and V at that time.
    began: (Time, u128),
}

impl<Q: Qdisc + Clone> Wf2q<Q> {
    fn grow(&mut self, weight: u32) {
        self.lanes.push(Lane { waiting: Ledger::default(), weight, start: 0, finish: 0 });
        self.sum = self.sum.saturating_add(weight);
    }

    /// V at time `t`: it grows with real time from the start of the last transmission. While packets wait it goes no further than to the
    /// end of that transmission, which comes later than the link's rate says if this queue has only a part of the link.
    fn virtual_time(&mut self, t: Time) -> u128 {
        let work = u128::from(t.since(self.began.0).as_ps()) * u128::from(self.rate.as_bps());
        let v = self.began.1 + work / u128::from(self.sum.max(1));
        if self.bank.backlog().pkts > 0 {
            return v.min(self.now);
        }
        if v > self.now {
            (self.now, self.carry) = (v, 0);
        }
        v
    }

    /// Puts class `i` where its next packet belongs.
    fn note(&mut self, i: usize) {
        let lane = &self.lanes[i];
        let Some(first) = lane.waiting.first() else {
            self.eligible.remove(i);
            return self.early.remove(i);
        };
        if lane.start <= self.now {
            self.early.remove(i);
            self.eligible.set(i, lane.start + cost(first.len, lane.weight));
        } else {
            self.eligible.remove(i);
            self.early.set(i, lane.start);
        }
    }

    /// Returns the class to serve. V advances at least to the smallest start tag, so one may send if anything waits; if a shaper holds all
    /// that may, the next one sends early rather than leave the link idle.
    fn choose(&mut self) -> Option<usize> {
        while let Some((start, i)) = self.early.first() {
            if start > self.now {
                if self.eligible.first().is_some() {
                    break;
                }
                if !self.aside.is_empty() {
                    return Some(i);
                }
                (self.now, self.carry) = (start, 0);
            }
            self.note(i);
        }
        self.eligible.first().map(|(_, i)| i)
    }

    fn strike(&mut self, i: usize, cx: &QCx<'_>, before: usize) {
        for (p, _) in &cx.drops[before..] {
            self.lanes[i].waiting.strike(p.id);
        }
    }

    fn serve(&mut self, i: usize, cx: &mut QCx<'_>) -> Option<Packet> {
        let before = cx.drops.len();
        let sent = self.bank.dequeue(i, cx);
        self.strike(i, cx, before);
        if let Some(p) = &sent {
            let lane = &mut self.lanes[i];
            lane.waiting.strike(p.id);
            lane.finish = lane.start + cost(p.len, lane.weight);
            // A packet that waits behind another starts where that one ends (the paper's definition of S).
            lane.start = lane.finish;
            self.began = (cx.now, self.now);
            let work = u128::from(p.len) * u128::from(PER_BYTE) + self.carry;
            let sum = u128::from(self.sum);
            self.now += work / sum;
            self.carry = work % sum;
        }
        self.note(i);
        sent
    }
}

impl<Q: Qdisc + Clone> Qdisc for Wf2q<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        if i == self.lanes.len() {
            self.grow(1);
        }
        let v = self.virtual_time(cx.now);
        let before = cx.drops.len();
        if !self.bank.enqueue(i, p, cx) {
            return;
        }
        let lane = &mut self.lanes[i];
        if lane.waiting.first().is_none() {
            lane.start = lane.finish.max(v);
        }
        lane.waiting.add(&p, 0);
        self.strike(i, cx, before);
        self.note(i);
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        let mut sent = None;
        while sent.is_none() {
            let Some(i) = self.choose() else { break };
            if self.bank.ready(i, cx.now) {
                let had = self.bank.backlog();
                sent = self.serve(i, cx);
                if sent.is_some() || self.bank.backlog() != had {
                    continue;
                }
            }
            self.eligible.remove(i);
            self.early.remove(i);
            self.aside.push(i);
        }
        while let Some(i) = self.aside.pop() {
            self.note(i);
        }
        sent
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let lanes = &mut self.lanes;
        let next = self.bank.on_timer(cx, |i, dropped| {
            if let Some(lane) = lanes.get_mut(i) {
                for (p, _) in dropped {
                    lane.waiting.strike(p.id);
                }
            }
        });
        (0..self.lanes.len()).for_each(|i| self.note(i));
        next
    }

    answered_by! { bank: backlog, ready_at, has_timer, gauges, clamps, headers }
}

#[cfg(test)]
mod tests;
