//! Delay-based algorithms compared with the numbers of their sources: acknowledgment by acknowledgment, and whole flows.

use crate::helpers::ms;
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{Class, Endpoint};
use fairlane_tcp::cc::illinois::IllinoisParams;
use fairlane_tcp::cc::ledbat::History;
use fairlane_tcp::cc::rtt_stats::{RttStats, queued};
use fairlane_tcp::cc::westwood::{Bandwidth, Filter, WestwoodParams};
use fairlane_tcp::cc::{AckSample, AnyCc, CongestionControl, CongestionEvent, CongestionKind};
use fairlane_tcp::{TcpConfig, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

/// An algorithm alone, fed with acknowledgments of one segment of 1000 bytes each.
struct Rig {
    cc: AnyCc,
    s: AckSample,
}

impl Rig {
    /// In congestion avoidance with `window` segments and a base RTT of 100 ms.
    fn new(cc: Value, window: u64) -> Self {
        let p = resolve_params(json!({ "cc": cc, "mss": "1000B", "initial_ssthresh": "2p" })).unwrap();
        let mut cc = p.cc.build(TcpConfig::new(&p, Class(0)).unwrap().congestion());
        cc.on_established(Time::ZERO, window * 1000);
        let s = AckSample { min_rtt: ms(100), cwnd_limited: true, may_grow: true, ..AckSample::default() };
        Self { cc, s }
    }
    fn ack(&mut self, rtt: Dur) {
        self.s.now += ms(1);
        (self.s.rtt, self.s.srtt) = (Some(rtt), rtt);
        self.s.acked = 1000;
        self.s.delivered += 1000;
        self.s.in_flight = self.cc.cwnd() - 1000;
        self.cc.on_ack(&self.s);
    }
    /// A round trip of `n` acknowledgments.
    fn round(&mut self, n: u64, rtt: Dur) {
        for _ in 0..n {
            self.ack(rtt);
        }
        self.s.round += 1;
    }
    fn lose(&mut self, kind: CongestionKind) {
        let flight = self.cc.cwnd();
        self.cc.on_congestion(&CongestionEvent { kind, now: self.s.now, flight });
    }
    fn cwnd(&self) -> f64 {
        self.cc.cwnd() as f64 / 1000.0
    }
    fn gauge(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.cc.gauges(&mut |n, v| {
            if n == name {
                found = v;
            }
        });
        found
    }
}

/// Brakmo and Peterson 1995 section 3.2: a window of 20 at an RTT a quarter above the base has 4 in the queue.
#[test]
fn vegas_counts_what_waits() {
    near(queued(20.0, ms(100), ms(125)), 4.0);
    near(queued(20.0, ms(100), ms(100)), 0.0);
    let mut d = RttStats::default();
    d.take(ms(120));
    d.take(ms(100));
    assert_eq!((d.base, d.most, d.mean()), (ms(100), ms(120), Some(ms(110))));
    d.begin(1);
    assert_eq!((d.base, d.least, d.count, d.mean()), (ms(100), Dur::MAX, 0, None));
}

/// Grieco and Mascolo 2004 section 2.1: the response to a step is 1 - 0.9^k; Linux filters twice with 7/8; ns-3's Tustin filter lags by half a sample.
#[test]
fn westwood_filters() {
    let run = |filter, weight, n: i32| {
        let mut b = Bandwidth::new(&WestwoodParams { filter, weight, from_zero: true, ..WestwoodParams::default() });
        for _ in 0..n {
            b.take(1e6);
        }
        b.value
    };
    near(run(Filter::Single, 0.9, 10), 1e6 * (1.0 - 0.9_f64.powi(10)));
    // Twice 1/8 of 1 after the first sample; the second: 7/8 of 1/64 and 1/8 of 15/64.
    near(run(Filter::Cascade, 0.875, 1), 1e6 / 64.0);
    near(run(Filter::Cascade, 0.875, 2), 1e6 * (7.0 / 512.0 + 15.0 / 512.0));
    near(run(Filter::Tustin, 0.9, 1), 1e6 * 0.05);
    let mut b = Bandwidth::new(&WestwoodParams::default());
    b.take(1e6);
    near(b.value, 1e6);
}

/// Grieco and Mascolo 2004 section 2: after a loss the window is B RTTmin, not half; after a timeout the threshold is.
#[test]
fn westwood_sets_what_the_path_delivers() {
    for (kind, cwnd) in [(CongestionKind::FastRetransmit, 10.0), (CongestionKind::Timeout { first: true }, 1.0)] {
        // An acknowledgment each 10 ms for 1000 bytes: 100 kB/s, in the least round trip of 100 ms ten segments.
        let mut r = Rig::new(json!("westwood"), 16);
        for _ in 0..200 {
            r.s.now += ms(9);
            r.ack(ms(160));
        }
        near(r.gauge("bandwidth"), 800_000.0);
        assert!(r.cwnd() > 16.0);
        r.lose(kind);
        assert!((r.cwnd() - cwnd).abs() < 0.01, "{}", r.cwnd());
        assert!((r.cc.ssthresh() as f64 - 10_000.0).abs() < 10.0);
    }
}

/// Fu and Liew 2003 section III-B: N < 3: Reno's growth, a loss takes 1/5; N >= 3: half that growth, a loss takes half.
#[test]
fn veno_tells_random_losses() {
    let mut r = Rig::new(json!("veno"), 20);
    r.ack(ms(100));
    near(r.gauge("queued"), 0.0);
    let before = r.cwnd();
    r.ack(ms(110));
    assert!(r.gauge("queued") < 3.0);
    assert!((r.cwnd() - before - 1.0 / 20.0).abs() < 0.002);
    let before = r.cwnd();
    r.lose(CongestionKind::FastRetransmit);
    assert!((r.cwnd() / before - 0.8).abs() < 0.001);

    let mut r = Rig::new(json!("veno"), 20);
    r.ack(ms(100));
    // 20 (1 - 100 / 125) = 4.
    r.ack(ms(125));
    let before = r.cwnd();
    r.ack(ms(125));
    assert!((r.gauge("queued") - 4.0).abs() < 0.03);
    assert!((r.cwnd() - before - 0.5 / 20.0).abs() < 0.002);
    let before = r.cwnd();
    r.lose(CongestionKind::FastRetransmit);
    assert!((r.cwnd() / before - 0.5).abs() < 0.001);
}

/// Baiocchi et al. 2007 section 2: fast mode up to a delay of 1/8 of the base and 80 in the queue; above 80 the queue is taken out of the window.
#[test]
fn yeah_modes() {
    let mut r = Rig::new(json!("yeah"), 200);
    r.round(10, ms(100));
    r.round(10, ms(112));
    let before = r.cwnd();
    r.ack(ms(100));
    near(r.gauge("slow_rounds"), 0.0);
    assert!((r.cwnd() - before - 0.01).abs() < 0.0011, "Scalable TCP's growth");
    // A delay of 13 ms is above 1/8 of the base: slow mode, Reno's growth; 200 (1 - 100/113) = 23 in the queue are no reason to empty it.
    for _ in 0..3 {
        r.round(10, ms(113));
    }
    let before = r.cwnd();
    r.ack(ms(113));
    assert!(r.gauge("slow_rounds") >= 1.0);
    assert!(r.cwnd() - before < 0.0061);
    // 400 (1 - 100/150) = 133 in the queue: they go, the window is near 267.
    let mut r = Rig::new(json!("yeah"), 400);
    r.round(10, ms(100));
    r.round(10, ms(150));
    r.ack(ms(150));
    r.round(10, ms(150));
    assert!((r.cwnd() - 267.0).abs() < 2.0, "{}", r.cwnd());
}

/// Baiocchi et al. 2007 section 2.2: a loss takes the queue, at least an eighth, at most half; half where others fill the queue for 16 round trips.
#[test]
fn yeah_losses() {
    let lost = |rtt: u64, rounds: u32| {
        let mut r = Rig::new(json!("yeah"), 100);
        r.round(10, ms(100));
        for _ in 0..rounds {
            r.round(10, ms(rtt));
        }
        let before = r.cwnd();
        r.lose(CongestionKind::FastRetransmit);
        1.0 - r.cwnd() / before
    };
    assert!((lost(105, 3) - 0.125).abs() < 0.001);
    assert!((lost(125, 3) - 0.2).abs() < 0.005);
    assert!((lost(125, 20) - 0.5).abs() < 0.001);
}

/// Liu, Basar and Srikant 2008 section 4: alpha from 10 at 1 % of the largest delay to 0.3 at all of it, beta from 1/8 at 10 % to 1/2 at 80 %.
#[test]
fn illinois_curves() {
    let p = IllinoisParams::default();
    for (da, alpha, beta) in [
        (0.0, 10.0, 0.125),
        (0.01, 10.0, 0.125),
        (0.1, 2.53856, 0.125),
        (0.45, 0.650_591, 0.3125),
        (0.5, 0.588_119, 0.339_285_714),
        (0.8, 0.373_120, 0.5),
        (1.0, 0.3, 0.5),
    ] {
        assert!((p.alpha(da, 1.0) - alpha).abs() < 1e-4, "{da}: {}", p.alpha(da, 1.0));
        assert!((p.beta(da, 1.0) - beta).abs() < 1e-6, "{da}: {}", p.beta(da, 1.0));
        near(p.alpha(da * 0.06, 0.06), p.alpha(da, 1.0));
    }
}

/// Section 3 of the Illinois paper: a window of 40 grows by 10 per round trip without a queue and by 0.3 with the longest; below 15
/// segments by 1.
#[test]
fn illinois_growth_and_cut() {
    let mut r = Rig::new(json!("illinois"), 40);
    r.round(1, ms(100));
    r.round(1, ms(100));
    let before = r.cwnd();
    r.ack(ms(100));
    assert!((r.cwnd() - before - 10.0 / before).abs() < 0.002);
    let mut r2 = Rig::new(json!("illinois"), 40);
    r2.round(1, ms(100));
    for _ in 0..3 {
        r2.round(5, ms(200));
    }
    let before = r2.cwnd();
    r2.ack(ms(200));
    assert!((r2.cwnd() - before - 0.3 / before).abs() < 0.0011);
    let before = r2.cwnd();
    r2.lose(CongestionKind::FastRetransmit);
    near(r2.cwnd(), libm::trunc(before * 500.0) / 1000.0);
    let mut small = Rig::new(json!("illinois"), 10);
    small.round(1, ms(100));
    small.round(1, ms(100));
    let before = small.cwnd();
    small.ack(ms(100));
    assert!((small.cwnd() - before - 1.0 / before).abs() < 0.0011);
}

/// RFC 6817 section 2.4.2: cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd, at most one segment above the flight, at least two.
#[test]
fn rfc6817_window() {
    for (queueing, off) in [(0, 1.0), (50, 0.5), (100, 0.0), (200, -1.0)] {
        let mut r = Rig::new(json!("ledbat"), 10);
        r.ack(ms(40));
        let before = r.cwnd();
        r.s.now += Dur::from_secs(1);
        r.ack(ms(40 + queueing));
        assert!((r.cwnd() - before - off / before).abs() < 0.0011, "{queueing} ms: {} {before}", r.cwnd());
        near(r.gauge("queueing_delay"), queueing as f64 / 1e3);
    }
    // What is not used does not grow: flightsize + ALLOWED_INCREASE.
    let mut r = Rig::new(json!("ledbat"), 10);
    r.s.in_flight = 3000;
    (r.s.rtt, r.s.acked) = (Some(ms(40)), 1000);
    r.cc.on_ack(&r.s);
    near(r.cwnd(), 5.0);
    // MIN_CWND, and half after a loss.
    let mut r = Rig::new(json!("ledbat"), 10);
    r.lose(CongestionKind::FastRetransmit);
    near(r.cwnd(), 5.0);
    r.ack(ms(40));
    for _ in 0..100 {
        r.s.now += Dur::from_secs(1);
        r.ack(ms(1000));
    }
    near(r.cwnd(), 2.0);
}

/// RFC 6817 section 2.4.2, update_base_delay: a smaller delay counts at once, a larger one after BASE_HISTORY minutes.
#[test]
fn rfc6817_base_delay() {
    let mut h = History::new(10, 4);
    let minute = |n: u64| Time::ZERO + Dur::from_secs(60 * n + 5);
    h.take(minute(0), ms(30));
    for m in 1..=10 {
        h.take(minute(m), ms(80));
        let queueing = h.queueing(minute(m), Dur::MAX.saturating_sub(Dur::from_ps(1)));
        let old_route = m < 10;
        // The four last delays still hold that of the first minute for three more.
        let expected = if old_route && m >= 4 { ms(50) } else { Dur::ZERO };
        assert_eq!(queueing, expected, "minute {m}");
    }
    h.take(minute(11), ms(20));
    h.take(minute(11), ms(90));
    assert_eq!(h.queueing(minute(11), ms(1)), Dur::ZERO, "the least of the last four");
    // RttStats older than a round trip do not count.
    let later = minute(11) + ms(500);
    h.take(later, ms(70));
    assert_eq!(h.queueing(later, ms(100)), ms(50));
}

fn flow(j: Value, limit: usize, secs: u64) -> Pair {
    let mut p = Pair::dumbbell(&params(j), limit);
    p.keep_log = false;
    p.start_endless();
    p.run_until(Time::ZERO + Dur::from_secs(secs));
    p
}

/// Brakmo and Peterson 1995 section 3.2: Vegas holds alpha to beta packets in the queue and loses nothing; Reno fills it until it loses.
#[test]
fn vegas_holds_the_queue_where_reno_loses() {
    let vegas = flow(json!({ "cc": "vegas", "mss": "1000B", "ack_every": 1 }), 50, 60);
    let hop = &vegas.hops[0][1];
    assert_eq!((hop.drops, vegas.ends[0].view().retransmits), (0, 0));
    // One packet of those in the path beyond its round trip is in transmission.
    assert!((1.0..=4.0).contains(&(hop.waited / 60.0)), "{}", hop.waited / 60.0);
    assert!(hop.bytes as f64 * 8.0 / 60.0 > 0.97 * 10e6);
    let reno = flow(json!({ "cc": "reno", "mss": "1000B", "ack_every": 1 }), 50, 60);
    assert!(reno.hops[0][1].drops > 10);
    assert!(reno.hops[0][1].waited > 5.0 * hop.waited);
}

/// RFC 6817 section 2.4.1: alone LEDBAT fills the link and holds the queueing delay at the target, one way or by the round trip.
#[test]
fn ledbat_holds_the_target() {
    for (timestamps, target) in [(false, 25), (true, 25), (true, 60)] {
        let j =
            json!({ "cc": { "ledbat": { "target": format!("{target}ms") } }, "mss": "1000B", "ack_every": 1, "timestamps": timestamps });
        let mut p = flow(j, 400, 60);
        let before = p.hops[0][1].waited;
        p.run(Dur::from_secs(60));
        let hop = &p.hops[0][1];
        // Packets of 0.83 ms.
        let delay = (hop.waited - before) / 60.0 * 0.832;
        assert!((delay - target as f64).abs() < 3.0, "{target} ms, {timestamps}: {delay}");
        assert_eq!(hop.drops, 0);
        assert!(hop.bytes as f64 * 8.0 / 120.0 > 0.9 * 10e6);
    }
}

/// Bytes delivered in 60 s over 10 Mbit/s and 100 ms with a random loss of 1 %.
fn lossy(cc: &str) -> u64 {
    let j = json!({ "cc": cc, "recovery": "sack", "mss": "1000B", "ack_every": 1 });
    let mut p = Pair::new(&params(j), vec![Hop::new(fairlane_units::Rate::from_mbps(10), ms(50), 200)], vec![Hop::delay(ms(50))]);
    p.keep_log = false;
    let mut state = 12345_u64;
    p.script[0] = Box::new(move |_, s| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if s.payload > 0 && (state >> 33).is_multiple_of(100) { Fate::Drop } else { Fate::Pass }
    });
    p.start_endless();
    p.run_until(Time::ZERO + Dur::from_secs(60));
    p.delivered[1]
}

/// Random loss on a path that is not full: Reno gets 1.22 / sqrt(p) segments a round trip, less than the path holds. Westwood+ and Veno do not halve for it
/// (Grieco and Mascolo 2004 section 4, Fu and Liew 2003 section IV), Illinois grows back faster (Liu et al. 2008 section 5).
#[test]
fn random_loss() {
    let reno = lossy("reno");
    // The square-root formula: 1.22 / sqrt(0.01) = 12.2 segments in 0.1 s for 60 s.
    assert!((reno as f64 / 1000.0 / 600.0 - 12.2).abs() < 2.0, "{}", reno as f64 / 6e5);
    for (cc, times) in [("westwood", 1.5), ("veno", 1.3), ("illinois", 1.5)] {
        let got = lossy(cc);
        assert!(got as f64 > times * reno as f64, "{cc} {got} {reno}");
    }
}

/// All of them deliver all data, whatever is lost, and keep a window of at least one segment.
#[test]
fn all_survive_losses() {
    for cc in ["vegas", "westwood", "illinois", "veno", "yeah", "ledbat"] {
        for preset in ["ns2", "ns3", "rfc", "linux"] {
            let lost: Vec<u64> = (10..400).filter(|n| n % 7 < 2).collect();
            let mut p = Pair::delayed(&params(json!({ "preset": preset, "cc": cc, "mss": "1000B" })), ms(20));
            p.drop_data(&lost);
            p.start();
            p.write(0, 400_000, true);
            while p.step() {
                assert!(p.ends[0].view().cwnd >= 1000);
            }
            assert_eq!(p.delivered[1], 400_000, "{cc} {preset}");
            assert!(p.finished[0].is_some());
        }
    }
}
