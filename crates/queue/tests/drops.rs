//! The queues that choose another victim than the arriving packet, and the one that keeps a place less.

use fairlane_engine::Stream;
use fairlane_net::{Backlog, DropReason, FlowId, LinkInfo, Packet, PacketRef, QCx, Qdisc};
use fairlane_queue::{Admit, Discipline, DropTailParams, HeadDropParams, ManagementParams, RandomDropParams};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Outcome, Rules, check};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Len, Rate, Time};
use proptest::prelude::*;

const MAX_LEN: u32 = 1540;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) }
}

fn pkt(id: u32, flow: u32, len: u32) -> Packet {
    Packet { id: PacketRef(id), len, flow: FlowId(flow), ..PACKET }
}

/// Offers packets at one instant; returns the ids of those dropped and of those left, in order.
fn offer<D: Discipline>(params: &D, packets: &[Packet], seed: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut q, mut rng, mut drops) = (params.build(&link().into()), Stream::new(seed, "port", "drops", "aqm"), vec![]);
    let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 };
    packets.iter().for_each(|p| q.enqueue(*p, &mut cx));
    let left = std::iter::from_fn(|| q.dequeue(&mut cx)).map(|p| p.id.0).collect();
    (drops.iter().map(|d| d.0.id.0).collect(), left)
}

fn alike(n: u32) -> Vec<Packet> {
    (0..n).map(|i| pkt(i, i % 3, 1000)).collect()
}

/// The head goes, the newest stay: the opposite of DropTail.
#[test]
fn headdrop_keeps_the_newest() {
    let params = HeadDropParams { limit: Len::Packets(5), ..HeadDropParams::default() };
    assert_eq!(offer(&params, &alike(8), 1), (vec![0, 1, 2], vec![3, 4, 5, 6, 7]));
    let tail = DropTailParams { limit: Len::Packets(5), ..DropTailParams::default() };
    assert_eq!(offer(&tail, &alike(8), 1), (vec![5, 6, 7], vec![0, 1, 2, 3, 4]));
}

/// ns-2's DropTail with drop_front_ keeps a packet less than its limit, whichever end it drops from.
#[test]
fn headdrop_ns2_keeps_one_less() {
    let params: HeadDropParams = serde_json::from_str(HeadDropParams::PRESETS[0].values).unwrap();
    let (dropped, left) = offer(&params, &alike(60), 1);
    assert_eq!((dropped.len(), left.first(), left.len()), (11, Some(&11), 49));
}

/// A byte limit: heads leave until the arrival has room.
#[test]
fn headdrop_makes_room_in_bytes() {
    let params = HeadDropParams { limit: Len::Bytes(3000), ..HeadDropParams::default() };
    let mut packets: Vec<Packet> = (0..10).map(|i| pkt(i, 0, 300)).collect();
    packets.push(pkt(10, 0, 1000));
    assert_eq!(offer(&params, &packets, 1), (vec![0, 1, 2, 3], vec![4, 5, 6, 7, 8, 9, 10]));
}

/// Mankin 1990: every waiting packet is equally likely to make room.
#[test]
fn randomdrop_is_uniform() {
    let n = 10;
    for (arriving, cells) in [(false, n), (true, n + 1)] {
        let params = RandomDropParams { limit: Len::Packets(u64::from(n)), arriving, ..RandomDropParams::default() };
        let mut counts = vec![0_u32; cells as usize];
        for seed in 0..20_000 {
            let (dropped, left) = offer(&params, &alike(n + 1), seed);
            assert_eq!((dropped.len(), left.len()), (1, n as usize));
            counts[dropped[0] as usize] += 1;
        }
        let want = 20_000.0 / f64::from(cells);
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - want).powi(2) / want).sum();
        // 99.9 % points of chi-square with 9 and 10 degrees of freedom: 27.9 and 29.6.
        assert!(chi2 < if arriving { 29.6 } else { 27.9 }, "{counts:?}");
    }
}

/// RFC 1254 section 4.3: a user loses in proportion to its share of the buffer, no matter whose packet arrives. DropTail drops what arrives.
#[test]
fn randomdrop_punishes_by_share() {
    // Flow 0 holds 9 of 10 places; only packets of flow 1 arrive at the full buffer.
    let mut packets: Vec<Packet> = (0..10).map(|i| pkt(i, u32::from(i == 9), 1000)).collect();
    packets.push(pkt(10, 1, 1000));
    let params = RandomDropParams { limit: Len::Packets(10), ..RandomDropParams::default() };
    let hit = (0..4000).filter(|&seed| offer(&params, &packets, seed).0[0] != 9).count() as f64 / 4000.0;
    assert!((hit - 0.9).abs() < 0.015, "{hit}");
    let tail = DropTailParams { limit: Len::Packets(10), ..DropTailParams::default() };
    assert_eq!(offer(&tail, &packets, 1).0, vec![10]);
}

fn run<Q: Qdisc + Clone>(q: &Q, seed: u64, us: u64, rules: &Rules) -> Result<Outcome, TestCaseError> {
    let load = Load { packets: 2000, flows: 5, lens: &[40, 576, 1000, MAX_LEN], ect: 0.5, mean_gap: Dur::from_us(us) };
    check(q, link(), &load.draw(seed), rules).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// Part 3 of the 2022 paper: the published class and ns-2's DropTail treat every packet alike.
    #[test]
    fn management_is_ns2_droptail(seed: u64, us in 200_u64..1500, n in 2_u64..60) {
        let limit = Len::Packets(n);
        let rules = Rules { most: Backlog { pkts: n as u32 - 1, bytes: u64::MAX }, marks: false, ..Rules::default() };
        let ours = run(&ManagementParams { limit }.build(&link().into()), seed, us, &rules)?;
        let ns2: DropTailParams = serde_json::from_str(DropTailParams::PRESETS[0].values).unwrap();
        let theirs = run(&DropTailParams { limit, ..ns2 }.build(&link().into()), seed, us, &rules)?;
        prop_assert_eq!(&ours, &theirs);
    }

    #[test]
    fn head_and_random(seed: u64, us in 200_u64..1500, n in 1_u64..80, bytes: bool, arriving: bool) {
        let limit = if bytes { Len::Bytes(n * 700 + u64::from(MAX_LEN)) } else { Len::Packets(n) };
        let most = match limit {
            Len::Packets(n) => Backlog { pkts: n as u32, bytes: u64::MAX },
            Len::Bytes(bytes) => Backlog { pkts: u32::MAX, bytes },
        };
        let rules = Rules { most, marks: false, ..Rules::default() };
        let head = run(&HeadDropParams { limit, admit: Admit::Fits }.build(&link().into()), seed, us, &rules)?;
        let random = run(&RandomDropParams { limit, admit: Admit::Fits, arriving }.build(&link().into()), seed, us, &rules)?;
        for out in [&head, &random] {
            prop_assert_eq!(out.sent.len() + out.dropped.len(), 2000);
            prop_assert!(out.dropped.iter().all(|d| d.1 == DropReason::Overflow));
        }
    }
}

/// A queue of n - 1 is not a queue of n; with a limit of one nothing passes, not even an idle link.
#[test]
fn management_keeps_one_less() {
    let kept = |n| offer(&ManagementParams { limit: Len::Packets(n) }, &alike(20), 1).1.len();
    assert_eq!((kept(10), kept(2), kept(1), kept(0)), (9, 1, 0, 0));
    let (dropped, left) = offer(&ManagementParams { limit: Len::Packets(4) }, &alike(6), 1);
    assert_eq!((dropped, left), (vec![3, 4, 5], vec![0, 1, 2]));
    assert_eq!(offer(&DropTailParams { limit: Len::Packets(10), ..DropTailParams::default() }, &alike(20), 1).1.len(), 10);
    assert!(ManagementParams { limit: Len::Bytes(1000) }.check(&link().into()).is_err());
}

#[test]
fn limits_that_hold_nothing_are_refused() {
    let site = link().into();
    assert_eq!(HeadDropParams { limit: Len::Packets(0), ..HeadDropParams::default() }.check(&site).unwrap_err().field, "limit");
    assert!(HeadDropParams { limit: Len::Packets(1), admit: Admit::Under }.check(&site).is_err());
    assert!(RandomDropParams { limit: Len::Bytes(0), ..RandomDropParams::default() }.check(&site).is_err());
    assert!(RandomDropParams::default().check(&site).is_ok() && HeadDropParams::default().check(&site).is_ok());
}
