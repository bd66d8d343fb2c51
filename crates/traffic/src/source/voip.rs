//! Voice over IP: the packets of a telephone's codec, with or without silences.
//!
//! Frames and bytes of the codecs are those of RFC 3551 (sections 4.5.3, 4.5.6, 4.5.14), the header is RTP's (RFC 3550 section 5.1). Talk spurts and
//! silences are exponential; their default means are those of the artificial conversational speech of ITU-T P.59: 1.004 s and 1.587 s. Brady's
//! conversations, as Sriram and Whitt 1986 use them, have 352 ms and 650 ms.
//!
//! Deviations: the activity of the voice is looked at once a packet, when it is full, so a packet is sent whole or not at all and the share of packets is
//! exactly talk / (talk + silence); spurts shorter than a packet may go unheard. Comfort noise (SID frames, RFC 3389) is not sent, and no
//! hangover is added to a spurt: P.59's spurts contain it. The two sides of a conversation are two flows, drawn apart: their talk is not tied together.

use super::{Source, Span};
use crate::e_model::{Call, Impairment};
use crate::udp::MAX_DATAGRAM;
use fairlane_net::{App, AppCx, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Time};

fairlane_units::params! {
    /// A codec.
    pub enum Codec {
        /// ITU-T G.711: 64 kbit/s, a byte every 125 µs (RFC 3551 section 4.5.14, PCMU and PCMA).
        #[default]
        G711,
        /// ITU-T G.729: 8 kbit/s, 10 bytes every 10 ms (RFC 3551 section 4.5.6).
        G729,
        /// ITU-T G.723.1 at 6.3 kbit/s: 24 bytes every 30 ms (RFC 3551 section 4.5.3).
        #[serde(rename = "g723_1_high")]
        G7231High,
        /// ITU-T G.723.1 at 5.3 kbit/s: 20 bytes every 30 ms (RFC 3551 section 4.5.3).
        #[serde(rename = "g723_1_low")]
        G7231Low,
        /// Opus at a constant 32 kbit/s, fullband speech (RFC 6716 section 2.1.1: 28 to 40 kbit/s): 80 bytes every 20 ms.
        Opus,
    }
}

impl Codec {
    /// Duration and bytes of a frame.
    const fn frame(self) -> (Dur, u64) {
        match self {
            Self::G711 => (Dur::from_us(125), 1),
            Self::G729 => (Dur::from_ms(10), 10),
            Self::G7231High => (Dur::from_ms(30), 24),
            Self::G7231Low => (Dur::from_ms(30), 20),
            Self::Opus => (Dur::from_ms(20), 80),
        }
    }
    /// Speech that the encoder needs beyond a frame: G.729 section 2.1, G.723.1 section 1; that of libopus (`OPUS_GET_LOOKAHEAD`).
    const fn look_ahead(self) -> Dur {
        match self {
            Self::G711 => Dur::ZERO,
            Self::G729 => Dur::from_ms(5),
            Self::G7231High | Self::G7231Low => Dur::from_us(7500),
            Self::Opus => Dur::from_us(6500),
        }
    }
    /// Ie and Bpl (ITU-T G.113 Appendix I): G.711 with packet loss concealment, G.729A with VAD, G.723.1 with VAD. It has no Bpl of the lower rate of G.723.1.
    /// Opus is fullband; its published values are on the scales of G.107.1 and G.107.2, which do not compare with that of G.107.
    const fn impairment(self) -> Option<Impairment> {
        match self {
            Self::G711 => Some(Impairment { ie: 0.0, bpl: 25.1 }),
            Self::G729 => Some(Impairment { ie: 11.0, bpl: 19.0 }),
            Self::G7231High => Some(Impairment { ie: 15.0, bpl: 16.1 }),
            Self::G7231Low | Self::Opus => None,
        }
    }
    /// Time in a packet where none is given: 20 ms (RFC 3551 section 4.2), or else a frame.
    fn usual(self) -> Dur {
        USUAL.max(self.frame().0)
    }
}

/// Default packetization interval of audio (RFC 3551 section 4.2).
const USUAL: Dur = Dur::from_ms(20);

fairlane_units::params! {
    /// VoIP sends the packets of a telephone's codec at a constant pace while someone speaks (RFC 3551; talk spurts of ITU-T P.59).
    pub struct VoipParams {
        /// The codec.
        pub codec: Codec = Codec::G711,
        /// Speech in a packet: a whole number of the codec's frames. Unset: 20 ms, or 30 ms for G.723.1 (RFC 3551 section 4.2).
        #[schemars(extend("x-min" = "125us", "x-max" = "1s"))]
        pub interval: Option<Dur> = None,
        /// Bytes before the speech in each packet: 12 of RTP (RFC 3550 section 5.1). The headers of UDP and IP come on top.
        #[schemars(extend("x-max" = "1000B"))]
        pub header: Bytes = Bytes(12),
        /// True if nothing is sent in silences (voice activity detection); without, packets never cease.
        pub vad: bool = true,
        /// Mean of the talk spurts, which are exponential: 1.004 s in ITU-T P.59, 352 ms in Brady's conversations.
        #[schemars(extend("x-min" = "1ms"))]
        pub talk: Dur = Dur::from_ms(1004),
        /// Mean of the silences, which are exponential: 1.587 s in ITU-T P.59, 650 ms in Brady's conversations.
        #[schemars(extend("x-min" = "1ms"))]
        pub silence: Dur = Dur::from_ms(1587),
        /// Shortest delay of the de-jitter buffer at the receiver, over the shortest delay of the network: 20 ms in Dialogic's media gateways. For `mos` only;
        /// no packet waits for it.
        #[schemars(extend("x-max" = "10s"))]
        pub jitter_buffer_min: Dur = Dur::from_ms(20),
        /// Longest delay of the de-jitter buffer: 200 ms in Dialogic's media gateways. The buffer has the delay that serves the call best; with the same value as
        /// `jitter_buffer_min` it is fixed.
        #[schemars(extend("x-max" = "10s"))]
        pub jitter_buffer_max: Dur = Dur::from_ms(200),
    }
}

impl VoipParams {
    fn interval(&self) -> Dur {
        self.interval.unwrap_or(self.codec.usual()).max(self.codec.frame().0)
    }
    /// The call as its listener has it.
    pub fn call(&self) -> Call {
        Call {
            impairment: self.codec.impairment(),
            before: self.interval() + self.codec.look_ahead(),
            buffer: [self.jitter_buffer_min, self.jitter_buffer_max],
        }
    }
    fn packet(&self) -> u64 {
        let (frame, bytes) = self.codec.frame();
        self.interval().as_ps() / frame.as_ps() * bytes + self.header.get()
    }
}

impl Source for VoipParams {
    type App = Voip;

    fn check(&self, _: Proto) -> Result<(), Problem> {
        let (frame, _) = self.codec.frame();
        let asked = self.interval.unwrap_or(frame);
        if asked < frame || !asked.as_ps().is_multiple_of(frame.as_ps()) {
            return Err(Problem::new("interval", format!("{asked} is no whole number of the codec's frames of {frame}")));
        }
        if self.jitter_buffer_min > self.jitter_buffer_max {
            let message = format!("{} is more than `jitter_buffer_max`, {}", self.jitter_buffer_min, self.jitter_buffer_max);
            return Err(Problem::new("jitter_buffer_min", message));
        }
        if self.packet() > MAX_DATAGRAM {
            return Err(Problem::new("interval", format!("a packet of {} byte is larger than a datagram", self.packet())));
        }
        Ok(())
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Voip {
        Voip {
            span: Span::new(flow, start, stop),
            interval: self.interval(),
            packet: self.packet(),
            speech: self.vad.then_some(Speech { means: [self.silence, self.talk], talking: false, until: Time::ZERO }),
            started: false,
        }
    }
}

/// Talk spurts and silences.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Speech {
    /// Means of silences and of talk spurts.
    means: [Dur; 2],
    talking: bool,
    /// When the present one ends.
    until: Time,
}

impl Speech {
    fn change(&mut self, talking: bool, from: Time, cx: &mut AppCx<'_>) {
        self.talking = talking;
        self.until = from + cx.rng.exponential(self.means[usize::from(talking)]).max(Dur::from_ps(1));
    }
}

/// A running telephone.
#[derive(Clone, Debug, PartialEq)]
pub struct Voip {
    span: Span,
    interval: Dur,
    packet: u64,
    /// None without silences.
    speech: Option<Speech>,
    started: bool,
}

impl Voip {
    /// When the packet is full during which `at` comes.
    fn full_after(&self, at: Time) -> Time {
        let packets = at.since(self.span.start).as_ps().div_ceil(self.interval.as_ps());
        self.span.start + self.interval * packets
    }
}

impl App for Voip {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        let mut next = cx.now + self.interval;
        let mut talks = self.started;
        if let Some(mut s) = self.speech {
            if !self.started {
                let [silence, talk] = s.means.map(|m| m.as_ps() as f64);
                // Exponential periods have no memory: what is left of the first is as long as a new one.
                let talking = cx.rng.uniform() < talk / (talk + silence);
                s.change(talking, cx.now, cx);
            }
            while s.until <= cx.now {
                s.change(!s.talking, s.until, cx);
            }
            talks &= s.talking;
            if !s.talking {
                next = next.max(self.full_after(s.until));
            }
            self.speech = Some(s);
        }
        if talks {
            cx.write(self.span.flow, self.packet, false);
        }
        self.started = true;
        cx.wake_at(next.min(self.span.stop));
    }
}

#[cfg(test)]
#[path = "voip_tests.rs"]
mod tests;
