use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed at the end.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let place = std::env::temp_dir().join(format!("fairlane-reading-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        std::fs::create_dir_all(&place).unwrap();
        Self(place)
    }

    fn read(&self, bytes: &[u8]) -> Result<Capture, ReadError> {
        let file = self.0.join("f");
        std::fs::write(&file, bytes).unwrap();
        let _ = std::fs::remove_dir_all(self.0.join("t"));
        capture(&file, self.0.join("t"), &|| true)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// IPv4 and TCP without options (RFC 791, RFC 9293).
fn segment(from: u8, to: u8, seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
    let total = (40 + payload) as u16;
    let mut b = vec![0x45, 0, (total >> 8) as u8, total as u8, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    b.extend(1000_u16.to_be_bytes().map(|b| b.wrapping_add(from)));
    b.extend(1000_u16.to_be_bytes().map(|b| b.wrapping_add(to)));
    b.extend(seq.to_be_bytes());
    b.extend(ack.to_be_bytes());
    b.extend([0x50, flags, 0x20, 0, 0, 0, 0, 0]);
    b.resize(40 + payload, 0);
    b
}

fn ethernet(ip: &[u8]) -> Vec<u8> {
    [&[0; 12][..], &[8, 0], ip].concat()
}

/// A pcap file with whole packets, one per millisecond.
fn pcap(link_type: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0xa1b2_c3d4_u32.to_le_bytes());
    out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(65_535_u32.to_le_bytes());
    out.extend(link_type.to_le_bytes());
    for (i, packet) in packets.iter().enumerate() {
        for word in [1_700_000_000, 1000 * i as u32, packet.len() as u32, packet.len() as u32] {
            out.extend(word.to_le_bytes());
        }
        out.extend(packet);
    }
    out
}

fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = word(12 + body.len() as u32);
    [&word(kind)[..], &len, &body, &len].concat()
}

fn pcapng(big: bool, link_type: u16, packets: &[Vec<u8>]) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[255; 8]].concat();
    // Nanosecond ticks (if_tsresol 9).
    let interface = [&half(link_type)[..], &half(0), &word(0), &half(9), &half(1), &[9, 0, 0, 0], &[0; 4]].concat();
    let mut out = [block(big, SECTION, &section), block(big, 1, &interface)].concat();
    for (i, packet) in packets.iter().enumerate() {
        let time = 1_700_000_000_000_000_000 + 1_000_000 * i as u64;
        let len = packet.len() as u32;
        let body: Vec<u8> = [0, (time >> 32) as u32, time as u32, len, len].into_iter().flat_map(word).collect();
        out.extend(block(big, 6, &[&body[..], packet].concat()));
    }
    out
}

const SECTION: u32 = 0x0a0d_0d0a;

fn talk() -> Vec<Vec<u8>> {
    vec![
        segment(1, 2, 99, 0, 2, 0),
        segment(2, 1, 499, 100, 18, 0),
        segment(1, 2, 100, 500, 16, 0),
        segment(1, 2, 100, 500, 24, 1000),
        segment(1, 2, 1100, 500, 24, 500),
        segment(2, 1, 500, 1600, 16, 0),
    ]
}

#[test]
fn the_same_packets_in_every_kind_of_file() {
    let place = TestFolder::new();
    let raw = talk();
    let framed: Vec<Vec<u8>> = raw.iter().map(|p| ethernet(p)).collect();
    let tagged: Vec<Vec<u8>> = raw.iter().map(|p| [&[0; 12][..], &[0x81, 0, 0, 7, 0x88, 0xa8, 0, 8, 8, 0], p].concat()).collect();
    let cooked: Vec<Vec<u8>> = raw.iter().map(|p| [&[0; 14][..], &[8, 0], p].concat()).collect();
    let cooked2: Vec<Vec<u8>> = raw.iter().map(|p| [&[8, 0][..], &[0; 18], p].concat()).collect();
    let loopback: Vec<Vec<u8>> = raw.iter().map(|p| [&[2, 0, 0, 0][..], p].concat()).collect();
    for (bytes, extra) in [
        (pcap(1, &framed), 14),
        (pcap(1, &tagged), 22),
        (pcap(101, &raw), 0),
        (pcap(228, &raw), 0),
        (pcap(113, &cooked), 16),
        (pcap(276, &cooked2), 20),
        (pcap(0, &loopback), 4),
        (pcapng(false, 1, &framed), 14),
        (pcapng(true, 101, &raw), 0),
    ] {
        let read = place.read(&bytes).unwrap();
        assert_eq!(read.remarks, Vec::<String>::new());
        let [flow] = &read.flows[..] else { panic!("{:?}", read.flows) };
        assert_eq!(flow.name, "10.0.0.1:1257-10.0.0.2:1514");
        assert_eq!((flow.packets, read.span), ([4, 2], 5_000_000));
        assert_eq!(flow.bytes, [1660 + 4 * extra, 80 + 2 * extra]);
    }
}

/// A file cut anywhere yields its whole packets, or an error.
#[test]
fn files_that_end_anywhere() {
    let place = TestFolder::new();
    let framed: Vec<Vec<u8>> = talk().iter().map(|p| ethernet(p)).collect();
    for bytes in [pcap(1, &framed), pcapng(false, 1, &framed)] {
        let whole = place.read(&bytes).unwrap();
        for len in (0..bytes.len()).step_by(7) {
            match place.read(&bytes[..len]) {
                Ok(read) => {
                    assert!(read.packets <= whole.packets);
                    assert!(read.packets == whole.packets || !read.remarks.is_empty() || bytes[..len].ends_with(&[0]), "{len}");
                }
                Err(ReadError::NoCapture(_)) => assert!(len < 60),
                Err(e) => panic!("{e:?}"),
            }
        }
    }
}

/// Wrong lengths end the reading, and take no memory.
#[test]
fn lengths_that_lie() {
    let place = TestFolder::new();
    let framed: Vec<Vec<u8>> = talk().iter().map(|p| ethernet(p)).collect();
    let mut bytes = pcap(1, &framed);
    bytes[24 + 8..24 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let read = place.read(&bytes).unwrap();
    assert!(read.packets == 0 && read.remarks[0].contains("claims to have 4294967295 bytes"), "{read:?}");
    let mut bytes = pcapng(false, 1, &framed);
    let at = 28 + 32 + 4;
    bytes[at..at + 4].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    assert!(place.read(&bytes).unwrap().remarks[0].contains("claims to have"));
    let mut bytes = pcapng(false, 1, &framed);
    let captured = 28 + 32 + 8 + 12;
    bytes[captured..captured + 4].copy_from_slice(&5000_u32.to_le_bytes());
    assert!(place.read(&bytes).unwrap().remarks[0].contains("more than its block"));
}

/// A simple random generator: nothing may stop the reader.
#[test]
fn bytes_that_are_wrong() {
    let place = TestFolder::new();
    let framed: Vec<Vec<u8>> = talk().iter().map(|p| ethernet(p)).collect();
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for bytes in [pcap(1, &framed), pcapng(true, 1, &framed)] {
        for _ in 0..300 {
            let mut bad = bytes.clone();
            for _ in 0..1 + next() % 4 {
                let at = next() % bad.len();
                bad[at] = next() as u8;
            }
            // Any result but a panic.
            let _ = place.read(&bad);
        }
    }
}

/// Fragments (RFC 791, RFC 8200) belong to the flow of their first one.
#[test]
fn fragments_belong_to_their_flow() {
    let place = TestFolder::new();
    let mut first = vec![0x45, 0, 5, 220, 0, 9, 0x20, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 4, 1, 11, 196, 0, 0];
    first.resize(1500, 0);
    let mut second = vec![0x45, 0, 5, 220, 0, 9, 0, 185, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    second.resize(1500, 0);
    let stranger = [&second[..4], &[0, 8], &second[6..]].concat();
    let read = place.read(&pcap(101, &[first, second, stranger])).unwrap();
    assert_eq!(read.flows.len(), 1);
    assert_eq!((read.flows[0].name.as_str(), read.flows[0].packets), ("10.0.0.1:1024-10.0.0.2:1025", [2, 0]));
    assert_eq!(read.remarks, ["1 packet is left out: neither TCP nor UDP over IP"]);
}

/// RFC 8200: extension headers before TCP; IPv6 addresses are in brackets in the flow's name.
#[test]
fn extension_headers() {
    let tcp = &segment(1, 2, 7, 0, 2, 0)[20..];
    let mut b = vec![0x60, 0, 0, 0, 0, 20 + 16, 0, 64];
    b.extend([0; 15]);
    b.push(1);
    b.extend([0; 15]);
    b.push(2);
    b.extend([60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0]);
    b.extend(tcp);
    let read = TestFolder::new().read(&pcap(229, &[b])).unwrap();
    assert_eq!(read.flows[0].name, "[::1]:1257-[::2]:1514");
}

/// Sequence numbers are unwrapped and start at 0 with the SYN.
#[test]
fn numbers_go_on_where_they_wrap() {
    let mut c = Connection::default();
    let f = |seq: u32, payload: u32, flags: u8| match Decoder::default().decode(
        101,
        &segment(1, 2, seq, 0, flags, payload as usize),
        40 + payload,
    ) {
        &[(Decoded::Headers(f), _)] => f,
        other => panic!("{other:?}"),
    };
    let first = u32::MAX - 999;
    for (seq, payload, flags, expected) in
        [(first, 0, 2, 0), (first.wrapping_add(1), 1000, 16, 1), (1, 1000, 16, 1001), (1, 1000, 16, 1001)]
    {
        let f = f(seq, payload, flags);
        let seen = c.take(0, &f, 1_000_000_000);
        assert_eq!(c.numbers(0, &f).0, expected);
        assert!(!seen.late);
    }
}

/// Simple packet blocks have no time: that of the packet before; a file of nothing else is refused by its remark.
#[test]
fn packets_without_a_time() {
    let place = TestFolder::new();
    let simple = |p: &[u8]| block(false, 3, &[&(p.len() as u32).to_le_bytes()[..], p].concat());
    let talk = talk();
    let mut bytes = pcapng(false, 101, &talk[..4]);
    talk[4..].iter().for_each(|p| bytes.extend(simple(p)));
    let read = place.read(&bytes).unwrap();
    assert_eq!((read.flows[0].packets, read.span), ([4, 2], 3_000_000));
    assert_eq!(read.remarks, ["2 packets are without a time (simple packet blocks): each has that of the packet before"]);
    let mut bytes = pcapng(false, 101, &[]);
    talk.iter().for_each(|p| bytes.extend(simple(p)));
    let read = place.read(&bytes).unwrap();
    assert!(
        read.flows.is_empty() && read.remarks == ["6 packets are left out: no time in the file (simple packet blocks); capture with times"]
    );
}

/// Link types that cannot be decoded are named, with what can be.
#[test]
fn unknown_links_are_named() {
    let read = TestFolder::new().read(&pcap(195, &talk())).unwrap();
    assert_eq!(
        read.remarks,
        [
            "6 packets are left out: link type 195 (IEEE 802.15.4) is not supported: capture at an interface of Ethernet, PPP, Cisco HDLC, 802.11, raw IP, BSD loopback and Linux cooked"
        ]
    );
}
