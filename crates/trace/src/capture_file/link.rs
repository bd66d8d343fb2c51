//! Headers of links.
//!
//! Sources: the list of link types of the pcap project (draft-ietf-opsawg-pcaplinktype); IEEE Std 802.3, 802.1Q and 802.1ad; RFC 1042 (LLC and SNAP),
//! RFC 1661 and 1662 (PPP), RFC 2516 (PPPoE), RFC 1547 (Cisco HDLC); radiotap.org; the header of AVS, and PPI of CACE Technologies.

use super::wlan::Radio;
use super::{Decoded, Layer, Rest, Step};

/// First layer of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    Layer(Layer, Rest<'a>),
    Wlan(Rest<'a>, Radio),
}

/// Link types (LINKTYPE_ values, and values of some systems).
const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const PPP: u32 = 9;
const RAW_OF_BSD: [u32; 2] = [12, 14];
const PPP_HDLC: u32 = 50;
const PPP_ETHER: u32 = 51;
const RAW: u32 = 101;
const C_HDLC: u32 = 104;
const IEEE802_11: u32 = 105;
const LOOP: u32 = 108;
const COOKED: u32 = 113;
const PRISM: u32 = 119;
const RADIOTAP: u32 = 127;
const AVS: u32 = 163;
const PPI: u32 = 192;
const PPP_WITH_DIR: u32 = 204;
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const COOKED2: u32 = 276;

/// Values of `EtherType`.
pub(super) const TYPE_IPV4: u16 = 0x0800;
pub(super) const TYPE_IPV6: u16 = 0x86dd;
/// Tags of IEEE 802.1Q and 802.1ad, and numbers used before they were registered.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const TYPE_BRIDGED: u16 = 0x6558;
const TYPE_PPP: u16 = 0x880b;
const TYPE_MPLS: [u16; 2] = [0x8847, 0x8848];
const TYPE_PPPOE: u16 = 0x8864;
/// Largest value that is a length (IEEE Std 802.3).
const LONGEST: u16 = 1500;
/// Address families of IPv4, and of IPv6 on BSD systems, macOS and Linux.
const FAMILIES: [u32; 5] = [2, 10, 24, 28, 30];
/// Length of a Prism header, and the first word of an AVS header.
const PRISM_LENGTH: usize = 144;
const AVS_MAGIC: u32 = 0x8021_1000;

/// Finds the first layer of a frame.
pub(super) fn start(link_type: u32, rest: Rest<'_>) -> Result<Start<'_>, Decoded> {
    let (layer, rest) = match link_type {
        ETHERNET => (Layer::Ethernet, rest),
        RAW | IPV4 | IPV6 => (Layer::Ip, rest),
        link if RAW_OF_BSD.contains(&link) => (Layer::Ip, rest),
        NULL | LOOP => {
            // The address family has the byte order of the host, or of the network.
            let family = rest.word(0)?;
            let known = FAMILIES.iter().any(|&f| f == family || f.swap_bytes() == family);
            (if known { Layer::Ip } else { return Err(Decoded::Other) }, rest.skip(4)?)
        }
        PPP | PPP_HDLC => (Layer::Ppp, rest),
        PPP_WITH_DIR => (Layer::Ppp, rest.skip(1)?),
        PPP_ETHER => return pppoe(rest).map(|(layer, rest)| Start::Layer(layer, rest)),
        C_HDLC => (Layer::Hdlc, rest),
        COOKED => (cooked(rest.short(14)?), rest.skip(16)?),
        COOKED2 => (cooked(rest.short(0)?), rest.skip(20)?),
        IEEE802_11 => return Ok(Start::Wlan(rest, Radio::default())),
        RADIOTAP => return radiotap(rest),
        PRISM | AVS => return prism(rest),
        PPI => {
            let b = (rest.short(2)?, rest.word(4)?);
            let (length, inner) = (b.0.swap_bytes(), b.1.swap_bytes());
            // A PPI header within another is not defined.
            return if inner == PPI { Err(Decoded::Other) } else { start(inner, rest.skip(length.into())?) };
        }
        _ => return Err(Decoded::Unknown),
    };
    Ok(Start::Layer(layer, rest))
}

/// Layer of a Linux cooked capture: an `EtherType`, or a small number for frames of IEEE 802.2.
fn cooked(kind: u16) -> Layer {
    const LLC: u16 = 4;
    if kind == LLC { Layer::Llc } else { Layer::Type(kind) }
}

/// Two addresses and the `EtherType`, or the length of an IEEE 802.2 frame.
pub(super) fn ethernet(rest: Rest<'_>) -> Step<'_> {
    let kind = rest.short(12)?;
    let inner = rest.skip(14)?;
    Ok(if kind <= LONGEST { (Layer::Llc, inner.first(kind.into())) } else { (Layer::Type(kind), inner) })
}

pub(super) fn ether_type(kind: u16, rest: Rest<'_>) -> Step<'_> {
    match kind {
        TYPE_IPV4 | TYPE_IPV6 => Ok((Layer::Ip, rest)),
        TYPE_BRIDGED => Ok((Layer::Ethernet, rest)),
        TYPE_PPP => Ok((Layer::Ppp, rest)),
        TYPE_PPPOE => pppoe(rest),
        kind if TYPE_MPLS.contains(&kind) => Ok((Layer::Mpls, rest)),
        kind if TAGS.contains(&kind) => {
            let kind = rest.short(2)?;
            let inner = rest.skip(4)?;
            Ok(if kind <= LONGEST { (Layer::Llc, inner.first(kind.into())) } else { (Layer::Type(kind), inner) })
        }
        _ => Err(Decoded::Other),
    }
}

/// LLC with SNAP, or with the service access point of IP.
pub(super) fn llc(rest: Rest<'_>) -> Step<'_> {
    const SNAP: [u8; 2] = [0xaa, 0xaa];
    const IP: [u8; 2] = [0x06, 0x06];
    const UNNUMBERED: u8 = 3;
    let (sap, control) = ([rest.byte(0)?, rest.byte(1)?], rest.byte(2)?);
    match sap {
        SNAP if control == UNNUMBERED => {
            // Organisations 0 (RFC 1042) and 0000f8 (IEEE Std 802.1H) have an EtherType.
            let organisation = rest.word(2)? & 0x00ff_ffff;
            if organisation != 0 && organisation != 0xf8 { Err(Decoded::Other) } else { Ok((Layer::Type(rest.short(6)?), rest.skip(8)?)) }
        }
        IP if control == UNNUMBERED => Ok((Layer::Ip, rest.skip(3)?)),
        _ => Err(Decoded::Other),
    }
}

/// The protocol, in one byte if compressed, after address and control fields if they are present.
pub(super) fn ppp(rest: Rest<'_>) -> Step<'_> {
    const ALL_STATIONS: u8 = 0xff;
    const UNNUMBERED: u8 = 3;
    // A link of type 50 may carry Cisco's HDLC, whose address is another.
    const CISCO: [u8; 2] = [0x0f, 0x8f];
    let first = rest.byte(0)?;
    if CISCO.contains(&first) && rest.byte(1)? == 0 {
        return Ok((Layer::Hdlc, rest));
    }
    let rest = if first == ALL_STATIONS && rest.byte(1)? == UNNUMBERED { rest.skip(2)? } else { rest };
    let first = rest.byte(0)?;
    let (protocol, rest) = if first & 1 == 1 { (u16::from(first), rest.skip(1)?) } else { (rest.short(0)?, rest.skip(2)?) };
    match protocol {
        0x21 | 0x57 => Ok((Layer::Ip, rest)),
        0x281 | 0x283 => Ok((Layer::Mpls, rest)),
        _ => Err(Decoded::Other),
    }
}

/// Address, control and the `EtherType`.
pub(super) fn hdlc(rest: Rest<'_>) -> Step<'_> {
    Ok((Layer::Type(rest.short(2)?), rest.skip(4)?))
}

/// Version and type, code, session and length; a code other than 0 is discovery.
fn pppoe(rest: Rest<'_>) -> Step<'_> {
    if rest.byte(1)? != 0 {
        return Err(Decoded::Other);
    }
    Ok((Layer::Ppp, rest.skip(6)?))
}

/// Version, length and presence; of the fields only the flags are of interest, which may follow the time.
fn radiotap(rest: Rest<'_>) -> Result<Start<'_>, Decoded> {
    const MORE: u32 = 1 << 31;
    const TSFT: u32 = 1;
    const FLAGS: u32 = 2;
    let length = usize::from(rest.short(2)?.swap_bytes());
    let present = rest.word(4)?.swap_bytes();
    let mut at = 8;
    let mut more = present;
    while more & MORE != 0 && at < length {
        more = rest.word(at)?.swap_bytes();
        at += 4;
    }
    if present & TSFT != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let flags = if present & FLAGS != 0 && at < length { rest.byte(at)? } else { 0 };
    Ok(Start::Wlan(rest.skip(length)?, Radio::of_radiotap(flags)))
}

/// A Prism header of fixed length, or an AVS header, which has its length in network byte order.
fn prism(rest: Rest<'_>) -> Result<Start<'_>, Decoded> {
    let avs = rest.word(0)? & 0xffff_f000 == AVS_MAGIC;
    let skip = if avs { rest.word(4)? as usize } else { PRISM_LENGTH };
    Ok(Start::Wlan(rest.skip(skip)?, Radio::default()))
}
