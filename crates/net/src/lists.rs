//! Many short lists in one allocation.

use std::ops::{Index, IndexMut, Range};

/// Lists by number. Most nodes of a large network have one or two links, so one allocation per node would cost more than the links.
#[derive(Clone, Debug, Default)]
pub struct Lists<T> {
    /// Index of the first item of each list, and the number of all items.
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Creates `count` lists of `entries` as (list, item), in their order. Entries of other lists are ignored.
    pub fn new(count: usize, entries: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let entries = entries.filter(|e| (e.0 as usize) < count);
        // Counts are two places ahead, because filling moves each start by one place.
        let mut starts = vec![0; count + 2];
        entries.clone().for_each(|(list, _)| starts[list as usize + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut all = vec![T::default(); starts[count + 1] as usize];
        for (list, entry) in entries {
            let place = &mut starts[list as usize + 1];
            all[*place as usize] = entry;
            *place += 1;
        }
        starts.pop();
        Self { starts, all }
    }
}

impl<T> Lists<T> {
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
    /// True without lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns all lists, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|i| &self[i])
    }
    fn span(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

impl<T> Index<usize> for Lists<T> {
    type Output = [T];
    fn index(&self, i: usize) -> &[T] {
        &self.all[self.span(i)]
    }
}

impl<T> IndexMut<usize> for Lists<T> {
    fn index_mut(&mut self, i: usize) -> &mut [T] {
        let span = self.span(i);
        &mut self.all[span]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_what_was_put_into_them() {
        let mut x = 1_u32;
        let mut next = |n: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8) % n
        };
        for count in [0, 1, 2, 7, 50] {
            // The last number has no list.
            let entries: Vec<(u32, u32)> = (0..60).map(|i| (next(count + 1), i)).collect();
            let lists = Lists::new(count as usize, entries.iter().copied());
            let wanted: Vec<Vec<u32>> = (0..count).map(|n| entries.iter().filter(|e| e.0 == n).map(|e| e.1).collect()).collect();
            assert!(lists.iter().eq(wanted.iter().map(Vec::as_slice)), "{entries:?}");
            assert_eq!((lists.len(), lists.is_empty()), (count as usize, count == 0));
        }
    }
}
