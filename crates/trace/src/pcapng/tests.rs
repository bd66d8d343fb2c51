use super::*;
use fairlane_net::Backlog;
use fairlane_net::{DropEvent, DropReason, EpId, FlowId, flag};
use fairlane_testkit::packet::PACKET;
use fairlane_units::Rate;

fn pkt(hop: u32) -> Packet {
    Packet { len: 1040, hop, ..PACKET }
}

fn facts() -> FlowFacts {
    FlowFacts { from: 0, to: 1, first_hop: [0, 2], mss: 1460, shift: NO_SHIFT, sack: false }
}

fn link_end() -> LinkEnd {
    LinkEnd { name: "l".into(), node: 0, peer: 1, sends: Some(PortId(0)), receives: Some(PortId(1)), rate: Rate::from_mbps(1) }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fairlane-pcapng-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn network() -> Network {
    Network { comment: String::new(), nodes: vec!["a".into(), "b".into()], ports: 2, flows: vec![facts()], ..Network::default() }
}

fn blocks(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let len = word(at + 4) as usize;
        assert!(
            len.is_multiple_of(4) && word(at + len - 4) as usize == len,
            "section 3.1: both lengths are the same, and multiples of four"
        );
        found.push((word(at), bytes[at..at + len].to_vec()));
        at += len;
    }
    found
}

/// Section 4.3 of the draft, byte by byte: 40 bytes of headers behind Ethernet's 14 are padded to 56, direction outbound, nanoseconds rounded down.
#[test]
fn an_enhanced_packet_block() {
    let folder = folder("block");
    let request = Request { file: folder.join("x.pcapng"), points: Points::Links(vec![link_end()]) };
    let mut c = Capture::new(network(), Style::default(), std::slice::from_ref(&request)).unwrap();
    // Of what it sends it wants what leaves, of what it receives what has crossed the link.
    let asked = |i| [Interest::PORT, Interest::ENQUEUE, Interest::HOP].map(|what| c.port_interest(PortId(i)).has(what));
    assert_eq!([0, 1, 2].map(asked), [[true, false, false], [false, false, true], [false, false, false]]);
    assert!(!c.port_interest(PortId(0)).has(Interest::PROMPT) && c.before_hop(PortId(1)) == Some(PortId(0)));
    let seg = Segment::new(1, 1, flag::ACK, 1000);
    let (time, backlog) = (Time::from_ps(5_000_000_001_999), Backlog { pkts: 2, bytes: 2080 });
    c.on_dequeue(&DequeueEvent { time, port: PortId(0), pkt: pkt(0), backlog, seg });
    c.on_drop(&DropEvent { time, port: PortId(0), pkt: pkt(0), why: DropReason::Overflow, backlog, seg });
    assert!(!request.file.exists());
    c.finish().unwrap().put_in_place().unwrap();
    let found = blocks(&std::fs::read(&request.file).unwrap());
    let kinds: Vec<u32> = found.iter().map(|b| b.0).collect();
    assert_eq!(kinds, [0x0A0D_0D0A, 1, 1, 4, 6, 6, 5]);
    let sent = &found[4].1;
    let want: &[&[u8]] = &[
        &6_u32.to_le_bytes(),
        &100_u32.to_le_bytes(),
        &0_u32.to_le_bytes(),
        // 5,000,000,001 ns = 2^32 + 705,032,705.
        &1_u32.to_le_bytes(),
        &705_032_705_u32.to_le_bytes(),
        &54_u32.to_le_bytes(),
        &1054_u32.to_le_bytes(),
    ];
    assert_eq!(sent[..28], want.concat());
    assert_eq!(sent[82..], [&[0, 0, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0][..], &100_u32.to_le_bytes()].concat());
    let dropped = &found[5].1;
    let comment = "dropped: overflow, queue 2 packets 2080 bytes; 1000 bytes of data";
    assert_eq!((dropped[8], dropped[20], dropped[24..28].to_vec()), (1, 34 + 8, 1054_u32.to_le_bytes().to_vec()));
    assert!(String::from_utf8_lossy(dropped).contains(comment));
    // One packet hop, one dropped.
    assert_eq!((found[6].1[24], found[6].1[36]), (1, 1));
    std::fs::remove_dir_all(folder).unwrap();
}

/// With several ports in one file, departures must happen when due.
#[test]
fn a_node_with_two_links_wants_departures_in_time() {
    let folder = folder("node");
    let other = LinkEnd { name: "m".into(), sends: Some(PortId(1)), receives: None, ..link_end() };
    let request = Request { file: folder.join("x.pcapng"), points: Points::Links(vec![link_end(), other]) };
    let c = Capture::new(network(), Style::default(), &[request]).unwrap();
    assert!([0, 1].iter().all(|&i| c.port_interest(PortId(i)).has(Interest::PROMPT)) && c.before_hop(PortId(1)).is_none());
    drop(c);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "what is given up leaves nothing");
    std::fs::remove_dir_all(folder).unwrap();
}

/// At a sender: sent packets have TTL 64, received ones one less for each link but the last.
#[test]
fn a_flow_is_seen_at_its_sender() {
    let folder = folder("flow");
    let end = FlowEnd { name: "f".into(), flow: 0, next: 7, last: 8 };
    let request = Request { file: folder.join("x.pcapng"), points: Points::Flows(vec![end]) };
    let style = Style { snaplen: Some(SNAPLEN), ipv6: false, queue: true };
    let mut c = Capture::new(network(), style, std::slice::from_ref(&request)).unwrap();
    let (time, seg) = (Time::ZERO, Segment::new(1, 1, flag::ACK, 1000));
    c.on_send(&SendEvent { time, endpoint: EpId(0), pkt: pkt(0), seg });
    c.on_send(&SendEvent { time, endpoint: EpId(1), pkt: Packet { back: true, ..pkt(2) }, seg });
    c.on_receive(&ReceiveEvent { time, endpoint: EpId(0), flow: FlowId(0), pkt: Packet { back: true, ..pkt(5) }, seg });
    c.on_receive(&ReceiveEvent { time, endpoint: EpId(1), flow: FlowId(0), pkt: pkt(5), seg });
    c.finish().unwrap().put_in_place().unwrap();
    let found = blocks(&std::fs::read(&request.file).unwrap());
    let packets: Vec<&[u8]> = found.iter().filter(|b| b.0 == 6).map(|b| &b.1[28..]).collect();
    assert_eq!(packets.len(), 2);
    assert_eq!((packets[0][5], packets[0][11], packets[0][22]), (8, 1, 64));
    assert_eq!((packets[1][5], packets[1][11], packets[1][22]), (1, 9, 62));
    assert!(packets.iter().all(|p| p[54..1054].iter().all(|&b| b == 0) && p.len() > 1054), "payload is zeros");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Much more data than the buffers hold is written unchanged.
#[test]
fn long_captures_are_whole() {
    const PACKETS: u64 = 40_000;
    let folder = folder("long");
    let request = Request { file: folder.join("x.pcapng"), points: Points::Links(vec![link_end()]) };
    let style = Style { snaplen: Some(500), ..Style::default() };
    let mut c = Capture::new(network(), style, std::slice::from_ref(&request)).unwrap();
    for i in 0..PACKETS {
        let seg = Segment::new(1 + 1000 * i, 1, flag::ACK, 1000);
        c.on_dequeue(&DequeueEvent { time: Time::from_ps(i * 1000), port: PortId(0), pkt: pkt(0), backlog: Backlog::default(), seg });
    }
    assert!(c.failure().is_none());
    c.finish().unwrap().put_in_place().unwrap();
    let found = blocks(&std::fs::read(&request.file).unwrap());
    let packets: Vec<&Vec<u8>> = found.iter().filter(|b| b.0 == 6).map(|b| &b.1).collect();
    assert_eq!(packets.len() as u64, PACKETS);
    for (i, p) in packets.iter().enumerate() {
        assert_eq!((p.len(), p[16..20].to_vec()), (28 + 500 + 16, (i as u32).to_le_bytes().to_vec()));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Space reserved ahead and not needed is released.
#[cfg(target_os = "linux")]
#[test]
fn long_captures_take_no_more_of_the_disk_than_they_are_long() {
    use std::os::unix::fs::MetadataExt;
    const PACKETS: u64 = 60_000;
    let folder = folder("ahead");
    let request = Request { file: folder.join("x.pcapng"), points: Points::Links(vec![link_end()]) };
    let mut c = Capture::new(network(), Style::default(), std::slice::from_ref(&request)).unwrap();
    for i in 0..PACKETS {
        let seg = Segment::new(1 + 1000 * i, 1, flag::ACK, 1000);
        c.on_dequeue(&DequeueEvent { time: Time::from_ps(i * 1000), port: PortId(0), pkt: pkt(0), backlog: Backlog::default(), seg });
    }
    c.finish().unwrap().put_in_place().unwrap();
    let file = std::fs::File::open(&request.file).unwrap();
    file.sync_all().unwrap();
    let found = file.metadata().unwrap();
    assert!(found.len() > 5 << 20 && found.blocks() * 512 < found.len() + (1 << 20), "{} bytes, {} blocks", found.len(), found.blocks());
    let packets = blocks(&std::fs::read(&request.file).unwrap()).iter().filter(|b| b.0 == 6).count();
    assert_eq!(packets as u64, PACKETS);
    std::fs::remove_dir_all(folder).unwrap();
}

const SNAPLEN: u32 = 262_144;

/// A missing folder is reported at once, with the file.
#[test]
fn a_file_that_cannot_be_made_is_named() {
    let file = std::env::temp_dir().join("fairlane-no-such-folder").join("x.pcapng");
    let request = Request { file: file.clone(), points: Points::Flows(Vec::new()) };
    let (named, e) = Capture::new(network(), Style::default(), &[request]).unwrap_err();
    assert_eq!((named, e.kind()), (file, io::ErrorKind::NotFound));
}
