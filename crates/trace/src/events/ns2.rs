//! Rows of links as lines of ns-2's trace files, for existing awk and perl scripts.
//!
//! Source: ns-2.35 `trace/trace.cc` and the manual, chapter 26 "Trace and Monitoring Support": event, time, the two nodes of the link, type and
//! size of the packet, flags, flow, addresses of sender and receiver, sequence number, number of the packet.

use super::{Kind, Names, Row};
use fairlane_net::{Ecn, flag};
use std::io::Write;

/// Ends of a flow in a trace line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Types of data packets and of packets in the other direction.
    pub kinds: [&'static str; 2],
    /// Node and port of the sender, then of the receiver.
    pub addresses: [(u32, u32); 2],
    /// Payload bytes of a full segment; 0 if sequence numbers count packets.
    pub mss: u64,
    /// True if the connection starts with a SYN, which is packet 0.
    pub handshake: bool,
}

impl Ends {
    /// Number of the packet in the flow, or of the last one that an acknowledgment covers.
    fn number(&self, row: &Row) -> u64 {
        if self.mss == 0 {
            return row.seq;
        }
        let whole = |bytes: u64| bytes.div_ceil(self.mss);
        match (row.payload, row.back()) {
            (0, true) => whole(row.ack.saturating_sub(1)).saturating_sub(u64::from(!self.handshake)),
            (0, false) if row.flags & flag::SYN != 0 => 0,
            _ => whole(row.seq.saturating_sub(1)) + u64::from(self.handshake),
        }
    }
}

/// Event on a link, as ns-2 and nam write it.
pub(super) struct TraceLine {
    pub(super) letter: char,
    pub(super) wire: (u32, u32),
    pub(super) kind: &'static str,
    pub(super) source: (u32, u32),
    pub(super) sink: (u32, u32),
    pub(super) number: u64,
}

impl TraceLine {
    /// Creates the line; `None` if ns-2 has no line for the event.
    pub(super) fn of(names: &Names, row: &Row) -> Option<Self> {
        let letter = match row.kind {
            Kind::Enqueue => '+',
            Kind::Dequeue => '-',
            Kind::Arrive => 'r',
            Kind::Drop => 'd',
            _ => return None,
        };
        let (&wire, ends) = (names.wires.get(row.link as usize)?, names.ends.get(row.flow as usize)?);
        let [mut source, mut sink] = ends.addresses;
        if row.back() {
            std::mem::swap(&mut source, &mut sink);
        }
        let kind = ends.kinds[usize::from(row.back() && row.payload == 0)];
        Some(Self { letter, wire: (wire.from, wire.to), kind, source, sink, number: ends.number(row) })
    }
}

/// Writes the line of an event, if ns-2 has one.
pub(super) fn line(out: &mut Vec<u8>, names: &Names, row: &Row) {
    let Some(line) = TraceLine::of(names, row) else { return };
    let TraceLine { letter, wire: (from, to), kind, source, sink, number } = line;
    // Writing into memory cannot fail.
    let _ = write!(out, "{letter} ");
    time(out, row.time.as_ps());
    let _ = writeln!(
        out,
        " {from} {to} {kind} {} {} {} {}.{} {}.{} {number} {}",
        row.length,
        flags(row),
        row.flow,
        source.0,
        source.1,
        sink.0,
        sink.1,
        row.packet - 1
    );
}

/// Seconds in ns-2's format: rounded to microseconds, without trailing zeros.
fn time(out: &mut Vec<u8>, ps: u64) {
    let us = (ps + 500_000) / 1_000_000;
    let (whole, mut part, mut digits) = (us / 1_000_000, us % 1_000_000, 6);
    if part == 0 {
        let _ = write!(out, "{whole}");
        return;
    }
    while part.is_multiple_of(10) {
        part /= 10;
        digits -= 1;
    }
    let _ = write!(out, "{whole}.{part:0digits$}");
}

/// ECN flags in ns-2's format: echo, window reduced, congestion experienced, capable.
pub(super) fn flags(row: &Row) -> &'static str {
    const ALL: [&str; 16] = [
        "-------", "------N", "----E--", "----E-N", "---A---", "---A--N", "---AE--", "---AE-N", "C------", "C-----N", "C---E--", "C---E-N",
        "C--A---", "C--A--N", "C--AE--", "C--AE-N",
    ];
    let syn = row.flags & flag::SYN != 0;
    let echo = !syn && row.flags & flag::ECE != 0;
    let reduced = !syn && row.flags & flag::CWR != 0;
    let seen = row.ecn() == Ecn::Ce as u8;
    let capable = row.ecn() != Ecn::NotEct as u8;
    ALL[usize::from(echo) << 3 | usize::from(reduced) << 2 | usize::from(seen) << 1 | usize::from(capable)]
}
