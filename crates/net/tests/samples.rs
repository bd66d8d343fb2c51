//! Samples of a flow that reconnects.

use crate::minimal::{Minimal, MinimalComponents, Once, Tail};
use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// Packets of an old connection count in the step of their arrival, although no endpoint receives them.
#[test]
fn packets_of_a_connection_that_is_over_are_in_its_series() {
    let mut b = WorldBuilder::<MinimalComponents>::new(1, Routing::Ecmp);
    let (s, d) = (b.node("s"), b.node("d"));
    for (name, from, to) in [("there", s, d), ("back", d, s)] {
        // A packet of 1000 bytes takes 1 ms to send and 40 ms to propagate.
        let (rate, delay) = (Rate::from_bps(8_000_000), Dur::from_ms(40));
        let (qdisc, impairments) = (Tail::new(100), Impairments::default());
        b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc, schedule: None, impairments, device: None });
    }
    let ends = || [Minimal::Sender { window: 20, flying: 0, next: 0, size: 960 }, Minimal::Receiver { got: 0 }];
    let [sender, receiver] = ends();
    let f = b.flow(FlowDef { name: "f".into(), from: s, to: d, proto: Proto::Tcp, sender, receiver });
    b.app(Once(f, Time::ZERO), vec![f]);
    let received: Column<FlowSample> = ("received", |rows, out| out.extend(rows.iter().map(|r| r.received as f64)));
    b.sample(Sampling { step: Dur::from_us(250), flows: vec![received], ports: Vec::new() }, Vec::new());
    let mut w = b.build::<QuadHeap>().unwrap();
    w.advance(Time::ZERO + Dur::from_us(30_100), u64::MAX, &mut ());
    w.begin(f, Once(f, Time::ZERO + Dur::from_secs(9)), ends(), &mut ());
    w.advance(Time::ZERO + Dur::from_ms(100), u64::MAX, &mut ());
    let series = w.take_sampler().unwrap().flows.kept.column("received").unwrap();
    // The first packet arrives after 41 ms, then one each millisecond.
    let want: Vec<f64> = (0..=400).map(|step| if step % 4 == 0 && (164..244).contains(&step) { 1000.0 } else { 0.0 }).collect();
    assert_eq!(series, want);
}
