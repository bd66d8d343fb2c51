//! Requirements of the RFCs on a sender that no other test covers: windows, growth, the retransmission timer, measurements.

use crate::arrivals::Host;
use crate::drive::{Drive, near};
use crate::helpers::{at, ms, with};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{Endpoint, Segment, TimerId, flag};
use fairlane_tcp::cc::{CongestionControl, CongestionKind};
use fairlane_units::{Dur, Rate};
use serde_json::{Value, json};

const ACK: u8 = flag::ACK;

/// A window of 20 segments of 1000 bytes, a round trip of 100 ms.
fn steady(cc: &str, extra: Value, lost: &[u64]) -> Pair {
    let j = json!({ "cc": cc, "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "1s" });
    let mut p = Pair::delayed(&params(with(j, &extra)), ms(50));
    p.drop_data(lost);
    p.start_endless();
    p
}

/// RFC 5681 section 2, RFC 9406 section 3 and RFC 9937 section 3, the definitions of rwnd and cwnd; RFC 7323 section 2.4 (3): whatever is lost, new data never lies
/// beyond what the last acknowledgment offered, and outside of recovery no more is in flight than the congestion window.
#[test]
fn rfc5681_section_2_never_beyond_the_windows() {
    for (cc, extra) in [
        ("reno", json!({})),
        ("newreno", json!({})),
        ("sack", json!({})),
        ("cubic", json!({})),
        ("sack", json!({ "rack": true, "prr": "rfc9937" })),
    ] {
        for seed in 1..30_u64 {
            let mut p =
                steady(cc, with(json!({ "receive_window": "25000B", "limited_transmit": false, "initial_ssthresh": null }), &extra), &[]);
            let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            p.script[0] = Box::new(move |_, s| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                if s.payload != 0 && x % 23 == 0 { Fate::Drop } else { Fate::Pass }
            });
            let mut seen = p.log.len();
            while p.now < at(4000) {
                p.step();
                let (info, view) = (p.ends[0].info(), p.ends[0].view());
                for l in p.log[seen..].iter().filter(|l| l.1 == 0 && l.2.payload != 0 && !l.2.retransmission()) {
                    assert!(l.2.end() <= info.una + 25_000, "{cc} {seed}: {} beyond {}", l.2.end(), info.una);
                    let open = info.ca_state == fairlane_tcp::CaState::Open && info.sacked == 0;
                    assert!(!open || view.in_flight <= view.cwnd, "{cc} {seed} {} {}", view.in_flight, view.cwnd);
                }
                seen = p.log.len();
            }
            assert!(p.ends[0].view().retransmits > 0);
        }
    }
}

/// RFC 5681 section 3.1, equation 3 and the note on it: above SMSS * SMSS bytes, where whole numbers would leave nothing, the window still grows by a segment a
/// round trip, and never by more.
#[test]
fn rfc5681_section_3_1_large_windows_grow() {
    for window in [20_u64, 4000, 40_000] {
        let mut d = Drive::after_loss(json!({ "cc": "reno" }), ms(100), window);
        for _ in 0..3 {
            let before = d.cwnd();
            d.round_trip();
            assert!((0.85..=1.0 + 1e-6).contains(&(d.cwnd() - before)), "{window}: {}", d.cwnd() - before);
        }
    }
}

/// RFC 5681 section 5: acknowledgments of parts of a segment do not grow the window by more than one of the whole would (ACK division).
/// Also RFC 5681 section 3.1.
#[test]
fn rfc5681_section_5_ack_division() {
    let grown = |pieces: u64| {
        let mut h = Host::open(&json!({ "initial_window": "4p" }));
        h.write(100_000, false);
        let before = h.end.view().cwnd;
        for n in 1..=pieces {
            h.give(1, 1 + 1000 * n / pieces, ACK, 0, 8000);
        }
        h.end.view().cwnd - before
    };
    assert!([grown(1), grown(10), grown(100)].iter().all(|g| (990..=1000).contains(g)));
}

/// RFC 5681 section 3.1: the window that a timeout leaves is one segment whatever the initial one was; ssthresh, arbitrarily high until then, is half of the
/// flight (equation 4) and two segments at least.
#[test]
fn rfc5681_section_3_1_loss_window() {
    for (window, threshold) in [(20, 10_000), (3, 2000)] {
        let mut p =
            steady("reno", json!({ "initial_window": format!("{window}p"), "initial_ssthresh": null, "limited_transmit": false }), &[]);
        assert_eq!(p.ends[0].view().ssthresh, u64::MAX);
        p.script[0] = Box::new(|_, s| if s.payload != 0 { Fate::Drop } else { Fate::Pass });
        p.run_until(at(1150));
        let v = p.ends[0].view();
        assert_eq!((v.timeouts, v.cwnd, v.ssthresh), (1, 1000, threshold));
    }
}

/// RFC 6298 section 5: (5.1) data starts the timer, (5.3) an acknowledgment of new data restarts it with the RTO in force, one of nothing new does not, (5.2) it
/// stops once all is acknowledged. RFC 6928 section 9 asks for (5.3).
#[test]
fn rfc6298_section_5_the_timer() {
    let mut h = Host::open(&json!({ "rto_min": "1s" }));
    let due = |h: &Host| h.timers.get(TimerId::Rto).map(|t| t.since(h.now));
    assert_eq!(due(&h), None);
    h.write(3000, false);
    assert_eq!(due(&h), Some(Dur::from_secs(1)), "5.1");
    h.wait(ms(300));
    h.write(1000, false);
    assert_eq!(due(&h), Some(ms(700)), "running already");
    h.give(1, 1, ACK, 0, 8000);
    assert_eq!(due(&h), Some(ms(700)), "nothing new");
    h.give(1, 1001, ACK, 0, 8000);
    let rto = h.end.view().rto;
    assert_eq!(due(&h), Some(rto), "5.3");
    h.give(1, 4001, ACK, 0, 8000);
    assert_eq!(due(&h), None, "5.2");
}

/// RFC 6298 section 5: nothing is sent again by the timer sooner than an RTO after it was sent last; (5.4) it is the earliest segment, (5.5, 5.6) each time after
/// twice the time.
/// Also RFC 6298 section 1.
#[test]
fn rfc6298_section_5_never_too_early() {
    let mut p = steady("reno", json!({ "rto_min": "200ms", "window": "20p" }), &[]);
    p.script[0] = Box::new(|_, s| if s.payload != 0 && s.sent >= at(500) && s.sent < at(5000) { Fate::Drop } else { Fate::Pass });
    let mut last = std::collections::BTreeMap::new();
    p.run_until(at(9000));
    let mut pauses = Vec::new();
    for (time, _, s, _) in p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0) {
        if let Some(before) = last.insert(s.seq, *time)
            && *time < at(5000)
        {
            assert!(time.since(before) >= ms(200), "{} {before:?}", s.seq);
            pauses.push((s.seq, time.since(before)));
        }
    }
    let first = pauses[0].0;
    assert!(pauses.len() > 2 && pauses.iter().all(|p| p.0 == first), "{pauses:?}");
    assert!(pauses.windows(2).all(|w| w[1].1 == w[0].1 * 2), "{pauses:?}");
    assert!(p.delivered[1] > 100_000);
}

/// RFC 6298 section 3: at least one measurement a round trip, with timestamps and without, also where one segment at a time is timed. RFC 9406 section 4.3 wants
/// at least eight in a round, which each acknowledgment gives.
#[test]
fn rfc6298_section_3_a_measurement_each_round_trip() {
    for (extra, least) in [(json!({}), 8), (json!({ "timestamps": true }), 8), (json!({ "rtt_sampling": "one" }), 1)] {
        let mut p = steady("reno", extra.clone(), &[]);
        p.run_until(at(150));
        for _ in 0..20 {
            let before = (p.rtts.len(), p.ends[0].view().srtt);
            p.run(ms(100));
            assert!(p.rtts.len() >= before.0 + least, "{extra}");
            assert!(near(p.ends[0].view().srtt.as_secs_f64(), 0.1, 0.01));
        }
    }
}

/// RFC 9293 section 3.8.6 (MUST-34, SHLD-15, SHLD-16, SHLD-17): a window that shrinks below what is out lets nothing new out, what is out is sent again by
/// the timer, and nothing is given up; when it opens sending resumes.
/// Also RFC 7323 section 2.4.
#[test]
fn rfc9293_section_3_8_6_a_window_that_shrinks() {
    let mut h = Host::open(&json!({ "rto_min": "1s", "initial_window": "8p" }));
    assert_eq!(h.write(20_000, false).len(), 8);
    assert_eq!(h.give(1, 1001, ACK, 0, 2000), []);
    let mut again = Vec::new();
    for _ in 0..30 {
        h.now = h.timers.get(TimerId::Rto).unwrap();
        h.timers.cancel(TimerId::Rto);
        again.extend(h.call(|end, cx| end.on_timer(TimerId::Rto, cx)).iter().map(|s| s.seq));
    }
    assert_eq!(again, [1001; 30]);
    assert_eq!(h.state(), "ESTABLISHED");
    let out = h.give(1, 8001, ACK, 0, 8000);
    assert!(!out.is_empty() && out[0].1 == 8001, "{out:?}");
}

/// RFC 7323 section 3.2: the echo in a segment without ACK says nothing: a SYN with any TSecr leads to no measurement.
#[test]
fn rfc7323_section_3_2_the_echo_of_a_syn() {
    let mut h = Host::new(&json!({ "timestamps": true }), true);
    let mut syn = Segment::new(0, 0, flag::SYN, 0);
    syn.set_timestamps(100, 1);
    syn.wnd = 8000;
    let out = h.segment(&syn);
    assert_eq!(h.end.view().srtt, Dur::ZERO);
    assert_eq!(out[0].timestamps().unwrap().1, 100);
    // A SYN of ours echoes nothing.
    let mut h = Host::new(&json!({ "timestamps": true, "handshake": true }), false);
    let out = h.call(|end, cx| end.on_timer(TimerId::Rto, cx));
    assert_eq!((out[0].flags, out[0].timestamps().unwrap().1), (flag::SYN, 0));
}

/// RFC 7323 section 5.4: the timestamp clock ticks at least once in 2^31 bytes, on the fastest link there may be, and comes round in more than the longest MSL of
/// 255 s; at 1 ms at least once a window.
/// Also RFC 7323 section 4.1.
#[test]
fn rfc7323_section_5_4_the_clock() {
    let stamp = |tick: &str, wait: Dur| {
        let mut h = Host::new(&json!({ "timestamps": true, "timestamp_tick": tick }), true);
        h.stamped((0, 0, flag::SYN, 0), 100);
        let first = h.stamped((1, 1, ACK, 10), 110)[0].timestamps().unwrap().0;
        h.wait(wait);
        h.stamped((11, 1, ACK, 10), 120)[0].timestamps().unwrap().0.wrapping_sub(first)
    };
    assert_eq!(stamp("1ms", ms(1)), 1);
    assert_eq!(stamp("1ms", Dur::from_secs(10)), 10_000);
    // The time that 2^31 bytes take at 100 Gbit/s.
    assert!(stamp("1ms", Rate::from_mbps(100_000).tx_time(1 << 31)) > 100);
    // The fastest clock that may be chosen, after 255 s.
    let wrapped = u64::from(stamp("1us", Dur::from_secs(255)));
    assert_eq!(wrapped, 255_000_000);
}

/// RFC 9438 section 4.9.2: once the window is above what it was before the reduction that proves a mistake, it stays as it is.
#[test]
fn rfc9438_section_4_9_2_late_proof() {
    let mut d = Drive::after_loss(json!({ "cc": { "cubic": {} }, "slow_start": "standard" }), ms(20), 100);
    d.event(CongestionKind::FastRetransmit);
    d.cc.on_recovery_exit(&fairlane_tcp::cc::RecoveryExit { now: d.now, bound: u64::MAX, deflated: 0, to_ssthresh: true });
    while d.cwnd() < 150.0 {
        d.ack();
    }
    let before = d.cwnd();
    d.cc.undo();
    assert!(d.cwnd() >= before, "{} {before}", d.cwnd());
}

/// RFC 9438 section 4.10 and RFC 9406: CUBIC begins with HyStart++ unless told otherwise, and with slow start whenever the window is below the threshold.
#[test]
fn rfc9438_section_4_10_hystart_plus_plus() {
    let mut d = Drive::new(json!({ "cc": "cubic" }), ms(80));
    let growth = |d: &mut Drive| {
        let before = d.cwnd();
        d.round_trip();
        d.cwnd() / before
    };
    assert!(near(growth(&mut d), 2.0, 0.01) && near(growth(&mut d), 2.0, 0.01));
    d.rtt = ms(91);
    growth(&mut d);
    assert!(near(growth(&mut d), 1.25, 0.05), "conservative slow start");
    d.time_out();
    d.rtt = ms(80);
    growth(&mut d);
    assert!(near(growth(&mut d), 2.0, 0.05), "slow start after a timeout");
}

/// RFC 7661 section 4.2: nothing is measured during fast recovery, and section 4.4.1: pipeACK is undefined after it: the next loss is answered as ever, and the
/// window grows, until there is a measurement.
#[test]
fn rfc7661_section_4_4_1_undefined_after_recovery() {
    let j = json!({ "cc": "sack", "mss": "1000B", "ack_every": 1, "initial_window": "40p", "initial_ssthresh": "40p", "new_cwv": true,
        "loss_basis": "cwnd", "rto_min": "3s", "idle_restart": "off" });
    let mut p = Pair::new(&params(j), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
    p.start();
    p.run(ms(100));
    for _ in 0..30 {
        p.write(0, 10_000, false);
        p.run(ms(100));
    }
    // Not validated: a loss leaves half of the ten used, less the one that was lost.
    p.drop_data(&[0]);
    p.write(0, 10_000, false);
    p.run(ms(250));
    let left = p.ends[0].view().cwnd;
    assert_eq!(left, 4500);
    // Undefined now: a loss is answered by half of the window, not of what was used.
    p.drop_data(&[0]);
    p.write(0, 4000, false);
    p.run(ms(150));
    assert_eq!((p.ends[0].view().fast_recoveries, p.ends[0].view().ssthresh), (2, 2250));
}
