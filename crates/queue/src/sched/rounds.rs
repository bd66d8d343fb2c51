//! Queues served in turn: the store behind DRR and SFQ.

use super::heap::MinHeap;
use super::lists::{Links, List};
use super::room::Room;
use fairlane_engine::steps::step;
use fairlane_net::{Backlog, DropReason, Packet, QCx};
use std::cmp::Reverse;
use std::collections::VecDeque;

fairlane_units::params! {
    /// Which packet of the longest queue makes room.
    pub enum DropFrom {
        /// The one that came last.
        #[default]
        Tail,
        /// The one that has waited longest; its sender learns of the loss sooner.
        Head,
    }
}

/// Allowance of a queue's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// One packet.
    Packet,
    /// Packets for which the credit suffices; each turn adds a quantum (Shreedhar and Varghese 1996, section 3).
    Deficit(i64),
    /// Packets while there is credit left, which may so become negative (Linux's SFQ, RFC 8290 section 4.2).
    Surplus(i64),
}

/// Unit by which queues are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Longest {
    Packets,
    Bytes,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    bytes: u64,
    credit: i64,
    /// True if its turn has begun and got its quantum.
    in_turn: bool,
}

/// The queues that hold packets in order of their length; of equal ones, that whose turn comes first.
#[derive(Clone, Debug)]
struct ByLength {
    measure: Longest,
    heap: MinHeap<(Reverse<u64>, u64)>,
    /// By queue, the number of its last entry into the circle. The circle is in the order of these numbers.
    entered: Vec<u64>,
    entries: u64,
}

impl ByLength {
    /// Notes that queue `i` has become the last in the circle.
    fn enter(&mut self, i: usize) {
        if self.entered.len() <= i {
            self.entered.resize(i + 1, 0);
        }
        self.entries += 1;
        self.entered[i] = self.entries;
    }

    fn update(&mut self, i: usize, q: &Queue) {
        if q.packets.is_empty() {
            return self.heap.remove(i);
        }
        let length = if self.measure == Longest::Bytes { q.bytes } else { q.packets.len() as u64 };
        self.heap.set(i, (Reverse(length), self.entered[i]));
    }
}

/// Queues of which those that hold packets stand in a circle.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    queues: Vec<Queue>,
    links: Links,
    round: List,
    turn: Turn,
    held: Backlog,
    /// None until the longest queue is first sought.
    longest: Option<Box<ByLength>>,
    /// Room for all packets while they change queues.
    moving: Vec<Packet>,
}

impl Rounds {
    /// `n` empty queues; more are made when they are named.
    pub(crate) fn new(n: usize, turn: Turn) -> Self {
        Self {
            queues: vec![Queue::default(); n],
            links: Links::new(n),
            round: List::default(),
            turn,
            held: Backlog::default(),
            longest: None,
            moving: vec![],
        }
    }

    /// All that waits.
    #[inline]
    pub(crate) fn held(&self) -> Backlog {
        self.held
    }

    /// Returns the backlog of queue `i`.
    #[inline]
    pub(crate) fn held_by(&self, i: usize) -> Backlog {
        self.queues.get(i).map_or(Backlog::default(), |q| Backlog { pkts: q.packets.len() as u32, bytes: q.bytes })
    }

    /// The packet that is likely to leave next.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Packet> {
        self.queues[self.round.first()?].packets.front()
    }

    /// Number of queues that hold packets.
    pub(crate) fn active(&self) -> usize {
        self.links.iter(self.round).count()
    }

    /// Puts a packet into queue `i`. A queue that was empty comes last in the circle.
    #[inline]
    pub(crate) fn push(&mut self, i: usize, p: Packet) {
        while self.queues.len() <= i {
            self.queues.push(Queue::default());
            self.links.grow();
        }
        let q = &mut self.queues[i];
        if q.packets.is_empty() {
            q.credit = if let Turn::Surplus(quantum) = self.turn { quantum } else { 0 };
            self.links.push(&mut self.round, i);
            if let Some(longest) = &mut self.longest {
                longest.enter(i);
            }
        }
        q.packets.push_back(p);
        q.bytes += u64::from(p.len);
        self.held.add(&p);
        self.update(i);
    }

    /// Puts queue `i` in its place by length.
    #[inline]
    fn update(&mut self, i: usize) {
        if let Some(longest) = &mut self.longest {
            longest.update(i, &self.queues[i]);
        }
    }

    /// The first queue becomes the last in the circle.
    #[inline]
    fn rotate(&mut self) {
        let first = self.round.first();
        self.links.rotate(&mut self.round);
        if let (Some(longest), Some(i)) = (&mut self.longest, first) {
            longest.enter(i);
            longest.update(i, &self.queues[i]);
        }
    }

    /// The next packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        loop {
            let i = self.round.first()?;
            let q = &mut self.queues[i];
            let len = i64::from(q.packets.front()?.len);
            let served = match self.turn {
                Turn::Packet => true,
                Turn::Deficit(quantum) => {
                    if !q.in_turn {
                        q.in_turn = true;
                        q.credit += quantum;
                    }
                    q.in_turn = q.credit >= len;
                    q.in_turn
                }
                Turn::Surplus(quantum) => {
                    let some = q.credit > 0;
                    if !some {
                        q.credit += quantum;
                    }
                    some
                }
            };
            step(1);
            if !served {
                self.rotate();
                continue;
            }
            let p = q.packets.pop_front()?;
            q.credit -= len;
            q.bytes -= u64::from(p.len);
            self.held.sub(&p);
            if q.packets.is_empty() {
                self.leave(i);
            } else if self.turn == Turn::Packet {
                self.rotate();
            } else {
                self.update(i);
            }
            return Some(p);
        }
    }

    /// An empty queue leaves the circle and takes no credit with it (section 3).
    #[inline]
    fn leave(&mut self, i: usize) {
        let q = &mut self.queues[i];
        q.credit = 0;
        q.in_turn = false;
        self.links.remove(&mut self.round, i);
        self.update(i);
    }

    /// The longest queue; of equal ones that whose turn comes first, as in ns-2.
    pub(crate) fn longest(&mut self, measure: Longest) -> Option<usize> {
        if self.longest.as_ref().is_none_or(|l| l.measure != measure) {
            let mut longest = Box::new(ByLength { measure, heap: MinHeap::default(), entered: vec![], entries: 0 });
            for i in self.links.iter(self.round) {
                step(1);
                longest.enter(i);
                longest.update(i, &self.queues[i]);
            }
            self.longest = Some(longest);
        }
        self.longest.as_ref()?.heap.first().map(|(_, i)| i)
    }

    /// Takes a packet out of queue `i` that will not be sent.
    pub(crate) fn evict(&mut self, i: usize, from: DropFrom) -> Option<Packet> {
        let q = self.queues.get_mut(i)?;
        let p = if from == DropFrom::Head { q.packets.pop_front() } else { q.packets.pop_back() }?;
        q.bytes -= u64::from(p.len);
        self.held.sub(&p);
        if q.packets.is_empty() {
            self.leave(i);
        } else {
            self.update(i);
        }
        Some(p)
    }

    /// Evicts from the longest queue while there is no room, `last` having just been pushed (buffer stealing, McKenney 1990).
    #[inline]
    pub(crate) fn make_room(&mut self, room: Room, last: &Packet, measure: Longest, from: DropFrom, cx: &mut QCx<'_>) {
        if room.exceeded(self.held) {
            self.steal(room, last, measure, from, cx);
        }
    }

    #[cold]
    fn steal(&mut self, room: Room, last: &Packet, measure: Longest, from: DropFrom, cx: &mut QCx<'_>) {
        while room.exceeded(self.held) {
            let Some(p) = self.longest(measure).and_then(|i| self.evict(i, from)) else { return };
            cx.drop(p, if p.id == last.id { DropReason::Overflow } else { DropReason::Evicted });
        }
    }

    /// Puts all packets into the queues that `queue_of` names now. Packets that shared a queue keep their order.
    pub(crate) fn redistribute(&mut self, mut queue_of: impl FnMut(&Packet) -> usize) {
        let mut moving = std::mem::take(&mut self.moving);
        while let Some(i) = self.round.first() {
            step(self.queues[i].packets.len());
            moving.extend(self.queues[i].packets.drain(..));
            self.queues[i].bytes = 0;
            self.leave(i);
        }
        self.held = Backlog::default();
        for p in moving.drain(..) {
            self.push(queue_of(&p), p);
        }
        self.moving = moving;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::pkt;

    fn drain(r: &mut Rounds) -> Vec<u32> {
        std::iter::from_fn(|| r.pop().map(|p| p.id.0)).collect()
    }

    /// Shreedhar and Varghese 1996, figures 2 and 3: a quantum of 500; queue 1 holds packets of 200 (the head), 750 and 20 bytes and
    /// queue 2 two of 500. The two other queues are made up, to show one that must wait and one that empties at once.
    #[test]
    fn deficits_of_the_papers_example() {
        let mut r = Rounds::new(4, Turn::Deficit(500));
        // Heads first: queue 0: 200, 750, 20; queue 1: 500, 500; queue 2: 600, 100; queue 3: 100, 50, 180.
        for (queue, lens) in [(0, &[200, 750, 20][..]), (1, &[500, 500]), (2, &[600, 100]), (3, &[100, 50, 180])] {
            for &len in lens {
                r.push(queue, pkt(len, queue as u32, len));
            }
        }
        // Turn 1: 500 sends 200, the 300 left are fewer than 750 and stay (figure 2: deficit 300).
        assert_eq!(r.pop().map(|p| p.len), Some(200));
        assert_eq!(r.queues[0].credit, 300);
        // The pointer moves on (figure 3): queue 1 sends one packet of 500 and has nothing left.
        assert_eq!(r.pop().map(|p| p.len), Some(500));
        assert_eq!(r.queues[0].credit, 300);
        assert_eq!(r.queues[1].credit, 0);
        // Queue 2 cannot send 600 yet; queue 3 sends all of its 330.
        assert_eq!((0..3).map(|_| r.pop().map_or(0, |p| p.len)).collect::<Vec<_>>(), [100, 50, 180]);
        assert_eq!((r.queues[2].credit, r.queues[3].credit), (500, 0));
        // Turn 2: queue 0 has 800: 750 and then 20; it empties and forfeits the last 30. Queue 1: 500. Queue 2 has 1000: 600, 100.
        assert_eq!(drain(&mut r), [750, 20, 500, 600, 100]);
        assert!(r.queues.iter().all(|q| q.credit == 0));
    }

    /// Among equal queues the one whose turn comes first loses a packet.
    #[test]
    fn ties_for_the_longest() {
        let mut r = Rounds::new(3, Turn::Packet);
        for (id, queue) in [(0, 2), (1, 0), (2, 1), (3, 2), (4, 0), (5, 1)] {
            r.push(queue, pkt(id, queue as u32, 1000));
        }
        assert_eq!(r.longest(Longest::Bytes), Some(2));
        assert_eq!(r.pop().map(|p| p.id.0), Some(0));
        assert_eq!(r.longest(Longest::Packets), Some(0));
        assert_eq!(r.evict(0, DropFrom::Tail).map(|p| p.id.0), Some(4));
        assert_eq!(r.longest(Longest::Packets), Some(1));
        assert_eq!(r.evict(1, DropFrom::Head).map(|p| p.id.0), Some(2));
        assert_eq!(drain(&mut r), [1, 5, 3]);
        assert_eq!(r.held(), Backlog::default());
    }

    /// Credit overdrawn in one turn is paid back in the next ones: 100 bytes of quantum against packets of 250 and 50.
    #[test]
    fn surplus_is_paid_back() {
        let mut r = Rounds::new(2, Turn::Surplus(100));
        for id in 0..4 {
            r.push(0, pkt(id, 0, 250));
        }
        for id in 10..30 {
            r.push(1, pkt(id, 1, 50));
        }
        let first: Vec<_> = (0..15).map_while(|_| r.pop()).collect();
        let bytes = |flow| first.iter().filter(|p| p.flow.0 == flow).map(|p| p.len).sum::<u32>();
        assert!(bytes(0).abs_diff(bytes(1)) <= 250, "{} {}", bytes(0), bytes(1));
    }
}
