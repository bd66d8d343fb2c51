//! The receiver of a station: the signals that reach it, and the one that it decodes.

use crate::mac::{Frame, Mac};
use crate::phy::Wave;
use crate::power::{Power, Ratio};
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

/// What a station counts. Frames are its own, unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RadioCounters {
    /// Data frames sent, retries included.
    pub data_tx: u64,
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
    /// Of these, packets that their receiver has: only acknowledgments were lost.
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
    /// Another signal began behind it before its header did.
    overlaid: bool,
}

impl Lock {
    /// Whether its header is over and was received well.
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
    pub(crate) detect: Option<Ratio>,
    pub(crate) capture: Option<(Ratio, Dur)>,
    pub(crate) headers_fail: bool,
    pub(crate) overlaid_unsensed: bool,
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
    /// When the header of the overlaid frame ends that it follows.
    pub(crate) check: Time,
    pub(crate) sending: bool,
    pub(crate) busy: bool,
    busy_since: Time,
    pub(crate) mac: Mac,
    /// The time of its event that is queued.
    pub(crate) armed: Time,
    pub(crate) counters: RadioCounters,
}

impl Radio {
    pub(crate) fn new(mac: Mac) -> Self {
        Self {
            heard: Vec::with_capacity(8),
            total: Power::ZERO,
            changed: Time::ZERO,
            lock: None,
            unsensed: false,
            check: Time::MAX,
            sending: false,
            busy: false,
            busy_since: Time::ZERO,
            mac,
            armed: Time::MAX,
            counters: RadioCounters::default(),
        }
    }

    /// Whether it receives a frame; `header`: one whose header was received well.
    pub(crate) fn receiving(&mut self, header: bool, rules: &Rules, now: Time) -> bool {
        self.account(rules, now);
        self.lock.is_some_and(|l| !header || l.header_good(now))
    }

    /// What has been on the air since the last change is held against the frame that is being received.
    fn account(&mut self, rules: &Rules, now: Time) {
        if let Some(l) = &mut self.lock {
            if now > self.changed && !l.power.over(self.total - l.power + rules.noise, rules.decode) {
                l.header_bad |= self.changed < l.header_end;
                l.body_bad |= now > l.header_end;
            }
            // A receiver that could not read the header is free again after it.
            if rules.headers_fail && l.header_bad && now >= l.header_end {
                self.unsensed = rules.overlaid_unsensed && l.overlaid;
                self.lock = None;
            }
        }
        self.changed = now;
    }

    /// A signal begins.
    #[inline]
    pub(crate) fn begin(&mut self, from: u32, power: Power, rules: &Rules, now: Time) {
        self.account(rules, now);
        self.heard.push(Heard { from, power, since: now });
        self.total = self.total + power;
    }

    /// The beginning of a signal has been looked at: whether it is followed from now on.
    pub(crate) fn detect(&mut self, from: u32, wave: Wave, rules: &Rules, now: Time) -> bool {
        self.account(rules, now);
        self.unsensed = false;
        let Some(&Heard { power, since, .. }) = self.heard.iter().find(|h| h.from == from) else { return false };
        if self.sending || power < rules.least {
            return false;
        }
        if let Some(l) = &mut self.lock {
            let caught = rules.capture.is_some_and(|(ratio, within)| now.since(l.since) <= within && power.over(l.power, ratio));
            if !caught {
                // Looked at when it began, not at the end of the look: a receiver at work does not wait.
                if rules.overlaid_unsensed && since < l.preamble_end {
                    l.overlaid = true;
                    self.check = l.header_end;
                }
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
            preamble_end: since + wave.preamble(),
            header_end: since + wave.header(),
            header_bad: false,
            body_bad: false,
            overlaid: false,
        });
        true
    }

    /// A signal ends: whether its frame was received well, if it was followed to its end.
    pub(crate) fn end(&mut self, from: u32, rules: &Rules, now: Time) -> (Option<bool>, Power) {
        self.account(rules, now);
        let power = match self.heard.iter().position(|h| h.from == from) {
            Some(at) => self.heard.swap_remove(at).power,
            None => Power::ZERO,
        };
        self.total = self.total - power;
        match self.lock {
            Some(l) if l.from == from => {
                self.lock = None;
                if !l.header_bad {
                    self.mac.on_begin();
                }
                (Some(!l.body_bad && !l.header_bad), power)
            }
            _ => (None, power),
        }
    }

    /// Its own frame begins: what it received is lost.
    pub(crate) fn send(&mut self, f: &Frame, rules: &Rules, now: Time) {
        if self.receiving(true, rules, now) {
            self.mac.on_begin();
        }
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
