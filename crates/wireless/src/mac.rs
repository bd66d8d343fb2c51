//! The distributed coordination function (IEEE 802.11-2016 clause 10.3) as a state machine: it hears of the medium and of frames, and answers with
//! frames and the time at which it wants to be asked again. It knows no clock, no queue and no other station.
//!
//! Idle slots cost nothing: a backoff is a number of slots and the time from which they count, see [`Mac::deadline`].

mod station;

pub use station::{Current, Mac, Outcome};

use crate::phy::{Standard, Tone};
use crate::rates::{Control, Rung};
use fairlane_units::{Dur, Time};

/// A packet that a station is to carry over one hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Msdu {
    /// Handle of the owner.
    pub handle: u64,
    /// The station it is for.
    pub to: u32,
    /// Bytes of the frame on the air: header and check sequence included.
    pub bytes: u32,
}

/// Bytes that a frame of data adds to an IP packet: LLC and SNAP 8, header 24, FCS 4 (clauses 9.3.2.1 and 9.2.4.8).
pub const OVERHEAD: u32 = 36;
const ACK: u32 = 14;
const CTS: u32 = 14;
const RTS: u32 = 20;

/// Kinds of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Data.
    Data,
    /// Acknowledgment of data.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its kind.
    pub kind: Kind,
    /// Who sends it.
    pub from: u32,
    /// Whom it is for.
    pub to: u32,
    /// Modulation and rate of the frame.
    pub tone: Tone,
    /// Time on the air, preamble included.
    pub airtime: Dur,
    /// Its duration field: how long after its end the medium is spoken for.
    pub nav: Dur,
    /// True if data were sent before.
    pub retry: bool,
}

/// When a station whose frame was not answered counts down again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AfterTimeout {
    /// From the timeout, the medium having been idle for DIFS by then (clause 10.3.4.3).
    #[default]
    AtOnce,
    /// DIFS after the timeout, as ns-3.37 does.
    Difs,
    /// Bianchi's model (2000), which has no timeout: a slot after SIFS it is clear that no answer was begun, DIFS counts from the end of the frame, and bystanders
    /// count a transmission as one slot.
    Known,
}

/// Medium access with every timing as data.
#[derive(Clone, PartialEq, Debug)]
pub struct Dcf {
    /// aSlotTime.
    pub slot: Dur,
    /// SIFS.
    pub sifs: Dur,
    /// DIFS: SIFS and two slots.
    pub difs: Dur,
    /// Wait instead of DIFS after a frame that was begun and not received well (clause 10.3.2.3.7).
    pub eifs: Dur,
    /// Least contention window, 2^k - 1.
    pub cw_min: u32,
    /// Largest contention window, 2^k - 1.
    pub cw_max: u32,
    /// Attempts of a frame without RTS, and of an RTS (dot11ShortRetryLimit).
    pub short_retries: u32,
    /// Attempts of a frame behind an RTS (dot11LongRetryLimit).
    pub long_retries: u32,
    /// Frames of more bytes are sent behind an RTS (dot11RTSThreshold).
    pub rts_threshold: u32,
    /// Rate of data frames.
    pub data: Tone,
    /// Rate of acknowledgments of data at this rate.
    pub ack: Tone,
    /// True if another rate is chosen for data, and by what rule.
    pub control: Control,
    /// The rates that may be chosen, slowest first.
    pub rungs: Vec<Rung>,
    /// Rate of an RTS.
    pub rts: Tone,
    /// Rate of a CTS.
    pub cts: Tone,
    /// Rate of a CTS-to-self before data without an RTS.
    pub protection: Option<Tone>,
    /// When a station whose frame was not answered counts down again.
    pub after_timeout: AfterTimeout,
    /// A frame that finds queue and medium idle may go at once if the medium was idle for DIFS (clause 10.3.4.2); else it waits DIFS from its arrival, as in ns-3.37.
    pub at_once: bool,
    /// A station that has heard an RTS for others forgets it when nothing follows (clause 10.3.2.4).
    pub nav_reset: bool,
}

impl Dcf {
    /// The standard's timing for data at `data`.
    pub fn new(standard: &Standard, data: Tone) -> Self {
        let lowest = standard.basic.first().copied().unwrap_or(data);
        let difs = standard.sifs + standard.slot * 2;
        let ack = standard.answer(data);
        Self {
            slot: standard.slot,
            sifs: standard.sifs,
            difs,
            eifs: standard.sifs + lowest.airtime(ACK) + difs,
            cw_min: standard.cw_min,
            cw_max: standard.cw_max,
            short_retries: 7,
            long_retries: 4,
            rts_threshold: u32::MAX,
            data,
            ack,
            control: Control::Fixed,
            rungs: standard.tones().into_iter().map(|data| Rung { data, ack: standard.answer(data) }).collect(),
            rts: standard.protection.unwrap_or(lowest),
            cts: standard.protection.unwrap_or(lowest),
            protection: standard.protection,
            after_timeout: AfterTimeout::AtOnce,
            at_once: true,
            nav_reset: true,
        }
    }

    /// Returns the fixed rate, used if no rule chooses.
    pub(crate) fn fixed(&self) -> Rung {
        Rung { data: self.data, ack: self.ack }
    }
    /// Returns the rate of acknowledgments of data sent at `tone`.
    fn answer(&self, tone: Tone) -> Tone {
        let rung = self.rungs.iter().find(|r| r.data == tone && tone != self.data);
        rung.map_or(self.ack, |r| r.ack)
    }
    /// From the end of data to that of their acknowledgment.
    fn rest(&self, with: Rung) -> Dur {
        self.sifs + with.ack.airtime(ACK)
    }
    fn cts_time(&self) -> Dur {
        self.cts.airtime(CTS)
    }
    /// How long after the end of a frame its answer must have been begun.
    fn patience(&self, answer: Tone) -> Dur {
        match self.after_timeout {
            AfterTimeout::Known => self.sifs + self.slot,
            AfterTimeout::AtOnce | AfterTimeout::Difs => self.sifs + self.slot + answer.wave.header(),
        }
    }

    fn data(&self, me: u32, m: &Msdu, with: Rung, retry: bool) -> Frame {
        Frame { kind: Kind::Data, from: me, to: m.to, tone: with.data, airtime: with.data.airtime(m.bytes), nav: self.rest(with), retry }
    }
    fn rts(&self, me: u32, m: &Msdu, with: Rung, retry: bool) -> Frame {
        let nav = self.sifs * 2 + self.cts_time() + with.data.airtime(m.bytes) + self.rest(with);
        Frame { kind: Kind::Rts, from: me, to: m.to, tone: self.rts, airtime: self.rts.airtime(RTS), nav, retry }
    }
    fn cts(&self, me: u32, rts: &Frame) -> Frame {
        let airtime = self.cts_time();
        let nav = rts.nav.saturating_sub(self.sifs + airtime);
        Frame { kind: Kind::Cts, from: me, to: rts.from, tone: self.cts, airtime, nav, retry: false }
    }
    fn cts_to_self(&self, me: u32, tone: Tone, m: &Msdu, with: Rung) -> Frame {
        let nav = self.sifs + with.data.airtime(m.bytes) + self.rest(with);
        Frame { kind: Kind::Cts, from: me, to: me, tone, airtime: tone.airtime(CTS), nav, retry: false }
    }
    fn ack(&self, me: u32, data: &Frame) -> Frame {
        let tone = self.answer(data.tone);
        Frame { kind: Kind::Ack, from: me, to: data.from, tone, airtime: tone.airtime(ACK), nav: Dur::ZERO, retry: false }
    }
    /// When an RTS for others, heard until `end`, is forgotten if nothing has been begun.
    fn rts_forgotten(&self, end: Time) -> Time {
        end + self.sifs * 2 + self.cts_time() + self.cts.wave.header() + self.slot * 2
    }
}
