//! Finds the IP packet in a captured frame, and the length of its TCP or UDP payload.
//!
//! Link types are those of draft-ietf-opsawg-pcaplinktype: Ethernet with or without VLAN tags (IEEE 802.1Q, 802.1ad), raw IP, BSD loopback and Linux
//! cooked captures of both versions. Lengths come from the IP headers, so a capture of the headers alone is enough. Payload is the data after the TCP
//! or UDP header; for other protocols and later fragments, the data after the IP header.

use super::frame::Frame;

const ETHERNET: u32 = 1;
const NULL: u32 = 0;
const LOOP: u32 = 108;
/// Raw IP: the registered number, and numbers that some systems write instead.
const RAW: [u32; 3] = [101, 12, 14];
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const COOKED: u32 = 113;
const COOKED2: u32 = 276;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
/// Tags of IEEE 802.1Q and 802.1ad, and the number used before they were registered.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Length of a UDP header (RFC 768).
const UDP_HEADER: usize = 8;

const SHORT: &str = "too few bytes were captured to determine its length";

fn u16_at(b: &[u8], i: usize) -> Result<u16, String> {
    match b.get(i..i + 2) {
        Some(&[x, y]) => Ok(u16::from_be_bytes([x, y])),
        _ => Err(SHORT.to_owned()),
    }
}

fn u8_at(b: &[u8], i: usize) -> Result<u8, String> {
    b.get(i).copied().ok_or_else(|| SHORT.to_owned())
}

/// Payload length and IP length; none if the frame carries no IP packet.
pub(super) fn lengths(f: &Frame<'_>) -> Result<Option<(u32, u32)>, String> {
    let b = f.bytes;
    let behind = |at: usize, kind: u16| (kind == TYPE_IPV4 || kind == TYPE_IPV6).then_some(at);
    let start = match f.link {
        ETHERNET => {
            let mut at = 12;
            while TAGS.contains(&u16_at(b, at)?) {
                at += 4;
            }
            behind(at + 2, u16_at(b, at)?)
        }
        COOKED => behind(16, u16_at(b, 14)?),
        COOKED2 => behind(20, u16_at(b, 0)?),
        NULL | LOOP => Some(4),
        IPV4 | IPV6 => Some(0),
        link if RAW.contains(&link) => Some(0),
        link => return Err(format!("link type {link} is not supported; Ethernet, raw IP, loopback and Linux cooked are")),
    };
    let Some(start) = start else { return Ok(None) };
    let ip = b.get(start..).unwrap_or_default();
    // Segmentation offload leaves the IP length at zero: use the length of the frame.
    let open = (f.length as usize).saturating_sub(start);
    match u8_at(ip, 0)? >> 4 {
        4 => v4(ip, open).map(Some),
        6 => v6(ip, open).map(Some),
        _ => Ok(None),
    }
}

fn v4(ip: &[u8], open: usize) -> Result<(u32, u32), String> {
    let header = usize::from(u8_at(ip, 0)? & 15) * 4;
    let total = match usize::from(u16_at(ip, 2)?) {
        0 => open,
        n => n,
    };
    let first = u16_at(ip, 6)? & 0x1fff == 0;
    let transport = if first { transport(ip, header, u8_at(ip, 9)?)? } else { 0 };
    Ok(split(total, header + transport))
}

fn v6(ip: &[u8], open: usize) -> Result<(u32, u32), String> {
    let total = match usize::from(u16_at(ip, 4)?) {
        0 => open,
        n => n + 40,
    };
    let (mut next, mut at, mut first) = (u8_at(ip, 6)?, 40, true);
    // RFC 8200 section 4: hop-by-hop, routing and destination options count in units of 8 bytes, a fragment header has 8 bytes; RFC 4302: authentication counts in units of 4.
    while first {
        let length = match next {
            0 | 43 | 60 => 8 * (usize::from(u8_at(ip, at + 1)?) + 1),
            51 => 4 * (usize::from(u8_at(ip, at + 1)?) + 2),
            44 => {
                first = u16_at(ip, at + 2)? >> 3 == 0;
                8
            }
            _ => break,
        };
        next = u8_at(ip, at)?;
        at += length;
    }
    let transport = if first { transport(ip, at, next)? } else { 0 };
    Ok(split(total, at + transport))
}

/// Length of the transport header.
fn transport(ip: &[u8], at: usize, protocol: u8) -> Result<usize, String> {
    match protocol {
        TCP => Ok(usize::from(u8_at(ip, at + 12)? >> 4) * 4),
        UDP => Ok(UDP_HEADER),
        _ => Ok(0),
    }
}

fn split(total: usize, headers: usize) -> (u32, u32) {
    (total.saturating_sub(headers) as u32, total as u32)
}
