//! pcapng files (draft-ietf-opsawg-pcapng): sections in either byte order, with interfaces that each have a link type and a clock.
//!
//! Supported blocks: section header, interface description with `if_tsresol` and `if_tsoffset`, enhanced packet, and the obsolete packet block. Simple packet
//! blocks have no time and are refused; all other blocks are skipped.

use super::frame::Frame;

/// Block types.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Byte-order magic of a section.
const MAGIC: u32 = 0x1a2b_3c4d;
/// Options of an interface.
const END: u16 = 0;
const TSRESOL: u16 = 9;
const TSOFFSET: u16 = 14;
/// Default resolution of an interface: 10^-6 s.
const MICROSECONDS: u8 = 6;
/// Finest supported resolutions.
const MOST_DECIMALS: u8 = 18;
const MOST_BITS: u8 = 62;

pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.get(..4) == Some(&SECTION.to_be_bytes())
}

/// Clock and link type of an interface.
struct Interface {
    link: u32,
    /// Ticks per second.
    ticks: u128,
    /// Offset in seconds.
    offset: i64,
}

/// Bytes of a section, read in its byte order.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl<'a> Reader<'a> {
    fn u16(&self, at: usize) -> Option<u16> {
        let b: [u8; 2] = self.bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.little { u16::from_le_bytes(b) } else { u16::from_be_bytes(b) })
    }
    fn u32(&self, at: usize) -> Option<u32> {
        let b: [u8; 4] = self.bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.little { u32::from_le_bytes(b) } else { u32::from_be_bytes(b) })
    }
    fn part(&self, at: usize, len: usize) -> Option<Self> {
        Some(Self { bytes: self.bytes.get(at..at.checked_add(len)?)?, ..*self })
    }
}

/// Passes every packet to `take`.
pub(super) fn frames(bytes: &[u8], take: &mut dyn FnMut(Frame<'_>) -> Result<(), String>) -> Result<(), String> {
    let mut all = Reader { bytes, little: false };
    let mut interfaces: Vec<Interface> = Vec::new();
    let (mut at, mut number) = (0, 0);
    while at < bytes.len() {
        let before = number;
        let cut = || format!("it ends within the block after packet {before}");
        if bytes.get(at..at + 4) == Some(&SECTION.to_be_bytes()) {
            all.little = bytes.get(at + 8..at + 12) == Some(&MAGIC.to_le_bytes());
            if all.u32(at + 8) != Some(MAGIC) {
                return Err("a section has no valid byte-order magic".to_owned());
            }
            interfaces.clear();
        }
        let (Some(kind), Some(length)) = (all.u32(at), all.u32(at + 4)) else { return Err(cut()) };
        // The length is that of the whole block: type, length, body, length again.
        let Some(body) = (length as usize).checked_sub(12).and_then(|n| all.part(at + 8, n)) else { return Err(cut()) };
        at += (length as usize).next_multiple_of(4);
        match kind {
            INTERFACE => interfaces.push(interface(&body).ok_or("an interface description is too short")??),
            ENHANCED_PACKET | PACKET => {
                number += 1;
                let frame = packet(&body, kind == PACKET, &interfaces).ok_or_else(|| format!("packet {number} is incomplete"))?;
                take(frame.map_err(|why| format!("packet {number}: {why}"))?)?;
            }
            SIMPLE_PACKET => return Err(format!("packet {} is a simple packet block, which has no time", number + 1)),
            _ => {}
        }
        if at > bytes.len() {
            return Err(cut());
        }
    }
    Ok(())
}

fn interface(body: &Reader<'_>) -> Option<Result<Interface, String>> {
    let link = u32::from(body.u16(0)?);
    let (mut resolution, mut offset) = (MICROSECONDS, 0);
    let mut at = 8;
    while let (Some(code), Some(len)) = (body.u16(at), body.u16(at + 2)) {
        if code == END {
            break;
        }
        let value = body.part(at + 4, usize::from(len))?;
        match code {
            TSRESOL => resolution = *value.bytes.first()?,
            TSOFFSET => {
                let b: [u8; 8] = value.bytes.try_into().ok()?;
                offset = if body.little { i64::from_le_bytes(b) } else { i64::from_be_bytes(b) };
            }
            _ => {}
        }
        at += 4 + usize::from(len).next_multiple_of(4);
    }
    // The highest bit distinguishes powers of two from powers of ten.
    let ticks = match (resolution & 0x80 != 0, resolution & 0x7f) {
        (false, n @ 0..=MOST_DECIMALS) => 10_u128.pow(u32::from(n)),
        (true, n @ 0..=MOST_BITS) => 1 << n,
        _ => return Some(Err(format!("its clock has the resolution {resolution}, which is too fine"))),
    };
    Some(Ok(Interface { link, ticks, offset }))
}

fn packet<'a>(body: &Reader<'a>, old: bool, interfaces: &[Interface]) -> Option<Result<Frame<'a>, String>> {
    let number = if old { u32::from(body.u16(0)?) } else { body.u32(0)? };
    let stamp = u128::from(body.u32(4)?) << 32 | u128::from(body.u32(8)?);
    let (kept, length) = (body.u32(12)?, body.u32(16)?);
    let bytes = body.bytes.get(20..20_usize.checked_add(kept as usize)?)?;
    let Some(from) = interfaces.get(number as usize) else { return Some(Err(format!("there is no interface {number}"))) };
    let ns = (stamp * 1_000_000_000 / from.ticks) as i128;
    Some(Ok(Frame { time: ns + i128::from(from.offset) * 1_000_000_000, link: from.link, bytes, length }))
}
