//! Rules for every queue discipline: no packet is lost or made up, flows keep their order,
//! limits hold, only ECN-capable packets are marked, and a free link never waits while packets do.

use crate::packet::PACKET;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, Class, DropReason, Drops, Ecn, FlowId, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_units::{Dur, Time};

/// One packet offered to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time since the one before.
    pub gap: Dur,
    /// Its flow.
    pub flow: u32,
    /// Its length in bytes.
    pub len: u32,
    /// Its traffic class.
    pub class: u8,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// Promises of one queue beyond the rules for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The backlog is never above this.
    pub most: Backlog,
    /// Packets of a flow leave in the order in which they came.
    pub keeps_order: bool,
    /// The link never waits while packets do (false for shapers).
    pub work_conserving: bool,
    /// True if it ever marks.
    pub marks: bool,
    /// True if it changes traffic classes.
    pub recolours: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { most: Backlog { pkts: u32::MAX, bytes: u64::MAX }, keeps_order: true, work_conserving: true, marks: true, recolours: false }
    }
}

/// Outcome for each packet, numbered in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that were sent, with the start of their transmission.
    pub sent: Vec<(u32, Time)>,
    /// Packets that were dropped, with the reason.
    pub dropped: Vec<(u32, DropReason)>,
    /// Marks made.
    pub marks: u64,
    /// Largest backlog.
    pub most: Backlog,
}

/// Random arrivals in bursts: half of them come with no gap at all, the others `2 * mean_gap` apart in the mean.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// Number of packets.
    pub packets: usize,
    /// Number of flows.
    pub flows: u32,
    /// Lengths to choose from.
    pub lens: &'a [u32],
    /// Share of ECN-capable packets.
    pub ect: f64,
    /// Mean gap.
    pub mean_gap: Dur,
}

impl Load<'_> {
    /// The arrivals drawn with this seed. The class of a packet is its flow's number modulo 8; flows of odd number are UDP.
    pub fn draw(&self, seed: u64) -> Vec<Arrival> {
        let mut rng = Stream::new(seed, "test", "load", "arrivals");
        let rng = &mut rng;
        (0..self.packets)
            .map(|_| {
                let gap = if rng.uniform() < 0.5 { Dur::ZERO } else { rng.exponential(self.mean_gap * 2) };
                let flow = rng.below(u64::from(self.flows)) as u32;
                let len = self.lens[rng.below(self.lens.len() as u64) as usize];
                let ecn = match rng.uniform() < self.ect {
                    true => [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize],
                    false => Ecn::NotEct,
                };
                Arrival { gap, flow, len, class: (flow % 8) as u8, ecn }
            })
            .collect()
    }
}

/// Runs `arrivals` through copies of an empty `queue` before a link and checks every rule after every step, once with
/// [`Qdisc::pass`] and once without; both must do the same.
pub fn check<Q: Qdisc + Clone>(queue: &Q, link: LinkInfo, arrivals: &[Arrival], rules: &Rules) -> Result<Outcome, String> {
    let run = |fast| Bench::new(queue.clone(), link, rules).run(arrivals, fast);
    let (stored, passed) = (run(false)?, run(true)?);
    if stored != passed {
        let at = stored.sent.iter().zip(&passed.sent).position(|(a, b)| a != b);
        return Err(format!("pass differs from enqueue and dequeue at departure {at:?}"));
    }
    Ok(stored)
}

/// The port: calls the queue as a link would and keeps the books.
struct Bench<'a, Q> {
    queue: Q,
    link: LinkInfo,
    rules: &'a Rules,
    rng: Stream,
    drops: Drops,
    held: Vec<Option<Packet>>,
    backlog: Backlog,
    last_of_flow: Vec<Option<u32>>,
    changed: u64,
    free_at: Time,
    timer: Option<Time>,
    out: Outcome,
}

impl<'a, Q: Qdisc> Bench<'a, Q> {
    fn new(queue: Q, link: LinkInfo, rules: &'a Rules) -> Self {
        let timer = queue.has_timer().then_some(Time::ZERO);
        Self {
            queue,
            link,
            rules,
            rng: Stream::new(1, "port", "conformance", "aqm"),
            drops: vec![],
            held: vec![],
            backlog: Backlog::default(),
            last_of_flow: vec![],
            changed: 0,
            free_at: Time::ZERO,
            timer,
            out: Outcome::default(),
        }
    }

    fn run(mut self, arrivals: &[Arrival], fast: bool) -> Result<Outcome, String> {
        let mut now = Time::ZERO;
        for a in arrivals {
            now += a.gap;
            self.serve_until(now)?;
            self.offer(a, now, fast)?;
        }
        // Whatever is left must come out: no queue holds a packet for ever.
        self.serve_until(now + Dur::from_secs(100_000))?;
        if self.backlog != Backlog::default() {
            return Err(format!("{:?} never left", self.backlog));
        }
        Ok(self.out)
    }

    /// Calls the queue and settles what the call did.
    fn call<R>(&mut self, now: Time, f: impl FnOnce(&mut Q, &mut QCx<'_>) -> R) -> Result<R, String> {
        let mut cx = QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let r = f(&mut self.queue, &mut cx);
        let marks = u64::from(cx.marks);
        self.out.marks += marks;
        for (p, why) in std::mem::take(&mut self.drops) {
            self.settle(&p).map_err(|e| format!("dropped {e}"))?;
            self.out.dropped.push((p.id.0, why));
        }
        if marks > 0 && !self.rules.marks {
            return Err("marked".into());
        }
        Ok(r)
    }

    /// Takes a packet off the books, whole and unchanged but for a mark.
    fn settle(&mut self, p: &Packet) -> Result<(), String> {
        let id = p.id.0;
        let Some(was) = self.held.get_mut(id as usize).and_then(Option::take) else {
            return Err(format!("packet {id}, which it did not hold"));
        };
        self.backlog.sub(&was);
        let marked = was.ecn.capable() && p.ecn == Ecn::Ce;
        self.changed += u64::from(marked && was.ecn != Ecn::Ce);
        let class = if self.rules.recolours { p.class } else { was.class };
        if *p != (Packet { ecn: if marked { Ecn::Ce } else { was.ecn }, class, ..was }) {
            return Err(format!("packet {id} changed from {was:?} to {p:?}"));
        }
        Ok(())
    }

    fn audit(&mut self) -> Result<(), String> {
        let b = self.queue.backlog();
        if b != self.backlog {
            return Err(format!("backlog is {b:?}, offered less departed and dropped {:?}", self.backlog));
        }
        if b.pkts > self.rules.most.pkts || b.bytes > self.rules.most.bytes {
            return Err(format!("backlog {b:?} is above {:?}", self.rules.most));
        }
        if self.changed > self.out.marks {
            return Err(format!("{} packets changed to CE by {} marks", self.changed, self.out.marks));
        }
        let m = &mut self.out.most;
        (m.pkts, m.bytes) = (m.pkts.max(b.pkts), m.bytes.max(b.bytes));
        Ok(())
    }

    fn depart(&mut self, p: &Packet, now: Time) -> Result<(), String> {
        let (id, flow) = (p.id.0, p.flow.0 as usize);
        self.settle(p).map_err(|e| format!("sent {e}"))?;
        if self.last_of_flow.len() <= flow {
            self.last_of_flow.resize(flow + 1, None);
        }
        let before = self.last_of_flow[flow].replace(id);
        if self.rules.keeps_order && before > Some(id) {
            return Err(format!("packet {id} of flow {flow} left after {before:?}"));
        }
        self.out.sent.push((id, now));
        self.free_at = now + self.link.rate.tx_time(u64::from(p.len));
        Ok(())
    }

    fn offer(&mut self, a: &Arrival, now: Time, fast: bool) -> Result<(), String> {
        let p = Packet {
            id: PacketRef(self.held.len() as u32),
            len: a.len,
            flow: FlowId(a.flow),
            at: now,
            class: Class(a.class),
            ecn: a.ecn,
            proto: if a.flow.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp },
            ..PACKET
        };
        self.held.push(Some(p));
        self.backlog.add(&p);
        let free = self.free_at <= now && self.queue.backlog().pkts == 0;
        let out = self.call(now, |q, cx| match (free, fast) {
            (false, _) => {
                q.enqueue(p, cx);
                None
            }
            (true, true) => {
                let mut p = p;
                q.pass(&mut p, cx).then_some(p)
            }
            (true, false) => {
                q.enqueue(p, cx);
                q.dequeue(cx)
            }
        })?;
        if let Some(p) = out {
            self.depart(&p, now)?;
        }
        // Behind a shaper the link may be idle while packets wait; one that need not wait starts now, not in the past.
        self.free_at = self.free_at.max(now);
        self.audit()
    }

    /// Sends what the link sends and fires the timers that are due before `until`.
    fn serve_until(&mut self, until: Time) -> Result<(), String> {
        loop {
            let waits = self.queue.backlog().pkts > 0;
            let ready = self.free_at.max(self.queue.ready_at().unwrap_or(Time::ZERO));
            let timer = self.timer.filter(|_| waits || self.free_at > Time::ZERO).unwrap_or(Time::MAX);
            if timer <= until && (!waits || timer <= ready) {
                let next = self.call(timer, |q, cx| q.on_timer(cx))?;
                if next.is_some_and(|t| t <= timer) {
                    return Err(format!("timer set to {next:?} at {timer:?}"));
                }
                self.timer = next;
                self.audit()?;
                if self.queue.backlog().pkts == 0 && self.held.iter().all(Option::is_none) && until > timer + Dur::from_secs(1000) {
                    return Ok(());
                }
                continue;
            }
            if !waits || ready > until {
                return Ok(());
            }
            match self.call(ready, |q, cx| q.dequeue(cx))? {
                Some(p) => self.depart(&p, ready)?,
                None if self.queue.backlog().pkts > 0 => {
                    let later = self.queue.ready_at().filter(|&t| t > ready);
                    if self.rules.work_conserving || later.is_none() {
                        return Err(format!("nothing to send with {:?} waiting", self.queue.backlog()));
                    }
                }
                None => {}
            }
            self.audit()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_units::Rate;

    /// A queue with a fault of choice: the suite must name it.
    #[derive(Clone, Default)]
    struct Faulty {
        packets: Vec<Packet>,
        fault: &'static str,
    }

    impl Qdisc for Faulty {
        fn enqueue(&mut self, mut p: Packet, cx: &mut QCx<'_>) {
            match self.fault {
                "forgets" if self.packets.len() > 3 => return,
                "marks all" => {
                    p.ecn = Ecn::Ce;
                    cx.marks += 1;
                }
                "drops and keeps" if self.packets.len() > 3 => cx.drop(p, DropReason::Early),
                _ => {}
            }
            self.packets.push(p);
        }
        fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
            match self.fault {
                "lifo" => self.packets.pop(),
                "lazy" if self.packets.len() < 3 => None,
                _ => (!self.packets.is_empty()).then(|| self.packets.remove(0)),
            }
        }
        fn backlog(&self) -> Backlog {
            let mut b = Backlog::default();
            self.packets.iter().for_each(|p| b.add(p));
            b
        }
    }

    #[test]
    fn faults_are_found() {
        let link = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO };
        let load = Load { packets: 500, flows: 3, lens: &[40, 1000], ect: 0.5, mean_gap: Dur::from_us(300) };
        let run = |fault| check(&Faulty { packets: vec![], fault }, link, &load.draw(1), &Rules::default());
        for (fault, word) in [
            ("forgets", "backlog is"),
            ("marks all", "changed from"),
            ("drops and keeps", "backlog is"),
            ("lifo", "left after"),
            ("lazy", "nothing to send"),
        ] {
            let e = run(fault).expect_err(fault);
            assert!(e.contains(word), "{fault}: {e}");
        }
        let ok = run("none").unwrap();
        assert_eq!((ok.sent.len(), ok.dropped.len(), ok.marks), (500, 0, 0));
        let small = Rules { most: Backlog { pkts: 2, bytes: u64::MAX }, ..Rules::default() };
        assert!(check(&Faulty::default(), link, &load.draw(1), &small).unwrap_err().contains("is above"));
    }
}
