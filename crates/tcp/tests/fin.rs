//! FIN takes a sequence number without data: it is in no window, no amount in flight, and no count of data.

use crate::arrivals::Host;
use crate::helpers::{at, ms, with};
use crate::pair::fixed::{Fixed, fixed};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{Class, Endpoint, TimerId, flag};
use fairlane_tcp::cc::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RecoveryExit};
use fairlane_tcp::{Tcp, TcpConfig};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// Arrival of the last byte of a transfer of `bytes` over a path that only delays, 50 ms each way.
fn last_byte(tcp: Value, bytes: u64) -> Dur {
    let mut p = Pair::delayed(&params(tcp), ms(50));
    p.start();
    p.write(0, bytes, true);
    while p.delivered[1] < bytes {
        assert!(p.step(), "{} of {bytes} bytes arrived", p.delivered[1]);
    }
    assert_eq!(p.ends[0].view().timeouts, 0);
    p.now.since(Time::ZERO)
}

/// RFC 5681 section 2: the congestion window bounds data. A round trip for the handshake, one for each window that the data fills, half of one to the other side:
/// Linux 6.18 takes 152 to 157 ms for 14480 bytes and 254 to 259 ms for 43440 over such a path, ns-3's `SendDataPacket` sets FIN on the last data without asking a window.
/// One byte more than the windows hold takes a round trip more.
#[test]
fn a_transfer_that_fills_its_window_ends_with_it() {
    // Slow start with an acknowledgment for two segments: the window grows by what is acknowledged, or by half of it where one counts for one segment.
    for (preset, cc, second) in [("rfc", "newreno", 15), ("linux", "cubic", 20), ("linux-6.12", "cubic", 20), ("ns3", "cubic", 20)] {
        let tcp = json!({ "preset": preset, "cc": cc, "mss": "1000B" });
        assert_eq!(last_byte(tcp.clone(), 10_000), ms(150), "{preset}");
        assert_eq!(last_byte(tcp.clone(), 10_001), ms(250), "{preset}");
        let both = 10_000 + 1000 * second;
        assert_eq!(last_byte(tcp.clone(), both), ms(250), "{preset}");
        assert_eq!(last_byte(tcp, both + 1), ms(350), "{preset}");
    }
    // As with ns-2's agents, which know no FIN at all.
    for bytes in [2000, 2001] {
        let late = ms(100 * (bytes - 2000));
        let plain = json!({ "preset": "rfc", "cc": "newreno", "mss": "1000B", "initial_window": "2p" });
        assert_eq!(last_byte(plain, bytes), ms(150) + late);
        assert_eq!(last_byte(json!({ "preset": "ns2", "cc": "newreno" }), bytes), ms(150) + late);
    }
    // The bound of `window` is that of data, too.
    let bound = json!({ "preset": "rfc", "cc": "newreno", "mss": "1000B", "window": "5p" });
    assert_eq!(last_byte(bound.clone(), 5000), ms(150));
    assert_eq!(last_byte(bound, 5001), ms(250));
}

/// A window of one segment takes one with FIN: it does not wait for the timer, which would send it byte by byte.
#[test]
fn a_window_of_one_segment_takes_its_fin_along() {
    for preset in ["rfc", "linux", "ns3"] {
        let tcp = json!({ "preset": preset, "cc": "newreno", "mss": "1000B", "initial_window": "1p" });
        assert_eq!(last_byte(tcp, 1000), ms(150), "{preset}");
    }
}

/// RFC 3042 section 2: two segments go beyond the congestion window with the first two duplicates, the last of them with FIN.
#[test]
fn limited_transmit_takes_the_fin_along() {
    for cc in ["newreno", "sack"] {
        let mut p = Pair::delayed(&params(json!({ "preset": "rfc", "cc": cc, "mss": "1000B", "initial_window": "4p" })), ms(50));
        p.drop_data(&[0]);
        p.start();
        p.write(0, 6000, true);
        p.run_until(at(250));
        let sent: Vec<(Time, u64, bool)> =
            p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0).map(|l| (l.0, l.2.seq, l.2.has(flag::FIN))).collect();
        assert_eq!(sent[4..6], [(at(200), 4001, false), (at(200), 5001, true)], "{cc}");
    }
}

/// RFC 9293 section 3.8.4, RFC 6675 section 2 (pipe) and RFC 5681 section 2 (FlightSize): a FIN alone has nothing in flight, whatever is thought to have become of it.
#[test]
fn a_fin_alone_has_nothing_in_flight() {
    for (preset, cc) in [("rfc", "newreno"), ("rfc", "sack"), ("linux", "cubic"), ("linux", "bbr"), ("ns3", "cubic"), ("rfc", "fack")] {
        let mut p = Pair::delayed(&params(json!({ "preset": preset, "cc": cc, "mss": "1000B" })), ms(50));
        let mut fins = 0;
        p.script[0] = Box::new(move |_, s| {
            fins += u64::from(s.has(flag::FIN));
            if s.has(flag::FIN) && fins <= 3 { Fate::Drop } else { Fate::Pass }
        });
        p.start();
        p.write(0, 3000, false);
        p.run_until(at(1000));
        p.write(0, 0, true);
        while !p.ends[0].info().peer_closed && p.step() {
            assert_eq!(p.ends[0].view().in_flight, 0, "{preset} {cc} {:?}", p.now);
        }
        let v = p.ends[0].view();
        let fins = p.log.iter().filter(|l| l.1 == 0 && l.2.has(flag::FIN)).count();
        assert_eq!((fins, v.data_segments, v.retransmits, v.retransmit_bytes, v.data_bytes), (4, 3, 0, 0, 3000), "{preset} {cc}");
        assert!(v.timeouts >= 1, "{preset} {cc}");
    }
}

/// RFC 5166 section 2.1.3: what is sent again is data. With a timer of far less than the round trip nearly all is sent again, FINs too: never more than was sent.
#[test]
fn retransmissions_are_segments_with_data() {
    for (preset, cc) in [("rfc", "newreno"), ("rfc", "sack"), ("linux", "cubic"), ("ns3", "cubic")] {
        let mut p =
            Pair::delayed(&params(json!({ "preset": preset, "cc": cc, "mss": "1000B", "rto_min": "5ms", "rto_initial": "5ms" })), ms(100));
        p.start();
        p.write(0, 4000, false);
        while p.ends[0].info().nxt <= 4000 {
            assert!(p.step());
        }
        p.write(0, 0, true);
        p.run(ms(5000));
        let v = p.ends[0].view();
        let data: Vec<_> = p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0).collect();
        let again = data.iter().filter(|l| l.2.retransmission()).count();
        assert_eq!((v.data_segments, v.retransmits), (data.len() as u64, again as u64), "{preset} {cc}");
        assert!(p.log.iter().any(|l| l.1 == 0 && l.2.has(flag::FIN) && l.2.payload == 0), "{preset} {cc}");
    }
}

/// An algorithm on the fast path, which counts each byte once.
#[derive(Clone, Debug)]
struct Heard {
    acked: u64,
    flights: Vec<u64>,
}

impl CongestionControl for Heard {
    fn on_established(&mut self, _: Time, _: u64) {}
    fn on_ack(&mut self, s: &AckSample) {
        self.acked += s.acked;
        assert!(s.acked != 0 || s.sacked != 0);
    }
    fn on_congestion(&mut self, e: &CongestionEvent) {
        if e.kind == CongestionKind::FastRetransmit {
            self.flights.push(e.flight);
        }
    }
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}
    fn on_idle_restart(&mut self, _: Time, _: u64) {}
    fn cwnd(&self) -> u64 {
        20_000
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

/// The bytes acknowledged to an algorithm are the bytes written; the flight at a loss is the data in flight.
#[test]
fn algorithms_hear_of_data_alone() {
    for tcp in
        [json!({ "preset": "rfc" }), json!({ "preset": "rfc", "ack_every": 1 }), json!({ "preset": "linux" }), json!({ "preset": "ns3" })]
    {
        for bytes in [999, 1000, 15_000, 20_000, 100_000] {
            let cfg = TcpConfig::new(&params(with(tcp.clone(), &json!({ "mss": "1000B" }))), Class(0)).unwrap();
            let cc = Heard { acked: 0, flights: Vec::new() };
            let mut p =
                Pair::of(Tcp::active(cfg.clone(), cc.clone()), Tcp::passive(cfg, cc), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
            p.start();
            p.write(0, bytes, true);
            p.run(ms(5000));
            assert_eq!(p.ends[0].cc().acked, bytes, "{tcp} {bytes}");
        }
    }
    // The first of ten segments is lost, the last carries FIN: RFC 5681 equation 4 halves the ten.
    let cfg = TcpConfig::new(&params(json!({ "preset": "rfc", "cc": "sack", "mss": "1000B" })), Class(0)).unwrap();
    let cc = Heard { acked: 0, flights: Vec::new() };
    let mut p = Pair::of(Tcp::active(cfg.clone(), cc.clone()), Tcp::passive(cfg, cc), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
    p.drop_data(&[0]);
    p.start();
    p.write(0, 10_000, true);
    p.run(ms(5000));
    assert_eq!(p.ends[0].cc().flights, [10_000]);
}

/// For an algorithm that takes every acknowledgment and measures the rate, bytes delivered, in flight and lost add up, whatever is lost of
/// the last flight.
#[test]
fn rate_samples_count_data_alone() {
    for tcp in [json!({ "preset": "rfc", "recovery": "sack" }), json!({ "preset": "linux" })] {
        for lost in 0..64_u64 {
            let tcp = with(tcp.clone(), &json!({ "mss": "1000B" }));
            let mut p = fixed(tcp, 12_000, None, vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
            let mut n = 0;
            // Of the last six segments, the last of which carries FIN, those are lost that the number has a bit for.
            p.script[0] = Box::new(move |_, s| {
                n += u64::from(s.payload != 0 || s.has(flag::FIN));
                if n > 6 && n <= 12 && lost >> (n - 7) & 1 == 1 { Fate::Drop } else { Fate::Pass }
            });
            p.start();
            p.write(0, 12_000, true);
            p.run(ms(20_000));
            let cc: &Fixed = p.ends[0].cc();
            let rated: u64 = cc.acks.iter().filter_map(|s| s.rate).map(|r| r.newly_delivered).sum();
            assert_eq!(rated, 12_000, "{lost}");
            let last = cc.acks.last().unwrap();
            assert_eq!((last.delivered, last.in_flight), (12_000, 0), "{lost}");
            assert_eq!(cc.acks.iter().map(|s| s.acked).sum::<u64>(), 12_000, "{lost}");
            // Each byte is SACKed once at most, and counted when it comes in order as well.
            assert!(cc.acks.iter().map(|s| s.sacked).sum::<u64>().is_multiple_of(1000), "{lost}");
            assert!(cc.lost.iter().all(|l| l.bytes == 1000), "{lost}");
            assert!(cc.acks.iter().all(|s| s.in_flight.is_multiple_of(1000)), "{lost}");
        }
    }
}

/// RFC 9293 section 3.8.6.1: a FIN that the peer's window does not take asks for it, so that it goes also where the acknowledgment that opens the window is lost.
#[test]
fn a_fin_before_a_shut_window_is_probed() {
    for preset in ["rfc", "linux"] {
        let mut h = Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false }));
        h.write(2000, false);
        h.give(1, 2001, flag::ACK, 0, 0);
        assert_eq!(h.write(0, true), []);
        h.now = h.timers.get(TimerId::Rto).expect("something asks for the window");
        let asks = h.call(|end, cx| end.on_timer(TimerId::Rto, cx));
        // With what the window does not take, or with a number that was acknowledged before (Linux): either draws an acknowledgment.
        let first = asks.iter().map(|s| (s.seq, s.has(flag::FIN))).collect::<Vec<_>>();
        assert_eq!(first, if preset == "rfc" { [(2001, true)] } else { [(2000, false)] });
        if preset == "linux" {
            let opened = h.give(1, 2001, flag::ACK, 0, 8000);
            assert_eq!(opened, [(flag::ACK | flag::FIN, 2001, 1, 0)]);
        }
    }
}
