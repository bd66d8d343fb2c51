use super::*;
use crate::law::droptail::DropTail;
use crate::limit::Limit;
use crate::sched::cake::CakeIsolation;
use crate::sched::cake::hosts::Hosts;
use crate::sched::cake::wire::{CakeFraming, Wire};
use crate::sched::hash::tests::{link, pkt};
use fairlane_engine::Stream;
use fairlane_units::Dur;

type Queues = FlowQueues<DropTail>;

fn queues(quantum: u64) -> Queues {
    FlowQueues::new(Fifo::new(DropTail, Limit::NONE), 64, quantum, link().rate)
}

fn at<R>(now: Time, f: impl FnOnce(&mut QCx<'_>) -> R) -> (R, Vec<u32>) {
    let (mut rng, mut drops) = (Stream::new(1, "port", "fq", "aqm"), vec![]);
    let r = f(&mut QCx { now, rng: &mut rng, drops: &mut drops, marks: 0 });
    (r, drops.into_iter().map(|(p, _)| p.id.0).collect())
}

fn offer(q: &mut Queues, p: Packet) {
    at(Time::ZERO, |cx| q.enqueue(p.flow.0 as usize, p, cx, &mut Equal));
}

fn take(q: &mut Queues) -> Option<Packet> {
    at(Time::ZERO, |cx| q.dequeue(cx, &mut Equal)).0
}

/// RFC 8290 section 4.2: a flow that was not there goes before those that have used up their first quantum.
#[test]
fn a_sparse_flow_goes_first() {
    let mut q = queues(1500);
    (0..20).for_each(|id| offer(&mut q, pkt(id, id % 2, 1000)));
    // Each of the two bulk flows spends its quantum of 1500 in two packets.
    let first: Vec<_> = (0..4).filter_map(|_| take(&mut q)).map(|p| p.flow.0).collect();
    assert_eq!(first, [0, 0, 1, 1]);
    // With the next look at the new flows the bulk ones become old; flows that arrive now are served at once, in order of arrival.
    offer(&mut q, pkt(100, 7, 80));
    offer(&mut q, pkt(101, 8, 80));
    assert_eq!((0..3).filter_map(|_| take(&mut q)).map(|p| p.id.0).collect::<Vec<_>>(), [100, 101, 4]);
}

/// Section 4.2: a new flow that is found empty goes to the end of the old ones, not away; else a flow that sends its next packet whenever
/// the last has left would be new for ever and starve the others. With quantum 1500 and packets of 500 bytes each flow gets half.
#[test]
fn one_packet_at_a_time_starves_nobody() {
    let mut q = queues(1500);
    (0..400).for_each(|id| offer(&mut q, pkt(id, 0, 1500)));
    while q.counts() != [0, 1] {
        take(&mut q);
    }
    let mut bytes = [0_u32; 2];
    for id in 0..300 {
        if q.bytes.get(1).is_none_or(|&b| b == 0) {
            offer(&mut q, pkt(1000 + id, 1, 500));
        }
        if let Some(p) = take(&mut q) {
            bytes[p.flow.0 as usize] += p.len;
        }
    }
    assert!(bytes[0].abs_diff(bytes[1]) <= 1500 + 1500, "{bytes:?}");
    assert!(bytes[0] > 100_000, "{bytes:?}");
}

/// Section 4.2: over any time in which both wait, two flows get the same bytes up to a quantum and a longest packet each way.
#[test]
fn bytes_are_shared_not_packets() {
    let mut q = queues(1514);
    (0..4000).for_each(|id| offer(&mut q, pkt(id, id % 2, [1500, 60][id as usize % 2])));
    let mut served = [0_i64; 2];
    for _ in 0..1500 {
        let Some(p) = take(&mut q) else { break };
        served[p.flow.0 as usize] += i64::from(p.len);
        assert!((served[0] - served[1]).abs() <= 1514 + 1500, "{served:?}");
    }
    assert!(served[0] > 50_000);
}

/// Section 4.1: half of the packets of the queue with most bytes, at most 64, from the head.
#[test]
fn the_longest_gives_half_up_to_the_batch() {
    let mut q = queues(1514);
    (0..40).for_each(|id| offer(&mut q, pkt(id, 0, 100)));
    (100..110).for_each(|id| offer(&mut q, pkt(id, 1, 1000)));
    let drop = |q: &mut Queues, batch| at(Time::ZERO, |cx| q.drop_from_longest(batch, cx).is_some());
    assert_eq!(drop(&mut q, 64), (true, (100..105).collect()));
    // 5000 bytes against 4000; then 3000 against 4000.
    assert_eq!(drop(&mut q, 64), (true, (105..107).collect()));
    assert_eq!(drop(&mut q, 7), (true, (0..7).collect()));
    // 3300 against 3000: half of 33.
    assert_eq!(drop(&mut q, 64), (true, (7..23).collect()));
    assert_eq!(q.held(), Backlog { pkts: 20, bytes: 4700 });
    // A queue with one packet gives that; then there is nothing to give.
    let mut q = queues(1514);
    offer(&mut q, pkt(0, 3, 40));
    assert_eq!(drop(&mut q, 64), (true, vec![0]));
    assert_eq!(drop(&mut q, 64), (false, vec![]));
}

/// A queue leaves the lists when the link asks and finds nothing at all, though no call tells; its flow then is new again.
#[test]
fn idle_time_makes_flows_new() {
    let mut q = queues(1500);
    offer(&mut q, pkt(0, 0, 1400));
    take(&mut q);
    // 1400 bytes take 1.12 ms at 10 Mbit/s: before that the flow keeps what is left of its credit.
    let us = |n| Time::ZERO + Dur::from_us(n);
    at(us(1119), |cx| q.enqueue(1, pkt(1, 1, 100), cx, &mut Equal));
    assert!(q.in_use(0));
    take(&mut q);
    at(us(3000), |cx| q.enqueue(1, pkt(2, 1, 100), cx, &mut Equal));
    assert!(!q.in_use(0) && q.in_use(1));
    assert_eq!(q.counts(), [1, 0]);
}

/// Packets without bytes take part like others: their queue enters a list, is asked for them, and loses them where there is no room.
#[test]
fn packets_without_bytes_wait_and_leave() {
    let mut q = queues(1500);
    (0..4).for_each(|id| offer(&mut q, pkt(id, id % 2, 0)));
    assert_eq!((q.counts(), q.held()), ([2, 0], Backlog { pkts: 4, bytes: 0 }));
    assert_eq!(take(&mut q).map(|p| p.id.0), Some(0));
    assert_eq!(at(Time::ZERO, |cx| q.drop_from_longest(64, cx).is_some()), (true, vec![2]));
    assert_eq!((0..3).map(|_| take(&mut q).map(|p| p.id.0)).collect::<Vec<_>>(), [Some(1), Some(3), None]);
    assert_eq!((q.counts(), q.held(), q.longest()), ([0, 0], Backlog::default(), None));
}

/// Turns computed ahead are the turns one by one: random flows of few hosts, with more and fewer packets, against the same queues without a schedule.
#[test]
fn scheduled_turns_are_the_turns_one_by_one() {
    let mut scheduled = 0;
    for seed in 1..=20 {
        let mut rng = Stream::new(seed, "test", "visits", "");
        let (flows, hosts) = (2 + rng.below(60), 1 + rng.below(4));
        let wire = Wire { overhead: 0, uncounted: 0, mpu: 0, framing: CakeFraming::None };
        let mut both = [(); 2].map(|()| (queues(300), Hosts::new(CakeIsolation::TripleIsolate, 64, wire)));
        (both[0].0.patience, both[1].0.patience) = (3, usize::MAX);
        let mut id = 0;
        for step in 0..6000 {
            // Long calm stretches under load, and some in which flows come and go.
            let (busy, k) = (step % 1500 < 900, rng.below(flows));
            if rng.uniform() < if busy { 0.5 } else { 0.48 } {
                id += 1;
                let p = pkt(id, k as u32, 100 + rng.below(1400) as u32);
                for (q, h) in &mut both {
                    if !q.in_use(k as usize) {
                        h.assign(k as usize, [(k % hosts) as u32, (k % 3) as u32]);
                    }
                    at(Time::ZERO, |cx| q.enqueue(k as usize, p, cx, h));
                }
            } else {
                let [a, b] = [0, 1].map(|n| at(Time::ZERO, |cx| both[n].0.dequeue(cx, &mut both[n].1)).0.map(|p| p.id));
                assert_eq!(a, b, "seed {seed}, step {step}");
            }
            scheduled += usize::from(both[0].0.visits.is_some());
        }
        while both.iter().any(|(q, _)| q.counts() != [0, 0]) {
            let [a, b] = [0, 1].map(|n| at(Time::ZERO, |cx| both[n].0.dequeue(cx, &mut both[n].1)).0.map(|p| p.id));
            assert_eq!(a, b, "seed {seed}");
        }
        for (q, h) in &mut both {
            q.end_visits(h);
        }
        let state = |n: usize| (both[n].0.counts(), both[n].0.turns.iter().map(|t| (t.credit, t.place)).collect::<Vec<_>>());
        assert_eq!(state(0), state(1));
    }
    assert!(scheduled > 10_000, "{scheduled} steps had a schedule");
}
