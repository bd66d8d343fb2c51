//! Packets: the 64-byte segment in the arena that endpoints see, and the 32-byte record that queues and links handle.

use crate::cookie::FastOpen;
use crate::ids::FlowId;
use fairlane_units::Time;

/// Handle of a packet in the [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketRef(pub u32);

/// Traffic class: the DSCP (RFC 2474) in the low six bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Class(pub u8);

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECT(1).
    Ect1 = 1,
    /// ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Returns true if a queue may mark instead of drop.
    pub const fn capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
    const fn from_bits(b: u8) -> Self {
        match b & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// Record of a packet in a queue or on a link: all that a hop needs, 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Handle of the full record.
    pub id: PacketRef,
    /// Length on the wire in bytes.
    pub len: u32,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Position in the route table: the hop it is on.
    pub hop: u32,
    /// Arrival time at this queue; on a link, arrival time at its far end.
    pub at: Time,
    /// Traffic class.
    pub class: Class,
    /// ECN field.
    pub ecn: Ecn,
    /// Transport protocol, for classifiers.
    pub proto: Proto,
    /// True if it carries data (false: a pure acknowledgement, SYN or FIN).
    pub data: bool,
    /// True if it travels from the flow's receiver to its sender.
    pub back: bool,
    /// Connection of the flow that it belongs to, counted up each time that the flow reconnects.
    pub conn: u16,
}

impl Packet {
    /// Links crossed before the one that it waits for or is on. `first_hop`: see [`crate::World::first_hop`]. `arrived`: it has reached its end, and
    /// the last link does not count.
    pub fn crossed(&self, first_hop: u32, arrived: bool) -> u32 {
        if first_hop == crate::hop::COUNTED {
            return crate::hop::links(self.hop).saturating_sub(1);
        }
        self.hop.wrapping_sub(first_hop) - u32::from(arrived)
    }

    /// Endpoint that it is for.
    #[inline(always)]
    pub(crate) fn endpoint(&self) -> u32 {
        self.flow.0 << 1 | u32::from(!self.back)
    }

    /// Placeholder.
    pub(crate) const BLANK: Self = Self {
        id: PacketRef(0),
        len: 0,
        flow: FlowId(0),
        hop: 0,
        at: Time::ZERO,
        class: Class(0),
        ecn: Ecn::NotEct,
        proto: Proto::Tcp,
        data: false,
        back: false,
        conn: 0,
    };
}

/// Transport protocol of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Proto {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// UDP (RFC 768).
    Udp,
}

/// Bits of the TCP header (RFC 9293 section 3.1).
pub mod flag {
    /// No more data from sender.
    pub const FIN: u8 = 0x01;
    /// Synchronize sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Push function.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment field is significant.
    pub const ACK: u8 = 0x10;
    /// ECN echo (RFC 3168 section 6.1).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub const CWR: u8 = 0x80;
}

/// A range of sequence space, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Folds a sequence number to the 32 bits of a TCP header (RFC 9293 section 3.4). `isn`: number of the SYN, which is 0 here.
pub const fn fold(seq: u64, isn: u32) -> u32 {
    (seq as u32).wrapping_add(isn)
}

/// Unfolds a 32-bit sequence number to the one nearest to `about`: less than 2^31 from it, as is any window of RFC 7323 section 2.3.
/// Returns 0 if that is below the first number.
pub const fn unfold(folded: u32, isn: u32, about: u64) -> u64 {
    let ahead = folded.wrapping_sub(fold(about, isn)) as i32;
    about.saturating_add_signed(ahead as i64)
}

/// A transport segment, 64 bytes. Sequence numbers are 64 bits wide and never wrap; exporters fold them to 32.
///
/// SACK blocks are kept relative to `ack`; with timestamps at most three fit, without them four (RFC 2018 section 3, RFC 7323).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first payload byte (UDP: number of the datagram).
    pub seq: u64,
    /// Acknowledgment number.
    pub ack: u64,
    /// Time at which the transport handed it to the network; set by the network.
    pub sent: Time,
    opt: [i32; 8],
    /// Receive window in bytes, scaling already applied.
    pub wnd: u32,
    /// Payload bytes.
    pub payload: u16,
    /// TCP header bits, see [`flag`].
    pub flags: u8,
    meta: u8,
}

const N_SACK: u8 = 0x07;
const HAS_TS: u8 = 0x08;
const ECN_SHIFT: u8 = 4;
const RETX: u8 = 0x40;
const AE: u8 = 0x80;

impl Segment {
    /// A segment with these fields; everything else is zero.
    #[inline]
    pub const fn new(seq: u64, ack: u64, flags: u8, payload: u16) -> Self {
        Self { seq, ack, sent: Time::ZERO, opt: [0; 8], wnd: 0, payload, flags, meta: 0 }
    }
    /// One past the last sequence number the segment occupies; SYN and FIN take one each (RFC 9293 section 3.4).
    #[inline]
    pub const fn end(&self) -> u64 {
        self.seq + self.payload as u64 + (self.flags & flag::SYN != 0) as u64 + (self.flags & flag::FIN != 0) as u64
    }
    /// Returns true if any of the header bits `f` is set.
    #[inline]
    pub const fn has(&self, f: u8) -> bool {
        self.flags & f != 0
    }
    /// ECN field of the IP header.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.meta >> ECN_SHIFT)
    }
    /// Sets the ECN field.
    #[inline]
    pub const fn set_ecn(&mut self, e: Ecn) {
        self.meta = self.meta & !(3 << ECN_SHIFT) | (e as u8) << ECN_SHIFT;
    }
    /// True if the sender retransmitted it (for observers and counters; not on the wire).
    #[inline]
    pub const fn retransmission(&self) -> bool {
        self.meta & RETX != 0
    }
    /// Marks it as a retransmission.
    #[inline]
    pub const fn set_retransmission(&mut self) {
        self.meta |= RETX;
    }
    /// Returns true if it has no option, no ECN field and no AE bit.
    #[inline]
    pub const fn plain(&self) -> bool {
        self.meta & !RETX == 0
    }
    /// Three-bit field of AccECN: AE (NS in older RFCs), CWR and ECE, in that order (RFC 9768 section 3.1).
    #[inline]
    pub const fn ace(&self) -> u8 {
        (self.meta & AE) >> 5 | self.flags >> 6
    }
    /// Sets the AccECN field to the low three bits of `value`.
    #[inline]
    pub const fn set_ace(&mut self, value: u8) {
        self.meta = self.meta & !AE | (value << 5) & AE;
        self.flags = self.flags & !(flag::ECE | flag::CWR) | value << 6;
    }
    /// Timestamps option (RFC 7323): value and echo reply.
    #[inline]
    pub const fn timestamps(&self) -> Option<(u32, u32)> {
        if self.meta & HAS_TS != 0 { Some((self.opt[6] as u32, self.opt[7] as u32)) } else { None }
    }
    /// Sets the timestamps option. Set it before adding SACK blocks.
    #[inline]
    pub const fn set_timestamps(&mut self, val: u32, ecr: u32) {
        self.opt[6] = val as i32;
        self.opt[7] = ecr as i32;
        self.meta |= HAS_TS;
    }
    /// Fast Open option (RFC 7413 section 4.1.1), which only a SYN may carry.
    #[inline]
    pub const fn fast_open(&self) -> Option<FastOpen> {
        let [a, b, c, d, form, ..] = self.opt;
        if self.flags & flag::SYN != 0 { FastOpen::unpack([a, b, c, d], form) } else { None }
    }
    /// Sets the Fast Open option of a SYN. It takes the place of SACK blocks.
    #[inline]
    pub const fn set_fast_open(&mut self, option: FastOpen) {
        let (words, form) = option.pack();
        [self.opt[0], self.opt[1], self.opt[2], self.opt[3]] = words;
        self.opt[4] = form;
    }
    /// Eight header words of a transport other than TCP, in the place of TCP's options.
    #[inline]
    pub const fn words(&self) -> [u32; 8] {
        let o = &self.opt;
        [o[0] as u32, o[1] as u32, o[2] as u32, o[3] as u32, o[4] as u32, o[5] as u32, o[6] as u32, o[7] as u32]
    }
    /// Sets the eight header words of a transport other than TCP.
    #[inline]
    pub const fn set_words(&mut self, w: [u32; 8]) {
        self.opt = [w[0] as i32, w[1] as i32, w[2] as i32, w[3] as i32, w[4] as i32, w[5] as i32, w[6] as i32, w[7] as i32];
    }
    /// Number of SACK blocks.
    #[inline]
    pub const fn sack_len(&self) -> usize {
        (self.meta & N_SACK) as usize
    }
    /// SACK block `i` (`i < sack_len()`).
    #[inline]
    pub const fn sack(&self, i: usize) -> Block {
        Block { start: self.ack.wrapping_add_signed(self.opt[2 * i] as i64), end: self.ack.wrapping_add_signed(self.opt[2 * i + 1] as i64) }
    }
    /// Adds a SACK block if there is room; set `ack` first.
    #[inline]
    pub const fn add_sack(&mut self, b: Block) -> bool {
        let n = self.sack_len();
        let room = if self.meta & HAS_TS != 0 { 3 } else { 4 };
        if n >= room {
            return false;
        }
        self.opt[2 * n] = b.start.wrapping_sub(self.ack) as i64 as i32;
        self.opt[2 * n + 1] = b.end.wrapping_sub(self.ack) as i64 as i32;
        self.meta += 1;
        true
    }
}

/// Memory of all packets: one growing array with a free list. A handle is an index.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    segs: Vec<Segment>,
    free_slots: Vec<u32>,
}

impl Arena {
    /// Stores a segment.
    #[inline]
    pub fn insert(&mut self, seg: &Segment) -> PacketRef {
        self.insert_sent(seg, seg.sent)
    }
    /// Stores a segment with another time of sending, in one copy.
    #[inline]
    pub(crate) fn insert_sent(&mut self, seg: &Segment, sent: Time) -> PacketRef {
        let i = self.free_slots.pop().unwrap_or_else(|| self.add());
        let place = &mut self.segs[i as usize];
        *place = *seg;
        place.sent = sent;
        PacketRef(i)
    }
    #[cold]
    fn add(&mut self) -> u32 {
        self.segs.push(Segment::default());
        self.segs.len() as u32 - 1
    }
    /// Takes a segment out.
    #[inline]
    pub fn remove(&mut self, r: PacketRef) -> Segment {
        *self.free(r)
    }
    /// Frees the slot and returns the segment in place; valid until the next insert.
    #[inline(always)]
    pub(crate) fn free(&mut self, r: PacketRef) -> &mut Segment {
        self.free_slots.push(r.0);
        &mut self.segs[r.0 as usize]
    }
    /// Segment of a packet.
    #[inline]
    pub fn get(&self, r: PacketRef) -> &Segment {
        &self.segs[r.0 as usize]
    }
    /// Segment of a packet, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, r: PacketRef) -> &mut Segment {
        &mut self.segs[r.0 as usize]
    }
    /// Prefetches a segment.
    #[inline]
    pub(crate) fn prefetch(&self, r: PacketRef) {
        if let Some(s) = self.segs.get(r.0 as usize) {
            crate::prefetch::prefetch(s, 64);
        }
    }
    /// Creates an arena with given counts and no readable packets.
    pub(crate) fn of(alive: usize, peak: usize) -> Self {
        Self { segs: vec![Segment::default(); peak], free_slots: (alive as u32..peak as u32).collect() }
    }
    /// Packets alive.
    pub fn len(&self) -> usize {
        self.segs.len() - self.free_slots.len()
    }
    /// Most packets alive at one time so far.
    pub fn peak(&self) -> usize {
        self.segs.len()
    }
    /// True if no packet is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_size() {
        assert_eq!(size_of::<Segment>(), 64);
        assert_eq!(size_of::<Packet>(), 32);
    }

    /// RFC 2018 section 3: at most four blocks, three with timestamps.
    #[test]
    fn sack_blocks_share_room_with_timestamps() {
        let mut s = Segment { ack: 10_000, ..Segment::default() };
        let b = |i: u64| Block { start: 12_000 + 2000 * i, end: 13_000 + 2000 * i };
        assert_eq!((0..6).filter(|&i| s.add_sack(b(i))).count(), 4);
        assert_eq!(s.sack(3), b(3));
        let mut t = Segment { ack: 10_000, ..Segment::default() };
        t.set_timestamps(u32::MAX, 7);
        assert_eq!((0..6).filter(|&i| t.add_sack(b(i))).count(), 3);
        assert_eq!(t.timestamps(), Some((u32::MAX, 7)));
        // D-SACK (RFC 2883): the first block may lie below the cumulative acknowledgment.
        let mut d = Segment { ack: 10_000, ..Segment::default() };
        d.add_sack(Block { start: 4000, end: 5000 });
        assert_eq!(d.sack(0), Block { start: 4000, end: 5000 });
        d.set_ecn(Ecn::Ce);
        assert_eq!((d.ecn(), d.sack_len()), (Ecn::Ce, 1));
    }

    /// Arithmetic is modulo 2^32 (RFC 9293 section 3.4): numbers survive the wrap.
    #[test]
    fn sequence_numbers_fold_and_unfold_across_the_wrap() {
        assert_eq!(fold(0, u32::MAX), u32::MAX);
        assert_eq!(fold(1, u32::MAX), 0);
        for isn in [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX] {
            for about in [0, 1, 1000, (1 << 31) - 1, 1 << 31, (1 << 32) - 500, 1 << 32, (1 << 33) + 7, 5 << 40, u64::MAX - 5] {
                for offset in [0_i64, 1, -1, 1460, -1460, 1 << 30, -(1 << 30), (1 << 31) - 1, -(1 << 31)] {
                    if let Some(seq) = about.checked_add_signed(offset) {
                        assert_eq!(unfold(fold(seq, isn), isn, about), seq, "{isn} {about} {offset}");
                    }
                }
            }
        }
        assert_eq!(unfold(fold(0, 7).wrapping_sub(1), 7, 0), 0);
    }

    #[test]
    fn words_of_other_transports_keep_every_bit() {
        let mut s = Segment::new(1, 2, 0, 3);
        let w = [0, 1, u32::MAX, 1 << 31, 7, 8, 9, 0x8000_0001];
        s.set_words(w);
        assert_eq!(s.words(), w);
        assert!(s.plain() && s.sack_len() == 0 && s.timestamps().is_none());
    }

    /// RFC 9768 section 3.1: AE, CWR and ECE are one counter, AE its highest bit.
    #[test]
    fn the_accecn_field_has_three_bits() {
        let mut s = Segment::new(0, 0, flag::ACK, 0);
        assert!(s.plain());
        for value in 0..8 {
            s.set_ace(value);
            assert_eq!((s.ace(), s.has(flag::CWR), s.has(flag::ECE), s.has(flag::ACK)), (value, value & 2 != 0, value & 1 != 0, true));
        }
        assert!(!s.plain());
    }
}
