//! Links that fail and come back, routes that follow, and packets that take their ways one by one: the laws of every network hold there, too.

use crate::ledger::{END, Ledger, Network, clone_and_pauses_change_nothing, observer_and_event_queue_change_nothing};
use crate::minimal::{Minimal, MinimalComponents, Once, Tail};
use fairlane_engine::{EventQueue, QuadHeap, Stream};
use fairlane_net::*;
use fairlane_testkit::cases;
use fairlane_units::{Dur, Rate, Time};
use proptest::prelude::*;

fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_ms(n)
}

/// Routers in a ring with chords, a host at each, flows between hosts, and failures of the links between routers.
#[derive(Clone, Debug)]
struct Net {
    routers: u32,
    chords: u32,
    flows: u32,
    routing: Routing,
    reroute: Option<Dur>,
    /// Each failure: which link, whether both directions, when and how long in ms.
    outages: Vec<(u32, bool, u64, u64)>,
    rough: bool,
    seed: u64,
}

fn nets() -> impl Strategy<Value = Net> {
    let outages = prop::collection::vec((0_u32..20, any::<bool>(), 1_u64..600, 0_u64..200), 1..7);
    let routing = prop_oneof![Just(Routing::Ecmp), Just(Routing::EcmpPackets), Just(Routing::Single)];
    (3_u32..7, 0_u32..4, 1_u32..6, routing, prop::option::of(0_u64..60), outages, any::<bool>(), 0_u64..1000).prop_map(
        |(routers, chords, flows, routing, reroute, outages, rough, seed)| Net {
            routers,
            chords,
            flows,
            routing,
            reroute: reroute.map(Dur::from_ms),
            outages,
            rough,
            seed,
        },
    )
}

impl Network for Net {
    fn world<H: EventQueue>(&self) -> World<MinimalComponents, H> {
        let mut b = WorldBuilder::<MinimalComponents>::new(self.seed, self.routing);
        let mut rng = Stream::new(self.seed, "test", "outages", "graph");
        let n = self.routers;
        let r: Vec<NodeId> = (0..n).map(|i| b.node(format!("r{i}"))).collect();
        let h: Vec<NodeId> = (0..n).map(|i| b.node(format!("h{i}"))).collect();
        let late = JitterSpec(JitterParams {
            width: Dur::from_us(900),
            distribution: Distribution::Uniform,
            keep_order: false,
            ..JitterParams::default()
        });
        let link = |b: &mut WorldBuilder<MinimalComponents>, name: String, from, to, mbps, us, rough: bool| {
            let impairments = Impairments { jitter: (rough && us > 1000).then_some(late), ..Impairments::default() };
            let (rate, delay) = (Rate::from_mbps(mbps), Dur::from_us(us));
            let device = (rough && us % 2 == 0).then_some(fairlane_units::Len::Packets(2));
            b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc: Tail::new(20), schedule: None, impairments, device })
        };
        let mut pairs: Vec<(usize, usize)> = (0..n as usize).map(|i| (i, (i + 1) % n as usize)).collect();
        for _ in 0..self.chords {
            let (a, c) = (rng.below(u64::from(n)) as usize, rng.below(u64::from(n)) as usize);
            pairs.extend((a != c).then_some((a, c)));
        }
        let mut ports = Vec::new();
        for (k, &(a, c)) in pairs.iter().enumerate() {
            let (mbps, us) = (1 + rng.below(10), 10 + rng.below(9000));
            let there = link(&mut b, format!("l{k}"), r[a], r[c], mbps, us, self.rough);
            let back = link(&mut b, format!("l{k}.reverse"), r[c], r[a], mbps, us, self.rough);
            ports.push((there, back));
        }
        for i in 0..n as usize {
            link(&mut b, format!("h{i}"), h[i], r[i], 20, 50, false);
            link(&mut b, format!("h{i}.reverse"), r[i], h[i], 20, 50, false);
        }
        for &(k, both, at, long) in &self.outages {
            let (there, back) = ports[k as usize % ports.len()];
            let span = (ms(at), if long == 0 { Time::MAX } else { ms(at + long) });
            b.down(there, vec![span]);
            if both {
                b.down(back, vec![span]);
            }
        }
        if let Some(after) = self.reroute {
            b.reroute(after);
        }
        for i in 0..self.flows {
            let from = rng.below(u64::from(n)) as usize;
            let to = (from + 1 + rng.below(u64::from(n) - 1) as usize) % n as usize;
            let sender = Minimal::Sender { window: 1 + rng.below(40) as u32, flying: 0, next: 0, size: 700 + 100 * i as u16 };
            let name = format!("f{i}");
            let f = b.flow(FlowDef {
                name: name.into(),
                from: h[from],
                to: h[to],
                proto: Proto::Tcp,
                sender,
                receiver: Minimal::Receiver { got: 0 },
            });
            b.app(Once(f, ms(u64::from(i) * 7)), vec![f]);
        }
        b.build().unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    /// Packets and bytes, at every millisecond.
    #[test]
    fn nothing_is_lost_without_being_counted(net in nets()) {
        let mut world = net.world::<QuadHeap>();
        let mut ledger = Ledger::default();
        for t in 1..=700 {
            prop_assert!(world.advance(ms(t), u64::MAX, &mut ledger));
            world.settle(&mut ledger);
            let waiting: usize = world.ports().iter().map(|p| p.qdisc().backlog().pkts as usize + p.in_flight()).sum();
            prop_assert_eq!(waiting, world.packets_alive());
            prop_assert_eq!(ledger.alive().0, waiting as u64);
            let dropped: u64 = world.ports().iter().map(|p| p.counters().dropped_bytes).sum();
            prop_assert_eq!(dropped, ledger.dropped.1);
            let left: u64 = world.ports().iter().map(|p| p.qdisc().backlog().bytes).sum();
            prop_assert!(ledger.alive().1 >= left);
        }
        let by_port: u64 = world.ports().iter().flat_map(|p| p.counters().drops).sum();
        prop_assert_eq!(by_port, ledger.dropped.0);
        // A link carries no more than it can while it is up.
        for p in world.ports() {
            prop_assert!(p.carried(END) <= p.capacity(Time::ZERO, END) + 1e-3, "{} of {}", p.carried(END), p.capacity(Time::ZERO, END));
        }
    }

    #[test]
    fn watching_and_the_event_queue_change_nothing(net in nets()) {
        observer_and_event_queue_change_nothing(&net, &mut Ledger::default())?;
    }

    #[test]
    fn a_clone_has_the_same_future(net in nets(), pause in 1_u64..600) {
        clone_and_pauses_change_nothing(&net, ms(pause))?;
    }

    /// Failures that no packet meets change nothing: adaptive routes equal those of a world without failures.
    #[test]
    fn a_failure_after_the_end_changes_nothing(net in nets()) {
        let late = |at: Option<u64>| {
            let outages = at.map_or(Vec::new(), |at| net.outages.iter().map(|o| (o.0, o.1, at, o.3)).collect());
            let net = Net { outages, ..net.clone() };
            let mut w = net.world::<QuadHeap>();
            w.advance(END, u64::MAX, &mut ());
            w.settle(&mut ());
            (w.ports().iter().map(|p| p.counters().sent_pkts).collect::<Vec<_>>(), w.flows().iter().map(|f| f.delivered).collect::<Vec<_>>())
        };
        prop_assert_eq!(late(Some(5000)), late(None));
    }
}

/// A network of two hosts, whose link there and back carries 1 Mbit/s over 1 ms, and a flow that has twelve packets of 125 bytes in flight.
fn pair(down: impl FnOnce(&mut WorldBuilder<MinimalComponents>, PortId)) -> (World<MinimalComponents>, PortId) {
    let mut b = WorldBuilder::<MinimalComponents>::new(1, Routing::Ecmp);
    let (s, d) = (b.node("s"), b.node("d"));
    let ports = [("there", s, d), ("back", d, s)].map(|(name, from, to)| {
        let (rate, delay) = (Rate::from_mbps(1), Dur::from_ms(1));
        let impairments = Impairments::default();
        b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc: Tail::new(9), schedule: None, impairments, device: None })
    });
    down(&mut b, ports[0]);
    let sender = Minimal::Sender { window: 12, flying: 0, next: 0, size: 85 };
    let f = b.flow(FlowDef { name: "f".into(), from: s, to: d, proto: Proto::Tcp, sender, receiver: Minimal::Receiver { got: 0 } });
    b.app(Once(f, Time::ZERO), vec![f]);
    (b.build().unwrap(), ports[0])
}

/// Overlapping failures of one link count as one, whatever causes them; the link is up only when the last of them is over.
#[test]
fn failures_that_overlap_are_one() {
    let told = |calls: &[&[(u64, u64)]]| {
        let (mut w, port) = pair(|b, port| {
            for spans in calls {
                b.down(port, spans.iter().map(|&(from, to)| (ms(from), ms(to))).collect());
            }
        });
        w.advance(END, u64::MAX, &mut Ledger::default());
        let p = w.port(port);
        (w.fingerprint(), p.counters().clone(), p.capacity(Time::ZERO, END))
    };
    let one = told(&[&[(39, 225)]]);
    assert!((one.2 - 514_000.0).abs() < 1e-3, "bits in 514 ms: {}", one.2);
    for calls in [&[&[(43, 225), (39, 88)][..]][..], &[&[(39, 225), (43, 88)]], &[&[(39, 88)], &[(43, 225)]], &[&[(43, 225)], &[(39, 43)]]]
    {
        assert_eq!(told(calls), one, "{calls:?}");
    }
}

/// A link of 1 Mbit/s and 1 ms carries packets of 125 bytes, 1 ms each, all the time; it fails at 10.5 ms and is back at 20.5 ms.
#[test]
fn what_is_under_way_and_what_waits_have_reasons_of_their_own() {
    let span = (Time::from_ps(10_500_000_000), Time::from_ps(20_500_000_000));
    let (mut w, port) = pair(|b, port| b.down(port, vec![span]));
    w.advance(ms(20), u64::MAX, &mut ());
    let c = w.port(port).counters();
    // At 10.5 ms one packet is being sent and one is on the wire. 12 were in flight; of those answered none is replaced before the failure is over.
    assert_eq!((c.sent_pkts, c.drops[DropReason::Cut as usize]), (11, 2));
    assert_eq!(
        c.drops[DropReason::Down as usize]
            + c.drops[DropReason::Cut as usize]
            + w.flows()[0].counters.received_pkts()
            + c.drops[DropReason::Overflow as usize],
        w.flows()[0].counters.sent_pkts
    );
    assert!(c.drops[DropReason::Down as usize] >= 7, "what waited, and what came");
    assert_eq!((c.link_losses(), c.outage_losses()), (2, 2 + c.drops[DropReason::Down as usize]));
    // Bits: ten whole packets, and half of the one that was cut.
    let carried = w.port(port).carried(ms(20));
    assert!((carried - 10_500.0).abs() < 1e-6, "{carried}");
    let can = w.port(port).capacity(Time::ZERO, ms(20));
    assert!((can - 10_500.0).abs() < 1e-6, "{can}");
    // After the repair the sender's timer brings the flow back.
    w.advance(ms(3000), u64::MAX, &mut ());
    assert!(w.flows()[0].counters.received_pkts() > 1000);
}
