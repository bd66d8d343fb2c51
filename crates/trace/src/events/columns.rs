//! Rows as columns in Arrow's layout: values one after the other, and a bit for each row that has one.

use super::{Batch, Kind, NONE, Row, STATES};
use fairlane_net::{Why, flag};

/// What the values of a column are; they stand one after the other in the byte order of the machine.
#[derive(Debug, PartialEq, Eq)]
pub enum Cells {
    /// Numbers of 64 bits.
    Int64,
    /// Numbers of 32 bits.
    Int32,
    /// Yes or no: one byte each.
    Bool,
    /// Places in a list of texts, 32 bits each.
    Names(Vec<String>),
}

impl Cells {
    const fn width(&self) -> usize {
        match self {
            Self::Int64 => 8,
            Self::Int32 | Self::Names(_) => 4,
            Self::Bool => 1,
        }
    }
}

/// A column of a batch.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub cells: Cells,
    /// The values; where a row has none, any.
    pub values: Vec<u8>,
    /// A bit a row, the lowest first: whether there is a value. `None`: all have one.
    pub valid: Option<Vec<u8>>,
}

/// Names of the ECN field (RFC 3168 section 5), by its value.
const ECN: [&str; 4] = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
/// Bits of the TCP header and their letters.
const FLAGS: [(u8, char); 7] =
    [(flag::SYN, 'S'), (flag::FIN, 'F'), (flag::RST, 'R'), (flag::PSH, 'P'), (flag::ACK, 'A'), (flag::ECE, 'E'), (flag::CWR, 'C')];

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn letters(flags: u8) -> String {
    FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, letter)| letter).collect()
}

/// Rows that are made into columns at a time: they stay in the nearest cache while every column takes its part.
const BLOCK: usize = 256;

macro_rules! columns {
    ($batch:ident, $row:ident; $($name:literal = $cells:ident $value:expr $(, of $texts:expr)? $(; if $has:expr)?,)*) => {{
        let len = $batch.rows.len();
        let mut all = [$(Column::with_room($name, len, Cells::$cells$(($texts))?, columns!(@has $($has)?))),*];
        for (number, block) in $batch.rows.chunks(BLOCK).enumerate() {
            let mut next = all.iter_mut();
            $(if let Some(column) = next.next() {
                fill(&mut column.values, number, block, |$row| ($value).to_ne_bytes());
                $(if let Some(valid) = &mut column.valid {
                    valid.extend(block.chunks(8).map(|eight| {
                        eight.iter().enumerate().fold(0, |byte, (i, $row)| byte | u8::from($has) << i)
                    }));
                })?
            })*
        }
        all.into_iter().collect()
    }};
    (@has) => { false };
    (@has $has:expr) => { true };
}

impl Column {
    fn with_room(name: &'static str, rows: usize, cells: Cells, bits: bool) -> Self {
        let values = vec![0; rows * cells.width()];
        Self { name, cells, values, valid: bits.then(|| Vec::with_capacity(rows.div_ceil(8))) }
    }
}

/// Stores the values of block number `number`, `N` bytes each.
#[inline]
fn fill<const N: usize>(values: &mut [u8], number: usize, block: &[Row], of: impl Fn(&Row) -> [u8; N]) {
    let (places, _) = values.get_mut(number * BLOCK * N..).unwrap_or_default().as_chunks_mut::<N>();
    for (place, row) in places.iter_mut().zip(block) {
        *place = of(row);
    }
}

/// Kinds as sets of bits, so that asking whether a row has a value is one test.
const fn set(kinds: &[Kind]) -> u16 {
    let (mut out, mut i) = (0, 0);
    while i < kinds.len() {
        out |= kinds[i].bit();
        i += 1;
    }
    out
}
const PACKET: u16 = !set(&[Kind::Timeout, Kind::Window, Kind::State]);
const QUEUE: u16 = set(&[Kind::Enqueue, Kind::Dequeue, Kind::Drop, Kind::Mark]);
const SEGMENT: u16 = set(&[Kind::Send, Kind::Retransmit, Kind::Receive, Kind::Drop]);
const WINDOW: u16 = Kind::Window.bit();

impl Row {
    #[inline]
    const fn is(&self, kinds: u16) -> bool {
        self.kind.bit() & kinds != 0
    }
}

impl Batch {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The table.
    pub fn columns(&self) -> Vec<Column> {
        columns! {
            self, r;
            "time_ps" = Int64 r.time.as_ps() as i64,
            "event" = Names r.kind as i32, of owned(Kind::NAMES.iter().copied()),
            "flow" = Names r.flow as i32, of self.names.flows.clone(),
            "link" = Names r.link as i32, of self.names.links.clone(); if r.link != NONE,
            "packet" = Int64 r.packet as i64; if r.is(PACKET),
            "back" = Bool u8::from(r.back); if r.is(PACKET),
            "length" = Int32 r.length as i32; if r.is(PACKET),
            "ecn" = Names i32::from(r.ecn), of owned(ECN); if r.is(PACKET),
            "queue_packets" = Int32 r.queue_packets as i32; if r.is(QUEUE),
            "queue_bytes" = Int64 r.queue_bytes as i64; if r.is(QUEUE),
            "reason" = Names i32::from(r.detail), of owned(Why::ALL.map(Why::name)); if r.is(Kind::Drop.bit()),
            "seq" = Int64 r.seq as i64; if r.is(SEGMENT),
            "ack" = Int64 r.ack as i64; if r.is(SEGMENT),
            "payload" = Int32 i32::from(r.payload); if r.is(SEGMENT),
            "flags" = Names i32::from(r.flags), of (0..=u8::MAX).map(letters).collect(); if r.is(SEGMENT),
            "cwnd" = Int64 r.seq as i64; if r.is(WINDOW),
            "ssthresh" = Int64 r.ack as i64; if r.is(WINDOW) && r.ack != u64::MAX,
            "state" = Names i32::from(r.detail), of owned(STATES.iter().copied()); if r.is(Kind::State.bit()),
        }
    }
}
