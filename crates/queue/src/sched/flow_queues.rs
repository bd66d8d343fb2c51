//! Many queues under one kind of law, served by the deficit round robin with a list of new flows that FQ-CoDel made known.

mod visits;

use super::heap::MinHeap;
use super::lists::{Links, List};
use crate::law::Law;
use crate::sched::fifo::Fifo;
use crate::sched::waiting::Waiting;
use fairlane_engine::steps::step;
use fairlane_net::{Backlog, DropReason, Packet, QCx, Qdisc};
use fairlane_units::{Rate, Time};
use std::cmp::Reverse;
use visits::{Flow, Visits};

/// Quantum of a queue's turn, with callbacks when a queue begins and ceases to share the link.
pub(crate) trait Shares {
    /// True if the link, where it asks and nothing waits, finds every queue empty, so that each leaves its list.
    const FORGETS_WHEN_IDLE: bool = true;

    /// Bytes that queue `i` may send in a turn.
    #[inline]
    fn quantum(&mut self, i: usize, quantum: i64) -> i64 {
        let _ = i;
        quantum
    }
    /// Bytes of its turn that a queue pays for a packet of this length.
    #[inline]
    fn cost(&self, len: u32) -> i64 {
        i64::from(len)
    }
    /// Bytes that queue `i` may send in `turns` turns while shares stay as they are; the same as that many calls of [`Self::quantum`].
    fn quanta(&mut self, i: usize, quantum: i64, turns: u64) -> i64 {
        let _ = i;
        quantum.saturating_mul(turns as i64)
    }
    /// Least number of turns in which queue `i` may send `bytes` bytes, at least one, while shares stay as they are.
    fn turns_until(&self, i: usize, quantum: i64, bytes: i64) -> u64 {
        let _ = i;
        (bytes.max(1) as u64).div_ceil(quantum.max(1) as u64)
    }
    /// Queue `i` now takes its turns among the old flows with something to send, or no longer does.
    #[inline]
    fn bulk(&mut self, i: usize, is: bool) {
        let _ = (i, is);
    }
}

/// Equal quanta for all queues.
pub(crate) struct Equal;
impl Shares for Equal {}

/// The list a queue is in (RFC 8290 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    New,
    Old,
}

/// Turn of a queue. Turns lie together: where many flows share a quantum, most of them are looked at for each packet.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Bytes it may still send in its turn (credits, section 4).
    credit: i64,
    place: Place,
    /// True if it was reported as bulk.
    bulk: bool,
    name: u32,
}

/// Queues by name (a bucket of a hash table); each is made when its first packet comes.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues<L> {
    pattern: Fifo<L>,
    /// Slot + 1 by name.
    slot_of: Vec<u32>,
    fifos: Vec<Fifo<L>>,
    turns: Vec<Turn>,
    /// Bytes waiting by slot.
    bytes: Vec<u64>,
    /// Queues that hold packets, by their bytes; none until the longest is first sought.
    by_bytes: Option<Box<MinHeap<Reverse<u64>>>>,
    links: Links,
    new: List,
    old: List,
    quantum: i64,
    held: Backlog,
    rate: Rate,
    /// When the link finds nothing to send, if nothing arrives before.
    idle_at: Time,
    /// True if a new queue that is found empty leaves where there are no old ones.
    leave_new: bool,
    /// True if the packets that the law drops also cost the queue of its turn.
    charges_drops: bool,
    /// Queues reported as bulk.
    bulk: u32,
    /// Number of old flows.
    olds: usize,
    /// Turns of old flows without a packet since a flow last became old, left or changed its share.
    calm: usize,
    /// Schedule of the old flows, while there is one.
    visits: Option<Box<Visits>>,
    /// Turns without a packet in one search for the next one after which it is made.
    patience: usize,
}

/// Turns in one search that cost about as much as the schedule saves.
const PATIENCE: usize = 64;

impl<L: Law> FlowQueues<L> {
    /// Empty queues that are copies of `pattern`, before a link of this rate.
    pub(crate) fn new(pattern: Fifo<L>, names: usize, quantum: u64, rate: Rate) -> Self {
        Self {
            pattern,
            slot_of: vec![0; names],
            fifos: vec![],
            turns: vec![],
            bytes: vec![],
            by_bytes: None,
            links: Links::new(0),
            new: List::default(),
            old: List::default(),
            quantum: quantum.min(u64::from(u32::MAX)) as i64,
            held: Backlog::default(),
            rate,
            idle_at: Time::ZERO,
            leave_new: false,
            charges_drops: false,
            bulk: 0,
            olds: 0,
            calm: 0,
            visits: None,
            patience: PATIENCE,
        }
    }

    /// Sets whether packets that the law drops cost a queue as much of its turn as those that are sent.
    #[must_use]
    pub(crate) fn charging_drops(mut self, charges_drops: bool) -> Self {
        self.charges_drops = charges_drops;
        self
    }

    /// Sets whether a new queue that is found empty leaves where there are no old ones (Linux).
    #[must_use]
    pub(crate) fn leaving(mut self, leave_new: bool) -> Self {
        self.leave_new = leave_new;
        self
    }

    /// All that waits.
    #[inline]
    pub(crate) fn held(&self) -> Backlog {
        self.held
    }

    /// True if queue `name` is in use: holds packets, or has not been found empty yet.
    #[inline]
    pub(crate) fn in_use(&self, name: usize) -> bool {
        self.slot_of.get(name).is_some_and(|&s| s > 0 && self.turns[s as usize - 1].place != Place::Nowhere)
    }

    /// Numbers of new and old flows.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.new, self.old].map(|list| self.links.iter(list).count())
    }

    /// The laws of all queues made so far.
    pub(crate) fn laws(&self) -> impl Iterator<Item = &L> {
        self.fifos.iter().map(Fifo::law)
    }

    #[inline]
    fn slot(&mut self, name: usize) -> usize {
        match self.slot_of.get(name) {
            Some(&s) if s > 0 => s as usize - 1,
            _ => self.make(name),
        }
    }

    #[cold]
    fn make(&mut self, name: usize) -> usize {
        if self.slot_of.len() <= name {
            self.slot_of.resize(name + 1, 0);
        }
        self.fifos.push(self.pattern.clone());
        self.turns.push(Turn { credit: 0, place: Place::Nowhere, bulk: false, name: name as u32 });
        self.bytes.push(0);
        self.links.grow();
        self.slot_of[name] = self.fifos.len() as u32;
        self.fifos.len() - 1
    }

    /// True if packets wait in slot `i`; they may have no bytes.
    #[inline]
    fn waits(&self, i: usize) -> bool {
        self.fifos[i].backlog().pkts > 0
    }

    /// Calls slot `i` and brings the books up to date.
    #[inline]
    fn with<R>(&mut self, i: usize, f: impl FnOnce(&mut Fifo<L>) -> R) -> R {
        let fifo = &mut self.fifos[i];
        let before = fifo.backlog();
        let r = f(fifo);
        let after = fifo.backlog();
        self.held.pkts = self.held.pkts - before.pkts + after.pkts;
        self.held.bytes = self.held.bytes - before.bytes + after.bytes;
        self.bytes[i] = after.bytes;
        match &mut self.by_bytes {
            None => {}
            Some(longest) if after.pkts > 0 => longest.set(i, Reverse(after.bytes)),
            Some(longest) => longest.remove(i),
        }
        r
    }

    fn set_bulk(&mut self, i: usize, is: bool, shares: &mut impl Shares) {
        if self.turns[i].bulk != is {
            self.end_visits(shares);
            let s = &mut self.turns[i];
            s.bulk = is;
            self.bulk = if is { self.bulk + 1 } else { self.bulk - 1 };
            shares.bulk(s.name as usize, is);
        }
    }

    /// Takes slot `i` out of a list; it may come back as a new flow.
    fn retire(&mut self, i: usize, shares: &mut impl Shares) {
        if self.turns[i].place == Place::New {
            self.links.remove(&mut self.new, i);
        } else {
            self.end_visits(shares);
            self.links.remove(&mut self.old, i);
            self.olds -= 1;
        }
        self.turns[i].place = Place::Nowhere;
        self.set_bulk(i, false, shares);
    }

    /// Section 4.1: the packet joins its queue, which becomes a new flow with a full quantum if it was in no list.
    #[inline]
    pub(crate) fn enqueue(&mut self, name: usize, p: Packet, cx: &mut QCx<'_>, shares: &mut impl Shares) {
        self.refresh(cx.now, shares);
        let i = self.slot(name);
        self.with(i, |fifo| fifo.enqueue(p, cx));
        if !self.waits(i) {
            return;
        }
        match self.turns[i].place {
            Place::Nowhere => {
                let quantum = shares.quantum(name, self.quantum);
                let s = &mut self.turns[i];
                s.place = Place::New;
                s.credit = quantum;
                self.links.push(&mut self.new, i);
            }
            Place::Old => self.set_bulk(i, true, shares),
            Place::New => {}
        }
    }

    /// Takes out the packet of queue `name` at the place that `choose` finds among those that wait.
    pub(crate) fn take(&mut self, name: usize, choose: impl FnOnce(&Waiting) -> Option<usize>) -> Option<Packet> {
        let i = self.slot(name);
        let at = choose(self.fifos[i].packets())?;
        self.with(i, |fifo| fifo.evict(at))
    }

    /// Drops a packet of queue `name` that has no room, before it joins.
    #[cold]
    pub(crate) fn refuse(&mut self, name: usize, p: Packet, cx: &mut QCx<'_>) {
        let i = self.slot(name);
        self.fifos[i].refuse(p, cx);
    }

    /// Once the link has asked in vain, every queue has been found empty and has left its list.
    #[inline]
    fn refresh<S: Shares>(&mut self, now: Time, shares: &mut S) {
        if S::FORGETS_WHEN_IDLE && self.held.pkts == 0 && now >= self.idle_at {
            while let Some(i) = self.new.first().or_else(|| self.old.first()) {
                step(1);
                self.fifos[i].law_mut().on_empty(self.idle_at);
                self.retire(i, shares);
            }
        }
    }

    /// Section 4.2: new flows first, each until its credit is used up; then it joins the old ones and gets its next quantum.
    #[inline]
    pub(crate) fn dequeue(&mut self, cx: &mut QCx<'_>, shares: &mut impl Shares) -> Option<Packet> {
        let mut search = 0;
        loop {
            let i = match (self.new.first(), &self.visits) {
                (Some(i), _) => i,
                (None, None) => self.old.first()?,
                (None, Some(_)) => self.visit(shares)?,
            };
            step(1);
            let turn = &mut self.turns[i];
            if turn.credit <= 0 {
                turn.credit += shares.quantum(turn.name as usize, self.quantum);
                self.make_old(i, shares);
                search += 1;
                if search > self.patience {
                    self.begin_visits(shares);
                }
                continue;
            }
            let sent = if self.waits(i) {
                if L::USES_OTHER_BACKLOG {
                    let others = self.held.bytes - self.bytes[i];
                    self.fifos[i].law_mut().other_backlog(others);
                }
                if L::COUNTS_BULK {
                    let bulk = self.bulk;
                    self.fifos[i].law_mut().bulk_flows(bulk);
                }
                if self.charges_drops {
                    match self.with(i, |fifo| fifo.judge(cx)) {
                        Some(Err(len)) => {
                            self.turns[i].credit -= shares.cost(len);
                            continue;
                        }
                        Some(Ok(p)) => Some(p),
                        None => None,
                    }
                } else {
                    self.with(i, |fifo| fifo.dequeue(cx))
                }
            } else {
                self.fifos[i].law_mut().on_empty(cx.now);
                None
            };
            let Some(p) = sent else {
                // A new flow that has nothing left passes through the old ones once, so that new flows cannot starve them.
                if self.turns[i].place == Place::New && !(self.leave_new && self.old.first().is_none()) {
                    self.make_old(i, shares)
                } else {
                    self.retire(i, shares)
                }
                continue;
            };
            self.turns[i].credit -= shares.cost(p.len);
            if self.held.pkts == 0 {
                self.idle_at = cx.now + self.rate.tx_time(u64::from(p.len));
            }
            return Some(p);
        }
    }

    /// Slot `i`, the first of its list, becomes the last of the old ones.
    #[inline]
    fn make_old(&mut self, i: usize, shares: &mut impl Shares) {
        if self.turns[i].place == Place::Old {
            self.calm += 1;
            if let Some(visits) = &mut self.visits {
                return visits.end_turn(&flow(&self.turns, i), self.quantum, shares);
            }
            return self.links.rotate(&mut self.old);
        }
        self.end_visits(shares);
        self.links.remove(&mut self.new, i);
        self.links.push(&mut self.old, i);
        self.turns[i].place = Place::Old;
        self.olds += 1;
        if self.waits(i) {
            self.set_bulk(i, true, shares);
        }
    }

    /// Makes a schedule of the old flows if nothing has changed for two rounds: then it costs no more than they did.
    #[cold]
    fn begin_visits(&mut self, shares: &mut impl Shares) {
        if self.visits.is_some() || self.calm <= 2 * self.olds {
            return;
        }
        let mut visits = Box::new(Visits::new(self.turns.len(), self.olds));
        for (turn, i) in (0..).zip(self.links.iter(self.old)) {
            step(1);
            visits.add(turn, &flow(&self.turns, i), self.quantum, shares);
        }
        self.visits = Some(visits);
    }

    /// Advances to the next turn in which an old flow may send.
    fn visit(&mut self, shares: &mut impl Shares) -> Option<usize> {
        let (i, turns) = self.visits.as_mut()?.advance()?;
        let turn = &mut self.turns[i];
        turn.credit += shares.quanta(turn.name as usize, self.quantum, turns);
        Some(i)
    }

    /// Brings credits and list up to date before a flow becomes old, leaves, or changes its share.
    #[inline]
    fn end_visits(&mut self, shares: &mut impl Shares) {
        self.calm = 0;
        if let Some(visits) = self.visits.take() {
            self.settle(&visits, shares);
        }
    }

    #[cold]
    fn settle(&mut self, visits: &Visits, shares: &mut impl Shares) {
        let mut first = self.old;
        for i in self.links.iter(self.old) {
            step(1);
            let (turns, is_first) = visits.missed(i);
            let turn = &mut self.turns[i];
            turn.credit += shares.quanta(turn.name as usize, self.quantum, turns);
            if is_first {
                first = List::of(i);
            }
        }
        self.old = first;
    }

    /// The queue that holds most bytes, as a place among all queues, and these bytes; of equal ones the first. None if no packet waits.
    pub(crate) fn longest(&mut self) -> Option<(usize, u64)> {
        if self.by_bytes.is_none() {
            let mut longest = MinHeap::default();
            step(self.fifos.len());
            (0..self.fifos.len()).filter(|&i| self.waits(i)).for_each(|i| longest.set(i, Reverse(self.bytes[i])));
            self.by_bytes = Some(Box::new(longest));
        }
        self.by_bytes.as_ref()?.first().map(|(Reverse(bytes), i)| (i, bytes))
    }

    /// Section 4.1: drops half of the packets of the queue that holds most bytes, at most `batch` and at least one, from its head. Returns
    /// its law.
    #[cold]
    pub(crate) fn drop_from_longest(&mut self, batch: u32, cx: &mut QCx<'_>) -> Option<&mut L> {
        let (i, _) = self.longest()?;
        let n = (self.fifos[i].backlog().pkts / 2).min(batch).max(1);
        for _ in 0..n {
            if let Some(p) = self.with(i, |fifo| fifo.evict(0)) {
                cx.drop(p, DropReason::Evicted);
            }
        }
        Some(self.fifos[i].law_mut())
    }

    /// Every law's periodic update; they all keep the same time.
    pub(crate) fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let mut next = self.pattern.on_timer(cx);
        for i in 0..self.fifos.len() {
            step(1);
            let due = self.with(i, |fifo| fifo.on_timer(cx));
            next = next.into_iter().chain(due).min();
        }
        next
    }
}

fn flow(turns: &[Turn], slot: usize) -> Flow {
    Flow { slot, name: turns[slot].name as usize, credit: turns[slot].credit }
}

#[cfg(test)]
mod tests;
