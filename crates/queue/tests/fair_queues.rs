//! Fair schedulers through the conformance suite, with random parameters and loads.

use fairlane_net::{Backlog, LinkInfo, Qdisc};
use fairlane_queue::{
    CakeFraming, CakeIsolation, CakeParams, CakeTins, CodelFiner, CodelShared, CodelTimes, Discipline, DropFrom, DropTailParams, DrrParams,
    FqClock, FqCodelParams, FqParams, FqPieParams, FqScheduler, HashBy, PieControl, PieMarks, SfqParams,
};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Outcome, Rules, check};
use fairlane_units::{Bytes, Dur, Len, Rate};
use proptest::prelude::*;

const PACKETS: usize = 2500;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) }
}

fn most(limit: Len) -> Backlog {
    match limit {
        Len::Packets(n) => Backlog { pkts: n as u32, bytes: u64::MAX },
        Len::Bytes(n) => Backlog { pkts: u32::MAX, bytes: n },
    }
}

fn limits() -> impl Strategy<Value = Len> {
    prop_oneof![(2_u64..80).prop_map(Len::Packets), (40_u64..80_000).prop_map(Len::Bytes)]
}

fn hashes() -> impl Strategy<Value = HashBy> {
    use HashBy::{Destination, Flow, Ns2Source, Ns2Sum, Pair, Source};
    proptest::sample::select(vec![Flow, Source, Destination, Pair, Ns2Source, Ns2Sum])
}

fn ends() -> impl Strategy<Value = DropFrom> {
    prop_oneof![Just(DropFrom::Tail), Just(DropFrom::Head)]
}

fn run<Q: Qdisc + Clone>(q: &Q, seed: u64, us: u64, rules: &Rules) -> Result<Outcome, TestCaseError> {
    let load = Load { packets: PACKETS, flows: 12, lens: &[40, 576, 1000, 1540], ect: 0.5, mean_gap: Dur::from_us(us) };
    let out = check(q, link(), &load.draw(seed), rules).map_err(TestCaseError::fail)?;
    prop_assert_eq!(out.sent.len() + out.dropped.len(), PACKETS);
    Ok(out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    #[test]
    fn drr(
        seed: u64, us in 200_u64..1500, limit in limits(), quantum in 1_u64..4000, buckets in proptest::option::of(1_u32..40),
        hash in hashes(), salt: Option<u64>, drop in ends(),
    ) {
        let p = DrrParams::<DropTailParams> { limit, quantum: Bytes(quantum), buckets, hash, salt, drop, classes: vec![] };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        run(&p.build(&link().into()), seed, us, &Rules { most: most(limit), marks: false, ..Rules::default() })?;
    }

    #[test]
    fn sfq(
        seed: u64, us in 200_u64..1500, limit in limits(), buckets in 1_u32..40, hash in hashes(), salt: Option<u64>,
        perturb in proptest::option::of(1_u64..2000), quantum in proptest::option::of(1_u64..4000), depth in proptest::option::of(limits()),
        drop in ends(), refuse: bool,
    ) {
        let (perturb, quantum) = (perturb.map(Dur::from_ms), quantum.map(Bytes));
        let refuse = refuse && matches!(limit, Len::Packets(_));
        let p = SfqParams { limit, buckets, hash, salt, perturb, quantum, depth, drop, refuse };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        run(&p.build(&link().into()), seed, us, &Rules { most: most(limit), marks: false, ..Rules::default() })?;
    }

    #[test]
    fn fq(
        seed: u64, us in 200_u64..1500, limit in proptest::option::of(limits()), flow_limit in proptest::option::of(limits()), hash in hashes(),
        arrival: bool, promptness in 0_u64..9000, drop in ends(),
    ) {
        let (clock, promptness) = if arrival { (FqClock::Arrival, 0) } else { (FqClock::Round, promptness) };
        let p = FqParams { limit, flow_limit, hash, clock, promptness: Bytes(promptness), drop };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        let most = limit.map_or(Rules::default().most, most);
        run(&p.build(&link().into()), seed, us, &Rules { most, marks: false, ..Rules::default() })?;
    }

    #[test]
    fn fq_codel(
        seed: u64, us in 200_u64..1500, limit in limits(), memory_limit in proptest::option::of(40_u64..80_000), flows in 1_u32..40, hash in hashes(),
        salt: Option<u64>, quantum in 1_u64..4000, drop_batch in 1_u32..70, target in 1_u64..20, ecn: bool, ce in proptest::option::of(1_u64..30),
        mtu_of_all: bool, count_evicted: bool, leave_new: bool,
    ) {
        let p = FqCodelParams {
            ecn,
            scheduler: FqScheduler { limit, memory_limit: memory_limit.map(Bytes), flows, hash, salt, quantum: Bytes(quantum), drop_batch, leave_new },
            times: CodelTimes { target: Dur::from_ms(target), ..CodelTimes::default() },
            finer: CodelFiner { ce_threshold: ce.map(Dur::from_ms), ..CodelFiner::default() },
            shared: CodelShared { mtu_of_all, count_evicted },
        };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        let most = Backlog { bytes: most(limit).bytes.min(memory_limit.unwrap_or(u64::MAX)), ..most(limit) };
        let rules = Rules { most, marks: ecn || ce.is_some(), ..Rules::default() };
        run(&p.build(&link().into()), seed, us, &rules)?;
    }

    #[test]
    fn fq_pie(
        seed: u64, us in 200_u64..1500, limit in limits(), flows in 1_u32..40, quantum in 1_u64..4000, drop_batch in 1_u32..70,
        target in 1_u64..30, tupdate in 1_u64..30, ecn: bool, derandomize: bool, byte_mode: bool, refuse: bool,
    ) {
        let p = FqPieParams {
            scheduler: FqScheduler { limit, flows, quantum: Bytes(quantum), drop_batch, ..FqScheduler::default() },
            control: PieControl {
                target: Dur::from_ms(target),
                tupdate: Dur::from_ms(tupdate),
                derandomize,
                byte_mode,
                ..PieControl::default()
            },
            marks: PieMarks { ecn, ..PieMarks::default() },
            refuse,
        };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        run(&p.build(&link().into()), seed, us, &Rules { most: most(limit), marks: ecn, ..Rules::default() })?;
    }

    #[test]
    fn cake(
        seed: u64, us in 200_u64..1500, mbps in proptest::option::of(2_u64..30), limit in proptest::option::of(limits()), overhead in 0_u64..60,
        tins in 0_usize..5, isolation in 0_usize..8, framing in 0_usize..3, flows in 1_u32..40, ways in 1_u32..9, ecn: bool, rtt in 1_u64..200,
        ingress: bool, wash: bool, uncounted in 0_u64..60,
    ) {
        use CakeIsolation::{DualDsthost, DualSrchost, Dsthost, Flowblind, Flows, Hosts, Srchost, TripleIsolate};
        let p = CakeParams {
            bandwidth: mbps.map(Rate::from_mbps), limit, flows, ways, ecn, rtt: Dur::from_ms(rtt), overhead: Bytes(overhead),
            ingress, wash, uncounted: Bytes(uncounted),
            tins: [CakeTins::Besteffort, CakeTins::Diffserv3, CakeTins::Diffserv4, CakeTins::Diffserv8, CakeTins::Precedence][tins],
            isolation: [Flowblind, Srchost, Dsthost, Hosts, Flows, DualSrchost, DualDsthost, TripleIsolate][isolation],
            framing: [CakeFraming::None, CakeFraming::Atm, CakeFraming::Ptm][framing],
            ..CakeParams::default()
        };
        prop_assert_eq!(p.check(&link().into()), Ok(()));
        let most = limit.map_or(Rules::default().most, most);
        let rules = Rules { most, marks: ecn, work_conserving: mbps.is_none(), recolours: wash, ..Rules::default() };
        run(&p.build(&link().into()), seed, us, &rules)?;
    }
}
