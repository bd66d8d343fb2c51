//! The life of a queue of the registry: parameters that its schema allows, then packets, departures and timers in any order a port could ask for.
//!
//! After each step: what came in is what left, was dropped or waits; packets are unchanged but for a mark, which only ECN-capable ones get; the limit
//! holds; flows keep their order; a queue that does not shape never holds back; no timer is set in the past.

use crate::draws::Draws;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, BuildContext, Class, Drops, Ecn, FlowId, FlowInfo, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_queue::{Capabilities, Discipline};
use fairlane_scenario::{QueueSpec, registry_listing};
use fairlane_testkit::{draw, limits};
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};

/// Steps of a life.
const STEPS: u64 = 20_000;
const FLOWS: u32 = 40;
/// Values of the DSCP.
const CLASSES: usize = 64;
/// Lengths of packets: the ends of what IP can carry, and what is usual.
const LENS: [u32; 7] = [20, 40, 576, 1500, 1501, 9000, 65_535];
const LARGEST: u32 = 65_535;
/// Timers that may fire in one step of time; a clock that ticks more often moves slower.
const MOST_FIRED: u32 = 64;

struct Life<Q> {
    queue: Q,
    name: &'static str,
    spec: Value,
    capabilities: Capabilities,
    most: Backlog,
    now: Time,
    timer: Option<Time>,
    rng: Stream,
    drops: Drops,
    /// Packets that wait, by number from `first`; those that are gone are none.
    held: Vec<Option<Packet>>,
    first: u32,
    backlog: Backlog,
    last: Vec<Option<u32>>,
    steps: u64,
}

impl<Q: Qdisc> Life<Q> {
    fn call<R>(&mut self, f: impl FnOnce(&mut Q, &mut QCx<'_>) -> R) -> Result<R, String> {
        self.steps += 1;
        let mut cx = QCx { now: self.now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let r = f(&mut self.queue, &mut cx);
        let mut drops = std::mem::take(&mut self.drops);
        for (p, _) in drops.drain(..) {
            self.settle(&p)?;
        }
        self.drops = drops;
        Ok(r)
    }

    /// Takes a packet off the books; its class when it came.
    fn settle(&mut self, p: &Packet) -> Result<Class, String> {
        let was = p.id.0.checked_sub(self.first).and_then(|i| self.held.get_mut(i as usize)).and_then(Option::take);
        let Some(was) = was else { return Err("a packet left that it did not hold".to_owned()) };
        self.backlog.sub(&was);
        let ecn = if was.ecn.capable() && p.ecn == Ecn::Ce { Ecn::Ce } else { was.ecn };
        let class = if self.capabilities.recolours { p.class } else { was.class };
        if *p == (Packet { ecn, class, ..was }) { Ok(was.class) } else { Err(format!("a packet changed from {was:?} to {p:?}")) }
    }

    fn left(&mut self, p: &Packet) -> Result<(), String> {
        let class = self.settle(p)?;
        // Both ways of a flow, and its classes, are flows of their own to who sorts by them.
        let way = (p.flow.0 as usize * 2 + usize::from(p.back)) * CLASSES + usize::from(class.0);
        let before = self.last[way].replace(p.id.0);
        let overtaken = !self.capabilities.reorders && before > Some(p.id.0);
        if overtaken { Err("packets of a flow left in another order".to_owned()) } else { Ok(()) }
    }

    fn audit(&self) -> Result<(), String> {
        let b = self.queue.backlog();
        if b != self.backlog {
            return Err(format!("backlog is {b:?}, offered less left {:?}", self.backlog));
        }
        let over = b.pkts > self.most.pkts || b.bytes > self.most.bytes;
        if over { Err(format!("backlog {b:?} is above {:?}", self.most)) } else { Ok(()) }
    }

    fn packet(&mut self, d: &mut Draws) -> Packet {
        let bits = d.long();
        let flow = d.below(if bits & 0x30 == 0 { FLOWS as usize } else { 4 }) as u32;
        // Mostly a flow and class of few, now and then any.
        let class = if bits & 7 == 0 { (bits >> 8) as u8 & 63 } else { (flow % 8) as u8 };
        let p = Packet {
            id: PacketRef(self.first + self.held.len() as u32),
            len: d.of(&LENS),
            flow: FlowId(flow),
            hop: 0,
            at: self.now,
            class: Class(class),
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][(bits >> 16 & 3) as usize],
            proto: if flow.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp },
            data: bits & 0x4_0000 != 0,
            back: bits & 0x38_0000 == 0,
            conn: 0,
        };
        self.held.push(Some(p));
        self.backlog.add(&p);
        p
    }

    fn take(&mut self) -> Result<(), String> {
        let waited = self.queue.backlog().pkts > 0;
        match self.call(|q, cx| q.dequeue(cx))? {
            Some(p) => self.left(&p),
            None if waited && self.queue.backlog().pkts > 0 && !self.capabilities.shapes => Err("it held back what waits".to_owned()),
            None if waited && self.queue.backlog().pkts > 0 && self.queue.ready_at().is_none_or(|t| t <= self.now) => {
                Err("it held back what waits and says no later time".to_owned())
            }
            None => Ok(()),
        }
    }

    /// Time passes; timers fire at their own times.
    fn pass_time(&mut self, to: Time) -> Result<(), String> {
        let mut fired = 0;
        while let Some(at) = self.timer.filter(|&t| t <= to) {
            self.now = at;
            if fired == MOST_FIRED {
                return Ok(());
            }
            fired += 1;
            let next = self.call(|q, cx| q.on_timer(cx))?;
            if next.is_some_and(|t| t <= at) {
                return Err(format!("its timer was set to {next:?} at {at:?}"));
            }
            self.timer = next;
            self.audit()?;
        }
        self.now = to;
        Ok(())
    }

    fn step(&mut self, d: &mut Draws, busy: usize) -> Result<(), String> {
        match d.below(100) {
            n if n < busy => {
                let p = self.packet(d);
                if self.queue.backlog().pkts == 0 && d.below(4) == 0 {
                    let mut p = p;
                    if self.call(|q, cx| q.pass(&mut p, cx).then_some(p))?.is_some() {
                        self.left(&p)?;
                    }
                } else {
                    self.call(|q, cx| q.enqueue(p, cx))?;
                }
            }
            n if n < 80 => self.take()?,
            _ => {
                let most = d.of(&[1, 1_000_000, 1_000_000_000, 20_000_000_000, 1_000_000_000_000]);
                let to = match self.queue.ready_at() {
                    Some(t) if d.below(2) == 0 => t.max(self.now),
                    _ => self.now + Dur::from_ps(d.long() % most),
                };
                self.pass_time(to)?;
            }
        }
        self.audit()?;
        if self.backlog.pkts == 0 {
            // The queue is empty: reset the account.
            self.first += self.held.len() as u32;
            self.held.clear();
        }
        Ok(())
    }

    fn live(mut self, d: &mut Draws) -> Result<u64, String> {
        let told = |life: &Self, e: String| format!("{}: {e}: after step {} of {}", life.name, life.steps, life.spec);
        // Filling, level, draining.
        let mut busy = 45;
        while self.steps < STEPS {
            if d.below(200) == 0 {
                busy = d.of(&[20, 40, 45, 50, 75]);
            }
            if let Err(e) = self.step(d, busy) {
                return Err(told(&self, e));
            }
            if self.now > Time::ZERO + Dur::from_secs(1_000_000) {
                break;
            }
        }
        Ok(self.steps)
    }
}

/// Parameters of any queue of the registry: a dialect, or values drawn from its schema, with other queues inside where it has room for them.
fn parameters(d: &mut Draws, depth: u32) -> Value {
    let listing: &[_] = &LISTED.with(std::rc::Rc::clone);
    let (name, schema) = &listing[d.below(listing.len())];
    let presets = QueueSpec::presets(name);
    if !presets.is_empty() && d.below(4) == 0 {
        let preset: Value = serde_json::from_str(presets[d.below(presets.len())].values).unwrap_or_default();
        return json!({ *name: preset });
    }
    let mut rng = Stream::new(d.long(), "fuzz", name, "parameters");
    let mut drawn = draw::table(schema, [0.0, 0.2, 0.5, 1.0][d.below(4)], &mut rng);
    drawn.remove("preset");
    if depth < 2 && schema["properties"].get("queue").is_some() && d.below(2) == 0 {
        drawn.insert("queue".to_owned(), parameters(d, depth + 1));
    }
    json!({ *name: drawn })
}

type Listed = std::rc::Rc<[(&'static str, Value)]>;

thread_local! {
    /// Queues and their schemas; making these takes as long as a life.
    static LISTED: Listed = registry_listing().into_iter().filter(|l| l.kind == "queue").map(|l| (l.name, l.schema)).collect();
}

/// Lives from `seed`, and says in how many steps: packets offered, departures asked for, timers.
///
/// # Errors
/// A broken law, and the step that breaks it.
pub(crate) fn run(seed: u64) -> Result<u64, String> {
    let d = &mut Draws::new(seed);
    let written = parameters(d, 0);
    let names: Vec<String> = (0..FLOWS).map(|i| format!("f{i}")).collect();
    let proto = |i: u32| if i.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp };
    let flows: Vec<FlowInfo<'_>> =
        names.iter().zip(0..).map(|(name, i)| FlowInfo { name, from: i % 7, to: 7 + i % 5, proto: proto(i) }).collect();
    let rate = d.of(&[64_000, 1_000_000, 10_000_000, 1_000_000_000, 100_000_000_000]);
    let site = BuildContext { link: LinkInfo { rate: Rate::from_bps(rate), delay: Dur::from_ms(d.below(200) as u64) }, flows: &flows };
    let q: QueueSpec = serde_json::from_value(written.clone()).map_err(|e| format!("its schema allows it, but {e}: {written}"))?;
    // Values may be refused together.
    if q.check(&site).is_err() {
        return Ok(0);
    }
    let spec = serde_json::to_value(&q).map_err(|e| e.to_string())?;
    let most = limits::most(&spec, LARGEST).unwrap_or(Backlog { pkts: u32::MAX, bytes: u64::MAX });
    let queue = q.build(&site);
    let life = Life {
        timer: queue.has_timer().then_some(Time::ZERO),
        capabilities: q.capabilities(),
        queue,
        name: q.name(),
        spec,
        most,
        now: Time::ZERO,
        rng: Stream::new(seed, "port", "fuzz", "aqm"),
        drops: Vec::new(),
        held: Vec::new(),
        first: 0,
        backlog: Backlog::default(),
        last: vec![None; FLOWS as usize * 2 * CLASSES],
        steps: 0,
    };
    life.live(d)
}
