//! Headers of tunnels.
//!
//! Sources: RFC 2784 and 2890 (GRE), RFC 2637 (GRE of PPTP), RFC 3032 (MPLS), RFC 7348 (VXLAN), RFC 8926 (Geneve),
//! 3GPP TS 29.281 (GTP-U).

use super::{Decoded, Layer, Rest, Step};

/// Tunnels over UDP by port.
pub(super) const PORTS: [(u16, Layer); 3] = [(4789, Layer::Vxlan), (6081, Layer::Geneve), (2152, Layer::Gtp)];

/// Flags, the `EtherType`, and optional fields of four bytes each: checksum, key, sequence number; in version 1 also an acknowledgment.
pub(super) fn gre(rest: Rest<'_>) -> Step<'_> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const OPTIONAL: [u16; 3] = [CHECKSUM, 0x2000, 0x1000];
    const ACK: u16 = 0x0080;
    let (flags, kind) = (rest.short(0)?, rest.short(2)?);
    let version = flags & 7;
    if flags & ROUTING != 0 || version > 1 {
        return Err(Decoded::Other);
    }
    let fields = OPTIONAL.iter().filter(|&&bit| flags & bit != 0).count() + usize::from(version == 1 && flags & ACK != 0);
    Ok((Layer::Type(kind), rest.skip(4 + 4 * fields)?))
}

/// Labels up to the bottom of the stack, then IP; what else is below them is not known without the signalling.
pub(super) fn mpls(mut rest: Rest<'_>) -> Step<'_> {
    const BOTTOM: u8 = 1;
    loop {
        let bottom = rest.byte(2)? & BOTTOM != 0;
        rest = rest.skip(4)?;
        if bottom {
            break;
        }
    }
    match rest.byte(0)? >> 4 {
        4 | 6 => Ok((Layer::Ip, rest)),
        _ => Err(Decoded::Other),
    }
}

/// Flags, of which one says that the identifier is valid, and the identifier.
pub(super) fn vxlan(rest: Rest<'_>) -> Step<'_> {
    const VALID: u8 = 0x08;
    if rest.byte(0)? & VALID == 0 { Err(Decoded::Other) } else { Ok((Layer::Ethernet, rest.skip(8)?)) }
}

/// Version and length of the options in units of four bytes, and the `EtherType`.
pub(super) fn geneve(rest: Rest<'_>) -> Step<'_> {
    let first = rest.byte(0)?;
    if first >> 6 != 0 {
        return Err(Decoded::Other);
    }
    Ok((Layer::Type(rest.short(2)?), rest.skip(8 + 4 * usize::from(first & 0x3f))?))
}

/// Version 1 and message type 255 (a packet of a user); optional fields and extension headers.
pub(super) fn gtp(rest: Rest<'_>) -> Step<'_> {
    const VERSION: u8 = 0x30;
    const OPTIONAL: u8 = 7;
    const EXTENSION: u8 = 4;
    const PACKET: u8 = 255;
    /// Most extension headers.
    const MOST: usize = 8;
    let flags = rest.byte(0)?;
    if flags & 0xf0 != VERSION || rest.byte(1)? != PACKET {
        return Err(Decoded::Other);
    }
    if flags & OPTIONAL == 0 {
        return Ok((Layer::Ip, rest.skip(8)?));
    }
    let (mut next, mut inner) = (rest.byte(11)?, rest.skip(12)?);
    if flags & EXTENSION != 0 {
        for _ in 0..MOST {
            let length = usize::from(inner.byte(0)?) * 4;
            if next == 0 || length == 0 {
                break;
            }
            next = inner.byte(length - 1)?;
            inner = inner.skip(length)?;
        }
    }
    Ok((Layer::Ip, inner))
}
