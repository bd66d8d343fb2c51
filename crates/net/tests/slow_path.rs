//! Laws of every network, on links with varying rates and late packets.

use crate::ledger::{END, Ledger, clone_and_pauses_change_nothing, observer_and_event_queue_change_nothing};
use crate::minimal::{Dumbbell, MinimalComponents};
use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_testkit::cases;
use fairlane_units::{DataFile, Dur, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn schedules() -> impl Strategy<Value = Option<Schedule>> {
    let trace = prop::collection::vec(1_u64..9, 1..40).prop_map(|gaps| {
        let times: Vec<u64> = gaps
            .iter()
            .scan(0, |t, g| {
                *t += g / 4;
                Some(*t)
            })
            .collect();
        Opportunities::new(times.into()).map(Schedule::Opportunities)
    });
    let steps = prop::collection::vec((0_u64..700, 0_u64..30), 1..8).prop_map(|mut s| {
        s.sort_unstable();
        let steps = s.into_iter().map(|(ms, mbps)| (Time::ZERO + Dur::from_ms(ms), Rate::from_mbps(mbps)));
        Some(Schedule::Steps(Steps::new(Rate::from_mbps(5), steps)))
    });
    prop_oneof![Just(None), trace, steps]
}

fn jitter(us: u64, normal: bool, keep_order: bool) -> JitterSpec {
    let distribution = if normal { Distribution::Normal } else { Distribution::Uniform };
    JitterSpec(JitterParams { width: Dur::from_us(us), distribution, keep_order, ..JitterParams::default() })
}

fn impairments() -> impl Strategy<Value = Impairments> {
    (0_u64..8000, any::<bool>(), any::<bool>(), 0_u64..9000, 0_u8..4).prop_map(|(us, normal, keep_order, later, which)| Impairments {
        loss: Some(LossSpec::Models(LossModels { every: Some(us % 50), ..LossModels::default() })),
        jitter: (which & 1 == 1).then_some(jitter(us, normal, keep_order)),
        reorder: (which & 2 == 2).then_some(ReorderSpec { share: 0.1, delay: Dur::from_us(later), ..ReorderSpec::default() }),
        ..Impairments::default()
    })
}

fn dumbbells() -> impl Strategy<Value = Dumbbell> {
    (1_u32..5, 1_u32..60, 0_u32..40, 0_u64..6000, schedules(), impairments(), 0_u64..1000, 0_u8..2).prop_map(
        |(flows, window, limit, us, schedule, impairments, seed, copies)| Dumbbell {
            flows,
            window,
            limit,
            access: (Rate::from_mbps(50), Dur::from_us(300)),
            bottleneck: (Rate::from_mbps(7), Dur::from_us(us)),
            loss: 0.02,
            duplicate: f64::from(copies) * 0.05,
            seed,
            rough: Some((schedule, impairments)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    #[test]
    fn packets_are_conserved(d in dumbbells()) {
        let mut world = d.build::<QuadHeap>();
        let mut ledger = Ledger::default();
        prop_assert!(world.advance(END, u64::MAX, &mut ledger));
        world.settle(&mut ledger);
        let copies: u64 = world.ports().iter().map(|p| p.counters().duplicates).sum();
        prop_assert_eq!(ledger.sent.0 + copies, ledger.received.0 + ledger.dropped.0 + world.packets_alive() as u64);
        let waiting: usize = world.ports().iter().map(|p| p.qdisc().backlog().pkts as usize + p.in_flight()).sum();
        prop_assert_eq!(waiting, world.packets_alive());
    }

    #[test]
    fn watching_and_the_event_queue_change_nothing(d in dumbbells()) {
        observer_and_event_queue_change_nothing(&d, &mut Ledger::default())?;
    }

    #[test]
    fn a_clone_has_the_same_future(d in dumbbells(), pause in 1_u64..600) {
        clone_and_pauses_change_nothing(&d, Time::from_ps(pause * 1_000_000_000))?;
    }
}

/// Sequence numbers of a flow as they cross the bottleneck in order of departure and of arrival.
#[derive(Default)]
struct Order {
    sent: BTreeMap<u32, u64>,
    next: u64,
    arrived: Vec<u64>,
}

impl Observer for Order {
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        if e.port == PortId(0) {
            self.sent.insert(e.pkt.id.0, self.next);
            self.next += 1;
        }
    }
    fn on_hop(&mut self, e: &HopEvent) {
        if e.port == PortId(0) {
            self.arrived.push(self.sent[&e.pkt.id.0]);
        }
    }
}

impl Order {
    /// RFC 4737 section 3.3: packets that come after one with a higher number.
    fn reordered(&self) -> usize {
        let mut next = 0;
        self.arrived
            .iter()
            .filter(|&&s| {
                let late = s < next;
                next = next.max(s + 1);
                late
            })
            .count()
    }
    /// RFC 4737 section 4.2.1: for a reordered packet at place i, i - j where j is the first place with a higher number.
    fn extents(&self) -> Vec<usize> {
        let a = &self.arrived;
        (0..a.len()).filter_map(|i| (0..i).find(|&j| a[j] > a[i]).map(|j| i - j)).collect()
    }
}

fn one_flow(impairments: Impairments, window: u32) -> (World<MinimalComponents, QuadHeap>, Order) {
    let mut w = bottleneck(impairments, window);
    let mut order = Order::default();
    w.advance(Time::ZERO + Dur::from_secs(20), u64::MAX, &mut order);
    (w, order)
}

fn bottleneck(impairments: Impairments, window: u32) -> World<MinimalComponents, QuadHeap> {
    let d = Dumbbell {
        flows: 1,
        window,
        limit: 1000,
        access: (Rate::from_mbps(100), Dur::from_us(100)),
        // 1040 bytes: exactly one a millisecond.
        bottleneck: (Rate::from_bps(8_320_000), Dur::from_ms(10)),
        loss: 0.0,
        duplicate: 0.0,
        seed: 4,
        rough: Some((None, impairments)),
    };
    d.build::<QuadHeap>()
}

fn profile(list: &[u64]) -> ProfileSpec {
    let file = DataFile::from(list.to_vec());
    ProfileSpec(ProfileParams { file, interpolation: None, repeat: false, overtaking: false, upload: false, rates: true, delays: true })
}

/// Packets a millisecond apart: one that is 4.5 ms late is overtaken by four. The share of late packets is the one asked for, their extent at most four.
#[test]
fn a_share_of_the_packets_comes_so_many_places_later() {
    let reorder = Some(ReorderSpec { share: 0.05, delay: Dur::from_us(4500), ..ReorderSpec::default() });
    let (w, order) = one_flow(Impairments { reorder, ..Impairments::default() }, 100);
    let n = order.arrived.len() as f64;
    let share = order.reordered() as f64 / n;
    // A packet whose four followers are all late itself is not passed: 0.05^4.
    assert!(n > 19_000.0 && (share - 0.05).abs() < 4.0 * (0.05 * 0.95 / n).sqrt(), "{share} of {n}");
    assert_eq!(w.port(PortId(0)).counters().reordered, order.reordered() as u64);
    let extents = order.extents();
    let full = extents.iter().filter(|&&e| e == 4).count() as f64 / extents.len() as f64;
    // The four that follow are before it unless late themselves, and so are those of the three ahead of it that are late. Exactly four:
    // as many of the one as of the other, 0.95^7 + 4 * 3 * 0.05^2 * 0.95^5 + ... = 0.722.
    assert!(extents.iter().all(|&e| e <= 7) && (full - 0.722).abs() < 0.06, "{full}");
}

/// An extra delay shorter than the gap of two packets reorders nothing.
#[test]
fn a_short_delay_reorders_nothing() {
    let reorder = Some(ReorderSpec { share: 0.5, delay: Dur::from_us(900), ..ReorderSpec::default() });
    let (w, order) = one_flow(Impairments { reorder, ..Impairments::default() }, 100);
    assert_eq!((order.reordered(), w.port(PortId(0)).counters().reordered), (0, 0));
}

/// Jitter of 5 ms either way over packets 1 ms apart reorders most of them, unless it keeps the order.
#[test]
fn jitter_reorders_unless_it_keeps_the_order() {
    let jitter = |keep_order| Impairments { jitter: Some(jitter(5000, false, keep_order)), ..Impairments::default() };
    let (loose, order) = one_flow(jitter(false), 100);
    let c = loose.port(PortId(0)).counters();
    assert_eq!(c.reordered, order.reordered() as u64);
    assert!(c.reordered * 2 > c.sent_pkts, "{} of {}", c.reordered, c.sent_pkts);
    let (kept, order) = one_flow(jitter(true), 100);
    assert_eq!((kept.port(PortId(0)).counters().reordered, order.reordered()), (0, 0));
    assert!(kept.flows()[0].counters.jitter_sum > 0);
}

/// Slots, jitter and profiles that keep the order do so together: packets a millisecond apart, a delay that falls by 40 ms, and arrivals at the very
/// instant at which earlier packets are due.
#[test]
fn delays_that_keep_the_order_keep_it_together() {
    const MS: u64 = 1_000_000_000;
    let falls = Some(profile(&[2, 0, 50 * MS, 1000 * MS, 10 * MS]));
    let slot = Some(SlotSpec { min: Dur::from_ms(4), ..SlotSpec::default() });
    for (profile, jitter, slot) in [
        (falls.clone(), None, None),
        (None, None, slot),
        (falls.clone(), Some(jitter(3000, true, true)), None),
        (falls, Some(jitter(3000, true, true)), slot),
    ] {
        let what = Impairments { profile, jitter, slot, ..Impairments::default() };
        let (w, order) = one_flow(what.clone(), 100);
        assert!(order.arrived.len() > 10_000);
        assert_eq!((order.reordered(), w.port(PortId(0)).counters().reordered), (0, 0), "{what:?}");
    }
}

/// A profile says when packets are lost by the ends of their transmissions, also after the delay of the link has changed: none before 1 s, all later.
#[test]
fn losses_follow_the_profile_after_a_change_of_the_delay() {
    let profile = Some(profile(&[4, 0, 0, 1_000_000_000_000, 1_000_000_000]));
    let mut w = bottleneck(Impairments { profile, ..Impairments::default() }, 100);
    w.set_delay(PortId(0), Dur::from_ms(500), &mut ());
    let mut order = Order::default();
    w.advance(Time::ZERO + Dur::from_ms(990), u64::MAX, &mut order);
    let sent = order.next as usize;
    w.advance(Time::ZERO + Dur::from_secs(2), u64::MAX, &mut order);
    assert!(sent > 50 && order.arrived.len().abs_diff(sent) <= 12, "{} of {sent}", order.arrived.len());
}

/// Other links keep their order.
#[test]
fn order_within_a_link_without_late_packets_stays() {
    let (w, _) = one_flow(
        Impairments {
            reorder: Some(ReorderSpec { share: 0.1, delay: Dur::from_ms(5), ..ReorderSpec::default() }),
            ..Impairments::default()
        },
        100,
    );
    assert!(w.ports()[2..].iter().all(|p| p.counters().reordered == 0));
}

/// A trace with an opportunity per millisecond sends 1500 bytes per millisecond: 12 Mbit/s.
#[test]
fn one_opportunity_a_millisecond_is_twelve_megabits() {
    let d = |schedule| Dumbbell {
        flows: 1,
        window: 60,
        limit: 1000,
        access: (Rate::from_mbps(100), Dur::from_us(100)),
        bottleneck: (Rate::from_mbps(12), Dur::from_ms(10)),
        loss: 0.0,
        duplicate: 0.0,
        seed: 4,
        rough: Some((schedule, Impairments::default())),
    };
    let carried = |schedule| {
        let mut w = d(schedule).build::<QuadHeap>();
        w.advance(Time::ZERO + Dur::from_secs(10), u64::MAX, &mut ());
        let p = w.port(PortId(0));
        (p.counters().sent_bytes as f64 * 8.0, p.capacity(Time::ZERO, w.now()))
    };
    let (traced, capacity) = carried(Some(Schedule::Opportunities(Opportunities::new([1].into()).unwrap())));
    let (constant, same) = carried(None);
    assert_eq!((capacity, same), (120e6, 120e6));
    // 1040-byte packets share opportunities, so nothing of them is lost while the queue is not empty.
    assert!((traced / constant - 1.0).abs() < 0.002, "{traced} {constant}");
}

/// Times at which transmissions over the first link begin, and at which their packets have crossed it.
#[derive(Default)]
struct Crossings {
    begun: Vec<Time>,
    over: Vec<Time>,
}

impl Observer for Crossings {
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        if e.port == PortId(0) {
            self.begun.push(e.time);
        }
    }
    fn on_hop(&mut self, e: &HopEvent) {
        if e.port == PortId(0) {
            self.over.push(e.time);
        }
    }
}

/// The rate changes during each transmission. Every packet arrives once, a propagation delay after its last bit, whatever stale events it had.
#[test]
fn a_packet_in_transmission_keeps_what_was_sent_of_it() {
    let piece = Dur::from_us(700);
    let rates = [Rate::from_bps(4_160_000), Rate::from_bps(16_640_000), Rate::from_bps(2_080_000)];
    let run = |window, obs: &mut Crossings, watched: bool| {
        let mut w = Dumbbell {
            flows: 1,
            window,
            limit: 1000,
            access: (Rate::from_mbps(100), Dur::from_us(100)),
            bottleneck: (rates[0], Dur::from_ms(10)),
            loss: 0.0,
            duplicate: 0.0,
            seed: 4,
            rough: None,
        }
        .build::<QuadHeap>();
        for k in 0..3000_u64 {
            let now = Time::ZERO + Dur::from_ps(k * piece.as_ps());
            if watched {
                w.advance(now, u64::MAX, obs);
                w.set_rate(PortId(0), rates[k as usize % 3], obs);
            } else {
                w.advance(now, u64::MAX, &mut ());
                w.set_rate(PortId(0), rates[k as usize % 3], &mut ());
            }
        }
        (w.fingerprint(), w.flows()[0].counters.received_bytes)
    };
    for window in [1, 2, 30] {
        let mut seen = Crossings::default();
        let got = run(window, &mut seen, true);
        assert_eq!(run(window, &mut Crossings::default(), false), got, "window {window}");
        assert!(seen.over.len() > 50, "{} packets", seen.over.len());
        for (&begun, &over) in seen.begun.iter().zip(&seen.over) {
            let (mut bits, mut now) = (8.0 * 1040.0, begun.as_ps() as f64);
            let piece = piece.as_ps() as f64;
            let end = loop {
                let k = (now / piece).floor();
                let rate = rates[k as usize % 3].as_bps() as f64 / 1e12;
                let until = (k + 1.0) * piece;
                if bits <= (until - now) * rate {
                    break now + bits / rate;
                }
                (bits, now) = (bits - (until - now) * rate, until);
            };
            let want = end + 1e10;
            assert!((over.as_ps() as f64 - want).abs() < 10.0, "window {window}: begun at {begun:?}, over at {over:?}, not {want}");
        }
    }
}
