//! Packets whose payload is known: those of real transport stacks. A capture has their bytes, and the secrets that decrypt them.

use super::block::{self, Block, COMMENT, EPB_FLAGS, PACKET, padding};
use super::comment::{COMMENT_MAX, Comment};
use super::frame::{HEAD, Lengths, checksum};
use super::{BlockHeader, PS_PER_NS, Tap};
use fairlane_net::{Packet, Segment};
use fairlane_units::Time;
use std::fmt::Debug;

/// Bytes kept per packet of a file with payload, unless the capture says how many.
pub(super) const WHOLE: u32 = 1 << 18;

/// The payload of the packets of a flow.
pub trait Payload: Debug + Send + Sync {
    /// Appends the payload of a packet; false if it is no longer known.
    fn copy(&self, seg: &Segment, back: bool, into: &mut Vec<u8>) -> bool;
    /// Lines of the key log from the given byte on (the format of NSS).
    fn secrets(&self, from: usize) -> String;
}

/// Adds a payload to the sum of a UDP header that has none: `head` are the headers of the frame.
pub(super) fn add_to_checksum(head: &mut [u8; HEAD], lengths: Lengths, payload: &[u8]) {
    let at = lengths.head - 2;
    let old = u16::from_be_bytes([head[at], head[at + 1]]);
    let mut sum = u64::from(!old);
    for two in payload.chunks(2) {
        sum += u64::from(two[0]) << 8 | two.get(1).map_or(0, |b| u64::from(*b));
    }
    let new = checksum(sum);
    head[at..at + 2].copy_from_slice(&(if new == 0 { 0xFFFF } else { new }).to_be_bytes());
}

/// Writes an enhanced packet block (section 4.3 of the draft) with payload.
pub(super) fn packet(
    out: &mut Vec<u8>,
    place: BlockHeader,
    (head, lengths): (&[u8; HEAD], Lengths),
    payload: &[u8],
    (comment, pkt, seg): (Comment, &Packet, &Segment),
) {
    let whole = lengths.head + payload.len();
    let kept = place.snaplen.map_or(whole, |most| whole.min(most as usize));
    let mut b = Block::new(out, PACKET);
    b.put(&place.interface.to_le_bytes());
    b.put(&((place.ns >> 32) as u32).to_le_bytes());
    b.put(&(place.ns as u32).to_le_bytes());
    b.put(&(kept as u32).to_le_bytes());
    b.put(&lengths.frame.to_le_bytes());
    b.put(&head[..lengths.head.min(kept)]);
    b.put(&payload[..kept.saturating_sub(lengths.head)]);
    b.put(&[0; 3][..padding(kept)]);
    b.option(EPB_FLAGS, &place.flags.to_le_bytes());
    let mut text = [0; COMMENT_MAX];
    let length = comment.write(&mut text, pkt, seg);
    if length > 0 {
        b.option(COMMENT, &text[..length]);
    }
    b.close();
}

impl super::Capture {
    /// Writes a packet with its payload; false if it has none.
    pub(super) fn with_payload(&mut self, tap: Tap, time: Time, pkt: &Packet, seg: &Segment, comment: Comment) -> bool {
        let flow = pkt.flow.0 as usize;
        let (Some(Some(source)), Some(facts)) = (self.payloads.get(flow), self.flows.get(flow)) else { return false };
        let mut payload = Vec::new();
        if matches!(comment, Comment::Dropped { .. }) || !source.copy(seg, pkt.back, &mut payload) {
            return false;
        }
        let Some(file) = self.files.get_mut(tap.file as usize) else { return false };
        let mut out = Vec::with_capacity(payload.len() + HEAD + 64);
        let seen = file.secrets.entry(pkt.flow.0).or_default();
        let fresh = source.secrets(*seen);
        if !fresh.is_empty() {
            *seen += fresh.len();
            block::secrets(&mut out, &fresh);
        }
        let crossed = facts.crossed(pkt, &self.starts, comment == Comment::Arrived);
        let mut seg = *seg;
        seg.payload = payload.len() as u16;
        let mut head = [0; HEAD];
        let lengths = super::render_any(self.style.ipv6, &mut head, pkt, &seg, facts, (tap, crossed));
        add_to_checksum(&mut head, lengths, &payload);
        let flags = if tap.inbound { super::INBOUND } else { super::OUTBOUND };
        let place = BlockHeader { interface: tap.interface, ns: time.as_ps() / PS_PER_NS, flags, snaplen: self.style.snaplen };
        packet(&mut out, place, (&head, lengths), &payload, (comment, pkt, &seg));
        file.sink.put(&out);
        if let Some(count) = file.counts.get_mut(tap.interface as usize) {
            count.packets += 1;
        }
        self.last = time;
        true
    }
}
