//! Delivery rate: how fast the path took what was in flight (draft-ietf-ccwg-bbr-03 section 4.1), for algorithms that want it.
//!
//! What it needs to know of each segment lies beside the scoreboard, so that flows without it pay nothing.

use crate::cc::{CongestionControl, LostSample, RateSample};
use crate::endpoint::Tcp;
use crate::scoreboard::{COUNTED, FIN, SACKED, Scoreboard};
use fairlane_net::Cx;
use fairlane_units::{Dur, Rate, Time};

/// A segment that was delivered, or deemed lost, since the diary was last cleared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct News {
    /// Its place on the scoreboard.
    pub(crate) index: u32,
    pub(crate) len: u32,
    /// Marks it had before.
    pub(crate) flags: u8,
    /// Its last transmission.
    pub(crate) at: Time,
    /// One past its last byte.
    pub(crate) end: u64,
}

impl News {
    /// Payload bytes: FIN is no data.
    fn data(&self) -> u64 {
        u64::from(self.len) - u64::from(self.flags & FIN != 0)
    }
}

/// What an acknowledgment changed on the scoreboard, for what looks at each segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diary {
    pub(crate) delivered: Vec<News>,
    pub(crate) lost: Vec<News>,
    /// The last segment delivered was so in part only.
    pub(crate) part: bool,
}

/// What is known of the time a segment was sent.
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

/// State of the sampler.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// Parallel to the scoreboard's ring.
    stamps: Vec<Stamp>,
    pub(crate) delivered: u64,
    delivered_at: Time,
    delivered_ce: u64,
    first_sent: Time,
    pub(crate) lost: u64,
    /// `delivered` at which what was sent while data ran short is all acknowledged; 0: none.
    app_limited: u64,
}

impl RateSampler {
    fn stamp(&self, index: u32) -> Stamp {
        self.stamps[index as usize & (self.stamps.len() - 1)]
    }

    /// A segment goes out: `board` holds it already, and `in_flight` counts it.
    fn on_sent(&mut self, index: u32, len: u64, in_flight: u64, now: Time, board: &Scoreboard) {
        if self.stamps.len() != board.ring.len() {
            self.lay_out(board);
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

    #[cold]
    fn lay_out(&mut self, board: &Scoreboard) {
        let mut stamps = vec![Stamp::default(); board.ring.len()];
        let mut i = board.head;
        while i != board.tail && !self.stamps.is_empty() {
            stamps[i as usize & (board.ring.len() - 1)] = self.stamp(i);
            i = i.wrapping_add(1);
        }
        self.stamps = stamps;
    }

    /// The sample of an acknowledgment; `ce_bytes` of what it delivered were marked.
    fn sample(&mut self, diary: &Diary, ce_bytes: u64, min_rtt: Dur, now: Time) -> Option<RateSample> {
        let newly_delivered: u64 = diary.delivered.iter().map(News::data).sum();
        let newly_lost: u64 = diary.lost.iter().map(News::data).sum();
        if newly_delivered == 0 {
            return None;
        }
        self.delivered += newly_delivered;
        self.delivered_ce += ce_bytes;
        self.delivered_at = now;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        // Of what was delivered, the segment sent last tells of the latest state of the path.
        let newest = diary.delivered.iter().map(|n| (n.at, self.stamp(n.index))).max_by_key(|(at, s)| (s.delivered, *at));
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

/// Bytes over a time, rounded down to whole bits per second.
pub(crate) fn rate_of(bytes: u64, interval: Dur) -> Rate {
    let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
    Rate::from_bps((bits / u128::from(interval.as_ps().max(1))).min(u128::from(u64::MAX)) as u64)
}

impl Scoreboard {
    /// Notes what a cumulative acknowledgment delivers that no SACK block did before.
    pub(crate) fn note_acked(&mut self, ack: u64) {
        let Some(mut diary) = self.diary.take() else { return };
        let mut i = self.head;
        while i != self.tail {
            let s = *self.at(i);
            if s.seq >= ack {
                break;
            }
            if s.flags & (SACKED | COUNTED) == 0 {
                let end = s.end().min(ack);
                diary.part = end < s.end();
                let flags = if diary.part { s.flags & !FIN } else { s.flags };
                diary.delivered.push(News { index: i, len: (end - s.seq) as u32, flags, at: s.at, end });
            }
            i = i.wrapping_add(1);
        }
        self.diary = Some(diary);
    }

    /// Starts keeping a diary.
    pub(crate) fn keep_diary(&mut self) {
        self.diary = Some(Box::default());
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// A segment went out, new or again.
    #[cold]
    pub(crate) fn rate_sent(&mut self, index: u32, len: u64, now: Time) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.on_sent(index, len, in_flight, now, &self.tx.board);
        }
    }

    /// Sending stopped for want of data (draft section 4.1.2.4): samples of what is in flight may be too low.
    pub(crate) fn rate_app_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.app_limited = (rate.delivered + in_flight).max(1);
        }
    }

    /// The algorithm hears of each segment that the diary has as lost.
    pub(crate) fn rate_lost(&mut self, cx: &Cx<'_>) {
        let (Some(rate), Some(diary)) = (&mut self.rate, &self.tx.board.diary) else { return };
        for n in diary.lost.iter().filter(|n| n.data() != 0) {
            let stamp = rate.stamp(n.index);
            rate.lost += n.data();
            self.cc.on_lost(&LostSample {
                now: cx.now,
                bytes: n.data(),
                tx_in_flight: stamp.tx_in_flight,
                lost: rate.lost - stamp.lost,
                app_limited: stamp.app_limited,
            });
        }
    }

    /// What the diary tells of losses and rate.
    pub(crate) fn take_rate(&mut self, cx: &Cx<'_>) -> Option<RateSample> {
        self.rate_lost(cx);
        let (Some(rate), Some(diary)) = (&mut self.rate, &self.tx.board.diary) else { return None };
        rate.sample(diary, self.ecn.newly_ce, self.rtt.min(), cx.now)
    }

    /// Begins the diary of an acknowledgment.
    #[inline]
    pub(crate) fn open_diary(&mut self) {
        if let Some(diary) = &mut self.tx.board.diary {
            diary.delivered.clear();
            diary.lost.clear();
            diary.part = false;
        }
    }
}
