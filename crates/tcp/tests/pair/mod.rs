//! Two endpoints and the path between them, in memory: hops with a rate, a delay and a drop-tail queue,
//! and a script of losses. No network crate's world: the endpoints alone are on trial.
#![allow(dead_code, unreachable_pub)]

pub mod fixed;
pub mod transfer;

use fairlane_net::{Class, Cx, ENDLESS, Ecn, Endpoint, Segment, TimerId, Timers};
use fairlane_tcp::{AnyCc, CongestionControl, Tcp, TcpParams, resolve_params};
use fairlane_units::{Dur, Rate, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A store-and-forward hop. Infinite rate: `Rate::from_bps(0)`.
#[derive(Clone, Debug)]
pub struct Hop {
    pub rate: Rate,
    pub delay: Dur,
    /// Most packets queued, without the one in transmission.
    pub limit: usize,
    /// Packets that arrive while that many wait are marked.
    pub mark: usize,
    busy: Time,
    starts: VecDeque<Time>,
    /// Integral of the number waiting, packet-seconds.
    pub waited: f64,
    pub drops: u64,
    pub bytes: u64,
}

impl Hop {
    pub fn new(rate: Rate, delay: Dur, limit: usize) -> Self {
        Self { rate, delay, limit, mark: usize::MAX, busy: Time::ZERO, starts: VecDeque::new(), waited: 0.0, drops: 0, bytes: 0 }
    }
    pub fn delay(delay: Dur) -> Self {
        Self::new(Rate::from_bps(0), delay, usize::MAX)
    }
    /// A hop that marks packets from the threshold `mark` on.
    pub fn marking(rate: Rate, delay: Dur, limit: usize, mark: usize) -> Self {
        Self { mark, ..Self::new(rate, delay, limit) }
    }
    /// Packets waiting.
    pub fn waiting(&mut self, now: Time) -> usize {
        while self.starts.front().is_some_and(|&s| s <= now) {
            self.starts.pop_front();
        }
        self.starts.len()
    }
    fn pass_marking(&mut self, now: Time, len: u32, seg: &mut Segment) -> Option<Time> {
        if self.mark != usize::MAX && self.waiting(now) >= self.mark && seg.ecn().capable() {
            seg.set_ecn(Ecn::Ce);
        }
        self.pass(now, len)
    }
    /// Arrival time at the other end of a packet that arrives now; `None`: dropped.
    fn pass(&mut self, now: Time, len: u32) -> Option<Time> {
        if self.rate.as_bps() == 0 {
            return Some(now + self.delay);
        }
        if self.waiting(now) >= self.limit && self.busy > now {
            self.drops += 1;
            return None;
        }
        let start = self.busy.max(now);
        self.busy = start + self.rate.tx_time(u64::from(len));
        if start > now {
            self.starts.push_back(start);
            self.waited += (start - now).as_secs_f64();
        }
        self.bytes += u64::from(len);
        Some(self.busy + self.delay)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A segment reaches hop `hop` of direction `dir`, or the endpoint behind the last.
    Arrive {
        dir: usize,
        hop: usize,
        index: usize,
    },
    Timers {
        end: usize,
    },
}

/// Treatment of the n-th segment (from 0) sent in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    /// Passes, and is duplicated.
    Twice,
    /// Arrives that much later.
    Late(Dur),
    /// Arrives marked with congestion experienced, if it is ECN-capable.
    Mark,
}

pub type Script = Box<dyn FnMut(u64, &Segment) -> Fate>;

pub struct Pair<C = AnyCc> {
    pub now: Time,
    pub ends: [Tcp<C>; 2],
    pub timers: [Timers; 2],
    pub hops: [Vec<Hop>; 2],
    pub script: [Script; 2],
    sent: [u64; 2],
    flying: Vec<(Segment, u32)>,
    free: Vec<usize>,
    queue: BinaryHeap<Reverse<(Time, u64, usize)>>,
    events: Vec<Event>,
    order: u64,
    armed: [Time; 2],
    pub delivered: [u64; 2],
    pub finished: [Option<Time>; 2],
    pub rtts: Vec<Dur>,
    /// Segments as they left, with the time, direction and length on the wire.
    pub log: Vec<(Time, usize, Segment, u32)>,
    pub keep_log: bool,
    out: Vec<fairlane_net::Out>,
}

/// Parameters over the preset `rfc`, unless they name another one.
pub fn params(mut json: serde_json::Value) -> TcpParams {
    if let Some(table) = json.as_object_mut() {
        table.entry("preset").or_insert("rfc".into());
    }
    resolve_params(json).unwrap()
}

impl Pair {
    pub fn new(p: &TcpParams, forward: Vec<Hop>, back: Vec<Hop>) -> Self {
        Self::between(p, p, forward, back)
    }

    /// Ends that differ: the opener and the one that is called.
    pub fn between(opener: &TcpParams, called: &TcpParams, forward: Vec<Hop>, back: Vec<Hop>) -> Self {
        let (a, b) = (Tcp::pair(opener, Class(0)).unwrap().0, Tcp::pair(called, Class(0)).unwrap().1);
        Self::of(a, b, forward, back)
    }

    /// A path that only delays, the same both ways.
    pub fn delayed(p: &TcpParams, one_way: Dur) -> Self {
        Self::new(p, vec![Hop::delay(one_way)], vec![Hop::delay(one_way)])
    }

    /// Access link, bottleneck, access link: the dumbbell of the reference runs.
    pub fn dumbbell(p: &TcpParams, limit: usize) -> Self {
        let access = || Hop::new(Rate::from_mbps(100), Dur::from_ms(1), usize::MAX);
        let middle = |limit| Hop::new(Rate::from_mbps(10), Dur::from_ms(20), limit);
        Self::new(p, vec![access(), middle(limit), access()], vec![access(), middle(usize::MAX), access()])
    }
}

impl<C: CongestionControl> Pair<C> {
    /// These two ends.
    pub fn of(a: Tcp<C>, b: Tcp<C>, forward: Vec<Hop>, back: Vec<Hop>) -> Self {
        Self {
            now: Time::ZERO,
            ends: [a, b],
            timers: [Timers::default(); 2],
            hops: [forward, back],
            script: [Box::new(|_, _| Fate::Pass), Box::new(|_, _| Fate::Pass)],
            sent: [0; 2],
            flying: Vec::new(),
            free: Vec::new(),
            queue: BinaryHeap::new(),
            events: Vec::new(),
            order: 0,
            armed: [Time::MAX; 2],
            delivered: [0; 2],
            finished: [None; 2],
            rtts: Vec::new(),
            log: Vec::new(),
            keep_log: true,
            out: Vec::new(),
        }
    }

    /// Drops the segments whose number among those with data (from 0) is listed.
    pub fn drop_data(&mut self, list: &[u64]) {
        let list = list.to_vec();
        let mut n = 0;
        self.script[0] = Box::new(move |_, s| {
            if s.payload == 0 {
                return Fate::Pass;
            }
            n += 1;
            if list.contains(&(n - 1)) { Fate::Drop } else { Fate::Pass }
        });
    }

    /// Marks and drops the data segments with these numbers in the order of sending (from 0).
    pub fn mark_data(&mut self, marked: &[u64], dropped: &[u64]) {
        let (marked, dropped) = (marked.to_vec(), dropped.to_vec());
        let mut n = 0;
        self.script[0] = Box::new(move |_, s| {
            if s.payload == 0 {
                return Fate::Pass;
            }
            n += 1;
            if dropped.contains(&(n - 1)) {
                Fate::Drop
            } else if marked.contains(&(n - 1)) {
                Fate::Mark
            } else {
                Fate::Pass
            }
        });
    }

    pub fn start(&mut self) {
        self.call(1, |e, cx| e.start(cx));
        self.call(0, |e, cx| e.start(cx));
    }
    /// Starts both ends, the first with data without end.
    pub fn start_endless(&mut self) {
        self.start();
        self.write(0, ENDLESS, false);
    }

    pub fn write(&mut self, end: usize, bytes: u64, fin: bool) {
        self.call(end, |e, cx| e.on_write(bytes, fin, cx));
    }

    pub fn call(&mut self, end: usize, f: impl FnOnce(&mut Tcp<C>, &mut Cx<'_>)) {
        let mut out = std::mem::take(&mut self.out);
        let mut cx = Cx::new(self.now, &mut out, &mut self.timers[end]);
        f(&mut self.ends[end], &mut cx);
        self.delivered[end] += cx.delivered;
        self.rtts.extend(cx.rtt);
        if cx.finished {
            assert_eq!(self.finished[end], None, "finished twice");
            self.finished[end] = Some(self.now);
        }
        for o in out.drain(..) {
            self.launch(end, o.seg, o.len);
        }
        self.out = out;
        let next = self.timers[end].next();
        if next < self.armed[end] {
            self.armed[end] = next;
            self.push(next, Event::Timers { end });
        }
    }

    fn launch(&mut self, dir: usize, mut seg: Segment, len: u32) {
        seg.sent = self.now;
        if self.keep_log {
            self.log.push((self.now, dir, seg, len));
        }
        let n = self.sent[dir];
        self.sent[dir] += 1;
        let fate = (self.script[dir])(n, &seg);
        if fate == Fate::Mark && seg.ecn().capable() {
            seg.set_ecn(Ecn::Ce);
        }
        let times = match fate {
            Fate::Drop => return,
            Fate::Pass | Fate::Mark => vec![Dur::ZERO],
            Fate::Twice => vec![Dur::ZERO; 2],
            Fate::Late(d) => vec![d],
        };
        for late in times {
            let index = self.free.pop().unwrap_or(self.flying.len());
            if index == self.flying.len() {
                self.flying.push((seg, len));
            } else {
                self.flying[index] = (seg, len);
            }
            self.push(self.now + late, Event::Arrive { dir, hop: 0, index });
        }
    }

    fn push(&mut self, at: Time, e: Event) {
        self.events.push(e);
        self.queue.push(Reverse((at, self.order, self.events.len() - 1)));
        self.order += 1;
    }

    /// Processes one event; returns false if there is none.
    pub fn step(&mut self) -> bool {
        let Some(Reverse((at, _, i))) = self.queue.pop() else { return false };
        let event = self.events[i];
        if self.queue.is_empty() {
            self.events.clear();
        }
        self.now = at;
        match event {
            Event::Arrive { dir, hop, index } => {
                let (seg, len) = self.flying[index];
                match self.hops[dir].get_mut(hop) {
                    Some(h) => match h.pass_marking(at, len, &mut self.flying[index].0) {
                        Some(next) => self.push(next, Event::Arrive { dir, hop: hop + 1, index }),
                        None => self.free.push(index),
                    },
                    None => {
                        self.free.push(index);
                        self.call(1 - dir, |e, cx| e.on_packet(&seg, cx));
                    }
                }
            }
            Event::Timers { end } => {
                if self.armed[end] == at {
                    self.armed[end] = Time::MAX;
                }
                while let Some(id) = self.timers[end].take_due(at) {
                    self.call(end, |e, cx| e.on_timer(id, cx));
                }
                self.call(end, |_, _| {});
            }
        }
        true
    }

    pub fn run_until(&mut self, at: Time) {
        while self.queue.peek().is_some_and(|Reverse((t, ..))| *t <= at) {
            self.step();
        }
        self.now = at;
    }

    pub fn run(&mut self, for_: Dur) {
        self.run_until(self.now + for_);
    }

    /// True if an event is pending.
    pub fn alive(&self) -> bool {
        self.flying.len() > self.free.len() || self.timers.iter().any(|t| t.next() != Time::MAX)
    }

    pub fn rto_pending(&self, end: usize) -> bool {
        self.timers[end].get(TimerId::Rto).is_some()
    }
}
