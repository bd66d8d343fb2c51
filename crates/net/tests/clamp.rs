//! Windows that a queue cuts: only in acknowledgments on their way back over the same link, never wider, never opened when closed.

use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// A queue that never holds anything and may cut the windows of flow 0.
#[derive(Clone)]
struct Cutter(Option<u32>);

impl Qdisc for Cutter {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        cx.drop(p, DropReason::Overflow);
    }
    fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
        None
    }
    fn pass(&mut self, _: &mut Packet, _: &mut QCx<'_>) -> bool {
        true
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        self.0.filter(|_| flow == FlowId(0))
    }
    fn clamps(&self) -> bool {
        self.0.is_some()
    }
}

/// Answers of the receiver in order: header bits and window.
const ANSWERS: [(u8, u32); 6] = [
    (flag::SYN | flag::ACK, 65_000),
    (flag::ACK, 65_000),
    (flag::ACK, 300),
    (flag::ACK, 0),
    (flag::RST | flag::ACK, 65_000),
    (flag::ACK | flag::FIN, 65_000),
];

fn segment(flags: u8, wnd: u32, payload: u16) -> Segment {
    let mut seg = Segment::new(0, 0, flags, payload);
    seg.wnd = wnd;
    seg
}

#[derive(Clone)]
enum Scripted {
    Sender,
    Receiver(usize),
}

impl Endpoint for Scripted {
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_packet(&mut self, _: &Segment, cx: &mut Cx<'_>) {
        match self {
            Self::Sender => self.on_write(0, false, cx),
            Self::Receiver(n) => {
                if let Some(&(flags, wnd)) = ANSWERS.get(*n) {
                    cx.send(segment(flags, wnd, 0), 40, Class(0));
                }
                *n += 1;
            }
        }
    }
    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}
    fn on_write(&mut self, _: u64, _: bool, cx: &mut Cx<'_>) {
        cx.send(segment(flag::ACK, 9999, 1000), 1040, Class(0));
    }
    fn on_stop(&mut self, _: &mut Cx<'_>) {}
    fn view(&self) -> FlowView {
        FlowView::default()
    }
}

#[derive(Clone)]
struct Start(FlowId);

impl App for Start {
    fn starts_at(&self) -> Time {
        Time::ZERO + Dur::from_ms(u64::from(self.0.0) * 500)
    }
    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        cx.write(self.0, 1, false);
    }
}

#[derive(Clone)]
struct Plugged;
impl Components for Plugged {
    type Qdisc = Cutter;
    type Endpoint = Scripted;
    type App = Start;
    type Control = ();
}

/// Windows that arrive at the sender and at the receiver.
#[derive(Default)]
struct Windows {
    back: Vec<u32>,
    forth: Vec<u32>,
}

impl Observer for Windows {
    fn on_receive(&mut self, e: &ReceiveEvent) {
        if e.seg.payload == 0 { &mut self.back } else { &mut self.forth }.push(e.seg.wnd);
    }
}

fn windows(forth: Option<u32>, back: Option<u32>, protos: &[Proto]) -> Windows {
    let mut b = WorldBuilder::<Plugged>::new(1, Routing::Ecmp);
    let (s, d) = (b.node("s"), b.node("d"));
    for (name, from, to, cut) in [("forth", s, d, forth), ("back", d, s, back)] {
        let (rate, delay) = (Rate::from_mbps(10), Dur::from_ms(1));
        b.link(LinkDef {
            name: name.into(),
            from,
            to,
            rate,
            delay,
            qdisc: Cutter(cut),
            schedule: None,
            impairments: Impairments::default(),
            device: None,
        });
    }
    for (i, &proto) in protos.iter().enumerate() {
        let def =
            FlowDef { name: format!("f{i}").into(), from: s, to: d, proto, sender: Scripted::Sender, receiver: Scripted::Receiver(0) };
        let f = b.flow(def);
        b.app(Start(f), vec![f]);
    }
    let mut world: World<Plugged, QuadHeap> = b.build().unwrap();
    let mut seen = Windows::default();
    world.advance(Time::ZERO + Dur::from_secs(2), u64::MAX, &mut seen);
    seen
}

/// Zero windows, smaller windows, SYN and RST segments are left alone; all other acknowledgments show at most the cut.
#[test]
fn only_acknowledgments_on_their_way_back_are_cut() {
    let seen = windows(Some(1000), None, &[Proto::Tcp]);
    assert_eq!(seen.back, [65_000, 1000, 300, 0, 65_000, 1000]);
    assert_eq!(seen.forth, [9999; 7]);
    // A queue on the way back cuts what comes from the sender, not the acknowledgments that pass through it.
    let seen = windows(None, Some(1000), &[Proto::Tcp]);
    assert_eq!(seen.back, ANSWERS.map(|a| a.1));
    assert_eq!(seen.forth, [1000; 7]);
}

/// The queue is asked for each flow; UDP has no window.
#[test]
fn flows_are_told_apart_and_udp_is_left_alone() {
    let seen = windows(Some(1000), None, &[Proto::Tcp, Proto::Tcp]);
    assert_eq!(seen.back, [[65_000, 1000, 300, 0, 65_000, 1000], ANSWERS.map(|a| a.1)].concat());
    assert_eq!(windows(Some(1000), None, &[Proto::Udp]).back, ANSWERS.map(|a| a.1));
    assert_eq!(windows(None, None, &[Proto::Tcp]).back, ANSWERS.map(|a| a.1));
}
