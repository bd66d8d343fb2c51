//! An encoder of video that follows a target rate.
//!
//! The law is that of the statistical model of RFC 8593, with these differences: frames come at an even pace, and a key frame has a size relative to the
//! mean, because a fixed one (13.5 kB there) is most of a second at low rates. A frame has `rate / (8 fps)` bytes in the mean. A key frame is `key_frame`
//! times as long, and the frames after it, [`BURST`] in all, are shorter, so that together they keep the rate; none is shorter than a fifth of the mean.
//! Every size is multiplied by 1 + L, where L has a Laplace distribution of mean 0 and scale `deviation`, cut off at -0.9 and 0.9. A new target is
//! accepted once `reaction` has passed since the last one was.

use crate::spec::Str0mParams;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// Frames over which the excess of a key frame is saved.
const BURST: u32 = 8;
/// Least size of a frame over the mean.
const LEAST: f64 = 0.2;
/// Largest relative deviation of a size.
const DEVIATION: f64 = 0.9;
/// Least size of a frame, bytes.
const BYTES: f64 = 64.0;

/// An encoder and its state.
#[derive(Debug)]
pub(super) struct Encoder {
    random: Stream,
    interval: Dur,
    fps: f64,
    key_frame: f64,
    deviation: f64,
    reaction: Dur,
    /// Least and largest rate, bit/s.
    range: (f64, f64),
    rate: f64,
    accepted: Option<Time>,
    /// Frames that still save the excess of the last key frame.
    saving: u32,
    wants_key: bool,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) bytes: usize,
    pub(super) key: bool,
}

impl Encoder {
    pub(super) fn new(params: &Str0mParams, random: Stream) -> Self {
        let range = (params.least.as_bps() as f64, params.most.as_bps() as f64);
        Self {
            random,
            interval: Dur::from_secs_f64(1.0 / params.fps),
            fps: params.fps,
            key_frame: params.key_frame,
            deviation: params.deviation,
            reaction: params.reaction,
            range,
            rate: (params.start.as_bps() as f64).clamp(range.0, range.1),
            accepted: None,
            saving: 0,
            wants_key: true,
        }
    }

    pub(super) const fn interval(&self) -> Dur {
        self.interval
    }

    /// Makes the next frame a key frame.
    pub(super) fn want_key(&mut self) {
        self.wants_key = true;
    }

    /// Encodes a frame at the given target rate in bit/s.
    pub(super) fn frame(&mut self, now: Time, target: f64) -> Frame {
        let target = target.clamp(self.range.0, self.range.1);
        if target != self.rate && self.accepted.is_none_or(|at| now.since(at) >= self.reaction) {
            (self.rate, self.accepted) = (target, Some(now));
        }
        let key = std::mem::take(&mut self.wants_key);
        let share = if key {
            self.saving = BURST - 1;
            self.key_frame
        } else if self.saving > 0 {
            self.saving -= 1;
            ((f64::from(BURST) - self.key_frame) / f64::from(BURST - 1)).max(LEAST)
        } else {
            1.0
        };
        let bytes = self.rate / (8.0 * self.fps) * share * (1.0 + self.laplace());
        Frame { bytes: bytes.max(BYTES) as usize, key }
    }

    fn laplace(&mut self) -> f64 {
        if self.deviation == 0.0 {
            return 0.0;
        }
        let size = self.random.exponential(Dur::from_secs(1)).as_secs_f64() * self.deviation;
        let sign = if self.random.uniform() < 0.5 { -1.0 } else { 1.0 };
        sign * size.min(DEVIATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_units::Rate;

    fn encoder(change: impl FnOnce(&mut Str0mParams)) -> Encoder {
        let mut params = Str0mParams { start: Rate::from_mbps(1), most: Rate::from_mbps(4), ..Str0mParams::default() };
        change(&mut params);
        Encoder::new(&params, Stream::new(1, "test", "encoder", "sizes"))
    }

    fn sizes(e: &mut Encoder, n: u64, target: f64) -> Vec<usize> {
        (0..n).map(|i| e.frame(Time::ZERO + e.interval() * i, target).bytes).collect()
    }

    /// 1 Mbit/s at 25 frames a second are 5000 bytes a frame; a key frame of four times this leaves 4/7 for each of the seven after it.
    #[test]
    fn a_key_frame_is_saved_by_the_frames_after_it() {
        let mut e = encoder(|p| (p.fps, p.deviation) = (25.0, 0.0));
        let got = sizes(&mut e, 10, 1e6);
        assert_eq!(got[0], 20_000);
        assert_eq!(got[1..8], [2857; 7]);
        assert_eq!(got[8..], [5000; 2]);
        let total: usize = got[..8].iter().sum();
        assert!(total.abs_diff(8 * 5000) < 8);
    }

    /// The mean of |L| is the scale, and the rate is kept.
    #[test]
    fn sizes_vary_by_the_scale_around_the_rate() {
        let mut e = encoder(|p| p.fps = 25.0);
        let got = sizes(&mut e, 20_000, 1e6);
        let mean = got.iter().sum::<usize>() as f64 / got.len() as f64;
        assert!((mean / 5000.0 - 1.0).abs() < 0.01, "{mean}");
        let off: f64 = got[8..].iter().map(|b| (*b as f64 / 5000.0 - 1.0).abs()).sum::<f64>() / (got.len() - 8) as f64;
        assert!((off - 0.15).abs() < 0.005, "{off}");
    }

    #[test]
    fn a_target_is_followed_after_the_reaction_and_within_the_range() {
        let mut e = encoder(|p| (p.fps, p.deviation, p.reaction) = (10.0, 0.0, Dur::from_ms(250)));
        sizes(&mut e, 8, 1e6);
        let at = |ms| Time::ZERO + Dur::from_ms(ms);
        assert_eq!(e.frame(at(1000), 2e6).bytes, 25_000);
        assert_eq!(e.frame(at(1200), 1e6).bytes, 25_000);
        assert_eq!(e.frame(at(1300), 1e6).bytes, 12_500);
        assert_eq!(e.frame(at(2000), 1e9).bytes, 50_000);
        assert_eq!(e.frame(at(3000), 0.0).bytes, 1875);
        assert!(!e.frame(at(3100), 1e6).key);
        e.want_key();
        assert!(e.frame(at(3200), 1e6).key);
    }
}
