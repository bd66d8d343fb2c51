//! Templates for blocks of TCP packets without options, or with timestamps alone, of one flow in one direction at one capture point.
//!
//! Most bytes of such a block equal those of the previous one. They are kept with the sums of the constant parts (RFC 1071 section 2(A): the order of adding does
//! not matter), so a packet takes a copy, some stores and two sums. A template is made from the first block of its kind, so only `frame` defines the headers.

use super::frame::{ETHERNET, FlowFacts, IPV4, IPV6, NO_SHIFT, TCP, checksum, identification, isn, store, tcp_word, words};
use super::{BLOCK, BLOCK_HEAD, word};
use fairlane_net::{Packet, Proto, Segment, flag, fold};

/// Longest block of a template: IPv6 with timestamps, padded, the flags and the end.
const ROOM: usize = BLOCK_HEAD + (ETHERNET + IPV6 + TCP + STAMPS).next_multiple_of(4) + 16;
/// Length of an IPv4 block, and the excess of an IPv6 block.
const FRONT: usize = BLOCK_HEAD + (ETHERNET + IPV4 + TCP + STAMPS).next_multiple_of(4) + 16;
const REST: usize = ROOM - FRONT;
/// The timestamps option with its padding (RFC 7323 appendix A).
const STAMPS: usize = 12;
/// Fewest and most templates kept: two for each flow, if possible.
const FEWEST: usize = 16;
const MOST: usize = 4096;

/// Common properties of the packets of a template, in two words, so a comparison is two tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Flow, direction, and number of the tap.
    place: u64,
    /// Hop, connection, class, ECN, tap at a port, and timestamps.
    kind: u64,
}

impl Key {
    /// Matches no packet: ECN fields have two bits.
    const NONE: Self = Self { place: u64::MAX, kind: u64::MAX };

    /// Key of a packet, if it can have a template.
    #[inline]
    pub(super) fn of(tap: usize, of_port: bool, pkt: &Packet, seg: &Segment) -> Option<Self> {
        if pkt.proto != Proto::Tcp || seg.sack_len() > 0 || seg.has(flag::SYN) {
            return None;
        }
        let place = (tap as u64) << 33 | u64::from(pkt.flow.0) << 1 | u64::from(pkt.back);
        let marks = (pkt.ecn as u64) << 2 | u64::from(of_port) << 1 | u64::from(seg.timestamps().is_some());
        Some(Self { place, kind: u64::from(pkt.hop) << 32 | u64::from(pkt.conn) << 16 | u64::from(pkt.class.0) << 8 | marks })
    }

    const fn stamps(self) -> bool {
        self.kind & 1 != 0
    }
}

/// A block with the sums of the constant parts of its headers.
#[derive(Clone, Debug)]
pub(super) struct Template {
    key: Key,
    /// Output file and interface.
    pub(super) file: u32,
    pub(super) interface: u32,
    image: [u8; ROOM],
    total: usize,
    network: u64,
    transport: u64,
    isn: [u32; 2],
    shift: u32,
}

/// Last template of each kind, unless its slot was taken by another.
#[derive(Debug)]
pub(super) struct Templates(Vec<Template>);

impl Templates {
    pub(super) fn new(flows: usize) -> Self {
        let none =
            Template { key: Key::NONE, file: 0, interface: 0, image: [0; ROOM], total: 0, network: 0, transport: 0, isn: [0; 2], shift: 0 };
        Self(vec![none; (2 * flows).next_power_of_two().clamp(FEWEST, MOST)])
    }

    #[inline]
    fn place(&mut self, key: &Key) -> Option<&mut Template> {
        // The directions of a flow are adjacent; other capture points of its packets are at an even distance, or directions would collide.
        let n = (key.place as usize).wrapping_add((key.place >> 33) as usize * 74) & (self.0.len() - 1);
        self.0.get_mut(n)
    }

    /// Template of a kind, if known.
    #[inline]
    pub(super) fn known(&mut self, key: &Key) -> Option<&Template> {
        self.place(key).filter(|f| f.key == *key).map(|f| &*f)
    }

    /// Keeps the block of a packet as the template of its kind.
    #[cold]
    pub(super) fn keep<const SIX: bool>(&mut self, block: &[u8], key: Key, (file, interface): (u32, u32), pkt: &Packet, facts: &FlowFacts) {
        let Some(template) = self.place(&key) else { return };
        let (Some(image), ip) = (template.image.get_mut(..block.len()), BLOCK_HEAD + ETHERNET) else { return };
        image.copy_from_slice(block);
        let tcp = ip + if SIX { IPV6 } else { IPV4 };
        let add =
            |from: usize, to: usize| block[from..to].chunks_exact(2).map(|two| u64::from(two[0]) << 8 | u64::from(two[1])).sum::<u64>();
        // Without length, identification and checksum; IPv6 has no checksum.
        template.network = if SIX { 0 } else { add(ip, ip + 2) + add(ip + 6, ip + 10) + add(ip + 12, tcp) };
        let addresses = add(if SIX { ip + 8 } else { ip + 12 }, tcp);
        // The pseudo-header without the length, ports, and the kind of the option.
        let option = if key.stamps() { add(tcp + TCP, tcp + TCP + 4) } else { 0 };
        template.transport = addresses + u64::from(super::frame::IP_TCP) + add(tcp, tcp + 4) + option;
        template.isn = [isn(pkt.flow.0, pkt.conn, pkt.back), isn(pkt.flow.0, pkt.conn, !pkt.back)];
        template.shift = if facts.shift == NO_SHIFT { 0 } else { u32::from(facts.shift) };
        (template.total, template.key, template.file, template.interface) = (block.len(), key, file, interface);
    }
}

impl Template {
    /// Calls [`Self::write`] for IPv6 out of line: its setup would cost every packet.
    #[inline(never)]
    pub(super) fn write_six(&self, out: &mut [u8; BLOCK], ns: u64, pkt: &Packet, seg: &Segment) -> Option<usize> {
        self.write::<true>(out, ns, pkt, seg)
    }

    /// Writes the block of a packet and returns its length.
    #[inline(always)]
    pub(super) fn write<const SIX: bool>(&self, out: &mut [u8; BLOCK], ns: u64, pkt: &Packet, seg: &Segment) -> Option<usize> {
        // In two pieces: one of this length would be a call.
        *out.first_chunk_mut::<FRONT>()? = *self.image.first_chunk::<FRONT>()?;
        if SIX {
            *out.get_mut(FRONT..)?.first_chunk_mut::<REST>()? = *self.image.last_chunk::<REST>()?;
        }
        let network = if SIX { IPV6 } else { IPV4 };
        let ip = BLOCK_HEAD + ETHERNET;
        let tcp = ip + network;
        let header = TCP + if self.key.stamps() { STAMPS } else { 0 };
        let inner = header as u32 + u32::from(seg.payload);
        word(out, 12, (ns >> 32) as u32);
        word(out, 16, ns as u32);
        word(out, 24, (ETHERNET as u32 + network as u32 + inner).max(ETHERNET as u32 + pkt.len));
        if SIX {
            store(out, ip + 4, (inner as u16).to_be_bytes());
        } else {
            let (length, id) = ((IPV4 as u32 + inner) as u16, identification(seg));
            store(out, ip + 2, length.to_be_bytes());
            store(out, ip + 4, id.to_be_bytes());
            store(out, ip + 10, checksum(self.network + u64::from(length) + u64::from(id)).to_be_bytes());
        }
        let seq = fold(seg.seq, self.isn[0]);
        let ack = if seg.has(flag::ACK) { fold(seg.ack, self.isn[1]) } else { 0 };
        let fourth = tcp_word(seg, header, self.shift);
        let mut sum = self.transport + u64::from(inner) + words(seq) + words(ack) + words(fourth);
        store(out, tcp + 4, seq.to_be_bytes());
        store(out, tcp + 8, ack.to_be_bytes());
        store(out, tcp + 12, fourth.to_be_bytes());
        if let Some((val, ecr)) = seg.timestamps() {
            store(out, tcp + TCP + 4, val.to_be_bytes());
            store(out, tcp + TCP + 8, ecr.to_be_bytes());
            sum += words(val) + words(ecr);
        }
        store(out, tcp + 16, checksum(sum).to_be_bytes());
        Some(self.total)
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
