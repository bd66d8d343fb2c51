//! Recorded packets from a capture or a text file, as one list of (nanoseconds since the first packet, payload, length of the IP
//! packet).
//!
//! `fairlane_trace::capture_file` reads captures (pcap, pcapng), as for `fairlane import`. Lengths are those of the innermost IP packet. Other protocols
//! (ARP...), encrypted frames and repetitions of the 802.11 MAC are skipped.
//!
//! A text has one packet per line: its time in seconds, to the nanosecond, and its size in bytes, used for both lengths:
//! `0.001500 1200`. The first time is the start of the recording.

use fairlane_trace::capture_file::{Decoded, Decoder, FileError, Reader, is, unsupported};

/// Numbers per packet in the list.
const ENTRIES: usize = 3;

pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    if !is(bytes) {
        return text(bytes);
    }
    let mut reader = Reader::new(bytes).map_err(message)?;
    let (mut decoder, mut list, mut number) = (Decoder::default(), List::default(), 0);
    while let Some(packet) = reader.next_packet().map_err(|e| e.to_string())? {
        number += 1;
        for &(found, _) in decoder.decode(packet.link_type, packet.bytes, packet.length) {
            let (payload, length) = match found {
                Decoded::Headers(found) => (found.payload, found.length),
                Decoded::Ip { payload, length } | Decoded::Portless { payload, length } => (payload, length),
                Decoded::Damaged => return Err(format!("packet {number}: too few bytes were captured to determine its length")),
                Decoded::Unknown => return Err(format!("packet {number}: {}", unsupported(packet.link_type))),
                Decoded::Other | Decoded::Protected | Decoded::Repeated => continue,
            };
            let Some(time) = packet.time else {
                return Err(format!("packet {number} is a simple packet block, which has no time"));
            };
            list.add(time, payload, length).map_err(|why| format!("packet {number} {why}"))?;
        }
    }
    match (reader.cut, number, list.values.is_empty()) {
        (Some(cut), ..) => Err(format!("after packet {number}: {cut}")),
        (_, 0, _) => Err("it contains no packets".to_owned()),
        (_, _, true) => Err(format!("none of its {number} packets is an IP packet")),
        _ => Ok(list.values),
    }
}

fn message(error: FileError) -> String {
    match error {
        FileError::NoCapture(why) => why,
        FileError::Io(e) => e.to_string(),
    }
}

/// Packets read so far.
#[derive(Default)]
struct List {
    values: Vec<u64>,
    first: Option<i128>,
    last: i128,
}

impl List {
    fn add(&mut self, time: i128, payload: u32, ip: u32) -> Result<(), String> {
        let first = *self.first.get_or_insert(time);
        if time < self.last && time != first {
            return Err(format!("was captured {} ns before the previous one: times must not decrease", self.last - time));
        }
        let since = u64::try_from(time - first).map_err(|_| "was captured before the first: times must not decrease".to_owned())?;
        self.last = time;
        self.values.extend([since, u64::from(payload), u64::from(ip)]);
        Ok(())
    }
}

fn text(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let lines = super::lines(bytes).map_err(|_| "it is neither a capture (pcap, pcapng) nor a text file".to_owned())?;
    let mut list = List::default();
    for (i, line) in lines {
        let mut words = line.split_ascii_whitespace();
        let bad = || format!("line {i}: `{}` is not a time in seconds and a size in bytes", line.escape_debug());
        let (Some(time), Some(size), None) = (words.next(), words.next(), words.next()) else { return Err(bad()) };
        let (time, size) = (nanoseconds(time).ok_or_else(bad)?, size.parse().map_err(|_| bad())?);
        list.add(i128::from(time), size, size).map_err(|why| format!("line {i}: this packet {}", why.replace("captured", "sent")))?;
    }
    Ok(list.values)
}

/// Parses seconds with up to nine decimals, exactly.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 9 || !part.bytes().all(|b| b.is_ascii_digit()) || whole.is_empty() || !whole.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

pub(super) fn check(list: &[u64]) -> Result<(), String> {
    if !list.len().is_multiple_of(ENTRIES) {
        return Err("a packet is three numbers: nanoseconds, payload, length of the IP packet".to_owned());
    }
    let times: Vec<u64> = list.iter().step_by(ENTRIES).copied().collect();
    match times.windows(2).position(|w| w[1] < w[0]) {
        Some(i) => Err(format!("packet {} was sent before the previous one: times must not decrease", i + 2)),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "packets_tests.rs"]
mod tests;
