//! A 4-ary heap.

use crate::event::{EventQueue, Key};

/// A 4-ary heap whose root may be a hole: an event that schedules its successor costs one sift.
#[derive(Clone, Debug, Default)]
pub struct QuadHeap {
    keys: Vec<Key>,
    hole: bool,
}

impl QuadHeap {
    fn sift_down(&mut self, key: Key) {
        let n = self.keys.len();
        let keys = &mut self.keys[..];
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            if first >= n {
                break;
            }
            let mut best = first;
            if first + 4 <= n {
                let c = &keys[first..first + 4];
                let a = usize::from(c[1] < c[0]);
                let b = 2 + usize::from(c[3] < c[2]);
                best = first + if c[b] < c[a] { b } else { a };
            } else {
                for j in first + 1..n {
                    if keys[j] < keys[best] {
                        best = j;
                    }
                }
            }
            if keys[best] >= key {
                break;
            }
            keys[i] = keys[best];
            i = best;
        }
        keys[i] = key;
    }

    fn fill_hole(&mut self) {
        if self.hole {
            self.hole = false;
            let last = self.keys.pop().unwrap_or(Key::NEVER);
            if !self.keys.is_empty() {
                self.sift_down(last);
            }
        }
    }
}

impl EventQueue for QuadHeap {
    fn with_slots(slots: usize) -> Self {
        Self { keys: Vec::with_capacity(slots.min(1 << 16)), hole: false }
    }

    #[inline]
    fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
            return;
        }
        let mut i = self.keys.len();
        self.keys.push(key);
        while i > 0 {
            let up = (i - 1) / 4;
            if self.keys[up] <= key {
                break;
            }
            self.keys[i] = self.keys[up];
            i = up;
        }
        self.keys[i] = key;
    }

    #[inline]
    fn pop_until(&mut self, last: Key) -> Option<Key> {
        self.fill_hole();
        let top = *self.keys.first()?;
        if top > last {
            return None;
        }
        self.hole = true;
        Some(top)
    }

    fn len(&self) -> usize {
        self.keys.len() - usize::from(self.hole)
    }
}
