//! Minimal transport with a fixed window, and a bounded FIFO: they test the network without TCP.

use fairlane_net::*;
use fairlane_units::{Dur, Rate, Time};

/// A FIFO of at most `limit` packets.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    pub(crate) limit: u32,
    ring: Ring<Packet>,
    level: Backlog,
}

impl Tail {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, ..Self::default() }
    }
}

impl Qdisc for Tail {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        if self.level.pkts >= self.limit {
            cx.drop(p, DropReason::Overflow);
        } else {
            self.level.add(&p);
            self.ring.push(p);
        }
    }
    fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
        let p = self.ring.pop()?;
        self.level.sub(&p);
        Some(p)
    }
    #[inline]
    fn pass(&mut self, _: &mut Packet, _: &mut QCx<'_>) -> bool {
        true
    }
    fn tail(&self) -> Option<Room> {
        (self.limit > 0).then_some(Room { pkts: self.limit, bytes: u64::MAX, arriving: false })
    }
    fn backlog(&self) -> Backlog {
        self.level
    }
}

/// Keeps `window` packets in flight; a packet without acknowledgment within 1 s counts as lost and is replaced.
#[derive(Clone)]
pub(crate) enum Minimal {
    Sender { window: u32, flying: u32, next: u64, size: u16 },
    Receiver { got: u64 },
}

impl Minimal {
    fn fill(&mut self, cx: &mut Cx<'_>) {
        if let Self::Sender { window, flying, next, size } = self {
            while flying < window {
                cx.send(Segment::new(*next, 0, 0, *size), u32::from(*size) + 40, Class(0));
                *next += 1;
                *flying += 1;
            }
            cx.timers.set(TimerId::Rto, cx.now + Dur::from_secs(1));
        }
    }
}

impl Endpoint for Minimal {
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        match self {
            Self::Sender { flying, .. } => {
                *flying = flying.saturating_sub(1);
                self.fill(cx);
            }
            Self::Receiver { got } => {
                *got += 1;
                cx.delivered = u64::from(seg.payload);
                cx.send(Segment::new(0, seg.seq + 1, flag::ACK, 0), 40, Class(0));
            }
        }
    }
    fn on_timer(&mut self, _: TimerId, cx: &mut Cx<'_>) {
        if let Self::Sender { flying, .. } = self {
            *flying = 0;
        }
        self.fill(cx);
    }
    fn on_write(&mut self, _: u64, _: bool, cx: &mut Cx<'_>) {
        self.fill(cx);
    }
    fn on_stop(&mut self, _: &mut Cx<'_>) {}
    fn view(&self) -> FlowView {
        FlowView::default()
    }
}

/// Writes once.
#[derive(Clone)]
pub(crate) struct Once(pub(crate) FlowId, pub(crate) Time);

impl App for Once {
    fn starts_at(&self) -> Time {
        self.1
    }
    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        cx.write(self.0, ENDLESS, false);
    }
}

#[derive(Clone)]
pub(crate) struct MinimalComponents;
impl Components for MinimalComponents {
    type Qdisc = Tail;
    type Endpoint = Minimal;
    type App = Once;
    type Control = ();
}

/// Parameters of a dumbbell.
#[derive(Clone, Debug)]
pub(crate) struct Dumbbell {
    pub(crate) flows: u32,
    pub(crate) window: u32,
    pub(crate) limit: u32,
    pub(crate) access: (Rate, Dur),
    pub(crate) bottleneck: (Rate, Dur),
    pub(crate) loss: f64,
    pub(crate) duplicate: f64,
    pub(crate) seed: u64,
    /// Schedule and impairments of the bottleneck.
    pub(crate) rough: Option<(Option<Schedule>, Impairments)>,
}

impl Dumbbell {
    fn bottleneck(&self) -> (Option<Schedule>, Impairments) {
        let (schedule, more) = self.rough.clone().unwrap_or_default();
        let models = LossModels { share: self.loss, ..more.loss.as_ref().map(LossSpec::models).unwrap_or_default() };
        (schedule, Impairments { loss: Some(LossSpec::Models(models)), duplicate: Some(Duplicate(self.duplicate)), ..more })
    }
    pub(crate) fn build<H: fairlane_engine::EventQueue>(&self) -> World<MinimalComponents, H> {
        let mut b = WorldBuilder::<MinimalComponents>::new(self.seed, Routing::Ecmp);
        let (r1, r2) = (b.node("r1"), b.node("r2"));
        let link = |b: &mut WorldBuilder<MinimalComponents>, name: String, from, to, (rate, delay): (Rate, Dur), limit, hurt: bool| {
            let (schedule, impairments) = if hurt { self.bottleneck() } else { Default::default() };
            b.link(LinkDef { name: name.into(), from, to, rate, delay, qdisc: Tail::new(limit), schedule, impairments, device: None });
        };
        link(&mut b, "fwd".into(), r1, r2, self.bottleneck, self.limit, true);
        link(&mut b, "rev".into(), r2, r1, self.bottleneck, 10_000, true);
        for i in 0..self.flows {
            let (s, d) = (b.node(format!("s{i}")), b.node(format!("d{i}")));
            for (name, from, to) in [("su", s, r1), ("sd", r1, s), ("du", d, r2), ("dd", r2, d)] {
                link(&mut b, format!("{name}{i}"), from, to, self.access, 10_000, false);
            }
            let f = b.flow(FlowDef {
                name: format!("f{i}").into(),
                from: s,
                to: d,
                proto: Proto::Tcp,
                sender: Minimal::Sender { window: self.window, flying: 0, next: 0, size: 1000 },
                receiver: Minimal::Receiver { got: 0 },
            });
            b.app(Once(f, Time::ZERO + Dur::from_ms(u64::from(i) * 10)), vec![f]);
        }
        b.build().unwrap()
    }
}
