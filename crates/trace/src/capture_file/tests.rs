use super::*;

/// IPv4 (RFC 791), protocol and contents.
fn ip(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let total = (20 + inner.len() as u16).to_be_bytes();
    let mut b = vec![0x45, 0, total[0], total[1], 0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    b.extend(inner);
    b
}

/// UDP (RFC 768) to a port.
fn udp(port: u16, inner: &[u8]) -> Vec<u8> {
    let (port, length) = (port.to_be_bytes(), (8 + inner.len() as u16).to_be_bytes());
    [&[0x13, 0x88, port[0], port[1], length[0], length[1], 0, 0], inner].concat()
}

fn one(link_type: u32, bytes: &[u8]) -> Decoded {
    match Decoder::default().decode(link_type, bytes, bytes.len() as u32) {
        &[(found, length)] if length as usize == bytes.len() => found,
        other => panic!("{other:?}"),
    }
}

/// Payload and length of the IP packet.
fn lengths(link_type: u32, bytes: &[u8]) -> (u32, u32) {
    match one(link_type, bytes) {
        Decoded::Headers(f) => (f.payload, f.length),
        Decoded::Ip { payload, length } => (payload, length),
        other => panic!("{other:?}"),
    }
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// The optional fields of GRE (RFC 2784, 2890) are there by their bits; routing is not read, but the packet has its length.
#[test]
fn optional_fields_of_gre() {
    let inner = ip(17, &udp(9, &[7; 30]));
    for (flags, fields) in [(0, 0), (0x80, 1), (0x20, 1), (0x10, 1), (0xb0, 3)] {
        let gre = join(&[&[flags, 0, 8, 0], &vec![0xff; 4 * fields], &inner]);
        assert_eq!(lengths(101, &ip(47, &gre)), (30, 58), "{flags:x}");
    }
    let routed = join(&[&[0x40, 0, 8, 0], &[0; 8], &inner]);
    assert_eq!(one(101, &ip(47, &routed)), Decoded::Ip { payload: 70, length: 90 });
}

/// A datagram to the port of a tunnel is UDP if it holds no tunnel.
#[test]
fn a_port_is_only_a_hint() {
    let inner = ip(17, &udp(9, &[7; 30]));
    let ethernet = join(&[&[0; 12], &[8, 0], &inner]);
    assert_eq!(lengths(101, &ip(17, &udp(4789, &join(&[&[8, 0, 0, 0, 0, 0, 5, 0], &ethernet])))), (30, 58));
    assert_eq!(lengths(101, &ip(17, &udp(4789, &[0; 80]))), (80, 108));
    assert_eq!(lengths(101, &ip(17, &udp(2152, &[0x30, 1, 0, 4, 0, 0, 0, 0]))), (8, 36));
    assert_eq!(lengths(101, &ip(17, &udp(6081, &[0xff; 40]))), (40, 68));
}

/// Layers end: a packet of nothing but tags, labels or tunnels is no packet of ours, and takes no stack.
#[test]
fn nesting_is_limited() {
    let tags = join(&[&[0; 12], &[0x81, 0, 0, 7].repeat(1000)]);
    assert_eq!(one(1, &tags), Decoded::Other);
    assert_eq!(one(1, &join(&[&[0; 12], &[0x88, 0x47], &[0; 4000]])), Decoded::Damaged);
    let mut deep = ip(17, &udp(9, &[7; 30]));
    for _ in 0..10 {
        deep = ip(4, &deep);
    }
    assert_eq!(lengths(101, &deep), (30, 58));
    for _ in 0..1000 {
        deep = ip(4, &deep);
    }
    assert!(matches!(one(101, &deep), Decoded::Ip { .. }));
}

/// A data frame with QoS: number, flags of frame control, low byte of QoS control.
fn frame(number: u16, flags: u8, qos: u8, body: &[u8]) -> Vec<u8> {
    let control = (number << 4).to_le_bytes();
    join(&[&[0x88, 1 | flags, 0, 0], &[1; 6], &[2; 6], &[3; 6], &control, &[qos, 0], body])
}

fn snap(ip: &[u8]) -> Vec<u8> {
    join(&[&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], ip])
}

/// IEEE Std 802.11-2020, clause 10.3.2.14: the same number of the same sender and class, with the bit Retry. A retry whose first attempt is missing counts.
#[test]
fn repetitions_of_the_mac() {
    const RETRY: u8 = 8;
    let body = snap(&ip(17, &udp(9, &[7; 30])));
    let mut decoder = Decoder::default();
    for (number, flags, qos, again) in [
        (1, 0, 0, false),
        (1, RETRY, 0, true),
        (1, RETRY, 0, true),
        (1, 0, 0, false),
        (1, RETRY, 5, false),
        (2, RETRY, 0, false),
        (1, RETRY, 0, false),
    ] {
        let bytes = frame(number, flags, qos, &body);
        let found = decoder.decode(105, &bytes, bytes.len() as u32)[0].0;
        assert_eq!(found == Decoded::Repeated, again, "{number} {flags} {qos}");
        assert!(again || matches!(found, Decoded::Headers(_)));
    }
}

/// An A-MSDU is several packets, whose lengths add up to that of the frame, with or without a check sequence, or cut.
#[test]
fn packets_of_an_aggregate() {
    let part = |n: usize| {
        let body = snap(&ip(17, &udp(9, &vec![7; n])));
        join(&[&[4; 12], &(body.len() as u16).to_be_bytes(), &body])
    };
    let padded = |mut b: Vec<u8>| {
        b.resize(b.len().next_multiple_of(4), 0);
        b
    };
    for fcs in [0, 4] {
        let bytes = frame(1, 0, 0x80, &join(&[&padded(part(31)), &padded(part(5)), &part(10), &vec![0; fcs]]));
        let mut decoder = Decoder::default();
        let found = decoder.decode(105, &bytes, bytes.len() as u32);
        let payloads: Vec<u32> = found.iter().map(|(f, _)| if let Decoded::Headers(f) = f { f.payload } else { 0 }).collect();
        assert_eq!(payloads, [31, 5, 10]);
        assert_eq!(found.iter().map(|(_, n)| *n as usize).sum::<usize>().next_multiple_of(4), bytes.len().next_multiple_of(4));
        let found = decoder.decode(105, &bytes[..100], bytes.len() as u32);
        assert!(matches!(found[0].0, Decoded::Headers(_)));
        assert_eq!(decoder.decode(105, &bytes[..30], bytes.len() as u32), [(Decoded::Damaged, bytes.len() as u32)]);
    }
}

/// Frames without data, of control, encrypted or with a wrong check sequence.
#[test]
fn frames_without_packets() {
    let body = snap(&ip(17, &udp(9, &[7; 30])));
    let whole = frame(1, 0, 0, &body);
    let with = |at: usize, byte: u8| {
        let mut b = whole.clone();
        b[at] = byte;
        one(105, &b)
    };
    assert!(matches!(one(105, &whole), Decoded::Headers(_)));
    assert_eq!(with(0, 0xc8), Decoded::Other);
    assert_eq!(with(0, 0x80), Decoded::Other);
    assert_eq!(with(0, 0xd4), Decoded::Other);
    assert_eq!(with(1, 0x41), Decoded::Protected);
    let radio = |flags: u8| join(&[&[0, 0, 9, 0, 2, 0, 0, 0, flags], &whole]);
    assert!(matches!(one(127, &radio(0)), Decoded::Headers(_)));
    assert_eq!(one(127, &radio(0x40)), Decoded::Damaged);
}
