//! Ranges of sequence numbers that arrived out of order: sorted, disjoint and not adjacent, with the sum of their lengths.

use fairlane_engine::steps::log_step;
use fairlane_net::Block;
use std::collections::BTreeMap;

/// A balanced tree, as the kernel's queue of out-of-order data: fast links with long delays leave tens of thousands of holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// End of each block by its start.
    ends: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Blocks {
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Sum of the lengths.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn last(&self) -> Option<Block> {
        log_step(self.ends.len());
        self.ends.last_key_value().map(|(&start, &end)| Block { start, end })
    }

    /// The block that holds `seq`.
    pub(crate) fn holding(&self, seq: u64) -> Option<Block> {
        self.at_or_before(seq).filter(|b| b.end > seq)
    }

    /// The last block that starts at or before `seq`.
    fn at_or_before(&self, seq: u64) -> Option<Block> {
        log_step(self.ends.len());
        self.ends.range(..=seq).next_back().map(|(&start, &end)| Block { start, end })
    }

    /// Lengthens the last block if it is the one from `start` to `end`; returns false if it is not.
    pub(crate) fn lengthen_last(&mut self, Block { start, end }: Block, to: u64) -> bool {
        log_step(self.ends.len());
        match self.ends.last_entry() {
            Some(mut last) if *last.key() == start && *last.get() == end => {
                self.bytes += to - end;
                last.insert(to);
                true
            }
            _ => false,
        }
    }

    /// Removes the first block if it starts at or before `seq`.
    pub(crate) fn pop_first_to(&mut self, seq: u64) -> Option<Block> {
        log_step(self.ends.len());
        let first = self.ends.first_entry().filter(|first| *first.key() <= seq)?;
        let (start, end) = first.remove_entry();
        self.bytes -= end - start;
        Some(Block { start, end })
    }

    /// Adds a range, joined with the blocks that it overlaps or touches. Returns the joined block, and the last overlap.
    pub(crate) fn add(&mut self, range: Block) -> (Block, Option<Block>) {
        let (mut joined, mut duplicate) = (range, None);
        // From the last to the first, each of which is joined once.
        while let Some(b) = self.at_or_before(range.end).filter(|b| b.end >= range.start) {
            let overlap = Block { start: b.start.max(range.start), end: b.end.min(range.end) };
            if duplicate.is_none() && overlap.start < overlap.end {
                duplicate = Some(overlap);
            }
            joined = Block { start: joined.start.min(b.start), end: joined.end.max(b.end) };
            self.bytes -= b.end - b.start;
            if b.start == joined.start && b.start <= range.start {
                break;
            }
            self.ends.remove(&b.start);
        }
        log_step(self.ends.len());
        self.ends.insert(joined.start, joined.end);
        self.bytes += joined.end - joined.start;
        (joined, duplicate)
    }

    /// Checks that blocks are sorted, disjoint, not adjacent and above `seq`, and their sum.
    pub(crate) fn audit(&self, seq: u64) -> Result<(), &'static str> {
        let apart = self.ends.iter().zip(self.ends.iter().skip(1)).all(|(a, b)| a.1 < b.0);
        let above = self.ends.iter().all(|(&start, &end)| start > seq && start < end);
        let sum = self.ends.iter().map(|(start, end)| end - start).sum::<u64>() == self.bytes;
        if apart && above && sum { Ok(()) } else { Err("blocks received are in order, apart and above RCV.NXT") }
    }
}
