use super::*;
use crate::law::testing::pkt;
use fairlane_engine::Stream;
use fairlane_net::{Drops, Ecn, LinkInfo, QCx, Qdisc};
use fairlane_units::Dur;
use fairlane_units::{Rate, Time};

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

/// RED without an effect of its own, its average the queue itself: what is dropped, CHOKe drops.
fn bare(draws: u32) -> ChokeParams {
    ChokeParams {
        draws,
        w_q: Some(1.0),
        limit: Len::Packets(100_000),
        thresholds: RedThresholds { min: Some(Len::Packets(10)), max: Some(Len::Packets(100_000)), max_p: 0.0, ..RedThresholds::default() },
        ..ChokeParams::default()
    }
}

struct Bench {
    q: Fifo<Choke>,
    rng: Stream,
    drops: Drops,
}

impl Bench {
    fn new(p: &ChokeParams) -> Self {
        Self { q: p.build(&link().into()), rng: Stream::new(9, "port", "choke", "aqm"), drops: vec![] }
    }
    fn call<R>(&mut self, f: impl FnOnce(&mut Fifo<Choke>, &mut QCx<'_>) -> R) -> R {
        f(&mut self.q, &mut QCx { now: Time::ZERO, rng: &mut self.rng, drops: &mut self.drops, marks: 0 })
    }
    fn put(&mut self, flow: u32) {
        let p = pkt(1000, flow, Ecn::NotEct, Time::ZERO);
        self.call(|q, cx| q.enqueue(p, cx));
    }
    /// A queue of `n` packets, all of different flows, but for those of flow 0 given by `own`.
    fn filled(p: &ChokeParams, n: usize, own: usize) -> Self {
        let mut b = Self::new(p);
        b.q.law_mut().min = f64::MAX;
        for i in 0..n {
            b.put(if i < own { 0 } else { 1000 + i as u32 });
        }
        b.q.law_mut().min = 10.0;
        b
    }
}

/// Section 2: below `min` nothing is drawn; a packet whose flow holds the share h of the queue is dropped with probability h, and one more with it.
#[test]
fn drops_in_proportion_to_the_share() {
    for (own, share) in [(50, 0.25), (100, 0.5), (20, 0.1)] {
        let (mut hits, n) = (0, 4000);
        let start = Bench::filled(&bare(1), 200, own);
        let mut rng = Stream::new(3, "port", "choke", "aqm");
        for _ in 0..n {
            let mut b = Bench { q: start.q.clone(), rng: rng.clone(), drops: vec![] };
            b.put(0);
            match b.drops.len() {
                0 => assert_eq!(b.q.backlog().pkts, 201),
                d => {
                    assert_eq!((d, b.q.backlog().pkts), (2, 199));
                    assert!(b.drops.iter().all(|d| d.0.flow.0 == 0));
                    hits += 1;
                }
            }
            rng.next_u64();
        }
        let got = f64::from(hits) / f64::from(n);
        assert!((got - share).abs() < 4.0 * (share * (1.0 - share) / f64::from(n)).sqrt(), "{own}: {got}");
    }
    let mut b = Bench::new(&bare(1));
    (0..10).for_each(|_| b.put(0));
    assert!(b.drops.is_empty());
    // The eleventh finds ten of its own.
    b.put(0);
    assert_eq!((b.drops.len(), b.q.backlog().pkts), (2, 9));
}

/// With m draws a flow that holds the share h gets through with (1 - h)^m, and every match goes.
#[test]
fn several_draws() {
    let start = Bench::filled(&bare(4), 400, 100);
    let mut rng = Stream::new(4, "port", "choke", "aqm");
    let (mut passed, mut victims, n) = (0, 0, 4000);
    for _ in 0..n {
        let mut b = Bench { q: start.q.clone(), rng: rng.clone(), drops: vec![] };
        b.put(0);
        passed += u32::from(b.drops.is_empty());
        victims += b.drops.len().saturating_sub(1);
        assert_eq!(b.q.backlog().pkts as usize + b.drops.len(), 401);
        rng.next_u64();
    }
    let p = f64::from(passed) / f64::from(n);
    assert!((p - 0.75_f64.powi(4)).abs() < 0.03, "{p}");
    // Four draws hit 4 / 4 = one of its packets in the mean (a little less: none is dropped twice).
    let v = victims as f64 / f64::from(n);
    assert!((v - 1.0).abs() < 0.05, "{v}");
}

/// Share of the link that an unresponsive flow gets when it sends `rate` times what the link carries, against flows that each have one packet
/// in the queue at most and fill it to 300 whenever there is room: the limit of many TCP flows.
fn udp_share(rate: f64, draws: u32) -> f64 {
    let mut b = Bench::new(&bare(draws));
    let mut arrivals = Stream::new(11, "flow", "udp", "times");
    let (mut other, mut sent, mut of_udp) = (1, 0, 0);
    let mut next = 0.0;
    for slot in 0..120_000 {
        // Poisson arrivals, in units of one transmission.
        while next < f64::from(slot) {
            b.put(0);
            next += -(1.0 - arrivals.uniform()).ln() / rate;
        }
        while b.q.backlog().pkts < 300 {
            b.put(other);
            other += 1;
        }
        b.drops.clear();
        let p = b.call(|q, cx| q.dequeue(cx)).unwrap();
        if slot >= 20_000 {
            sent += 1;
            of_udp += u32::from(p.flow.0 == 0);
        }
    }
    f64::from(of_udp) / f64::from(sent)
}

/// Tang, Wang and Low 2003: however fast it sends, UDP gets at most 1 / (e + 1) = 26.9 % of the link, near a rate of (2e - 1) / (e + 1) = 1.19,
/// and hardly anything at high rates.
#[test]
fn unresponsive_flow_gets_a_bounded_share() {
    let e = std::f64::consts::E;
    let most = 1.0 / (e + 1.0);
    let at_peak = udp_share((2.0 * e - 1.0) / (e + 1.0), 1);
    assert!((at_peak - most).abs() < 0.015, "{at_peak} {most}");
    for rate in [0.7, 2.0, 3.0] {
        let share = udp_share(rate, 1);
        assert!(share < most + 0.01, "{rate}: {share}");
    }
    assert!(udp_share(10.0, 1) < 0.03);
    // More draws take more, as the second half of the paper proposes.
    assert!(udp_share(1.19, 3) < 0.6 * at_peak);
}

/// The paper compares packets of one direction of one flow: an acknowledgement is no match for data.
#[test]
fn directions_are_different_flows() {
    let mut b = Bench::filled(&bare(64), 20, 20);
    let ack = Packet { back: true, ..pkt(40, 0, Ecn::NotEct, Time::ZERO) };
    b.call(|q, cx| q.enqueue(ack, cx));
    assert!(b.drops.is_empty());
}

#[test]
fn impossible_values_are_refused() {
    for (p, field) in [
        (ChokeParams { draws: 0, ..ChokeParams::default() }, "draws"),
        (ChokeParams { thresholds: RedThresholds { max_p: 2.0, ..RedThresholds::default() }, ..ChokeParams::default() }, "max_p"),
        (
            ChokeParams {
                thresholds: RedThresholds { min: Some(Len::Packets(9)), max: Some(Len::Packets(3)), ..RedThresholds::default() },
                ..ChokeParams::default()
            },
            "max",
        ),
    ] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
    assert!(ChokeParams::default().check(&link().into()).is_ok());
}

/// sch_choke as tc sets it up marks an ECN-capable packet whatever the average; RED by itself drops it from `max` on.
#[test]
fn marks_above_max_as_well() {
    for (ecn, marks, drops) in [(true, 1, 0), (false, 0, 1)] {
        let thresholds = RedThresholds { min: Some(Len::Packets(10)), max: Some(Len::Packets(30)), ..RedThresholds::default() };
        let p = ChokeParams { ecn, thresholds, w_q: Some(1.0), ..ChokeParams::default() };
        let mut b = Bench::filled(&bare(1), 60, 0);
        // Nothing is drawn: RED decides.
        b.q.law_mut().min = f64::MAX;
        b.q.law_mut().red = Red::new(&p.red(), link());
        let (mut rng, mut lost) = (Stream::new(9, "port", "choke", "aqm"), vec![]);
        let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut lost, marks: 0 };
        b.q.enqueue(pkt(1000, 5000, Ecn::Ect0, Time::ZERO), &mut cx);
        assert_eq!((cx.marks, lost.len()), (marks, drops));
    }
}
