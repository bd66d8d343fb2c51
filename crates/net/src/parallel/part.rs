//! One part: a world in which only some nodes act, and its mail.

use super::ledger::{Ledger, Loss};
use super::mailbox::{Answer, Mailbox, Notices, Question, Sent};
use crate::endpoint::Endpoint;
use crate::packet::Packet;
use crate::world::{Components, World};
use fairlane_engine::EventQueue;
use fairlane_units::Time;
use std::collections::VecDeque;

/// Head of the ring of a cut port, never taken off: the port has no events, because its far side has them.
const STOPPER: Packet = Packet { at: Time::MAX, ..Packet::BLANK };

/// A loss that waits for the round-trip times of its flow.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    loss: Loss,
    /// Answers still missing.
    open: u8,
    n: u64,
    sum: u128,
}

/// One part of a network.
#[derive(Clone)]
pub(super) struct Part<P: Components, H: EventQueue> {
    pub(super) world: World<P, H>,
    pub(super) ledger: Ledger,
    /// Cut ports that begin here, with the part that each leads to.
    exits: Vec<(u32, u16)>,
    /// Mail for each part.
    pub(super) outbox: Vec<Mailbox>,
    /// Notices received.
    inbox: Notices,
    /// Events so far.
    pub(super) load: u64,
    /// Losses in their order; `first` is the number of the first one's question.
    waiting: VecDeque<Waiting>,
    first: u64,
}

impl<P: Components, H: EventQueue> Part<P, H> {
    pub(super) fn new(mut world: World<P, H>, ledger: Ledger, exits: Vec<(u32, u16)>, parts: usize, load: u64) -> Self {
        for &(i, _) in &exits {
            world.path.ports[i as usize].ring.push(STOPPER);
        }
        world.path.end_upstream(exits.iter().map(|&(i, _)| i));
        Self {
            world,
            ledger,
            exits,
            outbox: vec![Mailbox::default(); parts],
            inbox: Notices::default(),
            load,
            waiting: VecDeque::new(),
            first: 0,
        }
    }

    /// Receives the mail of another part.
    pub(super) fn receive(&mut self, mail: &mut Mailbox) {
        let path = &mut self.world.path;
        for Sent { mut pkt, seg } in mail.sent.drain(..) {
            let port = path.hops[pkt.hop as usize];
            pkt.id = path.arena.insert(&seg);
            path.receive_remote(port, pkt);
        }
        if !mail.notices.is_empty() {
            self.inbox.append(&mut mail.notices);
        }
    }

    /// Begins a window, after all mail was received.
    pub(super) fn begin_window(&mut self) {
        if !self.inbox.is_empty() || !self.ledger.deliveries.is_empty() {
            self.read_notices();
        }
        self.ledger.measured.clear();
    }

    #[cold]
    fn read_notices(&mut self) {
        let mut inbox = std::mem::take(&mut self.inbox);
        if !inbox.wrote.is_empty() || !self.ledger.deliveries.is_empty() {
            self.complete(&mut inbox);
        }
        for ask in inbox.questions.drain(..) {
            let rtt = &self.world.path.flows[ask.flow.0 as usize].counters.rtt;
            let later = self.ledger.measured.iter().filter(|m| m.flow == ask.flow && m.when > ask.when);
            let (mut n, mut sum) = (rtt.n, rtt.sum());
            for m in later {
                (n, sum) = (n.saturating_sub(1), sum.saturating_sub(u128::from(m.rtt.as_ps())));
            }
            self.outbox[ask.from as usize].notices.answers.push(Answer { number: ask.number, n, sum });
        }
        for answer in inbox.answers.drain(..) {
            // Losses before the end of the warm-up were forgotten.
            let place = answer.number.checked_sub(self.first);
            if let Some(w) = place.and_then(|i| self.waiting.get_mut(i as usize)) {
                w.open -= 1;
                w.n += answer.n;
                w.sum += answer.sum;
            }
        }
        while let Some(w) = self.waiting.front().filter(|w| w.open == 0) {
            let rtt = if w.n == 0 { 0 } else { (w.sum as f64 / w.n as f64) as u64 };
            self.world.path.ports[w.loss.port as usize].counters.loss_events.lost(w.loss.flow, w.loss.at, rtt);
            self.waiting.pop_front();
            self.first += 1;
        }
        self.inbox = inbox;
    }

    /// Starts receivers of flows that began in other parts, and marks flows as completed by the deliveries of the window before.
    #[cold]
    fn complete(&mut self, inbox: &mut Notices) {
        enum What {
            Wrote { began: Time, written: u64, closed: bool },
            Delivered(u64),
        }
        let mut all: Vec<_> = inbox
            .wrote
            .drain(..)
            .map(|w| (w.flow.0, w.when, What::Wrote { began: w.began, written: w.written, closed: w.closed }))
            .collect();
        all.extend(self.ledger.deliveries.drain(..).map(|d| (d.flow.0, d.when, What::Delivered(d.delivered))));
        all.sort_by_key(|&(flow, when, _)| (flow, when));
        for (f, when, what) in all {
            let flow = &mut self.world.path.flows[f as usize];
            match what {
                What::Wrote { began, written, closed } => {
                    let first = flow.started == Time::MAX;
                    (flow.started, flow.written, flow.closed) = (began, written, closed);
                    if first {
                        self.world.with_endpoint(2 * f + 1, began, &mut self.ledger, |e, cx| e.start(cx));
                    }
                }
                What::Delivered(delivered) => {
                    if flow.closed && delivered >= flow.written && flow.completed == Time::MAX {
                        flow.completed = when.time();
                    }
                }
            }
        }
    }

    /// Runs all events up to and including `until`. Returns their number.
    pub(super) fn run(&mut self, until: Time) -> u64 {
        let before = self.world.events_run;
        // Shortcuts stay active from one window to the next.
        self.world.path.activate_shortcuts::<Ledger>();
        self.world.run_until(until, u64::MAX, &mut self.ledger);
        self.ledger.end(until);
        self.close(until);
        let events = self.world.events_run - before;
        self.load += events;
        events
    }

    /// Carries out transmissions into other parts that begin up to `until`, and puts them into the outbox.
    fn close(&mut self, until: Time) {
        for &(i, to) in &self.exits {
            let port = &self.world.path.ports[i as usize];
            if port.queued {
                self.world.path.settle::<_, true>(i, until, &mut self.ledger);
            } else if port.ring.len() == 1 {
                continue;
            }
            let path = &mut self.world.path;
            let port = &mut path.ports[i as usize];
            // The ring holds the stopper, packets on the link, then queued packets.
            let on_link = port.ring.len() - port.waiting.pkts as usize - 1;
            let sent = &mut self.outbox[to as usize].sent;
            for k in 1..=on_link {
                if let Some(&pkt) = port.ring.get(k) {
                    sent.push(Sent { pkt, seg: path.arena.remove(pkt.id) });
                }
            }
            port.ring.skip(on_link);
            if let Some(head) = port.ring.get_mut(0) {
                *head = STOPPER;
            }
        }
        for w in self.ledger.wrote.drain(..) {
            let to = self.ledger.homes[2 * w.flow.0 as usize + 1];
            self.outbox[to as usize].notices.wrote.push(w);
        }
        for loss in self.ledger.losses.drain(..) {
            let number = self.first + self.waiting.len() as u64;
            let ends = [0, 1].map(|end| self.ledger.homes[2 * loss.flow.0 as usize + end]);
            let asked = if ends[0] == ends[1] { &ends[..1] } else { &ends[..] };
            for &home in asked {
                self.outbox[home as usize].notices.questions.push(Question {
                    from: self.ledger.own,
                    number,
                    flow: loss.flow,
                    when: loss.when,
                });
            }
            self.waiting.push_back(Waiting { loss, open: asked.len() as u8, n: 0, sum: 0 });
        }
    }

    /// Ends the run: carries out all departures due by `now`, so that counters are those of this instant.
    pub(super) fn settle(&mut self, now: Time) {
        self.world.path.materialize(None, &mut self.ledger);
        self.world.settle(&mut self.ledger);
        self.close(now);
    }

    /// Time of the next event or departure, unless mail comes first.
    pub(super) fn next(&mut self) -> Time {
        let events = &mut self.world.path.events;
        let event = events.pop_until(Time::MAX).map_or(Time::MAX, |(time, number)| {
            events.push(time, number);
            time
        });
        let ports = &self.world.path.ports;
        let departs = |&(i, _): &(u32, u16)| Some(&ports[i as usize]).filter(|p| p.queued).map_or(Time::MAX, |p| p.next_start());
        self.exits.iter().map(departs).min().unwrap_or(Time::MAX).min(event)
    }

    /// Resets the counters at the end of the warm-up.
    pub(super) fn reset_counters(&mut self) {
        self.world.path.materialize(None, &mut self.ledger);
        self.world.reset_counters(&mut self.ledger);
        self.first += self.waiting.len() as u64;
        self.waiting.clear();
        self.ledger.losses.clear();
    }

    /// Returns its world, without the stoppers.
    pub(super) fn finish(mut self) -> World<P, H> {
        for &(i, _) in &self.exits {
            self.world.path.ports[i as usize].ring.clear();
        }
        self.world
    }
}
