//! Which packet bears what a law decides at an arrival: `drop_from` and `mark_from`.

use fairlane_engine::Stream;
use fairlane_net::{Backlog, DropReason, Ecn, FlowId, LinkInfo, Packet, PacketRef, QCx, Qdisc};
use fairlane_queue::{Discipline, DropFrom, Front, PiParams, RedParams, RedThresholds, RedTuning};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Rules, check};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Len, Rate, Time};
use proptest::prelude::*;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) }
}

fn pkt(id: u32, ecn: Ecn) -> Packet {
    Packet { id: PacketRef(id), flow: FlowId(id % 3), ecn, ..PACKET }
}

/// A RED that lets `max` wait and acts on every further arrival: its average is the queue.
fn step(max: u64, limit: u64, ecn: bool, front: Front) -> RedParams {
    let at = Some(Len::Packets(max));
    RedParams {
        limit: Len::Packets(limit),
        thresholds: RedThresholds { min: at, max: at, max_p: 1.0, ..RedThresholds::default() },
        tuning: RedTuning { w_q: Some(1.0), gentle: false, ecn, ..RedTuning::default() },
        hard_drop: false,
        front,
        ..RedParams::default()
    }
}

struct Seen {
    dropped: Vec<(u32, DropReason)>,
    left: Vec<u32>,
    marked: Vec<u32>,
}

/// Offers packets at one instant, then takes all that is left.
fn offer(params: &RedParams, packets: &[Packet]) -> Seen {
    let (mut q, mut rng, mut drops) = (params.build(&link().into()), Stream::new(1, "port", "front", "aqm"), vec![]);
    let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 };
    packets.iter().for_each(|p| q.enqueue(*p, &mut cx));
    let left: Vec<Packet> = std::iter::from_fn(|| q.dequeue(&mut cx)).collect();
    let marked = left.iter().filter(|p| p.ecn == Ecn::Ce).map(|p| p.id.0).collect::<Vec<_>>();
    assert_eq!(cx.marks as usize, marked.len());
    Seen { dropped: drops.iter().map(|d| (d.0.id.0, d.1)).collect(), left: left.iter().map(|p| p.id.0).collect(), marked }
}

const HEAD: Front = Front { drop_from: DropFrom::Head, mark_from: DropFrom::Head };

fn ids(n: u32, ecn: Ecn) -> Vec<Packet> {
    (0..n).map(|i| pkt(i, ecn)).collect()
}

/// Lakshman, Neidhardt and Ott 1996: as many drops, for the same reason, of the oldest instead of the newest.
#[test]
fn an_early_drop_takes_the_head() {
    let tail = offer(&step(5, 100, false, Front::default()), &ids(9, Ecn::NotEct));
    let head = offer(&step(5, 100, false, HEAD), &ids(9, Ecn::NotEct));
    assert_eq!(tail.left, [0, 1, 2, 3, 4]);
    assert_eq!(head.left, [4, 5, 6, 7, 8]);
    assert_eq!(head.dropped.iter().map(|d| d.1).collect::<Vec<_>>(), tail.dropped.iter().map(|d| d.1).collect::<Vec<_>>());
}

/// A full buffer, too; and it is the same as a queue that drops from front.
#[test]
fn an_overflow_takes_the_head() {
    let s = offer(&step(50, 5, false, HEAD), &ids(8, Ecn::NotEct));
    assert_eq!(
        (s.left, s.dropped),
        (vec![3, 4, 5, 6, 7], vec![(0, DropReason::Overflow), (1, DropReason::Overflow), (2, DropReason::Overflow)])
    );
}

/// Liu and Jain 2001: as many marks, on the packets that leave next instead of those that came last.
#[test]
fn a_mark_is_carried_by_the_head() {
    let tail = offer(&step(5, 100, true, Front::default()), &ids(8, Ecn::Ect0));
    let head = offer(&step(5, 100, true, HEAD), &ids(8, Ecn::Ect0));
    assert_eq!((tail.marked, tail.dropped.len()), (vec![5, 6, 7], 0));
    assert_eq!((head.marked, head.dropped.len(), head.left.len()), (vec![0, 1, 2], 0, 8));
    // Packets that cannot carry a mark are passed over, one that has one is not marked twice.
    let mixed: Vec<Packet> =
        [Ecn::NotEct, Ecn::Ce, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ect0, Ecn::Ect0].iter().zip(0..).map(|(&e, i)| pkt(i, e)).collect();
    let mut rng = Stream::new(1, "port", "front", "aqm");
    let (mut q, mut drops) = (step(5, 100, true, HEAD).build(&link().into()), vec![]);
    let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 };
    mixed.iter().for_each(|p| q.enqueue(*p, &mut cx));
    let left: Vec<_> = std::iter::from_fn(|| q.dequeue(&mut cx)).map(|p| p.ecn).collect();
    assert_eq!(left, [Ecn::NotEct, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ect0, Ecn::Ect0]);
    assert_eq!(cx.marks, 2);
}

/// A packet that arrives at an empty queue bears its own verdict.
#[test]
fn an_empty_queue_has_no_head() {
    let s = offer(&step(0, 100, false, HEAD), &ids(3, Ecn::NotEct));
    assert_eq!((s.left, s.dropped.len()), (vec![], 3));
}

/// Only parameters of laws that keep no account of whose packets they let in have a choice.
#[test]
fn it_is_a_parameter() {
    let p: PiParams = serde_json::from_str(r#"{"drop_from": "head", "mark_from": "head"}"#).unwrap();
    assert_eq!(p.front, HEAD);
    assert!(serde_json::from_str::<fairlane_queue::FredParams>(r#"{"drop_from": "head"}"#).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// The rules that all disciplines keep: order, conservation, limits.
    #[test]
    fn order_and_conservation_hold(seed: u64, us in 200_u64..1500, max in 0_u64..30, limit in 1_u64..60, ecn: bool, drops: bool, marks: bool) {
        let from = |head| if head { DropFrom::Head } else { DropFrom::Tail };
        let front = Front { drop_from: from(drops), mark_from: from(marks) };
        let rules = Rules { most: Backlog { pkts: limit as u32, bytes: u64::MAX }, marks: ecn, ..Rules::default() };
        let load = Load { packets: 2000, flows: 5, lens: &[40, 576, 1000, 1540], ect: 0.5, mean_gap: Dur::from_us(us) };
        check(&step(max, limit, ecn, front).build(&link().into()), link(), &load.draw(seed), &rules).map_err(TestCaseError::fail)?;
    }
}
