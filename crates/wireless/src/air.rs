//! The medium: one channel with its stations.
//!
//! A frame reaches each station that hears it at its own time, so it goes through the list of its hearers, nearest first, three times: when it
//! begins, when receivers have looked at its beginning, and when it ends. Stations at the same distance share an event.

use crate::errors::Errors;
use crate::mac::{AfterTimeout, Dcf, Frame, Kind, Mac, Msdu, Outcome};
use crate::motion::Motion;
use crate::power::{Power, Ratio};
use crate::radio::{Ended, Lost, Radio, RadioCounters, Rules};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// Queues and nodes above the stations.
pub trait Above {
    /// The next packet of a station's queue, if any waits.
    fn next(&mut self, station: u32, now: Time) -> Option<Msdu>;
    /// A packet has reached the station it was for.
    fn deliver(&mut self, station: u32, msdu: Msdu, now: Time);
    /// A packet was given up after its last attempt, and its receiver does not have it.
    fn give_up(&mut self, station: u32, msdu: Msdu, now: Time);
    /// A station begins to send a frame.
    #[inline]
    fn sends(&mut self, station: u32, frame: &Frame, now: Time) {
        let _ = (station, frame, now);
    }
    /// A station has received a frame well, whomever it is for.
    #[inline]
    fn hears(&mut self, station: u32, frame: &Frame, power: Power, now: Time) {
        let _ = (station, frame, power, now);
    }
}

/// Where events wait. A slot has at most one that counts.
pub trait Agenda {
    /// Calls [`Air::on_event`] for `slot` at `time`.
    fn push(&mut self, time: Time, slot: u32);
}

/// A station that hears another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ear {
    /// Who hears.
    pub station: u32,
    /// How strong.
    pub power: Power,
    /// How long the signal is in flight.
    pub delay: Dur,
}

/// How a channel behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct AirConfig {
    /// Noise of a receiver, see [`crate::power::noise`].
    pub noise: Power,
    /// Weakest signal that a receiver follows.
    pub least: Power,
    /// The medium is busy while the sum of all signals is at least this.
    pub cca: Power,
    /// A frame is received if it was so much stronger than noise and interference together for all of its time, in dB.
    pub decode_db: f64,
    /// True if that decides, or chance by the rate.
    pub errors: Errors,
    /// How long a receiver looks at the beginning of a signal before it follows it and before the medium counts as busy.
    pub look: Dur,
    /// How much stronger than all others together a signal must be then, in dB. None: the strongest is followed in any case.
    pub detect_db: Option<f64>,
    /// A later signal that is stronger by this (dB) takes over the receiver within this time of its lock. None: never.
    pub capture: Option<(f64, Dur)>,
    /// A receiver that cannot read the header is free again at once, and does not wait EIFS; else it follows the frame to its end.
    pub headers_fail: bool,
    /// Medium access does not hear of a signal that began before the header of another one, which then failed, and lasts longer, until the next one begins. So it is
    /// in ns-3.37: its ChannelAccessManager takes the end of the busy time from the last report, and that of the header comes after that of the longer signal.
    pub overlaid_unsensed: bool,
}

/// Kinds of events of a station, in the order of their slots.
const SLOTS: u32 = 4;
const OWN: u32 = 0;
const BEGIN: u32 = 1;
const LOOK: u32 = 2;
const END: u32 = 3;

/// A frame in flight, and how far its three waves have come.
#[derive(Clone, Debug)]
struct Wave {
    frame: Frame,
    msdu: Option<Msdu>,
    start: Time,
    done: [usize; 3],
}

/// One channel.
#[derive(Clone, Debug)]
pub struct Air {
    dcf: Dcf,
    rules: Rules,
    look: Dur,
    radios: Vec<Radio>,
    ears: Vec<Vec<Ear>>,
    waves: Vec<Option<Wave>>,
    /// Who will hear a station from its next frame on, where that is another list, and whether it is.
    moved: Vec<Vec<Ear>>,
    stale: Vec<bool>,
    motion: Option<Box<Motion>>,
}

/// Why a channel cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AirError {
    /// Signals that take longer than SIFS would overlap with the answer to them.
    #[error("station {0} hears station {1} after more than SIFS: 802.11 does not work over such distances")]
    TooFar(u32, u32),
}

impl Air {
    /// A channel on which station `i` is heard by `ears[i]`; its random numbers follow `seed` and its `name`.
    pub fn new(dcf: Dcf, config: &AirConfig, mut ears: Vec<Vec<Ear>>, seed: u64, name: impl Fn(usize) -> String) -> Result<Self, AirError> {
        for (i, list) in ears.iter_mut().enumerate() {
            nearest_first(&dcf, i as u32, list)?;
        }
        let rules = Rules {
            noise: config.noise,
            least: config.least,
            cca: config.cca,
            decode: Ratio::from_db(config.decode_db),
            errors: config.errors,
            detect: config.detect_db.map(Ratio::from_db),
            capture: config.capture.map(|(db, within)| (Ratio::from_db(db), within)),
            headers_fail: config.headers_fail,
            overlaid_unsensed: config.overlaid_unsensed,
        };
        let radio = |i: usize| {
            let name = name(i);
            let stream = |purpose| Stream::new(seed, "radio", &name, purpose);
            Radio::new(Mac::new(i as u32, &dcf, stream("backoff")), stream("errors"))
        };
        let (radios, waves) = ((0..ears.len()).map(radio).collect(), vec![None; ears.len()]);
        Ok(Self { radios, waves, ears, moved: Vec::new(), stale: Vec::new(), motion: None, rules, look: config.look, dcf })
    }

    /// A channel whose stations walk; who hears whom at the start is worked out from that.
    pub fn moving(dcf: Dcf, config: &AirConfig, motion: Motion, seed: u64, name: impl Fn(usize) -> String) -> Result<Self, AirError> {
        let mut air = Self::new(dcf, config, motion.ears(), seed, name)?;
        air.moved = vec![Vec::with_capacity(air.ears.len()); air.ears.len()];
        air.stale = vec![false; air.ears.len()];
        air.motion = Some(Box::new(motion));
        Ok(air)
    }
    /// The first event that comes by itself, and its slot: somebody has moved.
    pub fn first_event(&self) -> Option<(Time, u32)> {
        Some((self.motion.as_ref()?.next(Time::ZERO)?, self.stations() * SLOTS))
    }

    /// Draws from other streams from now on: a future of its own.
    pub fn reseed(&mut self, number: u64) {
        self.radios.iter_mut().for_each(|r| r.reseed(number));
    }

    /// Number of stations.
    pub fn stations(&self) -> u32 {
        self.radios.len() as u32
    }
    /// Number of event slots.
    pub fn slots(&self) -> u32 {
        self.stations() * SLOTS + u32::from(self.motion.is_some())
    }
    /// Returns the counters of a station.
    pub fn counters(&self, station: u32) -> &RadioCounters {
        &self.radios[station as usize].counters
    }
    /// The packets that stations have in hand and that their receivers do not have yet.
    pub fn in_hand(&self) -> impl Iterator<Item = &Msdu> {
        self.radios.iter().filter_map(|r| r.mac.current()).filter(|c| !c.delivered).map(|c| &c.msdu)
    }
    /// Returns the counters of a station at `now`; of a busy period the part that is over.
    pub fn counted(&self, station: u32, now: Time) -> RadioCounters {
        self.radios[station as usize].counted(now)
    }
    /// Forgets what was counted; frames on the air count with what is left of them.
    pub fn reset_counters(&mut self, now: Time) {
        for r in &mut self.radios {
            r.reset_counters(now);
        }
    }

    /// From its next frame on a station is heard by others, whatever places say.
    pub fn heard_by(&mut self, station: u32, mut ears: Vec<Ear>) -> Result<(), AirError> {
        nearest_first(&self.dcf, station, &mut ears)?;
        self.moved.resize(self.radios.len(), Vec::new());
        self.stale.resize(self.radios.len(), false);
        self.moved[station as usize] = ears;
        self.stale[station as usize] = true;
        Ok(())
    }

    /// Stations have moved: from its next frame on each is heard as from where all are now.
    #[cold]
    fn walk<A: Agenda>(&mut self, now: Time, agenda: &mut A) {
        let Some(motion) = &mut self.motion else { return };
        motion.walk(now);
        for (i, (list, stale)) in self.moved.iter_mut().zip(&mut self.stale).enumerate() {
            if !*stale {
                list.clear();
                list.extend_from_slice(&self.ears[i]);
            }
            if motion.renew(i, list) {
                // No station further than SIFS is heard, which is checked before the run.
                list.retain(|e| e.delay < self.dcf.sifs);
                list.sort_unstable_by_key(|e| (e.delay, e.station));
                *stale = true;
            }
        }
        if let Some(next) = motion.next(now) {
            agenda.push(next, self.radios.len() as u32 * SLOTS);
        }
    }

    /// A packet waits in the queue of a station that had none.
    pub fn ready<U: Above, A: Agenda>(&mut self, station: u32, now: Time, up: &mut U, agenda: &mut A) {
        self.pump(station, now, up);
        self.arm(station, agenda);
    }

    /// An event of one of its slots.
    pub fn on_event<U: Above, A: Agenda>(&mut self, slot: u32, now: Time, up: &mut U, agenda: &mut A) {
        let station = slot / SLOTS;
        if station >= self.stations() {
            return self.walk(now, agenda);
        }
        match slot % SLOTS {
            OWN => self.on_deadline(station, now, up, agenda),
            wave => self.on_wave(station, wave, now, up, agenda),
        }
    }

    fn pump<U: Above>(&mut self, i: u32, now: Time, up: &mut U) {
        let mac = &mut self.radios[i as usize].mac;
        if mac.rests()
            && let Some(msdu) = up.next(i, now)
        {
            mac.offer(msdu, &self.dcf, now);
        }
    }

    fn arm<A: Agenda>(&mut self, i: u32, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        let at = r.mac.deadline(&self.dcf).min(r.check);
        if at < r.armed {
            r.armed = at;
            agenda.push(at, i * SLOTS + OWN);
        }
    }

    fn on_deadline<U: Above, A: Agenda>(&mut self, i: u32, now: Time, up: &mut U, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        if r.armed == now {
            r.armed = Time::MAX;
        }
        if r.check <= now {
            r.check = Time::MAX;
            r.receiving(false, &self.rules, now);
            self.sense(i, now);
        }
        let r = &mut self.radios[i as usize];
        if r.mac.deadline(&self.dcf) <= now {
            let receiving = r.receiving(self.dcf.after_timeout != AfterTimeout::Known, &self.rules, now);
            let (frame, outcome) = r.mac.fire(receiving, &self.dcf, now);
            // A station that is sending cannot answer.
            if let Some(f) = frame.filter(|_| !r.sending) {
                up.sends(i, &f, now);
                self.send(i, f, now, agenda);
            }
            self.settle(i, outcome, now, up);
        }
        self.arm(i, agenda);
    }

    /// Outcome of a packet.
    fn settle<U: Above>(&mut self, i: u32, outcome: Option<Outcome>, now: Time, up: &mut U) {
        let c = &mut self.radios[i as usize].counters;
        match outcome {
            None => return,
            Some(Outcome::Acknowledged(p)) => {
                c.acked += 1;
                c.service += u128::from(now.since(p.since).as_ps());
            }
            Some(Outcome::GivenUp(p)) => {
                c.given_up += 1;
                if p.delivered {
                    c.given_up_delivered += 1;
                } else {
                    up.give_up(i, p.msdu, now);
                }
            }
        }
        self.pump(i, now, up);
    }

    fn send<A: Agenda>(&mut self, i: u32, frame: Frame, now: Time, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        r.send(&frame, &self.rules, now);
        let count = match frame.kind {
            Kind::Data => &mut r.counters.data_tx,
            Kind::Ack => &mut r.counters.ack_tx,
            Kind::Rts => &mut r.counters.rts_tx,
            Kind::Cts => &mut r.counters.cts_tx,
        };
        *count += 1;
        r.counters.retries += u64::from(frame.retry);
        if r.sense(&self.rules, now) == Some(true) {
            r.mac.on_busy(&self.dcf, now);
        }
        debug_assert!(
            w_done(&self.waves, i, END) == self.ears[i as usize].len() || self.waves[i as usize].is_none(),
            "two frames of one station"
        );
        // What it sent before has reached everybody by now, as signals take less than SIFS.
        if self.stale.get_mut(i as usize).is_some_and(std::mem::take) {
            std::mem::swap(&mut self.ears[i as usize], &mut self.moved[i as usize]);
        }
        let msdu = r.mac.current().filter(|_| frame.kind == Kind::Data).map(|c| c.msdu);
        self.waves[i as usize] = Some(Wave { frame, msdu, start: now, done: [0; 3] });
        if let Some(nearest) = self.ears[i as usize].first() {
            agenda.push(now + nearest.delay, i * SLOTS + BEGIN);
            agenda.push(now + nearest.delay + self.look, i * SLOTS + LOOK);
        }
        agenda.push(now + frame.airtime, i * SLOTS + END);
    }

    /// One of the three waves of a frame reaches the next stations.
    fn on_wave<U: Above, A: Agenda>(&mut self, i: u32, wave: u32, now: Time, up: &mut U, agenda: &mut A) {
        let Some(w) = &self.waves[i as usize] else { return };
        let (frame, msdu) = (w.frame, w.msdu);
        let since = w.start
            + match wave {
                BEGIN => Dur::ZERO,
                LOOK => self.look,
                _ => frame.airtime,
            };
        if wave == END && self.radios[i as usize].sending && now == since {
            self.sent(i, now, agenda);
        }
        let mut k = w_done(&self.waves, i, wave);
        while let Some(&ear) = self.ears[i as usize].get(k) {
            let at = since + ear.delay;
            if at > now {
                agenda.push(at, i * SLOTS + wave);
                break;
            }
            match wave {
                BEGIN => {
                    if self.radios[ear.station as usize].begin(i, ear.power, frame.airtime, &self.rules, now) {
                        self.arm(ear.station, agenda);
                    }
                }
                LOOK => self.look(i, ear.station, &frame, now, agenda),
                _ => self.end(i, ear.station, &frame, msdu, now, up, agenda),
            }
            k += 1;
        }
        if let Some(w) = &mut self.waves[i as usize] {
            w.done[wave as usize - 1] = k;
        }
    }

    /// A station's own frame is over.
    fn sent<A: Agenda>(&mut self, i: u32, now: Time, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        r.sending = false;
        r.mac.on_sent(&self.dcf, now);
        self.sense(i, now);
        self.arm(i, agenda);
    }

    fn sense(&mut self, i: u32, now: Time) {
        let r = &mut self.radios[i as usize];
        match r.sense(&self.rules, now) {
            Some(true) => r.mac.on_busy(&self.dcf, now),
            Some(false) => r.mac.on_idle(&self.dcf, now),
            None => {}
        }
    }

    fn look<A: Agenda>(&mut self, from: u32, i: u32, frame: &Frame, now: Time, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        r.detect(from, frame.tone, &self.rules, now);
        self.sense(i, now);
        self.arm(i, agenda);
    }

    #[allow(clippy::too_many_arguments)]
    fn end<U: Above, A: Agenda>(&mut self, from: u32, i: u32, frame: &Frame, msdu: Option<Msdu>, now: Time, up: &mut U, agenda: &mut A) {
        let r = &mut self.radios[i as usize];
        let Ended { good, power, alone } = r.end(from, &self.rules, now);
        if good == Some(true) {
            up.hears(i, frame, power, now);
        }
        let outcome = match good {
            Some(true) => r.mac.on_frame(frame, &self.dcf, now),
            Some(false) => r.mac.on_error(&self.dcf, now),
            None => None,
        };
        let for_me = frame.to == i;
        let why = match good {
            Some(true) => None,
            _ if !for_me => None,
            _ if r.sending => Some(Lost::Sending),
            _ if power < self.rules.least || self.too_weak(power, alone) => Some(Lost::Noise),
            _ => Some(Lost::Collision),
        };
        if let Some(why) = why {
            self.radios[from as usize].counters.lost[why as usize] += 1;
        }
        self.sense(i, now);
        if for_me
            && good == Some(true)
            && let Some(m) = msdu
        {
            self.take(from, i, m, now, up);
        }
        self.settle(i, outcome, now, up);
        self.arm(i, agenda);
    }

    /// True if a signal is lost in noise: where chance decides, if it was alone.
    fn too_weak(&self, power: Power, alone: bool) -> bool {
        match self.rules.errors {
            Errors::Threshold => !power.over(self.rules.noise, self.rules.decode),
            Errors::Rates => alone,
        }
    }

    /// Data that were received well: a packet that the receiver has already is only acknowledged again.
    fn take<U: Above>(&mut self, from: u32, i: u32, m: Msdu, now: Time, up: &mut U) {
        let Some(current) = self.radios[from as usize].mac.current_mut() else { return };
        if current.msdu.handle != m.handle || std::mem::replace(&mut current.delivered, true) {
            return;
        }
        self.radios[i as usize].counters.received += 1;
        up.deliver(i, m, now);
    }
}

/// True if all hearers of a station hear it within SIFS.
pub fn near_enough(sifs: Dur, station: u32, ears: &[Ear]) -> Result<(), AirError> {
    ears.iter().find(|e| e.delay >= sifs).map_or(Ok(()), |far| Err(AirError::TooFar(far.station, station)))
}

/// The order in which a frame reaches its hearers.
fn nearest_first(dcf: &Dcf, station: u32, ears: &mut [Ear]) -> Result<(), AirError> {
    near_enough(dcf.sifs, station, ears)?;
    ears.sort_by_key(|e| (e.delay, e.station));
    Ok(())
}

/// How far a wave has come.
fn w_done(waves: &[Option<Wave>], i: u32, wave: u32) -> usize {
    waves[i as usize].as_ref().map_or(0, |w| w.done[wave as usize - 1])
}
