//! Two endpoints and a path between them: a link of some rate, a delay, and a rule that says what becomes of each packet.

use fairlane_net::{Cx, ENDLESS, Ecn, Endpoint, Segment, Timers};
use fairlane_units::{Dur, Time};
use std::collections::BTreeMap;

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    Lost,
    Marked,
    /// Arrives this much later than the others.
    Late(Dur),
    Twice,
}

/// One end with its timers.
pub(super) struct End<E> {
    pub(super) e: E,
    pub(super) timers: Timers,
}

/// The pair. Packets towards the receiver take the link's time and the delay, those towards the sender the delay.
pub(super) struct Pair<S, R> {
    pub(super) now: Time,
    pub(super) sender: End<S>,
    pub(super) receiver: End<R>,
    pub(super) delay: Dur,
    /// Seconds a packet takes on the link; packets wait for one another without bound.
    pub(super) tx: Dur,
    free: Time,
    flying: BTreeMap<(Time, u64), (bool, Segment)>,
    count: u64,
    /// Data packets sent: when, which, how much.
    pub(super) sent: Vec<(Time, u64, u16)>,
    /// Packets of the receiver: when they were sent.
    pub(super) answers: Vec<(Time, Segment)>,
    pub(super) delivered: u64,
}

impl<S: Endpoint, R: Endpoint> Pair<S, R> {
    pub(super) fn new((sender, receiver): (S, R), delay: Dur) -> Self {
        let end = |_: ()| Timers::default();
        Self {
            now: Time::ZERO,
            sender: End { e: sender, timers: end(()) },
            receiver: End { e: receiver, timers: end(()) },
            delay,
            tx: Dur::ZERO,
            free: Time::ZERO,
            flying: BTreeMap::new(),
            count: 0,
            sent: vec![],
            answers: vec![],
            delivered: 0,
        }
    }

    /// Writes at the sender.
    pub(super) fn write(&mut self, bytes: u64, fate: &mut impl FnMut(bool, &Segment) -> Fate) {
        self.at_sender(fate, |e, cx| e.on_write(bytes, false, cx));
    }

    pub(super) fn endless(&mut self) {
        self.write(ENDLESS, &mut |_, _| Fate::Arrives);
    }

    fn at_sender(&mut self, fate: &mut impl FnMut(bool, &Segment) -> Fate, call: impl FnOnce(&mut S, &mut Cx<'_>)) {
        let mut out = vec![];
        call(&mut self.sender.e, &mut Cx::new(self.now, &mut out, &mut self.sender.timers));
        for o in out {
            self.sent.push((self.now, o.seg.seq, o.seg.payload));
            let f = fate(true, &o.seg);
            self.free = self.free.max(self.now) + self.tx;
            self.post(true, o.seg, self.free + self.delay, f);
        }
    }

    fn at_receiver(&mut self, fate: &mut impl FnMut(bool, &Segment) -> Fate, call: impl FnOnce(&mut R, &mut Cx<'_>)) {
        let mut out = vec![];
        let mut cx = Cx::new(self.now, &mut out, &mut self.receiver.timers);
        call(&mut self.receiver.e, &mut cx);
        self.delivered += cx.delivered;
        for o in out {
            self.answers.push((self.now, o.seg));
            let f = fate(false, &o.seg);
            self.post(false, o.seg, self.now + self.delay, f);
        }
    }

    fn post(&mut self, forward: bool, mut seg: Segment, at: Time, fate: Fate) {
        let mut put = |at, seg| {
            self.count += 1;
            self.flying.insert((at, self.count), (forward, seg));
        };
        match fate {
            Fate::Lost => {}
            Fate::Arrives => put(at, seg),
            Fate::Marked => {
                seg.set_ecn(Ecn::Ce);
                put(at, seg);
            }
            Fate::Late(d) => put(at + d, seg),
            Fate::Twice => {
                put(at, seg);
                put(at + self.delay, seg);
            }
        }
    }

    /// Runs up to and including `until`.
    pub(super) fn run(&mut self, until: Time, fate: &mut impl FnMut(bool, &Segment) -> Fate) {
        loop {
            let packet = self.flying.first_key_value().map_or(Time::MAX, |(k, _)| k.0);
            let next = packet.min(self.sender.timers.next()).min(self.receiver.timers.next());
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if packet == next {
                let Some((_, (forward, seg))) = self.flying.pop_first() else { return };
                if forward {
                    self.at_receiver(fate, |e, cx| e.on_packet(&seg, cx));
                } else {
                    self.at_sender(fate, |e, cx| e.on_packet(&seg, cx));
                }
            } else if let Some(id) = self.receiver.timers.take_due(next) {
                self.at_receiver(fate, |e, cx| e.on_timer(id, cx));
            } else if let Some(id) = self.sender.timers.take_due(next) {
                self.at_sender(fate, |e, cx| e.on_timer(id, cx));
            }
        }
    }

    /// Data packets sent in a span.
    pub(super) fn packets(&self, from: Time, to: Time) -> usize {
        self.sent.iter().filter(|s| s.0 >= from && s.0 < to).count()
    }
}

/// An instant in milliseconds.
pub(super) fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_ms(n)
}
