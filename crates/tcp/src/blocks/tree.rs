//! Blocks in order of their starts, without an allocation for each.

use fairlane_engine::steps::step;
use fairlane_net::Block;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    block: Block,
    left: u32,
    right: u32,
}

/// Treap (Seidel and Aragon, Algorithmica 1996): a search tree by start that is a heap by a hash of the start, which keeps it balanced.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    root: u32,
    /// Unused nodes, by `left`.
    free: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: Vec::new(), root: NONE, free: NONE }
    }
}

/// Rank of a block in the heap (finaliser of SplitMix64, Steele, Lea and Flood 2014).
fn rank(start: u64) -> u64 {
    let z = (start ^ (start >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Tree {
    fn node(&self, i: u32) -> Option<&Node> {
        self.nodes.get(i as usize)
    }

    fn rank(&self, i: u32) -> Option<u64> {
        self.node(i).map(|n| rank(n.block.start))
    }

    /// The link to a child, or to the root.
    fn link(&mut self, parent: u32, right: bool) -> &mut u32 {
        match self.nodes.get_mut(parent as usize) {
            Some(n) if right => &mut n.right,
            Some(n) => &mut n.left,
            None => &mut self.root,
        }
    }

    /// The last block that starts at or before `seq`.
    pub(super) fn at_or_before(&self, seq: u64) -> Option<Block> {
        let (mut at, mut found) = (self.root, None);
        while let Some(n) = self.node(at) {
            step(1);
            if n.block.start <= seq {
                found = Some(n.block);
                at = n.right;
            } else {
                at = n.left;
            }
        }
        found
    }

    /// Adds a block that overlaps no other.
    pub(super) fn insert(&mut self, block: Block) {
        let (own, mut parent, mut right, mut at) = (rank(block.start), NONE, false, self.root);
        while let Some(n) = self.node(at).filter(|n| rank(n.block.start) >= own) {
            step(1);
            (parent, right) = (at, n.block.start < block.start);
            at = if right { n.right } else { n.left };
        }
        let (before, after) = self.split(at, block.start);
        let node = Node { block, left: before, right: after };
        let new = match self.nodes.get_mut(self.free as usize) {
            Some(unused) => {
                let new = std::mem::replace(&mut self.free, unused.left);
                *unused = node;
                new
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        *self.link(parent, right) = new;
    }

    /// Removes the block that starts at `start`, if it is there.
    pub(super) fn remove(&mut self, start: u64) {
        let (mut parent, mut right, mut at) = (NONE, false, self.root);
        while let Some(n) = self.node(at).filter(|n| n.block.start != start) {
            step(1);
            (parent, right) = (at, n.block.start < start);
            at = if right { n.right } else { n.left };
        }
        self.unlink(parent, right, at);
    }

    /// Removes the first block if it starts at or before `seq`.
    pub(super) fn pop_first_to(&mut self, seq: u64) -> Option<Block> {
        let (mut parent, mut at) = (NONE, self.root);
        while let Some(n) = self.node(at).filter(|n| n.left != NONE) {
            step(1);
            (parent, at) = (at, n.left);
        }
        let first = self.node(at)?.block;
        if first.start > seq {
            return None;
        }
        self.unlink(parent, false, at);
        Some(first)
    }

    /// Takes node `at` out, the child of `parent` on this side.
    fn unlink(&mut self, parent: u32, right: bool, at: u32) {
        let Some(&Node { left: before, right: after, .. }) = self.node(at) else { return };
        let joined = self.join(before, after);
        *self.link(parent, right) = joined;
        let unused = std::mem::replace(&mut self.free, at);
        *self.link(at, false) = unused;
    }

    /// Divides a subtree into the blocks before `start` and those after.
    fn split(&mut self, at: u32, start: u64) -> (u32, u32) {
        let Some(&n) = self.node(at) else { return (NONE, NONE) };
        step(1);
        let right = n.block.start < start;
        let (before, after) = self.split(if right { n.right } else { n.left }, start);
        *self.link(at, right) = if right { before } else { after };
        if right { (at, after) } else { (before, at) }
    }

    /// Joins two subtrees, all of one before all of the other.
    fn join(&mut self, before: u32, after: u32) -> u32 {
        let (Some(first), Some(last)) = (self.rank(before), self.rank(after)) else { return before.min(after) };
        step(1);
        let (top, right) = if first >= last { (before, true) } else { (after, false) };
        let inner = *self.link(top, right);
        let joined = if right { self.join(inner, after) } else { self.join(before, inner) };
        *self.link(top, right) = joined;
        top
    }

    /// All blocks in order, for checks.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let (mut out, mut open, mut at) = (Vec::new(), Vec::new(), self.root);
        loop {
            while let Some(n) = self.node(at) {
                open.push(n);
                at = n.left;
            }
            let Some(n) = open.pop() else { return out };
            out.push(n.block);
            at = n.right;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_engine::Stream;
    use std::collections::BTreeMap;

    /// Against a map of the standard library, for random steps.
    #[test]
    fn is_an_ordered_map() {
        let mut rng = Stream::new(1, "test", "tree", "");
        let (mut tree, mut model) = (Tree::default(), BTreeMap::new());
        for _ in 0..40_000 {
            let seq = 10 * rng.below(400);
            match rng.below(8) {
                0..=3 => {
                    if model.insert(seq, seq + 5).is_none() {
                        tree.insert(Block { start: seq, end: seq + 5 });
                    }
                }
                4 | 5 => {
                    model.remove(&seq);
                    tree.remove(seq);
                }
                6 => {
                    let first = model.first_key_value().map(|(&start, &end)| Block { start, end }).filter(|b| b.start <= seq);
                    assert_eq!(tree.pop_first_to(seq), first);
                    first.map(|b| model.remove(&b.start));
                }
                _ => {
                    let want = model.range(..=seq).next_back().map(|(&start, &end)| Block { start, end });
                    assert_eq!(tree.at_or_before(seq), want);
                }
            }
        }
        assert!(tree.blocks().iter().map(|b| (b.start, b.end)).eq(model));
        assert!(tree.nodes.len() <= 400, "removed nodes are used again");
    }
}
