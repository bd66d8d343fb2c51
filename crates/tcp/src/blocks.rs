//! Ranges of sequence numbers that arrived out of order: sorted, disjoint and not adjacent, with the sum of their lengths.

mod tree;

use fairlane_net::Block;
use tree::Tree;

/// Blocks in a balanced tree, as the kernel's queue of out-of-order data: fast links with long delays leave tens of thousands of holes. The
/// last block is apart, since most segments lengthen it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// The last block; empty if there is none.
    last: Block,
    /// All others.
    others: Tree,
    bytes: u64,
}

impl Blocks {
    pub(crate) fn is_empty(&self) -> bool {
        self.last.end == 0
    }

    /// Sum of the lengths.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn last(&self) -> Option<Block> {
        (!self.is_empty()).then_some(self.last)
    }

    /// The block that holds `seq`.
    pub(crate) fn holding(&self, seq: u64) -> Option<Block> {
        self.at_or_before(seq).filter(|b| b.end > seq)
    }

    /// The last block that starts at or before `seq`.
    fn at_or_before(&self, seq: u64) -> Option<Block> {
        if !self.is_empty() && self.last.start <= seq { Some(self.last) } else { self.others.at_or_before(seq) }
    }

    /// Lengthens the last block if it is this one; returns false if it is not.
    pub(crate) fn lengthen_last(&mut self, block: Block, to: u64) -> bool {
        let is = !self.is_empty() && self.last == block;
        if is {
            self.bytes += to - block.end;
            self.last.end = to;
        }
        is
    }

    /// Removes the first block if it starts at or before `seq`.
    pub(crate) fn pop_first_to(&mut self, seq: u64) -> Option<Block> {
        let first = self.others.pop_first_to(seq).or_else(|| self.pop_last_to(seq))?;
        self.bytes -= first.end - first.start;
        Some(first)
    }

    /// Removes the last block, the only one left, if it starts at or before `seq`.
    fn pop_last_to(&mut self, seq: u64) -> Option<Block> {
        (!self.is_empty() && self.last.start <= seq).then(|| std::mem::take(&mut self.last))
    }

    /// Adds a range, joined with the blocks that it overlaps or touches. Returns the joined block, and the last overlap.
    pub(crate) fn add(&mut self, range: Block) -> (Block, Option<Block>) {
        let (mut joined, mut duplicate, mut last) = (range, None, self.is_empty() || range.end > self.last.end);
        while let Some(b) = self.at_or_before(range.end).filter(|b| b.end >= range.start) {
            let overlap = Block { start: b.start.max(range.start), end: b.end.min(range.end) };
            if duplicate.is_none() && overlap.start < overlap.end {
                duplicate = Some(overlap);
            }
            joined = Block { start: joined.start.min(b.start), end: joined.end.max(b.end) };
            self.bytes -= b.end - b.start;
            if b == self.last {
                (self.last, last) = (Block::default(), true);
            } else {
                self.others.remove(b.start);
            }
        }
        if !last {
            self.others.insert(joined);
        } else {
            if let Some(former) = self.last() {
                self.others.insert(former);
            }
            self.last = joined;
        }
        self.bytes += joined.end - joined.start;
        (joined, duplicate)
    }

    /// Checks that blocks are sorted, disjoint, not adjacent and above `seq`, and their sum.
    pub(crate) fn audit(&self, seq: u64) -> Result<(), &'static str> {
        let mut all = self.others.blocks();
        all.extend(self.last());
        let apart = all.windows(2).all(|w| w[0].end < w[1].start);
        let above = all.iter().all(|b| b.start > seq && b.start < b.end);
        let sum = all.iter().map(|b| b.end - b.start).sum::<u64>() == self.bytes;
        if apart && above && sum { Ok(()) } else { Err("blocks received are in order, apart and above RCV.NXT") }
    }
}
