//! pcap files (draft-ietf-opsawg-pcap): a header, then packets with times in micro- or nanoseconds, in either byte order.

use super::frame::Frame;

/// Magic numbers for micro- and nanoseconds.
const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;
/// Lengths of the file header and the packet header.
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;
/// Bits of the link type; the higher bits describe the frame check sequence.
const LINK_TYPE: u32 = 0xffff;

fn magic(bytes: &[u8]) -> Option<(bool, u64)> {
    let four: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    for little in [false, true] {
        match if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) } {
            MICRO => return Some((little, 1000)),
            NANO => return Some((little, 1)),
            _ => {}
        }
    }
    None
}

pub(super) fn is(bytes: &[u8]) -> bool {
    magic(bytes).is_some()
}

/// Passes every packet to `take`.
pub(super) fn frames(bytes: &[u8], take: &mut dyn FnMut(Frame<'_>) -> Result<(), String>) -> Result<(), String> {
    let Some((little, ns)) = magic(bytes) else { return Err("it is not a pcap file".to_owned()) };
    let word = |at: usize| {
        let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let Some(link) = word(FILE_HEADER - 4) else { return Err("it ends within its header".to_owned()) };
    let (mut at, mut number) = (FILE_HEADER, 0);
    while at < bytes.len() {
        number += 1;
        let cut = || format!("it ends within packet {number}");
        let (Some(secs), Some(part), Some(kept), Some(length)) = (word(at), word(at + 4), word(at + 8), word(at + 12)) else {
            return Err(cut());
        };
        at += PACKET_HEADER;
        let frame = bytes.get(at..at + kept as usize).ok_or_else(cut)?;
        at += kept as usize;
        let time = i128::from(secs) * 1_000_000_000 + i128::from(u64::from(part) * ns);
        take(Frame { time, link: link & LINK_TYPE, bytes: frame, length })?;
    }
    Ok(())
}
