//! Lists of queues by number, threaded through one array: joining, leaving and rotating are a few stores.

const NONE: u32 = u32::MAX;

/// The links of all queues, before and after each; a queue is in at most one list. The last queue of a list links to the first, so that to
/// rotate is to begin with the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links(Vec<[u32; 2]>);

/// The first queue of one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE }
    }
}

impl List {
    /// The list of `links` whose first queue is `i`.
    pub(crate) fn of(i: usize) -> Self {
        Self { head: i as u32 }
    }
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
        let Some(first) = list.first() else {
            (self.0[i], list.head) = ([n, n], n);
            return;
        };
        let last = self.0[first][0];
        self.0[i] = [last, list.head];
        self.0[first][0] = n;
        self.0[last as usize][1] = n;
    }

    /// Queue `i` leaves the list that it is in.
    #[inline]
    pub(crate) fn remove(&mut self, list: &mut List, i: usize) {
        let [before, after] = self.0[i];
        if after as usize == i {
            list.head = NONE;
            return;
        }
        self.0[before as usize][1] = after;
        self.0[after as usize][0] = before;
        if list.head as usize == i {
            list.head = after;
        }
    }

    /// The first becomes the last.
    #[inline]
    pub(crate) fn rotate(&mut self, list: &mut List) {
        if let Some(first) = list.first() {
            list.head = self.0[first][1];
        }
    }

    /// The queues of a list in order.
    pub(crate) fn iter(&self, list: List) -> impl Iterator<Item = usize> {
        let mut at = list.head;
        std::iter::from_fn(move || {
            let i = at;
            (i != NONE).then(|| {
                let after = self.0[i as usize][1];
                at = if after == list.head { NONE } else { after };
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
