//! Every queue of this crate through the conformance suite, with random parameters and loads.

use fairlane_net::{Backlog, LinkInfo, Qdisc};
use fairlane_queue::{Admit, Discipline, DropTailParams, Measure, RedParams, RedStart, RedThresholds, RedTuning};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Outcome, Rules, check};
use fairlane_units::{Bytes, Dur, Len, Rate};
use proptest::prelude::*;

const MAX_LEN: u32 = 1540;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) }
}

/// The largest backlog that a limit allows.
fn most(limit: Len, admit: Admit) -> Backlog {
    match (limit, admit) {
        (Len::Packets(n), Admit::Under) => Backlog { pkts: n.saturating_sub(1) as u32, bytes: u64::MAX },
        (Len::Packets(n), _) => Backlog { pkts: n as u32, bytes: u64::MAX },
        (Len::Bytes(n), Admit::NotFull) => Backlog { pkts: u32::MAX, bytes: (n + u64::from(MAX_LEN)).saturating_sub(u64::from(n > 0)) },
        (Len::Bytes(n), _) => Backlog { pkts: u32::MAX, bytes: n },
    }
}

fn limits() -> impl Strategy<Value = Len> {
    prop_oneof![(1_u64..80).prop_map(Len::Packets), (40_u64..80_000).prop_map(Len::Bytes)]
}

fn admits() -> impl Strategy<Value = Admit> {
    prop_oneof![Just(Admit::Fits), Just(Admit::Under), Just(Admit::NotFull)]
}

fn run<Q: Qdisc + Clone>(q: &Q, seed: u64, us: u64, rules: &Rules) -> Result<Outcome, TestCaseError> {
    let load = Load { packets: 3000, flows: 5, lens: &[40, 576, 1000, MAX_LEN], ect: 0.5, mean_gap: Dur::from_us(us) };
    check(q, link(), &load.draw(seed), rules).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    #[test]
    fn droptail(seed: u64, us in 200_u64..1500, limit in limits(), admit in admits()) {
        let rules = Rules { most: most(limit, admit), marks: false, ..Rules::default() };
        let out = run(&DropTailParams { limit, admit }.build(&link().into()), seed, us, &rules)?;
        prop_assert_eq!(out.sent.len() + out.dropped.len(), 3000);
        prop_assert_eq!(out.marks, 0);
    }

    #[test]
    fn red(
        seed: u64, us in 200_u64..1500, limit in limits(), admit in admits(), min in 0_u64..20, width in 0_u64..40, max_p in 0.0_f64..=1.0,
        w_q in 0.0001_f64..=1.0, flags in proptest::array::uniform6(any::<bool>()), spare in proptest::option::of(0_u64..4),
    ) {
        let [gentle, wait, byte_mode, ecn, grace, in_bytes] = flags;
        let mean_packet = Bytes(700);
        let p = RedParams {
            limit,
            admit,
            thresholds: RedThresholds {
                max_p,
                min: Some(Len::Packets(min)),
                max: Some(Len::Packets(min + width)),
                ..RedThresholds::default()
            },
            tuning: RedTuning {
                gentle,
                wait,
                byte_mode,
                ecn,
                mean_packet,
                w_q: Some(w_q),
                measure: if in_bytes { Measure::Bytes } else { Measure::Packets },
                ..RedTuning::default()
            },
            start: RedStart { grace, spare },
            ..RedParams::default()
        };
        prop_assert!(p.check(&link().into()).is_ok());
        let limit = match limit {
            Len::Packets(n) if in_bytes => Len::Bytes(n * 700),
            len => len,
        };
        let out = run(&p.build(&link().into()), seed, us, &Rules { most: most(limit, admit), marks: ecn, ..Rules::default() })?;
        prop_assert_eq!(out.sent.len() + out.dropped.len(), 3000);
    }
}

/// A buffer that holds n is full with n: under a burst at once exactly those stay.
#[test]
fn droptail_holds_its_limit_exactly() {
    for (admit, waiting) in [(Admit::Fits, 50), (Admit::Under, 49), (Admit::NotFull, 50)] {
        let q = DropTailParams { limit: Len::Packets(50), admit }.build(&link().into());
        let load = Load { packets: 200, flows: 1, lens: &[1000], ect: 0.0, mean_gap: Dur::ZERO };
        let out = check(&q, link(), &load.draw(1), &Rules::default()).unwrap();
        // One passes straight to the free link.
        assert_eq!((out.most.pkts, out.sent.len(), out.dropped.len()), (waiting, waiting as usize + 1, 199 - waiting as usize));
    }
}
