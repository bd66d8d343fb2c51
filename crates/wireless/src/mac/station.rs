//! One station.

use super::{AfterTimeout, Dcf, Frame, Kind, Msdu};
use crate::rates::{Rates, Rung};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// The packet that a station is about to send, or is sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Current {
    /// The packet.
    pub msdu: Msdu,
    /// When it became the head of the queue.
    pub since: Time,
    /// True if the receiver has it already: what is sent then only asks for another acknowledgment.
    pub delivered: bool,
    short: u32,
    long: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing to send; a backoff may still run.
    Rest,
    /// A packet waits for its turn.
    Contend,
    /// Its turn came at the very instant at which the medium became busy: it sends at this time.
    Due(Time),
    /// A frame of its own that is not an answer is on the air.
    Sending(Kind),
    /// Waits for the answer to a frame of this kind; past `until` it does so only while a frame is being received.
    Await { kind: Kind, until: Time },
    /// A CTS has come, or has been sent to itself; data follow after SIFS.
    Cleared(Time),
}

/// Outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was acknowledged.
    Acknowledged(Current),
    /// It was given up after the last attempt.
    GivenUp(Current),
}

/// The state of one station.
#[derive(Clone, Debug)]
pub struct Mac {
    me: u32,
    phase: Phase,
    current: Option<Current>,
    cw: u32,
    /// Slots of backoff left at `base`.
    slots: u64,
    /// From when on slots count, while the medium is idle.
    base: Time,
    busy: bool,
    idle_since: Time,
    /// The medium is spoken for until then.
    nav: Time,
    /// Before it no slot counts: EIFS after a frame that was not received well.
    guard: Time,
    /// When the NAV of an RTS is looked at again.
    doubt: Time,
    /// True if anything was begun since that RTS.
    heard: bool,
    /// An answer that goes out after SIFS.
    reply: Option<(Time, Frame)>,
    rates: Rates,
    /// Rate of the frame in flight.
    with: Rung,
    rng: Stream,
}

impl Mac {
    /// Draws from another stream from now on.
    pub(crate) fn reseed(&mut self, number: u64) {
        self.rng.fork(number);
    }

    /// A station at rest, with its own random numbers.
    pub fn new(me: u32, dcf: &Dcf, rng: Stream) -> Self {
        Self {
            me,
            phase: Phase::Rest,
            current: None,
            cw: dcf.cw_min,
            slots: 0,
            base: Time::ZERO,
            busy: false,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            guard: Time::ZERO,
            doubt: Time::MAX,
            heard: false,
            reply: None,
            rates: Rates::default(),
            with: dcf.fixed(),
            rng,
        }
    }

    /// The packet in hand.
    pub fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }
    pub(crate) fn current_mut(&mut self) -> Option<&mut Current> {
        self.current.as_mut()
    }
    /// True if it has nothing in hand.
    pub fn rests(&self) -> bool {
        self.current.is_none()
    }
    /// The contention window.
    pub fn cw(&self) -> u32 {
        self.cw
    }

    /// From when on slots count once the medium is idle: DIFS after its end and that of the NAV, EIFS after a frame that failed.
    fn access(&self, dcf: &Dcf) -> Time {
        (self.idle_since.max(self.nav) + dcf.difs).max(self.guard)
    }

    /// When it wants [`Mac::fire`] to be called; `MAX` for never. What happens before may move it.
    pub fn deadline(&self, dcf: &Dcf) -> Time {
        let turn = match self.phase {
            Phase::Contend if !self.busy => self.base.later(dcf.slot * self.slots),
            Phase::Await { until, .. } => until,
            Phase::Cleared(at) | Phase::Due(at) => at,
            _ => Time::MAX,
        };
        let reply = self.reply.as_ref().map_or(Time::MAX, |r| r.0);
        turn.min(reply).min(self.doubt)
    }

    /// Takes the next packet of the queue.
    pub fn offer(&mut self, msdu: Msdu, dcf: &Dcf, now: Time) {
        debug_assert!(self.current.is_none());
        self.current = Some(Current { msdu, since: now, delivered: false, short: 0, long: 0 });
        self.count(dcf, now);
        if self.slots == 0 {
            if self.busy || now < self.nav {
                self.draw();
                self.base = self.access(dcf);
            } else {
                let arrived = if dcf.at_once { now } else { now + dcf.difs };
                self.base = self.access(dcf).max(arrived);
            }
        }
        self.phase = Phase::Contend;
    }

    fn draw(&mut self) {
        self.slots = self.rng.below(u64::from(self.cw) + 1);
    }

    /// Takes off the slots that have passed idle.
    fn count(&mut self, dcf: &Dcf, now: Time) {
        if !self.busy && now > self.base && self.slots > 0 {
            let passed = (now.since(self.base).as_ps() / dcf.slot.as_ps()).min(self.slots);
            self.slots -= passed;
            self.base += dcf.slot * passed;
        }
    }

    /// The medium became busy; a slot that is over by now was idle. Its own frames are among what makes it busy.
    pub fn on_busy(&mut self, dcf: &Dcf, now: Time) {
        // Whose turn has come at this instant does not see it any more.
        if self.phase == Phase::Contend && now >= self.base.later(dcf.slot * self.slots) {
            self.slots = 0;
            self.phase = Phase::Due(now);
        } else {
            self.count(dcf, now);
            // The model's clock has one tick for all of a transmission, and bystanders count it.
            if dcf.after_timeout == AfterTimeout::Known && !self.busy && now >= self.base {
                self.slots = self.slots.saturating_sub(1);
            }
        }
        self.busy = true;
    }

    /// The medium became idle.
    pub fn on_idle(&mut self, dcf: &Dcf, now: Time) {
        self.busy = false;
        self.idle_since = now;
        self.base = self.access(dcf);
    }

    /// The header of a frame was received well (PHY-RXSTART).
    pub fn on_begin(&mut self) {
        self.heard = true;
    }

    /// A frame of its own has left.
    pub fn on_sent(&mut self, dcf: &Dcf, now: Time) {
        let Phase::Sending(kind) = self.phase else { return };
        if kind == Kind::Cts {
            self.phase = Phase::Cleared(now + dcf.sifs);
            return;
        }
        let answer = if kind == Kind::Rts { dcf.cts } else { self.with.ack };
        self.phase = Phase::Await { kind, until: now + dcf.patience(answer) };
    }

    /// A frame was received well. Returns what became of the packet in hand, if this decides it.
    pub fn on_frame(&mut self, f: &Frame, dcf: &Dcf, now: Time) -> Option<Outcome> {
        // A good frame ends EIFS (clause 10.3.2.3.7).
        self.guard = Time::ZERO;
        let awaited = match self.phase {
            Phase::Await { kind, .. } => Some(kind),
            _ => None,
        };
        if f.to != self.me {
            let until = now + f.nav;
            if until > self.nav {
                self.nav = until;
                let doubtful = f.kind == Kind::Rts && dcf.nav_reset;
                self.doubt = if doubtful { dcf.rts_forgotten(now) } else { Time::MAX };
                self.heard = false;
            }
        } else {
            match (f.kind, awaited) {
                (Kind::Data, _) => self.reply = Some((now + dcf.sifs, dcf.ack(self.me, f))),
                (Kind::Rts, _) if now >= self.nav => self.reply = Some((now + dcf.sifs, dcf.cts(self.me, f))),
                (Kind::Cts, Some(Kind::Rts)) => {
                    if let Some(c) = &mut self.current {
                        c.short = 0;
                    }
                    self.phase = Phase::Cleared(now + dcf.sifs);
                    return None;
                }
                (Kind::Ack, Some(Kind::Data)) => {
                    self.cw = dcf.cw_min;
                    self.rates.report(f.from, true, &dcf.control, &dcf.rungs);
                    return self.done(dcf).map(Outcome::Acknowledged);
                }
                _ => {}
            }
        }
        awaited.and_then(|kind| self.failed(kind, dcf, now))
    }

    /// A frame that was begun was not received well.
    pub fn on_error(&mut self, dcf: &Dcf, now: Time) -> Option<Outcome> {
        self.guard = now + dcf.eifs;
        match self.phase {
            Phase::Await { kind, .. } => self.failed(kind, dcf, now),
            _ => None,
        }
    }

    /// No answer came.
    fn failed(&mut self, kind: Kind, dcf: &Dcf, now: Time) -> Option<Outcome> {
        let c = self.current.as_mut()?;
        if kind == Kind::Data {
            self.rates.report(c.msdu.to, false, &dcf.control, &dcf.rungs);
        }
        let behind_rts = kind == Kind::Data && c.msdu.bytes > dcf.rts_threshold;
        let over = if behind_rts {
            c.long += 1;
            c.long >= dcf.long_retries
        } else {
            c.short += 1;
            c.short >= dcf.short_retries
        };
        if over {
            self.cw = dcf.cw_min;
            return self.done(dcf).map(Outcome::GivenUp);
        }
        self.cw = self.cw.saturating_mul(2).saturating_add(1).min(dcf.cw_max);
        self.phase = Phase::Contend;
        self.restart(dcf, now);
        None
    }

    /// A new backoff after an attempt.
    fn restart(&mut self, dcf: &Dcf, now: Time) {
        self.draw();
        let from = match dcf.after_timeout {
            AfterTimeout::AtOnce | AfterTimeout::Known => now,
            AfterTimeout::Difs => now + dcf.difs,
        };
        self.base = self.access(dcf).max(from);
    }

    /// The packet in hand is no more; a backoff follows it, whether another one waits or not (clause 10.3.4.3).
    fn done(&mut self, dcf: &Dcf) -> Option<Current> {
        self.phase = Phase::Rest;
        self.draw();
        self.base = self.access(dcf);
        self.current.take()
    }

    /// Its deadline has come: the frame to send now, or what became of the packet. `receiving`: a frame is in flight to it whose header was received well.
    pub fn fire(&mut self, receiving: bool, dcf: &Dcf, now: Time) -> (Option<Frame>, Option<Outcome>) {
        if self.doubt <= now {
            self.doubt = Time::MAX;
            if !self.heard && !receiving && self.nav > now {
                self.nav = now;
                if !self.busy {
                    self.base = self.access(dcf);
                }
            }
        }
        if let Some((_, frame)) = self.reply.take_if(|r| r.0 <= now) {
            return (Some(frame), None);
        }
        match self.phase {
            Phase::Contend if !self.busy && self.base.later(dcf.slot * self.slots) <= now => {
                self.slots = 0;
                (self.transmit(dcf, now), None)
            }
            Phase::Due(at) if at <= now => (self.transmit(dcf, now), None),
            Phase::Cleared(at) if at <= now => {
                self.phase = Phase::Sending(Kind::Data);
                (self.current.map(|c| dcf.data(self.me, &c.msdu, self.with, c.short + c.long > 0)), None)
            }
            Phase::Await { kind, until } if until <= now => {
                if receiving {
                    self.phase = Phase::Await { kind, until: Time::MAX };
                    return (None, None);
                }
                (None, self.failed(kind, dcf, now))
            }
            _ => (None, None),
        }
    }

    fn transmit(&mut self, dcf: &Dcf, now: Time) -> Option<Frame> {
        let c = self.current?;
        let behind_rts = c.msdu.bytes > dcf.rts_threshold;
        let attempt = if behind_rts { c.long } else { c.short };
        let picked = self.rates.pick(c.msdu.to, attempt, &dcf.control, &dcf.rungs, now, &mut self.rng);
        self.with = picked.unwrap_or(dcf.fixed());
        let with = self.with;
        let (kind, frame) = if behind_rts {
            (Kind::Rts, dcf.rts(self.me, &c.msdu, with, c.short > 0))
        } else if let Some(tone) = dcf.protection {
            (Kind::Cts, dcf.cts_to_self(self.me, tone, &c.msdu, with))
        } else {
            (Kind::Data, dcf.data(self.me, &c.msdu, with, c.short > 0))
        };
        self.phase = Phase::Sending(kind);
        Some(frame)
    }

    /// True if it must not be spoken to: it waits for an answer, or its own frame is on the air.
    pub fn in_exchange(&self) -> bool {
        !matches!(self.phase, Phase::Rest | Phase::Contend)
    }

    /// Time left of the NAV.
    pub fn spoken_for(&self, now: Time) -> Dur {
        self.nav.since(now)
    }
}
