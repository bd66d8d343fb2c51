//! Segmentation offload: new data leaves in bursts (Linux 6.18 `tcp_write_xmit`, `tcp_tso_autosize`, `tcp_tso_should_defer`).
//!
//! A burst has the length of `pacing_burst` at the actual or notional pacing rate, and at least `pacing_segments`; on paths of a few
//! milliseconds it is longer, except with Prague. If the window has room for a shorter one only, it waits for a full one outside recovery,
//! provided that a segment left less than a millisecond ago, the room is less than a third of the window, and an acknowledgment is expected
//! soon: that of the oldest segment in flight, a smoothed round-trip time after it left, within a millisecond.
//! A single segment released by an acknowledgment is held until there are two. It leaves anyway at the end of a piece of the send queue, as
//! the next piece begins another.
//!
//! The last segment of a burst carries PSH, and so does the last one written: the receiver's application reads the data, and it is
//! acknowledged.
//!
//! Deviation: the pieces of the send queue are `tso_piece` long from the first byte on. In Linux they start again where the application did
//! not keep the queue filled.

use crate::burst::Burst;
use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::quantum::BITS_PS;
use crate::state::{FIRST, Phase};
use fairlane_net::Cx;
use fairlane_units::{Dur, Rate, Time};
/// Longest burst (`sk_gso_max_size` less the longest headers).
const LONGEST: u64 = 65_536 - 321;
/// Most segments of a burst.
const MOST: u64 = u8::MAX as u64;
/// Age from which the last transmission no longer defers a burst (`tcp_tso_should_defer`).
const RECENT: Dur = Dur::from_ms(1);
/// Longest wait for an acknowledgment (`tcp_tso_should_defer` since 6.18).
const SOON: Dur = Dur::from_ms(1);
/// Divisor of the window: a larger room does not wait (`tcp_tso_win_divisor`).
const SHARE: u64 = 3;
/// Bursts are longer on short paths: their addition is halved for each interval of this length in the smallest round-trip time
/// (`tcp_tso_rtt_log`: 2^9 us).
const HALVED_EACH: Dur = Dur::from_us(512);

impl<C: CongestionControl> Tcp<C> {
    /// Returns true if the next segment of new data may leave with `room` bytes left in the congestion window. Starts another burst at the
    /// end of one.
    pub(crate) fn tso_allows(&mut self, room: u64, now: Time) -> bool {
        if self.burst.left != 0 {
            self.burst.left -= 1;
            return true;
        }
        let smss = u64::from(self.cfg.smss);
        let most = self.tso_goal_segments();
        let (wide, rest) = (self.edge.saturating_sub(self.nxt), self.data_end - self.nxt);
        let pushed = self.burst.pushed;
        let piece = match self.cfg.tso_piece {
            Some(bytes) => {
                let goal = (bytes.get() / smss).max(1) * smss;
                goal - (self.nxt - FIRST) % goal
            }
            None => u64::MAX,
        };
        let last = rest <= piece;
        let quota = (room / smss).min(most);
        // The missing part of the piece is taken from the next one.
        let held = if last { rest } else { piece.max(quota * smss) };
        if held > smss
            && self.phase == Phase::Open
            && !pushed
            && self.tso_defers(room.min(wide), most * smss, !last && piece <= quota * smss, now)
        {
            self.burst.deferred = true;
            return false;
        }
        let n = quota.min(wide / smss).min(held.div_ceil(smss)).max(1);
        self.burst = Burst::of(n, pushed);
        true
    }

    /// Sends data that waits for a full burst.
    pub fn push(&mut self, cx: &mut Cx<'_>) {
        self.burst.pushed = true;
        self.transmit(self.cfg.max_burst, cx);
        self.burst.pushed = false;
    }

    /// True if a burst of `room` bytes waits for a full one of `most`. `ends_piece`: true if it is the rest of a piece.
    fn tso_defers(&self, room: u64, most: u64, ends_piece: bool, now: Time) -> bool {
        // The pacer may have delayed this segment since then.
        if room >= most || ends_piece || now.since(self.tx.last_sent.max(self.ext.pacer.next())) > RECENT {
            return false;
        }
        let window = self.window().min(self.edge.saturating_sub(self.una));
        if room >= window / SHARE || self.tx.board.is_empty() {
            return false;
        }
        // When the acknowledgment of the oldest segment in flight should come.
        let srtt = self.rtt.srtt(&self.cfg);
        let soon = SOON.min(Dur::from_ps(srtt.as_ps() / 2));
        let expected = self.tx.board.at(self.tx.board.head).at + srtt;
        // After a FIN there is no more data.
        expected <= now + soon && !(self.closed && self.data_end - self.nxt < room)
    }

    /// Segments of a full burst (`tcp_tso_autosize`).
    fn tso_goal_segments(&self) -> u64 {
        let smss = u64::from(self.cfg.smss);
        let least = u64::from(self.cfg.pacing_segments);
        let rate = self.pacing_time(smss).map_or(u64::MAX, |ps| (smss as i64 as f64 * BITS_PS / ps.max(1.0)) as u64);
        let halvings = self.rtt.min().as_ps() / HALVED_EACH.as_ps();
        let more = if halvings < 32 && self.cfg.longer_bursts { LONGEST >> halvings } else { 0 };
        let bytes = Rate::from_bps(rate).bytes_in(self.cfg.pacing_burst).min(LONGEST).saturating_add(more).min(LONGEST);
        (bytes / smss).max(least).min(MOST)
    }
}
