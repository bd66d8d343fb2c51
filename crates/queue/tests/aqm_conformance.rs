//! CoDel, PIE, COBALT, PI2, DualPI2, BLUE, SFB, CHOKe, FRED, AFD and GREEN through the conformance suite, with random parameters and loads.

use fairlane_net::{Backlog, LinkInfo};
use fairlane_queue::{
    Admit, AfdParams, BlueParams, ChokeParams, CobaltParams, CodelFiner, CodelParams, CodelTimes, DelayEstimate, Discipline, DualPi2Params,
    DualScheduler, FredParams, GreenParams, InvSqrt, Pi2Params, PieControl, PieMarks, PieParams, RedThresholds, SfbParams,
};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Rules, check};
use fairlane_units::{Bytes, Dur, Len, Rate};
use proptest::prelude::*;

const LENS: &[u32] = &[40, 576, 1000, 1540];

fn limits() -> impl Strategy<Value = Len> {
    prop_oneof![(1_u64..80).prop_map(Len::Packets), (1540_u64..80_000).prop_map(Len::Bytes)]
}

fn ms(range: std::ops::Range<u64>) -> impl Strategy<Value = Dur> {
    range.prop_map(Dur::from_ms)
}

fn run<D: Discipline>(p: &D, limit: Len, marks: bool, seed: u64, us: u64) -> Result<(), TestCaseError> {
    let link = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) };
    p.check(&link.into()).map_err(|e| TestCaseError::fail(format!("{e:?}")))?;
    let most = match limit {
        Len::Packets(n) => Backlog { pkts: n as u32, bytes: u64::MAX },
        Len::Bytes(n) => Backlog { pkts: u32::MAX, bytes: n },
    };
    let capabilities = p.capabilities();
    let rules = Rules { most, marks, keeps_order: !capabilities.reorders, work_conserving: !capabilities.shapes, ..Rules::default() };
    let load = Load { packets: 3000, flows: 5, lens: LENS, ect: 0.5, mean_gap: Dur::from_us(us) };
    let out = check(&p.build(&link.into()), link, &load.draw(seed), &rules).map_err(TestCaseError::fail)?;
    prop_assert_eq!(out.sent.len() + out.dropped.len(), 3000);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn codel(
        seed: u64, us in 200_u64..1500, limit in limits(), target in ms(1..20), interval in ms(20..200), ecn: bool, newton: bool,
        mtu in proptest::option::of(0_u64..3000), ce in proptest::option::of(ms(1..20)),
    ) {
        let inv_sqrt = if newton { InvSqrt::Newton } else { InvSqrt::Exact };
        let p = CodelParams {
            limit,
            admit: Admit::Fits,
            ecn,
            times: CodelTimes { target, interval, mtu: mtu.map(Bytes) },
            finer: CodelFiner { ce_threshold: ce, inv_sqrt },
        };
        run(&p, limit, ecn || ce.is_some(), seed, us)?;
    }

    #[test]
    fn pie(
        seed: u64, us in 200_u64..1500, limit in limits(), target in ms(1..20), tupdate in ms(1..40), alpha in 0.0_f64..4.0, beta in 0.0_f64..40.0,
        burst in ms(0..200), flags in proptest::array::uniform6(any::<bool>()), start in proptest::option::of(1_u64..40),
    ) {
        let [ecn, cap, derandomize, hold, byte_mode, rate] = flags;
        let estimate = if rate { DelayEstimate::DequeueRate } else { DelayEstimate::Timestamp };
        let p = PieParams {
            limit,
            start: start.map(Len::Packets),
            control: PieControl {
                target,
                tupdate,
                alpha,
                beta,
                max_burst: burst,
                cap,
                derandomize,
                hold,
                byte_mode,
                estimate,
                ..PieControl::default()
            },
            marks: PieMarks { ecn, mark_ecnth: 0.5 },
            ..PieParams::default()
        };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn cobalt(
        seed: u64, us in 200_u64..1500, limit in limits(), target in ms(1..20), interval in ms(20..200), ecn: bool,
        increment in 0.0_f64..0.3, decrement in 0.0_f64..0.1, blue in proptest::option::of(ms(1..50)), mtu in proptest::option::of(1_u64..3000),
    ) {
        let p = CobaltParams {
            limit, target, interval, ecn, increment, decrement, blue_threshold: blue, mtu: mtu.map(Bytes), ..CobaltParams::default()
        };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn pi2(
        seed: u64, us in 200_u64..1500, limit in limits(), target in ms(1..20), tupdate in ms(1..40), alpha in 0.0_f64..4.0, beta in 0.0_f64..40.0,
        k in 0.0_f64..4.0, max_prob in 0.0_f64..=1.0, ecn: bool,
    ) {
        let p = Pi2Params { limit, target, tupdate, alpha, beta, k, max_prob, ecn, ..Pi2Params::default() };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn dualpi2(
        seed: u64, us in 200_u64..1500, limit in limits(), target in ms(1..20), rtt_max in ms(3..300), tupdate in proptest::option::of(ms(1..40)),
        alpha in proptest::option::of(0.0_f64..4.0), k in 0.0_f64..4.0, range in ms(0..3), th_len in 0_u32..4, shifted: bool,
        classic_share in 0.0_f64..=1.0, t_shift in ms(0..60),
    ) {
        let scheduler = if shifted { DualScheduler::TsFifo } else { DualScheduler::Wrr };
        let p = DualPi2Params {
            limit: Some(limit), target, rtt_max, tupdate, alpha, k, range, th_len, scheduler, classic_share, t_shift, ..DualPi2Params::default()
        };
        run(&p, limit, true, seed, us)?;
    }

    #[test]
    fn blue(
        seed: u64, us in 200_u64..1500, limit in limits(), increment in 0.0_f64..0.3, decrement in 0.0_f64..0.1, freeze in ms(0..100), ecn: bool,
        length in proptest::option::of(1_u64..40),
    ) {
        let p = BlueParams {
            limit,
            increment,
            decrement,
            freeze_time: freeze,
            ecn,
            length: length.map(Len::Packets),
            ..BlueParams::default()
        };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn sfb(
        seed: u64, us in 200_u64..1500, limit in limits(), levels in 1_u32..=4, bins in 1_u32..=20, increment in 0.0_f64..0.5,
        decrement in 0.0_f64..0.1, size in proptest::option::of(0_u64..9), most in proptest::option::of(1_u64..12),
        rehash in proptest::option::of(ms(50..500)), warmup in ms(0..50), freeze in ms(0..30), ecn: bool,
    ) {
        let p = SfbParams {
            freeze_time: freeze, limit, levels, bins, increment, decrement, rehash, warmup, ecn, bin_size: size.map(Len::Packets), bin_limit: most.map(Len::Packets),
            ..SfbParams::default()
        };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn choke(
        seed: u64, us in 200_u64..1500, limit in limits(), draws in 1_u32..=8, min in 0_u64..20, width in 0_u64..40, max_p in 0.0_f64..=1.0,
        w_q in 0.001_f64..=1.0, gentle: bool, ecn: bool,
    ) {
        let p = ChokeParams {
            limit,
            draws,
            w_q: Some(w_q),
            gentle,
            ecn,
            thresholds: RedThresholds {
                min: Some(Len::Packets(min)),
                max: Some(Len::Packets(min + width)),
                max_p,
                ..RedThresholds::default()
            },
            ..ChokeParams::default()
        };
        run(&p, limit, ecn, seed, us)?;
    }

    #[test]
    fn fred(
        seed: u64, us in 200_u64..1500, limit in limits(), min in 0_u64..20, width in 0_u64..40, max_p in 0.0_f64..=1.0, w_q in 0.001_f64..=1.0,
        min_q in 0_u64..5, many_flows: bool,
    ) {
        let p = FredParams {
            limit, min: Some(Len::Packets(min)), max: Some(Len::Packets(min + width)), max_p, w_q, min_q: Len::Packets(min_q), many_flows,
            ..FredParams::default()
        };
        run(&p, limit, false, seed, us)?;
    }

    #[test]
    fn afd(
        seed: u64, us in 200_u64..1500, limit in limits(), target in 0_u64..60, sampling in 1_u32..20, shadow in 1_u32..600, alpha in 0.0_f64..3.0,
        more in 0.0_f64..0.5, interval in ms(1..200),
    ) {
        let p = AfdParams { limit, target: Len::Packets(target), sampling, shadow, alpha, beta: alpha + more, interval, ..AfdParams::default() };
        run(&p, limit, false, seed, us)?;
    }

    #[test]
    fn green(seed: u64, us in 200_u64..1500, limit in limits(), rtt in ms(1..300), mss in 1_u64..3000, c in 0.0_f64..3.0, window in ms(1..2000), ecn: bool) {
        let p = GreenParams { limit, rtt, mss: Bytes(mss), c, window, ecn, ..GreenParams::default() };
        run(&p, limit, ecn, seed, us)?;
    }
}
