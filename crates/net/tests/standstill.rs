//! Ends of runs in which simulated time does not move any more.

use crate::minimal::{Minimal, Tail};
use fairlane_engine::{QuadHeap, Sorted};
use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// Wakes so many times at one instant.
#[derive(Clone)]
struct Busy {
    times: u64,
}

impl App for Busy {
    fn starts_at(&self) -> Time {
        Time::ZERO + Dur::from_ms(7)
    }
    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.times > 0 {
            self.times -= 1;
            cx.wake_at(cx.now);
        }
    }
}

#[derive(Clone)]
struct BusyPlugs;
impl Components for BusyPlugs {
    type Qdisc = Tail;
    type Endpoint = Minimal;
    type App = Busy;
    type Control = ();
}

const END: Time = Time::from_ps(1_000_000_000_000);

/// Two nodes, and as many flows as there are applications.
fn world<H: fairlane_engine::EventQueue>(times: &[u64]) -> World<BusyPlugs, H> {
    let mut b = WorldBuilder::<BusyPlugs>::new(1, Routing::Single);
    let (from, to) = (b.node("a"), b.node("b"));
    for (name, from, to) in [("l", from, to), ("l.reverse", to, from)] {
        let (rate, delay, impairments) = (Rate::from_mbps(10), Dur::from_ms(1), Impairments::default());
        b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc: Tail::new(9), schedule: None, impairments, device: None });
    }
    for (i, &times) in times.iter().enumerate() {
        let sender = Minimal::Sender { window: 1, flying: 0, next: 0, size: 100 };
        let receiver = Minimal::Receiver { got: 0 };
        let f = b.flow(FlowDef { name: format!("f{i}").into(), from, to, proto: Proto::Udp, sender, receiver });
        b.app(Busy { times }, vec![f]);
    }
    b.build::<H>().unwrap()
}

/// Time stands still at 7 ms, and the second flow is who does it; however often the loop is left and entered.
#[test]
fn events_without_end_at_one_instant_end_the_run() {
    for budget in [u64::MAX, 1 << 18] {
        let mut w = world::<QuadHeap>(&[3, u64::MAX]);
        let mut calls = 0;
        while !w.advance(END, budget, &mut ()) && w.standstill().is_none() {
            calls += 1;
            assert!(calls < 100);
        }
        let still = *w.standstill().expect("it stands still");
        assert_eq!((still.time, still.flow, still.port, still.channel), (Time::ZERO + Dur::from_ms(7), Some(FlowId(1)), None, None));
        let events = w.events();
        assert!(still.events > 1 << 22 && events < 1 << 23, "{still:?}");
        // It is over: nothing more happens.
        assert!(!w.advance(END, budget, &mut ()));
        assert_eq!(w.events(), events);
    }
}

/// Four million events at one instant are no standstill for two flows, nor are 500 for each of ten thousand.
#[test]
fn much_at_one_instant_is_no_standstill() {
    let mut w = world::<Sorted<u128>>(&[4_000_000, 7]);
    assert!(w.advance(END, u64::MAX, &mut ()) && w.standstill().is_none());
    assert!(w.events() > 4_000_000);
    let mut w = world::<QuadHeap>(&[500; 10_000]);
    assert!(w.advance(END, u64::MAX, &mut ()) && w.standstill().is_none());
    assert!(w.events() > 5_000_000);
}
