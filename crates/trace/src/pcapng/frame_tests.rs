use super::*;
use fairlane_net::{Block, Class, Cookie, Ecn};
use fairlane_testkit::packet::PACKET;

fn facts() -> FlowFacts {
    FlowFacts { from: 0, to: 1, first_hop: [0, 10], mss: 1460, shift: 7, sack: true }
}

fn pkt(seg: &Segment, proto: Proto, back: bool) -> Packet {
    let len = u32::from(seg.payload) + if proto == Proto::Tcp { 40 } else { 28 };
    let data = seg.payload > 0;
    Packet { len, class: Class(46), ecn: Ecn::Ect0, proto, data, back, ..PACKET }
}

fn frame(p: &Packet, seg: &Segment, six: bool) -> (Vec<u8>, Lengths) {
    let mut b = [0xAA; HEAD];
    let hop = LinkHop { from: p.back.into(), to: (!p.back).into(), hops: 3 };
    let l = if six { render::<true>(&mut b, p, seg, &facts(), hop) } else { render::<false>(&mut b, p, seg, &facts(), hop) };
    (b[..l.head].to_vec(), l)
}

/// Checksum by the definition of RFC 1071 section 4.1: 16-bit words, one after the other.
fn slow_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// RFC 1071 section 3: the words 0001, f203, f4f5, f6f7 add up to 2ddf0, folded to ddf2; the checksum is its complement.
#[test]
fn checksum_of_the_example_in_rfc_1071() {
    assert_eq!(checksum(0x0001 + 0xF203 + 0xF4F5 + 0xF6F7), !0xDDF2);
    assert_eq!(checksum(0xF203_F4F5_u64 + 0x0001_F6F7), checksum(0x0001 + 0xF203 + 0xF4F5 + 0xF6F7));
}

/// RFC 1624 section 4: the header sum of CD7A with the word 5555 changed to 3285 has the checksum 0000, not FFFF.
#[test]
fn checksum_of_the_example_in_rfc_1624() {
    assert_eq!(checksum(0xCD7A + 0x5555), 0xDD2F);
    assert_eq!(checksum(0xCD7A + 0x3285), 0x0000);
}

/// Every header has a valid checksum: IP over its own words, TCP and UDP with the pseudo-header (RFC 9293 section 3.1, RFC 768, RFC 8200 section 8.1).
#[test]
fn sums_of_every_kind_of_packet_are_all_ones() {
    let mut segments = vec![Segment::new(1, 1, flag::ACK, 1000), Segment::new(0, 0, flag::SYN | flag::ECE | flag::CWR, 0)];
    let mut stamped = Segment::new(u64::from(u32::MAX) + 77, 5_000_000_000, flag::ACK, 0);
    stamped.set_timestamps(u32::MAX - 3, 12);
    for i in 0..3 {
        stamped.add_sack(Block { start: stamped.ack + 2000 * i + 1000, end: stamped.ack + 2000 * i + 2000 });
    }
    stamped.set_ace(5);
    segments.push(stamped);
    segments.extend((0..300).map(|i| Segment::new(i * 7919, i * 104_729, flag::ACK | flag::FIN, (i * 211) as u16)));
    for seg in &segments {
        for (proto, back, six) in [Proto::Tcp, Proto::Udp].into_iter().flat_map(|p| [(p, false, false), (p, true, false), (p, false, true)])
        {
            let (b, l) = frame(&pkt(seg, proto, back), seg, six);
            let transport = &b[l.network..];
            let inner = transport.len() as u32 + u32::from(seg.payload);
            let number = if proto == Proto::Tcp { 6 } else { 17 };
            let mut pseudo = if six { b[22..54].to_vec() } else { b[26..34].to_vec() };
            pseudo.extend_from_slice(&inner.to_be_bytes());
            pseudo.extend_from_slice(&[0, 0, 0, number]);
            assert_eq!(slow_sum(&[&pseudo, transport].concat()), 0xFFFF, "{seg:?} {proto:?} {back} {six}");
            if six {
                assert_eq!(u16::from_be_bytes([b[18], b[19]]), inner as u16);
            } else {
                assert_eq!(slow_sum(&b[14..34]), 0xFFFF);
                assert_eq!(u16::from_be_bytes([b[16], b[17]]), 20 + inner as u16);
            }
        }
    }
}

/// A SYN byte by byte: RFC 791, RFC 9293 section 3.1, options of RFC 9293 section 3.7.1, RFC 2018 section 2, RFC 7323 sections 2.2 and 3.2.
#[test]
fn a_syn_byte_by_byte() {
    let mut seg = Segment::new(0, 0, flag::SYN, 0);
    seg.wnd = 65_535;
    seg.set_timestamps(0x0102_0304, 0);
    let (b, l) = frame(&pkt(&seg, Proto::Tcp, false), &seg, false);
    assert_eq!(b[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    // Version, length; DSCP 46 and ECT(0); 60 bytes; DF; TTL 64 minus three hops; TCP.
    assert_eq!((b[14], b[15], &b[16..18], &b[20..22], b[22], b[23]), (0x45, 46 << 2 | 2, &[0, 60][..], &[0x40, 0][..], 61, 6));
    assert_eq!(b[26..34], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!(b[34..38], [0xC0, 0x00, 0x88, 0xB8]);
    assert_eq!(b[38..42], isn(0, 0, false).to_be_bytes());
    assert_eq!(b[42..46], [0; 4]);
    assert_eq!(b[46..50], [0xA0, flag::SYN, 0xFF, 0xFF]);
    assert_eq!(b[54..74], [2, 4, 0x05, 0xB4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7]);
    assert_eq!((l.head, l.network, l.frame), (74, 34, 74));
}

/// Sequence numbers and SACK blocks wrap at 2^32; the window is scaled, except that of a SYN.
#[test]
fn numbers_are_folded_and_windows_scaled() {
    let mut seg = Segment::new(1, (1 << 32) + 10, flag::ACK, 0);
    seg.wnd = 65_535 << 7;
    seg.add_sack(Block { start: (1 << 32) + 1470, end: (1 << 32) + 2930 });
    let (b, _) = frame(&pkt(&seg, Proto::Tcp, true), &seg, false);
    // From the receiver: its own sequence numbers, acknowledging the sender's.
    assert_eq!(b[34..38], [0x88, 0xB8, 0xC0, 0x00]);
    assert_eq!(b[38..42], isn(0, 0, true).wrapping_add(1).to_be_bytes());
    assert_eq!(b[42..46], isn(0, 0, false).wrapping_add(10).to_be_bytes());
    assert_eq!(b[48..50], [0xFF, 0xFF]);
    assert_eq!(b[54..58], [1, 1, 5, 10]);
    assert_eq!(b[58..62], isn(0, 0, false).wrapping_add(1470).to_be_bytes());
    assert_eq!(b[62..66], isn(0, 0, false).wrapping_add(2930).to_be_bytes());
}

/// Simulated bytes beyond real headers form a trailer; if there are fewer (ns-2 adds nothing to some packets), a frame has its real length.
#[test]
fn frames_are_as_long_as_headers_and_payload_at_least() {
    let seg = Segment::new(1, 1, flag::ACK, 1000);
    let mut p = pkt(&seg, Proto::Tcp, false);
    for (len, want) in [(1040, 1054), (1100, 1114), (1000, 1054)] {
        p.len = len;
        assert_eq!(frame(&p, &seg, false).1.frame, want);
    }
    assert_eq!(frame(&p, &seg, true).1.frame, 1074);
}

/// RFC 768: a computed sum of zero is sent as ones.
#[test]
fn no_datagram_says_that_it_has_no_checksum() {
    for payload in 0..=65_507 {
        let seg = Segment::new(0, 0, 0, payload);
        let (b, l) = frame(&pkt(&seg, Proto::Udp, false), &seg, false);
        assert_ne!(b[l.network + 6..l.network + 8], [0, 0], "{payload}");
    }
}

#[test]
fn flows_have_ports_of_their_own() {
    let mut all: Vec<u32> = (0..200_000).map(|flow| ports(flow, 0)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 200_000);
}

/// Fast Open option (RFC 7413 section 4.1.1), a request and a cookie, in the standard and the experimental form (RFC 6994), padded with NOPs.
#[test]
fn a_fast_open_option_byte_by_byte() {
    let cookie = |bytes: &[u8]| Cookie::new(bytes).unwrap();
    for (option, want) in [
        (FastOpen::default(), &[34, 2, 1, 1][..]),
        (FastOpen { cookie: cookie(&[9; 4]), experimental: false }, &[34, 6, 9, 9, 9, 9, 1, 1]),
        (FastOpen { cookie: cookie(&[1, 2, 3, 4, 5, 6]), experimental: false }, &[34, 8, 1, 2, 3, 4, 5, 6]),
        (FastOpen { cookie: Cookie::REQUEST, experimental: true }, &[254, 4, 0xF9, 0x89]),
        (FastOpen { cookie: cookie(&[7; 8]), experimental: true }, &[254, 12, 0xF9, 0x89, 7, 7, 7, 7, 7, 7, 7, 7]),
    ] {
        let mut seg = Segment::new(0, 0, flag::SYN, 100);
        seg.set_timestamps(1, 2);
        seg.set_fast_open(option);
        let (b, l) = frame(&pkt(&seg, Proto::Tcp, false), &seg, false);
        // After MSS, SACK permitted with timestamps, and window scale.
        assert_eq!(&b[74..], want);
        assert_eq!((l.head, usize::from(b[46] >> 4) * 4), (74 + want.len(), 40 + want.len()));
    }
    // The longest option fills the header.
    let mut seg = Segment::new(0, 0, flag::SYN, 0);
    seg.set_timestamps(1, 2);
    seg.set_fast_open(FastOpen { cookie: cookie(&[5; 16]), experimental: true });
    assert_eq!(frame(&pkt(&seg, Proto::Tcp, false), &seg, false).0[46] & 0xF0, 0xF0);
}

/// A further connection shares neither ports nor initial sequence numbers with the earlier one, nor ports with another flow.
#[test]
fn connections_have_ports_of_their_own() {
    let mut all: Vec<u32> = (0..1_000_000).step_by(997).flat_map(|flow| (0..16).map(move |conn| ports(flow, conn))).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    let mut numbers: Vec<u32> = (0..100).flat_map(|conn| [isn(7, conn, false), isn(7, conn, true)]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 200);
}
