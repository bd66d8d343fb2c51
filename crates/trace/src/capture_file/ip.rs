//! Headers of IP, up to the transport protocol.
//!
//! Sources: RFC 791, RFC 8200 (section 4: extension headers), RFC 4302 (authentication header), RFC 2003 and 2473 (IP in IP), RFC 4023 (MPLS in IP).

use super::transport::{End, Fragment, Place, transport};
use super::{Decoded, Layer, Rest, peel};

/// Protocol numbers.
const HOP_BY_HOP: u8 = 0;
const IPV4: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const MPLS: u8 = 137;
/// Most extension headers, more than any sender uses.
const EXTENSIONS: usize = 16;

/// Decodes a packet that begins with an IP header.
pub(super) fn decode(rest: Rest<'_>, depth: u8) -> Decoded {
    let found = match rest.byte(0).map(|b| b >> 4) {
        Ok(4) => four(rest),
        Ok(6) => six(rest),
        Ok(_) => return Decoded::Other,
        Err(end) => return end,
    };
    let (place, protocol, inner) = match found {
        Ok(found) => found,
        Err(end) => return end,
    };
    let other = Decoded::Ip { payload: inner.length, length: place.length };
    let later = place.fragment.is_some_and(|f| !f.first);
    let layer = match protocol {
        TCP | UDP => return transport(place, protocol == TCP, inner, depth),
        _ if later => return other,
        IPV4 | IPV6 => Layer::Ip,
        GRE => Layer::Gre,
        MPLS => Layer::Mpls,
        _ => return other,
    };
    match peel(layer, inner, depth) {
        found @ (Decoded::Headers(_) | Decoded::Damaged | Decoded::Ip { .. } | Decoded::Portless { .. }) => found,
        _ => other,
    }
}

/// Addresses and lengths, the protocol, and the packet after the header.
type Found<'a> = Result<(Place, u8, Rest<'a>), Decoded>;

fn four(rest: Rest<'_>) -> Found<'_> {
    let header = usize::from(rest.byte(0)? & 15) * 4;
    let (total, id, place) = (rest.short(2)?, rest.short(4)?, rest.short(6)?);
    let (mut protocol, ecn) = (rest.byte(9)?, rest.byte(1)? & 3);
    if header < 20 || (total != 0 && usize::from(total) < header) {
        return Err(Decoded::Damaged);
    }
    // Segmentation offload leaves the length at zero: use the length of the frame.
    let length = if total == 0 { rest.length } else { total.into() };
    let mut ends = [End { address: [0; 16], six: false, port: 0 }; 2];
    for (end, at) in ends.iter_mut().zip([12, 16]) {
        end.address[12..].copy_from_slice(rest.bytes.get(at..at + 4).ok_or(Decoded::Damaged)?);
    }
    let fragment = (place & 0x3fff != 0).then_some(Fragment { id: id.into(), first: place & 0x1fff == 0 });
    let mut at = header;
    if protocol == AUTHENTICATION && fragment.is_none_or(|f| f.first) {
        protocol = rest.byte(at)?;
        at += authentication(rest.byte(at + 1)?);
    }
    Ok((Place { ends, ecn, fragment, length }, protocol, after(rest, at, length)))
}

fn six(rest: Rest<'_>) -> Found<'_> {
    let (traffic, payload) = (rest.word(0)? >> 20 & 0xff, rest.short(4)?);
    let mut next = rest.byte(6)?;
    let mut ends = [End { address: [0; 16], six: true, port: 0 }; 2];
    for (end, at) in ends.iter_mut().zip([8, 24]) {
        end.address.copy_from_slice(rest.bytes.get(at..at + 16).ok_or(Decoded::Damaged)?);
    }
    let length = if payload == 0 { rest.length } else { u32::from(payload) + 40 };
    let (mut at, mut fragment) = (40, None);
    for _ in 0..EXTENSIONS {
        let header = match next {
            HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY => usize::from(rest.byte(at + 1)?) * 8 + 8,
            AUTHENTICATION => authentication(rest.byte(at + 1)?),
            FRAGMENT => {
                let (place, id) = (rest.short(at + 2)?, rest.word(at + 4)?);
                if place & 0xfff9 != 0 {
                    fragment = Some(Fragment { id, first: place & 0xfff8 == 0 });
                }
                8
            }
            _ => break,
        };
        next = rest.byte(at)?;
        at += header;
        if fragment.is_some_and(|f| !f.first) {
            break;
        }
    }
    Ok((Place { ends, ecn: (traffic & 3) as u8, fragment, length }, next, after(rest, at, length)))
}

/// Length of an authentication header, which counts units of four bytes, without the first two.
const fn authentication(units: u8) -> usize {
    units as usize * 4 + 8
}

/// The packet after `at` bytes of headers; its length is that of the IP header, without padding of the link.
fn after(rest: Rest<'_>, at: usize, length: u32) -> Rest<'_> {
    Rest { bytes: rest.bytes.get(at..).unwrap_or_default(), length: length.saturating_sub(at as u32) }
}
