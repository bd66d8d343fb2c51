//! A flow of a stack over a path with a delay, and losses that a test chooses.

#![allow(dead_code, reason = "no test file uses all of it")]

use fairlane_net::{Class, Cx, Ecn, Endpoint, Segment, TimerId, Timers, Usage};
use fairlane_stacks::{Implementation, Seat, Stack, StackEndpoint, StackFault};
use fairlane_units::{Dur, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;

pub(crate) const STREAMS: Usage = Usage { dialogue: false, amounts: true };

thread_local! {
    pub(crate) static FAULTS: RefCell<Vec<StackFault>> = const { RefCell::new(Vec::new()) };
}

fn note(fault: StackFault) {
    FAULTS.with_borrow_mut(|f| f.push(fault));
}

/// Both ends of a flow, and the packets between them.
pub(crate) struct Pair {
    pub(crate) ends: [StackEndpoint; 2],
    pub(crate) timers: [Timers; 2],
    pub(crate) flying: BTreeMap<(Time, u64), (usize, Segment)>,
    pub(crate) now: Time,
    pub(crate) count: u64,
    pub(crate) delivered: [u64; 2],
    /// Hash of all packets, sent at which times.
    pub(crate) print: u64,
    /// Number of packets sent by each end.
    pub(crate) sent: [u64; 2],
    pub(crate) lost: fn(usize, u64) -> bool,
    /// Marks packets of the sender from this number on.
    pub(crate) marks_from: u64,
}

/// Checks that a run with a seed has the same hash of all packets again, on another thread too, and with another seed a different one.
pub(crate) fn same_bytes(run: impl Fn(u64) -> u64 + Send + Copy + 'static) {
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let other = std::thread::spawn(move || run(1)).join().unwrap();
    assert_eq!(run(1), other);
}

pub(crate) fn ms(n: u64) -> Dur {
    Dur::from_ms(n)
}

impl Pair {
    pub(crate) fn of<P: Implementation>(params: &P, seed: u64, usage: Usage) -> Self {
        Self::with((seed, usage), |seat| params.build(seat))
    }

    pub(crate) fn with((seed, usage): (u64, Usage), build: impl Fn(&Seat) -> Result<Option<Box<dyn Stack>>, String>) -> Self {
        let (a, b) = StackEndpoint::pair("tested", (seed, "app"), (Class(0), 28), usage, note, build);
        let mut pair = Self {
            ends: [a, b],
            timers: Default::default(),
            flying: BTreeMap::new(),
            now: Time::ZERO,
            count: 0,
            delivered: [0; 2],
            print: 0,
            sent: [0; 2],
            lost: |_, _| false,
            marks_from: u64::MAX,
        };
        pair.call(1, |e, cx| e.start(cx));
        pair.call(0, |e, cx| e.start(cx));
        pair
    }

    pub(crate) fn call(&mut self, end: usize, f: impl FnOnce(&mut StackEndpoint, &mut Cx<'_>)) {
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out, &mut self.timers[end]);
        f(&mut self.ends[end], &mut cx);
        self.delivered[end] += cx.delivered;
        for o in out {
            self.print = self.print.rotate_left(7) ^ self.now.as_ps() ^ o.seg.seq ^ o.seg.ack ^ u64::from(o.len);
            self.sent[end] += 1;
            if (self.lost)(end, self.sent[end]) {
                continue;
            }
            let mut seg = o.seg;
            if end == 0 && self.sent[0] >= self.marks_from && seg.ecn().capable() {
                seg.set_ecn(Ecn::Ce);
            }
            // 100 Mbit/s would be 0.1 ms a packet; the path has no queue, so one after the other.
            self.count += 1;
            self.flying.insert((self.now + ms(20), self.count), (1 - end, seg));
        }
    }

    pub(crate) fn write(&mut self, bytes: u64, fin: bool) {
        self.call(0, |e, cx| e.on_write(bytes, fin, cx));
    }

    pub(crate) fn run(&mut self, until: Dur) -> &mut Self {
        let end = Time::ZERO + until;
        for _ in 0..1_000_000 {
            let timer = self.timers[0].next().min(self.timers[1].next());
            let packet = self.flying.keys().next().map_or(Time::MAX, |k| k.0);
            let next = timer.min(packet);
            if next > end {
                self.now = end;
                return self;
            }
            self.now = next;
            if packet <= timer {
                let (_, (to, seg)) = self.flying.pop_first().unwrap();
                self.call(to, |e, cx| e.on_packet(&seg, cx));
            } else {
                let at = usize::from(self.timers[1].next() < self.timers[0].next());
                assert_eq!(self.timers[at].take_due(next), Some(TimerId::Rto));
                self.call(at, |e, cx| e.on_timer(TimerId::Rto, cx));
            }
        }
        panic!("time stands still at {:?}", self.now);
    }

    pub(crate) fn connection(&self) -> &'static str {
        self.ends[0].moment().unwrap().connection
    }
}
