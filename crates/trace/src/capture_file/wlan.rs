//! Frames of IEEE Std 802.11-2020 (clause 9.2.4, 9.3.2): data of any subtype, four addresses, A-MSDUs, mesh control.

use super::{Decoded, LAYERS, Layer, Rest, peel};

/// Facts of the radio header that concern the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Radio {
    /// The MAC header is padded to a multiple of four bytes.
    padded: bool,
    /// The check sequence is wrong.
    bad: bool,
}

impl Radio {
    /// Reads the flags of radiotap (radiotap.org).
    pub(super) const fn of_radiotap(flags: u8) -> Self {
        Self { padded: flags & 0x20 != 0, bad: flags & 0x40 != 0 }
    }
}

/// Marks of a repetition: transmitter and receiver, traffic class, sequence and fragment number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mac {
    pub(super) ends: [u8; 12],
    pub(super) class: u8,
    pub(super) number: u16,
    pub(super) retry: bool,
}

/// A data frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) mac: Mac,
    pub(super) body: Rest<'a>,
    /// The body is an A-MSDU.
    pub(super) aggregate: bool,
}

/// Bits of frame control.
const KIND: u8 = 0x0c;
const DATA: u8 = 0x08;
const NO_DATA: u8 = 0x40;
const QOS: u8 = 0x80;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// Class of frames without QoS.
const NO_CLASS: u8 = 16;

/// Removes the MAC header of a data frame.
pub(super) fn frame(rest: Rest<'_>, radio: Radio) -> Result<Frame<'_>, Decoded> {
    if radio.bad {
        return Err(Decoded::Damaged);
    }
    let (kind, flags) = (rest.byte(0)?, rest.byte(1)?);
    let version = kind & 3;
    if version != 0 || kind & KIND != DATA || kind & NO_DATA != 0 {
        return Err(Decoded::Other);
    }
    let four = flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS;
    let mut at = if four { 30 } else { 24 };
    let number = rest.short(22)?.swap_bytes();
    let mut ends = [0; 12];
    ends.copy_from_slice(rest.bytes.get(4..16).ok_or(Decoded::Damaged)?);
    let (mut class, mut aggregate, mut mesh) = (NO_CLASS, false, false);
    if kind & QOS != 0 {
        let (low, high) = (rest.byte(at)?, rest.byte(at + 1)?);
        (class, aggregate, mesh) = (low & 15, low & 0x80 != 0, high & 1 != 0);
        at += 2;
        // HT control.
        at += if flags & ORDER != 0 { 4 } else { 0 };
    }
    if flags & PROTECTED != 0 {
        return Err(Decoded::Protected);
    }
    if number & 15 != 0 {
        // A later fragment has no headers of IP; the first has the length of the whole.
        return Err(Decoded::Other);
    }
    if radio.padded {
        at = at.next_multiple_of(4);
    }
    let mac = Mac { ends, class, number, retry: flags & RETRY != 0 };
    let mut body = rest.skip(at)?;
    if mesh && flags & FROM_DS != 0 && !aggregate {
        body = body.skip(mesh_control(body.byte(0)?))?;
    }
    Ok(Frame { mac, body, aggregate })
}

/// Length of the mesh control field (clause 9.2.4.7.3), 0 if it is none: in frames of an access point its bit has another meaning.
const fn mesh_control(flags: u8) -> usize {
    match flags {
        0 => 6,
        1 => 12,
        2 => 18,
        _ => 0,
    }
}

/// Decodes the packets of an A-MSDU: addresses, length, LLC, padding to a multiple of four bytes.
pub(super) fn aggregate(mut body: Rest<'_>, length: u32, found: &mut Vec<(Decoded, u32)>) {
    const HEADER: usize = 14;
    let begin = found.len();
    let mut left = length;
    while body.length as usize > HEADER {
        let part = match (body.short(12), body.skip(HEADER)) {
            (Ok(n), Ok(inner)) if n > 0 => (usize::from(n), inner),
            // What follows is zero or the check sequence.
            _ => break,
        };
        let (n, inner) = part;
        if n > inner.length as usize {
            break;
        }
        let whole = (HEADER + n).next_multiple_of(4) as u32;
        found.push((peel(Layer::Llc, inner.first(n), LAYERS), whole));
        left = left.saturating_sub(whole);
        match body.skip(whole as usize) {
            Ok(next) => body = next,
            Err(_) => break,
        }
    }
    match found.get_mut(begin) {
        // The first packet carries the headers of the frame.
        Some((_, share)) => *share = share.saturating_add(left),
        None => found.push((Decoded::Damaged, length)),
    }
}
