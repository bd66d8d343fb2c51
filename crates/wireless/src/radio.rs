//! The receiver of a station: the signals that reach it, and the one that it decodes.

use crate::errors::{self, Errors};
use crate::mac::{Frame, Mac};
use crate::phy::Tone;
use crate::power::{Power, Ratio};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// Why a frame did not get to the station it was for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// Other signals were too strong, or its receiver was at work with another one.
    Collision,
    /// Too weak against the noise alone.
    Noise,
    /// The station was sending itself.
    Sending,
}

impl Lost {
    /// Number of reasons.
    pub const COUNT: usize = 3;
}

/// Counters of a station. Frames are its own, unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RadioCounters {
    /// Data frames sent, retries included.
    pub data_tx: u64,
    /// Data frames and RTS that are retransmissions.
    pub retries: u64,
    /// Requests to send.
    pub rts_tx: u64,
    /// Clears to send.
    pub cts_tx: u64,
    /// Acknowledgments.
    pub ack_tx: u64,
    /// Data frames acknowledged.
    pub acked: u64,
    /// Packets given up after the last attempt.
    pub given_up: u64,
    /// Dropped packets that the receiver has: only acknowledgments were lost.
    pub given_up_delivered: u64,
    /// Frames that did not get to the station they were for, by reason.
    pub lost: [u64; Lost::COUNT],
    /// Packets that it received for itself, each once.
    pub received: u64,
    /// Time from the head of the queue to the acknowledgment, of acknowledged packets, in picoseconds.
    pub service: u128,
    /// Time that it was sending.
    pub airtime: Dur,
    /// Time that its medium was busy, its own frames included.
    pub busy: Dur,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    from: u32,
    power: Power,
    since: Time,
    until: Time,
    /// No other signal was there at any time of it.
    alone: bool,
}

/// The signal that a receiver follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    pub(crate) from: u32,
    power: Power,
    since: Time,
    preamble_end: Time,
    header_end: Time,
    header_bad: bool,
    body_bad: bool,
    /// Logarithms of the chances that header and body were received well so far, where that is left to chance.
    header_chance: f64,
    body_chance: f64,
    tone: Tone,
}

/// Outcome of a signal at a receiver.
pub(crate) struct Ended {
    /// True if its frame was received well, if it was followed to its end.
    pub(crate) good: Option<bool>,
    pub(crate) power: Power,
    /// True if it was alone.
    pub(crate) alone: bool,
}

impl Lock {
    /// Takes into account other signals on the air for a time.
    fn suffer(&mut self, others: Power, rules: &Rules, from: Time, to: Time) {
        match rules.errors {
            Errors::Threshold => {
                if !self.power.over(others, rules.decode) {
                    self.header_bad |= from < self.header_end && to > self.preamble_end;
                    self.body_bad |= to > self.header_end;
                }
            }
            Errors::Rates => {
                let sinr = self.power.db_over(others);
                let bits = |tone: Tone, time: Dur| time.as_secs_f64() * f64::from(tone.kbps) * 1e3;
                let header = to.min(self.header_end).since(from.max(self.preamble_end));
                if header > Dur::ZERO {
                    let tone = self.tone.wave.header_tone();
                    self.header_chance += errors::log_chance(tone, sinr) * bits(tone, header);
                }
                let body = to.since(from.max(self.header_end));
                if body > Dur::ZERO {
                    self.body_chance += errors::log_chance(self.tone, sinr) * bits(self.tone, body);
                }
            }
        }
    }
    /// True if its header may turn out to be unreadable under the signals on the air now.
    fn may_fail(&self, others: Power, rules: &Rules) -> bool {
        match rules.errors {
            Errors::Threshold => !self.power.over(others, rules.decode),
            Errors::Rates => {
                let tone = self.tone.wave.header_tone();
                let bits = self.header_end.since(self.preamble_end).as_secs_f64() * f64::from(tone.kbps) * 1e3;
                libm::exp(errors::log_chance(tone, self.power.db_over(others)) * bits) < 1.0
            }
        }
    }
    /// True if its header is over and was received well.
    fn header_good(&self, now: Time) -> bool {
        now >= self.header_end && !self.header_bad
    }
}

/// How receivers of a medium decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) noise: Power,
    pub(crate) least: Power,
    pub(crate) cca: Power,
    pub(crate) decode: Ratio,
    pub(crate) errors: Errors,
    pub(crate) detect: Option<Ratio>,
    pub(crate) capture: Option<(Ratio, Dur)>,
    pub(crate) headers_fail: bool,
    pub(crate) overlaid_unsensed: bool,
}

/// True if something went wrong; what was asked once is decided.
fn fate(luck: &mut Stream, log_chance: &mut f64) -> bool {
    let log = std::mem::take(log_chance);
    log < 0.0 && luck.uniform() >= libm::exp(log)
}

/// A station's receiver, transmitter and medium access.
#[derive(Clone, Debug)]
pub(crate) struct Radio {
    heard: Vec<Heard>,
    total: Power,
    changed: Time,
    lock: Option<Lock>,
    /// Signals that are there, but of which medium access does not hear.
    unsensed: bool,
    /// End of the header of the frame that it follows, where the medium may become idle then.
    pub(crate) check: Time,
    pub(crate) sending: bool,
    sends_until: Time,
    pub(crate) busy: bool,
    busy_since: Time,
    pub(crate) mac: Mac,
    luck: Stream,
    /// The time of its event that is queued.
    pub(crate) armed: Time,
    pub(crate) counters: RadioCounters,
}

impl Radio {
    pub(crate) fn new(mac: Mac, luck: Stream) -> Self {
        Self {
            heard: Vec::with_capacity(8),
            total: Power::ZERO,
            changed: Time::ZERO,
            lock: None,
            unsensed: false,
            check: Time::MAX,
            sending: false,
            sends_until: Time::ZERO,
            busy: false,
            busy_since: Time::ZERO,
            mac,
            luck,
            armed: Time::MAX,
            counters: RadioCounters::default(),
        }
    }

    /// Draws from other streams from now on.
    pub(crate) fn reseed(&mut self, number: u64) {
        self.luck.fork(number);
        self.mac.reseed(number);
    }

    /// True if it receives a frame; `header`: one whose header was received well.
    pub(crate) fn receiving(&mut self, header: bool, rules: &Rules, now: Time) -> bool {
        self.account(rules, now);
        self.lock.is_some_and(|l| !header || l.header_good(now))
    }

    /// Charges the signals since the last change to the frame that is being received.
    fn account(&mut self, rules: &Rules, now: Time) {
        if let Some(l) = &mut self.lock {
            if now > self.changed {
                l.suffer(self.total - l.power + rules.noise, rules, self.changed, now);
            }
            if now >= l.header_end {
                l.header_bad |= fate(&mut self.luck, &mut l.header_chance);
            }
            // A receiver that could not read the header is free again after it.
            if rules.headers_fail && l.header_bad && now >= l.header_end {
                if rules.overlaid_unsensed {
                    let until = self.heard.iter().find(|h| h.from == l.from).map_or(now, |h| h.until);
                    let longer = self.heard.iter().filter(|h| h.from != l.from && h.since < l.preamble_end && h.until >= until);
                    self.unsensed = longer.fold(Power::ZERO, |sum, h| sum + h.power) >= rules.cca;
                }
                self.lock = None;
            }
        }
        self.changed = now;
    }

    /// Arms [`Self::check`] if the header of the followed frame may fail and the medium may be idle behind it: no signal begins or ends then, so
    /// no other event of the station would end the busy time.
    #[inline]
    fn watch(&mut self, rules: &Rules, now: Time) {
        let Some(l) = &self.lock else { return };
        let idle_behind = l.power < rules.cca || rules.overlaid_unsensed;
        if rules.headers_fail && idle_behind && now < l.header_end && l.may_fail(self.total - l.power + rules.noise, rules) {
            self.check = l.header_end;
        }
    }

    /// A signal begins; true if the end of a header has to be looked at.
    #[inline]
    pub(crate) fn begin(&mut self, from: u32, power: Power, airtime: Dur, rules: &Rules, now: Time) -> bool {
        self.account(rules, now);
        let alone = self.heard.is_empty();
        if !alone {
            self.heard.iter_mut().for_each(|h| h.alone = false);
        }
        self.heard.push(Heard { from, power, since: now, until: now + airtime, alone });
        self.total = self.total + power;
        self.watch(rules, now);
        self.check < self.armed
    }

    /// The beginning of a signal has been looked at: whether it is followed from now on.
    pub(crate) fn detect(&mut self, from: u32, tone: Tone, rules: &Rules, now: Time) -> bool {
        self.account(rules, now);
        self.unsensed = false;
        let Some(&Heard { power, since, .. }) = self.heard.iter().find(|h| h.from == from) else { return false };
        if self.sending || power < rules.least {
            return false;
        }
        if let Some(l) = &self.lock {
            let caught = rules.capture.is_some_and(|(ratio, within)| now.since(l.since) <= within && power.over(l.power, ratio));
            if !caught {
                return false;
            }
        }
        if self.heard.iter().any(|h| h.from != from && h.since >= since && h.power > power) {
            return false;
        }
        if rules.detect.is_some_and(|ratio| !power.over(self.total - power + rules.noise, ratio)) {
            return false;
        }
        self.lock = Some(Lock {
            from,
            power,
            since: now,
            preamble_end: since + tone.wave.preamble(),
            header_end: since + tone.wave.header(),
            header_bad: false,
            body_bad: false,
            header_chance: 0.0,
            body_chance: 0.0,
            tone,
        });
        self.watch(rules, now);
        true
    }

    /// A signal ends.
    pub(crate) fn end(&mut self, from: u32, rules: &Rules, now: Time) -> Ended {
        self.account(rules, now);
        let heard = self.heard.iter().position(|h| h.from == from).map(|at| self.heard.swap_remove(at));
        let (power, alone) = heard.map_or((Power::ZERO, true), |h| (h.power, h.alone));
        // Sums stop at the largest number; silence is silence in any case.
        self.total = if self.heard.is_empty() { Power::ZERO } else { self.total - power };
        let mut good = None;
        if let Some(l) = self.lock.take_if(|l| l.from == from) {
            if !l.header_bad {
                self.mac.on_begin();
            }
            let mut chance = l.body_chance;
            good = Some(!l.header_bad && !l.body_bad && !fate(&mut self.luck, &mut chance));
        }
        Ended { good, power, alone }
    }

    /// Returns the counters at `now`.
    pub(crate) fn counted(&self, now: Time) -> RadioCounters {
        let mut c = self.counters.clone();
        if self.busy {
            c.busy += now.since(self.busy_since);
        }
        // Of its own frame on the air the part that is over.
        c.airtime = c.airtime.saturating_sub(self.sends_until.since(now));
        c
    }
    /// Counts again.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.counters = RadioCounters { airtime: self.sends_until.since(now), ..RadioCounters::default() };
        if self.busy {
            self.busy_since = now;
        }
    }

    /// Its own frame begins: what it received is lost.
    pub(crate) fn send(&mut self, f: &Frame, rules: &Rules, now: Time) {
        if self.receiving(true, rules, now) {
            self.mac.on_begin();
        }
        self.sends_until = now + f.airtime;
        self.lock = None;
        self.sending = true;
        self.counters.airtime += f.airtime;
    }

    /// Looks at the medium again; whether it became busy or idle.
    pub(crate) fn sense(&mut self, rules: &Rules, now: Time) -> Option<bool> {
        let busy = self.sending || self.lock.is_some() || (self.total >= rules.cca && !self.unsensed);
        if busy == self.busy {
            return None;
        }
        self.busy = busy;
        if busy {
            self.busy_since = now;
        } else {
            self.counters.busy += now.since(self.busy_since);
        }
        Some(busy)
    }
}
