//! Delivery rate samples (draft-ietf-ccwg-bbr-03 section 4.1), for algorithms that require them.
//!
//! State per segment lies next to the scoreboard, so that flows without rate samples pay nothing.

use crate::ack_log::{AckLog, SegmentEvent};
use crate::cc::{LostSample, RateSample};
use crate::quantum::rate_of;
use crate::scoreboard::Scoreboard;
use fairlane_units::{Dur, Rate, Time};

/// State of the connection when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    tx_in_flight: u64,
    lost: u64,
    delivered_ce: u64,
    app_limited: bool,
}

/// State of the delivery rate sampler.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// Parallel to the scoreboard's ring.
    stamps: Vec<Stamp>,
    delivered: u64,
    delivered_at: Time,
    delivered_ce: u64,
    first_sent: Time,
    pub(crate) lost: u64,
    /// Value of `delivered` at which all data sent while application-limited is acknowledged; 0: none.
    app_limited: u64,
}

impl RateSampler {
    fn stamp(&self, index: u32) -> Stamp {
        self.stamps[index as usize & (self.stamps.len() - 1)]
    }

    /// Stamps a segment that leaves: `board` holds it already, and `in_flight` counts it.
    pub(crate) fn on_sent(&mut self, index: u32, len: u64, in_flight: u64, now: Time, board: &Scoreboard) {
        if self.stamps.len() != board.ring.len() {
            self.resize(board);
        }
        if in_flight <= len {
            // Nothing else is in flight: the intervals begin here.
            self.first_sent = now;
            self.delivered_at = now;
        }
        let slot = index as usize & (self.stamps.len() - 1);
        self.stamps[slot] = Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            tx_in_flight: in_flight,
            lost: self.lost,
            delivered_ce: self.delivered_ce,
            app_limited: self.app_limited != 0,
        };
    }

    /// Marks the data now in flight as sent while the sender was application-limited.
    pub(crate) fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Counts a lost segment and returns its sample.
    pub(crate) fn on_lost(&mut self, n: &SegmentEvent, now: Time) -> LostSample {
        let stamp = self.stamp(n.index);
        self.lost += n.data();
        LostSample { now, bytes: n.data(), tx_in_flight: stamp.tx_in_flight, lost: self.lost - stamp.lost, app_limited: stamp.app_limited }
    }

    #[cold]
    fn resize(&mut self, board: &Scoreboard) {
        let mut stamps = vec![Stamp::default(); board.ring.len()];
        let mut i = board.head;
        while i != board.tail && !self.stamps.is_empty() {
            stamps[i as usize & (board.ring.len() - 1)] = self.stamp(i);
            i = i.wrapping_add(1);
        }
        self.stamps = stamps;
    }

    /// Sample of an acknowledgment; `ce_bytes` of the bytes delivered were marked.
    pub(crate) fn sample(&mut self, log: &AckLog, ce_bytes: u64, min_rtt: Dur, now: Time) -> Option<RateSample> {
        let newly_delivered: u64 = log.delivered.iter().map(SegmentEvent::data).sum();
        let newly_lost: u64 = log.lost.iter().map(SegmentEvent::data).sum();
        if newly_delivered == 0 {
            return None;
        }
        self.delivered += newly_delivered;
        self.delivered_ce += ce_bytes;
        self.delivered_at = now;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        // Of the segments delivered, the latest sent one has the latest state of the path.
        let newest = log.delivered.iter().map(|n| (n.at, self.stamp(n.index))).max_by_key(|(at, s)| (s.delivered, *at));
        let (at, p) = newest?;
        self.first_sent = at;
        let interval = at.since(p.first_sent).max(now.since(p.delivered_at));
        let delivered = self.delivered - p.delivered;
        // A shorter interval than a round trip is an artefact of acknowledgments that were held up; the rest of the sample holds.
        let valid = interval != Dur::ZERO && (min_rtt == Dur::MAX || interval >= min_rtt);
        Some(RateSample {
            delivered,
            interval,
            rate: if valid { rate_of(delivered, interval) } else { Rate::from_bps(0) },
            prior_delivered: p.delivered,
            tx_in_flight: p.tx_in_flight,
            lost: self.lost - p.lost,
            delivered_ce: self.delivered_ce - p.delivered_ce,
            app_limited: p.app_limited,
            newly_delivered,
            newly_lost,
        })
    }
}
