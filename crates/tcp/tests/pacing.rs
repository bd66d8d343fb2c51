//! Pacing against its definition: when segments leave, to the picosecond.

use crate::helpers::ms;
use crate::pair::fixed::fixed;
use crate::pair::{Hop, Pair, params};
use fairlane_net::Endpoint;
use fairlane_tcp::CongestionControl;
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};

const MSS: u64 = 1460;

/// When data left within the first 50 ms after it began.
fn times(mut tcp: Value, rate: Rate) -> Vec<Time> {
    tcp["receive_window"] = Value::Null;
    let mut p = fixed(tcp, 10_000 * MSS, Some(rate), vec![Hop::delay(ms(20))], vec![Hop::delay(ms(20))]);
    p.start_endless();
    p.run(ms(90));
    p.log.iter().filter(|l| l.1 == 0 && l.2.payload > 0).map(|l| l.0).collect()
}

/// Section 5.6.2 of draft-ietf-ccwg-bbr-06: the next segment leaves `size / rate` after the last.
#[test]
fn draft_5_6_2_spacing_is_length_over_rate() {
    for bps in [1_000_000, 5_000_000, 333_333_333] {
        let rate = Rate::from_bps(bps);
        let all = times(json!({ "recovery": "sack" }), rate);
        assert!(all.len() > 3);
        for w in all.windows(2) {
            let gap = w[1].since(w[0]).as_ps();
            assert!(gap.abs_diff(rate.tx_time(MSS).as_ps()) <= 1, "{gap} {all:?}");
        }
    }
}

/// `pacing_segments`: that many leave at once, and the next ones wait until the rate has made up for them.
#[test]
fn quantum_in_segments() {
    let rate = Rate::from_mbps(20);
    let all = times(json!({ "recovery": "sack", "pacing_segments": 4 }), rate);
    assert!(all.len() > 40);
    for burst in all.chunks_exact(4) {
        assert!(burst.iter().all(|t| *t == burst[0]));
    }
    for w in all.chunks_exact(4).collect::<Vec<_>>().windows(2) {
        assert!(w[1][0].since(w[0][0]).as_ps().abs_diff(rate.tx_time(4 * MSS).as_ps()) <= 4);
    }
}

/// Linux `tcp_tso_autosize`: data of 2 ms at 20 Mbit/s is 5000 bytes, in which there are three whole segments; less than two are never sent.
#[test]
fn quantum_in_time() {
    for (mbps, time, whole) in [(20, "2ms", 3), (20, "976562500ps", 2), (50, "976562500ps", 4)] {
        let rate = Rate::from_mbps(mbps);
        let all = times(json!({ "recovery": "sack", "pacing_segments": 2, "pacing_burst": time }), rate);
        for burst in all.chunks_exact(whole) {
            assert!(burst.iter().all(|t| *t == burst[0]), "{mbps} {time}");
        }
        assert!(all[whole].since(all[0]).as_ps().abs_diff(rate.tx_time(whole as u64 * MSS).as_ps()) <= whole as u64);
    }
}

/// Linux `tcp_update_skb_after_send`: the first ten segments are not paced; the burst that ends with the tenth is.
#[test]
fn the_first_segments_are_free() {
    let rate = Rate::from_mbps(20);
    let all = times(json!({ "recovery": "sack", "pacing_segments": 2, "pacing_free": 10 }), rate);
    assert!(all[..10].iter().all(|t| *t == all[0]));
    assert!(all[10].since(all[0]).as_ps().abs_diff(rate.tx_time(2 * MSS).as_ps()) <= 2);
}

/// A late burst shortens the gap after it, by its lateness or by half of the gap.
#[test]
fn what_leaves_late_shortens_the_next_gap() {
    let rate = Rate::from_mbps(12);
    let gap = rate.tx_time(MSS);
    let half = Dur::from_ps(gap.as_ps() / 2);
    for (late, next) in [(Dur::from_ps(gap.as_ps() / 4), Dur::from_ps(gap.as_ps() * 3 / 4)), (gap + gap, half)] {
        let tcp = json!({ "recovery": "sack", "receive_window": null, "pacing_catch_up": 0.5 });
        let mut p = fixed(tcp, 10_000 * MSS, Some(rate), vec![Hop::delay(ms(20))], vec![Hop::delay(ms(20))]);
        p.start();
        p.run(ms(50));
        p.write(0, MSS, false);
        // The first burst of all is as late as can be.
        p.run(half + late);
        p.write(0, 3 * MSS, false);
        p.run(ms(10));
        let all: Vec<Time> = p.log.iter().filter(|l| l.1 == 0 && l.2.payload > 0).map(|l| l.0).collect();
        let gaps: Vec<Dur> = all.windows(2).map(|w| w[1].since(w[0])).collect();
        assert!(gaps[0].as_ps().abs_diff((half + late).as_ps()) <= 2, "{gaps:?}");
        assert!(gaps[1].as_ps().abs_diff(next.as_ps()) <= 2, "{gaps:?}, {next}");
        assert!(gaps[2].as_ps().abs_diff(gap.as_ps()) <= 2, "{gaps:?}");
    }
}

/// Linux `tcp_update_pacing_rate`: twice the window over the round-trip time while the window is below half the threshold, then 1.2 times.
#[test]
fn linux_ratios_in_slow_start_and_avoidance() {
    for cc in ["reno", "cubic"] {
        let tcp = json!({ "cc": cc, "recovery": "sack", "pacing": true, "slow_start": "standard", "pacing_slow_start": 2.0, "pacing_avoidance": 1.2 });
        let hop = Hop::new(Rate::from_mbps(10), ms(20), 60);
        let mut p = Pair::new(&params(tcp), vec![hop], vec![Hop::delay(ms(20))]);
        p.keep_log = false;
        p.start_endless();
        let mut seen = [0; 2];
        for _ in 0..100 {
            p.run(ms(50));
            let v = p.ends[0].view();
            // Linux takes the window or what is out, whichever is more.
            let out = v.data_bytes - v.retransmit_bytes - v.acked;
            let slow = v.cwnd < p.ends[0].cc().ssthresh() / 2;
            let expected = if slow { 2.0 } else { 1.2 } * v.cwnd.max(out) as f64 * 8.0 / v.srtt.as_secs_f64();
            let rate = p.ends[0].pacing_rate().unwrap().as_bps() as f64;
            assert!((rate / expected - 1.0).abs() < 0.02, "{cc}: {rate} {expected}");
            seen[usize::from(slow)] += 1;
        }
        assert!(seen[0] > 20 && seen[1] > 0, "{seen:?}");
    }
}

/// Aggarwal, Savage and Anderson 2000: pacing needs less buffer. A window of ten goes through a queue of four only if it is paced.
/// Also RFC 9937 section 6.4.
#[test]
fn paced_window_needs_less_queue() {
    let drops = |pacing: bool| {
        let tcp = json!({ "cc": "reno", "recovery": "sack", "pacing": pacing });
        let hop = Hop::new(Rate::from_mbps(10), ms(20), 4);
        let mut p = Pair::new(&params(tcp), vec![hop], vec![Hop::delay(ms(20))]);
        p.start();
        p.write(0, 10 * MSS, false);
        p.run(ms(500));
        p.hops[0][0].drops
    };
    // One is on the wire and four wait; the rest is lost.
    assert!(drops(false) >= 5);
    assert_eq!(drops(true), 0);
}

/// Before the first round-trip time there is no rate, and no segment waits.
#[test]
fn nothing_waits_before_the_first_round_trip() {
    let tcp = json!({ "cc": "reno", "handshake": false, "pacing": true });
    let mut p = Pair::delayed(&params(tcp), ms(20));
    p.start_endless();
    assert_eq!(p.ends[0].pacing_rate(), None);
    assert_eq!(p.log.len(), 10);
}

/// A sender without data sets no timer, and does not count as limited by the window.
#[test]
fn no_timer_without_data() {
    let tcp = json!({ "cc": "reno", "pacing": true });
    let mut p = Pair::delayed(&params(tcp), ms(20));
    p.start();
    p.write(0, 3 * MSS, false);
    p.run(ms(1000));
    assert!(!p.alive());
}

/// Linux `prague_tso_segs`: a burst of Prague lasts 2^-12 of a second at its rate, and is no longer on short paths, as those of others are (`tcp_tso_autosize`).
#[test]
fn bursts_of_prague_last_a_quarter_of_a_millisecond() {
    for (mbps, rtt) in [(25, 10), (100, 10), (100, 2), (400, 2)] {
        let longest = |cc: &str| {
            let hop = Hop::marking(Rate::from_mbps(mbps), Dur::from_us(rtt * 500), 1000, 20);
            let tcp = json!({ "preset": "linux", "cc": cc, "ecn": "accecn", "receive_buffer": null });
            let mut p = Pair::new(&params(tcp), vec![hop], vec![Hop::delay(Dur::from_us(rtt * 500))]);
            p.start_endless();
            p.run(Dur::from_ms(800));
            p.log.clear();
            p.run(Dur::from_ms(400));
            let mut times: Vec<Time> = p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0).map(|l| l.0).collect();
            times.push(Time::MAX);
            let ends: Vec<usize> = (1..times.len()).filter(|&i| times[i] != times[i - 1]).collect();
            ends.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
        };
        // A tenth for a rate that swings about that of the path.
        let most = (1.1 * mbps as f64 * 1e6 / 4096.0 / 8.0 / 1448.0).max(1.0) as usize;
        assert!(longest("prague") <= most, "{mbps} {rtt}: {} and {most}", longest("prague"));
        assert!(longest("cubic") > most, "{mbps} {rtt}: {} and {most}", longest("cubic"));
    }
}
