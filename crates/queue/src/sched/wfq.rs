//! WFQ: weighted fair queueing, by the fluid reference of generalized processor sharing or by Golestani's self-clocking.

use super::bank::{Bank, WeightedParams, check_classes, check_weight, nature_of_classes_or};
use super::check;
use super::heap::MinHeap;
use super::ledger::Ledger;
use crate::discipline::{Capabilities, Discipline, Problem};
use fairlane_net::{BuildContext, Packet, QCx, Qdisc};
use fairlane_units::{Len, Rate, Time};

mod gps;
use gps::Gps;

fairlane_units::params! {
    /// Virtual clock of a fair queue.
    pub enum WfqClock {
        /// A fluid server that shares its rate among all waiting classes at once (PGPS: Parekh and Gallager 1993).
        #[default]
        Gps,
        /// The finish tag of the packet in service (SCFQ: Golestani 1994).
        Scfq,
    }

    /// WFQ sends the packet that a fluid fair server would finish first (Demers, Keshav and Shenker 1989; Parekh and Gallager 1993; Golestani 1994).
    pub struct WfqParams<S> {
        /// The classes, each with a `match`, a `queue` and a `weight` of 1 to 65535. None: each flow is a class of weight 1.
        pub classes: Vec<WeightedParams<S>> = vec![],
        /// The queue of each flow, where no classes are given.
        pub queue: Box<S> = Box::default(),
        /// Measure of virtual time.
        pub clock: WfqClock = WfqClock::Gps,
        /// Rate of the fluid reference, with `clock = "gps"`: that at which the queue is really served. Unset: that of the link, or of the shaper
        /// around the queue.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Limit of all classes together. Unset: only the limits of their queues.
        pub limit: Option<Len> = None,
    }
}

/// Checks the shares of a fair queue.
pub(super) fn check_shares<S: Discipline>(
    classes: &[WeightedParams<S>],
    queue: &S,
    rate: Option<Rate>,
    limit: Option<Len>,
    context: &BuildContext<'_>,
) -> Result<(), Problem> {
    for (i, c) in classes.iter().enumerate() {
        check_weight(c.weight, &format!("classes.{i}.weight"))?;
    }
    if rate.is_some_and(|r| r.as_bps() == 0) {
        return Err(Problem::new("rate", "a server without rate serves nothing: write for instance \"10Mbit/s\""));
    }
    check::holds("limit", limit)?;
    queue.check(context).map_err(|p| p.within("queue"))?;
    check_classes(classes, context)
}

impl<S: Discipline> Discipline for WfqParams<S> {
    type Queue = Wfq<S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check_shares(&self.classes, &self.queue, self.rate, self.limit, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Wfq<S::Queue> {
        let bank = Bank::of_classes_or_flows(&self.classes, &*self.queue, self.limit, context);
        let clock = match self.clock {
            WfqClock::Gps => Clock::Gps(Box::new(Gps::new(self.rate.unwrap_or(context.link.rate)))),
            WfqClock::Scfq => Clock::Scfq(0),
        };
        let mut wfq = Wfq { bank, clock, lanes: vec![], heads: MinHeap::default(), aside: vec![] };
        self.classes.iter().for_each(|c| wfq.grow(c.weight));
        wfq
    }

    fn capabilities(&self) -> Capabilities {
        nature_of_classes_or(&self.classes, &*self.queue)
    }
}

/// Tags count picobits per unit of weight: 8 * 10^12 a byte. That is what a link of 1 bit/s carries in a picosecond, so elapsed
/// time turns into tags without a remainder, and a packet's share is exact to half a picobit. 128 bits of them outlast every run.
pub(super) const PER_BYTE: u64 = 8 * fairlane_units::PS_PER_SEC;

/// Returns the cost of `len` bytes for a class of this weight, rounded to the nearest.
#[inline]
pub(super) fn cost(len: u32, weight: u32) -> u128 {
    const FITS: u32 = 1 << 20;
    let half = u64::from(weight / 2);
    if len < FITS {
        return u128::from((u64::from(len) * PER_BYTE + half) / u64::from(weight));
    }
    (u128::from(len) * u128::from(PER_BYTE) + u128::from(half)) / u128::from(weight)
}

#[derive(Clone, Debug)]
struct Lane {
    waiting: Ledger,
    weight: u32,
    /// Finish tag of the packet that was sent last.
    finish: u128,
}

impl Lane {
    /// Finish tag of the packet that is expected next.
    fn next_finish(&self) -> Option<u128> {
        self.waiting.first().map(|e| self.finish.max(e.tag) + cost(e.len, self.weight))
    }
}

#[derive(Clone, Debug)]
enum Clock {
    Gps(Box<Gps>),
    Scfq(u128),
}

/// Fair queues that send the smallest finish tag.
#[derive(Clone, Debug)]
pub struct Wfq<Q> {
    bank: Bank<Q>,
    clock: Clock,
    lanes: Vec<Lane>,
    /// Classes that hold packets, by the finish tag of the next.
    heads: MinHeap<u128>,
    /// Classes passed over in one call, because a shaper holds them.
    aside: Vec<usize>,
}

impl<Q: Qdisc + Clone> Wfq<Q> {
    fn grow(&mut self, weight: u32) {
        self.lanes.push(Lane { waiting: Ledger::default(), weight, finish: 0 });
        if let Clock::Gps(gps) = &mut self.clock {
            gps.grow(weight);
        }
    }

    fn note(&mut self, i: usize) {
        match self.lanes[i].next_finish() {
            Some(finish) => self.heads.set(i, finish),
            None => self.heads.remove(i),
        }
    }

    /// Strikes out what the queue of class `i` dropped. The fluid server, too, has that much less to do.
    fn dropped(&mut self, i: usize, cx: &QCx<'_>, before: usize) {
        for (p, _) in &cx.drops[before..] {
            if let (Some(e), Clock::Gps(gps)) = (self.lanes[i].waiting.strike(p.id), &mut self.clock) {
                gps.forget(i, cost(e.len, self.lanes[i].weight));
            }
        }
    }

    fn serve(&mut self, i: usize, cx: &mut QCx<'_>) -> Option<Packet> {
        let before = cx.drops.len();
        let sent = self.bank.dequeue(i, cx);
        self.dropped(i, cx, before);
        if let Some(p) = &sent {
            let lane = &mut self.lanes[i];
            let start = lane.finish.max(lane.waiting.strike(p.id).map_or(0, |e| e.tag));
            lane.finish = start + cost(p.len, lane.weight);
            if let Clock::Scfq(v) = &mut self.clock {
                // Golestani 1994: v(t) is the tag of the packet in service.
                *v = lane.finish.max(*v);
            }
        }
        self.note(i);
        sent
    }
}

impl<Q: Qdisc + Clone> Qdisc for Wfq<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        if i == self.lanes.len() {
            self.grow(1);
        }
        let before = cx.drops.len();
        if !self.bank.enqueue(i, p, cx) {
            return;
        }
        let tag = match &mut self.clock {
            Clock::Gps(gps) => gps.advance(cx.now),
            Clock::Scfq(v) => *v,
        };
        self.lanes[i].waiting.add(&p, tag);
        if let Clock::Gps(gps) = &mut self.clock {
            gps.arrive(i, cost(p.len, self.lanes[i].weight));
        }
        self.dropped(i, cx, before);
        self.note(i);
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        let mut sent = None;
        while let (None, Some((_, i))) = (sent, self.heads.first()) {
            if self.bank.ready(i, cx.now) {
                let had = self.bank.backlog();
                sent = self.serve(i, cx);
                if sent.is_some() || self.bank.backlog() != had {
                    continue;
                }
            }
            self.heads.remove(i);
            self.aside.push(i);
        }
        while let Some(i) = self.aside.pop() {
            self.note(i);
        }
        sent
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let (lanes, heads, clock) = (&mut self.lanes, &mut self.heads, &mut self.clock);
        self.bank.on_timer(cx, |i, dropped| {
            let Some(lane) = lanes.get_mut(i).filter(|_| !dropped.is_empty()) else { return };
            for (p, _) in dropped {
                if let (Some(e), Clock::Gps(gps)) = (lane.waiting.strike(p.id), &mut *clock) {
                    gps.forget(i, cost(e.len, lane.weight));
                }
            }
            match lane.next_finish() {
                Some(finish) => heads.set(i, finish),
                None => heads.remove(i),
            }
        })
    }

    answered_by! { bank: backlog, ready_at, has_timer, gauges, clamps, headers }
}

#[cfg(test)]
pub(super) mod tests;
