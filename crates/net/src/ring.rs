//! FIFO ring buffer of small records. It grows to its high-water mark; only `shrink` gives memory back.

/// FIFO of `Copy` records.
#[derive(Clone, Debug)]
pub struct Ring<T: Copy> {
    buf: Box<[T]>,
    head: u32,
    len: u32,
}

/// Resizes a boxed slice to exactly `len` records; new ones are `filler`.
pub(crate) fn with_room<T: Copy>(records: Box<[T]>, len: usize, filler: T) -> Box<[T]> {
    let mut records = records.into_vec();
    records.reserve_exact(len.saturating_sub(records.len()));
    records.resize(len, filler);
    records.into_boxed_slice()
}

impl<T: Copy> Default for Ring<T> {
    fn default() -> Self {
        Self { buf: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Number of records.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }
    /// True if it holds no records.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    fn index(&self, i: u32) -> usize {
        ((self.head.wrapping_add(i)) & (self.buf.len() as u32).wrapping_sub(1)) as usize
    }
    /// Appends a record.
    #[inline]
    pub fn push(&mut self, x: T) {
        self.push_copy(&x);
    }
    /// Appends a record by reference, in one copy.
    #[inline(always)]
    pub(crate) fn push_copy(&mut self, x: &T) {
        if self.len() == self.buf.len() {
            self.grow(x);
        }
        let i = self.index(self.len);
        self.buf[i] = *x;
        self.len += 1;
    }
    #[cold]
    fn grow(&mut self, &filler: &T) {
        self.buf.rotate_left(self.head as usize);
        self.head = 0;
        // Most links of a large network never have more than one.
        let size = (2 * self.buf.len()).max(1);
        self.buf = with_room(std::mem::take(&mut self.buf), size, filler);
    }
    /// Shrinks the buffer if at most a quarter of it is used.
    pub fn shrink(&mut self) {
        let size = self.len().next_power_of_two();
        if size * 4 <= self.buf.len() {
            self.buf = (0..size as u32).map(|i| self.buf[self.index(i)]).collect();
            self.head = 0;
        }
    }
    /// Removes the oldest record, if any.
    #[inline]
    pub fn advance(&mut self) {
        self.skip(1);
    }
    /// Removes the oldest `n` records.
    #[inline]
    pub fn skip(&mut self, n: usize) {
        let n = self.len.min(n as u32);
        if n > 0 {
            self.pass(n);
        }
    }
    /// Removes the oldest `n` records, which exist.
    #[inline]
    fn pass(&mut self, n: u32) {
        self.head = self.head.wrapping_add(n) & (self.buf.len() as u32 - 1);
        self.len -= n;
    }
    /// Takes the oldest record.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let x = self.buf[self.index(0)];
        self.pass(1);
        Some(x)
    }
    /// Takes the newest record.
    pub fn pop_back(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        Some(self.buf[self.index(self.len)])
    }
    /// Newest record.
    pub fn back(&self) -> Option<&T> {
        self.len.checked_sub(1).map(|last| &self.buf[self.index(last)])
    }
    /// Oldest record.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { Some(&self.buf[self.index(0)]) }
    }
    /// Oldest record, which exists; a former record otherwise.
    #[inline]
    pub(crate) fn head(&self) -> Option<&T> {
        self.buf.get(self.index(0))
    }
    /// Record `i`, counted from the oldest.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&T> {
        if i < self.len() { Some(&self.buf[self.index(i as u32)]) } else { None }
    }
    /// Record `i`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        if i < self.len() {
            let j = self.index(i as u32);
            Some(&mut self.buf[j])
        } else {
            None
        }
    }
    /// Removes the newest records, all but `len`.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u32);
    }
    /// All records, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|i| &self.buf[self.index(i)])
    }
    /// Removes all records and keeps the memory.
    pub fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn shrinks_to_what_is_there() {
        let mut ring = Ring::default();
        (0..100).for_each(|i| ring.push(i));
        (0..80).for_each(|_| ring.advance());
        (100..110).for_each(|i| ring.push(i));
        ring.shrink();
        assert_eq!((ring.buf.len(), ring.len()), (32, 30));
        assert!(ring.iter().copied().eq(80..110));
        ring.push(110);
        ring.push(111);
        ring.push(112);
        assert!(ring.iter().copied().eq(80..113));
    }

    #[test]
    fn behaves_like_a_deque() {
        let mut ring = Ring::default();
        let mut model = VecDeque::new();
        let mut x = 12345_u32;
        for i in 0..20_000_u32 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match x >> 29 {
                0..=3 => {
                    ring.push(i);
                    model.push_back(i);
                }
                4..=6 => assert_eq!(ring.pop(), model.pop_front()),
                _ if x.is_multiple_of(64) => ring.shrink(),
                _ => assert_eq!(ring.pop_back(), model.pop_back()),
            }
            assert_eq!((ring.len(), ring.front()), (model.len(), model.front()));
        }
        assert!(ring.iter().eq(model.iter()));
    }
}
