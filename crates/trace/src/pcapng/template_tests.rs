use super::super::{Capture, FlowFacts, LinkEnd, Network, Points, Request, Style};
use fairlane_net::{Backlog, Class, DequeueEvent, Ecn, FlowId, HopEvent, Observer, Packet, PortId, Segment, flag};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Rate, Time};
use std::path::Path;

const FLOWS: u32 = 40;

/// Pseudo-random numbers: splitmix64.
fn drawn(n: u64, of: u64) -> u64 {
    let z = (n * 8 + of + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ z >> 31
}

/// Packets of all flows in both directions: every field that a template does not fix, including extremes, and now and then one that it does.
fn packet(n: u64, stamps: bool) -> (Packet, Segment, bool) {
    let wide = |of| {
        if drawn(n, of).is_multiple_of(5) {
            [0, 1, u64::from(u32::MAX), 1 << 32][drawn(n, of + 1) as usize & 3]
        } else {
            drawn(n, of) >> 20
        }
    };
    let flags =
        [flag::ACK, flag::ACK, flag::ACK | flag::FIN, flag::ACK | flag::ECE, flag::RST, flag::ACK | flag::CWR][drawn(n, 5) as usize % 6];
    let mut seg = Segment::new(wide(0), wide(2), flags, [0, 1, 1000, 1460, 65_000][drawn(n, 6) as usize % 5]);
    (seg.sent, seg.wnd) = (Time::from_ps(drawn(n, 7) >> 10), (drawn(n, 4) >> 33) as u32);
    if stamps {
        seg.set_timestamps(drawn(n, 1) as u32, drawn(n, 3) as u32);
    }
    if drawn(n, 9).is_multiple_of(3) {
        seg.set_ace(drawn(n, 10) as u8 & 7);
    }
    let back = drawn(n, 11) & 1 == 1;
    let rare = drawn(n, 12).is_multiple_of(10);
    let pkt = Packet {
        len: u32::from(seg.payload) + [40, 52, 90][drawn(n, 13) as usize % 3],
        flow: FlowId(drawn(n, 14) as u32 % FLOWS),
        hop: if back { 2 } else { 0 } + u32::from(rare),
        class: Class(if rare { 46 } else { 0 }),
        ecn: if drawn(n, 15).is_multiple_of(9) { Ecn::Ce } else { Ecn::Ect0 },
        data: seg.payload > 0,
        back,
        conn: u16::from(drawn(n, 16).is_multiple_of(20)),
        ..PACKET
    };
    (pkt, seg, drawn(n, 17) & 1 == 1)
}

/// Blocks of a capture of such packets, from the first packet on.
fn capture(folder: &Path, style: Style, stamps: bool) -> Vec<u8> {
    let facts = |i| FlowFacts {
        from: i,
        to: 70_000 + i,
        first_hop: [0, 2],
        mss: 1460,
        shift: if i % 3 == 0 { super::NO_SHIFT } else { 7 },
        sack: true,
    };
    let network = Network { nodes: vec!["a".into(), "b".into()], ports: 2, flows: (0..FLOWS).map(facts).collect(), ..Network::default() };
    let end = LinkEnd { name: "l".into(), node: 0, peer: 1, sends: Some(PortId(0)), receives: Some(PortId(1)), rate: Rate::from_mbps(1) };
    let request = Request { file: folder.join("x.pcapng"), points: Points::Links(vec![end]) };
    let mut c = Capture::new(network, style, std::slice::from_ref(&request)).unwrap();
    for n in 0..20_000 {
        let (pkt, seg, left) = packet(n, stamps);
        let time = Time::from_ps(n * 777_777_777);
        if left {
            c.on_dequeue(&DequeueEvent { time, port: PortId(0), pkt, backlog: Backlog::default(), seg });
        } else {
            c.on_hop(&HopEvent { time, port: PortId(1), pkt, seg });
        }
    }
    c.finish().unwrap().put_in_place().unwrap();
    let bytes = std::fs::read(&request.file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut at = 0;
    while word(at) != super::super::PACKET {
        at += word(at + 4) as usize;
    }
    bytes[at..].to_vec()
}

/// Templates give exactly the bytes of blocks made without them, as with a given snap length, here that of the headers.
#[test]
fn blocks_of_forms_are_those_that_are_made_one_by_one() {
    let folder = std::env::temp_dir().join(format!("fairlane-pcapng-template-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (ipv6, stamps) in [(false, false), (false, true), (true, false), (true, true)] {
        let headers = 14 + if ipv6 { 40 } else { 20 } + 20 + if stamps { 12 } else { 0 };
        let with = capture(&folder, Style { ipv6, ..Style::default() }, stamps);
        let without = capture(&folder, Style { ipv6, snaplen: Some(headers), ..Style::default() }, stamps);
        assert!(with.len() > 20_000 * 90);
        assert!(with == without, "IPv6 {ipv6}, timestamps {stamps}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
