//! Active queue management with responsive flows: the delay it keeps, compared with its target, and differences between neighbours.
//!
//! The flows are the plainest responsive load there is: windows of packets over a link of 20 Mbit/s, one packet more a round trip,
//! half as many after a loss or a mark, at most once in a round trip (AIMD), and a Scalable flow that takes off half a packet for each mark.

use fairlane_engine::Stream;
use fairlane_net::{Drops, Ecn, FlowId, LinkInfo, Packet, Proto, QCx, Qdisc};
use fairlane_queue::{
    AfdParams, BlueParams, ChokeParams, CobaltParams, CodelParams, Discipline, DropTailParams, DualPi2Params, FredParams, GreenParams,
    Pi2Params, PieParams, RedThresholds, SfbParams,
};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Len, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const LEN: u32 = 1500;

/// How a flow behaves.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// AIMD; marks instead of losses if ECN-capable.
    Classic(Ecn),
    /// ECT(1), half a packet less for each mark.
    Scalable,
    /// Sends at a constant rate, whatever happens.
    Cbr(Rate),
}

struct Flow {
    kind: Kind,
    window: f64,
    inflight: f64,
    reduced: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The queue's own update.
    Timer,
    /// The link is free.
    Free,
    /// A flow hears of a packet: lost or marked.
    Feedback { flow: usize, lost: bool, marked: bool },
    /// A constant-rate flow sends.
    Tick(usize),
}

/// Results of a run, without its first third.
struct Seen {
    /// Mean wait in the queue, in ms, of all packets and of Scalable ones.
    delay: f64,
    scalable_delay: f64,
    /// Share of the link that was used.
    used: f64,
    /// Packets delivered by each flow.
    delivered: Vec<u64>,
    marks: u64,
    drops: u64,
}

struct World<Q> {
    q: Q,
    link: LinkInfo,
    rtt: Dur,
    flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    turn: u64,
    busy: bool,
    rng: Stream,
    jitter: Stream,
    drops: Drops,
    marks: u64,
}

impl<Q: Qdisc> World<Q> {
    fn at(&mut self, t: Time, e: Event) {
        self.turn += 1;
        self.events.push(Reverse((t, self.turn, e)));
    }

    /// Tells flows of their drops, a round trip later.
    fn settle(&mut self, now: Time) -> u64 {
        let drops = std::mem::take(&mut self.drops);
        for (p, _) in &drops {
            self.at(now + self.rtt, Event::Feedback { flow: p.flow.0 as usize, lost: true, marked: false });
        }
        drops.len() as u64
    }

    fn send(&mut self, i: usize, now: Time) {
        let ecn = match self.flows[i].kind {
            Kind::Classic(ecn) => ecn,
            Kind::Scalable => Ecn::Ect1,
            Kind::Cbr(_) => Ecn::NotEct,
        };
        let proto = if matches!(self.flows[i].kind, Kind::Cbr(_)) { Proto::Udp } else { Proto::Tcp };
        let p = Packet { len: LEN, flow: FlowId(i as u32), at: now, ecn, proto, ..PACKET };
        self.flows[i].inflight += 1.0;
        let mut cx = QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        self.q.enqueue(p, &mut cx);
        self.marks += u64::from(cx.marks);
    }

    fn fill(&mut self, i: usize, now: Time) {
        while !matches!(self.flows[i].kind, Kind::Cbr(_)) && self.flows[i].inflight + 1.0 <= self.flows[i].window {
            self.send(i, now);
        }
    }

    fn hear(&mut self, i: usize, now: Time, lost: bool, marked: bool) {
        let rtt = self.rtt;
        let f = &mut self.flows[i];
        f.inflight -= 1.0;
        let fresh = now.since(f.reduced) > rtt + Dur::from_ms(20);
        match f.kind {
            Kind::Scalable if marked && !lost => f.window -= 0.5,
            _ if (lost || marked) && fresh => {
                f.window /= 2.0;
                f.reduced = now;
            }
            _ if !lost => f.window += 1.0 / f.window,
            _ => {}
        }
        f.window = f.window.max(2.0);
    }

    fn run(&mut self, secs: u64) -> Seen {
        let mut seen = Seen { delay: 0.0, scalable_delay: 0.0, used: 0.0, delivered: vec![0; self.flows.len()], marks: 0, drops: 0 };
        let (from, end) = (Time::ZERO + Dur::from_secs(secs / 3), Time::ZERO + Dur::from_secs(secs));
        let (mut n, mut scalable, mut bytes) = (0.0, 0.0, 0);
        self.at(Time::ZERO, Event::Free);
        if self.q.has_timer() {
            self.at(Time::ZERO, Event::Timer);
        }
        for i in 0..self.flows.len() {
            match self.flows[i].kind {
                Kind::Cbr(_) => self.at(Time::ZERO, Event::Tick(i)),
                _ => self.fill(i, Time::ZERO),
            }
        }
        while let Some(Reverse((now, _, e))) = self.events.pop() {
            if now > end {
                break;
            }
            match e {
                Event::Timer => {
                    let next = self.q.on_timer(&mut QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 });
                    if let Some(t) = next {
                        self.at(t, Event::Timer);
                    }
                }
                Event::Free => self.busy = false,
                Event::Feedback { flow, lost, marked } => {
                    self.hear(flow, now, lost, marked);
                    self.fill(flow, now);
                }
                Event::Tick(i) => {
                    self.send(i, now);
                    if let Kind::Cbr(rate) = self.flows[i].kind {
                        self.at(now + rate.tx_time(u64::from(LEN)), Event::Tick(i));
                    }
                }
            }
            if !self.busy {
                let mut cx = QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
                let p = self.q.dequeue(&mut cx);
                self.marks += u64::from(cx.marks);
                if let Some(p) = p {
                    self.busy = true;
                    let done = now + self.link.rate.tx_time(u64::from(p.len));
                    self.at(done, Event::Free);
                    let jitter = Dur::from_us(self.jitter.below(1000));
                    self.at(done + self.rtt + jitter, Event::Feedback { flow: p.flow.0 as usize, lost: false, marked: p.ecn == Ecn::Ce });
                    if now >= from {
                        let wait = now.since(p.at).as_secs_f64() * 1e3;
                        seen.delay += wait;
                        n += 1.0;
                        bytes += u64::from(p.len);
                        if self.flows[p.flow.0 as usize].kind == Kind::Scalable {
                            seen.scalable_delay += wait;
                            scalable += 1.0;
                        }
                        seen.delivered[p.flow.0 as usize] += 1;
                    }
                }
            }
            let lost = self.settle(now);
            if now >= from {
                seen.drops += lost;
                seen.marks += std::mem::take(&mut self.marks);
            }
        }
        seen.delay /= n;
        seen.scalable_delay /= f64::max(scalable, 1.0);
        seen.used = bytes as f64 * 8.0 / (self.link.rate.as_bps() as f64 * (end - from).as_secs_f64());
        seen
    }
}

fn world<D: Discipline>(p: &D, rtt_ms: u64, kinds: &[Kind]) -> World<D::Queue> {
    let link = LinkInfo { rate: Rate::from_mbps(20), delay: Dur::from_ms(5) };
    p.check(&link.into()).unwrap();
    let flow = |&kind: &Kind| Flow { kind, window: 10.0, inflight: 0.0, reduced: Time::ZERO };
    World {
        q: p.build(&link.into()),
        link,
        rtt: Dur::from_ms(rtt_ms),
        flows: kinds.iter().map(flow).collect(),
        events: BinaryHeap::new(),
        turn: 0,
        busy: false,
        rng: Stream::new(1, "port", "regulation", "aqm"),
        jitter: Stream::new(1, "path", "regulation", "jitter"),
        drops: vec![],
        marks: 0,
    }
}

fn classic(n: usize) -> Vec<Kind> {
    vec![Kind::Classic(Ecn::NotEct); n]
}

fn show(name: &str, s: &Seen) -> String {
    format!("{name}: {:.2} ms, used {:.3}, drops {}, marks {}, {:?}", s.delay, s.used, s.drops, s.marks, s.delivered)
}

/// Share of all deliveries that went to one flow.
fn share(s: &Seen, flow: usize) -> f64 {
    s.delivered[flow] as f64 / s.delivered.iter().sum::<u64>() as f64
}

/// RFC 8033 (15 ms), the PI2 paper (20 ms), RFC 9332 (15 ms): the integral part leaves no error in a steady state, however many flows there are.
#[test]
fn controllers_hold_their_target() {
    for flows in [5, 20] {
        for (name, s, target) in [
            ("pie", world(&PieParams::default(), 40, &classic(flows)).run(60), 15.0),
            ("pi2", world(&Pi2Params::default(), 40, &classic(flows)).run(60), 20.0),
            ("dualpi2", world(&DualPi2Params::default(), 40, &classic(flows)).run(60), 15.0),
        ] {
            assert!((s.delay / target - 1.0).abs() < 0.1 && s.used > 0.98, "{}", show(name, &s));
        }
    }
}

/// RFC 8289 section 3: a good queue of about the target stays, a standing one goes; a buffer of 300 packets alone holds 140 ms and more.
/// COBALT keeps its count and so comes closer with more flows, where CoDel lets the delay grow.
#[test]
fn codel_and_cobalt_stay_near_their_target() {
    let limit = Len::Packets(300);
    let tail = world(&DropTailParams { limit, ..DropTailParams::default() }, 40, &classic(5)).run(60);
    assert!(tail.delay > 100.0 && tail.used > 0.99, "{}", show("droptail", &tail));
    let codel = world(&CodelParams { limit, ..CodelParams::default() }, 40, &classic(5)).run(60);
    let cobalt = world(&CobaltParams { limit, ..CobaltParams::default() }, 40, &classic(5)).run(60);
    for (name, s) in [("codel", &codel), ("cobalt", &cobalt)] {
        assert!((2.5..10.0).contains(&s.delay) && s.used > 0.97, "{}", show(name, s));
    }
    let codel = world(&CodelParams { limit, ..CodelParams::default() }, 40, &classic(20)).run(60);
    let cobalt = world(&CobaltParams { limit, ..CobaltParams::default() }, 40, &classic(20)).run(60);
    assert!(cobalt.delay < 0.6 * codel.delay, "{}; {}", show("codel", &codel), show("cobalt", &cobalt));
}

/// Feng et al. 1999: BLUE finds a probability that neither overflows the buffer (60 ms here) nor lets the link fall idle for long.
#[test]
fn blue_keeps_between_overflow_and_idleness() {
    let limit = Len::Packets(100);
    for flows in [5, 20] {
        let blue = world(&BlueParams { limit, ..BlueParams::default() }, 40, &classic(flows)).run(60);
        let tail = world(&DropTailParams { limit, ..DropTailParams::default() }, 40, &classic(flows)).run(60);
        assert!(blue.used > 0.97 && blue.delay < 0.7 * tail.delay, "{}; {}", show("blue", &blue), show("droptail", &tail));
    }
}

/// A source of one and a half times the link against five that listen. BLUE gives all the same probability, so the source gets nearly everything;
/// SFB and FRED know it by its bins or its account.
#[test]
fn who_holds_down_an_unresponsive_flow() {
    let limit = Len::Packets(100);
    let mut kinds = classic(5);
    kinds.push(Kind::Cbr(Rate::from_mbps(30)));
    let blue = world(&BlueParams { limit, ..BlueParams::default() }, 40, &kinds).run(60);
    let sfb = world(&SfbParams { limit, ..SfbParams::default() }, 40, &kinds).run(60);
    let fred = world(&FredParams { limit, ..FredParams::default() }, 40, &kinds).run(60);
    assert!(share(&blue, 5) > 0.85, "{}", show("blue", &blue));
    assert!(share(&sfb, 5) < 0.5, "{}", show("sfb", &sfb));
    assert!(share(&fred, 5) < 0.4, "{}", show("fred", &fred));
}

/// Pan et al. 2003: AFD gives nearly max-min fair shares, to a flow that does not listen too, and holds the queue at its target. What the source sends does not
/// matter: it is let have the fair share. The others swing about that share and lose where they are above it, so that they have a little less on average.
#[test]
fn afd_is_nearly_fair_and_holds_the_queue() {
    let p = AfdParams {
        limit: Len::Packets(200),
        mean_packet: fairlane_units::Bytes(u64::from(LEN)),
        target: Len::Packets(30),
        ..AfdParams::default()
    };
    let run = |p: &AfdParams, mbps| {
        let mut kinds = classic(5);
        kinds.push(Kind::Cbr(Rate::from_mbps(mbps)));
        let s = world(p, 40, &kinds).run(60);
        let rest: Vec<f64> = (0..5).map(|i| share(&s, i)).collect();
        assert!(rest.iter().all(|r| (0.13..0.18).contains(r)), "{mbps} {rest:?}");
        // 30 packets of 1500 bytes take 18 ms at 20 Mbit/s.
        assert!((16.0..20.0).contains(&s.delay) && s.used > 0.99, "{mbps} {} {}", s.delay, s.used);
        share(&s, 5)
    };
    // A sixth is fair.
    let got = [10, 30].map(|mbps| run(&p, mbps));
    assert!(got.iter().all(|g| (0.16..0.24).contains(g)), "{got:?}");
    // At five times the link's rate few places of the sample are left for the others, and they lose by chance; a larger sample mends that.
    let (small, large) = (run(&p, 100), run(&AfdParams { shadow: 4000, ..p.clone() }, 100));
    assert!(large < 0.24 && large < 0.95 * small, "{small} {large}");
}

/// CHOKe takes much more from the unresponsive flow than from the others, a plain drop-tail queue takes in proportion.
#[test]
fn choke_takes_from_the_unresponsive() {
    let mut kinds = classic(40);
    kinds.push(Kind::Cbr(Rate::from_mbps(20)));
    let wide = ChokeParams {
        thresholds: RedThresholds { min: Some(Len::Packets(20)), max: Some(Len::Packets(300)), max_p: 0.1, ..RedThresholds::default() },
        ..ChokeParams::default()
    };
    let choke = world(&wide, 40, &kinds).run(60);
    let draws = world(&ChokeParams { draws: 4, ..wide }, 40, &kinds).run(60);
    let tail = world(&DropTailParams { limit: Len::Packets(300), ..DropTailParams::default() }, 40, &kinds).run(60);
    let got = [share(&tail, 40), share(&choke, 40), share(&draws, 40)];
    assert!(got[1] < 0.75 * got[0] && got[2] < 0.75 * got[1], "{got:?}");
}

/// RFC 9332 section 2.1 and the PI2 paper, section 5: with k = 2 a Classic and a Scalable flow get about the same; under one probability for both
/// (CoDel's marks) the Scalable one takes several times as much. DualPI2 gives the Scalable flows a delay under a millisecond.
#[test]
fn coupling_makes_flows_equal() {
    let kinds = [Kind::Classic(Ecn::Ect0), Kind::Scalable].repeat(5);
    let ratio = |s: &Seen| {
        let sum = |odd: usize| s.delivered.iter().skip(odd).step_by(2).sum::<u64>() as f64;
        sum(1) / sum(0)
    };
    let pi2 = world(&Pi2Params::default(), 40, &kinds).run(60);
    let dual = world(&DualPi2Params::default(), 40, &kinds).run(60);
    let codel = world(&CodelParams { ecn: true, ..CodelParams::default() }, 40, &kinds).run(60);
    assert!((0.4..2.5).contains(&ratio(&pi2)), "{}", show("pi2", &pi2));
    assert!((0.4..2.5).contains(&ratio(&dual)), "{}", show("dualpi2", &dual));
    assert!(ratio(&codel) > 3.0, "{}", show("codel", &codel));
    assert!(dual.scalable_delay < 1.0 && dual.drops == 0 && dual.marks > 0, "{} {}", dual.scalable_delay, show("dualpi2", &dual));
    assert!(pi2.scalable_delay > 10.0);
}

/// Feng et al. 2002: the probability that fits N flows keeps them equal without a queue to speak of.
#[test]
fn green_needs_no_standing_queue() {
    let p = GreenParams { rtt: Dur::from_ms(45), mss: fairlane_units::Bytes(u64::from(LEN)), ..GreenParams::default() };
    for flows in [5, 20] {
        let s = world(&p, 40, &classic(flows)).run(60);
        let square: f64 = s.delivered.iter().map(|&n| (n as f64).powi(2)).sum();
        let jain = (s.delivered.iter().sum::<u64>() as f64).powi(2) / (flows as f64 * square);
        assert!(s.delay < 15.0 && s.used > 0.95 && jain > 0.98, "{jain} {}", show("green", &s));
    }
}
