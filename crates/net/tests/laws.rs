//! Laws of every network: packets are conserved, none is faster than its links, and observers change nothing.

use crate::ledger::{END, clone_and_pauses_change_nothing, observer_and_event_queue_change_nothing};
use crate::minimal::{Dumbbell, MinimalComponents};
use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_testkit::cases;
use fairlane_units::{Dur, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn dumbbells() -> impl Strategy<Value = Dumbbell> {
    (1_u32..6, 1_u32..60, 0_u32..40, 1_u64..200, 0_u64..3000, 1_u64..40, 0_u64..3000, 0_u8..4, 0_u64..1000).prop_map(
        |(flows, window, limit, access, access_us, neck, neck_us, hurt, seed)| Dumbbell {
            flows,
            window,
            limit,
            access: (Rate::from_mbps(access), Dur::from_us(access_us)),
            bottleneck: (Rate::from_bps(neck * 777_777), Dur::from_us(neck_us)),
            loss: if hurt & 1 == 1 { 0.05 } else { 0.0 },
            duplicate: if hurt & 2 == 2 { 0.05 } else { 0.0 },
            seed,
            rough: None,
        },
    )
}

/// Follows every packet by the events alone.
#[derive(Default)]
struct Ledger {
    /// Waiting packets and bytes by port.
    waiting: BTreeMap<u32, (i64, i64)>,
    /// Departures in order, by port: handle, start, length.
    on_link: BTreeMap<u32, Vec<(u32, Time, u32)>>,
    sent: u64,
    received: u64,
    dropped: u64,
    last: Time,
    /// Rate and delay of each port.
    links: Vec<LinkInfo>,
}

impl Observer for Ledger {
    fn on_send(&mut self, e: &SendEvent) {
        self.sent += 1;
        self.tick(e.time);
    }
    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        self.tick(e.time);
        let w = self.waiting.entry(e.port.0).or_default();
        w.0 += 1;
        w.1 += i64::from(e.pkt.len);
    }
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        self.tick(e.time);
        let w = self.waiting.entry(e.port.0).or_default();
        w.0 -= 1;
        w.1 -= i64::from(e.pkt.len);
        assert_eq!(*w, (i64::from(e.backlog.pkts), e.backlog.bytes as i64), "arrivals - departures = backlog");
        let flight = self.on_link.entry(e.port.0).or_default();
        if let Some(&(_, start, len)) = flight.last() {
            assert!(e.time >= start + self.links[e.port.0 as usize].rate.tx_time(u64::from(len)), "two packets on the wire at once");
        }
        flight.push((e.pkt.id.0, e.time, e.pkt.len));
    }
    fn on_drop(&mut self, e: &DropEvent) {
        self.dropped += 1;
        self.tick(e.time);
        if e.why == DropReason::Link {
            self.arrive(e.port, &e.pkt, e.time);
        }
    }
    fn on_hop(&mut self, e: &HopEvent) {
        self.tick(e.time);
        let known = self.on_link[&e.port.0].first().is_some_and(|f| f.0 == e.pkt.id.0);
        // A copy made by the duplication impairment was not sent over this link; it must have been asked for.
        if known {
            self.arrive(e.port, &e.pkt, e.time);
        } else {
            self.sent += 1;
        }
    }
    fn on_receive(&mut self, e: &ReceiveEvent) {
        self.received += 1;
        self.tick(e.time);
        assert!(e.seg.sent < e.time);
    }
}

impl Ledger {
    fn tick(&mut self, now: Time) {
        assert!(now >= self.last, "observers see events in the order of time");
        self.last = now;
    }
    fn arrive(&mut self, port: PortId, pkt: &Packet, now: Time) {
        let link = self.links[port.0 as usize];
        let (id, start, len) = self.on_link.get_mut(&port.0).unwrap().remove(0);
        assert_eq!((id, len), (pkt.id.0, pkt.len), "a link keeps the order");
        assert_eq!(now, start + link.rate.tx_time(u64::from(len)) + link.delay, "transmission plus propagation, to the picosecond");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn packets_are_conserved_and_never_early(d in dumbbells()) {
        let mut world = d.build::<QuadHeap>();
        let mut ledger = Ledger { links: world.ports().iter().map(Port::link).collect(), ..Ledger::default() };
        prop_assert!(world.advance(END, u64::MAX, &mut ledger));
        world.settle(&mut ledger);
        prop_assert_eq!(ledger.sent, ledger.received + ledger.dropped + world.packets_alive() as u64);
        let waiting: usize = world.ports().iter().map(|p| p.qdisc().backlog().pkts as usize + p.in_flight()).sum();
        prop_assert_eq!(waiting, world.packets_alive());
        let drops: u64 = world.ports().iter().flat_map(|p| p.counters().drops).sum();
        prop_assert_eq!(drops, ledger.dropped);
    }

    #[test]
    fn watching_and_the_event_queue_change_nothing(d in dumbbells()) {
        let links = d.build::<QuadHeap>().ports().iter().map(Port::link).collect();
        observer_and_event_queue_change_nothing(&d, &mut Ledger { links, ..Ledger::default() })?;
    }

    #[test]
    fn a_clone_has_the_same_future_and_pauses_do_not_matter(d in dumbbells(), pause in 1_u64..600) {
        clone_and_pauses_change_nothing(&d, Time::from_ps(pause * 1_000_000_000))?;
    }
}

/// Time at each queue length adds up to the span, and Little's law holds: mean length = arrival rate x mean wait.
#[test]
fn occupancy_obeys_littles_law() {
    let d = Dumbbell {
        flows: 4,
        window: 30,
        limit: 80,
        access: (Rate::from_mbps(100), Dur::from_ms(1)),
        bottleneck: (Rate::from_mbps(10), Dur::from_ms(5)),
        loss: 0.0,
        duplicate: 0.0,
        seed: 3,
        rough: None,
    };
    let mut w = d.build::<QuadHeap>();
    w.advance(Time::from_ps(20_000_000_000_000), u64::MAX, &mut ());
    w.settle(&mut ());
    let c = w.port(PortId(0)).counters();
    let o = c.occupancy().close(Time::ZERO, w.now());
    let total: u64 = o.levels.iter().sum();
    assert_eq!(total, w.now().as_ps());
    let area: f64 = o.levels.iter().enumerate().map(|(n, &t)| n as f64 * t as f64).sum();
    let waited = c.waits().mean() * c.waits().n as f64;
    assert!(o.levels.len() > 50, "the queue was used");
    // Queued packets are counted in the area, but not in the waits.
    let open = area - waited;
    assert!((0.0..=81.0 * c.waits().max as f64).contains(&open) && open < 0.01 * area, "{area} {waited}");
    assert!(o.levels.iter().skip(81).all(|&t| t == 0), "the limit is kept");
}

/// An uncongested hop and a congested one cost one event each, application and timer events apart.
#[test]
fn a_hop_costs_one_event() {
    let d = Dumbbell {
        flows: 8,
        window: 100,
        limit: 10_000,
        access: (Rate::from_mbps(1000), Dur::from_us(100)),
        bottleneck: (Rate::from_mbps(10), Dur::from_us(10)),
        loss: 0.0,
        duplicate: 0.0,
        seed: 3,
        rough: None,
    };
    let mut w = d.build::<QuadHeap>();
    w.advance(Time::from_ps(2_000_000_000_000), u64::MAX, &mut ());
    let extra = w.events() - (w.packet_hops() - w.ports().iter().map(|p| p.in_flight() as u64).sum::<u64>());
    assert!(w.packet_hops() > 10_000 && extra < 100, "{extra} more events than {} hops", w.packet_hops());
}

/// Two senders whose packets always meet at a queue with one place: over time each gets its share, whatever the order of the links.
#[test]
fn simultaneous_arrivals_take_turns() {
    let mut b = WorldBuilder::<MinimalComponents>::new(1, Routing::Single);
    let (r, d) = (b.node("r"), b.node("d"));
    let link = |b: &mut WorldBuilder<MinimalComponents>, name: &str, from, to, limit| {
        let (rate, delay, qdisc) = (Rate::from_mbps(8), Dur::from_ms(1), crate::minimal::Tail::new(limit));
        b.link(LinkDef {
            name: name.into(),
            from,
            to,
            rate,
            delay,
            qdisc,
            schedule: None,
            impairments: Impairments::default(),
            device: None,
        })
    };
    link(&mut b, "down", r, d, 1);
    link(&mut b, "up", d, r, 100);
    for i in 0..2 {
        let s = b.node(format!("s{i}"));
        link(&mut b, &format!("s{i}"), s, r, 100_000);
        link(&mut b, &format!("s{i}.back"), r, s, 100);
        // More than the simulated time can use up: both access links send without a gap, in lock-step, 1 ms a packet.
        let sender = crate::minimal::Minimal::Sender { window: 5000, flying: 0, next: 0, size: 960 };
        let f = b.flow(FlowDef {
            name: format!("f{i}").into(),
            from: s,
            to: d,
            proto: Proto::Tcp,
            sender,
            receiver: crate::minimal::Minimal::Receiver { got: 0 },
        });
        b.app(crate::minimal::Once(f, Time::ZERO), vec![f]);
    }
    let mut world = b.build::<QuadHeap>().unwrap();
    world.advance(Time::ZERO + Dur::from_ms(4000), u64::MAX, &mut ());
    let got: Vec<u64> = world.flows().iter().map(|f| f.counters.received_pkts()).collect();
    assert!(got[0] + got[1] > 3900, "{got:?}");
    assert!(got[0].abs_diff(got[1]) < 250, "{got:?}: four deviations of a fair coin");
}
