//! What stands still is passed over when samples are taken, and nothing of it can be seen.

use crate::toy::{Once, Tail, Toy, ToyPlugs};
use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// Packets of a connection that is over are counted where they arrive, in the step in which they do, though no end of the flow is called, and a step without any lies between two of them.
#[test]
fn packets_of_a_connection_that_is_over_are_in_its_series() {
    let mut b = WorldBuilder::<ToyPlugs>::new(1, Routing::Ecmp);
    let (s, d) = (b.node("s"), b.node("d"));
    for (name, from, to) in [("there", s, d), ("back", d, s)] {
        // A packet of 1000 bytes takes a millisecond, and is on its way for 40.
        let (rate, delay) = (Rate::from_bps(8_000_000), Dur::from_ms(40));
        let (qdisc, impairments) = (Tail::new(100), Impairments::default());
        b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc, schedule: None, impairments, device: None });
    }
    let ends = || [Toy::Sender { window: 20, flying: 0, next: 0, size: 960 }, Toy::Receiver { got: 0 }];
    let [sender, receiver] = ends();
    let f = b.flow(FlowDef { name: "f".into(), from: s, to: d, proto: Proto::Tcp, sender, receiver });
    b.app(Once(f, Time::ZERO), vec![f]);
    let received: Column<FlowSample> = ("received", |rows, out| out.extend(rows.iter().map(|r| r.received as f64)));
    b.sample(Sampling { step: Dur::from_us(250), flows: vec![received], ports: Vec::new() }, Vec::new());
    let mut w = b.build::<QuadHeap>().unwrap();
    w.advance(Time::ZERO + Dur::from_us(30_100), u64::MAX, &mut ());
    w.begin(f, Once(f, Time::ZERO + Dur::from_secs(9)), ends(), &mut ());
    w.advance(Time::ZERO + Dur::from_ms(100), u64::MAX, &mut ());
    let series = w.take_sampler().unwrap().flows.kept.column("received").unwrap().unwrap();
    // The first is there after 41 ms, which is the step that ends then, and one in each millisecond from then on.
    let want: Vec<f64> = (0..=400).map(|step| if step % 4 == 0 && (164..244).contains(&step) { 1000.0 } else { 0.0 }).collect();
    assert_eq!(series, want);
}

/// Drops over time are those of the queue, as in the table of links: what the link loses after the queue is not among them, a queue's own drops are.
#[test]
fn losses_on_the_link_are_no_drops_of_its_queue() {
    let mut b = WorldBuilder::<ToyPlugs>::new(1, Routing::Ecmp);
    let (s, d) = (b.node("s"), b.node("d"));
    for (name, from, to, loss) in [("there", s, d, 1.0), ("back", d, s, 0.0)] {
        let (rate, delay, qdisc) = (Rate::from_bps(8_000_000), Dur::from_ms(1), Tail::new(12));
        let impairments = Impairments { loss: Some(LossSpec::Share(loss)), ..Impairments::default() };
        b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc, schedule: None, impairments, device: None });
    }
    let sender = Toy::Sender { window: 20, flying: 0, next: 0, size: 960 };
    let f = b.flow(FlowDef { name: "f".into(), from: s, to: d, proto: Proto::Tcp, sender, receiver: Toy::Receiver { got: 0 } });
    b.app(Once(f, Time::ZERO), vec![f]);
    let drops: Column<PortSample> = ("drops", |rows, out| out.extend(rows.iter().map(|r| r.drops as f64)));
    b.sample(Sampling { step: Dur::from_ms(1), flows: Vec::new(), ports: vec![drops] }, vec![PortId(0)]);
    let mut w = b.build::<QuadHeap>().unwrap();
    w.advance(Time::ZERO + Dur::from_ms(100), u64::MAX, &mut ());
    let series = w.take_sampler().unwrap().links.kept.column("drops").unwrap().unwrap();
    let c = w.ports()[0].counters();
    assert_eq!((c.queue_drops(), c.link_losses()), (7, 13), "one is sent, twelve wait, and all of those are lost");
    assert_eq!(series.iter().sum::<f64>(), 7.0);
}
