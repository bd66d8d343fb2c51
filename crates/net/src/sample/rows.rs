//! Rows of words that grow instant by instant, kept as what changes from one instant to the next: most rows of most instants are as they were, and cost nothing.

use std::io;

/// Bytes of a row that has changed: how many rows before it have not, which words have, which of them take eight bytes and not four, and the words.
const MOST: usize = 3 + 8 * WORDS;
/// Most words of a row.
pub(crate) const WORDS: usize = 7;
/// So many rows passed over, and none behind them.
const FAR: u8 = u8::MAX;
/// Bytes that are put together before they go to the shelf.
const ROOM: usize = 1 << 12;

/// What is written down of the rows of an instant: in the order of their numbers those that have changed.
#[derive(Clone, Debug)]
pub(crate) struct Rows<const N: usize> {
    /// The words of the last instant.
    before: Vec<[u64; N]>,
    /// The bytes of this one that have not gone to the shelf.
    room: Vec<u8>,
    filled: usize,
    /// The row behind the last one that was written down.
    next: usize,
}

impl<const N: usize> Rows<N> {
    pub(crate) fn new() -> Self {
        const { assert!(N <= WORDS) };
        Self { before: Vec::new(), room: vec![0; ROOM], filled: 0, next: 0 }
    }

    /// There are so many rows from now on; those that come are zero.
    pub(crate) fn set_len(&mut self, rows: usize) {
        if rows != self.before.len() {
            self.before.resize(rows, [0; N]);
        }
    }

    /// How a row is at this instant. One that is passed over is as it was.
    #[inline(always)]
    pub(crate) fn put(&mut self, row: usize, now: [u64; N], out: &mut Vec<u8>) {
        let Some(before) = self.before.get(row) else { return };
        // Not by comparing arrays, which is a call.
        if now.iter().zip(before).fold(0, |all, (a, b)| all | (a ^ b)) != 0 {
            self.write(row, &now, out);
        }
    }

    /// The same of one that has changed.
    #[inline(never)]
    fn write(&mut self, row: usize, now: &[u64; N], out: &mut Vec<u8>) {
        let mut gap = row - self.next;
        self.next = row + 1;
        if gap >= usize::from(FAR) || self.filled + MOST > self.room.len() {
            gap = make_room(&mut self.room, &mut self.filled, gap, out);
        }
        let Some(before) = self.before.get_mut(row) else { return };
        let Some(room) = self.room.get_mut(self.filled..).and_then(|room| room.first_chunk_mut::<MOST>()) else { return };
        let (mut at, mut changed, mut long) = (3, 0_u8, 0_u8);
        for (k, (&now, before)) in now.iter().zip(before).enumerate() {
            if now != *before {
                *before = now;
                let more = u8::from(now >> 32 != 0);
                if let Some(place) = room.get_mut(at..).and_then(|room| room.first_chunk_mut::<8>()) {
                    // Of a short one the next covers the rest.
                    *place = now.to_le_bytes();
                }
                at += 4 + 4 * usize::from(more);
                changed |= 1 << k;
                long |= more << k;
            }
        }
        (room[0], room[1], room[2]) = (gap as u8, changed, long);
        self.filled += at;
    }

    /// All rows of the instant have been put.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        let gap = self.before.len() - self.next;
        self.next = 0;
        let rest = make_room(&mut self.room, &mut self.filled, gap, out);
        out.push(rest as u8);
    }
}

/// Hands bytes over, and as many of the rows that are passed over as one byte does not say. Returns how many are left.
#[inline(never)]
fn make_room(room: &mut [u8], filled: &mut usize, gap: usize, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&room[..*filled]);
    *filled = 0;
    let far = usize::from(FAR);
    out.resize(out.len() + gap / far, FAR);
    gap % far
}

/// Brings rows of one instant to the next. `bytes` begin with it, and go on behind it.
pub(crate) fn follow<const N: usize>(rows: &mut [[u64; N]], bytes: &mut &[u8]) -> io::Result<()> {
    let mut next = 0;
    loop {
        let [gap] = cut(bytes)?;
        next += usize::from(gap);
        if gap == FAR {
            continue;
        }
        let Some(row) = rows.get_mut(next) else { return Ok(()) };
        next += 1;
        let [changed, long] = cut(bytes)?;
        for (k, word) in row.iter_mut().enumerate().filter(|(k, _)| changed & 1 << k != 0) {
            *word = if long & 1 << k == 0 { u64::from(u32::from_le_bytes(cut(bytes)?)) } else { u64::from_le_bytes(cut(bytes)?) };
        }
    }
}

/// The next bytes.
#[inline]
pub(crate) fn cut<const N: usize>(bytes: &mut &[u8]) -> io::Result<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>().ok_or(io::ErrorKind::UnexpectedEof)?;
    *bytes = rest;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![4 => Just(0), 2 => 0..4_u64, 1 => any::<u32>().prop_map(u64::from), 1 => any::<u64>(), 1 => Just(u64::MAX)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// What comes back is what was put in, while rows come; also of those that are far behind others, and of more than are put together at once.
        #[test]
        fn rows_come_back(
            instants in prop::collection::vec((0..2000_usize, prop::collection::vec((0..2000_usize, prop::array::uniform7(word())), 0..200)), 1..12),
        ) {
            let (mut rows, mut bytes, mut expected) = (Rows::<WORDS>::new(), Vec::new(), Vec::new());
            let mut now: Vec<[u64; WORDS]> = Vec::new();
            for (more, changes) in instants {
                now.resize((now.len() + more).min(3000), [0; WORDS]);
                rows.set_len(now.len());
                for (i, words) in changes {
                    if let Some(row) = now.get_mut(i) {
                        *row = words;
                    }
                }
                now.iter().enumerate().for_each(|(i, row)| rows.put(i, *row, &mut bytes));
                rows.end(&mut bytes);
                expected.push(now.clone());
            }
            let (mut bytes, mut got) = (&bytes[..], Vec::new());
            for instant in expected {
                got.resize(instant.len(), [0; WORDS]);
                follow(&mut got, &mut bytes).unwrap();
                prop_assert!(got == instant);
            }
            prop_assert!(bytes.is_empty());
            prop_assert!(follow(&mut got, &mut bytes).is_err());
        }
    }

    /// An instant at which nothing happens is a byte for 255 rows.
    #[test]
    fn what_does_not_change_takes_no_room() {
        let (mut rows, mut bytes) = (Rows::<2>::new(), Vec::new());
        rows.set_len(66);
        (0..66).for_each(|i| rows.put(i, [0, 0], &mut bytes));
        rows.end(&mut bytes);
        assert_eq!(bytes, [66]);
        bytes.clear();
        rows.put(65, [7, 1 << 32], &mut bytes);
        rows.end(&mut bytes);
        assert_eq!(bytes, [65, 0b11, 0b10, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    }
}
