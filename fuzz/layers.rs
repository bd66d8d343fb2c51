//! Captured packets behind headers of links and tunnels in any order: the reader of captures finds the innermost packet; and the same bytes changed.

use crate::draws::Draws;
use fairlane_scenario::parse_file;

/// Packets read in a life.
const STEPS: u64 = 1000;

const ETHERNET: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// IP with any number of extension headers, whose contents are `inner`.
fn ip(six: bool, mut protocol: u8, mut inner: Vec<u8>, d: &mut Draws) -> Vec<u8> {
    if !six {
        let total = (20 + inner.len() as u16).to_be_bytes();
        return join(&[&[0x45, 0, total[0], total[1], 0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2], &inner]);
    }
    for _ in 0..d.below(3) {
        let kind = d.of(&[0, 43, 60, 44, 51]);
        let head = match kind {
            44 => vec![protocol, 0, 0, 0, 0, 0, 0, 7],
            51 => join(&[&[protocol, 1], &[0; 10]]),
            _ => join(&[&[protocol, 1], &[0; 14]]),
        };
        inner = join(&[&head, &inner]);
        protocol = kind;
    }
    let length = (inner.len() as u16).to_be_bytes();
    join(&[&[0x60, 0, 0, 0, length[0], length[1], protocol, 64], &[1; 32], &inner])
}

/// The `EtherType` of an IP packet.
fn kind_of(ip: &[u8]) -> [u8; 2] {
    if ip[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] }
}

/// An `EtherType`, and the bytes behind it.
fn tagged(ip: Vec<u8>, d: &mut Draws) -> ([u8; 2], Vec<u8>) {
    let kind = kind_of(&ip);
    match d.below(6) {
        0 => (d.of(&[[0x81, 0], [0x88, 0xa8], [0x91, 0]]), join(&[&[0, 7], &kind, &ip])),
        1 => {
            let length = (ip.len() as u16 + 2).to_be_bytes();
            ([0x88, 0x64], join(&[&[0x11, 0, 0, 5], &length, &ppp(&ip, d)]))
        }
        2 => ([0x88, 0x47], join(&[&[0, 1, 0, 64].repeat(d.below(4)), &[0, 2, 1, 64], &ip])),
        _ => (kind, ip),
    }
}

fn ppp(ip: &[u8], d: &mut Draws) -> Vec<u8> {
    let number = if ip[0] >> 4 == 6 { 0x57 } else { 0x21 };
    join(&[d.of(&[&[][..], &[0xff, 3]]), d.of(&[&[0][..], &[]]), &[number], ip])
}

fn snap(ip: Vec<u8>, d: &mut Draws) -> Vec<u8> {
    let (kind, inner) = tagged(ip, d);
    join(&[&[0xaa, 0xaa, 3, 0, 0, 0], &kind, &inner])
}

/// A frame of a link type.
fn frame(ip: Vec<u8>, d: &mut Draws) -> (u32, Vec<u8>) {
    let link = d.of(&[0, 1, 1, 9, 12, 50, 51, 101, 104, 105, 105, 108, 113, 119, 127, 127, 163, 192, 204, 276]);
    let inner = match link {
        0 | 108 => join(&[&[if ip[0] >> 4 == 6 { 30 } else { 2 }, 0, 0, 0], &ip]),
        1 => {
            let (kind, inner) = tagged(ip, d);
            join(&[&ETHERNET, &kind, &inner])
        }
        9 | 50 => ppp(&ip, d),
        51 => join(&[&[0x11, 0, 0, 5, 0, 0], &ppp(&ip, d)]),
        204 => join(&[&[1], &ppp(&ip, d)]),
        104 => join(&[&[0x0f, 0], &kind_of(&ip), &ip]),
        113 => {
            let (kind, inner) = tagged(ip, d);
            join(&[&[0; 14], &kind, &inner])
        }
        276 => {
            let (kind, inner) = tagged(ip, d);
            join(&[&kind, &[0; 18], &inner])
        }
        105 | 119 | 127 | 163 | 192 => {
            let frame = wlan(ip, d);
            match link {
                119 => join(&[&[0x44, 0, 0, 0], &[0; 140], &frame]),
                127 => join(&[d.of(&[&[0, 0, 8, 0, 0, 0, 0, 0][..], &[0, 0, 9, 0, 2, 0, 0, 0, 0x10]]), &frame]),
                163 => join(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64], &[0; 56], &frame]),
                192 => join(&[&[0, 0, 8, 0, 105, 0, 0, 0], &frame]),
                _ => frame,
            }
        }
        _ => ip,
    };
    (link, inner)
}

fn wlan(ip: Vec<u8>, d: &mut Draws) -> Vec<u8> {
    let (quality, four, aggregate) = (d.below(2) == 0, d.below(3) == 0, d.below(3) == 0);
    let aggregate = aggregate && quality;
    let body = snap(ip, d);
    let body = if aggregate { join(&[&ETHERNET, &(body.len() as u16).to_be_bytes(), &body]) } else { body };
    let head = join(&[&[if quality { 0x88 } else { 0x08 }, if four { 3 } else { 1 }, 0, 0], &[1; 18], &[0x10, 0]]);
    let more = join(&[if four { &[2; 6] } else { &[] }, if quality { &[0, 0] } else { &[] }]);
    let mut whole = join(&[&head, &more, &body]);
    if aggregate {
        whole[head.len() + more.len() - 2] = 0x80;
    }
    whole
}

/// Wraps an IP packet into a tunnel, as the contents of another IP packet.
fn tunnel(inner: Vec<u8>, d: &mut Draws) -> Vec<u8> {
    let six = d.below(2) == 0;
    let udp = |port: u16, inner: &[u8]| {
        let (port, length) = (port.to_be_bytes(), (8 + inner.len() as u16).to_be_bytes());
        join(&[&[0x13, 0x88, port[0], port[1], length[0], length[1], 0, 0], inner])
    };
    let bridged = |inner: Vec<u8>, d: &mut Draws| {
        let (kind, inner) = tagged(inner, d);
        join(&[&ETHERNET, &kind, &inner])
    };
    let (protocol, inner) = match d.below(7) {
        0 => (if inner[0] >> 4 == 6 { 41 } else { 4 }, inner),
        1 => {
            let (flags, fields) = d.of(&[(0, 0), (0x20, 1), (0x30, 2), (0xb0, 3)]);
            let (kind, inner) = tagged(inner, d);
            (47, join(&[&[flags, 0], &kind, &[9; 12][..4 * fields], &inner]))
        }
        2 => (47, join(&[&[0, 0, 0x65, 0x58], &bridged(inner, d)])),
        3 => (17, udp(4789, &join(&[&[8, 0, 0, 0, 0, 0, 5, 0], &bridged(inner, d)]))),
        4 => (17, udp(6081, &join(&[&[1, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 0], &bridged(inner, d)]))),
        5 => (17, udp(2152, &join(&[&[0x30, 255, 0, 0, 0, 0, 0, 9], &inner]))),
        _ => (137, join(&[&[0, 2, 1, 64], &inner])),
    };
    ip(six, protocol, inner, d)
}

fn pcap(link: u32, frame: &[u8]) -> Vec<u8> {
    let length = frame.len() as u32;
    let words = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link, 7, 0, length, length];
    join(&[&words.iter().flat_map(|w: &u32| w.to_le_bytes()).collect::<Vec<u8>>(), frame])
}

/// Reads some packets.
///
/// # Errors
/// A broken law, and the bytes that break it.
pub(crate) fn run(seed: u64) -> Result<u64, String> {
    let d = &mut Draws::new(seed);
    for _ in 0..STEPS {
        let payload = d.of(&[0, 1, 36, 300]);
        let (tcp, six) = (d.below(2) == 0, d.below(2) == 0);
        let length = (8 + payload as u16).to_be_bytes();
        let head =
            if tcp { join(&[&[0, 9, 0, 9], &[0; 8], &[0x50, 16, 1, 0, 0, 0, 0, 0]]) } else { join(&[&[0, 9, 0, 9], &length, &[0; 2]]) };
        let mut packet = ip(six, if tcp { 6 } else { 17 }, join(&[&head, &vec![7; payload]]), d);
        let want = [0, payload as u64, packet.len() as u64];
        for _ in 0..d.of(&[0, 0, 1, 1, 2, 3]) {
            packet = tunnel(packet, d);
        }
        let (link, mut frame) = frame(packet, d);
        let bytes = pcap(link, &frame);
        if parse_file("packets", &bytes).as_deref() != Ok(&want[..]) {
            return Err(format!("layers: not {want:?}: {bytes:?}"));
        }
        for _ in 0..d.of(&[1, 1, 2, 4]) {
            let at = d.below(frame.len());
            match d.below(4) {
                0 => frame.truncate(at.max(1)),
                1 => frame[at] ^= 1 << d.below(8),
                _ => frame[at] = d.of(&[0, 1, 0x7f, 0x80, 0xff]),
            }
        }
        // Changed bytes are another packet, or an error of one line.
        if let Err(why) = parse_file("packets", &pcap(link, &frame))
            && (why.is_empty() || why.chars().any(char::is_control))
        {
            return Err(format!("layers: an error of several lines: {frame:?}"));
        }
    }
    Ok(STEPS)
}
