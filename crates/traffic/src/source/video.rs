//! Video: frames at an even pace, whose sizes follow the pattern of a group of pictures or a trace.
//!
//! In MPEG a group of pictures repeats a pattern of I, P and B frames with sizes far apart, so the traffic has a period of a group and bursts
//! of a frame (Rose 1995, sections 3 and 4). Sizes of each type are lognormal around the mean of the type (Krunz and Tripathi 1997,
//! section 3; Krunz, Sass and Hughes 1995). With `correlation` the logarithms, in units of their deviation, are an autoregressive process of order 1 over the frames
//! whatever their type: size = mean * exp(sigma z - sigma^2 / 2), z <- correlation * z + sqrt(1 - correlation^2) * e, e standard normal.
//!
//! Deviations from Krunz and Tripathi: one coefficient of variation for all types; scenes (I frames of a scene vary little, and scenes change
//! geometrically) are not modelled, the correlation stands for them. Frames come in the order in which they are sent, so a pattern is in coding order.

use super::player::Player;
use super::{Source, Span};
use crate::draw::{Lognormal, whole};
use fairlane_engine::Stream;
use fairlane_net::{App, AppCx, EpId, FlowId, Problem, Proto};
use fairlane_units::{Bytes, DataFile, Dur, PS_PER_SEC, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Video sends frames at an even pace, split into packets; their sizes follow an MPEG group of pictures (Rose 1995; Krunz and Tripathi 1997) or a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VideoParams {
    /// Frames a second.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub fps: f64,
    /// Types of the frames of a group of pictures, in the order sent: the letters I, P and B, at most 1000.
    pub gop: String,
    /// Mean size of an I frame, which is coded for itself.
    #[schemars(extend("x-min" = "1B", "x-max" = "10MB"))]
    pub i_size: Bytes,
    /// Mean size of a P frame, which is predicted from the one before.
    #[schemars(extend("x-min" = "1B", "x-max" = "10MB"))]
    pub p_size: Bytes,
    /// Mean size of a B frame, which is predicted from both sides.
    #[schemars(extend("x-min" = "1B", "x-max" = "10MB"))]
    pub b_size: Bytes,
    /// Coefficient of variation of the sizes of each type, which are lognormal; 0 for always the mean (Krunz and Tripathi 1997, section 3).
    #[schemars(range(min = 0.0, max = 10.0))]
    pub cv: f64,
    /// Correlation of the logarithms of neighbouring frames' sizes, types set aside, below 1: autoregression of order 1.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub correlation: f64,
    /// File with the size of each frame in bytes, a whole number on each line, instead of the group of pictures; at its end it repeats.
    #[schemars(extend("x-reads" = "numbers"))]
    pub trace: Option<DataFile>,
    /// Frame of the group, or of the trace, that is sent first, counted from 0. Unset: drawn, so that members of a group of flows differ.
    pub first: Option<u32>,
    /// Largest packet that a frame is split into, headers not counted.
    #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
    pub size: Bytes,
    /// True if the packets of a frame are spread evenly over the time until the next one, instead of written at once.
    pub spread: bool,
    /// Video that a player at the receiver loads before it starts: 2.5 s in ExoPlayer 2 (`DEFAULT_BUFFER_FOR_PLAYBACK_MS`). Unset: there is no player,
    /// and its metrics, such as `rebufferings`, are null.
    #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
    pub buffer_to_start: Option<Dur>,
    /// Video that the player loads after a stall before it resumes: 5 s in ExoPlayer 2 (`DEFAULT_BUFFER_FOR_PLAYBACK_AFTER_REBUFFER_MS`).
    #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
    pub buffer_to_resume: Dur,
}

impl Default for VideoParams {
    fn default() -> Self {
        Self {
            // European television; 12 frames and 1.05 Mbit/s.
            fps: 25.0,
            gop: "IBBPBBPBBPBB".to_owned(),
            i_size: Bytes(15_000),
            p_size: Bytes(8_000),
            b_size: Bytes(3_000),
            cv: 0.3,
            correlation: 0.0,
            trace: None,
            first: None,
            size: Bytes(1000),
            spread: false,
            buffer_to_start: None,
            buffer_to_resume: Dur::from_ms(5000),
        }
    }
}

/// Longest group of pictures.
const LONGEST_GOP: usize = 1000;
/// Largest frame: what a trace may hold, and where the lognormal law is cut off.
const LARGEST_FRAME: u64 = 100_000_000;

impl Source for VideoParams {
    type App = Video;

    fn check(&self, _: Proto) -> Result<(), Problem> {
        if let Some(other) = self.gop.chars().find(|c| !matches!(c, 'I' | 'P' | 'B')) {
            return Err(Problem::new("gop", format!("`{}` is no type of frame: write I, P and B", other.escape_debug())));
        }
        if self.gop.is_empty() || self.gop.len() > LONGEST_GOP {
            return Err(Problem::new("gop", format!("{} frames: write 1 to {LONGEST_GOP} letters", self.gop.len())));
        }
        let Some(trace) = &self.trace else {
            return match self.first.filter(|f| *f as usize >= self.gop.len()) {
                Some(f) => Err(Problem::new("first", format!("there is no frame {f}: the last of the group is {}", self.gop.len() - 1))),
                None => Ok(()),
            };
        };
        let sizes = trace.values();
        let wrong = |message| Err(Problem::new("trace", message));
        if sizes.is_empty() {
            return wrong("the trace holds no frame".to_owned());
        }
        if let Some(i) = sizes.iter().position(|&s| s == 0 || s > LARGEST_FRAME) {
            return wrong(format!("frame {i} has {} bytes: allowed is 1 to {LARGEST_FRAME}", sizes[i]));
        }
        match self.first.filter(|f| *f as usize >= sizes.len()) {
            Some(f) => Err(Problem::new("first", format!("there is no frame {f}: the last of the trace is {}", sizes.len() - 1))),
            None => Ok(()),
        }
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Video {
        let law = |mean: Bytes| Lognormal::of(mean.get().max(1) as f64, self.cv);
        let law_of = |c: char| match c {
            'I' => law(self.i_size),
            'P' => law(self.p_size),
            _ => law(self.b_size),
        };
        let frames = match &self.trace {
            Some(trace) => Frames::Trace(trace.shared()),
            None => Frames::Gop(Gop {
                laws: self.gop.chars().map(law_of).collect(),
                correlation: self.correlation,
                fresh: libm::sqrt((1.0 - self.correlation * self.correlation).max(0.0)),
                level: None,
            }),
        };
        let fps = if self.fps > 0.0 { self.fps } else { 1.0 };
        let interval = Dur::from_ps((PS_PER_SEC as f64 / fps + 0.5) as u64).max(Dur::from_ps(1));
        Video {
            span: Span::new(flow, start, stop),
            interval,
            frames,
            first: self.first,
            size: self.size.get().max(1),
            spread: self.spread,
            at: None,
            frame: Frame { begun: start, packets: 0, sent: 0, left: 0 },
            player: self.buffer_to_start.map(|start| Player::new(flow, interval, [start, self.buffer_to_resume])),
        }
    }
}

/// Where the sizes come from.
#[derive(Clone, Debug, PartialEq)]
enum Frames {
    Gop(Gop),
    Trace(Arc<[u64]>),
}

/// A group of pictures.
#[derive(Clone, Debug, PartialEq)]
struct Gop {
    /// Laws of the frames of the pattern.
    laws: Vec<Lognormal>,
    correlation: f64,
    /// Weight of what is new in each frame.
    fresh: f64,
    /// Deviations that the last frame lay above the mean of its logarithm.
    level: Option<f64>,
}

impl Frames {
    fn len(&self) -> usize {
        match self {
            Self::Gop(g) => g.laws.len(),
            Self::Trace(t) => t.len(),
        }
    }

    /// The size of the frame at a place of the pattern or the trace.
    fn size(&mut self, at: usize, rng: &mut Stream) -> u64 {
        match self {
            Self::Trace(t) => t.get(at).copied().unwrap_or(1),
            Self::Gop(g) => {
                let Some(law) = g.laws.get(at) else { return 1 };
                let z = rng.normal();
                let level = g.level.map_or(z, |l| g.correlation * l + g.fresh * z);
                g.level = Some(level);
                whole(law.at(level), 1, LARGEST_FRAME)
            }
        }
    }
}

/// The frame that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    begun: Time,
    packets: u64,
    sent: u64,
    /// Bytes.
    left: u64,
}

/// A running video.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    span: Span,
    interval: Dur,
    frames: Frames,
    first: Option<u32>,
    size: u64,
    spread: bool,
    /// Place of the present frame; none before the start.
    at: Option<usize>,
    frame: Frame,
    player: Option<Player>,
}

impl Video {
    /// Removes the player, which cannot follow a transport that cuts the packets in another way.
    pub fn unplayed(&mut self) {
        self.player = None;
    }

    fn begin_frame(&mut self, cx: &mut AppCx<'_>) {
        let n = self.frames.len().max(1);
        let at = match (self.at, self.first) {
            (Some(at), _) => (at + 1) % n,
            (None, Some(first)) => first as usize % n,
            (None, None) => cx.rng.below(n as u64) as usize,
        };
        self.at = Some(at);
        let bytes = self.frames.size(at, cx.rng);
        self.frame = Frame { begun: cx.now, packets: bytes.div_ceil(self.size), sent: 0, left: bytes };
    }

    fn send_packet(&mut self, cx: &mut AppCx<'_>) {
        let bytes = self.size.min(self.frame.left);
        self.frame.left -= bytes;
        self.frame.sent += 1;
        if let Some(player) = &mut self.player {
            player.sent(bytes, self.frame.left == 0);
        }
        cx.write(self.span.flow, bytes, false);
    }
}

impl App for Video {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        // Data that arrives after the stop is not played.
        if cx.now >= self.span.stop && self.player.take().is_some() {
            cx.play_ends(self.span.flow);
        }
        if self.span.over(cx) {
            return;
        }
        if self.frame.left == 0 {
            self.begin_frame(cx);
        }
        self.send_packet(cx);
        while !self.spread && self.frame.left > 0 {
            self.send_packet(cx);
        }
        let f = &self.frame;
        let next = if f.left == 0 {
            f.begun + self.interval
        } else {
            let part = u128::from(self.interval.as_ps()) * u128::from(f.sent) / u128::from(f.packets.max(1));
            f.begun + Dur::from_ps(u64::try_from(part).unwrap_or(u64::MAX))
        };
        cx.wake_at(next.max(cx.now + Dur::from_ps(1)).min(self.span.stop));
    }

    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        if let Some(player) = &mut self.player {
            player.on_delivered(at, bytes, cx);
        }
    }

    fn listens(&self) -> bool {
        self.player.is_some()
    }
}

#[cfg(test)]
#[path = "video_tests.rs"]
mod tests;
