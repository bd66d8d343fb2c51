//! Impairments as netem has them: what its tables, chains and counters say.

use super::*;
use crate::ids::FlowId;
use crate::packet::{PacketRef, Proto};

fn impair(what: Impairments) -> Impair {
    Impair::idle(&what, Dur::from_ms(10), 5, "x")
}

fn fate(what: Impairments, packet: Outcome, n: usize) -> Vec<Outcome> {
    let mut i = impair(what);
    (0..n).map(|_| i.outcome(Time::ZERO, packet)).collect()
}

fn losses(what: Impairments, n: usize) -> Vec<bool> {
    fate(what, Outcome::default(), n).iter().map(|o| o.lost).collect()
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64
}

fn delays(jitter: JitterParams, n: u64) -> Vec<f64> {
    let what = Impairments { jitter: Some(JitterSpec(jitter)), ..Impairments::default() };
    let mut i = impair(what);
    let base = Time::ZERO + Dur::from_ms(10).saturating_sub(i.early());
    (0..n).map(|_| i.arrival(base, 1000).as_secs_f64() * 1e3 - 10.0).collect()
}

fn quantile(x: &[f64], u: f64) -> f64 {
    let mut x = x.to_vec();
    x.sort_by(f64::total_cmp);
    x[(u * x.len() as f64) as usize]
}

/// pareto.c of iproute2: (u^(-1/3) - 3/2) 4/3 widths, so that the median is -0.3201, a tenth is above 0.8726 and one in a hundred is at 4 at most.
#[test]
fn pareto_jitter_has_its_quantiles() {
    let of = |distribution| delays(JitterParams { width: Dur::from_ms(1), distribution, ..JitterParams::default() }, 200_000);
    let pareto = of(Distribution::Pareto);
    for (u, want) in [(0.0, -2.0 / 3.0), (0.5, -0.3201), (0.9, 0.8726), (0.999, 4.0)] {
        assert!((quantile(&pareto, u) - want).abs() < 0.03, "{u}: {} {want}", quantile(&pareto, u));
    }
    // A quarter of the normal quantile more: none at the median, 0.25 * 1.2816 at the tenth.
    let mixed = of(Distribution::ParetoNormal);
    for (u, want) in [(0.5, 0.75 * -0.3201), (0.9, 0.25 * 1.2816 + 0.75 * 0.8726), (0.1, 0.25 * -1.2816 + 0.75 * -0.6191)] {
        assert!((quantile(&mixed, u) - want).abs() < 0.03, "{u}: {} {want}", quantile(&mixed, u));
    }
}

/// get_crandom: the autocorrelation of successive draws is the weight, and their variance (1 - c) / (1 + c) of that of independent draws.
#[test]
fn correlated_jitter_has_its_moments() {
    for c in [0.0, 0.25, 0.8] {
        let x = delays(JitterParams { width: Dur::from_ms(3), correlation: c, ..JitterParams::default() }, 200_000);
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let next = x.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / n / var;
        assert!(mean.abs() < 0.03 && (next - c).abs() < 0.02, "{c}: {mean} {next}");
        assert!((var / (3.0 * (1.0 - c) / (1.0 + c)) - 1.0).abs() < 0.03, "{c}: {var}");
    }
}

/// The quantile of the normal distribution is as good as its seven digits.
#[test]
fn normal_quantiles() {
    for (u, want) in [(0.5, 0.0), (0.975, 1.959_964), (0.05, -1.644_854), (0.999, 3.090_232), (1.0, 4.0), (0.0, -4.0)] {
        assert!((chance::normal(u) - want).abs() < 2e-6, "{u}: {}", chance::normal(u));
    }
}

/// Losses that depend on the one before come in longer bursts than independent ones; without correlation the numbers are untouched.
#[test]
fn correlated_losses_come_in_bursts() {
    let of = |share, correlation| {
        let loss = Some(LossSpec::Models(LossModels { share, correlation, ..LossModels::default() }));
        losses(Impairments { loss, ..Impairments::default() }, 300_000)
    };
    let again = |lost: &[bool]| lost.windows(2).filter(|w| w[0] && w[1]).count() as f64 / lost.iter().filter(|l| **l).count() as f64;
    let (alone, chained) = (of(0.3, 0.0), of(0.3, 0.5));
    assert!((share(&alone) - 0.3).abs() < 0.005 && (again(&alone) - 0.3).abs() < 0.01);
    // The numbers are narrowed: fewer than 30 % fall below 0.3, but a loss makes the next one more than twice as likely.
    assert!(share(&chained) < 0.26 && again(&chained) > 2.0 * share(&chained), "{} {}", share(&chained), again(&chained));
}

/// The four states: with p23 = 1 and p32 = p14 = 0 they are a simple Gilbert chain of loss p13 / (p13 + p31). The stationary shares of the whole chain
/// follow from its balance, as Salsano et al. give them.
#[test]
fn four_states_have_their_loss() {
    let of = |p13, p31, p32, p23, p14| {
        let four_states = Some(FourStatesSpec { p13, p31, p32, p23, p14 });
        let loss = Some(LossSpec::Models(LossModels { four_states, ..LossModels::default() }));
        share(&losses(Impairments { loss, ..Impairments::default() }, 1_000_000))
    };
    let simple = of(0.02, Some(0.25), 0.0, 1.0, 0.0);
    assert!((simple - 0.02 / 0.27).abs() < 0.003, "{simple}");
    let (p13, p31, p32, p23, p14) = (0.02, 0.2, 0.3, 0.4, 0.01);
    // In units of the share of state 1: 3 by its balance with 1, 2 with 3, 4 with 1.
    let (lost, burst, single) = (p13 / p31, p13 / p31 * p32 / p23, p14);
    let want = (lost + single) / (1.0 + lost + burst + single);
    let got = of(p13, Some(p31), p32, p23, p14);
    assert!((got / want - 1.0).abs() < 0.03, "{got} {want}");
    // The default of p31 is 1 - p13: bursts of one loss, nearly always.
    assert!((of(0.05, None, 0.0, 1.0, 0.0) - 0.05).abs() < 0.002);
}

/// netem's reorder: of all packets, which are late, every gap-th one goes ahead if its share is one; each starts a new count.
#[test]
fn a_gap_lets_every_nth_packet_ahead() {
    let of = |share, gap, ahead| {
        let reorder = Some(ReorderSpec { share, delay: Dur::from_ms(5), ahead, gap, correlation: 0.0 });
        let mut i = impair(Impairments { reorder, ..Impairments::default() });
        (0..10_000).map(|_| i.arrival(Time::ZERO, 1000) > Time::ZERO).collect::<Vec<bool>>()
    };
    assert_eq!(of(1.0, 5, true)[..10], [true, true, true, true, false, true, true, true, true, false]);
    assert!(of(0.0, 5, true).iter().all(|late| *late));
    assert_eq!(of(1.0, 3, false)[..6], [false, false, true, false, false, true]);
    // After four that are late each goes ahead with probability 1/2: one in 4 + 2 - 1 + 1.
    let ahead = 1.0 - share(&of(0.5, 5, true));
    assert!((ahead - 1.0 / 6.0).abs() < 0.01, "{ahead}");
}

#[test]
fn corrupted_packets_are_lost() {
    let of = |spec| share(&losses(Impairments { corrupt: Some(spec), ..Impairments::default() }, 200_000));
    assert!((of(CorruptSpec::Share(0.05)) - 0.05).abs() < 0.002);
    assert!(of(CorruptSpec::Table(CorruptParams { share: 0.05, correlation: 0.5 })) < 0.03);
}

/// Nothing arrives between slots, and no more in one than it takes.
#[test]
fn packets_arrive_in_slots() {
    let slot = Some(SlotSpec { min: Dur::from_ms(4), packets: Some(3), ..SlotSpec::default() });
    let mut i = impair(Impairments { slot, ..Impairments::default() });
    // Ten packets a millisecond apart from 1 ms on: the first finds no slot, so that one begins 4 ms later.
    let ms: Vec<u64> = (1..=10).map(|t| i.arrival(Time::ZERO + Dur::from_ms(t), 1000).as_ps() / 1_000_000_000).collect();
    assert_eq!(ms, [5, 5, 5, 9, 9, 9, 13, 13, 13, 17]);
    // After a pause the next packet waits for a whole slot again.
    assert_eq!(i.arrival(Time::ZERO + Dur::from_ms(100), 1000), Time::ZERO + Dur::from_ms(104));
    // One packet a slot: one that comes after its slot was taken, but before the next, waits for that one (get_slot_next when a slot is full).
    let mut i = slots(SlotSpec { min: Dur::from_ms(4), packets: Some(1), ..SlotSpec::default() });
    let ms: Vec<u64> = [1, 7, 8].iter().map(|&t| i.arrival(Time::ZERO + Dur::from_ms(t), 1000).as_ps() / 1_000_000_000).collect();
    assert_eq!(ms, [5, 9, 13]);
    let what = SlotSpec { min: Dur::from_ms(4), max: Some(Dur::from_ms(2)), ..SlotSpec::default() };
    assert_eq!(what.check(Dur::ZERO).unwrap().key, "slot");
}

fn slots(slot: SlotSpec) -> Impair {
    impair(Impairments { slot: Some(slot), ..Impairments::default() })
}

/// netem_dequeue: a packet leaves in a slot that has bytes left, however few, and the next slot begins when they are used up.
#[test]
fn slots_are_full_by_their_bytes() {
    for (len, bytes, packets, per_slot) in [
        (1000, 3000, None, 3),
        (1400, 3000, None, 3),
        (1400, 2800, None, 2),
        (1400, 1, None, 1),
        (1000, 3000, Some(2), 2),
        (1000, 1500, Some(9), 2),
    ] {
        let mut i = slots(SlotSpec { min: Dur::from_ms(4), bytes: Some(fairlane_units::Bytes(bytes)), packets, ..SlotSpec::default() });
        let times: Vec<Time> = (0..12).map(|_| i.arrival(Time::ZERO + Dur::from_ms(1), len)).collect();
        let want: Vec<Time> = (0..12).map(|n| Time::ZERO + Dur::from_ms(5 + 4 * (n / per_slot))).collect();
        assert_eq!(times, want, "{len} {bytes} {packets:?}");
    }
}

/// tabledist: the time between slots is `delay`, varied by `jitter` times the numbers of a distribution.
#[test]
fn slots_follow_their_distribution() {
    let waits = |distribution, jitter| {
        let what = SlotSpec { delay: Some(Dur::from_ms(10)), jitter, distribution, packets: Some(1), ..SlotSpec::default() };
        let mut i = slots(what);
        let times: Vec<f64> = (0..100_000).map(|_| i.arrival(Time::from_ps(1), 1000).as_secs_f64() * 1e3).collect();
        times.windows(2).map(|w| w[1] - w[0]).collect::<Vec<f64>>()
    };
    let two = Dur::from_ms(2);
    for (distribution, points) in [
        (Distribution::Uniform, [(0.0, -1.0), (0.25, -0.5), (0.5, 0.0), (0.9, 0.8)]),
        (Distribution::Normal, [(0.025, -1.96), (0.25, -0.6745), (0.5, 0.0), (0.975, 1.96)]),
        (Distribution::Pareto, [(0.0, -2.0 / 3.0), (0.5, -0.3201), (0.9, 0.8726), (0.999, 4.0)]),
    ] {
        let x = waits(distribution, two);
        for (u, want) in points {
            assert!((quantile(&x, u) - 10.0 - 2.0 * want).abs() < 0.08, "{distribution:?} {u}: {} {want}", quantile(&x, u));
        }
    }
    assert!(waits(Distribution::Normal, Dur::ZERO).iter().all(|w| (w - 10.0).abs() < 1e-6));
    // Where the draw is below zero the slot begins at once.
    assert_eq!(quantile(&waits(Distribution::Normal, Dur::from_ms(30)), 0.2), 0.0);
    let twice = SlotSpec { min: two, delay: Some(two), ..SlotSpec::default() };
    let alone = SlotSpec { min: two, jitter: two, ..SlotSpec::default() };
    let none = SlotSpec { min: two, bytes: Some(fairlane_units::Bytes(0)), ..SlotSpec::default() };
    assert!([twice, alone, none].iter().all(|s| s.check(Dur::ZERO).unwrap().key == "slot"));
}

fn packet(proto: Proto) -> Packet {
    let (id, flow) = (PacketRef(0), FlowId(3));
    let (len, hop, at, class, ecn) = (1000, 0, Time::ZERO, Class(0), Ecn::NotEct);
    Packet { id, len, flow, hop, at, class, ecn, proto, data: true, back: false, conn: 0 }
}

/// Packets of a NAT as (seconds, from inside): those that pass.
fn mapped(what: NatParams, packet: Packet, headers: &[(u64, bool, &str)]) -> String {
    let at = At { seed: 1, name: "x", delay: Dur::ZERO };
    let mut nat = NatSpec(what).begin(&at).unwrap();
    let pass = |&(t, outward, flags): &(u64, bool, &str)| {
        let header = Header { outward, begins: flags == "S", ends: flags == "F" || flags == "R" };
        if nat.passes(&packet, header, Time::ZERO + Dur::from_secs(t)) { '+' } else { '-' }
    };
    headers.iter().map(pass).collect()
}

/// RFC 4787 REQ-5: a mapping of UDP is there after 300 s without a packet, and gone after 301; packets from inside make it again (REQ-6).
#[test]
fn mappings_of_udp_expire() {
    let udp = packet(Proto::Udp);
    let of = |what, packets: &[(u64, bool, &str)]| mapped(what, udp, packets);
    let all = NatParams::default();
    assert_eq!(
        of(
            all,
            &[(0, true, ""), (300, false, ""), (600, false, ""), (901, false, ""), (902, false, ""), (903, true, ""), (904, false, "")]
        ),
        "+++--++"
    );
    // Without refreshment from outside the time counts from the last packet from inside.
    let strict = NatParams { inbound_refresh: false, ..all };
    assert_eq!(of(strict, &[(0, true, ""), (300, false, ""), (301, false, ""), (302, true, ""), (602, false, "")]), "++-++");
    // A flow that begins outside passes unless that is forbidden.
    assert_eq!(of(all, &[(0, false, ""), (10, true, ""), (400, false, "")]), "++-");
    assert_eq!(of(NatParams { open: false, ..all }, &[(0, false, ""), (1, true, ""), (2, false, "")]), "-++");
    assert_eq!(of(NatParams { timeout: Some(Dur::from_secs(30)), ..all }, &[(0, true, ""), (30, false, ""), (61, false, "")]), "++-");
}

/// RFC 5382 REQ-5: 4 minutes while a connection opens or closes, 2 hours and 4 minutes while it is established.
#[test]
fn mappings_of_tcp_follow_the_connection() {
    let tcp = packet(Proto::Tcp);
    let of = |packets: &[(u64, bool, &str)]| mapped(NatParams::default(), tcp, packets);
    assert_eq!(of(&[(0, true, "S"), (240, false, "S"), (481, false, "S")]), "++-", "opening");
    let open = [(0, true, "S"), (0, false, "S"), (1, true, "")];
    assert_eq!(of(&[&open[..], &[(7441, false, ""), (14_882, false, "")]].concat()), "++++-", "established");
    assert_eq!(of(&[&open[..], &[(2, true, "F"), (242, false, ""), (483, false, "")]].concat()), "+++++-", "closing");
    // The next connection of the flow has a mapping of its own.
    let next = Packet { conn: tcp.conn + 1, ..tcp };
    let mut nat = NatSpec(NatParams { open: false, ..NatParams::default() }).begin(&At { seed: 1, name: "x", delay: Dur::ZERO }).unwrap();
    let header = |outward| Header { outward, begins: false, ends: false };
    assert!(nat.passes(&tcp, header(true), Time::ZERO) && nat.passes(&tcp, header(false), Time::ZERO));
    assert!(!nat.passes(&next, header(false), Time::ZERO));
    let zero = NatSpec(NatParams { tcp: Dur::ZERO, ..NatParams::default() });
    assert_eq!(zero.check(Dur::ZERO).unwrap().key, "nat");
}

/// The ECN field and the code point as a link changes them.
#[test]
fn headers_are_rewritten() {
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    let all = [NotEct, Ect0, Ect1, Ce];
    for (ecn, want) in [
        (RemarkEcn::Keep, all),
        (RemarkEcn::Bleach, [NotEct; 4]),
        (RemarkEcn::Unmark, [NotEct, Ect0, Ect1, Ect0]),
        (RemarkEcn::Classic, [NotEct, Ect0, Ect0, Ce]),
        (RemarkEcn::Mark, [NotEct, Ce, Ce, Ce]),
    ] {
        let what = Impairments { remark: Some(RemarkSpec { ecn, dscp: Some(8) }), ..Impairments::default() };
        for (from, to) in all.into_iter().zip(want) {
            let packet = Outcome { ecn: from, class: Class(46), ..Outcome::default() };
            assert_eq!(fate(what.clone(), packet, 1), [Outcome { ecn: to, class: Class(8), ..packet }]);
        }
    }
    assert!(Impair::new(&Impairments { remark: Some(RemarkSpec::default()), ..Impairments::plain() }, Dur::ZERO, 1, "x").is_none());
}

#[test]
fn long_packets_vanish_in_a_black_hole() {
    let what = Impairments { black_hole: Some(BlackHole(fairlane_units::Bytes(1400))), ..Impairments::default() };
    for (len, lost) in [(1400, false), (1401, true)] {
        assert_eq!(fate(what.clone(), Outcome { len, ..Outcome::default() }, 1)[0].lost, lost);
    }
}
