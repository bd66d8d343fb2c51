//! Columns of 64-bit words that grow at their end, in chunks.

use std::ops::Range;
use std::sync::Arc;

/// Words of a chunk.
const CHUNK: usize = 1 << 12;

/// A full chunk, in the narrowest form that holds its words.
#[derive(Debug)]
enum Chunk {
    Constant(u64),
    Narrow(Box<[u32]>),
    Wide(Box<[u64]>),
}

/// A column. Clones share its full chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks {
    full: Vec<Arc<Chunk>>,
    open: Vec<u64>,
}

impl Chunk {
    fn new(words: &[u64]) -> Self {
        let (first, all) = (words[0], words.iter().fold(0, |all, w| all | w));
        if words.iter().all(|w| *w == first) {
            Self::Constant(first)
        } else if u32::try_from(all).is_ok() {
            Self::Narrow(words.iter().map(|w| *w as u32).collect())
        } else {
            Self::Wide(words.into())
        }
    }
}

impl Chunks {
    /// Adds a word.
    #[inline]
    pub(super) fn push(&mut self, word: u64) {
        self.open.push(word);
        if self.open.len() == CHUNK {
            self.close();
        }
    }

    #[cold]
    fn close(&mut self) {
        self.full.push(Arc::new(Chunk::new(&self.open)));
        self.open.clear();
    }

    /// Passes the words of a range to `take`, in order.
    pub(super) fn read(&self, range: Range<usize>, mut take: impl FnMut(u64)) {
        let mut at = range.start;
        while at < range.end {
            let from = at % CHUNK;
            let to = CHUNK.min(from + range.end - at);
            match self.full.get(at / CHUNK).map(|chunk| &**chunk) {
                Some(Chunk::Constant(word)) => (from..to).for_each(|_| take(*word)),
                Some(Chunk::Narrow(words)) => words[from..to].iter().for_each(|w| take((*w).into())),
                Some(Chunk::Wide(words)) => words[from..to].iter().for_each(|w| take(*w)),
                None => self.open[from..to].iter().for_each(|w| take(*w)),
            }
            at += to - from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_testkit::cases;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![4 => Just(0), 2 => any::<u32>().prop_map(u64::from), 1 => any::<u64>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(64)))]
        /// Any range comes back as it was put in, from constant, narrow, wide and open chunks, also of a clone.
        #[test]
        fn words_come_back(runs in prop::collection::vec((word(), word(), 1..3 * CHUNK), 1..6), from in 0.0..1.0, to in 0.0..1.0) {
            let (mut chunks, mut words) = (Chunks::default(), Vec::new());
            for (a, b, count) in runs {
                words.extend((0..count).map(|i| if i % 2 == 0 { a } else { b }));
            }
            words.iter().for_each(|w| chunks.push(*w));
            let place = |share: f64| (words.len() as f64 * share) as usize;
            let range = place(from).min(place(to))..place(from).max(place(to));
            let (clone, mut got) = (chunks.clone(), Vec::new());
            chunks.push(7);
            clone.read(range.clone(), |w| got.push(w));
            prop_assert!(got == words[range]);
        }
    }

    #[test]
    fn chunks_take_the_narrowest_form() {
        let chunk = |f: fn(u64) -> u64| Chunk::new(&(0..CHUNK as u64).map(f).collect::<Vec<_>>());
        assert!(matches!(chunk(|_| u64::MAX), Chunk::Constant(u64::MAX)));
        assert!(matches!(chunk(|i| i), Chunk::Narrow(_)));
        assert!(matches!(chunk(|i| i << 40), Chunk::Wide(_)));
    }
}
