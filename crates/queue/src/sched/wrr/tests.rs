use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};

type Params = WrrParams<DropTailParams>;

fn weights(w: &[u32], count: TurnUnit) -> Params {
    let class = |(i, &weight)| WeightedParams { select: format!("dscp:{i}").as_str().into(), queue: DropTailParams::default(), weight };
    WrrParams { classes: w.iter().enumerate().map(class).collect(), count, ..Params::default() }
}

/// "SFQ 4:1" of Nowak et al. 2009: one TCP packet, then four UDP packets, and so on.
#[test]
fn one_tcp_packet_then_four_udp_packets() {
    let (mut q, mut desk) = (Params::default().build(&link().into()), Desk::new());
    (0..80).for_each(|i| desk.put(&mut q, us(0), pkt(i, i % 2, 1000)));
    let order = desk.flows(&mut q, us(1), 50);
    assert_eq!(order, [0, 1, 1, 1, 1].repeat(10));
    // The UDP queue is empty now: the link is TCP's.
    assert_eq!(desk.flows(&mut q, us(1), 99), [0; 30]);
}

/// Shares are exact in packets, whatever the lengths.
#[test]
fn weights_are_shares_of_packets() {
    let (mut q, mut desk) = (weights(&[3, 1, 7], TurnUnit::Packets).build(&link().into()), Desk::new());
    for i in 0..2400 {
        desk.put(&mut q, us(0), pkt(i, i % 3, 40 + i % 1400));
    }
    let order = desk.flows(&mut q, us(1), 11 * 100);
    let count = |f| order.iter().filter(|&&x| x == f).count();
    assert_eq!((count(0), count(1), count(2)), (300, 100, 700));
}

/// With turns in bytes, what two waiting classes have got differs by less than one turn and one packet each, for their weights.
#[test]
fn weights_are_shares_of_bytes() {
    let lens = [1500, 100, 700];
    let w = [1, 4, 2];
    let (mut q, mut desk) = (weights(&w, TurnUnit::Bytes).build(&link().into()), Desk::new());
    let mut id = 0;
    let mut put = |desk: &mut Desk, q: &mut _, f: usize| {
        id += 1;
        desk.put(q, us(0), pkt(id, f as u32, lens[f]));
    };
    for f in 0..3 {
        (0..40).for_each(|_| put(&mut desk, &mut q, f));
    }
    let mut got = [0_f64; 3];
    for _ in 0..20_000 {
        let p = desk.get(&mut q, us(1)).unwrap();
        let f = p.flow.0 as usize;
        got[f] += f64::from(p.len) / f64::from(w[f]);
        put(&mut desk, &mut q, f);
        let [low, high] = [f64::min, f64::max].map(|m| got.into_iter().reduce(m).unwrap());
        assert!(high - low <= 1500.0 + 1500.0, "{got:?}");
    }
    assert_eq!(desk.drops.len(), 0);
}

#[test]
fn empty_classes_are_skipped_and_keep_no_credit() {
    let (mut q, mut desk) = (weights(&[2, 2], TurnUnit::Packets).build(&link().into()), Desk::new());
    (0..6).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
    assert_eq!(desk.flows(&mut q, us(1), 3), [0, 0, 0]);
    (10..15).for_each(|i| desk.put(&mut q, us(2), pkt(i, 1, 1000)));
    // The second turn of class 0 was half used; then it is class 1's turn.
    assert_eq!(desk.flows(&mut q, us(3), 9), [0, 1, 1, 0, 0, 1, 1, 1]);
}

/// Sender i of Ramachendra et al. 2014 goes to queue i modulo 3.
#[test]
fn flows_by_number_modulo_three() {
    let p = RrParams::<DropTailParams> { queues: Some(3), ..RrParams::default() };
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    // Flows 0, 3 and 6 share a queue, and so a third of the turns.
    for (id, flow) in [0, 3, 6, 1, 4, 2, 5].into_iter().enumerate() {
        desk.put(&mut q, us(0), pkt(id as u32, flow, 1000));
    }
    assert_eq!(desk.flows(&mut q, us(1), 9), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(q.bank.len(), 3);
}

#[test]
fn without_classes_each_flow_has_its_turn() {
    let (mut q, mut desk) = (RrParams::<DropTailParams>::default().build(&link().into()), Desk::new());
    for (id, flow) in [9, 9, 9, 400, 2, 2].into_iter().enumerate() {
        desk.put(&mut q, us(0), pkt(id as u32, flow, 1000));
    }
    // In the order in which they came.
    assert_eq!(desk.flows(&mut q, us(1), 9), [9, 400, 2, 9, 2, 9]);
}

/// More queues than the bits of a word.
#[test]
fn many_flows_take_their_turns() {
    let (mut q, mut desk) = (RrParams::<DropTailParams>::default().build(&link().into()), Desk::new());
    for i in 0..600 {
        desk.put(&mut q, us(0), pkt(i, i % 200, 1000));
    }
    assert_eq!(desk.flows(&mut q, us(1), 999), (0..600).map(|i| i % 200).collect::<Vec<_>>());
}

#[test]
fn problems_say_where() {
    let site = link().into();
    assert_eq!(weights(&[1, 0], TurnUnit::Packets).check(&site).unwrap_err().field, "classes.1.weight");
    assert_eq!(Params { quantum: Bytes(1), ..Params::default() }.check(&site).unwrap_err().field, "quantum");
    let both = RrParams { classes: vec![ClassParams::<DropTailParams>::default()], queues: Some(3), ..RrParams::default() };
    assert_eq!(both.check(&site).unwrap_err().field, "queues");
    assert_eq!(RrParams::<DropTailParams> { queues: Some(0), ..RrParams::default() }.check(&site).unwrap_err().field, "queues");
}
