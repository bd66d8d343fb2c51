use super::*;
use crate::sched::waiting::Waiting;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, Ecn};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{PS_PER_SEC, Rate, Time};

fn link(mbps: u64, delay_ms: u64) -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(mbps), delay: Dur::from_ms(delay_ms) }
}

fn ns2() -> RedParams {
    serde_json::from_str(RedParams::PRESETS[0].values).unwrap()
}

fn pkt(len: u32, ecn: Ecn) -> Packet {
    Packet { len, ecn, ..PACKET }
}

/// A law fed with arrivals that all find the same backlog.
struct Bench {
    red: Red,
    rng: Stream,
    queue: Waiting,
}

impl Bench {
    fn new(p: &RedParams, seed: u64) -> Self {
        Self { red: Red::new(p, link(10, 20)), rng: Stream::new(seed, "port", "red", "aqm"), queue: Waiting::default() }
    }
    fn arrive_at(&mut self, now: Time, pkts: u32, p: &Packet) -> Verdict {
        let held = Backlog { pkts, bytes: u64::from(pkts) * 1000 };
        self.red.on_enqueue(p, &mut LawCx { now, rng: &mut self.rng, held, queue: &self.queue })
    }
    fn arrive(&mut self, pkts: u32) -> Verdict {
        self.arrive_at(Time::ZERO, pkts, &pkt(1000, Ecn::NotEct))
    }
    /// Gaps between `n` drops, in arrivals, at an average of `pkts`.
    fn gaps(&mut self, pkts: u32, n: usize) -> Vec<u64> {
        let (mut gaps, mut gap) = (vec![], 0);
        while gaps.len() < n + 1 {
            gap += 1;
            if self.arrive(pkts) != Verdict::Pass {
                gaps.push(std::mem::take(&mut gap));
            }
        }
        gaps[1..].to_vec()
    }
}

/// The average is the queue itself with weight 1: p_b is then set by the backlog.
fn instant(min: u64, max: u64) -> RedParams {
    RedParams {
        thresholds: RedThresholds { min: Some(Len::Packets(min)), max: Some(Len::Packets(max)), ..RedThresholds::default() },
        tuning: RedTuning { w_q: Some(1.0), ..RedTuning::default() },
        ..RedParams::default()
    }
}

/// Automatic values that ns-2.35 prints for a Queue/RED with its class defaults on links of these rates and delays.
#[test]
fn automatic_values_are_those_of_ns2() {
    let table = [
        (50, 10, 31.25, 93.75, 7.999_680_008_530_241e-5),
        (10, 3, 6.25, 18.75, 0.000_399_920_010_665_577_6),
        (10, 20, 6.25, 18.75, 0.000_399_920_010_665_577_6),
        (5, 20, 5.0, 15.0, 0.000_799_680_085_316_276_3),
        (20, 20, 12.5, 37.5, 0.000_199_980_001_333_255_33),
        (100, 20, 62.5, 187.5, 3.999_920_001_063_195e-5),
    ];
    for (mbps, ms, min, max, w) in table {
        let s = ns2().setting(link(mbps, ms));
        assert!((s.min / 500.0 - min).abs() < 1e-9 && (s.max / 500.0 - max).abs() < 1e-9, "{mbps} {s:?}");
        assert!((s.w_q / w - 1.0).abs() < 1e-11, "{mbps} {s:?}");
        let p = RedParams { tuning: RedTuning { measure: Measure::Packets, ..ns2().tuning }, ..ns2() }.setting(link(mbps, ms));
        assert!((p.min - min).abs() < 1e-9 && (p.max - max).abs() < 1e-9);
    }
}

/// ns-2's other automatic weights, q_weight 0 and -2: time constants of 1 s and 0.1 s.
#[test]
fn averaging_sets_the_weight() {
    let w = |t| RedParams { tuning: RedTuning { averaging: Some(t), ..ns2().tuning }, ..ns2() }.setting(link(10, 20)).w_q;
    assert!((w(Dur::from_secs(1)) - (1.0 - (-1.0_f64 / 2500.0).exp())).abs() < 1e-15);
    assert!((w(Dur::from_ms(100)) - (1.0 - (-1.0_f64 / 250.0).exp())).abs() < 1e-15);
    // A long link: three times 200 ms and a packet of 0.4 ms, ten times.
    let w = ns2().setting(link(10, 200)).w_q;
    assert!((w - (1.0 - (-1.0 / (10.0 * 3.0 * 0.2004 * 2500.0_f64)).exp())).abs() < 1e-15);
}

/// Section 6.2 of the 1993 paper: after L arrivals at a queue of q, avg = q (1 - (1 - w)^L).
#[test]
fn average_follows_its_closed_form() {
    let mut b = Bench::new(
        &RedParams {
            tuning: RedTuning { w_q: Some(0.002), ..RedTuning::default() },
            thresholds: RedThresholds { min: Some(Len::Packets(1000)), ..RedThresholds::default() },
            ..RedParams::default()
        },
        1,
    );
    for n in 1..=500 {
        b.arrive(40);
        let want = 40.0 * (1.0 - (1.0_f64 - 0.002).powi(n));
        assert!((b.red.avg() - want).abs() < 1e-10, "{n}");
    }
}

/// Equation 2 of section 6.2: from an empty queue that grows by one packet an arrival, the average after L arrivals is
/// L + 1 + ((1 - w)^(L + 1) - 1) / w.
#[test]
fn growing_burst_follows_equation_2() {
    let w: f64 = 0.001;
    let mut b = Bench::new(
        &RedParams {
            tuning: RedTuning { w_q: Some(w), ..RedTuning::default() },
            thresholds: RedThresholds { min: Some(Len::Packets(1000)), ..RedThresholds::default() },
            ..RedParams::default()
        },
        1,
    );
    let burst = 80;
    for i in 1..=burst {
        b.arrive(i);
    }
    let l = f64::from(burst);
    let want = l + 1.0 + ((1.0 - w).powi(burst as i32 + 1) - 1.0) / w;
    assert!((b.red.avg() - want).abs() < 1e-9, "{} {want}", b.red.avg());
}

/// Section 4: an idle link ages the average as if it had sent m packets.
#[test]
fn idle_time_ages_the_average() {
    let p = RedParams {
        tuning: RedTuning { w_q: Some(0.01), ..RedTuning::default() },
        thresholds: RedThresholds { min: Some(Len::Packets(1000)), ..RedThresholds::default() },
        ..RedParams::default()
    };
    for (idle_packet, m) in [(None, 25), (Some(Bytes(100)), 255)] {
        let mut b = Bench::new(&RedParams { tuning: RedTuning { idle_packet, ..p.clone().tuning }, ..p.clone() }, 1);
        (0..500).for_each(|_| assert_eq!(b.arrive(40), Verdict::Pass));
        let before = b.red.avg();
        let (start, last) = (Time::from_ps(PS_PER_SEC), pkt(1000, Ecn::NotEct));
        let held = Backlog::default();
        b.red.on_dequeue(&last, &mut LawCx { now: start, rng: &mut b.rng, held, queue: &b.queue });
        // 1000 B take 0.8 ms at 10 Mbit/s; then 25.5 packet times of silence.
        b.arrive_at(start + Dur::from_us(800) + Dur::from_us(20_400), 0, &last);
        let want = before * (1.0_f64 - 0.01).powi(m + 1);
        assert!((b.red.avg() / want - 1.0).abs() < 1e-12, "{m}");
    }
}

/// While the link still sends the last packet nothing is idle, though nothing waits.
#[test]
fn busy_link_is_not_idle() {
    let mut b = Bench::new(
        &RedParams {
            tuning: RedTuning { w_q: Some(0.01), ..RedTuning::default() },
            thresholds: RedThresholds { min: Some(Len::Packets(1000)), ..RedThresholds::default() },
            ..RedParams::default()
        },
        1,
    );
    (0..500).for_each(|_| assert_eq!(b.arrive(40), Verdict::Pass));
    let (before, start, last) = (b.red.avg(), Time::from_ps(PS_PER_SEC), pkt(1000, Ecn::NotEct));
    b.red.on_dequeue(&last, &mut LawCx { now: start, rng: &mut b.rng, held: Backlog::default(), queue: &b.queue });
    b.arrive_at(start + Dur::from_us(799), 0, &last);
    assert!((b.red.avg() / (before * 0.99) - 1.0).abs() < 1e-12);
}

/// Section 4: p_b rises linearly to max_p; gentle (Floyd 2000): on to 1 at twice the upper threshold, else a jump.
#[test]
fn probability_curve() {
    let at = |p: &RedParams, avg: f64| Red::new(p, link(10, 20)).chooser.p_b_at(avg);
    let gentle = instant(10, 30);
    let steep = RedParams { tuning: RedTuning { gentle: false, ..gentle.clone().tuning }, ..gentle.clone() };
    for (avg, p) in [(10.0, 0.0), (15.0, 0.025), (20.0, 0.05), (29.0, 0.095)] {
        assert!((at(&gentle, avg) - p).abs() < 1e-12 && (at(&steep, avg) - p).abs() < 1e-12, "{avg}");
    }
    for (avg, p) in [(30.0, 0.1), (45.0, 0.55), (60.0, 1.0), (90.0, 1.0)] {
        assert!((at(&gentle, avg) - p).abs() < 1e-12, "{avg}");
        assert_eq!(at(&steep, avg), 1.0);
    }
    assert!((at(&instant(10, 10), 10.0) - 0.1).abs() < 1e-12);
}

/// Section 7, method 2: gaps are uniform. The algorithm counts the arrival before it tests, so they run from 1 to 1/p - 1.
#[test]
fn gaps_are_uniform() {
    let gaps = Bench::new(&instant(10, 30), 5).gaps(20, 40_000); // p_b = 0.05
    assert_uniform(&gaps, 1, 19);
}

/// With `wait` they run from 1/p to 2/p - 1: the mean drop rate is about 2p/3.
#[test]
fn waiting_gaps_are_uniform() {
    let gaps = Bench::new(&RedParams { tuning: RedTuning { wait: true, ..instant(10, 30).tuning }, ..instant(10, 30) }, 6).gaps(20, 40_000);
    assert_uniform(&gaps, 20, 39);
}

fn assert_uniform(gaps: &[u64], low: u64, high: u64) {
    assert!(gaps.iter().all(|g| (low..=high).contains(g)), "outside {low}..={high}");
    let cells = high - low + 1;
    let want = gaps.len() as f64 / cells as f64;
    let chi2: f64 = (low..=high).map(|v| (gaps.iter().filter(|&&g| g == v).count() as f64 - want).powi(2) / want).sum();
    // 99.9 % point of chi-square with 19 degrees of freedom is 43.8.
    assert!(chi2 < 43.8, "{chi2}");
}

/// Byte mode: a packet is dropped in proportion to its length.
#[test]
fn byte_mode_drops_by_length() {
    let p = RedParams {
        tuning: RedTuning { byte_mode: true, mean_packet: Bytes(1000), ..instant(10, 30).tuning },
        thresholds: RedThresholds { max_p: 0.02, ..instant(10, 30).thresholds },
        ..instant(10, 30)
    };
    let mut b = Bench::new(&p, 8);
    let (mut drops, n) = ([0_u32; 2], 400_000);
    for i in 0..n {
        let len = [250, 1000][i % 2];
        drops[i % 2] += u32::from(b.arrive_at(Time::ZERO, 20, &pkt(len, Ecn::NotEct)) != Verdict::Pass);
    }
    let ratio = f64::from(drops[1]) / f64::from(drops[0]);
    assert!((ratio - 4.0).abs() < 0.5, "{drops:?}");
}

/// ns-2: the first arrival above the threshold is spared, and none is dropped while only one waits.
#[test]
fn grace_and_spare() {
    let p = RedParams {
        tuning: RedTuning { gentle: false, wait: true, ..instant(0, 1).tuning },
        start: RedStart { grace: true, spare: Some(1) },
        ..instant(0, 1)
    };
    let mut b = Bench::new(&p, 9);
    assert_eq!((b.arrive(2), b.arrive(2)), (Verdict::Pass, Verdict::Drop(DropReason::Forced)));
    assert_eq!((b.arrive(1), b.arrive(2), b.arrive(2)), (Verdict::Pass, Verdict::Pass, Verdict::Drop(DropReason::Forced)));
    // Without them the average alone decides.
    let mut b = Bench::new(&RedParams { tuning: RedTuning { gentle: false, ..instant(0, 1).tuning }, ..instant(0, 1) }, 9);
    assert_eq!(b.arrive(1), Verdict::Drop(DropReason::Forced));
}

/// RFC 3168 section 7: mark ECN-capable packets only, and drop where the probability says that marks do not help.
#[test]
fn marks_only_capable_packets_below_mark_p() {
    let p = RedParams { tuning: RedTuning { ecn: true, mark_p: 0.3, ..instant(10, 30).tuning }, ..instant(10, 30) };
    let first = |p: &RedParams, pkts, ecn| {
        let mut b = Bench::new(p, 3);
        (0..10_000).map(|_| b.arrive_at(Time::ZERO, pkts, &pkt(1000, ecn))).find(|v| *v != Verdict::Pass).unwrap()
    };
    assert_eq!(first(&p, 20, Ecn::Ect0), Verdict::Mark);
    assert_eq!(first(&p, 20, Ecn::Ce), Verdict::Mark);
    assert_eq!(first(&p, 20, Ecn::NotEct), Verdict::Drop(DropReason::Early));
    assert_eq!(first(&p, 45, Ecn::Ect0), Verdict::Drop(DropReason::Early));
    // DCTCP's step marks all that finds the threshold reached, however many wait.
    let step = RedParams { hard_drop: false, tuning: RedTuning { ecn: true, gentle: false, ..instant(20, 20).tuning }, ..instant(20, 20) };
    for (pkts, verdict) in [(19, Verdict::Pass), (20, Verdict::Mark), (500, Verdict::Mark)] {
        assert_eq!(Bench::new(&step, 3).arrive_at(Time::ZERO, pkts, &pkt(1000, Ecn::Ect0)), verdict, "{pkts}");
    }
    assert_eq!(first(&step, 20, Ecn::NotEct), Verdict::Drop(DropReason::Forced));
    assert_eq!(first(&RedParams { tuning: RedTuning { ecn: false, ..p.tuning }, ..p }, 20, Ecn::Ect0), Verdict::Drop(DropReason::Early));
}

/// ns-2 multiplies its limit in packets by the mean packet when it measures in bytes, and admits while not full.
#[test]
fn limit_in_bytes_of_mean_packets() {
    let q = ns2().build(&link(10, 3).into());
    let mut rng = Stream::new(1, "port", "red", "aqm");
    let mut drops = vec![];
    let (mut q, mut n) = (q, 0);
    while drops.is_empty() {
        use fairlane_net::Qdisc;
        q.enqueue(pkt(1540, Ecn::NotEct), &mut fairlane_net::QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 });
        n += 1;
    }
    // 16 packets are 24,640 bytes, under 25,000; the 17th is admitted, the 18th is not.
    assert_eq!((n, drops[0].1), (18, DropReason::Overflow));
}

#[test]
fn nonsense_is_named() {
    let l = link(10, 20);
    assert!(RedParams::default().check(&l.into()).is_ok() && ns2().check(&l.into()).is_ok());
    let Problem { field, message: text } = instant(30, 10).check(&l.into()).unwrap_err();
    assert_eq!((field.as_str(), text.as_str()), ("max", "the upper threshold (10 packets) is below the lower one (30 packets)"));
    assert_eq!(
        RedParams { thresholds: RedThresholds { max_p: f64::NAN, ..RedThresholds::default() }, ..RedParams::default() }
            .check(&l.into())
            .unwrap_err()
            .field,
        "max_p"
    );
    assert_eq!(RedParams { limit: Len::Packets(0), ..RedParams::default() }.check(&l.into()).unwrap_err().field, "limit");
}

#[test]
fn power_is_repeated_multiplication() {
    let x: f64 = 0.9996;
    let mut want = 1.0;
    for n in 0..1000 {
        assert!((parts::power(x, n) - want).abs() < 1e-12);
        want *= x;
    }
    assert_eq!(parts::power(0.5, u64::MAX), 0.0);
}
