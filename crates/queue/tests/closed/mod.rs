//! Helpers of the tests of controllers: packets, a run through the conformance suite, and senders that react to drops and marks.
#![allow(dead_code)]

use fairlane_engine::Stream;
use fairlane_net::{Backlog, Ecn, FlowId, LinkInfo, Packet, QCx, Qdisc};
use fairlane_testkit::conformance::{Load, Outcome, Rules, check};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Len, PS_PER_SEC, Rate, Time};
use proptest::prelude::TestCaseError;

/// Packets of one conformance run.
pub(crate) const PACKETS: usize = 2000;
const MAX_LEN: u32 = 1540;

pub(crate) fn link(mbps: u64) -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(mbps), delay: Dur::from_ms(20) }
}

pub(crate) fn pkt(len: u32, ecn: Ecn) -> Packet {
    Packet { len, ecn, ..PACKET }
}

/// Returns the rules of a queue with this limit, in packets or in bytes that must fit.
pub(crate) fn rules(limit: Len, marks: bool) -> Rules {
    let most = match limit {
        Len::Packets(n) => Backlog { pkts: n as u32, bytes: u64::MAX },
        Len::Bytes(bytes) => Backlog { pkts: u32::MAX, bytes },
    };
    Rules { most, marks, ..Rules::default() }
}

pub(crate) fn run<Q: Qdisc + Clone>(q: &Q, seed: u64, us: u64, rules: &Rules) -> Result<Outcome, TestCaseError> {
    let load = Load { packets: PACKETS, flows: 5, lens: &[40, 576, 1000, MAX_LEN], ect: 0.5, mean_gap: Dur::from_us(us) };
    check(q, link(10), &load.draw(seed), rules).map_err(TestCaseError::fail)
}

/// Senders that know additive increase and multiplicative decrease and nothing else: windows in packets of 1000 bytes, a fixed delay of
/// 50 ms in addition to the queue, every packet answered, a drop or a mark halves the window at most once a round trip. Poisson instants of
/// sending at the rate window / round trip keep bursts out of the way of what is tested.
pub(crate) struct Loop {
    pub(crate) mbps: u64,
    pub(crate) flows: usize,
    pub(crate) seed: u64,
    pub(crate) ecn: Ecn,
}

/// Measurements of a [`Loop`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Time average of the backlog, in packets.
    pub(crate) queue: f64,
    /// Share of the arrivals that was dropped or marked.
    pub(crate) signalled: f64,
    /// Marks made.
    pub(crate) marks: u64,
    /// Drops made.
    pub(crate) drops: u64,
    /// Packets offered, over what the link could send.
    pub(crate) load: f64,
    /// Packets sent, over what the link could send.
    pub(crate) utilisation: f64,
}

impl Loop {
    pub(crate) fn new(mbps: u64) -> Self {
        Self { mbps, flows: 10, seed: 1, ecn: Ecn::NotEct }
    }

    pub(crate) fn run(&self, q: &mut dyn Qdisc, until: Dur, from: Dur) -> Seen {
        let (link, base) = (link(self.mbps), Dur::from_ms(50));
        let mut load = Stream::new(self.seed, "test", "loop", "load");
        let mut aqm = Stream::new(self.seed, "port", "loop", "aqm");
        let mut window = vec![5.0_f64; self.flows];
        let mut cut = vec![Time::ZERO; self.flows];
        let tx = link.rate.tx_time(1000);
        let (end, warm) = (Time::ZERO + until, Time::ZERO + from);
        // Answers on their way back: when, to whom, whether with a signal. Drops are heard of when the packet would have been answered.
        let mut answers: std::collections::BinaryHeap<std::cmp::Reverse<(Time, u32, bool)>> = Default::default();
        let mut next: Vec<Time> = (0..self.flows).map(|_| Time::ZERO + load.exponential(base)).collect();
        let (mut free, mut timer) = (Time::ZERO, q.has_timer().then_some(Time::ZERO));
        let (mut area, mut last, mut seen) = (0.0, warm, [0_u64; 4]);
        let mut drops = vec![];
        loop {
            let (f, send) = next.iter().copied().enumerate().min_by_key(|x| x.1).unwrap();
            let serve = if q.backlog().pkts > 0 { free } else { Time::MAX };
            let answer = answers.peek().map_or(Time::MAX, |a| a.0.0);
            let now = send.min(serve).min(answer).min(timer.unwrap_or(Time::MAX));
            if now >= end {
                break;
            }
            let mut cx = QCx { now, rng: &mut aqm, drops: &mut drops, marks: 0 };
            if now > last {
                area += f64::from(q.backlog().pkts) * (now - last).as_secs_f64();
                last = now;
            }
            let mut out = None;
            if Some(now) == timer {
                timer = q.on_timer(&mut cx);
            } else if now == answer {
                let std::cmp::Reverse((_, f, signal)) = answers.pop().unwrap();
                let (w, rtt) = (&mut window[f as usize], base + tx * u64::from(q.backlog().pkts));
                if !signal {
                    *w += 1.0 / *w;
                } else if now >= cut[f as usize] {
                    *w = (*w / 2.0).max(1.0);
                    cut[f as usize] = now + rtt;
                }
            } else if now == serve {
                out = q.dequeue(&mut cx);
            } else {
                let rtt = base + tx * u64::from(q.backlog().pkts);
                let gap = rtt.as_secs_f64() / window[f];
                next[f] = now + load.exponential(Dur::from_ps((gap * PS_PER_SEC as f64) as u64));
                let mut p = Packet { flow: FlowId(f as u32), at: now, ..pkt(1000, self.ecn) };
                seen[0] += u64::from(now >= warm);
                if free <= now && q.backlog().pkts == 0 {
                    out = q.pass(&mut p, &mut cx).then_some(p);
                } else {
                    q.enqueue(p, &mut cx);
                }
            }
            let marks = u64::from(cx.marks);
            for (p, _) in drops.drain(..) {
                answers.push(std::cmp::Reverse((now + base + tx * u64::from(q.backlog().pkts), p.flow.0, true)));
                seen[1] += u64::from(now >= warm);
            }
            seen[2] += if now >= warm { marks } else { 0 };
            if let Some(p) = out {
                free = now + tx;
                answers.push(std::cmp::Reverse((free + base, p.flow.0, p.ecn == Ecn::Ce)));
                seen[3] += u64::from(now >= warm);
            }
        }
        let span = (end - warm).as_secs_f64();
        let most = span / tx.as_secs_f64();
        Seen {
            queue: area / span,
            signalled: (seen[1] + seen[2]) as f64 / seen[0] as f64,
            marks: seen[2],
            drops: seen[1],
            load: seen[0] as f64 / most,
            utilisation: seen[3] as f64 / most,
        }
    }
}
