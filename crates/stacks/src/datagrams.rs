//! Datagrams on their way between both ends of a flow.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Numbers that are kept behind the newest one. A datagram that arrives later than this many others is lost.
const KEPT: usize = 1 << 16;
/// Buffers kept for reuse.
const SPARE: usize = 64;

/// Datagrams of a flow by direction and number, and the records of its stacks. Both ends share it, and captures read it.
///
/// To store and to take a datagram costs the same however many there are. A datagram that is dropped on its way stays until 65,536 others have been sent,
/// as bytes of those that were dropped and no more.
#[derive(Debug, Default)]
pub struct Datagrams {
    ways: [Mutex<Way>; 2],
    keys: Mutex<String>,
    /// Documents by the end that writes them, empty unless they are asked for.
    logs: [Mutex<Option<Vec<u8>>>; 2],
}

/// Datagrams of one direction.
#[derive(Debug, Default)]
struct Way {
    /// Number of the first one in `kept`.
    first: u64,
    kept: VecDeque<Option<Vec<u8>>>,
    spare: Vec<Vec<u8>>,
}

fn open<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    // A stack that panics ends its run; what lies here is whole at any time.
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Datagrams {
    /// Stores the datagram that `fill` writes into an empty buffer; `None` if it has none. Returns its number, its length and what `fill` returned.
    pub fn put<T>(&self, back: bool, fill: impl FnOnce(&mut Vec<u8>) -> Option<T>) -> Option<(u64, usize, T)> {
        let mut buffer = open(&self.ways[usize::from(back)]).spare.pop().unwrap_or_default();
        buffer.clear();
        let done = fill(&mut buffer);
        let mut way = open(&self.ways[usize::from(back)]);
        let Some(done) = done else {
            way.spare.push(buffer);
            return None;
        };
        let len = buffer.len();
        way.kept.push_back(Some(buffer));
        let gone = |w: &Way| w.kept.len() > KEPT || matches!(w.kept.front(), Some(None));
        while gone(&way) {
            if let Some(old) = way.kept.pop_front().flatten() {
                way.keep_spare(old);
            }
            way.first += 1;
        }
        let number = way.first + way.kept.len() as u64 - 1;
        Some((number, len, done))
    }

    /// Takes a datagram out; `None` if it was taken before (a copy made on the way) or is too old.
    pub fn take(&self, back: bool, number: u64) -> Option<Vec<u8>> {
        let mut way = open(&self.ways[usize::from(back)]);
        let place = number.checked_sub(way.first)?;
        way.kept.get_mut(usize::try_from(place).ok()?)?.take()
    }

    /// Returns the buffer of a datagram that was taken, for reuse.
    pub fn give(&self, back: bool, buffer: Vec<u8>) {
        open(&self.ways[usize::from(back)]).keep_spare(buffer);
    }

    /// Shows a datagram on its way to `look`.
    pub fn look<T>(&self, back: bool, number: u64, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let way = open(&self.ways[usize::from(back)]);
        let place = usize::try_from(number.checked_sub(way.first)?).ok()?;
        way.kept.get(place)?.as_deref().map(look)
    }

    /// Datagrams on their way in one direction, those that were dropped included.
    pub fn waiting(&self, back: bool) -> usize {
        open(&self.ways[usize::from(back)]).kept.iter().flatten().count()
    }

    /// Appends a line to the key log.
    pub fn log_key(&self, line: &str) {
        let mut keys = open(&self.keys);
        keys.push_str(line);
        keys.push('\n');
    }

    /// The key log from the given byte on, in the format of NSS, by which Wireshark decrypts.
    pub fn keys_from(&self, from: usize) -> String {
        open(&self.keys).get(from..).unwrap_or_default().to_owned()
    }

    /// Asks both ends for their own logs; before the connection begins.
    pub fn want_logs(&self) {
        self.logs.iter().for_each(|l| *open(l) = Some(Vec::new()));
    }

    /// True if logs are asked for.
    pub fn wants_logs(&self) -> bool {
        open(&self.logs[0]).is_some()
    }

    /// Appends to the log of an end.
    pub fn log(&self, receives: bool, bytes: &[u8]) {
        if let Some(log) = open(&self.logs[usize::from(receives)]).as_mut() {
            log.extend_from_slice(bytes);
        }
    }

    /// Takes the log of an end.
    pub fn take_log(&self, receives: bool) -> Vec<u8> {
        open(&self.logs[usize::from(receives)]).take().unwrap_or_default()
    }
}

impl Way {
    fn keep_spare(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE {
            self.spare.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(d: &Datagrams, byte: u8) -> u64 {
        let (number, len, ()) = d
            .put(false, |b| {
                b.push(byte);
                Some(())
            })
            .unwrap();
        assert_eq!(len, 1);
        number
    }

    #[test]
    fn datagrams_are_taken_once_in_any_order() {
        let d = Datagrams::default();
        let numbers: Vec<u64> = (0..4).map(|i| put(&d, i)).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert_eq!(d.look(false, 2, <[u8]>::to_vec), Some(vec![2]));
        assert_eq!((d.take(false, 2), d.take(false, 2), d.take(true, 1)), (Some(vec![2]), None, None));
        assert_eq!((d.take(false, 0), d.take(false, 3)), (Some(vec![0]), Some(vec![3])));
        assert_eq!(put(&d, 9), 4);
        assert_eq!(d.take(false, 1), Some(vec![1]));
        assert_eq!(d.waiting(false), 1);
    }

    /// One in ten is lost: what is kept is bounded by the window, however many are sent.
    #[test]
    fn lost_datagrams_do_not_pile_up() {
        let d = Datagrams::default();
        for i in 0..4 * KEPT as u64 {
            let n = put(&d, 0);
            assert_eq!(n, i);
            if i % 10 != 0 {
                assert!(d.take(false, n).is_some());
            }
        }
        assert!(d.waiting(false) <= KEPT / 10 + 1);
        assert_eq!(d.take(false, 0), None);
    }

    #[test]
    fn nothing_is_stored_if_nothing_is_sent() {
        let d = Datagrams::default();
        assert_eq!(d.put(true, |_| None::<()>), None);
        assert_eq!((d.waiting(true), put(&d, 1)), (0, 0));
    }
}
