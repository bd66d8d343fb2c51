//! Sets of segments of a large scoreboard: the next segment that is lost or not SACKed is found without a walk over those between.

use crate::scoreboard::{Scoreboard, before};
use crate::sent::{LOST, RESENT, SACKED, Sent};
use fairlane_engine::steps::step;
use fairlane_units::Time;
use std::collections::VecDeque;

/// A ring from this size on has these sets. Smaller ones are walked; tests of definitions have few segments.
const LARGE: usize = if cfg!(test) { 128 } else { 512 };

/// Most levels of a set: enough for every index.
const LEVELS: usize = 6;

/// Set of numbers: a bit for each, and for every 64 bits one that says if any of them is set, up to one word.
#[derive(Clone, Debug)]
struct BitSet {
    /// All levels, one after the other.
    words: Vec<u64>,
    /// Where each level begins, and where the last one ends.
    starts: [u32; LEVELS + 1],
    levels: usize,
}

impl BitSet {
    /// Numbers below `len`, all of them or none.
    fn new(len: usize, full: bool) -> Self {
        let (mut starts, mut levels, mut words) = ([0; LEVELS + 1], 0, len);
        while words > 1 && levels < LEVELS {
            words = words.div_ceil(64);
            starts[levels + 1] = starts[levels] + words as u32;
            levels += 1;
        }
        let mut set = Self { words: vec![0; starts[levels] as usize], starts, levels };
        set.fill(len, full);
        set
    }

    /// Words of a level.
    fn level(&self, k: usize) -> &[u64] {
        &self.words[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// True for a set of numbers below `len`.
    fn covers(&self, len: usize) -> bool {
        self.level(0).len() == len.div_ceil(64)
    }

    /// Adds or removes all numbers below `len`.
    fn fill(&mut self, len: usize, full: bool) {
        let mut bits = len;
        step(self.words.len());
        self.words.fill(if full { u64::MAX } else { 0 });
        for k in 0..self.levels {
            if full && !bits.is_multiple_of(64) {
                self.words[self.starts[k + 1] as usize - 1] >>= 64 - bits % 64;
            }
            bits = self.level(k).len();
        }
    }

    fn insert(&mut self, n: usize) {
        let mut at = n;
        for &start in &self.starts[..self.levels] {
            step(1);
            let word = &mut self.words[start as usize + at / 64];
            let was = std::mem::replace(word, *word | 1 << (at % 64));
            if was != 0 {
                return;
            }
            at /= 64;
        }
    }

    fn remove(&mut self, n: usize) {
        let mut at = n;
        for &start in &self.starts[..self.levels] {
            step(1);
            let word = &mut self.words[start as usize + at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The first number from `n` on.
    fn next(&self, n: usize) -> Option<usize> {
        let mut at = n;
        for k in 0..self.levels {
            step(1);
            let here = self.level(k).get(at / 64)? & (u64::MAX << (at % 64));
            if here != 0 {
                let found = at / 64 * 64 + here.trailing_zeros() as usize;
                return Some((0..k).rev().fold(found, |i, below| i * 64 + self.level(below)[i].trailing_zeros() as usize));
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The last number up to `n`.
    fn last(&self, n: usize) -> Option<usize> {
        let mut at = n;
        for k in 0..self.levels {
            step(1);
            let here = self.level(k)[at / 64] & (u64::MAX >> (63 - at % 64));
            if here != 0 {
                let found = at / 64 * 64 + 63 - here.leading_zeros() as usize;
                return Some((0..k).rev().fold(found, |i, below| i * 64 + 63 - self.level(below)[i].leading_zeros() as usize));
            }
            at = (at / 64).checked_sub(1)?;
        }
        None
    }
}

/// Sets of slots of the ring, and segments in the order of their transmissions.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    /// Lost and not yet retransmitted.
    pending: BitSet,
    /// All but SACKed segments; slots without a segment are in it.
    open: BitSet,
    /// Number of SACKed segments.
    sacked: u32,
    /// Index below which every segment above `edge` is SACKed, lost or retransmitted.
    unmarked: u32,
    /// Originals sent before the latest segment that arrived, and not known to have arrived or to be lost, in order.
    pub(crate) waiting: VecDeque<u32>,
    /// Retransmissions in the order they left, if [`Scoreboard::lost_again`] needs them.
    pub(crate) resent: Option<VecDeque<(u32, Time)>>,
}

impl Scoreboard {
    /// The sets, made if the ring is large.
    #[inline]
    pub(crate) fn large(&mut self) -> Option<&mut Bits> {
        if self.ring.len() >= LARGE && self.bits.is_none() {
            self.make_bits();
        }
        self.bits.as_deref_mut()
    }

    /// Makes the sets from the marks of all segments.
    #[cold]
    pub(crate) fn make_bits(&mut self) {
        let len = self.ring.len();
        let mut bits = match self.bits.take() {
            Some(mut bits) if bits.open.covers(len) => {
                bits.pending.fill(len, false);
                bits.open.fill(len, true);
                bits
            }
            Some(mut bits) => {
                (bits.pending, bits.open) = (BitSet::new(len, false), BitSet::new(len, true));
                // Its entries stay; those to be listed again follow from a reset of `checked`.
                bits.waiting.reserve(len);
                bits
            }
            None => Box::new(Bits {
                pending: BitSet::new(len, false),
                open: BitSet::new(len, true),
                sacked: 0,
                unmarked: 0,
                waiting: VecDeque::with_capacity(len),
                resent: None,
            }),
        };
        (bits.sacked, bits.unmarked) = (0, self.head);
        let mut i = if self.sacked == 0 && self.pending == 0 { self.tail } else { self.head };
        while i != self.tail {
            step(1);
            let (slot, s) = (self.slot(i), self.at(i));
            if s.is(SACKED) {
                bits.open.remove(slot);
                bits.sacked += 1;
            } else if s.flags & (LOST | RESENT) == LOST {
                bits.pending.insert(slot);
            }
            i = i.wrapping_add(1);
        }
        self.bits = Some(bits);
    }

    /// Makes the sets again, if there are any: marks of many segments changed.
    pub(crate) fn remake_bits(&mut self) {
        if self.bits.is_some() {
            self.make_bits();
        }
    }

    /// Notes that a segment is lost and waits for its retransmission, or no longer does.
    #[inline]
    pub(crate) fn set_pending(&mut self, i: u32, is: bool) {
        if is {
            self.pending += 1;
        } else {
            self.pending -= 1;
        }
        let slot = self.slot(i);
        if let Some(bits) = &mut self.bits {
            if is { bits.pending.insert(slot) } else { bits.pending.remove(slot) }
        } else if is {
            self.large();
        }
    }

    /// Notes that a segment is SACKed, or leaves as one.
    #[inline]
    pub(crate) fn set_sacked(&mut self, i: u32, is: bool) {
        let slot = self.slot(i);
        if let Some(bits) = &mut self.bits {
            if is {
                bits.open.remove(slot);
                bits.sacked += 1;
            } else {
                bits.open.insert(slot);
                bits.sacked -= 1;
            }
        } else if is {
            self.large();
        }
    }

    /// Index of the slot that `found` names, searched for from index `i` on.
    fn index_of(&self, i: u32, found: usize) -> u32 {
        i.wrapping_add((found as u32).wrapping_sub(self.slot(i) as u32) & (self.ring.len() as u32 - 1))
    }

    fn next_in(&self, set: &BitSet, from: u32) -> Option<u32> {
        if from == self.tail {
            return None;
        }
        let found = set.next(self.slot(from)).or_else(|| set.next(0))?;
        Some(self.index_of(from, found)).filter(|&i| i.wrapping_sub(from) < self.tail.wrapping_sub(from))
    }

    /// The first segment from `i` on that is not SACKed; else the tail.
    #[inline]
    pub(crate) fn next_open(&self, i: u32) -> u32 {
        match &self.bits {
            Some(bits) => self.next_in(&bits.open, i).unwrap_or(self.tail),
            None => i,
        }
    }

    /// The first segment that is lost and not retransmitted, of a large ring.
    pub(crate) fn next_pending(&self) -> Option<u32> {
        self.bits.as_ref().and_then(|bits| self.next_in(&bits.pending, self.head))
    }

    /// The last segment that is not SACKed, of a large ring that is not empty.
    pub(crate) fn last_open(&self) -> Option<u32> {
        let (bits, last) = (self.bits.as_ref()?, self.tail.wrapping_sub(1));
        let found = bits.open.last(self.slot(last)).or_else(|| bits.open.last(self.ring.len() - 1))?;
        let back = (self.slot(last) as u32).wrapping_sub(found as u32) & (self.ring.len() as u32 - 1);
        (back < self.tail.wrapping_sub(self.head)).then(|| last.wrapping_sub(back))
    }

    /// Number of SACKed segments, if it is known without a walk.
    pub(crate) fn sacked_count(&self) -> Option<u32> {
        self.bits.as_ref().map(|bits| bits.sacked)
    }

    /// Index from which [`Self::first_unmarked`] walks; `Some` notes how far it came.
    pub(crate) fn unmarked_from(&mut self, found: Option<u32>) -> u32 {
        let edge = self.edge;
        let Some(bits) = &mut self.bits else { return edge };
        if let Some(found) = found {
            bits.unmarked = found;
        }
        if before(bits.unmarked, edge) { edge } else { bits.unmarked }
    }

    /// Lets RACK judge all segments again.
    pub(crate) fn judge_again(&mut self) {
        self.checked = self.head;
        if let Some(bits) = &mut self.bits {
            bits.waiting.clear();
        }
    }

    /// Retransmissions in the order they left, of a large ring.
    pub(crate) fn resent_in_order(&mut self) -> Option<&mut VecDeque<(u32, Time)>> {
        self.large()?;
        if self.bits.as_ref().is_some_and(|bits| bits.resent.is_none()) {
            let mut all: Vec<(u32, Time)> = Vec::new();
            let mut i = self.head;
            while i != self.tail {
                step(1);
                if self.at(i).is(RESENT) {
                    all.push((i, self.at(i).at));
                }
                i = i.wrapping_add(1);
            }
            all.sort_by_key(|&(_, at)| at);
            if let Some(bits) = &mut self.bits {
                bits.resent = Some(all.into());
            }
        }
        self.bits.as_mut()?.resent.as_mut()
    }

    /// Checks the sets.
    pub(crate) fn audit_bits(&self) -> Result<(), &'static str> {
        let Some(bits) = &self.bits else { return Ok(()) };
        let has = |set: &BitSet, slot: usize| set.words[slot / 64] >> (slot % 64) & 1 == 1;
        let (mut i, mut sacked) = (self.head, 0);
        while i != self.tail {
            let (slot, s): (_, Sent) = (self.slot(i), *self.at(i));
            sacked += u32::from(s.is(SACKED));
            if has(&bits.open, slot) == s.is(SACKED) || has(&bits.pending, slot) != (s.flags & (SACKED | LOST | RESENT) == LOST) {
                return Err("the sets are those of the marks");
            }
            i = i.wrapping_add(1);
        }
        if sacked == bits.sacked { Ok(()) } else { Err("the number of SACKed segments") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_engine::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_finds_its_neighbours() {
        let mut rng = Stream::new(1, "test", "bits", "");
        for len in [128, 4096, 8192] {
            let (mut set, mut model) = (BitSet::new(len, false), BTreeSet::new());
            for _ in 0..4000 {
                let n = rng.below(len as u64) as usize;
                if rng.below(3) == 0 {
                    set.insert(n);
                    model.insert(n);
                } else {
                    set.remove(n);
                    model.remove(&n);
                }
                let n = rng.below(len as u64) as usize;
                assert_eq!(set.next(n), model.range(n..).next().copied());
                assert_eq!(set.last(n), model.range(..=n).next_back().copied());
            }
            let full = BitSet::new(len, true);
            assert_eq!((full.next(len / 2), full.last(len - 1), full.next(len)), (Some(len / 2), Some(len - 1), None));
        }
    }
}
