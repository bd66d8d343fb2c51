//! Queues ordered by a number: a binary heap in which each queue knows its place, so that its number can change.

use fairlane_engine::steps::step;

const OUT: u32 = u32::MAX;

/// The smallest number first; of equal ones, the queue of the lower number.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinHeap<K = f64> {
    heap: Vec<(K, u32)>,
    /// Place of each queue in the heap.
    place: Vec<u32>,
}

impl<K: Copy + PartialOrd> MinHeap<K> {
    /// The first queue with its number.
    #[inline]
    pub(crate) fn first(&self) -> Option<(K, usize)> {
        self.heap.first().map(|&(key, i)| (key, i as usize))
    }

    /// How many queues are in.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The queues that are in, in no order.
    pub(crate) fn members(&self) -> impl Iterator<Item = usize> {
        self.heap.iter().map(|&(_, i)| i as usize)
    }

    /// Queue `i` is in, with this number.
    #[inline]
    pub(crate) fn set(&mut self, i: usize, key: K) {
        if self.place.len() <= i {
            self.place.resize(i + 1, OUT);
        }
        let at = match self.place[i] {
            OUT => {
                self.heap.push((key, i as u32));
                self.heap.len() - 1
            }
            at => at as usize,
        };
        self.settle(at, (key, i as u32));
    }

    /// Queue `i` is out.
    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        let at = match self.place.get(i) {
            Some(&at) if at != OUT => at as usize,
            _ => return,
        };
        self.place[i] = OUT;
        if let Some(last) = self.heap.pop().filter(|_| at < self.heap.len()) {
            self.settle(at, last);
        }
    }

    fn before(a: (K, u32), b: (K, u32)) -> bool {
        a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
    }

    /// Finds the place of an entry that may stand at `at`.
    fn settle(&mut self, mut at: usize, entry: (K, u32)) {
        while at > 0 && Self::before(entry, self.heap[(at - 1) / 2]) {
            step(1);
            let up = (at - 1) / 2;
            self.put(at, self.heap[up]);
            at = up;
        }
        loop {
            step(2);
            let mut down = 2 * at + 1;
            if down + 1 < self.heap.len() && Self::before(self.heap[down + 1], self.heap[down]) {
                down += 1;
            }
            if down >= self.heap.len() || !Self::before(self.heap[down], entry) {
                break;
            }
            self.put(at, self.heap[down]);
            at = down;
        }
        self.put(at, entry);
    }

    #[inline]
    fn put(&mut self, at: usize, entry: (K, u32)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_engine::Stream;
    use std::collections::BTreeMap;

    /// Against an ordered map, for random steps.
    #[test]
    fn smallest_first() {
        let mut rng = Stream::new(1, "test", "heap", "");
        let (mut heap, mut model) = (MinHeap::default(), BTreeMap::new());
        for _ in 0..20_000 {
            let (i, key) = (rng.below(20) as usize, rng.below(40));
            if rng.uniform() < 0.6 {
                heap.set(i, key as f64);
                model.insert(i, key);
            } else {
                heap.remove(i);
                model.remove(&i);
            }
            assert_eq!(heap.first().map(|(k, i)| (k as u64, i)), model.iter().map(|(&i, &k)| (k, i)).min());
            assert_eq!(heap.len(), model.len());
        }
    }
}
