//! BBR version 1 compared with its draft and with published measurements: two endpoints and a bottleneck in memory.

use crate::pair::transfer::{changes, gauge, goodput, lossy, path, secs};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::{Dur, Rate, Time};
use serde_json::json;

const MSS: u64 = 1460;
const WIRE: f64 = 1500.0;

const STARTUP: f64 = 0.0;
const PROBE_BW: f64 = 2.0;
const PROBE_RTT: f64 = 3.0;

/// Draft-00 section 4.3.2.1: STARTUP doubles the rate each round, so it finds a bandwidth in about log2(BDP) rounds, and needs three
/// more to see that it has (section 4.3.2.2).
#[test]
fn draft_4_3_2_startup_takes_log2_bdp_rounds() {
    for (mbps, rtt) in [(10, 40), (100, 40), (1000, 40)] {
        let mut p = path(json!("bbr"), mbps, rtt, 100_000);
        while gauge(&p, "mode") == STARTUP {
            p.step();
        }
        let rounds = gauge(&p, "round");
        let bdp = mbps as f64 * 1e6 / 8.0 * rtt as f64 / 1e3 / WIRE;
        // The initial window of 10 comes back in the first; then log2(BDP / 10) doublings, three rounds to notice, and up to two for delayed
        // acknowledgments and the part of a doubling that is left.
        let doublings = (bdp / 10.0).log2().ceil();
        assert!(rounds >= doublings + 3.0 && rounds <= doublings + 6.0, "{mbps} Mbit/s: {rounds} rounds, {doublings} doublings");
        p.run(Dur::from_secs(1));
        assert!((gauge(&p, "bandwidth") / 1e6 / mbps as f64 - MSS as f64 / WIRE).abs() < 0.02, "{}", gauge(&p, "bandwidth"));
    }
}

/// Draft-00 section 4.3.4.2: the phases of PROBE_BW are 5/4, 3/4 and six times 1, each a minimum round-trip time long; section 4.3.4.3:
/// the first is any but 3/4, at random.
#[test]
fn draft_4_3_4_gain_cycle() {
    let mut p = path(json!({ "cc": { "bbr": { "first_phase": 0 } } }), 10, 40, 200);
    while gauge(&p, "mode") != PROBE_BW {
        p.step();
    }
    let gains = changes(&mut p, "pacing_gain", secs(9));
    let ups: Vec<(Time, f64)> = gains.iter().copied().filter(|g| g.1 == 1.25).collect();
    let mut downs = gains.iter().filter(|g| g.1 < 1.0);
    assert!(ups.len() > 20, "{}", ups.len());
    assert!(downs.all(|g| g.1 == 0.75));
    for w in gains.windows(3).filter(|w| w[0].1 == 1.25) {
        assert_eq!((w[1].1, w[2].1), (0.75, 1.0));
    }
    // Eight phases of 40 ms and a little, as each ends with the first acknowledgment after its time.
    let mean = (ups[20].0.since(ups[0].0)).as_secs_f64() / 20.0;
    assert!((0.30..0.37).contains(&mean), "a cycle takes {mean} s");
}

#[test]
fn draft_4_3_4_3_first_phase_is_random_and_follows_the_seed() {
    let first = |seed| {
        let p = params(json!("bbr"));
        let (mut a, _) = fairlane_tcp::Tcp::pair(&p, fairlane_net::Class(0)).unwrap();
        a.seed(seed);
        let mut q = path(json!("bbr"), 10, 40, 200);
        q.ends[0] = a;
        q.call(0, |e, cx| e.start(cx));
        q.write(0, ENDLESS, false);
        while gauge(&q, "mode") != PROBE_BW {
            q.step();
        }
        let gain = gauge(&q, "pacing_gain");
        let at = q.now;
        // How many phases of 1 until the next 5/4.
        let next = changes(&mut q, "pacing_gain", secs(3)).into_iter().find(|c| c.1 == 1.25 && c.0 > at).unwrap().0;
        (gain.to_bits(), next.since(at).as_ps() / 1_000_000_000)
    };
    let all: Vec<_> = (0..20).map(first).collect();
    assert_eq!(all, (0..20).map(first).collect::<Vec<_>>());
    assert!(all.iter().all(|f| f64::from_bits(f.0) != 0.75));
    let mut kinds = all;
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 5, "{kinds:?}");
}

/// Draft-00 section 4.3.5: PROBE_RTT comes 10 s after the last time the minimum was seen, and cuts what is in flight to 4 segments for
/// at least 200 ms and a round.
#[test]
fn draft_4_3_5_probe_rtt_every_10_s() {
    // A queue that never empties: the round-trip time seen at the start does not come back.
    let mut p = path(json!("bbr"), 10, 40, 200);
    let modes = changes(&mut p, "mode", secs(45));
    let entries: Vec<f64> = modes.iter().filter(|m| m.1 == PROBE_RTT).map(|m| m.0.as_secs_f64()).collect();
    assert!(entries.len() >= 3, "{entries:?}");
    for gap in entries.windows(2).map(|w| w[1] - w[0]) {
        assert!((10.0..=10.6).contains(&gap), "{entries:?}");
    }
    for w in modes.windows(2).filter(|w| w[0].1 == PROBE_RTT) {
        let spent = w[1].0.since(w[0].0).as_secs_f64();
        assert!((0.2..0.4).contains(&spent), "{spent}");
        assert_eq!(w[1].1, PROBE_BW);
    }
    // In the middle of the last one.
    let at = modes.iter().rfind(|m| m.1 == PROBE_RTT).unwrap().0;
    let mut q = path(json!("bbr"), 10, 40, 200);
    q.run_until(at + Dur::from_ms(150));
    assert_eq!(q.ends[0].view().cwnd, 4 * MSS);
    assert!(q.ends[0].view().in_flight <= 4 * MSS);
    assert!((gauge(&q, "min_rtt") - 0.0412).abs() < 0.002, "{}", gauge(&q, "min_rtt"));
}

/// Cardwell et al. 2016, figure 1 and section "Steady-state behavior": BBR runs with at most about a BDP and a half queued where a
/// loss-based sender fills any buffer.
#[test]
fn queue_stays_small_where_reno_fills_it() {
    let bdp = 10e6 / 8.0 * 0.04 / WIRE;
    let queue = |cc: &str| {
        let mut p = path(json!({ "cc": cc, "recovery": "sack" }), 10, 40, 8 * bdp as usize);
        p.run_until(secs(10));
        let before = p.hops[0][0].waited;
        let rate = goodput(&mut p, 10, 40);
        // Waiting time by Little's law.
        ((p.hops[0][0].waited - before) / 30.0, rate)
    };
    let (bbr, rate) = queue("bbr");
    let (reno, _) = queue("reno");
    assert!(bbr < 1.0 * bdp, "{bbr} of {bdp}");
    assert!(reno > 3.0 * bdp, "{reno} of {bdp}");
    assert!(rate > 0.94 * 10.0 * MSS as f64 / WIRE, "{rate}");
}

/// Cardwell et al. 2016, figure 8: loss of up to some percent at random does not slow BBR down, while CUBIC falls by an order of magnitude.
#[test]
fn random_loss_leaves_the_rate() {
    let mut last = 10.0;
    for chance in [0.001, 0.01, 0.05] {
        let rate = |cc: &str| {
            let mut p = path(json!({ "cc": cc, "recovery": "sack" }), 20, 100, 500);
            lossy(&mut p, chance);
            goodput(&mut p, 5, 35)
        };
        let (bbr, reno) = (rate("bbr"), rate("reno"));
        assert!(bbr > 0.85 * 20.0 * (1.0 - chance) * MSS as f64 / WIRE, "{chance}: {bbr}");
        assert!(reno < last && (chance < 0.01 || reno < bbr / 10.0), "{chance}: {reno}");
        last = reno;
    }
}

/// Draft-00 section 4.2.3.4: on entering recovery the window is what is in flight and what was delivered; after it the window is back.
#[test]
fn draft_4_2_3_4_window_comes_back_after_recovery() {
    let mut p = path(json!("bbr"), 10, 40, 500);
    p.run_until(secs(2));
    let before = p.ends[0].view();
    let now = p.now;
    let mut n = 0;
    p.script[0] = Box::new(move |_, s| {
        n += u32::from(s.payload > 0);
        if s.payload > 0 && (3..6).contains(&n) { Fate::Drop } else { Fate::Pass }
    });
    while p.ends[0].view().fast_recoveries == before.fast_recoveries {
        p.step();
    }
    let entered = p.ends[0].view();
    assert!(entered.cwnd <= entered.in_flight + 3 * MSS, "{} {}", entered.cwnd, entered.in_flight);
    assert!(p.now.since(now) < Dur::from_ms(200));
    p.run(Dur::from_ms(400));
    let after = p.ends[0].view();
    assert!(after.cwnd >= before.cwnd * 9 / 10, "{} {}", after.cwnd, before.cwnd);
    assert_eq!(after.timeouts, 0);
    assert_eq!(after.retransmits, 3);
}

/// Draft-00 section 4.2.3.4: after a timeout one segment, then up again; the bandwidth is not forgotten.
#[test]
fn draft_4_2_3_4_timeout() {
    let mut p = path(json!("bbr"), 10, 40, 500);
    p.run_until(secs(2));
    let cut = p.now;
    p.script[0] = Box::new(|_, _| Fate::Drop);
    while p.ends[0].view().timeouts == 0 {
        p.step();
    }
    assert_eq!(p.ends[0].view().cwnd, MSS);
    assert!(p.now > cut);
    p.script[0] = Box::new(|_, _| Fate::Pass);
    let from = p.now.as_ps() / 1_000_000_000_000 + 4;
    let rate = goodput(&mut p, from, from + 4);
    assert!(rate > 9.0, "{rate}");
}

/// Draft-00 section 4.3.4.4: after an idle time data goes out at the estimated rate, not in a burst.
#[test]
fn draft_4_3_4_4_restart_from_idle_is_paced() {
    let half = Dur::from_ms(20);
    let hop = Hop::new(Rate::from_mbps(10), half, 500);
    let mut p = Pair::new(&params(json!("bbr")), vec![hop], vec![Hop::delay(half)]);
    p.start();
    p.write(0, 4_000_000, false);
    p.run_until(secs(6));
    assert_eq!(p.ends[0].view().in_flight, 0);
    p.log.clear();
    p.write(0, 30 * MSS, false);
    p.run(Dur::from_ms(39));
    let sent: Vec<Time> = p.log.iter().filter(|l| l.2.payload > 0).map(|l| l.0).collect();
    assert!(sent.len() > 20, "{}", sent.len());
    let rate = (sent.len() - 1) as f64 * MSS as f64 * 8.0 / sent[sent.len() - 1].since(sent[0]).as_secs_f64();
    let known = gauge(&p, "bandwidth");
    assert!((rate / (0.99 * known) - 1.0).abs() < 0.01, "{rate} {known}");
}

/// Linux: two intervals of 4 to 16 rounds with a fifth of the data lost and the same rate show a policer; its rate is then kept to.
#[test]
fn linux_policer_is_found() {
    let lost = |policer: bool| {
        let mut p = path(json!({ "cc": { "bbr": { "policer": policer } }, "recovery": "sack" }), 100, 40, 1000);
        // A token bucket of 5 Mbit/s that holds 100 kB.
        let (mut tokens, mut last) = (100_000.0_f64, Time::ZERO);
        p.script[0] = Box::new(move |_, s| {
            tokens = (tokens + s.sent.since(last).as_secs_f64() * 5e6 / 8.0).min(100_000.0);
            last = s.sent;
            let size = f64::from(s.payload) + 40.0;
            if tokens < size {
                return Fate::Drop;
            }
            tokens -= size;
            Fate::Pass
        });
        p.run_until(secs(10));
        let v = p.ends[0].view();
        (p.delivered[1], v.retransmits as f64 / v.data_segments as f64)
    };
    let (with, rate_with) = lost(true);
    let (without, rate_without) = lost(false);
    assert!(rate_with < rate_without / 2.0, "{rate_with} {rate_without}");
    assert!(with as f64 > 0.85 * without as f64, "{with} {without}");
}
