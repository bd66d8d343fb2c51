//! The packets of a FIFO queue, of which any may be taken out.

use fairlane_engine::steps::step;
use fairlane_net::{Packet, PacketRef, Ring};

/// Packets that wait, in order of arrival. Laws such as random drop and CHOKe remove them from the middle: such a place becomes a gap, and a
/// Fenwick tree (1994) of the gaps finds the packet at a given place in logarithmic time.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Packets and gaps; neither end is a gap.
    ring: Ring<Packet>,
    /// None until the first removal from the middle.
    gaps: Option<Box<Gaps>>,
}

#[derive(Clone, Debug)]
struct Gaps {
    /// Number of the first place of the ring, which increases without end. Its remainder is the place in the tree.
    first: usize,
    count: usize,
    /// Node `i`, from 1, has the gaps of the `i & -i` places that end at `i`; a power of two plus one.
    tree: Vec<u32>,
}

/// Marks a gap.
const GAP: PacketRef = PacketRef(u32::MAX);
/// Least places in the tree.
const LEAST: usize = 64;

impl Gaps {
    fn places(&self) -> usize {
        self.tree.len() - 1
    }

    /// Adds a gap at place `i` of the ring, or removes it.
    fn add(&mut self, i: usize, is: bool) {
        let places = self.places();
        let mut node = ((self.first + i) & (places - 1)) + 1;
        while node <= places {
            step(1);
            self.tree[node] = if is { self.tree[node] + 1 } else { self.tree[node] - 1 };
            node += node & node.wrapping_neg();
        }
        self.count = if is { self.count + 1 } else { self.count - 1 };
    }

    /// Gaps in the first `end` places of the tree.
    fn before(&self, end: usize) -> usize {
        let (mut gaps, mut node) = (0, end);
        while node > 0 {
            step(1);
            gaps += self.tree[node] as usize;
            node &= node - 1;
        }
        gaps
    }

    /// Place in the tree behind `rank` places that are no gaps, itself none.
    fn at_rank(&self, mut rank: usize) -> usize {
        let (mut at, mut size) = (0, self.places());
        while size > 0 {
            step(1);
            if let Some(&gaps) = self.tree.get(at + size)
                && size - gaps as usize <= rank
            {
                at += size;
                rank -= size - gaps as usize;
            }
            size /= 2;
        }
        at
    }

    /// Place of the packet `rank` in a ring of `len` places.
    fn place(&self, rank: usize, len: usize) -> usize {
        let places = self.places();
        let start = self.first & (places - 1);
        let before = self.before(start);
        // Packets up to the end of the tree, where the ring may wrap.
        let unwrapped = len.min(places - start) - (self.count - before);
        if rank < unwrapped { self.at_rank(start - before + rank) - start } else { places - start + self.at_rank(rank - unwrapped) }
    }
}

impl Waiting {
    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len() - self.gaps.as_ref().map_or(0, |g| g.count)
    }

    /// True if no packet waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The packet that has waited longest.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.ring.front()
    }

    /// The packet that came last.
    pub fn back(&self) -> Option<&Packet> {
        self.ring.back()
    }

    /// The packet at place `i`, 0 being the front.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&Packet> {
        match &self.gaps {
            Some(gaps) if gaps.count > 0 && i < self.len() => self.ring.get(gaps.place(i, self.ring.len())),
            Some(gaps) if gaps.count > 0 => None,
            _ => self.ring.get(i),
        }
    }

    /// All packets in order.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.ring.iter().filter(|p| p.id != GAP)
    }

    /// Adds the last packet.
    #[inline]
    pub fn push_back(&mut self, p: Packet) {
        if let Some(gaps) = &self.gaps
            && self.ring.len() == gaps.places()
        {
            self.make_places();
        }
        self.ring.push(p);
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop_front(&mut self) -> Option<Packet> {
        let p = self.ring.pop();
        if self.gaps.is_some() && p.is_some() {
            self.pass_gaps();
        }
        p
    }

    /// Takes the packet at place `i`.
    pub fn remove(&mut self, i: usize) -> Option<Packet> {
        let len = self.len();
        if i == 0 || i >= len {
            return if i == 0 { self.pop_front() } else { None };
        }
        if i == len - 1 {
            return self.pop_back();
        }
        let gaps = self.gaps.get_or_insert_with(|| {
            let places = self.ring.len().next_power_of_two().max(LEAST);
            Box::new(Gaps { first: 0, count: 0, tree: vec![0; places + 1] })
        });
        let place = if gaps.count > 0 { gaps.place(i, self.ring.len()) } else { i };
        let slot = self.ring.get_mut(place)?;
        let p = *slot;
        slot.id = GAP;
        gaps.add(place, true);
        Some(p)
    }

    /// Takes the last packet.
    fn pop_back(&mut self) -> Option<Packet> {
        let p = self.ring.pop_back();
        if let Some(gaps) = &mut self.gaps {
            while self.ring.back().is_some_and(|p| p.id == GAP) {
                gaps.add(self.ring.len() - 1, false);
                self.ring.pop_back();
            }
        }
        p
    }

    /// Removes the gaps at the front, whose packet was just taken.
    #[cold]
    fn pass_gaps(&mut self) {
        let Some(gaps) = &mut self.gaps else { return };
        gaps.first = gaps.first.wrapping_add(1);
        while self.ring.front().is_some_and(|p| p.id == GAP) {
            gaps.add(0, false);
            gaps.first = gaps.first.wrapping_add(1);
            self.ring.advance();
        }
    }

    /// Makes room in the tree: closes the gaps if they are half of the ring, or else doubles the tree.
    #[cold]
    fn make_places(&mut self) {
        let Some(gaps) = &mut self.gaps else { return };
        let len = self.ring.len();
        step(len);
        if 2 * gaps.count >= len {
            let mut kept = 0;
            for i in 0..len {
                if let Some(&p) = self.ring.get(i).filter(|p| p.id != GAP)
                    && let Some(slot) = self.ring.get_mut(kept)
                {
                    *slot = p;
                    kept += 1;
                }
            }
            self.ring.truncate(kept);
            gaps.tree.fill(0);
            gaps.count = 0;
            return;
        }
        let places = 2 * gaps.places();
        gaps.tree.clear();
        gaps.tree.resize(places + 1, 0);
        gaps.count = 0;
        for i in 0..len {
            if self.ring.get(i).is_some_and(|p| p.id == GAP) {
                gaps.add(i, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::pkt;
    use fairlane_engine::Stream;
    use std::collections::VecDeque;

    /// Against a plain deque, for random steps; most removals are from the middle.
    #[test]
    fn behaves_like_a_deque() {
        for seed in 0..4 {
            let mut rng = Stream::new(seed, "test", "waiting", "");
            let (mut waiting, mut model) = (Waiting::default(), VecDeque::new());
            for id in 0..40_000 {
                // Grows to a thousand packets, and shrinks again.
                let most = if id % 20_000 < 12_000 { 1000 } else { 10 };
                if model.len() < most {
                    waiting.push_back(pkt(id, 0, 100));
                    model.push_back(id);
                }
                let i = rng.below(model.len() as u64 + 2) as usize;
                match rng.below(5) {
                    0 => assert_eq!(waiting.pop_front().map(|p| p.id.0), model.pop_front()),
                    1 | 2 => assert_eq!(waiting.remove(i).map(|p| p.id.0), model.remove(i)),
                    3 if model.len() > 10 && most == 10 => assert_eq!(waiting.remove(1).map(|p| p.id.0), model.remove(1)),
                    _ => {}
                }
                assert_eq!(waiting.get(i).map(|p| p.id.0), model.get(i).copied());
                assert_eq!((waiting.len(), waiting.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(waiting.front().map(|p| p.id.0), model.front().copied());
                assert_eq!(waiting.back().map(|p| p.id.0), model.back().copied());
            }
            assert!(waiting.iter().map(|p| p.id.0).eq(model.iter().copied()));
        }
    }
}
