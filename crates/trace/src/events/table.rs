//! Parquet table of event rows: parts in order of time, each a file that gets its name when complete.

use super::dictionary::{Few, Used};
use super::output::Form;
use super::{Kind, NONE, Names, Row, STATES};
use crate::parquet::{self, Column, Dictionary, Rows};
use fairlane_net::{DropReason, flag};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows per part.
const ROWS_OF_PART: usize = 1 << 18;
/// Rows per page.
const PAGE: usize = 1 << 14;
/// Rows converted to columns at once: they stay in the L1 cache while every column takes its part.
const BLOCK: usize = 256;

/// Names of the ECN field (RFC 3168 section 5), by its value.
const ECN: [&str; 4] = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
/// Bits of the TCP header and their letters.
const FLAGS: [(u8, char); 7] =
    [(flag::SYN, 'S'), (flag::FIN, 'F'), (flag::RST, 'R'), (flag::PSH, 'P'), (flag::ACK, 'A'), (flag::ECE, 'E'), (flag::CWR, 'C')];

fn letters(flags: u8) -> String {
    FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, letter)| letter).collect()
}

/// Validity bits of rows, and their number.
#[derive(Default)]
struct Valid {
    bits: Vec<u8>,
    there: usize,
}

impl Valid {
    /// Adds a block; `masks`: bit set of each row; `any`: union, `all`: intersection of the sets.
    fn take(&mut self, masks: &[u16], any: u16, all: u16, set: u16) {
        if any & set == 0 {
            self.bits.resize(self.bits.len() + masks.len().div_ceil(8), 0);
            return;
        }
        if all & set != 0 && masks.len().is_multiple_of(8) {
            self.bits.resize(self.bits.len() + masks.len() / 8, 0xff);
            self.there += masks.len();
            return;
        }
        for eight in masks.chunks(8) {
            let byte = eight.iter().enumerate().fold(0_u8, |byte, (i, mask)| byte | u8::from(mask & set != 0) << i);
            self.there += byte.count_ones() as usize;
            self.bits.push(byte);
        }
    }

    fn rows(&self, rows: usize) -> Rows<'_> {
        Rows { rows, valid: Some((&self.bits, self.there)) }
    }

    fn clear(&mut self) {
        self.bits.clear();
        self.there = 0;
    }
}

/// Appends the values of the rows in `set`, without branches.
#[inline]
fn gather<T: Copy + Default>(out: &mut Vec<T>, block: &[Row], (masks, all): (&[u16], u16), set: u16, of: impl Fn(&Row) -> T) {
    if set == ALL || all & set != 0 {
        out.extend(block.iter().map(of));
        return;
    }
    let begin = out.len();
    out.resize(begin + block.len() + 1, T::default());
    let (mut n, room) = (0, &mut out[begin..]);
    for (row, mask) in block.iter().zip(masks) {
        room[n] = of(row);
        n += usize::from(mask & set != 0);
    }
    out.truncate(begin + n);
}

/// Fields of a row as a bit set, so that a check is one test: one bit for its kind, and four more.
const fn set(kinds: &[Kind]) -> u16 {
    let (mut out, mut i) = (0, 0);
    while i < kinds.len() {
        out |= kinds[i].bit();
        i += 1;
    }
    out
}
const LINK: u16 = 1 << 13;
const FLOW: u16 = 1 << 14;
const SSTHRESH: u16 = 1 << 15;
const ALL: u16 = u16::MAX;
const OF_SENDERS: u16 = set(&[Kind::Timeout, Kind::Window, Kind::State, Kind::Gauge]);
const PACKET: u16 = 1 << 12;
const QUEUE: u16 = set(&[Kind::Enqueue, Kind::Dequeue, Kind::Drop, Kind::Mark]);
const SEGMENT: u16 = set(&[Kind::Send, Kind::Retransmit, Kind::Receive, Kind::Drop]);
const WINDOW: u16 = Kind::Window.bit();
const DROP: u16 = Kind::Drop.bit();
const STATE: u16 = Kind::State.bit();
const GAUGE: u16 = Kind::Gauge.bit();
const _: () = assert!(Kind::ALL.len() <= 12, "the four bits above the kinds are taken");

impl Row {
    #[inline]
    fn mask(&self) -> u16 {
        let kind = self.kind.bit();
        let ssthresh = kind & WINDOW != 0 && self.ack != u64::MAX;
        let packet = if kind & OF_SENDERS == 0 { PACKET } else { 0 };
        kind | packet
            | if self.link == NONE { 0 } else { LINK }
            | if self.flow == NONE { 0 } else { FLOW }
            | if ssthresh { SSTHRESH } else { 0 }
    }
}

macro_rules! table {
    (
        sets { $($valid:ident = $set:ident,)* }
        wide { $($wide:ident $wset:ident $wvalue:expr;)* }
        few { $($few:ident $fset:ident $fvalue:expr;)* }
        texts { $($text:ident $tset:ident $tvalue:expr;)* }
        bits { $($bit:ident $bset:ident $bvalue:expr;)* }
    ) => {
        /// Values of the current page, and dictionaries of the part.
        struct Page {
            $($valid: Valid,)*
            $($wide: Vec<i64>,)*
            $($few: (Vec<u32>, Few),)*
            $($text: (Vec<u32>, Used),)*
            $($bit: Vec<u32>,)*
        }
        /// Columns, and the sets of rows with a value.
        const SETS: &[(&str, u16)] = &[
            $((stringify!($wide), $wset),)*
            $((stringify!($few), $fset),)*
            $((stringify!($text), $tset),)*
            $((stringify!($bit), $bset),)*
        ];
        impl Page {
            fn new() -> Self {
                Self {
                    $($valid: Valid::default(),)*
                    $($wide: Vec::new(),)*
                    $($few: (Vec::new(), Few::new()),)*
                    $($text: (Vec::new(), Used::default()),)*
                    $($bit: Vec::new(),)*
                }
            }
            fn take(&mut self, block: &[Row]) {
                let (mut masks, mut any, mut all) = ([0; BLOCK], 0, u16::MAX);
                for (mask, row) in masks.iter_mut().zip(block) {
                    *mask = row.mask();
                    any |= *mask;
                    all &= *mask;
                }
                let masks = &masks[..block.len()];
                $(self.$valid.take(masks, any, all, $set);)*
                let masks = (masks, all);
                $(if any & $wset != 0 { gather(&mut self.$wide, block, masks, $wset, $wvalue); })*
                $(if any & $fset != 0 { gather(&mut self.$few.0, block, masks, $fset, $fvalue); })*
                $(if any & $tset != 0 { gather(&mut self.$text.0, block, masks, $tset, $tvalue); })*
                $(if any & $bset != 0 { gather(&mut self.$bit, block, masks, $bset, $bvalue); })*
            }
            fn clear_values(&mut self) {
                $(self.$valid.clear();)*
                $(self.$wide.clear();)*
                $(self.$few.0.clear();)*
                $(self.$text.0.clear();)*
                $(self.$bit.clear();)*
            }
            fn clear_dictionaries(&mut self) {
                $(self.$few.1.clear();)*
                $(self.$text.1.clear();)*
            }
        }
    };
}

table! {
    sets {
        flows = FLOW,
        links = LINK,
        packets = PACKET,
        queues = QUEUE,
        segments = SEGMENT,
        drops = DROP,
        windows = WINDOW,
        thresholds = SSTHRESH,
        states = STATE,
        gauges = GAUGE,
    }
    wide {
        time_ps ALL |r| r.time.as_ps() as i64;
        packet PACKET |r| r.packet as i64;
        queue_packets QUEUE |r| r.queue_packets.into();
        queue_bytes QUEUE |r| r.queue_bytes as i64;
        seq SEGMENT |r| r.seq as i64;
        ack SEGMENT |r| r.ack as i64;
        cwnd WINDOW |r| r.seq as i64;
        ssthresh SSTHRESH |r| r.ack as i64;
        value GAUGE |r| r.seq as i64;
    }
    few {
        length PACKET |r| r.length;
        payload SEGMENT |r| r.payload;
    }
    texts {
        event ALL |r| r.kind as u32;
        flow FLOW |r| r.flow;
        link LINK |r| r.link;
        ecn PACKET |r| r.ecn().into();
        reason DROP |r| r.detail.into();
        flags SEGMENT |r| r.flags.into();
        state STATE |r| r.detail.into();
        gauge GAUGE |r| r.detail.into();
    }
    bits { back PACKET |r| r.back().into(); }
}

/// Columns, in the order of the table.
const COLUMNS: [(&str, parquet::Kind, bool); 20] = {
    use parquet::Kind::{Bool, Double, Int32, Int64, Text};
    [
        ("time_ps", Int64, false),
        ("event", Text, false),
        ("flow", Text, true),
        ("link", Text, true),
        ("packet", Int64, true),
        ("back", Bool, true),
        ("length", Int32, true),
        ("ecn", Text, true),
        ("queue_packets", Int32, true),
        ("queue_bytes", Int64, true),
        ("reason", Text, true),
        ("seq", Int64, true),
        ("ack", Int64, true),
        ("payload", Int32, true),
        ("flags", Text, true),
        ("cwnd", Int64, true),
        ("ssthresh", Int64, true),
        ("state", Text, true),
        ("gauge", Text, true),
        ("value", Double, true),
    ]
};

/// Columns in order, and the kinds of rows with a value, one bit each; flow and link depend on the row itself.
pub fn columns() -> Vec<(&'static str, u16)> {
    let every = (1 << Kind::ALL.len()) - 1;
    let kinds = |set| match set {
        ALL | FLOW | LINK => every,
        PACKET => every & !OF_SENDERS,
        SSTHRESH => WINDOW,
        _ => set,
    };
    let set = |name| SETS.iter().find(|(n, _)| *n == name).map_or(ALL, |(_, set)| *set);
    COLUMNS.iter().map(|(name, ..)| (*name, kinds(set(*name)))).collect()
}

/// Texts behind the numbers in rows, by column.
pub fn texts(names: &Names) -> Vec<(&'static str, Vec<String>)> {
    let owned = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
    vec![
        ("event", owned(Kind::NAMES)),
        ("flow", names.flows.clone()),
        ("link", names.links.clone()),
        ("ecn", owned(&ECN)),
        ("reason", owned(&DropReason::ALL.map(DropReason::name))),
        ("flags", (0..=u8::MAX).map(letters).collect()),
        ("state", owned(STATES)),
        ("gauge", owned(&names.gauges())),
    ]
}

/// A table that grows in a folder.
pub(super) struct Parts {
    folder: PathBuf,
    names: Arc<Names>,
    page: Page,
    /// Rows of the page, and of the part.
    rows: (usize, usize),
    columns: [Column; COLUMNS.len()],
    parts: usize,
}

impl Parts {
    pub(super) fn new(folder: PathBuf, names: Arc<Names>) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let columns = COLUMNS.map(|(name, kind, optional)| {
            let column = Column::new(name, kind, optional);
            if matches!(name, "seq" | "ack") { column.unpacked() } else { column }
        });
        Ok(Self { folder, names, page: Page::new(), rows: (0, 0), columns, parts: 0 })
    }

    /// Completes a page.
    fn turn(&mut self) {
        let rows = std::mem::take(&mut self.rows.0);
        self.rows.1 += rows;
        let (p, all) = (&mut self.page, Rows { rows, valid: None });
        let mut scratch = Vec::new();
        let [
            time_ps,
            event,
            flow,
            link,
            packet,
            back,
            length,
            ecn,
            queue_packets,
            queue_bytes,
            reason,
            seq,
            ack,
            payload,
            flags,
            cwnd,
            ssthresh,
            state,
            gauge,
            value,
        ] = &mut self.columns;
        time_ps.with_range(all, &p.time_ps);
        for (column, rows, (values, used)) in [
            (event, all, &mut p.event),
            (flow, p.flows.rows(rows), &mut p.flow),
            (link, p.links.rows(rows), &mut p.link),
            (ecn, p.packets.rows(rows), &mut p.ecn),
            (reason, p.drops.rows(rows), &mut p.reason),
            (flags, p.segments.rows(rows), &mut p.flags),
            (state, p.states.rows(rows), &mut p.state),
            (gauge, p.gauges.rows(rows), &mut p.gauge),
        ] {
            used.place(values);
            column.places(rows, values);
        }
        for (column, rows, values) in [
            (packet, &p.packets, &p.packet),
            (queue_packets, &p.queues, &p.queue_packets),
            (queue_bytes, &p.queues, &p.queue_bytes),
            (seq, &p.segments, &p.seq),
            (ack, &p.segments, &p.ack),
            (cwnd, &p.windows, &p.cwnd),
            (ssthresh, &p.thresholds, &p.ssthresh),
        ]
        .map(|(column, valid, values)| (column, valid.rows(rows), values))
        {
            column.differences(rows, values);
        }
        for (column, rows, (values, few)) in
            [(length, p.packets.rows(rows), &mut p.length), (payload, p.segments.rows(rows), &mut p.payload)]
        {
            if few.place(values, &mut scratch) {
                column.places(rows, &scratch);
            } else {
                let values: Vec<i64> = values.iter().map(|&v| v.into()).collect();
                column.differences(rows, &values);
            }
        }
        back.bits(p.packets.rows(rows), &p.back);
        value.doubles(p.gauges.rows(rows), &p.value);
        p.clear_values();
    }

    /// Writes the part.
    fn close(&mut self) -> io::Result<()> {
        self.turn();
        let (p, names) = (&self.page, &self.names);
        let pick = |used: &Used, of: &dyn Fn(usize) -> String| -> Vec<String> { used.numbers.iter().map(|&n| of(n as usize)).collect() };
        let of = |list: &[String], n: usize| list.get(n).cloned().unwrap_or_default();
        let fixed = |list: &[&str], n: usize| list.get(n).copied().unwrap_or_default().to_owned();
        let gauges = names.gauges();
        let texts = [
            pick(&p.event.1, &|n| fixed(Kind::NAMES, n)),
            pick(&p.flow.1, &|n| of(&names.flows, n)),
            pick(&p.link.1, &|n| of(&names.links, n)),
            pick(&p.ecn.1, &|n| fixed(&ECN, n)),
            pick(&p.reason.1, &|n| fixed(&DropReason::ALL.map(DropReason::name), n)),
            pick(&p.flags.1, &|n| letters(n as u8)),
            pick(&p.state.1, &|n| fixed(STATES, n)),
            pick(&p.gauge.1, &|n| fixed(&gauges, n)),
        ];
        let [event, flow, link, ecn, reason, flags, state, gauge] =
            texts.each_ref().map(|list| Dictionary::Texts(list.iter().map(String::as_str).collect()));
        let none = || Dictionary::None;
        let (length, payload) = (Dictionary::Numbers(p.length.1.known()), Dictionary::Numbers(p.payload.1.known()));
        let dictionaries = [
            none(),
            event,
            flow,
            link,
            none(),
            none(),
            length,
            ecn,
            none(),
            none(),
            reason,
            none(),
            none(),
            payload,
            flags,
            none(),
            none(),
            state,
            gauge,
            none(),
        ];
        let name = format!("{:06}.parquet", self.parts);
        let (temporary, target) = (self.folder.join(format!(".{name}.part")), self.folder.join(&name));
        let mut bytes = Vec::new();
        parquet::write(&mut bytes, &mut self.columns, &dictionaries)?;
        let written = File::create(&temporary).and_then(|mut file| file.write_all(&bytes)).and_then(|()| fs::rename(&temporary, &target));
        if let Err(e) = written {
            // The remains are useless; if they cannot be removed, the first error is still reported.
            let _ = fs::remove_file(&temporary);
            return Err(e);
        }
        self.page.clear_dictionaries();
        self.rows.1 = 0;
        self.parts += 1;
        Ok(())
    }
}

impl Form for Parts {
    fn take(&mut self, rows: &[Row]) -> io::Result<()> {
        for block in rows.chunks(BLOCK) {
            self.page.take(block);
            self.rows.0 += block.len();
            if self.rows.0 >= PAGE {
                self.turn();
                if self.rows.1 >= ROWS_OF_PART {
                    self.close()?;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        // Every run has a table, possibly an empty one.
        if self.rows != (0, 0) || self.parts == 0 { self.close() } else { Ok(()) }
    }

    fn place(&self) -> PathBuf {
        self.folder.clone()
    }
}
