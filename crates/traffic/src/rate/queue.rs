//! Data that an application wrote and the rate control has not sent yet. Writes keep their bounds: each is a packet, or several if it is larger than one.

use std::collections::VecDeque;

/// Equal writes behind one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Bytes of each.
    size: u64,
    /// How many.
    count: u64,
}

/// The writes that wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SendQueue {
    runs: VecDeque<Run>,
    bytes: u64,
    /// Bytes from which on new writes are refused.
    limit: u64,
}

impl SendQueue {
    pub(super) fn new(limit: u64) -> Self {
        Self { runs: VecDeque::new(), bytes: 0, limit }
    }

    /// Takes a write, unless too much waits already. One that is begun is taken whole, so a transfer of any size fits an empty queue.
    pub(super) fn push(&mut self, size: u64) {
        if size == 0 || self.bytes >= self.limit {
            return;
        }
        self.bytes = self.bytes.saturating_add(size);
        match self.runs.back_mut() {
            Some(last) if last.size == size => last.count += 1,
            _ => self.runs.push_back(Run { size, count: 1 }),
        }
    }

    /// Takes the payload of the next packet, `max` bytes at most.
    pub(super) fn pop(&mut self, max: u64) -> Option<u16> {
        let first = self.runs.front_mut()?;
        let part = first.size.min(max).min(u64::from(u16::MAX));
        let rest = first.size - part;
        first.count -= 1;
        if first.count == 0 {
            self.runs.pop_front();
        }
        if rest > 0 {
            self.runs.push_front(Run { size: rest, count: 1 });
        }
        self.bytes = self.bytes.saturating_sub(part);
        Some(part as u16)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_keep_their_bounds() {
        let mut q = SendQueue::new(10_000);
        [300, 300, 2500, 40].into_iter().for_each(|n| q.push(n));
        let parts: Vec<u16> = std::iter::from_fn(|| q.pop(1000)).collect();
        assert_eq!(parts, [300, 300, 1000, 1000, 500, 40]);
        assert!(q.is_empty());
    }

    #[test]
    fn a_full_queue_refuses_but_an_empty_one_takes_any_transfer() {
        let mut q = SendQueue::new(1000);
        [600, 600, 600].into_iter().for_each(|n| q.push(n));
        assert_eq!(std::iter::from_fn(|| q.pop(1000)).count(), 2);
        q.push(1 << 62);
        q.push(5);
        assert_eq!((q.pop(1000), q.pop(1000), q.bytes), (Some(1000), Some(1000), (1 << 62) - 2000));
        q.clear();
        assert_eq!(q.pop(1000), None);
    }

    /// A source that writes faster than is sent costs no memory while its packets are equal.
    #[test]
    fn equal_writes_are_counted() {
        let mut q = SendQueue::new(u64::MAX);
        (0..100_000).for_each(|_| q.push(100));
        assert_eq!((q.runs.len(), q.bytes), (1, 10_000_000));
    }
}
