use super::*;
use std::process::Command;

/// An Ethernet frame with IPv4 and UDP of `payload` bytes (RFC 791, RFC 768), cut after the headers.
fn udp(payload: u16) -> Vec<u8> {
    let mut f = vec![0; 12];
    f.extend([0x08, 0x00, 0x45, 0]);
    f.extend((payload + 28).to_be_bytes());
    f.extend([0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0, 9]);
    f.extend((payload + 8).to_be_bytes());
    f.extend([0, 0]);
    f
}

/// Seconds, nanoseconds and payload of three packets.
const THREE: [(u32, u32, u16); 3] = [(7, 999_999_000, 1200), (8, 1000, 40), (8, 500_001_000, 0)];
/// `THREE` as numbers; the first is 2 µs before the second.
const WANT: [u64; 9] = [0, 1200, 1228, 2000, 40, 68, 500_002_000, 0, 28];

fn pcap(nano: bool, little: bool, packets: &[(u32, u32, u16)]) -> Vec<u8> {
    let word = |x: u32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
    let mut out = Vec::new();
    out.extend(word(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    out.extend(if little { [2, 0, 4, 0] } else { [0, 2, 0, 4] });
    for x in [0, 0, 65_535, 1] {
        out.extend(word(x));
    }
    for &(s, ns, payload) in packets {
        let f = udp(payload);
        for x in [s, if nano { ns } else { ns / 1000 }, f.len() as u32, u32::from(payload) + 42] {
            out.extend(word(x));
        }
        out.extend(f);
    }
    out
}

fn block(little: bool, kind: u32, mut body: Vec<u8>) -> Vec<u8> {
    let word = |x: u32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
    body.resize(body.len().next_multiple_of(4), 0);
    let length = word(body.len() as u32 + 12);
    [&word(kind)[..], &length, &body, &length].concat()
}

/// A section, an interface with the resolution 10^-9 and an offset, and the packets in enhanced or old blocks.
fn pcapng(little: bool, old: bool, resolution: u8, packets: &[(u32, u32, u16)]) -> Vec<u8> {
    let word = |x: u32| if little { x.to_le_bytes() } else { x.to_be_bytes() };
    let half = |x: u16| if little { x.to_le_bytes() } else { x.to_be_bytes() };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    let offset = 5_i64;
    let eight = if little { offset.to_le_bytes() } else { offset.to_be_bytes() };
    let options = [&half(9)[..], &half(1), &[resolution, 0, 0, 0], &half(14), &half(8), &eight, &half(0), &half(0)].concat();
    let interface = [&half(1)[..], &half(0), &word(0), &options].concat();
    let mut out = [block(little, 0x0a0d_0d0a, section), block(little, 1, interface)].concat();
    // A block of an unknown type.
    out.extend(block(little, 0x0bad, vec![1, 2, 3, 4]));
    let ticks: u128 = if resolution & 0x80 != 0 { 1 << (resolution & 0x7f) } else { 10_u128.pow(resolution.into()) };
    for &(s, ns, payload) in packets {
        let f = udp(payload);
        let stamp = (u128::from(s) * 1_000_000_000 + u128::from(ns)) * ticks / 1_000_000_000;
        let head = if old { [half(0), half(0)].concat() } else { word(0).to_vec() };
        let rest = [(stamp >> 32) as u32, stamp as u32, f.len() as u32, u32::from(payload) + 42].map(word).concat();
        out.extend(block(little, if old { 2 } else { 6 }, [head, rest, f].concat()));
    }
    out
}

#[test]
fn pcap_in_both_byte_orders_and_resolutions() {
    for (nano, little) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(read(&pcap(nano, little, &THREE)).as_deref(), Ok(&WANT[..]), "{nano} {little}");
    }
    let fine = [(1, 5, 10), (1, 6, 10)];
    assert_eq!(read(&pcap(true, true, &fine)), Ok(vec![0, 10, 38, 1, 10, 38]));
}

#[test]
fn pcapng_in_both_byte_orders_with_old_and_new_packets() {
    for little in [false, true] {
        for old in [false, true] {
            for resolution in [6, 9, 12] {
                assert_eq!(read(&pcapng(little, old, resolution, &THREE)).as_deref(), Ok(&WANT[..]), "{little} {old} {resolution}");
            }
        }
    }
    // 2^-30 s is a little finer than a nanosecond: each time is rounded down to a tick.
    let list = read(&pcapng(true, false, 0x80 | 30, &THREE)).unwrap();
    assert!(list.iter().zip(WANT).all(|(a, b)| a.abs_diff(b) <= 2), "{list:?}");
}

#[test]
fn text_is_seconds_and_bytes() {
    assert_eq!(read(b"# mine\n1.5 1200\n1.500000001 40\n\n2 0 # last\n"), Ok(vec![0, 1200, 1200, 1, 40, 40, 500_000_000, 0, 0]));
    for (bad, what) in [
        ("1.5", "line 1: `1.5` is not a time in seconds and a size"),
        ("1 2 3", "line 1"),
        ("1.0000000001 5", "line 1"),
        ("-1 5", "line 1"),
        ("1e3 5", "line 1"),
        ("0 1\n2 1\n1.5 1\n", "line 3: this packet was sent 500000000 ns before the previous one"),
    ] {
        let e = read(bad.as_bytes()).unwrap_err();
        assert!(e.contains(what), "{bad}: {e}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_packet() {
    let whole = pcap(true, true, &THREE);
    let cut = |n: usize| read(&whole[..n]).unwrap_err();
    assert_eq!(cut(20), "it ends within the header of the file");
    assert_eq!(cut(24), "it contains no packets");
    assert_eq!(cut(24 + 58 + 10), "after packet 1: the header of the last packet is incomplete (byte 92)");
    assert_eq!(cut(24 + 58 + 20), "after packet 1: the last packet is incomplete (byte 102)");
    let back = [(7, 5, 10), (9, 0, 10), (8, 999_999_999, 10)];
    assert!(read(&pcap(true, true, &back)).unwrap_err().starts_with("packet 3 was captured 1 ns before"));
    let before = [(7, 5, 10), (7, 4, 10)];
    assert!(read(&pcap(true, true, &before)).unwrap_err().starts_with("packet 2 was captured 1 ns before"));
    assert!(read(&[0xff, 0xfe, 0, 1]).unwrap_err().contains("neither a capture"));
    let ng = pcapng(true, false, 9, &THREE);
    assert!(read(&ng[..ng.len() - 5]).unwrap_err().contains("after packet 2: the last block is incomplete"));
    let mut simple = pcapng(true, false, 9, &THREE[..1]);
    simple.extend(block(true, 3, [&60_u32.to_le_bytes()[..], &udp(10)].concat()));
    assert_eq!(read(&simple).unwrap_err(), "packet 2 is a simple packet block, which has no time");
    assert!(check(&[0, 1]).is_err() && check(&[5, 1, 1, 4, 1, 1]).is_err() && check(&WANT).is_ok());
}

/// Lengths of the packet in a frame of type `link`, by a capture of it.
fn lengths_of(link: u32, bytes: &[u8], length: u32) -> Result<Vec<u64>, String> {
    let mut file = pcap(true, true, &[]);
    file[20..24].copy_from_slice(&link.to_le_bytes());
    for x in [7, 0, bytes.len() as u32, length.max(bytes.len() as u32)] {
        file.extend(x.to_le_bytes());
    }
    file.extend(bytes);
    read(&file).map(|list| list[1..].to_vec())
}

#[test]
fn the_ip_packet_is_found_on_every_link() {
    let ip = udp(100)[14..].to_vec();
    let wrap = |head: &[u8]| [head, &ip].concat();
    let ethernet = [0; 12];
    let tagged = wrap(&[&ethernet[..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 8, 0]].concat());
    let cooked = wrap(&[&[0; 14][..], &[8, 0]].concat());
    let cooked2 = wrap(&[&[8, 0][..], &[0; 18]].concat());
    for (link, frame) in [(1, wrap(&[&ethernet[..], &[8, 0]].concat())), (1, tagged), (101, ip.clone()), (228, ip.clone()), (113, cooked)] {
        assert_eq!(lengths_of(link, &frame, 0), Ok(vec![100, 128]), "{link}");
    }
    assert_eq!(lengths_of(276, &cooked2, 0), Ok(vec![100, 128]));
    assert_eq!(lengths_of(0, &wrap(&[2, 0, 0, 0]), 0), Ok(vec![100, 128]));
    // ARP is not an IP packet; IEEE 802.15.4 is not supported.
    assert_eq!(lengths_of(1, &[&ethernet[..], &[8, 6, 0, 0]].concat(), 60), Err("none of its 1 packets is an IP packet".to_owned()));
    assert!(lengths_of(195, &ip, 0).unwrap_err().contains("type 195 (IEEE 802.15.4)"));
    assert!(lengths_of(1, &ip[..10], 0).unwrap_err().contains("too few"));
}

#[test]
fn payload_is_what_follows_the_transport_header() {
    let mut ip = udp(100)[14..].to_vec();
    // TCP with 12 bytes of options: a 32-byte header.
    ip[9] = 6;
    ip.resize(32, 0);
    ip.push(0x80);
    assert_eq!(lengths_of(101, &ip, 0), Ok(vec![128 - 20 - 32, 128]));
    // A later fragment: no transport header.
    ip[7] = 9;
    assert_eq!(lengths_of(101, &ip, 0), Ok(vec![108, 128]));
    // Segmentation offload: total length 0, the frame length counts.
    (ip[7], ip[2], ip[3]) = (0, 0, 0);
    assert_eq!(lengths_of(101, &ip, 9052), Ok(vec![9000, 9052]));
    // IPv6 with a hop-by-hop header before UDP.
    let mut v6 = vec![0x60, 0, 0, 0, 0, 116, 0, 64];
    v6.extend([0; 32]);
    v6.extend([17, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(lengths_of(229, &v6, 0), Ok(vec![100, 156]));
}

/// Reads files written by Wireshark's own programs, where installed: text2pcap makes a capture, editcap converts it into every other format.
#[test]
fn files_of_wiresharks_programs() {
    let dir = std::env::temp_dir().join(format!("fairlane-captures-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let hex = |ns: u32| {
        let bytes: Vec<String> = (0..100).map(|_| "aa".to_owned()).collect();
        format!("10:00:00.{ns:09}\n0000 {}\n\n", bytes.join(" "))
    };
    std::fs::write(dir.join("in.txt"), format!("{}{}", hex(1_000_000), hex(4_500_000))).unwrap();
    let ran = |program: &str, args: &[&str]| Command::new(program).args(args).current_dir(&dir).output().is_ok_and(|o| o.status.success());
    if ran("text2pcap", &["-u", "9,9", "-t", "%H:%M:%S.%f", "in.txt", "in.pcapng"]) {
        let want = vec![0, 100, 128, 3_500_000, 100, 128];
        assert_eq!(read(&std::fs::read(dir.join("in.pcapng")).unwrap()), Ok(want.clone()));
        for kind in ["pcap", "nsecpcap", "pcapng"] {
            if ran("editcap", &["-F", kind, "in.pcapng", kind]) {
                assert_eq!(read(&std::fs::read(dir.join(kind)).unwrap()), Ok(want.clone()), "{kind}");
            }
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
