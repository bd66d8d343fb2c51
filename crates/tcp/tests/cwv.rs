//! Congestion window validation (RFC 7661): the rules and numbers of the RFC, and the methods that it replaces.

use crate::helpers::{ms, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::Dur;
use serde_json::{Value, json};

const MSS: u64 = 1000;

fn cwnd(p: &Pair) -> f64 {
    p.ends[0].view().cwnd as f64 / MSS as f64
}

fn ssthresh(p: &Pair) -> f64 {
    p.ends[0].view().ssthresh as f64 / MSS as f64
}

/// A sender whose initial window is 4 segments and whose slow start ends at 64, after it has sent a thousand at once.
fn after_bulk(extra: Value, one_way: Dur) -> Pair {
    let j = with(
        json!({ "cc": "sack", "mss": "1000B", "ack_every": 1, "initial_window": "4p", "initial_ssthresh": "64p", "rto_min": "50ms" }),
        &extra,
    );
    let mut p = Pair::delayed(&params(j), one_way);
    p.keep_log = false;
    p.start();
    p.write(0, 1000 * MSS, false);
    while p.ends[0].view().acked < 1000 * MSS {
        p.step();
    }
    p.keep_log = true;
    p
}

/// Writes `segments` every `every`, `times` times; it ends as the next are due.
fn trickle(p: &mut Pair, segments: u64, every: Dur, times: u64) {
    for _ in 0..times {
        p.write(0, segments * MSS, false);
        p.run(every);
    }
}

/// Ten segments per second, on a path whose RTO is below a tenth of a second. The restart of RFC 5681 section 4.1 takes the window at the
/// first of them, RFC 2861 halves it with each, plain validation keeps it forever, RFC 7661 for five minutes.
#[test]
fn rfc7661_section_4_4_3_five_minutes() {
    let run = |extra: Value| {
        let mut extra = extra;
        extra["initial_ssthresh"] = json!("16p");
        let mut p = after_bulk(extra, ms(10));
        let mut seen = vec![cwnd(&p)];
        p.run(ms(100));
        for seconds in [1, 298, 3, 298, 4, 3000] {
            trickle(&mut p, 1, ms(100), 10 * seconds);
            seen.push(cwnd(&p));
        }
        (seen, ssthresh(&p))
    };
    let (old, _) = run(json!({ "idle_restart": "initial" }));
    assert!(old[0] > 40.0 && old[1] < 8.0, "{old:?}");
    let (decay, _) = run(json!({ "idle_restart": "decay" }));
    assert!(decay[0] > 40.0 && decay[1] < 8.0, "{decay:?}");
    let (kept, _) = run(json!({ "idle_restart": "off" }));
    assert!(kept.iter().all(|&w| w == kept[0]), "{kept:?}");

    for restart in ["initial", "decay", "off"] {
        let (new, threshold) = run(json!({ "new_cwv": true, "idle_restart": restart, "cwnd_validation": restart != "off" }));
        // For a second after the bulk what it used still counts, and what is half used grows (sections 4.2 and 4.3).
        let w = new[1];
        assert!((kept[0]..kept[0] + 1.5).contains(&w), "{w} {kept:?}");
        assert_eq!(new[2], w, "for 299 seconds");
        assert!((new[3] - w / 2.0).abs() < 0.01, "half after 302: {new:?}");
        assert!((threshold - w * 0.75).abs() < 0.01, "ssthresh = max(ssthresh, 3/4 cwnd): {threshold} {w}");
        assert!((new[4] - w / 2.0).abs() < 0.01, "{new:?}");
        assert!((new[5] - w / 4.0).abs() < 0.01, "half again after 604: {new:?}");
        assert_eq!(new[6], 4.0, "never below the initial window");
    }
}

/// Section 4.4.3 without any data: the burst after silence. RFC 5681: the initial window.
#[test]
fn silence() {
    let burst = |extra: Value, silence: u64| {
        let mut p = after_bulk(extra, ms(10));
        let w = cwnd(&p);
        p.run(Dur::from_secs(silence));
        let before = p.ends[0].view().data_segments;
        p.write(0, 500 * MSS, false);
        (p.ends[0].view().data_segments - before, w)
    };
    for (silence, divisor) in [(2, 1.0), (299, 1.0), (302, 2.0), (599, 2.0), (602, 4.0)] {
        let (n, w) = burst(json!({ "new_cwv": true }), silence);
        assert_eq!(n, (w / divisor) as u64, "after {silence} s of {w}");
    }
    assert_eq!(burst(json!({ "new_cwv": true }), 36_000).0, 4);
    assert_eq!(burst(json!({}), 2).0, 4);
}

/// Section 4.3: validated is what is at least half used, and it grows whatever limits the sender; so it ends at twice what is used. With validation alone (RFC 5681 with
/// the rule of being limited by the window) it does not grow at all.
/// Also RFC 7661 sections 4.2 and 4.4.
#[test]
fn rfc7661_section_4_3_half_used() {
    let run = |new: bool, used: u64| {
        let j = json!({ "cc": "newreno", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "20p", "new_cwv": new, "idle_restart": "off" });
        let mut p = Pair::delayed(&params(j), ms(50));
        p.start();
        p.run(ms(200));
        trickle(&mut p, used, ms(100), 400);
        cwnd(&p)
    };
    for used in [5, 9, 11, 15, 19] {
        let (new, least) = (run(true, used), (2 * used).max(20) as f64);
        // While pipeACK is undefined, in the first round trip, the window grows as ever (section 4.2).
        assert!((least..least + 1.0).contains(&new), "{used}: {new}");
        assert_eq!(run(false, used), 20.0);
    }
}

/// Section 4.4: in the non-validated phase too a window that limits the sender grows, and is validated by that.
#[test]
fn rfc7661_section_4_4_limited_again() {
    let mut p = after_bulk(json!({ "new_cwv": true }), ms(10));
    trickle(&mut p, 1, ms(100), 30);
    let w = cwnd(&p);
    p.write(0, 400 * MSS, false);
    p.run(ms(101));
    assert!((3.0..6.0).contains(&(cwnd(&p) - w)), "one segment a round trip: {w} {}", cwnd(&p));
}

/// Windows in recovery and after it, where each write of `used` segments is a round trip's, and the last, of `last`, loses `lost`.
fn loss(extra: Value, used: u64, last: u64, lost: &[u64]) -> (f64, f64, f64) {
    let mut p = after_bulk(extra, ms(50));
    // What the bulk used counts for a second more.
    trickle(&mut p, used, ms(100), 20);
    let before = cwnd(&p);
    trickle(&mut p, used, ms(100), 30);
    assert_eq!(cwnd(&p), before);
    p.drop_data(lost);
    p.write(0, last * MSS, false);
    p.run(ms(101));
    let entry = cwnd(&p);
    p.run(ms(100));
    let v = p.ends[0].view();
    assert_eq!((v.timeouts, v.fast_recoveries), (0, 1));
    (before, entry, cwnd(&p))
}

/// Section 4.4.1: a loss leaves half of what was used, pipeACK or LossFlightSize, and half of that less what was retransmitted in the end. Of a window that was not
/// used, half would be left where the window is what a loss halves.
/// Also RFC 7661 section 4.2.
#[test]
fn rfc7661_section_4_4_1_response_to_congestion() {
    for (used, last, lost) in [(10, 10, vec![0]), (10, 20, vec![0, 2]), (20, 8, vec![0])] {
        let basis = used.max(last) as f64;
        for cc in ["sack", "newreno", "cubic"] {
            if cc == "newreno" && lost.len() > 1 {
                continue;
            }
            for halves in ["cwnd", "smaller"] {
                let own = json!({ "cc": cc, "recovery": if cc == "newreno" { "newreno" } else { "sack" }, "loss_basis": halves, "exit_window": "ssthresh", "grow_on_exit": false, "rto_min": "1s" });
                let mut new = own.clone();
                new["new_cwv"] = json!(true);
                let (_, entry, exit) = loss(new, used, last, &lost);
                assert_eq!(entry, basis / 2.0, "{cc} {used} {last}");
                assert_eq!(exit, (basis - lost.len() as f64) / 2.0, "{cc} {used} {last}");
                let (before, _, exit) = loss(own, used, last, &lost);
                let share = if cc == "cubic" { 0.7 } else { 0.5 };
                let from = if halves == "cwnd" { before } else { last as f64 };
                assert!((exit - share * from).abs() < 1.0, "{cc} {halves}: {exit} of {from}");
            }
        }
    }
}

/// Section 4.4.1: at least one segment is left.
#[test]
fn at_least_one_segment() {
    let (_, _, exit) = loss(json!({ "new_cwv": true, "rto_min": "1s" }), 1, 4, &[0]);
    assert_eq!(exit, 1.5);
    let (_, _, exit) = loss(json!({ "new_cwv": true, "rto_min": "1s" }), 1, 6, &[0, 1]);
    assert_eq!(exit, 2.0);
}

/// After a timeout the loss window is one segment as ever (RFC 5681 section 3.1), and slow start ends at half of what was used, not of the window.
/// Also RFC 7661 section 4.4.
#[test]
fn timeout() {
    for (new, threshold) in [(true, 5.0), (false, 38.0)] {
        let mut p = after_bulk(json!({ "new_cwv": new, "loss_basis": "cwnd", "idle_restart": "off" }), ms(10));
        trickle(&mut p, 10, ms(20), 200);
        p.drop_data(&[0, 1]);
        p.write(0, 2 * MSS, false);
        while p.ends[0].view().timeouts == 0 {
            p.step();
        }
        assert_eq!(cwnd(&p), 1.0);
        assert!((ssthresh(&p) - threshold).abs() < 4.0, "{}", ssthresh(&p));
        assert!(!new || ssthresh(&p) == threshold);
    }
}

/// An echo of congestion is answered like a loss, without retransmissions.
/// Also RFC 7661 section 4.4.
#[test]
fn echo() {
    for (new, left) in [(true, 5.0), (false, 38.0)] {
        let mut p = after_bulk(json!({ "new_cwv": new, "ecn": "classic", "loss_basis": "cwnd", "idle_restart": "off" }), ms(50));
        trickle(&mut p, 10, ms(100), 50);
        let mut n = 0;
        p.script[0] = Box::new(move |_, s| {
            n += u32::from(s.payload != 0);
            if n == 1 && s.payload != 0 { Fate::Mark } else { Fate::Pass }
        });
        p.write(0, 10 * MSS, false);
        p.run(ms(101));
        assert_eq!(p.ends[0].view().ecn_cuts, 1);
        assert!((cwnd(&p) - left).abs() < if new { 1.0 } else { 4.0 }, "{new} {}", cwnd(&p));
    }
}

/// Section 4.2: pipeACK covers the last second, or three round trips if they are more. Until then a loss is answered as ever.
#[test]
fn rfc7661_section_4_2_sampling_period() {
    for (one_way, silence, validated) in [(ms(10), 500, true), (ms(10), 2000, false), (ms(500), 2000, true), (ms(500), 5000, false)] {
        let mut p = after_bulk(json!({ "new_cwv": true, "loss_basis": "cwnd", "rto_min": "3s" }), one_way);
        let w = cwnd(&p);
        p.run(ms(silence));
        p.drop_data(&[0]);
        p.write(0, 10 * MSS, false);
        while p.ends[0].view().fast_recoveries == 0 {
            p.step();
        }
        let left = cwnd(&p);
        assert!(if validated { (left - w / 2.0).abs() < 1.0 } else { left == 5.0 }, "{one_way:?} {silence} ms: {left} of {w}");
    }
}

/// Section 4.4.2: a window that was kept through silence goes out at once; with pacing it is spread over the round trip, with `max_burst` so many go at once.
#[test]
fn rfc7661_section_4_4_2_bursts() {
    let burst = |extra: Value| {
        let mut j = extra;
        j["new_cwv"] = json!(true);
        let mut p = after_bulk(j, ms(10));
        p.run(Dur::from_secs(5));
        let before = p.ends[0].view().data_segments;
        p.write(0, 500 * MSS, false);
        p.ends[0].view().data_segments - before
    };
    assert!(burst(json!({})) > 50);
    assert!(burst(json!({ "pacing": true })) <= 2);
    assert_eq!(burst(json!({ "max_burst": 4 })), 4);
}

/// A transfer that always fills its window is unaffected: the same segments at the same times.
#[test]
fn bulk_is_as_ever() {
    let run = |new: bool| {
        let j = json!({ "cc": "sack", "mss": "1000B", "initial_window": "10p", "new_cwv": new, "rtt_sampling": "every" });
        let mut p = Pair::dumbbell(&params(j), 40);
        p.start();
        p.write(0, 5000 * MSS, true);
        p.run(Dur::from_secs(60));
        assert!(p.finished[0].is_some() && p.ends[0].view().fast_recoveries > 1);
        p.log.iter().filter(|l| l.1 == 0).map(|l| (l.0, l.2.seq)).collect::<Vec<_>>()
    };
    assert!(run(true) == run(false));
}
