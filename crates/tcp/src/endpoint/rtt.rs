//! Round-trip time measurements (RFC 6298, RFC 7323).

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use fairlane_net::{Cx, Segment};
use fairlane_units::{Dur, Time};
/// Shortest interval that ns-3 measures.
const LEAST_TICKS: Dur = Dur::from_us(1);

impl<C: CongestionControl> Tcp<C> {
    /// Measures the round-trip time (RFC 6298 sections 3 and 4): that of the newest segment is the path's. If SRTT has to include delayed
    /// acknowledgments, it uses the oldest segment.
    pub(crate) fn measure_rtt(&mut self, seg: &Segment, timed: Option<Time>, oldest: Option<Time>, cx: &mut Cx<'_>) {
        if let Some(sent) = timed {
            cx.rtt = Some(cx.now.since(sent));
            if self.cfg.rtt_every && !self.cfg.timestamps {
                self.rtt.sample(oldest.unwrap_or(sent), cx.now, &self.cfg);
                self.rtt.note_least(cx.now.since(sent));
            }
        }
        if !self.cfg.rtt_every {
            if self.tx.timed_end != 0 && seg.ack >= self.tx.timed_end {
                self.tx.timed_end = 0;
                if !self.cfg.timestamps {
                    self.rtt.sample(self.timed_at, cx.now, &self.cfg);
                }
            }
            if self.cfg.vegas_send_table {
                self.update_send_table();
            }
        }
        if let Some((value, echo)) = seg.timestamps()
            && self.cfg.timestamps
        {
            self.rtt.note_one_way(self.cfg.timestamp_tick * u64::from(value.wrapping_sub(echo)));
            // RFC 7323 section 4.1: also of segments that were retransmitted.
            // Where the segment itself can be timed that is exact; the echo counts in ticks of the timestamp clock.
            match timed {
                _ if self.cfg.rtt_in_ticks => self.measure_in_ticks(timed.is_some(), echo, cx.now),
                Some(sent) => {
                    self.rtt.sample(oldest.unwrap_or(sent), cx.now, &self.cfg);
                    self.rtt.note_least(cx.now.since(sent));
                }
                None => {
                    let ticks = self.timestamp(cx.now).wrapping_sub(echo);
                    self.rtt.sample_span(self.cfg.timestamp_tick * u64::from(ticks), &self.cfg);
                }
            }
        }
    }

    /// Measures the round trip of SYN and SYN-ACK (RFC 6298 section 3).
    #[cold]
    pub(crate) fn measure_handshake(&mut self, now: Time) {
        if self.cfg.rtt_in_ticks {
            return self.measure_in_ticks(true, self.timestamp(self.timed_at), now);
        }
        self.rtt.sample(self.timed_at, now, &self.cfg);
    }

    /// Measures by the echo for segments sent `once`, in ticks as ns-3 does.
    #[cold]
    fn measure_in_ticks(&mut self, once: bool, echo: u32, now: Time) {
        if once {
            let ticks = self.cfg.timestamp_tick * u64::from(self.timestamp(now).wrapping_sub(echo));
            let ticks = ticks.max(LEAST_TICKS);
            if self.cfg.rtt_smoothed { self.rtt.sample_smoothed(ticks, &self.cfg) } else { self.rtt.sample_span(ticks, &self.cfg) }
        }
    }
}
