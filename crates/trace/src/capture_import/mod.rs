//! Imports packet captures, real or simulated, as event tables.
//!
//! A capture has one point: each packet is sent and received there in the same instant. The file is read twice: first for the flows and their
//! data directions, then for the rows. Memory holds the flows, whose number is bounded, and one page of the table.

mod remarks;
mod tcp;
#[cfg(test)]
mod tests;

use crate::capture_file::{Decoded, Decoder, End, FileError, Headers, Reader};
use crate::events::{CapturedPacket, Import};
use remarks::remarks;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use tcp::{Connection, SegmentAnalysis};

/// Most flows; packets of further ones are counted.
const FLOWS: usize = 1 << 16;
/// Most packets with pending fragments.
const FRAGMENTS: usize = 1 << 12;
/// Packets between two checks of the stop request.
const LOOKS: u64 = 1 << 15;
/// Longest span in nanoseconds: what picoseconds in 64 bits can represent, with a reserve.
const LONGEST: i128 = 200 * 86_400 * 1_000_000_000;

/// A flow of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Both ends and, if ambiguous, a distinguishing number.
    pub name: String,
    /// Address of the end that sends more data.
    pub from: String,
    /// Address of the other end.
    pub to: String,
    /// True for TCP, false for UDP.
    pub tcp: bool,
    /// Packets of the flow's direction, then of the other one.
    pub packets: [u64; 2],
    /// Bytes on the wire of both directions.
    pub bytes: [u64; 2],
    /// Late segments that were not retransmitted.
    pub late: u64,
}

/// Summary of an imported capture.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Flows, in the order of their first packets.
    pub flows: Vec<Flow>,
    /// Time of the earliest packet, in nanoseconds since 1970.
    pub begin: i128,
    /// Nanoseconds from the first to the last packet.
    pub span: i128,
    /// Packets of the file.
    pub packets: u64,
    /// Packets of flows.
    pub flow_packets: u64,
    /// Remarks about the other packets.
    pub remarks: Vec<String>,
}

struct FlowState {
    ends: [End; 2],
    tcp: bool,
    /// Index of the connection between the same ends.
    turn: u32,
    packets: [u64; 2],
    bytes: [u64; 2],
    payload: [u64; 2],
    late: u64,
    /// Last reported receive window.
    window: Option<u64>,
    connection: Connection,
}

/// Why a file cannot be imported.
#[derive(Debug)]
pub enum ReadError {
    /// Reading fails.
    Io(io::Error),
    /// The file is not a supported capture.
    NoCapture(String),
    /// The output cannot be written.
    Write(io::Error),
    /// The caller asked to stop.
    Stopped,
}

impl From<io::Error> for ReadError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl From<FileError> for ReadError {
    fn from(e: FileError) -> Self {
        match e {
            FileError::Io(e) => Self::Io(e),
            FileError::NoCapture(why) => Self::NoCapture(why),
        }
    }
}

type Key = (bool, End, End);
type Whole = ([u8; 16], [u8; 16], u32);

/// Flows of a file, and counts of other packets.
#[derive(Default)]
struct Flows {
    all: Vec<FlowState>,
    now: HashMap<Key, usize>,
    /// Ports of fragmented packets, by addresses and identification.
    fragments: HashMap<Whole, (u16, u16)>,
    other: u64,
    damaged: u64,
    protected: u64,
    repeated: u64,
    unknown: BTreeMap<u32, u64>,
    more: u64,
}

fn key(f: &Headers) -> (Key, usize) {
    if f.from <= f.to { ((f.tcp, f.from, f.to), 0) } else { ((f.tcp, f.to, f.from), 1) }
}

impl Flows {
    /// Finds the flow of a packet, its direction (0: from the smaller end) and its headers; `None` if it has no flow, and it is counted.
    fn find(&mut self, decoded: Decoded, link_type: u32) -> Option<(usize, usize, Headers)> {
        let mut found = match decoded {
            Decoded::Headers(found) => found,
            other => {
                *match other {
                    Decoded::Damaged | Decoded::Portless { .. } => &mut self.damaged,
                    Decoded::Protected => &mut self.protected,
                    Decoded::Repeated => &mut self.repeated,
                    Decoded::Unknown => self.unknown.entry(link_type).or_default(),
                    _ => &mut self.other,
                } += 1;
                return None;
            }
        };
        if let Some(fragment) = found.fragment {
            let of = (found.from.address, found.to.address, fragment.id);
            if fragment.first {
                if self.fragments.len() >= FRAGMENTS {
                    self.fragments.clear();
                }
                self.fragments.insert(of, (found.from.port, found.to.port));
            } else {
                let Some(&(from, to)) = self.fragments.get(&of) else {
                    self.other += 1;
                    return None;
                };
                (found.from.port, found.to.port) = (from, to);
            }
        }
        let (key, way) = key(&found);
        let known = self.now.get(&key).copied();
        let turn = match known {
            Some(i) if !(found.tcp && found.whole && self.all[i].connection.is_other(way, &found)) => return Some((i, way, found)),
            Some(i) => self.all[i].turn + 1,
            None => 0,
        };
        if self.all.len() == FLOWS {
            self.more += 1;
            return None;
        }
        self.now.insert(key, self.all.len());
        self.all.push(FlowState {
            ends: [key.1, key.2],
            tcp: found.tcp,
            turn,
            packets: [0; 2],
            bytes: [0; 2],
            payload: [0; 2],
            late: 0,
            window: None,
            connection: Connection::default(),
        });
        Some((self.all.len() - 1, way, found))
    }
}

fn address(end: &End) -> String {
    if end.six {
        Ipv6Addr::from(end.address).to_string()
    } else {
        let [.., a, b, c, d] = end.address;
        Ipv4Addr::new(a, b, c, d).to_string()
    }
}

fn place(end: &End) -> String {
    if end.six { format!("[{}]:{}", address(end), end.port) } else { format!("{}:{}", address(end), end.port) }
}

/// Direction whose sender is the flow's: the one with more data, or the one that started.
fn leading(known: &FlowState, began: usize) -> usize {
    match known.payload[0].cmp(&known.payload[1]) {
        std::cmp::Ordering::Greater => 0,
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => began,
    }
}

/// Result of the first pass.
#[derive(Default)]
struct First {
    begin: Option<i128>,
    end: i128,
    backward: u64,
    /// Packets without a time, and those of them before the first with a time.
    timeless: u64,
    early: u64,
    packets: u64,
    cut: Option<String>,
    short: u64,
}

/// A packet of a flow.
struct Seen {
    /// Flow, and direction (0: from the smaller end).
    flow: usize,
    way: usize,
    headers: Headers,
    /// Nanoseconds since 1970.
    time: i128,
    /// Length on the wire.
    length: u32,
}

/// Passes the packets of flows to `take`.
fn each(
    file: &Path,
    flows: &mut Flows,
    goes_on: &dyn Fn() -> bool,
    mut take: impl FnMut(&mut Flows, &Seen) -> Result<(), ReadError>,
) -> Result<First, ReadError> {
    let mut reader = Reader::new(BufReader::with_capacity(1 << 16, File::open(file)?))?;
    let mut decoder = Decoder::default();
    let (mut first, mut before) = (First::default(), None);
    while let Some(packet) = reader.next_packet()? {
        first.packets += 1;
        if first.packets.is_multiple_of(LOOKS) && !goes_on() {
            return Err(ReadError::Stopped);
        }
        first.short += u64::from(packet.captured < packet.length);
        first.timeless += u64::from(packet.time.is_none());
        // A simple packet block has no time: that of the packet before, so that its data is not missing.
        let Some(time) = packet.time.or(before) else {
            first.early += 1;
            continue;
        };
        first.backward += u64::from(before.is_some_and(|before| time < before));
        before = Some(time);
        for &(decoded, length) in decoder.decode(packet.link_type, packet.bytes, packet.length) {
            if let Some((flow, way, headers)) = flows.find(decoded, packet.link_type) {
                first.begin = Some(first.begin.map_or(time, |begin| begin.min(time)));
                first.end = first.end.max(time);
                take(flows, &Seen { flow, way, headers, time, length })?;
            }
        }
    }
    first.cut = reader.cut;
    Ok(first)
}

/// Imports a capture and writes its table into a folder; stops when `goes_on` returns false.
///
/// # Errors
/// The file is not a capture or cannot be read, or the table cannot be written.
pub fn capture(file: &Path, folder: PathBuf, goes_on: &dyn Fn() -> bool) -> Result<Capture, ReadError> {
    let mut flows = Flows::default();
    let mut began = Vec::new();
    each(file, &mut flows, goes_on, |flows, seen| {
        let (known, found, way) = (&mut flows.all[seen.flow], &seen.headers, seen.way);
        if known.packets == [0; 2] {
            began.push(way);
        }
        known.packets[way] += 1;
        known.payload[way] += u64::from(found.payload);
        if found.whole && found.tcp {
            known.connection.take(way, found, seen.time);
        }
        Ok(())
    })
    .and_then(|first| {
        let leads: Vec<usize> = flows.all.iter().zip(&began).map(|(known, &began)| leading(known, began)).collect();
        second(file, folder, goes_on, (&flows, &leads), &first)
    })
}

/// Second pass: writes the rows.
fn second(
    file: &Path,
    folder: PathBuf,
    goes_on: &dyn Fn() -> bool,
    (seen, leads): (&Flows, &[usize]),
    first: &First,
) -> Result<Capture, ReadError> {
    let names = names(&seen.all, leads);
    let begin = first.begin.unwrap_or(0);
    let mut rows = Import::new(folder, names.clone()).map_err(ReadError::Write)?;
    let (mut flows, mut number, mut far) = (Flows::default(), 0, 0);
    each(file, &mut flows, goes_on, |flows, packet| {
        let &Seen { flow, way, time, .. } = packet;
        let found = &packet.headers;
        number += 1;
        if time - begin > LONGEST {
            far += 1;
            return Ok(());
        }
        let known = &mut flows.all[flow];
        let back = way != leads.get(flow).copied().unwrap_or(0);
        known.packets[usize::from(back)] += 1;
        known.bytes[usize::from(back)] += u64::from(packet.length);
        let sender = known.connection.window(way, found);
        let seen = if found.whole && found.tcp { known.connection.take(way, found, time) } else { SegmentAnalysis::default() };
        known.late += u64::from(seen.late && !back && found.payload > 0);
        let (seq, ack) = if found.whole && found.tcp { known.connection.numbers(way, found) } else { (0, 0) };
        let row = CapturedPacket {
            time_ps: (time - begin) as u64 * 1000,
            packet: number,
            flow: flow as u32,
            back,
            length: packet.length,
            ecn: found.ecn,
            seq,
            ack,
            payload: found.payload,
            flags: found.flags,
            again: seen.again && found.payload > 0,
        };
        rows.packet(&row).map_err(ReadError::Write)?;
        if let Some(rtt) = seen.rtt.filter(|_| back) {
            rows.gauge(&row, RTT, rtt as f64 / 1e9).map_err(ReadError::Write)?;
        }
        if back && found.tcp && found.whole && known.window != Some(sender) {
            known.window = Some(sender);
            rows.gauge(&row, WINDOW, sender as f64).map_err(ReadError::Write)?;
        }
        Ok(())
    })?;
    rows.end().map_err(ReadError::Write)?;
    let mut remarks = remarks(&flows, first);
    if far > 0 {
        remarks.push(format!("{far} packets are left out: their times are more than 200 days after the first"));
    }
    let found = flows
        .all
        .iter()
        .zip(leads)
        .zip(names)
        .map(|((known, &lead), name)| {
            let (from, to) = (address(&known.ends[lead]), address(&known.ends[1 - lead]));
            Flow { name, from, to, tcp: known.tcp, packets: known.packets, bytes: known.bytes, late: known.late }
        })
        .collect();
    let span = (first.end - begin).clamp(0, LONGEST);
    Ok(Capture {
        flows: found,
        begin,
        span: if first.begin.is_some() { span } else { 0 },
        packets: first.packets,
        flow_packets: number,
        remarks,
    })
}

/// Unique names of the flows.
fn names(all: &[FlowState], leads: &[usize]) -> Vec<String> {
    let ends: HashSet<[End; 2]> = all.iter().filter(|k| k.tcp).map(|k| k.ends).collect();
    let name = |(known, &lead): (&FlowState, &usize)| {
        let mut name = format!("{}-{}", place(&known.ends[lead]), place(&known.ends[1 - lead]));
        if !known.tcp && ends.contains(&known.ends) {
            name.push_str("/udp");
        }
        if known.turn > 0 {
            name.push_str(&format!("#{}", known.turn + 1));
        }
        name
    };
    all.iter().zip(leads).map(name).collect()
}

/// Gauges of flows: round-trip time of an acknowledgment, and its receive window.
const RTT: &str = "rtt";
const WINDOW: &str = "rwnd";
