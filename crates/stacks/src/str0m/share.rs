//! Share of the target rate that is left for the encoder.
//!
//! The target of the congestion control is that of all packets. libwebrtc subtracts from it what headers take (`RtpVideoSender::OnBitrateUpdated`) and what
//! was sent again in the last second, at most half (`FecControllerDefault::UpdateFecRates`), and the encoder gets the rest. Without that a flow sends more
//! than its target as soon as packets are lost, so losses persist.

use fairlane_units::{Dur, Time};
use std::collections::VecDeque;

/// Span over which rates are measured.
const SPAN: Dur = Dur::from_secs(1);
/// Least share.
const LEAST: f64 = 0.5;

/// Bytes of frames, of their datagrams, and of datagrams that are sent again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) frames: u64,
    pub(super) first: u64,
    pub(super) again: u64,
}

/// Bytes of the last second.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// Bytes until each frame of the last second.
    past: VecDeque<(Time, Bytes)>,
}

impl Share {
    /// The share at `now`, the time of a frame, where `sent` has been sent in all.
    pub(super) fn at(&mut self, now: Time, sent: Bytes) -> f64 {
        self.past.push_back((now, sent));
        while self.past.len() > 1 && self.past.front().is_some_and(|(at, _)| now.since(*at) > SPAN) {
            self.past.pop_front();
        }
        let Some((_, before)) = self.past.front() else { return 1.0 };
        let again = sent.again - before.again;
        let all = (sent.first - before.first + again) as f64;
        // Headers are a matter of all frames so far: those that wait in the pacer have none yet.
        let headers = (sent.frames as f64 / sent.first.max(1) as f64).min(1.0);
        if all > 0.0 { (headers * (1.0 - again as f64 / all)).max(LEAST) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// Sends 1000 bytes of frames as 1100, and 300 again: 1100 / 1400 of the target are for frames, 1000 / 1100 of this without headers.
    #[test]
    fn the_encoder_gets_what_headers_and_repetitions_leave() {
        let mut share = Share::default();
        assert_eq!(share.at(at(0), Bytes::default()), 1.0);
        let got = share.at(at(500), Bytes { frames: 1000, first: 1100, again: 300 });
        assert!((got - 1000.0 / 1400.0).abs() < 1e-9, "{got}");
    }

    #[test]
    fn what_was_sent_again_counts_for_a_second_and_at_most_half() {
        let mut share = Share::default();
        share.at(at(0), Bytes::default());
        assert_eq!(share.at(at(100), Bytes { frames: 1000, first: 1000, again: 3000 }), 0.5);
        let got = share.at(at(1101), Bytes { frames: 3000, first: 3000, again: 3000 });
        assert_eq!(got, 1.0);
    }
}
