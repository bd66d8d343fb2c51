//! A set of numbers below a bound that finds the next member in a few steps, however many there are.

use fairlane_engine::steps::step;

/// A tree of words: a bit of a word above says that the word below is not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    levels: Vec<Vec<u64>>,
}

impl Bits {
    /// An empty set of numbers below `n`.
    pub(crate) fn new(n: usize) -> Self {
        let (mut levels, mut n) = (vec![], n);
        loop {
            n = n.div_ceil(64);
            levels.push(vec![0; n]);
            if n <= 1 {
                return Self { levels };
            }
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        let mut at = i;
        for words in &mut self.levels {
            words[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        let mut at = i;
        for words in &mut self.levels {
            words[at / 64] &= !(1 << (at % 64));
            if words[at / 64] != 0 {
                return;
            }
            at /= 64;
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.last().and_then(|top| top.first()).is_none_or(|&word| word == 0)
    }

    /// The least member that is not below `from`.
    #[inline]
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        let mut at = from;
        for (level, words) in self.levels.iter().enumerate() {
            step(1);
            let rest = words.get(at / 64)? & u64::MAX << (at % 64);
            if rest != 0 {
                let found = at / 64 * 64 + rest.trailing_zeros() as usize;
                let below = self.levels[..level].iter().rev();
                return Some(below.fold(found, |found, words| found * 64 + words[found].trailing_zeros() as usize));
            }
            at = at / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_engine::Stream;
    use std::collections::BTreeSet;

    /// Against an ordered set, for random steps and sizes of one, two and three levels.
    #[test]
    fn behaves_like_an_ordered_set() {
        let mut rng = Stream::new(1, "test", "bits", "");
        for n in [1, 64, 65, 5000, 300_000] {
            let (mut bits, mut model) = (Bits::new(n), BTreeSet::new());
            for _ in 0..4000 {
                let i = rng.below(n as u64) as usize;
                if rng.uniform() < 0.5 {
                    bits.insert(i);
                    model.insert(i);
                } else if let Some(i) = bits.next(i) {
                    bits.remove(i);
                    model.remove(&i);
                }
                let from = rng.below(n as u64 + 1) as usize;
                assert_eq!(bits.next(from), model.range(from..).next().copied());
                assert_eq!(bits.is_empty(), model.is_empty());
            }
        }
    }
}
