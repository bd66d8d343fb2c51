//! Reader of packet captures: packets of a pcap or pcapng file, and the TCP or UDP headers in each.
//!
//! Every import of captures uses it: `fairlane import` and the source `replay`. [`Reader`] takes packets from a file; [`Decoder`] removes the headers
//! of the link, of tunnels and of IP, one layer after the other. Where a packet has several IP headers, the innermost counts.

mod file;
mod ip;
mod link;
mod transport;
mod tunnel;
mod wlan;

#[cfg(test)]
mod tests;

pub use file::{FileError, Packet, Reader, is};
pub use transport::{End, Fragment, Headers};

use std::collections::HashMap;
use wlan::Mac;

/// Most layers of a packet.
const LAYERS: u8 = 24;
/// Most senders of an 802.11 capture whose last sequence numbers are remembered.
const STATIONS: usize = 1 << 14;

/// Result of decoding a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// TCP or UDP.
    Headers(Headers),
    /// Another protocol over IP.
    Ip {
        /// Bytes after the IP header.
        payload: u32,
        /// Length of the IP packet.
        length: u32,
    },
    /// UDP whose ports were not captured.
    Portless {
        /// Bytes after the UDP header.
        payload: u32,
        /// Length of the IP packet.
        length: u32,
    },
    /// Another protocol.
    Other,
    /// Truncated before the end of its headers, or inconsistent.
    Damaged,
    /// Unknown link type.
    Unknown,
    /// 802.11 frame whose contents are encrypted.
    Protected,
    /// 802.11 frame that repeats the one before, because its sender received no acknowledgment.
    Repeated,
}

/// A header, by which the rest of a packet begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Ethernet,
    /// Header that an `EtherType` stands for.
    Type(u16),
    Llc,
    Ppp,
    Hdlc,
    Ip,
    Gre,
    Mpls,
    Vxlan,
    Geneve,
    Gtp,
}

/// Next layer, or the result.
type Step<'a> = Result<(Layer, Rest<'a>), Decoded>;

/// A packet from some header on.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    bytes: &'a [u8],
    /// Length on the wire.
    length: u32,
}

impl<'a> Rest<'a> {
    fn byte(&self, at: usize) -> Result<u8, Decoded> {
        self.bytes.get(at).copied().ok_or(Decoded::Damaged)
    }

    fn short(&self, at: usize) -> Result<u16, Decoded> {
        self.bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]])).ok_or(Decoded::Damaged)
    }

    fn word(&self, at: usize) -> Result<u32, Decoded> {
        self.bytes.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).ok_or(Decoded::Damaged)
    }

    /// The packet after `n` bytes.
    fn skip(&self, n: usize) -> Result<Self, Decoded> {
        let bytes = self.bytes.get(n..).ok_or(Decoded::Damaged)?;
        Ok(Self { bytes, length: self.length.saturating_sub(n as u32) })
    }

    /// The first `n` bytes.
    fn first(&self, n: usize) -> Self {
        Self { bytes: self.bytes.get(..n).unwrap_or(self.bytes), length: self.length.min(n as u32) }
    }
}

/// Removes headers until TCP or UDP, or a protocol without any.
fn peel(mut layer: Layer, mut rest: Rest<'_>, mut depth: u8) -> Decoded {
    while depth > 0 {
        depth -= 1;
        let step = match layer {
            Layer::Ethernet => link::ethernet(rest),
            Layer::Type(kind) => link::ether_type(kind, rest),
            Layer::Llc => link::llc(rest),
            Layer::Ppp => link::ppp(rest),
            Layer::Hdlc => link::hdlc(rest),
            Layer::Ip => return ip::decode(rest, depth),
            Layer::Gre => tunnel::gre(rest),
            Layer::Mpls => tunnel::mpls(rest),
            Layer::Vxlan => tunnel::vxlan(rest),
            Layer::Geneve => tunnel::geneve(rest),
            Layer::Gtp => tunnel::gtp(rest),
        };
        match step {
            Ok(next) => (layer, rest) = next,
            Err(end) => return end,
        }
    }
    Decoded::Other
}

/// Decodes packets one after the other.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Last sequence number by sender, receiver and traffic class.
    stations: HashMap<([u8; 12], u8), u16>,
    /// Packets of the last frame.
    found: Vec<(Decoded, u32)>,
}

impl Decoder {
    /// Decodes a frame. An aggregate of 802.11 (A-MSDU) has several packets, each with its part of the frame's length; other frames have one.
    ///
    /// `length`: on the wire, from the first byte of `bytes` on.
    pub fn decode(&mut self, link_type: u32, bytes: &[u8], length: u32) -> &[(Decoded, u32)] {
        self.found.clear();
        let whole = Rest { bytes, length };
        match link::start(link_type, whole) {
            Err(end) => self.found.push((end, length)),
            Ok(link::Start::Layer(layer, rest)) => self.found.push((peel(layer, rest, LAYERS), length)),
            Ok(link::Start::Wlan(rest, radio)) => match wlan::frame(rest, radio) {
                Err(end) => self.found.push((end, length)),
                Ok(frame) if self.repeats(&frame.mac) => self.found.push((Decoded::Repeated, length)),
                Ok(frame) if frame.aggregate => wlan::aggregate(frame.body, length, &mut self.found),
                Ok(frame) => self.found.push((peel(Layer::Llc, frame.body, LAYERS), length)),
            },
        }
        &self.found
    }

    /// True if a frame is the same packet as the one before (IEEE Std 802.11-2020, clause 10.3.2.14): it has the bit Retry and the same number.
    fn repeats(&mut self, mac: &Mac) -> bool {
        if self.stations.len() >= STATIONS {
            self.stations.clear();
        }
        let before = self.stations.insert((mac.ends, mac.class), mac.number);
        mac.retry && before == Some(mac.number)
    }
}

/// Numbers of link types that cannot be decoded, with their names.
const NAMES: [(u32, &str); 16] = [
    (6, "IEEE 802.5 Token Ring"),
    (8, "SLIP"),
    (10, "FDDI"),
    (107, "Frame Relay"),
    (147, "private use"),
    (187, "Bluetooth HCI H4"),
    (189, "USB"),
    (195, "IEEE 802.15.4"),
    (201, "Bluetooth HCI H4"),
    (220, "USB"),
    (227, "CAN"),
    (230, "IEEE 802.15.4"),
    (239, "netfilter log"),
    (249, "USBPcap"),
    (253, "netlink"),
    (272, "Bluetooth LE"),
];
/// Link types that can be decoded.
const KNOWN: &str = "Ethernet, PPP, Cisco HDLC, 802.11, raw IP, BSD loopback and Linux cooked";

/// Says that a link type cannot be decoded, and what can.
#[must_use]
pub fn unsupported(link_type: u32) -> String {
    let name = NAMES.iter().find(|(n, _)| *n == link_type).map_or_else(String::new, |(_, name)| format!(" ({name})"));
    format!("link type {link_type}{name} is not supported: capture at an interface of {KNOWN}")
}
