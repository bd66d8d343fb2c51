use super::*;
use crate::rate::pair::{Fate, Pair, ms};
use crate::source::bulk::BulkParams;
use fairlane_engine::Stream;
use fairlane_net::{Endpoint, Segment};
use fairlane_testkit::cases;
use proptest::prelude::*;

type Params = RapParams<BulkParams>;

fn rap(params: &Params, one_way_ms: u64) -> Pair<RapSender, RapReceiver> {
    Pair::new(params.endpoints(&UdpParams::default(), Class(0)), Dur::from_ms(one_way_ms))
}

fn all(_: bool, _: &Segment) -> Fate {
    Fate::Arrives
}

fn losing(p: f64, seed: u64) -> impl FnMut(bool, &Segment) -> Fate {
    let mut rng = Stream::new(seed, "test", "loss", "rap");
    move |data, _| if data && rng.uniform() < p { Fate::Lost } else { Fate::Arrives }
}

/// Packets a round trip of 100 ms.
fn window(pair: &Pair<RapSender, RapReceiver>) -> f64 {
    0.1 / pair.sender.e.0.ipg()
}

/// One packet a round trip at first, and one more each round trip.
#[test]
fn additive_increase_of_a_packet_a_round_trip_each_round_trip() {
    let mut pair = rap(&Params::default(), 50);
    pair.endless();
    pair.run(ms(100), &mut all);
    assert!((window(&pair) - 1.0).abs() < 1e-9);
    for n in 2..100 {
        pair.run(ms(100 * n + 50), &mut all);
        assert!((window(&pair) - n as f64).abs() <= 1.01, "{n}: {}", window(&pair));
    }
    // Two packets with `increase = 2`.
    let mut fast = rap(&Params { increase: 2.0, ..Params::default() }, 50);
    fast.endless();
    fast.run(ms(5050), &mut all);
    assert!((window(&fast) - 99.0).abs() < 3.0, "{}", window(&fast));
}

/// A loss halves the rate at once, found by the third later packet; other losses of the same window do nothing more.
#[test]
fn a_loss_halves_the_rate_once_a_window() {
    let mut pair = rap(&Params::default(), 50);
    pair.endless();
    // The losses are of packets that are all on their way at once, at about 20 packets a round trip.
    let mut fate = |data: bool, s: &Segment| if data && [205, 206, 209, 215].contains(&s.seq) { Fate::Lost } else { Fate::Arrives };
    let mut before = 0.0;
    while pair.sender.e.view().cwnd_cuts == 0 {
        before = window(&pair);
        pair.run(pair.now + Dur::from_ms(1), &mut fate);
    }
    assert!((window(&pair) / before - 0.5).abs() < 1e-9 && before > 15.0);
    // Packet 205 counts as lost with the arrival of 208, the acknowledgment of which is on its way for 50 ms; numbers in acknowledgments begin with 1.
    let told = pair.answers.iter().rev().find(|a| a.0 + Dur::from_ms(50) <= pair.now);
    assert_eq!(told.map(|a| a.1.ack), Some(209));
    pair.run(pair.now + Dur::from_ms(1000), &mut fate);
    let view = pair.sender.e.view();
    assert_eq!((view.cwnd_cuts, view.fast_recoveries, view.timeouts), (1, 1, 0));
    // Ten round trips later it has ten packets more.
    assert!((window(&pair) - before / 2.0 - 10.0).abs() < 1.6, "{} {before}", window(&pair));
}

/// When nothing comes back, a timeout of 1.2 SRTT + 4 deviations halves the rate, and what is on its way then is forgotten.
#[test]
fn timeouts_halve_without_acknowledgments() {
    let mut pair = rap(&Params::default(), 50);
    pair.endless();
    pair.run(ms(1500), &mut all);
    let before = window(&pair);
    let mut none = |_: bool, _: &Segment| Fate::Lost;
    let start = pair.now;
    while pair.sender.e.view().timeouts == 0 {
        pair.run(pair.now + Dur::from_ms(1), &mut none);
    }
    assert!((window(&pair) / before - 0.5).abs() < 0.07, "{} {before}", window(&pair));
    // The last acknowledgments come 50 ms after the path broke, for packets of 50 ms before; the next packet is missed 120 ms after it was sent.
    let waited = pair.now.since(start).as_secs_f64();
    assert!((0.06..0.2).contains(&waited), "{waited}");
    pair.run(ms(300_000), &mut none);
    assert!(pair.sender.e.0.ipg() <= 64.0 && pair.sender.e.0.ipg() > 30.0);
    // The path is back: so is the flow.
    pair.run(ms(480_000), &mut all);
    assert!(window(&pair) > 5.0);
}

/// A lost acknowledgment costs nothing: the next one tells of the same packets.
#[test]
fn lost_acknowledgments_are_no_losses() {
    let mut pair = rap(&Params::default(), 50);
    pair.endless();
    // With four packets a round trip and more, an acknowledgment in three is there before the timeout.
    pair.run(ms(1000), &mut all);
    let mut n = 0;
    pair.run(ms(10_000), &mut |data, _| {
        n += u64::from(!data);
        if !data && n % 3 > 0 { Fate::Lost } else { Fate::Arrives }
    });
    assert_eq!(pair.sender.e.view().cwnd_cuts, 0);
}

/// The mean of a sawtooth that halves every 1/p packets: sqrt(1.5 / p) packets a round trip for additive increase of one and a decrease to a half
/// (Mathis et al. 1997); cuts are one round trip late and losses random, which is the 20 %.
#[test]
fn the_mean_is_that_of_aimd() {
    // Every n-th packet is lost: the sawtooth itself.
    for n in [50_u64, 200, 1000] {
        let mut pair = rap(&Params::default(), 50);
        pair.endless();
        let mut fate = move |data: bool, s: &Segment| if data && s.seq % n == n - 1 { Fate::Lost } else { Fate::Arrives };
        pair.run(ms(100_000), &mut fate);
        let before = pair.sent.len();
        pair.run(ms(1_100_000), &mut fate);
        let mean = (pair.sent.len() - before) as f64 / 10_000.0;
        let want = (1.5 * n as f64).sqrt();
        assert!((mean / want - 1.0).abs() < 0.15, "1/{n}: {mean} packets a round trip, sqrt(1.5/p) is {want}");
    }
    for p in [0.001, 0.01] {
        let mut pair = rap(&Params::default(), 50);
        pair.endless();
        let mut fate = losing(p, 4);
        pair.run(ms(1_000_000), &mut fate);
        let mean = pair.sent.len() as f64 / 10_000.0;
        let want = (1.5_f64 / p).sqrt();
        assert!((mean / want - 1.0).abs() < 0.2, "{p}: {mean} {want}");
    }
}

/// Unlike TFRC's, the rate has the teeth of a saw: the largest over the smallest in steady state is about two.
#[test]
fn the_rate_is_a_sawtooth() {
    let mut pair = rap(&Params::default(), 50);
    pair.endless();
    let mut fate = |data: bool, s: &Segment| if data && s.seq % 400 == 399 { Fate::Lost } else { Fate::Arrives };
    pair.run(ms(100_000), &mut fate);
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for _ in 0..5000 {
        pair.run(pair.now + Dur::from_ms(10), &mut fate);
        low = low.min(window(&pair));
        high = high.max(window(&pair));
    }
    assert!((1.9..2.15).contains(&(high / low)), "{high} {low}");
}

/// While the round trip grows, the fine-grain gap is longer than the coarse one.
#[test]
fn fine_grain_adaptation_follows_the_queue() {
    let sent = |fine_grain| {
        let mut pair = rap(&Params { fine_grain, ..Params::default() }, 50);
        pair.endless();
        pair.run(ms(3000), &mut all);
        let (mut n, from) = (0, pair.now);
        pair.run(from + Dur::from_ms(400), &mut |data, _| {
            n += u64::from(data);
            if data { Fate::Late(Dur::from_ms(2 * n)) } else { Fate::Arrives }
        });
        pair.packets(from + Dur::from_ms(150), from + Dur::from_ms(400)) as f64
    };
    assert!(sent(true) < 0.9 * sent(false), "{} {}", sent(true), sent(false));
}

/// A source that uses little of its rate does not see it grow.
#[test]
fn the_rate_of_a_limited_source_rests() {
    let mut pair = rap(&Params::default(), 50);
    for k in 0..3000 {
        pair.run(ms(20 * k), &mut all);
        pair.write(1000, &mut all);
    }
    // Five packets a round trip are written: half of ten.
    assert!((5.0..=11.0).contains(&window(&pair)), "{}", window(&pair));
}

#[test]
fn the_last_hole() {
    let mut r = Params::default().endpoints(&UdpParams::default(), Class(0)).1;
    let mut hole = |seq: u64| {
        let (mut out, mut timers) = (vec![], fairlane_net::Timers::default());
        r.on_packet(&Segment::new(seq, 0, 0, 10), &mut fairlane_net::Cx::new(Default::default(), &mut out, &mut timers));
        let [highest, missing, before, _] = crate::rate::unpack(&out[0].seg);
        (out[0].seg.ack, highest, missing, before)
    };
    // Numbers from 1 on: acknowledged, highest, last missing, last received before that.
    assert_eq!(hole(0), (1, 1, 0, 0));
    assert_eq!(hole(2), (3, 3, 2, 1));
    assert_eq!(hole(3), (4, 4, 2, 1));
    assert_eq!(hole(7), (8, 8, 7, 4));
    assert_eq!(hole(6), (7, 8, 6, 4));
    assert_eq!(hole(5), (6, 8, 5, 4));
    assert_eq!(hole(4), (5, 8, 2, 1));
    assert_eq!(hole(1), (2, 8, 0, 0));
    let mut none = Params::default().endpoints(&UdpParams::default(), Class(0)).1;
    let (mut out, mut timers) = (vec![], fairlane_net::Timers::default());
    none.on_packet(&Segment::new(1, 0, 0, 10), &mut fairlane_net::Cx::new(Default::default(), &mut out, &mut timers));
    assert_eq!(crate::rate::unpack(&out[0].seg), [2, 1, 0, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]
    /// Whatever a path does to packets, nothing panics, and the gap stays within its bounds.
    #[test]
    fn no_path_leads_astray(
        seed in any::<u64>(), loss in 0.0..0.6_f64, late in 0.0..0.3_f64, twice in 0.0..0.3_f64, marks in 0.0..0.3_f64,
        delay in 1_u64..300, tx in 0_u64..20, fine_grain in any::<bool>(), chunks in proptest::collection::vec(1_u64..5000, 0..40),
    ) {
        let mut pair = rap(&Params { fine_grain, ..Params::default() }, delay);
        pair.tx = Dur::from_ms(tx);
        let mut rng = Stream::new(seed, "test", "path", "rap");
        let mut fate = move |_: bool, _: &Segment| {
            let (u, d) = (rng.uniform(), rng.below(400));
            if u < loss { Fate::Lost }
            else if u < loss + late { Fate::Late(Dur::from_ms(d)) }
            else if u < loss + late + twice { Fate::Twice }
            else if u < loss + late + twice + marks { Fate::Marked }
            else { Fate::Arrives }
        };
        for (k, c) in chunks.iter().enumerate() {
            pair.write(*c, &mut fate);
            pair.run(ms(37 * k as u64), &mut fate);
        }
        if chunks.len() % 2 == 0 { pair.endless(); }
        for step in 0..100 {
            pair.run(ms(2000 + 100 * step), &mut fate);
            let ipg = pair.sender.e.0.ipg();
            prop_assert!(ipg > 0.0 && ipg <= 64.0, "{}", ipg);
        }
        let sent: u64 = pair.sent.iter().map(|s| u64::from(s.2)).sum();
        prop_assert!(pair.delivered <= sent);
    }
}
