//! A link that copies packets and makes some of them late: each copy arrives in its own time, whatever the packet that it is of does.

use crate::minimal::{Minimal, MinimalComponents, Once, Tail};
use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// One packet and its copy, each late with probability one half: two arrive, after 2 ms or after 7 ms, though nothing else does that could make the network look.
#[test]
fn a_copy_arrives_though_its_packet_is_late() {
    let (mut early, mut late) = (0, 0);
    for seed in 1..=60 {
        let mut b = WorldBuilder::<MinimalComponents>::new(seed, Routing::Ecmp);
        let (s, d) = (b.node("s"), b.node("d"));
        for (name, from, to, delay, twice) in [("there", s, d, 1, Some(1.0)), ("back", d, s, 100, None)] {
            // A packet of 1000 bytes takes a millisecond, and is on its way for another.
            let (rate, delay, qdisc) = (Rate::from_bps(8_000_000), Dur::from_ms(delay), Tail::new(12));
            let reorder = twice.map(|_| ReorderSpec { share: 0.5, delay: Dur::from_ms(5), ..ReorderSpec::default() });
            let impairments = Impairments { duplicate: twice.map(Duplicate), reorder, ..Impairments::default() };
            b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc, schedule: None, impairments, device: None });
        }
        let sender = Minimal::Sender { window: 1, flying: 0, next: 0, size: 960 };
        let f = b.flow(FlowDef { name: "f".into(), from: s, to: d, proto: Proto::Tcp, sender, receiver: Minimal::Receiver { got: 0 } });
        b.app(Once(f, Time::ZERO), vec![f]);
        let mut w = b.build::<QuadHeap>().unwrap();
        w.advance(Time::ZERO + Dur::from_ms(5), u64::MAX, &mut ());
        let soon = w.flows()[0].counters.received_pkts();
        w.advance(Time::ZERO + Dur::from_ms(8), u64::MAX, &mut ());
        assert_eq!(w.flows()[0].counters.received_pkts(), 2, "seed {seed}");
        early += soon;
        late += 2 - soon;
    }
    assert!(early > 30 && late > 30, "{early} come in time, {late} late");
}
