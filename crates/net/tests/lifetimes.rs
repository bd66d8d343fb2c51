//! Flows that are built when they begin: results are those of flows that are built before the run, and places are given to new flows.

use crate::minimal::{Once, Tail};
use fairlane_engine::{EventQueue, QuadHeap, Wheel};
use fairlane_net::*;
use fairlane_units::{Dur, Name, Rate, Time};
use std::sync::Arc;

/// Sends some packets at once, and nothing more; the other end acknowledges each.
#[derive(Clone, Debug)]
struct Burst(u32);

impl Endpoint for Burst {
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.payload > 0 {
            cx.delivered = u64::from(seg.payload);
            cx.send(Segment::new(0, seg.seq + 1, flag::ACK, 0), 40, Class(0));
        }
    }
    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}
    fn on_write(&mut self, _: u64, _: bool, cx: &mut Cx<'_>) {
        (0..u64::from(self.0)).for_each(|k| cx.send(Segment::new(k, 0, 0, 1000), 1040, Class(0)));
    }
    fn on_stop(&mut self, _: &mut Cx<'_>) {}
    fn view(&self) -> FlowView {
        FlowView { data_segments: u64::from(self.0), ..FlowView::default() }
    }
}

#[derive(Clone, Debug)]
struct Bursts;
impl Components for Bursts {
    type Qdisc = Tail;
    type Endpoint = Burst;
    type App = Once;
    type Control = ();
}

/// A flow each millisecond, in descending order of their numbers; every third one begins together with the one before.
#[derive(Debug)]
struct Shorts {
    names: Vec<Name>,
    /// True if ended flows are counted in a sum.
    summed: bool,
}

impl FlowFactory<Bursts> for Shorts {
    fn count(&self) -> usize {
        self.names.len()
    }
    fn name(&self, flow: FlowId) -> &Name {
        &self.names[flow.0 as usize]
    }
    fn ends(&self, _: FlowId) -> FlowEnds {
        FlowEnds { from: NodeId(0), to: NodeId(1), proto: Proto::Udp }
    }
    fn starts_at(&self, flow: FlowId) -> Time {
        let k = self.names.len() as u64 - u64::from(flow.0);
        Time::ZERO + Dur::from_ms(k - u64::from(k % 3 == 2))
    }
    fn build(&self, flow: FlowId) -> NewFlow<Once, Burst> {
        NewFlow { app: Once(flow, self.starts_at(flow)), sender: Burst(1 + flow.0 % 7), receiver: Burst(0), amount: 0 }
    }
    fn sums(&self) -> usize {
        usize::from(self.summed)
    }
    fn sum(&self, _: FlowId) -> Option<usize> {
        self.summed.then_some(0)
    }
}

/// A link of 34 Mbit/s and 5 ms, with a queue that overflows now and then. `later`: flows are built when they begin.
fn world<H: EventQueue>(flows: u32, later: bool, summed: bool) -> World<Bursts, H> {
    let mut b = WorldBuilder::<Bursts>::new(3, Routing::Ecmp);
    let (x, y) = (b.node("x"), b.node("y"));
    for (name, from, to) in [("there", x, y), ("back", y, x)] {
        b.link(LinkDef {
            name: name.into(),
            from,
            to,
            rate: Rate::from_mbps(34),
            delay: Dur::from_ms(5),
            qdisc: Tail::new(9),
            schedule: None,
            impairments: Impairments { duplicate: Some(Duplicate(0.01)), ..Impairments::default() },
            device: None,
        });
    }
    let shorts = Shorts { names: (0..flows).map(|i| format!("f{i}").into()).collect(), summed };
    if later {
        b.flows_from(Arc::new(shorts));
    } else {
        for id in (0..flows).map(FlowId) {
            let (NewFlow { app, sender, receiver, .. }, FlowEnds { from, to, proto }) = (shorts.build(id), shorts.ends(id));
            b.flow(FlowDef { name: shorts.name(id).clone(), from, to, proto, sender, receiver });
            b.app(app, vec![id]);
        }
    }
    b.build::<H>().unwrap()
}

/// Runs to the end, with a reset of the counters in between.
fn run<H: EventQueue>(mut w: World<Bursts, H>, flows: u32) -> World<Bursts, H> {
    w.advance(Time::ZERO + Dur::from_ms(u64::from(flows) / 3), u64::MAX, &mut ());
    w.reset_counters(&mut ());
    // A branch has the same future.
    let mut branch = w.clone();
    for w in [&mut w, &mut branch] {
        while !w.advance(Time::ZERO + Dur::from_ms(u64::from(flows) + 100), 1000, &mut ()) {}
    }
    assert_eq!((w.fingerprint(), w.events()), (branch.fingerprint(), branch.events()));
    w
}

#[test]
fn built_before_or_when_they_begin() {
    const FLOWS: u32 = 900;
    let before = run(world::<QuadHeap>(FLOWS, false, false), FLOWS);
    for summed in [false, true] {
        let mut when = run(world::<Wheel>(FLOWS, true, summed), FLOWS);
        assert_eq!((when.fingerprint(), when.events(), when.packet_hops()), (before.fingerprint(), before.events(), before.packet_hops()));
        assert_eq!(when.packets_alive(), 0);
        when.retire();
        let mut sum = when.sums().first().cloned().unwrap_or_default();
        for id in (0..FLOWS).map(FlowId) {
            let flow = &before.flows()[id.0 as usize];
            assert_eq!(when.arrived(id), before.arrived(id));
            assert_eq!((when.received_bytes(id), when.delivered_bytes(id)), (flow.counters.received_bytes, flow.counters.delivered));
            match when.flow(id) {
                Some(kept) => {
                    assert_eq!((&kept.counters, kept.started, kept.name.as_str()), (&flow.counters, flow.started, flow.name.as_str()));
                    assert_eq!(when.view(EpId::sender(id)), before.view(EpId::sender(id)));
                    assert_eq!(kept.base, flow.base.clone().filter(|_| kept.base.is_some()));
                    sum.counters.merge(&kept.counters);
                }
                None => assert!(summed && when.ended(id).is_some()),
            }
        }
        let mut all = FlowCounters::default();
        before.flows().iter().for_each(|f| all.merge(&f.counters));
        assert_eq!(sum.counters.delay, all.delay);
        assert_eq!((sum.counters.sent_pkts, sum.counters.drops, sum.counters.jitter_sum), (all.sent_pkts, all.drops, all.jitter_sum));
    }
}

/// About 13 flows last at a time; four times as many in all need no more places.
#[test]
fn places_do_not_grow_with_the_number_of_flows() {
    let places = [1000, 4000].map(|flows| run(world::<QuadHeap>(flows, true, true), flows).flows().len());
    assert!(places.iter().all(|n| *n < 40), "{places:?}");
}
