use super::policer::PolicerParams;
use super::srtcm::SrtcmParams;
use super::trtcm::TrtcmParams;
use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Rules, check};
use fairlane_units::Dur;
use proptest::prelude::*;

type Srtcm = SrtcmParams<DropTailParams>;
type Trtcm = TrtcmParams<DropTailParams>;

const GREEN: Class = Class(10);
const YELLOW: Class = Class(12);
const RED: Class = Class(14);

/// CIR 1 Mbit/s, that is 125 bytes a millisecond, CBS 3000, EBS 2000.
fn srtcm() -> Srtcm {
    Srtcm { cir: Some(Rate::from_mbps(1)), cbs: Bytes(3000), ebs: Bytes(2000), ..Srtcm::default() }
}

/// CIR 1 Mbit/s, CBS 2000, PIR 2 Mbit/s, PBS 4000.
fn trtcm() -> Trtcm {
    Trtcm { cir: Some(Rate::from_mbps(1)), cbs: Bytes(2000), pir: Some(Rate::from_mbps(2)), pbs: Bytes(4000), ..Trtcm::default() }
}

/// The colours of packets given as (time in us, length, colour before).
fn colours<M: Meter, Q: Qdisc>(q: &mut Marker<M, Q>, packets: &[(u64, u32, Class)]) -> String {
    let mut desk = Desk::new();
    let mut text = String::new();
    for &(t, len, class) in packets {
        desk.put(q, us(t), Packet { class, ..pkt(0, 0, len) });
        let out = desk.get(q, us(t)).map(|p| p.class);
        text.push(match out {
            Some(GREEN) => 'g',
            Some(YELLOW) => 'y',
            Some(RED) => 'r',
            Some(_) => '?',
            None => '-',
        });
    }
    text
}

/// RFC 2697 section 3, colour-blind: Tc >= B is green and takes from Tc; else Te >= B is yellow and takes from Te; else red. Tokens go to
/// Tc first, then to Te.
#[test]
fn srtcm_blind_by_rfc2697_section_3() {
    let mut q = srtcm().build(&link().into());
    let b = |t| (t, 1000, Class(0));
    // Tc 3000, Te 2000 at the start (section 3: both full).
    assert_eq!(colours(&mut q, &[b(0), b(0), b(0), b(0), b(0), b(0)]), "gggyyr");
    // 8 ms bring 1000 bytes, all to Tc.
    assert_eq!(colours(&mut q, &[b(7999), b(8000), b(8000)]), "rgr");
    // 32 ms bring 4000: Tc takes 3000, Te 1000.
    assert_eq!(colours(&mut q, &[b(40_000), b(40_000), b(40_000), b(40_000), b(40_000)]), "gggyr");
    // A long rest fills both and no more.
    assert_eq!(colours(&mut q, &[b(9_000_000); 6]), "gggyyr");
    // A short packet may still be green where a long one was not: nothing is taken for a red packet.
    assert_eq!(colours(&mut q, &[(9_001_000, 126, Class(0)), (9_001_000, 125, Class(0))]), "rg");
}

/// RFC 2697 section 3, colour-aware: green needs a green packet, yellow a green or yellow one.
#[test]
fn srtcm_aware_by_rfc2697_section_3() {
    let mut q = Srtcm { mode: MeterMode::Aware, ..srtcm() }.build(&link().into());
    let b = |class| (0, 1000, class);
    let (g, y, r) = (b(GREEN), b(YELLOW), b(RED));
    // Yellow packets take from Te although Tc is full; red ones take nothing.
    assert_eq!(colours(&mut q, &[r, y, y, y, g, g, g, g]), "ryyrgggr");
    // Packets without a colour are as green ones.
    assert_eq!(colours(&mut q, &[(9_000_000, 1000, Class(0)), (9_000_000, 1000, Class(46))]), "gg");
}

/// RFC 2698 section 3, colour-blind: Tp < B is red; else Tc < B is yellow and takes from Tp; else green and takes from both.
#[test]
fn trtcm_blind_by_rfc2698_section_3() {
    let mut q = trtcm().build(&link().into());
    let b = |t| (t, 1000, Class(0));
    assert_eq!(colours(&mut q, &[b(0); 5]), "ggyyr");
    // 4 ms: Tp 1000, Tc 500. 8 ms: Tp 1000 again, Tc 1000.
    assert_eq!(colours(&mut q, &[b(4000), b(4000), b(8000), b(8000)]), "yrgr");
    // 8 ms more at the peak rate: two packets, of which the committed rate covers one.
    assert_eq!(colours(&mut q, &[b(16_000), b(16_000), b(16_000)]), "gyr");
}

/// RFC 2698 section 3, colour-aware: a red packet stays red and takes nothing; a yellow one takes from Tp only.
#[test]
fn trtcm_aware_by_rfc2698_section_3() {
    let mut q = Trtcm { mode: MeterMode::Aware, ..trtcm() }.build(&link().into());
    let b = |class| (0, 1000, class);
    let (g, y, r) = (b(GREEN), b(YELLOW), b(RED));
    assert_eq!(colours(&mut q, &[r, y, g, g, y, g]), "ryggyr");
}

#[test]
fn policing_drops_a_colour_and_keep_leaves_the_class() {
    let p = Srtcm { red: "drop".into(), yellow: "0".into(), green: "keep".into(), ..srtcm() };
    let mut q = p.build(&link().into());
    let mut desk = Desk::new();
    (0..6).for_each(|i| desk.put(&mut q, us(0), Packet { class: Class(34), ..pkt(i, 0, 1000) }));
    assert_eq!(desk.drops.iter().map(|(p, why)| (p.id.0, *why)).collect::<Vec<_>>(), [(5, DropReason::Forced)]);
    let left: Vec<u8> = (0..9).map_while(|_| desk.get(&mut q, us(0))).map(|p| p.class.0).collect();
    assert_eq!(left, [34, 34, 34, 0, 0]);
}

#[test]
fn only_what_matches_is_metered_and_each_flow_may_have_its_own_profile() {
    let run = |per, select: &str| {
        let mut q = Srtcm { per, select: select.into(), ..srtcm() }.build(&link().into());
        let mut desk = Desk::new();
        (0..12).for_each(|i| desk.put(&mut q, us(0), Packet { class: Class(0), ..pkt(i, i % 2, 1000) }));
        [0, 1].map(|flow| {
            let mut all = q.clone();
            let mine = (0..12).filter_map(|_| desk.get(&mut all, us(0))).filter(|p| p.flow.0 == flow);
            mine.map(|p| p.class.0).collect::<Vec<_>>()
        })
    };
    assert_eq!(run(MeterPer::Aggregate, "any"), [vec![10, 10, 12, 14, 14, 14], vec![10, 12, 14, 14, 14, 14]]);
    assert_eq!(run(MeterPer::Flow, "any"), [vec![10, 10, 10, 12, 12, 14], vec![10, 10, 10, 12, 12, 14]]);
    assert_eq!(run(MeterPer::Aggregate, "udp"), [vec![0; 6], vec![10, 10, 10, 12, 12, 14]]);
}

#[test]
fn problems_say_where() {
    let site = link().into();
    let field = |p: Srtcm| p.check(&site).unwrap_err().field;
    assert_eq!(field(Srtcm { red: "af14".into(), ..srtcm() }), "red");
    assert_eq!(field(Srtcm { cbs: Bytes(0), ebs: Bytes(0), ..srtcm() }), "cbs");
    assert_eq!(Srtcm { ebs: Bytes(0), ..srtcm() }.check(&site), Ok(()));
    assert_eq!(field(Srtcm { select: "tpc".into(), ..srtcm() }), "match");
    assert_eq!(Trtcm { pir: Some(Rate::from_bps(1)), ..trtcm() }.check(&site).unwrap_err().field, "pir");
    // The automatic rates are in order on any link.
    assert_eq!(Trtcm { cir: Some(Rate::from_mbps(700)), ..Trtcm::default() }.check(&site), Ok(()));
}

/// Colours of random traffic by a bound on each window: `most[c]` is (rate, burst) for all packets of at most colour c.
fn windows<M: Meter + 'static>(q: &Marker<M, impl Qdisc + Clone>, seed: u64, us: u64, most: [(u64, u64); 2]) -> Result<(), TestCaseError> {
    let load = Load { packets: 1500, flows: 5, lens: &[40, 576, 1500], ect: 0.5, mean_gap: Dur::from_us(us) }.draw(seed);
    let rules = Rules { marks: false, recolours: true, ..Rules::default() };
    check(q, link(), &load, &rules).map_err(TestCaseError::fail)?;
    // The meter alone, packet by packet.
    let (mut meter, mut now) = (q.pattern.clone(), Time::ZERO);
    let mut excess = [0_i128; 2];
    let mut seen = [0; 3];
    for a in &load {
        now += a.gap;
        let colour = meter.colour(now, a.len, Colour::Green);
        seen[colour as usize] += 1;
        for (c, (rate, burst)) in most.into_iter().enumerate() {
            let brought = u128::from(a.gap.as_ps()) * u128::from(rate);
            excess[c] = (excess[c] - brought as i128).max(0);
            if colour as usize <= c {
                excess[c] += i128::from(a.len) * 8_000_000_000_000;
            }
            prop_assert!(excess[c] <= i128::from(burst) * 8_000_000_000_000, "colours up to {c}");
        }
    }
    prop_assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    /// RFC 2697 section 1: green stays within CBS and CIR, green and yellow together within CBS + EBS and CIR, in every window.
    #[test]
    fn srtcm_bounds_every_window(seed: u64, us in 150_u64..600, cir in 200_000_u64..2_000_000, cbs in 1500_u64..9000, ebs in 1500_u64..9000) {
        let p = Srtcm { cir: Some(Rate::from_bps(cir)), cbs: Bytes(cbs), ebs: Bytes(ebs), ..Srtcm::default() };
        windows(&p.build(&link().into()), seed, us, [(cir, cbs), (cir, cbs + ebs)])?;
    }

    /// RFC 2698 section 1: green within CBS and CIR, green and yellow within PBS and PIR, in every window.
    #[test]
    fn trtcm_bounds_every_window(
        seed: u64, us in 150_u64..600, cir in 200_000_u64..1_000_000, more in 200_000_u64..1_000_000, cbs in 1500_u64..6000, pbs in 6000_u64..12_000,
    ) {
        let (pir, cir_r) = (Rate::from_bps(cir + more), Rate::from_bps(cir));
        let p = Trtcm { cir: Some(cir_r), cbs: Bytes(cbs), pir: Some(pir), pbs: Bytes(pbs), ..Trtcm::default() };
        windows(&p.build(&link().into()), seed, us, [(cir, cbs), (cir + more, pbs)])?;
    }
}

/// 1 Mbit/s, that is 125 bytes a millisecond, and a burst of 3000; what conforms is green here, what exceeds red.
fn policer() -> PolicerParams<DropTailParams> {
    let (conform, exceed) = ("af11".into(), "af13".into());
    PolicerParams { rate: Some(Rate::from_mbps(1)), burst: Bytes(3000), conform, exceed, ..PolicerParams::default() }
}

/// tcf_police_act: a packet conforms if the tokens cover it, and takes none otherwise.
#[test]
fn a_policer_by_act_police() {
    let b = |t, len| (t, len, Class(0));
    let mut q = policer().build(&link().into());
    assert_eq!(colours(&mut q, &[b(0, 1500), b(0, 1500), b(0, 1), b(8, 1), b(8, 1)]), "ggrgr");
    // 12 ms bring 1500 bytes; those that a packet of 1600 was refused are there for one of 1500.
    assert_eq!(colours(&mut q, &[b(12_008, 1600), b(12_008, 1500), b(12_009, 1)]), "rgr");
    assert_eq!(colours(&mut q, &[b(9_000_000, 3001), b(9_000_000, 3000), b(9_000_000, 64)]), "rgr");
    // A peak of 2 Mbit/s with a bucket of 1500: the second packet of a burst waits for 6 ms, which a policer does not do.
    let p = PolicerParams { peakrate: Some(Rate::from_mbps(2)), mtu: Some(Bytes(1500)), ..policer() };
    let mut q = p.build(&link().into());
    assert_eq!(colours(&mut q, &[b(0, 1500), b(5999, 1500), b(6000, 1500), b(12_000, 1500), b(9_000_000, 1501)]), "grggr");
    // Cells of ATM: 1000 bytes with 44 of overhead are 1166.
    let link_layer = crate::LinkLayer { overhead: Bytes(44), linklayer: crate::LinkLayerKind::Atm, ..crate::LinkLayer::default() };
    let mut q = PolicerParams { burst: Bytes(2332), link_layer, ..policer() }.build(&link().into());
    assert_eq!(colours(&mut q, &[b(0, 1000), b(0, 1000), b(9327, 1000), b(9328, 1000)]), "ggrg");
}

/// By default it drops, and never delays: the packets of a burst leave at once or not at all, where a shaper of this rate and burst sends all of them.
#[test]
fn a_policer_drops_what_a_shaper_delays() {
    let mut q = PolicerParams { conform: "keep".into(), exceed: "drop".into(), ..policer() }.build(&link().into());
    let mut desk = Desk::new();
    (0..6).for_each(|i| desk.put(&mut q, us(0), Packet { class: Class(34), ..pkt(i, 0, 1000) }));
    let left: Vec<(u32, u8)> = (0..9).map_while(|_| desk.get(&mut q, us(0))).map(|p| (p.id.0, p.class.0)).collect();
    assert_eq!((left, desk.dropped()), (vec![(0, 34), (1, 34), (2, 34)], vec![3, 4, 5]));
    let shaper = crate::TbfParams { rate: policer().rate, burst: Bytes(3000), ..crate::TbfParams::<DropTailParams>::default() };
    let (mut q, mut desk) = (shaper.build(&link().into()), Desk::new());
    (0..6).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
    assert_eq!((desk.dropped().len(), q.backlog().pkts), (0, 6));
    assert_eq!(PolicerParams { exceed: "af14".into(), ..policer() }.check(&link().into()).unwrap_err().field, "exceed");
    assert_eq!(PolicerParams { peakrate: Some(Rate::from_bps(9)), ..policer() }.check(&link().into()).unwrap_err().field, "peakrate");
}
