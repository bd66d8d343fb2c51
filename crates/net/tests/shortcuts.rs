//! Shortcuts change no result: two hops by one event, and ring queues.

use crate::minimal::{Minimal, MinimalComponents, Once, Tail};
use fairlane_engine::{EventQueue, QuadHeap, Sorted, Tournament, Wheel};
use fairlane_net::*;
use fairlane_testkit::cases;
use fairlane_units::{Dur, Rate, Time};
use proptest::prelude::*;

/// A dumbbell whose pairs send both ways, so that short acknowledgements and long data go to the same node.
#[derive(Clone, Debug)]
struct Net {
    /// Window and payload of both senders of each pair.
    pairs: Vec<[(u32, u16); 2]>,
    neck_kbps: u64,
    neck_us: u64,
    limit: u32,
    /// Rate of the links behind the bottleneck, as a multiple of its rate.
    faster: u64,
    end_us: u64,
    /// True if the first of those is slower, if another is longer, and if a flow begins in front of the bottleneck.
    odd: (bool, bool, bool),
    seed: u64,
}

const PORTS: u32 = 2;

fn nets() -> impl Strategy<Value = Net> {
    let sender = || (1_u32..40, 1_u16..1460);
    let sender = move || prop_oneof![Just((0_u32, 1_u16)), sender(), sender()];
    let pairs = prop::collection::vec((sender(), sender()).prop_map(|(a, b)| [a, b]), 1..5);
    // Packets wait on the ring where a byte takes a whole number of picoseconds.
    let whole = prop::sample::select(vec![1000_u64, 2000, 4000, 5000, 8000, 10_000, 20_000, 32_000, 40_000]);
    let neck_kbps = prop_oneof![500_u64..40_000, whole.clone(), whole];
    (pairs, neck_kbps, 0_u64..4000, 1_u32..40, 1_u64..12, 0_u64..6000, (0_u8..8, 0_u8..8, 0_u8..8), 0_u64..1000).prop_map(
        |(pairs, neck_kbps, neck_us, limit, faster, end_us, odd, seed)| Net {
            pairs,
            neck_kbps,
            neck_us,
            limit,
            faster,
            end_us,
            odd: (odd.0 == 0, odd.1 == 0, odd.2 == 0),
            seed,
        },
    )
}

impl Net {
    fn build<H: EventQueue>(&self, shortcuts: bool) -> World<MinimalComponents, H> {
        self.begin(shortcuts).build().unwrap()
    }

    fn begin(&self, shortcuts: bool) -> WorldBuilder<MinimalComponents> {
        let mut b = WorldBuilder::<MinimalComponents>::new(self.seed, Routing::Ecmp);
        if !shortcuts {
            b.without_shortcuts();
        }
        let (r1, r2) = (b.node("r1"), b.node("r2"));
        let link = |b: &mut WorldBuilder<MinimalComponents>, name: String, (from, to), kbps: u64, us, limit| {
            let (rate, delay, qdisc) = (Rate::from_bps(kbps * 1000), Dur::from_us(us), Tail::new(limit));
            let impairments = Impairments::default();
            b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc, schedule: None, impairments, device: None });
        };
        link(&mut b, "fwd".into(), (r1, r2), self.neck_kbps, self.neck_us, self.limit);
        link(&mut b, "rev".into(), (r2, r1), self.neck_kbps, self.neck_us, self.limit);
        for (i, pair) in self.pairs.iter().enumerate() {
            let (s, d) = (b.node(format!("s{i}")), b.node(format!("d{i}")));
            let slow = if self.odd.0 && i == 0 { self.neck_kbps / 2 } else { self.neck_kbps * self.faster };
            let us = self.end_us + if self.odd.1 && i == 1 { 100 } else { 0 };
            for (name, ends) in [("su", (s, r1)), ("sd", (r1, s)), ("du", (d, r2)), ("dd", (r2, d))] {
                link(&mut b, format!("{name}{i}"), ends, slow, us, 1000);
            }
            for (k, ((window, size), (from, to))) in pair.iter().zip([(s, d), (d, s)]).enumerate() {
                let sender = Minimal::Sender { window: *window, flying: 0, next: 0, size: *size };
                let name = format!("f{i}.{k}");
                let f = b.flow(FlowDef { name: name.into(), from, to, proto: Proto::Tcp, sender, receiver: Minimal::Receiver { got: 0 } });
                b.app(Once(f, Time::ZERO + Dur::from_ms(3 * i as u64 + k as u64)), vec![f]);
            }
            if self.odd.2 && i == 0 {
                let sender = Minimal::Sender { window: 5, flying: 0, next: 0, size: 700 };
                let f = b.flow(FlowDef {
                    name: "near".into(),
                    from: r1,
                    to: d,
                    proto: Proto::Tcp,
                    sender,
                    receiver: Minimal::Receiver { got: 0 },
                });
                b.app(Once(f, Time::ZERO), vec![f]);
            }
        }
        b
    }
}

const END: Dur = Dur::from_ms(150);

type Seen = (Time, u64, u64, usize, Vec<(PortCounters, usize, Backlog, f64)>, Vec<FlowCounters>);

/// Observable state of a world.
fn seen<H: EventQueue>(w: &World<MinimalComponents, H>) -> Seen {
    let port = |p: &Port<Tail>| (p.counters().clone(), p.in_flight(), p.qdisc().backlog(), p.carried(w.now()));
    let ports: Vec<_> = w.ports().iter().map(port).collect();
    let flows: Vec<_> = w.flows().iter().map(|f| f.counters.clone()).collect();
    (w.now(), w.fingerprint(), w.packet_hops(), w.packets_alive(), ports, flows)
}

/// State of all ports, sampled at this interval in microseconds.
fn sampling(step: u64) -> Sampling {
    fn all<S>(of: fn(&S) -> f64) -> impl Fn(&[S], &mut Vec<f64>) {
        move |rows, out| out.extend(rows.iter().map(of))
    }
    let flows: Vec<Column<FlowSample>> = vec![("arrived", |r, out| all(|f: &FlowSample| f.arrived as f64)(r, out))];
    let ports: Vec<Column<PortSample>> = vec![
        ("time", |r, out| all(|p: &PortSample| p.time)(r, out)),
        ("pkts", |r, out| all(|p: &PortSample| f64::from(p.backlog.pkts))(r, out)),
        ("bytes", |r, out| all(|p: &PortSample| p.backlog.bytes as f64)(r, out)),
        ("carried", |r, out| all(|p: &PortSample| p.carried)(r, out)),
        ("drops", |r, out| all(|p: &PortSample| p.drops as f64)(r, out)),
    ];
    Sampling { step: Dur::from_us(step), flows, ports }
}

/// Final state of a run with sampled ports, bytes that arrived, and the series of the ports.
fn sampled(n: &Net, shortcuts: bool, which: &[bool], step: u64) -> (Seen, Vec<f64>, [Vec<f64>; 4]) {
    let mut b = n.begin(shortcuts);
    let watched = (0..2 + 4 * n.pairs.len()).filter(|&i| which[i]).map(|i| PortId(i as u32)).collect();
    b.sample(sampling(step), watched);
    let mut w = b.build::<QuadHeap>().unwrap();
    w.advance(Time::ZERO + END, u64::MAX, &mut ());
    w.settle(&mut ());
    let sampler = w.take_sampler().unwrap();
    let links = ["pkts", "bytes", "carried", "drops"].map(|name| sampler.links.kept.column(name).unwrap());
    (seen(&w), sampler.flows.kept.column("arrived").unwrap(), links)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    /// A run equals the run without shortcuts at its end.
    #[test]
    fn shortcuts_change_no_state(n in nets()) {
        fn run<H: EventQueue>(n: &Net, shortcuts: bool) -> World<MinimalComponents, H> {
            let mut w = n.build::<H>(shortcuts);
            w.advance(Time::ZERO + END, u64::MAX, &mut ());
            w.settle(&mut ());
            w
        }
        let want = run::<QuadHeap>(&n, false);
        let got = run::<QuadHeap>(&n, true);
        prop_assert_eq!(seen(&got), seen(&want));
        prop_assert_eq!(seen(&run::<Sorted>(&n, true)), seen(&want));
        prop_assert_eq!(seen(&run::<Tournament>(&n, true)), seen(&want));
        prop_assert_eq!(seen(&run::<Wheel>(&n, true)), seen(&want));
    }

    /// A run equals the run without shortcuts at any time, with a warm-up, a temporary observer, and links that become slower.
    #[test]
    fn shortcuts_survive_changes(n in nets(), steps in prop::collection::vec((0_u8..8, 1_u64..9000), 1..40)) {
        let mut worlds = [n.build::<QuadHeap>(false), n.build::<QuadHeap>(true)];
        for (what, much) in steps {
            for w in &mut worlds {
                let until = w.now() + Dur::from_us(much);
                match what {
                    0 => w.reset_counters(&mut ()),
                    1 => { w.advance(until, u64::MAX, &mut Watcher); }
                    2 => w.set_delay(PortId((much % 11) as u32 % PORTS), Dur::from_us(much), &mut ()),
                    3 if much % 5 == 0 => w.set_rate(PortId((much % w.ports().len() as u64) as u32), Rate::from_bps(much * 1000), &mut ()),
                    4 => *w = w.clone(),
                    _ => { w.advance(until, u64::MAX, &mut ()); }
                }
                w.settle(&mut ());
            }
            let [plain, short] = &worlds;
            prop_assert_eq!(seen(short), seen(plain), "after {}", what);
        }
    }

    /// An observer of some ports receives equal reports, in the same order.
    #[test]
    fn reports_of_some_ports_are_equal(n in nets(), kinds in prop::collection::vec(0_u8..12, 22), prompt in any::<bool>(), stops in 1_u64..5000) {
        let [plain, short] = [false, true].map(|shortcuts| {
            let mut w = n.build::<QuadHeap>(shortcuts);
            let mut told = Told { kinds: kinds.clone(), prompt, told: Vec::new() };
            if shortcuts {
                w.watch_some(&told);
            }
            while !w.advance(Time::ZERO + END, stops, &mut told) {}
            w.settle(&mut told);
            if !prompt {
                // In order among themselves only.
                told.told.sort_by_key(|t| (t.1, t.0));
            }
            (seen(&w), told.told)
        });
        prop_assert_eq!(short, plain);
    }

    /// Series of some ports and of all flows are equal.
    #[test]
    fn series_are_the_same(n in nets(), which in prop::collection::vec(any::<bool>(), 22), step in 1_u64..3000) {
        let [plain, short] = [false, true].map(|shortcuts| sampled(&n, shortcuts, &which, step));
        prop_assert_eq!(short, plain);
    }

    /// A sample equals the state and counters of a world that stops at that time. Counters are reset in between.
    #[test]
    fn series_are_what_ports_say(n in nets(), shortcuts in any::<bool>(), step in 20_u64..5000, reset in 0_u64..150_000) {
        let reset = Time::ZERO + Dur::from_us(reset);
        let mut b = n.begin(shortcuts);
        b.sample(sampling(step), (0..2 + 4 * n.pairs.len() as u32).map(PortId).collect());
        let mut w = b.build::<QuadHeap>().unwrap();
        w.advance(reset, u64::MAX, &mut ());
        w.reset_counters(&mut ());
        w.advance(Time::ZERO + END, u64::MAX, &mut ());
        let sampler = w.take_sampler().unwrap();
        let mut other = n.build::<QuadHeap>(false);
        let count = |p: &Port<Tail>, now| (p.carried(now), p.counters().drops.iter().sum::<u64>() as f64);
        let mut before = vec![(0.0, 0.0); other.ports().len()];
        let mut want = ["pkts", "bytes", "carried", "drops"].map(|name| (name, Vec::new()));
        let (mut at, mut began_anew) = (Time::ZERO, false);
        while at <= Time::ZERO + END {
            if at > reset && !began_anew {
                other.advance(reset, u64::MAX, &mut ());
                other.settle(&mut ());
                for (b, p) in before.iter_mut().zip(other.ports()) {
                    let now = count(p, reset);
                    *b = (b.0 - now.0, b.1 - now.1);
                }
                other.reset_counters(&mut ());
                began_anew = true;
            }
            other.advance(at, u64::MAX, &mut ());
            other.settle(&mut ());
            for (b, p) in before.iter_mut().zip(other.ports()) {
                let (now, Backlog { pkts, bytes }) = (count(p, at), p.qdisc().backlog());
                // The end of a transmission is rounded to a picosecond, so `carried` may fall a little.
                let now = (now.0.max(b.0), now.1);
                let values = [f64::from(pkts), bytes as f64, now.0 - b.0, now.1 - b.1];
                want.iter_mut().zip(values).for_each(|((_, column), value)| column.push(value));
                *b = now;
            }
            at += Dur::from_us(step);
        }
        for (name, column) in want {
            prop_assert_eq!(&sampler.links.kept.column(name).unwrap(), &column, "{}", name);
        }
        let times = sampler.links.kept.column("time").unwrap();
        let instants = times.chunks_exact(other.ports().len()).enumerate();
        prop_assert!(instants.into_iter().all(|(i, t)| t.iter().all(|t| *t == (Time::ZERO + Dur::from_us(step) * i as u64).as_secs_f64())));
    }

    /// A run that stops after any number of events continues unchanged.
    #[test]
    fn stops_do_not_matter(n in nets(), budget in 1_u64..200) {
        let mut plain = n.build::<QuadHeap>(false);
        plain.advance(Time::ZERO + END, u64::MAX, &mut ());
        let mut short = n.build::<QuadHeap>(true);
        while !short.advance(Time::ZERO + END, budget, &mut ()) {}
        plain.settle(&mut ());
        short.settle(&mut ());
        prop_assert_eq!(seen(&short), seen(&plain));
    }
}

struct Watcher;
impl Observer for Watcher {}

/// Observes some ports: all events, departures and drops only, or hops only.
struct Told {
    /// Interest in each port: 0 for all events, 1 for departures and drops, 2 for the far end of the link, else none.
    kinds: Vec<u8>,
    prompt: bool,
    told: Vec<Tale>,
}

/// Kind, port, time, flow, segment, backlog.
type Tale = (&'static str, u32, Time, FlowId, Option<Segment>, Backlog);

impl Observer for Told {
    fn port_interest(&self, port: PortId) -> Interest {
        match self.kinds[port.0 as usize] {
            0 => Interest::PORT | Interest::ENQUEUE | Interest::HOP | Interest::PROMPT.when(self.prompt),
            1 => Interest::PORT | Interest::PROMPT.when(self.prompt),
            2 => Interest::HOP,
            _ => Interest::NONE,
        }
    }
    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        self.told.push(("enqueue", e.port.0, e.time, e.pkt.flow, None, e.backlog));
    }
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        self.told.push(("dequeue", e.port.0, e.time, e.pkt.flow, Some(e.seg), e.backlog));
    }
    fn on_drop(&mut self, e: &DropEvent) {
        self.told.push(("drop", e.port.0, e.time, e.pkt.flow, Some(e.seg), e.backlog));
    }
    fn on_hop(&mut self, e: &HopEvent) {
        self.told.push(("hop", e.port.0, e.time, e.pkt.flow, Some(e.seg), Backlog::default()));
    }
}

/// A link becomes shorter, and then slower during a transmission. That packet and those behind it arrive with the last packet of the longer delay, not
/// earlier and not out of order.
#[test]
fn shorter_and_then_slower() {
    let n = Net {
        pairs: vec![[(12, 1264), (0, 1)], [(26, 136), (0, 1)]],
        neck_kbps: 20_000,
        neck_us: 1333,
        limit: 34,
        faster: 2,
        end_us: 0,
        odd: (false, true, true),
        seed: 0,
    };
    for shortcuts in [false, true] {
        let mut w = n.build::<QuadHeap>(shortcuts);
        let mut told = Told { kinds: vec![0; 22], prompt: true, told: Vec::new() };
        let at = |us| Time::ZERO + Dur::from_us(us);
        w.advance(at(600), u64::MAX, &mut told);
        w.set_delay(PortId(1), Dur::from_us(7118), &mut ());
        w.advance(at(7848), u64::MAX, &mut told);
        w.set_delay(PortId(0), Dur::from_us(6), &mut ());
        w.advance(at(8007), u64::MAX, &mut told);
        w.set_rate(PortId(0), Rate::from_bps(3_320_000), &mut ());
        w.advance(at(20_000), u64::MAX, &mut told);
        assert!(told.told.is_sorted_by_key(|t| t.2), "observers see events in the order of time");
        let hops: Vec<_> = told.told.iter().filter(|t| (t.0, t.1) == ("hop", 0)).map(|t| t.2).collect();
        // Packets sent at 20 Mbit/s arrive up to 9.213 ms, with the three behind them; the next ends 424 us later (176 bytes at 3.32 Mbit/s).
        let last = at(9213);
        assert_eq!(hops.iter().filter(|&&t| t == last).count(), 5, "{hops:?}");
        assert!(hops.iter().any(|&t| t > last));
    }
}

/// Bottleneck with ten times as fast links behind it.
fn slow_neck() -> Net {
    Net {
        pairs: vec![[(50, 1000), (0, 1)]; 4],
        neck_kbps: 10_000,
        neck_us: 5000,
        limit: 1000,
        faster: 10,
        end_us: 1000,
        odd: (false, false, false),
        seed: 1,
    }
}

/// Behind a much slower bottleneck nearly every packet takes the shortcut: two events for three links. Sampled ports have none.
#[test]
fn two_hops_cost_one_event() {
    let n = slow_neck();
    let end = Time::ZERO + Dur::from_ms(4000);
    let run = |shortcuts| {
        let mut w = n.build::<QuadHeap>(shortcuts);
        let mut steps = 0;
        while !w.advance(end, 1, &mut ()) {
            steps += 1;
        }
        steps
    };
    // A stop after each event would end the shortcuts, so the budget is used in one call.
    let plain = run(false);
    for sampled in [false, true] {
        let mut b = n.begin(true);
        if sampled {
            b.sample(sampling(100_000), (0..18).map(PortId).collect());
        }
        let mut w = b.build::<QuadHeap>().unwrap();
        assert_eq!(w.advance(end, plain * 7 / 10, &mut ()), !sampled, "of {plain} events a third is spared");
        assert!(sampled || w.packet_hops() > plain - 200);
    }
}

/// Samples during transmissions at downstream ports; while short packets overtake long ones to another node; and with far ends, so that packets are in
/// flight for many samples.
#[test]
fn samples_fall_between_packets() {
    let far = Net { end_us: 20_000, ..slow_neck() };
    let mixed = Net { pairs: vec![[(9, 1459), (0, 1)], [(30, 1), (4, 700)], [(3, 300), (0, 1)]], faster: 1, neck_us: 1500, ..slow_neck() };
    for n in [slow_neck(), far, mixed.clone(), Net { faster: 3, ..mixed }] {
        for step in [7, 100, 333, 1000, 9000] {
            let [plain, short] = [false, true].map(|shortcuts| sampled(&n, shortcuts, &[true; 22], step));
            assert!(short == plain, "{n:?}, {step} us");
        }
    }
}
