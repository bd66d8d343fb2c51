//! Lists of queues by number, threaded through one array: joining, leaving and rotating are a few stores.

const NONE: u32 = u32::MAX;

/// The links of all queues; each is in at most one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links(Vec<[u32; 2]>);

/// The ends of one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    /// The first queue.
    #[inline]
    pub(crate) fn first(self) -> Option<usize> {
        (self.head != NONE).then_some(self.head as usize)
    }
}

impl Links {
    /// Links for `n` queues.
    pub(crate) fn new(n: usize) -> Self {
        Self(vec![[NONE; 2]; n])
    }

    /// One more queue.
    pub(crate) fn grow(&mut self) {
        self.0.push([NONE; 2]);
    }

    /// Queue `i`, which is in no list, becomes the last.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, i: usize) {
        let n = i as u32;
        self.0[i] = [list.tail, NONE];
        match list.tail {
            NONE => list.head = n,
            tail => self.0[tail as usize][1] = n,
        }
        list.tail = n;
    }

    /// Queue `i` leaves the list that it is in.
    #[inline]
    pub(crate) fn remove(&mut self, list: &mut List, i: usize) {
        let [before, after] = self.0[i];
        match before {
            NONE => list.head = after,
            b => self.0[b as usize][1] = after,
        }
        match after {
            NONE => list.tail = before,
            a => self.0[a as usize][0] = before,
        }
    }

    /// The first becomes the last.
    #[inline]
    pub(crate) fn rotate(&mut self, list: &mut List) {
        if list.head != list.tail {
            let i = list.head as usize;
            self.remove(list, i);
            self.push(list, i);
        }
    }

    /// The queues of a list in order.
    pub(crate) fn iter(&self, list: List) -> impl Iterator<Item = usize> {
        let mut at = list.head;
        std::iter::from_fn(move || {
            let i = at;
            (i != NONE).then(|| {
                at = self.0[i as usize][1];
                i as usize
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_engine::Stream;
    use std::collections::VecDeque;

    /// Against a plain deque, for random steps.
    #[test]
    fn behaves_like_a_deque() {
        let mut rng = Stream::new(1, "test", "lists", "");
        let (mut links, mut list, mut model) = (Links::new(8), List::default(), VecDeque::new());
        for _ in 0..5000 {
            let i = rng.below(8) as usize;
            match (rng.below(3), model.iter().position(|&x| x == i)) {
                (0, None) => {
                    links.push(&mut list, i);
                    model.push_back(i);
                }
                (1, Some(at)) => {
                    links.remove(&mut list, i);
                    model.remove(at);
                }
                (2, _) => {
                    links.rotate(&mut list);
                    let n = model.len();
                    model.rotate_left(1.min(n));
                }
                _ => {}
            }
            assert_eq!(list.first(), model.front().copied());
            assert!(links.iter(list).eq(model.iter().copied()));
        }
    }
}
