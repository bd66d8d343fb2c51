//! Rows and columns that grow instant by instant: kept as what changes from one instant to the next, in memory while that is little and
//! in a temporary file beyond it. So a long run that samples needs no more memory than a short one, and hardly more time.

use super::rows::{cut, follow};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a piece: what is written at once.
const PIECE: usize = 1 << 18;
/// Bytes that stay in memory: a short run needs no file.
const MEMORY: usize = 1 << 22;
/// Numbers that share a byte which says what of them has changed.
const GROUP: usize = 8;

/// What follows for a column and an instant.
const SAME: u8 = 0;
/// One number, which all rows have.
const ONE: u8 = 1;
/// A byte a group that says what has changed, and for groups with changes one more that says which numbers take eight bytes, not four.
const SOME: u8 = 2;

/// One column.
#[derive(Clone, Debug)]
struct Track {
    /// Instants that were over when it began.
    since: usize,
    /// The numbers of the last instant, in whole groups.
    before: Vec<f64>,
    /// Bytes of the piece that is being made.
    open: Vec<u8>,
}

/// Where a piece lies.
#[derive(Clone, Debug)]
enum Place {
    Memory(Arc<Vec<u8>>),
    File(u64),
}

#[derive(Clone, Debug)]
struct Piece {
    place: Place,
    /// Bytes of the rows and of each track, one behind the other.
    lengths: Vec<usize>,
}

/// A file without a name, which is gone with whoever has it open, and where it ends.
type Spill = Arc<Mutex<(File, u64)>>;

/// Rows, and columns besides. A clone shares what was written; what comes after is its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    /// What was written down of rows, of the piece that is being made.
    pub(crate) rows: Vec<u8>,
    tracks: Vec<Track>,
    pieces: Vec<Piece>,
    /// Bytes of pieces in memory.
    held: usize,
    spill: Option<Spill>,
    instants: usize,
}

impl Shelf {
    /// One more column, without numbers for the instants that are over.
    pub(crate) fn add(&mut self) {
        self.tracks.push(Track { since: self.instants, before: Vec::new(), open: Vec::new() });
    }

    /// The numbers of a column at the instant that is recorded; `now` is left in whole groups.
    pub(crate) fn put(&mut self, at: usize, now: &mut Vec<f64>) {
        let Some(track) = self.tracks.get_mut(at) else { return };
        let rows = now.len();
        now.resize(rows.next_multiple_of(GROUP), 0.0);
        track.put(rows, now);
    }

    /// The instant has all its numbers.
    pub(crate) fn end(&mut self) {
        self.instants += 1;
        if self.instants.is_multiple_of(64) && self.lengths().iter().sum::<usize>() >= PIECE {
            self.close();
        }
    }

    /// Bytes of the piece that is being made, as in [`Piece::lengths`].
    fn lengths(&self) -> Vec<usize> {
        self.open().map(<[u8]>::len).collect()
    }

    fn close(&mut self) {
        let lengths = self.lengths();
        let place = if self.held < MEMORY { None } else { self.write().ok().map(Place::File) };
        // Where no file can be written the piece stays in memory. It is put there once: a page that is touched for the first time costs as much as a sample.
        let place = place.unwrap_or_else(|| {
            let mut bytes = Vec::with_capacity(lengths.iter().sum());
            self.open().for_each(|part| bytes.extend_from_slice(part));
            self.held += bytes.len();
            Place::Memory(bytes.into())
        });
        self.rows.clear();
        self.tracks.iter_mut().for_each(|track| track.open.clear());
        self.pieces.push(Piece { place, lengths });
    }

    /// The piece that is being made: the rows, and each track.
    fn open(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&self.rows[..]).chain(self.tracks.iter().map(|t| &t.open[..]))
    }

    fn write(&mut self) -> io::Result<u64> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Arc::new(Mutex::new((tempfile::tempfile()?, 0)))),
        };
        let mut guard = spill.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        let begin = *end;
        file.seek(SeekFrom::Start(begin))?;
        for part in std::iter::once(&self.rows).chain(self.tracks.iter().map(|t| &t.open)) {
            file.write_all(part)?;
            *end += part.len() as u64;
        }
        Ok(begin)
    }

    /// The rows of the next instant, which has so many.
    pub(crate) fn instant<'a, const N: usize>(&self, reading: &'a mut RowReading, rows: usize) -> io::Result<&'a [[u64; N]]> {
        reading.words.resize(rows * N, 0);
        let (words, _) = reading.words.as_chunks_mut::<N>();
        let from = &mut reading.from;
        while from.at == from.bytes.len() {
            self.load(0, from)?;
        }
        from.follow(|bytes| follow(words, bytes))?;
        reading.instants += 1;
        Ok(words)
    }

    /// The numbers of a column at the next instants, which have so many rows each; NaN before it began.
    pub(crate) fn read(&self, at: usize, reading: &mut Reading, rows: impl Iterator<Item = usize>, out: &mut Vec<f64>) -> io::Result<()> {
        let track = self.tracks.get(at).ok_or(io::ErrorKind::NotFound)?;
        for rows in rows {
            if reading.instants < track.since {
                out.resize(out.len() + rows, f64::NAN);
            } else {
                let Reading { from, before, .. } = reading;
                while from.at == from.bytes.len() {
                    self.load(at + 1, from)?;
                }
                before.resize(rows.next_multiple_of(GROUP), 0.0);
                from.follow(|bytes| follow_column(rows, before, bytes))?;
                out.extend_from_slice(&before[..rows]);
            }
            reading.instants += 1;
        }
        Ok(())
    }

    /// The bytes of the rows, or of a column, in the next piece.
    fn load(&self, at: usize, from: &mut Taken) -> io::Result<()> {
        let next = from.pieces;
        from.pieces += 1;
        from.at = 0;
        from.bytes.clear();
        let Some(piece) = self.pieces.get(next) else {
            // Behind the last piece is the one that is being made.
            if next > self.pieces.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let track = |at: usize| self.tracks.get(at).map(|t| &t.open);
            let open = at.checked_sub(1).map_or(Some(&self.rows), track);
            from.bytes.extend_from_slice(open.ok_or(io::ErrorKind::UnexpectedEof)?);
            return Ok(());
        };
        let Some(&len) = piece.lengths.get(at) else { return Ok(()) };
        let begin: usize = piece.lengths[..at].iter().sum();
        match &piece.place {
            Place::Memory(bytes) => from.bytes.extend_from_slice(&bytes[begin..begin + len]),
            Place::File(place) => {
                let spill = self.spill.as_ref().ok_or(io::ErrorKind::NotFound)?;
                let mut guard = spill.lock().unwrap_or_else(PoisonError::into_inner);
                guard.0.seek(SeekFrom::Start(place + begin as u64))?;
                from.bytes.resize(len, 0);
                guard.0.read_exact(&mut from.bytes)?;
            }
        }
        Ok(())
    }
}

/// Whether two groups differ; by their bits, so that one NaN is as the other.
#[inline]
fn differ(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).fold(0, |all, (a, b)| all | (a.to_bits() ^ b.to_bits())) != 0
}

impl Track {
    fn put(&mut self, rows: usize, now: &[f64]) {
        self.before.resize(now.len(), 0.0);
        if !differ(now, &self.before) {
            self.open.push(SAME);
            return;
        }
        let first = now[0];
        if now[..rows].iter().all(|v| v.to_bits() == first.to_bits()) {
            self.open.push(ONE);
            self.open.extend_from_slice(&first.to_le_bytes());
            self.before[..rows].fill(first);
            return;
        }
        self.open.push(SOME);
        let begin = self.open.len();
        self.open.resize(begin + now.len() / GROUP * (2 + 8 * GROUP), 0);
        let (mut at, room) = (0, &mut self.open[begin..]);
        for (now, before) in now.chunks_exact(GROUP).zip(self.before.chunks_exact_mut(GROUP)) {
            if !differ(now, before) {
                room[at] = 0;
                at += 1;
                continue;
            }
            let head = at;
            at += 2;
            let (mut changed, mut long) = (0, 0);
            for (i, (now, before)) in now.iter().zip(before).enumerate() {
                let bits = now.to_bits();
                if bits == before.to_bits() {
                    continue;
                }
                *before = *now;
                changed |= 1 << i;
                // Whole numbers up to 2^21, and many others, have nothing in the lower half.
                if bits as u32 == 0 {
                    room[at..at + 4].copy_from_slice(&((bits >> 32) as u32).to_le_bytes());
                    at += 4;
                } else {
                    long |= 1 << i;
                    room[at..at + 8].copy_from_slice(&bits.to_le_bytes());
                    at += 8;
                }
            }
            (room[head], room[head + 1]) = (changed, long);
        }
        self.open.truncate(begin + at);
    }
}

/// How far bytes have been read.
#[derive(Clone, Debug, Default)]
struct Taken {
    /// Pieces that were taken, the bytes of the last, and how many of those are done with.
    pieces: usize,
    bytes: Vec<u8>,
    at: usize,
}

impl Taken {
    fn follow(&mut self, how: impl FnOnce(&mut &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        how(&mut rest)?;
        self.at = self.bytes.len() - rest.len();
        Ok(())
    }
}

/// How far rows have been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowReading {
    instants: usize,
    from: Taken,
    /// The words of the last instant.
    words: Vec<u64>,
}

impl RowReading {
    /// How many instants have been read.
    pub(crate) fn instants(&self) -> usize {
        self.instants
    }
}

/// How far a column has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    instants: usize,
    from: Taken,
    /// The numbers of the last instant.
    before: Vec<f64>,
}

/// Makes the numbers of one more instant of bytes.
fn follow_column(rows: usize, before: &mut [f64], b: &mut &[u8]) -> io::Result<()> {
    match cut::<1>(b)? {
        [SAME] => {}
        [ONE] => {
            let one = f64::from_le_bytes(cut(b)?);
            before[..rows].fill(one);
        }
        _ => {
            for group in before.chunks_exact_mut(GROUP) {
                let [changed] = cut(b)?;
                if changed == 0 {
                    continue;
                }
                let [long] = cut(b)?;
                for (i, value) in group.iter_mut().enumerate().filter(|(i, _)| changed & 1 << i != 0) {
                    let bits = if long & 1 << i == 0 { u64::from(u32::from_le_bytes(cut(b)?)) << 32 } else { u64::from_le_bytes(cut(b)?) };
                    *value = f64::from_bits(bits);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers as series have them: few change, some are whole, some are none.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![3 => Just(0.0), 3 => (0..5000_u32).prop_map(f64::from), 1 => any::<f64>(), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(-0.0)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// What comes back is what was put in, to the bit: while flows come and columns begin, and after a clone has gone its own way.
        #[test]
        fn columns_come_back_to_the_bit(
            instants in proptest::collection::vec((0..20_usize, proptest::collection::vec(number(), 20)), 1..40),
            late in 0..40_usize,
            parts in 1..9_usize,
        ) {
            let (mut shelf, mut spans, mut expected) = (Shelf::default(), Vec::new(), [Vec::new(), Vec::new()]);
            shelf.add();
            let mut most = 0;
            for (n, (rows, values)) in instants.iter().enumerate() {
                most = most.max(*rows); // flows come, none goes
                if n == late {
                    shelf.add();
                }
                for (at, expected) in expected.iter_mut().enumerate() {
                    if at < shelf.tracks.len() {
                        shelf.put(at, &mut values[..most].to_vec());
                        expected.extend(values[..most].iter().map(|v| v.to_bits()));
                    } else {
                        expected.extend(std::iter::repeat_n(f64::NAN.to_bits(), most));
                    }
                }
                spans.push(most);
                shelf.end();
                if n % 7 == 3 {
                    shelf.close();
                    // The way of a branch leaves no trace here.
                    let mut other = shelf.clone();
                    other.held = MEMORY;
                    other.put(0, &mut vec![1.5; most]);
                    other.end();
                    other.close();
                }
            }
            for (at, expected) in expected.iter().enumerate().take(shelf.tracks.len()) {
                // In one go, and in parts.
                for part in [spans.len(), parts] {
                    let (mut reading, mut got) = (Reading::default(), Vec::new());
                    for some in spans.chunks(part) {
                        shelf.read(at, &mut reading, some.iter().copied(), &mut got).unwrap();
                    }
                    let bits: Vec<u64> = got.into_iter().map(f64::to_bits).collect();
                    prop_assert_eq!(&bits, expected);
                }
            }
        }
    }

    /// What does not repeat goes to the file; memory stays what it was.
    #[test]
    fn a_long_series_lies_in_a_file() {
        let (mut shelf, instants) = (Shelf::default(), 20_000);
        shelf.add();
        let value = |i: usize, row: usize| ((i * 131 + row) as f64).sqrt();
        for i in 0..instants {
            shelf.put(0, &mut (0..64).map(|row| value(i, row)).collect());
            shelf.end();
        }
        assert!(shelf.held < MEMORY + 2 * PIECE, "{} bytes in memory", shelf.held);
        let written = shelf.spill.as_ref().map_or(0, |s| s.lock().unwrap().1);
        assert!(written > (instants * 64 * 7 - MEMORY) as u64, "{written} bytes in the file");
        let (mut reading, mut column) = (Reading::default(), Vec::new());
        shelf.read(0, &mut reading, std::iter::repeat_n(64, instants), &mut column).unwrap();
        assert!(shelf.read(0, &mut reading, [64].into_iter(), &mut column).is_err(), "there are no more instants");
        assert!(column.iter().enumerate().all(|(n, v)| *v == value(n / 64, n % 64)));
        assert_eq!(column.len(), 64 * instants);
    }
}
