//! Decodes the headers of captured packets.
//!
//! Source: the list of link types of the pcap project (tcpdump.org/linktypes.html), RFC 791, RFC 8200, RFC 9293, RFC 768, IEEE 802.1Q.

use fairlane_net::flag;

/// An address with a port; IPv4 in the last four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) address: [u8; 16],
    pub(super) six: bool,
    pub(super) port: u16,
}

/// Headers of a segment or datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Headers {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) tcp: bool,
    pub(super) ecn: u8,
    /// Payload bytes, by the lengths in the headers.
    pub(super) payload: u32,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u8,
    pub(super) window: u16,
    /// Window scale option of a SYN, if present.
    pub(super) scale: Option<u8>,
    /// True if the whole transport header was captured; otherwise there are at most ports.
    pub(super) whole: bool,
    /// Fragment of a packet, identified by addresses and identification.
    pub(super) fragment: Option<Fragment>,
}

/// Position of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) id: u32,
    /// True for the first fragment, which has ports.
    pub(super) first: bool,
}

/// Result of decoding a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// TCP or UDP.
    Headers(Headers),
    /// Another protocol.
    Other,
    /// Truncated before the end of its headers, or inconsistent.
    Damaged,
    /// Unknown link type.
    Unknown,
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    b.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    b.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// Decodes a packet; `length`: on the wire, from the first byte of `bytes` on.
pub(super) fn decode(link_type: u32, bytes: &[u8], length: u32) -> Decoded {
    let skip = match link_type {
        1 => ethernet(bytes, 12),
        12 | 14 | 101 | 228 | 229 => Some(Ok(0)),
        // BSD loopback: the address family in host byte order or network byte order.
        0 | 108 => bytes.get(..4).map(|b| match u32::from_le_bytes([b[0], b[1], b[2], b[3]]) {
            2 | 10 | 24 | 28 | 30 => Ok(4),
            n if matches!(n.swap_bytes(), 2 | 10 | 24 | 28 | 30) => Ok(4),
            _ => Err(()),
        }),
        113 => ethernet(bytes, 14),
        276 => match u16_at(bytes, 0) {
            Some(0x0800 | 0x86dd) => Some(Ok(20)),
            Some(0x8100 | 0x88a8) => ethernet(bytes, 20 + 2),
            Some(_) => Some(Err(())),
            None => None,
        },
        _ => return Decoded::Unknown,
    };
    let skip = match skip {
        None => return Decoded::Damaged,
        Some(Err(())) => return Decoded::Other,
        Some(Ok(skip)) => skip,
    };
    let Some(ip) = bytes.get(skip..) else { return Decoded::Damaged };
    let length = length.saturating_sub(skip as u32);
    let found = match ip.first().map(|b| b >> 4) {
        Some(4) => four(ip, length),
        Some(6) => six(ip, length),
        Some(_) => return Decoded::Other,
        None => None,
    };
    found.unwrap_or(Decoded::Damaged)
}

/// Start of IP after the EtherType at `at`, past VLAN tags; `Err`: another protocol.
fn ethernet(b: &[u8], mut at: usize) -> Option<Result<usize, ()>> {
    for _ in 0..4 {
        match u16_at(b, at)? {
            0x0800 | 0x86dd => return Some(Ok(at + 2)),
            0x8100 | 0x88a8 | 0x9100 => at += 4,
            // PPPoE: six bytes, then the protocol of PPP.
            0x8864 => return Some(if matches!(u16_at(b, at + 8)?, 0x21 | 0x57) { Ok(at + 10) } else { Err(()) }),
            _ => return Some(Err(())),
        }
    }
    Some(Err(()))
}

fn four(b: &[u8], length: u32) -> Option<Decoded> {
    let header = usize::from(b.first()? & 15) * 4;
    let (total, id, place) = (u16_at(b, 2)?, u16_at(b, 4)?, u16_at(b, 6)?);
    let (protocol, ecn) = (*b.get(9)?, b.get(1)? & 3);
    if header < 20 || (total != 0 && usize::from(total) < header) {
        return None;
    }
    // Segmentation offload leaves the IP length at zero.
    let total = if total == 0 { length } else { total.into() };
    let mut ends = [End { address: [0; 16], six: false, port: 0 }; 2];
    for (end, at) in ends.iter_mut().zip([12, 16]) {
        end.address[12..].copy_from_slice(b.get(at..at + 4)?);
    }
    let fragment = (place & 0x3fff != 0).then_some(Fragment { id: id.into(), first: place & 0x1fff == 0 });
    transport(protocol, b.get(header..).unwrap_or_default(), total.saturating_sub(header as u32), ends, ecn, fragment)
}

fn six(b: &[u8], length: u32) -> Option<Decoded> {
    let (traffic, payload) = (u32_at(b, 0)? >> 20 & 0xff, u16_at(b, 4)?);
    let mut next = *b.get(6)?;
    let mut ends = [End { address: [0; 16], six: true, port: 0 }; 2];
    for (end, at) in ends.iter_mut().zip([8, 24]) {
        end.address.copy_from_slice(b.get(at..at + 16)?);
    }
    let mut left = if payload == 0 { length.saturating_sub(40) } else { payload.into() };
    let (mut at, mut fragment) = (40, None);
    // Extension headers (RFC 8200 section 4), more than any sender uses.
    for _ in 0..16 {
        let len = match next {
            0 | 43 | 60 | 135 => usize::from(*b.get(at + 1)?) * 8 + 8,
            51 => usize::from(*b.get(at + 1)?) * 4 + 8,
            44 => {
                let (place, id) = (u16_at(b, at + 2)?, u32_at(b, at + 4)?);
                if place & 0xfff9 != 0 {
                    fragment = Some(Fragment { id, first: place & 0xfff8 == 0 });
                }
                8
            }
            _ => break,
        };
        next = *b.get(at)?;
        at += len;
        left = left.saturating_sub(len as u32);
        if fragment.is_some_and(|f| !f.first) {
            break;
        }
    }
    transport(next, b.get(at..).unwrap_or_default(), left, ends, (traffic & 3) as u8, fragment)
}

fn transport(protocol: u8, b: &[u8], length: u32, [mut from, mut to]: [End; 2], ecn: u8, fragment: Option<Fragment>) -> Option<Decoded> {
    if protocol != 6 && protocol != 17 {
        return Some(Decoded::Other);
    }
    let tcp = protocol == 6;
    let none = Headers { from, to, tcp, ecn, payload: length, seq: 0, ack: 0, flags: 0, window: 0, scale: None, whole: false, fragment };
    if fragment.is_some_and(|f| !f.first) {
        return Some(Decoded::Headers(none));
    }
    (from.port, to.port) = (u16_at(b, 0)?, u16_at(b, 2)?);
    if !tcp {
        return Some(Decoded::Headers(Headers { from, to, payload: length.saturating_sub(8), whole: true, ..none }));
    }
    let (seq, ack, window) = (u32_at(b, 4)?, u32_at(b, 8)?, u16_at(b, 14)?);
    let (header, bits) = (usize::from(b.get(12)? >> 4) * 4, *b.get(13)?);
    if header < 20 || header as u32 > length {
        return None;
    }
    // Flags as in the header, without URG, which is not modelled.
    let flags = bits & !0x20;
    let scale = if bits & flag::SYN != 0 { scale(b.get(20..header.min(b.len())).unwrap_or_default()) } else { None };
    let payload = length - header as u32;
    Some(Decoded::Headers(Headers { from, to, payload, seq, ack, flags, window, scale, whole: true, ..none }))
}

/// Window scale option (RFC 7323 section 2).
fn scale(mut options: &[u8]) -> Option<u8> {
    while let [kind, rest @ ..] = options {
        options = match (kind, rest) {
            (0, _) => return None,
            (1, rest) => rest,
            (3, [3, shift, ..]) => return Some(*shift),
            (_, [len, ..]) => options.get(usize::from(*len).max(2)..)?,
            _ => return None,
        };
    }
    None
}
