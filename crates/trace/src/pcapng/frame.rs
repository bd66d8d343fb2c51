//! Wire format of a simulated packet: Ethernet II, IPv4 (RFC 791) or IPv6 (RFC 8200), TCP (RFC 9293) or UDP (RFC 768).
//!
//! Options are laid out as most stacks do: timestamps after two NOPs (RFC 7323 appendix A), SACK blocks likewise (RFC 2018 section 3). The bytes of the
//! payload are zero, so checksums (RFC 1071) depend on headers alone.
//!
//! Not modelled, hence constant: the urgent pointer, PSH, IP options and fragments. IP identification is a hash of the packet, so the same packet has the
//! same number wherever it is captured (RFC 6864 leaves it free for packets that are never fragmented).

use fairlane_net::{FastOpen, Packet, Proto, Segment, flag, fold};

/// Ethernet header: two addresses and a type.
pub(super) const ETHERNET: usize = 14;
/// IPv4 header without options (RFC 791 section 3.1).
pub(super) const IPV4: usize = 20;
/// IPv6 header (RFC 8200 section 3).
pub(super) const IPV6: usize = 40;
/// TCP header without options (RFC 9293 section 3.1).
pub(super) const TCP: usize = 20;
/// UDP header (RFC 768).
const UDP: usize = 8;
/// Longest TCP options (RFC 9293 section 3.1: the data offset has four bits).
const OPTIONS: usize = 40;
/// Longest headers of a frame.
pub(super) const HEAD: usize = ETHERNET + IPV6 + TCP + OPTIONS;

/// Ethernet types of IPv4 and IPv6 (IANA).
const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86DD;
/// Time to live of a packet at its sender: the default of RFC 1700.
const TTL: u32 = 64;
/// "Don't fragment" (RFC 791 section 3.1).
const DF: u16 = 0x4000;
/// Protocol numbers (IANA).
pub(super) const IP_TCP: u32 = 6;
const IP_UDP: u32 = 17;
/// First port of senders, the dynamic range of RFC 6335 section 6: the low 14 bits of the flow number are added to it.
const SENDER_PORT: u32 = 0xC000;
const SENDER_BITS: u32 = 14;
/// Port of the receivers of the first 2^14 flows, the next one for the following flows: a range for which analysers know no application. Further
/// connections of a flow use ports that are 64 apart, 16 in all.
const RECEIVER_PORT: u32 = 35_000;
const RECEIVER_BITS: u32 = 6;
const CONNECTION_BITS: u32 = 4;
/// Network of all nodes: 10.0.0.0/8 (RFC 1918).
const NET4: u32 = 10 << 24;
/// Network of all nodes for IPv6: fd00::/8 (RFC 4193).
const NET6: u16 = 0xFD00;
/// A locally administered address (IEEE 802): 02:00 and the number of the node.
const MAC: u16 = 0x0200;

/// No window scale option.
pub const NO_SHIFT: u8 = u8::MAX;

/// Facts about a flow that its packets do not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// Number of the sender's node.
    pub from: u32,
    /// Number of the receiver's node.
    pub to: u32,
    /// First hop of packets from the sender, and from the receiver ([`Packet::hop`]).
    pub first_hop: [u32; 2],
    /// Value of the MSS option.
    pub mss: u16,
    /// Window scale shift, [`NO_SHIFT`] if windows are not scaled (RFC 7323 section 2).
    pub shift: u8,
    /// True if a SYN permits SACK (RFC 2018 section 2).
    pub sack: bool,
}

impl FlowFacts {
    /// Number of links that a packet has crossed; `starts`: first hops of all routes, if routes change.
    #[inline]
    pub(super) fn crossed(&self, pkt: &Packet, starts: &[u32], arrived: bool) -> u32 {
        let start = match starts {
            [] => self.first_hop[usize::from(pkt.back)],
            _ => starts.partition_point(|&s| s <= pkt.hop).checked_sub(1).map_or(pkt.hop, |k| starts[k]),
        };
        pkt.crossed(start, arrived)
    }
}

/// Host part of a node's address: 0 is the network's own.
const fn host(node: u32) -> u32 {
    node + 1
}

/// IPv4 address of a node.
pub const fn ipv4(node: u32) -> [u8; 4] {
    (NET4 | host(node) & 0x00FF_FFFF).to_be_bytes()
}

/// IPv6 address of a node.
pub fn ipv6(node: u32) -> [u8; 16] {
    let mut a = [0; 16];
    a[..2].copy_from_slice(&NET6.to_be_bytes());
    a[12..].copy_from_slice(&host(node).to_be_bytes());
    a
}

/// Ethernet address of a node.
pub fn mac(node: u32) -> [u8; 6] {
    let mut a = [0; 6];
    a[..2].copy_from_slice(&MAC.to_be_bytes());
    a[2..].copy_from_slice(&host(node).to_be_bytes());
    a
}

/// Ports of a connection of a flow, the sender's and the receiver's, in one word.
const fn ports(flow: u32, conn: u16) -> u32 {
    let connection = (conn as u32 & ((1 << CONNECTION_BITS) - 1)) << RECEIVER_BITS;
    let receiver = RECEIVER_PORT + (flow >> SENDER_BITS & ((1 << RECEIVER_BITS) - 1)) + connection;
    (SENDER_PORT + (flow & ((1 << SENDER_BITS) - 1))) << 16 | receiver
}

/// Initial sequence number of one end of a connection: spread over all 32 bits, as RFC 6528 requires, so that numbers wrap in captures too.
/// The constant is that of Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
pub(super) const fn isn(flow: u32, conn: u16, back: bool) -> u32 {
    ((((conn as u64) << 32) + flow as u64 * 2 + back as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Folds a sum of 16-bit or 32-bit words to the Internet checksum of RFC 1071.
#[inline]
pub(super) const fn checksum(sum: u64) -> u16 {
    let (low, carry) = (sum as u32).overflowing_add((sum >> 32) as u32);
    let sum = low.wrapping_add(carry as u32);
    // Both halves add up in the upper one, with the carry of the lower one.
    !(sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// Both 16-bit words of a 32-bit one as part of a sum: unchanged, because a carry from the lower word counts one in the upper one (section 2(A)), and folding brings the rest around.
#[inline]
pub(super) const fn words(w: u32) -> u64 {
    w as u64
}

/// Stores bytes with one move; a copy between slices would be a call.
#[inline(always)]
pub(super) fn store<const N: usize>(b: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = b.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<N>) {
        *place = bytes;
    }
}

#[inline(always)]
fn put2(b: &mut [u8; HEAD], at: usize, v: u16) {
    store(b, at, v.to_be_bytes());
}

#[inline(always)]
fn put4(b: &mut [u8; HEAD], at: usize, v: u32) {
    store(b, at, v.to_be_bytes());
}

/// Lengths of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// All headers.
    pub(super) head: usize,
    /// Ethernet and IP headers.
    pub(super) network: usize,
    /// The frame: headers and payload, or the simulated length if larger.
    pub(super) frame: u32,
}

/// Link on which a packet is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkHop {
    /// Sending node of the link.
    pub(super) from: u32,
    /// Node at the other end.
    pub(super) to: u32,
    /// Number of links crossed before.
    pub(super) hops: u32,
}

/// Writes the headers of a packet over IPv6 or IPv4.
#[inline]
pub(super) fn render<const SIX: bool>(b: &mut [u8; HEAD], pkt: &Packet, seg: &Segment, facts: &FlowFacts, hop: LinkHop) -> Lengths {
    let (src, dst) = if pkt.back { (facts.to, facts.from) } else { (facts.from, facts.to) };
    put2(b, 0, MAC);
    put4(b, 2, host(hop.to));
    put2(b, 6, MAC);
    put4(b, 8, host(hop.from));
    let tcp = pkt.proto == Proto::Tcp;
    let network = ETHERNET + if SIX { IPV6 } else { IPV4 };
    // Options come first: lengths and checksums depend on them.
    let mut options = Options::default();
    if tcp && (!seg.plain() || seg.has(flag::SYN)) {
        options = Options::of(seg, facts, isn(pkt.flow.0, pkt.conn, !pkt.back));
        for (i, &w) in options.words[..options.len].iter().enumerate() {
            put4(b, network + TCP + 4 * i, w);
        }
    }
    let transport = if tcp { TCP + 4 * options.len } else { UDP };
    let inner = transport as u32 + u32::from(seg.payload);
    let class = u32::from(pkt.class.0 & 0x3F) << 2 | pkt.ecn as u32;
    let ttl = TTL - hop.hops.min(TTL - 1);
    let proto = if tcp { IP_TCP } else { IP_UDP };
    // Sum of the addresses, shared by IP and the pseudo-header.
    let mut sum;
    if SIX {
        put2(b, 12, TYPE_IPV6);
        // RFC 6437 section 3: a flow label that is not zero.
        put4(b, 14, 6 << 28 | class << 20 | (pkt.flow.0.wrapping_add(1) & 0x000F_FFFF));
        put4(b, 18, inner << 16 | proto << 8 | ttl);
        store(b, 22, ipv6(src));
        store(b, 38, ipv6(dst));
        sum = 2 * u64::from(NET6) + words(host(src)) + words(host(dst));
    } else {
        put2(b, 12, TYPE_IPV4);
        let (s, d) = (NET4 | host(src) & 0x00FF_FFFF, NET4 | host(dst) & 0x00FF_FFFF);
        sum = words(s) + words(d);
        let first = 0x4500_0000 | class << 16 | (IPV4 as u32 + inner);
        let second = u32::from(identification(seg)) << 16 | u32::from(DF);
        let third = ttl << 24 | proto << 16;
        put4(b, 14, first);
        put4(b, 18, second);
        put4(b, 22, third | u32::from(checksum(sum + words(first) + words(second) + words(third))));
        put4(b, 26, s);
        put4(b, 30, d);
    }
    sum += u64::from(proto) + u64::from(inner) + options.sum;
    let ports = ports(pkt.flow.0, pkt.conn).rotate_left(if pkt.back { 16 } else { 0 });
    put4(b, network, ports);
    sum += words(ports);
    if tcp {
        let seq = fold(seg.seq, isn(pkt.flow.0, pkt.conn, pkt.back));
        // RFC 9293 section 3.1: without ACK the field has no meaning.
        let ack = if seg.has(flag::ACK) { fold(seg.ack, isn(pkt.flow.0, pkt.conn, !pkt.back)) } else { 0 };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if facts.shift == NO_SHIFT || seg.has(flag::SYN) { 0 } else { facts.shift };
        let fourth = tcp_word(seg, TCP + 4 * options.len, shift.into());
        put4(b, network + 4, seq);
        put4(b, network + 8, ack);
        put4(b, network + 12, fourth);
        put4(b, network + 16, u32::from(checksum(sum + words(seq) + words(ack) + words(fourth))) << 16);
    } else {
        // The length is in the header and in the pseudo-header.
        let sum = checksum(sum + u64::from(inner));
        // RFC 768: a sum of zero is sent as all ones, because zero means no checksum.
        put4(b, network + 4, inner << 16 | u32::from(if sum == 0 { 0xFFFF } else { sum }));
    }
    let whole = network as u32 + inner;
    Lengths { head: network + transport, network, frame: whole.max(ETHERNET as u32 + pkt.len) }
}

/// Fourth word of the TCP header: data offset, flags, and scaled window.
#[inline]
pub(super) fn tcp_word(seg: &Segment, header: usize, shift: u32) -> u32 {
    let window = (seg.wnd >> (shift & 31)).min(0xFFFF);
    // AE is the bit before CWR (RFC 9768 section 3.1).
    let flags = u32::from(seg.ace() >> 2) << 8 | u32::from(seg.flags);
    (header as u32 / 4) << 28 | flags << 16 | window
}

/// IP identification: the same for a packet at every capture point, different for the next packet.
#[inline]
pub(super) fn identification(seg: &Segment) -> u16 {
    let key = seg.sent.as_ps() ^ seg.seq.rotate_left(40) ^ seg.ack.rotate_left(20);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as u16
}

/// TCP options, which fill whole 32-bit words.
#[derive(Default)]
struct Options {
    words: [u32; OPTIONS / 4],
    len: usize,
    sum: u64,
}

impl Options {
    fn push(&mut self, word: u32) {
        if let Some(place) = self.words.get_mut(self.len) {
            *place = word;
            self.len += 1;
            self.sum += words(word);
        }
    }

    /// Kind 34, or 254 with the magic number 0xF989 (RFC 7413 section 4.1.1, RFC 6994), followed by NOPs as in Linux.
    #[cold]
    fn fast_open(&mut self, option: FastOpen) {
        let size = option.size() as usize;
        let mut bytes = [1; OPTIONS];
        let head = if option.experimental { 4 } else { 2 };
        let kind = if option.experimental { 254 } else { 34 };
        bytes[..head].copy_from_slice(&[kind, size as u8, 0xF9, 0x89][..head]);
        bytes[head..size].copy_from_slice(option.cookie.as_slice());
        for word in bytes[..size.next_multiple_of(4)].chunks_exact(4) {
            self.push(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
        }
    }

    /// Options of a segment; `peer`: initial sequence number of the acknowledged data.
    #[inline(never)]
    fn of(seg: &Segment, facts: &FlowFacts, peer: u32) -> Self {
        let mut o = Self::default();
        // Kinds and lengths: MSS 2, 4 (RFC 9293 section 3.7.1); window scale 3, 3 and timestamps 8, 10 (RFC 7323); SACK permitted 4, 2 and
        // SACK 5, 2 + 8 n (RFC 2018); no operation 1.
        if seg.has(flag::SYN) {
            o.push(0x0204_0000 | u32::from(facts.mss));
        }
        let permit = seg.has(flag::SYN) && facts.sack;
        if let Some((val, ecr)) = seg.timestamps() {
            o.push(if permit { 0x0402_080A } else { 0x0101_080A });
            o.push(val);
            o.push(ecr);
        } else if permit {
            o.push(0x0101_0402);
        }
        if seg.has(flag::SYN) && facts.shift != NO_SHIFT {
            o.push(0x0103_0300 | u32::from(facts.shift));
        }
        if let Some(option) = seg.fast_open() {
            o.fast_open(option);
        }
        let n = seg.sack_len();
        if n > 0 {
            o.push(0x0101_0502 + 8 * n as u32);
            for i in 0..n {
                let block = seg.sack(i);
                o.push(fold(block.start, peer));
                o.push(fold(block.end, peer));
            }
        }
        o
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
