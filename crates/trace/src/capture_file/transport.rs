//! Headers of TCP and UDP (RFC 9293, RFC 768).

use super::tunnel::PORTS;
use super::{Decoded, Rest, peel};
use fairlane_net::flag;

/// An address with a port; IPv4 in the last four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// IP address.
    pub address: [u8; 16],
    /// True for IPv6.
    pub six: bool,
    /// Port.
    pub port: u16,
}

/// Headers of a segment or datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Source.
    pub from: End,
    /// Destination.
    pub to: End,
    /// True for TCP, false for UDP.
    pub tcp: bool,
    /// ECN field.
    pub ecn: u8,
    /// Payload bytes, by the lengths in the headers.
    pub payload: u32,
    /// Length of the IP packet.
    pub length: u32,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags as in the header, without URG, which is not modelled.
    pub flags: u8,
    /// Window as in the header.
    pub window: u16,
    /// Window scale option of a SYN, if present.
    pub scale: Option<u8>,
    /// True if the whole transport header was captured; otherwise there are at most ports.
    pub whole: bool,
    /// Fragment of a packet, identified by addresses and identification.
    pub fragment: Option<Fragment>,
}

/// Position of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identification of the packet.
    pub id: u32,
    /// True for the first fragment, which has ports.
    pub first: bool,
}

/// Facts of the IP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) ends: [End; 2],
    pub(super) ecn: u8,
    pub(super) fragment: Option<Fragment>,
    /// Length of the IP packet.
    pub(super) length: u32,
}

/// Decodes a transport header, and what a tunnel over UDP carries.
pub(super) fn transport(place: Place, tcp: bool, rest: Rest<'_>, depth: u8) -> Decoded {
    read(place, tcp, rest, depth).unwrap_or_else(|end| end)
}

fn read(place: Place, tcp: bool, rest: Rest<'_>, depth: u8) -> Result<Decoded, Decoded> {
    let Place { ends: [mut from, mut to], ecn, fragment, length } = place;
    let payload = rest.length;
    let none = Headers { from, to, tcp, ecn, payload, length, seq: 0, ack: 0, flags: 0, window: 0, scale: None, whole: false, fragment };
    if fragment.is_some_and(|f| !f.first) {
        return Ok(Decoded::Headers(none));
    }
    (from.port, to.port) = match (rest.short(0), rest.short(2)) {
        (Ok(from), Ok(to)) => (from, to),
        _ if tcp => return Err(Decoded::Damaged),
        _ => return Err(Decoded::Portless { payload: payload.saturating_sub(8), length }),
    };
    if !tcp {
        let layer = PORTS.iter().find(|(port, _)| *port == to.port || *port == from.port);
        if let (Some(&(_, layer)), Ok(inner)) = (layer, rest.skip(8))
            && let found @ Decoded::Headers(_) = peel(layer, inner, depth)
        {
            return Ok(found);
        }
        return Ok(Decoded::Headers(Headers { from, to, payload: payload.saturating_sub(8), whole: true, ..none }));
    }
    let header = usize::from(rest.byte(12)? >> 4) * 4;
    let Some(payload) = payload.checked_sub(header as u32).filter(|_| header >= 20) else { return Err(Decoded::Damaged) };
    let none = Headers { from, to, payload, ..none };
    // A header that was cut after its length has no more than that.
    let Ok(window) = rest.short(14) else { return Ok(Decoded::Headers(none)) };
    let (seq, ack, bits) = (rest.word(4)?, rest.word(8)?, rest.byte(13)?);
    let flags = bits & !0x20;
    let scale = if bits & flag::SYN != 0 { scale(rest.bytes.get(20..header.min(rest.bytes.len())).unwrap_or_default()) } else { None };
    Ok(Decoded::Headers(Headers { seq, ack, flags, window, scale, whole: true, ..none }))
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
