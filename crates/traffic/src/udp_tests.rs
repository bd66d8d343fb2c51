use super::*;
use fairlane_net::{Out, Timers};
use fairlane_units::{Dur, Time};

const PACKETS: Usage = Usage { dialogue: false, amounts: false };
const AMOUNTS: Usage = Usage { dialogue: false, amounts: true };

fn send(tx: &mut Udp, bytes: u64) -> Vec<Out> {
    let (mut out, mut timers) = (vec![], Timers::default());
    tx.on_write(bytes, false, &mut Cx::new(Time::ZERO, &mut out, &mut timers));
    out
}

/// Writes at time 0 and lets the pacing timer run until `end`: times and payloads.
fn paced(tx: &mut Udp, writes: &[u64], end: Dur) -> Vec<(Time, u16)> {
    let (mut out, mut timers, mut got) = (vec![], Timers::default(), vec![]);
    for &bytes in writes {
        tx.on_write(bytes, false, &mut Cx::new(Time::ZERO, &mut out, &mut timers));
    }
    let mut now = Time::ZERO;
    loop {
        got.extend(out.drain(..).map(|o| (now, o.seg.payload)));
        now = timers.next();
        if now > Time::ZERO + end {
            return got;
        }
        timers.take_due(now);
        tx.on_timer(TimerId::Pace, &mut Cx::new(now, &mut out, &mut timers));
    }
}

fn receive(rx: &mut Udp, seq: u64) -> u64 {
    let (mut out, mut timers) = (vec![], Timers::default());
    let mut cx = Cx::new(Time::ZERO, &mut out, &mut timers);
    let mut seg = Segment::default();
    (seg.seq, seg.payload) = (seq, 100);
    rx.on_packet(&seg, &mut cx);
    cx.delivered
}

/// RFC 791 and 768: 20 + 8 bytes of header; ns-2's none. Both ends are the same.
#[test]
fn a_write_is_a_datagram() {
    for end in [0, 1] {
        let (a, b) = UdpParams::default().build(Class(46), PACKETS);
        let mut tx = [a, b][end].clone();
        let out = [send(&mut tx, 1000), send(&mut tx, 1)].concat();
        let got: Vec<_> = out.iter().map(|o| (o.seg.seq, o.seg.payload, o.len, o.class)).collect();
        assert_eq!(got, [(0, 1000, 1028, Class(46)), (1, 1, 29, Class(46))]);
        assert_eq!((tx.view().data_segments, tx.view().data_bytes), (2, 1001));
    }
    let (mut bare, _) = serde_json::from_str::<UdpParams>(r#"{"header":"0B"}"#).unwrap().build(Class(0), PACKETS);
    assert_eq!(send(&mut bare, 1500)[0].len, 1500);
}

/// A source of packets decides how long they are, up to what IPv4 carries; an amount of data is cut to what Ethernet carries.
#[test]
fn packets_stay_whole_and_amounts_are_cut() {
    let sizes = |usage, bytes| -> Vec<u16> {
        let (mut tx, _) = UdpParams::default().build(Class(0), usage);
        assert!(send(&mut tx, ENDLESS).is_empty() && send(&mut tx, 0).is_empty(), "no rate is known");
        send(&mut tx, bytes).iter().map(|o| o.seg.payload).collect()
    };
    assert_eq!(sizes(PACKETS, 2 * MAX_DATAGRAM + 5), [65_507, 65_507, 5]);
    assert_eq!(sizes(PACKETS, 4000), [4000]);
    assert_eq!(sizes(AMOUNTS, 4000), [1472, 1472, 1056]);
}

/// 1500 bytes at 10 Mbit/s take 1.2 ms: the pace of the link exactly, without a queue before it.
#[test]
fn longer_writes_leave_at_the_rate_of_the_first_link() {
    let (mut tx, _) = UdpParams::default().build(Class(0), AMOUNTS);
    tx.attach(Rate::from_mbps(10));
    let us = |n| Time::ZERO + Dur::from_us(n);
    assert_eq!(paced(&mut tx, &[4000, 10], Dur::from_secs(1)), [(us(0), 1472), (us(1200), 1472), (us(2400), 1066)]);
    assert_eq!(paced(&mut tx, &[10, 10], Dur::from_secs(1)), [(us(0), 10), (us(0), 10)]);
    let all = paced(&mut tx, &[ENDLESS], Dur::from_ms(1200));
    assert_eq!(all.len(), 1001);
    assert!(all.iter().zip(0..).all(|(p, k)| *p == (us(1200 * k), 1472)));
}

/// `rate` takes the place of the link's.
#[test]
fn a_rate_of_its_own() {
    let params: UdpParams = serde_json::from_str(r#"{"rate":"5Mbit/s","datagram":"972B"}"#).unwrap();
    let (mut tx, _) = params.build(Class(0), AMOUNTS);
    tx.attach(Rate::from_mbps(10));
    // 1000 bytes on the wire at 5 Mbit/s: 1.6 ms.
    let all = paced(&mut tx, &[ENDLESS], Dur::from_ms(160));
    assert!(all.len() == 101 && all.iter().zip(0..).all(|(p, k)| *p == (Time::ZERO + Dur::from_us(1600 * k), 972)));
}

#[test]
fn stop_discards_what_waits() {
    let (mut tx, _) = UdpParams::default().build(Class(0), AMOUNTS);
    tx.attach(Rate::from_mbps(10));
    let (mut out, mut timers) = (vec![], Timers::default());
    tx.on_write(ENDLESS, false, &mut Cx::new(Time::ZERO, &mut out, &mut timers));
    tx.on_stop(&mut Cx::new(Time::ZERO, &mut out, &mut timers));
    assert_eq!((out.len(), timers.next()), (1, Time::MAX));
    assert_eq!(send(&mut tx, 100).len(), 1);
}

/// Data written while a control holds the flow are sent when it lets go; a source of packets pauses instead.
#[test]
fn a_held_flow_keeps_amounts() {
    let (mut tx, _) = UdpParams::default().build(Class(0), AMOUNTS);
    tx.attach(Rate::from_mbps(10));
    let (mut out, mut timers) = (vec![], Timers::default());
    let mut cx = Cx::new(Time::ZERO, &mut out, &mut timers);
    tx.on_write(4000, false, &mut cx);
    assert!(tx.hold(true, &mut cx));
    tx.on_write(1000, false, &mut cx);
    assert_eq!((cx.out.len(), cx.timers.next()), (1, Time::MAX));
    assert!(tx.hold(false, &mut cx));
    assert_eq!((cx.out.len(), cx.timers.get(TimerId::Pace)), (2, Some(Time::ZERO + Dur::from_us(1200))));
    let (mut packets, _) = UdpParams::default().build(Class(0), PACKETS);
    assert!(!packets.hold(true, &mut cx));
}

#[test]
fn copies_are_delivered_once() {
    let mut rx = Udp::default();
    let order = [0, 1, 1, 3, 2, 3, 2, 100, 50, 50, 101, 164, 101, 0];
    let got: Vec<bool> = order.iter().map(|&s| receive(&mut rx, s) > 0).collect();
    // 0 at the end is more than 64 numbers late.
    let want = [true, true, false, true, true, false, false, true, true, false, true, true, false, true];
    assert_eq!(got, want);
}
