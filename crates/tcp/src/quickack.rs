//! Quick and delayed acknowledgments as in Linux 6.18 (`net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`).
//!
//! The first data grants `quick_acks` acknowledgments that are not delayed, at most one for every two segments of the window; so do a pause
//! of more than the RTO and duplicate data. Each acknowledgment sent takes one. Data that opens the receive window (`rcvbuf.rs`) makes the
//! number odd: the quick mode lasts as long as the window grows. In an interactive session, that is once data was sent soon after data
//! arrived, none is quick until the timer of an acknowledgment expires.
//!
//! Other acknowledgments wait for the next segment, or for a time that follows the pauses between segments (`ato`), at least `ack_delay`.
//!
//! Outside an interactive session, a segment with PSH is acknowledged at once, as the application has read everything (`tcp_cleanup_rbuf`).
//!
//! Deviations: times are not counted in ticks of the kernel's clock. In Linux a short segment counts as one with PSH.

use crate::ack_compression::AckCompression;
use crate::config::TcpConfig;
use crate::rcvbuf::ReceiveBuffer;
use fairlane_units::{Dur, Time};
/// Assumed segment size before the first segment (`TCP_MSS_DEFAULT`).
const FIRST_MSS: u64 = 536;
/// Least size of a segment that counts for the estimate of the largest (`tcp_measure_rcv_mss`), without headers.
const TELLING: u64 = 524;
/// Longest delay of an acknowledgment (`TCP_DELACK_MAX`).
const LONGEST: Dur = Dur::from_ms(200);

/// State of quick and delayed acknowledgments, with the receive buffer.
#[derive(Clone, Debug)]
pub(crate) struct QuickAck {
    pub(crate) buffer: Option<ReceiveBuffer>,
    /// Quick acknowledgments left (`quick`).
    pub(crate) left: u32,
    /// True in an interactive session: the application answers data that arrives ("pingpong").
    pub(crate) interactive: bool,
    /// Longest delay of an acknowledgment (`ato`); zero before the first data.
    ato: Dur,
    /// Last arrival of data in order.
    last_data_at: Time,
    /// Payload of the largest segments (`rcv_mss`), and of the last smaller segment.
    pub(crate) mss: u64,
    small: u64,
    /// Acknowledgments delayed while data is missing.
    pub(crate) compression: AckCompression,
}

impl QuickAck {
    pub(crate) fn new(c: &TcpConfig) -> Self {
        let buffer = c.buffer_range.map(|(start, most)| ReceiveBuffer::new(c, start, most));
        let window = buffer.as_ref().map_or(u64::from(c.receive_window), ReceiveBuffer::window);
        let mss = u64::from(c.smss).min(window / 2).clamp(1, FIRST_MSS);
        Self {
            buffer,
            left: 0,
            interactive: false,
            ato: Dur::ZERO,
            last_data_at: Time::ZERO,
            mss,
            small: 0,
            compression: AckCompression::default(),
        }
    }

    /// Starts the receive buffer when the connection opens.
    pub(crate) fn on_open(&mut self, now: Time) {
        if let Some(buffer) = &mut self.buffer {
            buffer.on_open(now);
        }
    }

    /// Delays acknowledgments as in an interactive session: an answer of the application is likely to carry them.
    pub(crate) fn set_interactive(&mut self) {
        self.interactive = true;
    }

    /// Grants quick acknowledgments if the handshake ends with data that waited for it (`tcp_rcv_synsent_state_process` with
    /// `sk_write_pending`).
    pub(crate) fn answered_with_data(&mut self, now: Time, c: &TcpConfig) {
        self.grant(c);
        (self.interactive, self.ato, self.last_data_at) = (false, c.ack_delay, now);
    }

    /// Notes that data was sent: an answer, if data arrived not long ago (`tcp_event_data_sent`).
    pub(crate) fn on_data_sent(&mut self, now: Time) {
        self.interactive |= now.since(self.last_data_at) < self.ato;
    }

    /// Handles the expiry of the timer of an acknowledgment (`tcp_delack_timer_handler`).
    pub(crate) fn on_timer(&mut self, rto: Dur, c: &TcpConfig) {
        if self.compression.is_delaying() {
            return;
        }
        self.ato = if self.interactive { c.ack_delay } else { (self.ato * 2).min(rto) };
        self.interactive = false;
    }

    /// Counts an acknowledgment that was due and leaves (`tcp_dec_quickack_mode`).
    pub(crate) fn on_ack_sent(&mut self, least: Dur) {
        self.compression.on_ack_sent();
        if self.left != 0 {
            self.left -= 1;
            if self.left == 0 {
                self.ato = least;
            }
        }
    }

    /// Grants quick acknowledgments (`tcp_incr_quickack`).
    fn grant(&mut self, c: &TcpConfig) {
        let window = self.buffer.as_ref().map_or(u64::from(c.receive_window), ReceiveBuffer::window);
        let enough = match window / (2 * self.mss) {
            0 => 2,
            n => n.min(c.quick_acks.into()) as u32,
        };
        self.left = self.left.max(enough.min(c.quick_acks));
    }

    /// Grants quick acknowledgments for duplicate data: an acknowledgment was lost, or the retransmission was spurious
    /// (`tcp_enter_quickack_mode`).
    pub(crate) fn on_duplicate(&mut self, c: &TcpConfig) {
        self.grant(c);
        (self.interactive, self.ato) = (false, c.ack_delay);
    }

    /// Handles the next `payload` bytes in order (`tcp_event_data_recv`).
    pub(crate) fn on_next_data(&mut self, payload: u64, nxt: u64, kept: u64, rto: Dur, now: Time, c: &TcpConfig) {
        self.note_size(payload);
        if let Some(buffer) = &mut self.buffer {
            buffer.note_window(nxt, now);
        }
        let pause = now.since(self.last_data_at);
        if self.ato == Dur::ZERO {
            self.grant(c);
            self.ato = c.ack_delay;
        } else if pause <= c.ack_delay / 2 {
            self.ato = self.ato / 2 + c.ack_delay / 2;
        } else if pause < self.ato {
            self.ato = (self.ato / 2 + pause).min(rto);
        } else if pause > rto {
            self.grant(c);
        }
        self.last_data_at = now;
        self.open(payload, kept, true);
    }

    /// Opens the window with `kept` bytes out of order. A segment beyond a hole does not count as taking memory yet.
    pub(crate) fn open(&mut self, payload: u64, kept: u64, counts: bool) {
        if let Some(buffer) = &mut self.buffer
            && buffer.grow(payload, kept, counts, self.mss)
        {
            self.left |= 1;
        }
    }

    /// Updates the estimate of the segment size (`tcp_measure_rcv_mss`).
    fn note_size(&mut self, payload: u64) {
        let last = std::mem::take(&mut self.small);
        if payload >= self.mss {
            if payload != self.mss
                && let Some(buffer) = &mut self.buffer
            {
                buffer.set_segment_size(payload);
            }
            self.mss = payload;
        } else if payload >= TELLING {
            self.small = payload;
            if payload == last {
                self.mss = payload;
            }
        }
    }

    /// Delay of an acknowledgment (`tcp_send_delayed_ack`).
    pub(crate) fn ack_delay(&self, srtt: Dur, c: &TcpConfig) -> Dur {
        let mut wait = self.ato.max(c.ack_delay);
        if wait > c.ack_delay && srtt != Dur::ZERO {
            wait = wait.min(srtt.max(c.ack_delay));
        }
        wait.min(LONGEST.max(c.ack_delay))
    }
}
