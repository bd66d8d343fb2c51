//! Receive-buffer auto-tuning and the advertised window, as in Linux 6.18 (`net/ipv4/tcp_input.c`, `tcp_output.c`).
//!
//! The buffer begins with `receive_buffer` bytes and grows up to `receive_window`. It holds twice the data that the application reads in a
//! round trip, and twice the last growth of it in addition, since a sender in slow start doubles its window (dynamic right-sizing, M. Fisk
//! and W. Feng, LACSI 2001; `tcp_rcv_space_adjust`). The window is the share of the buffer that is payload and not overhead. It opens step
//! by step: each segment that arrives adds two (`tcp_grow_window`), and meanwhile acknowledgments are quick (`quickack.rs`).
//!
//! The memory of a segment is the power of two that holds it with its headers and those of the kernel, and a descriptor: the size that
//! `alloc_skb` gives to a device that copies. Drivers that share pages among segments use less.
//!
//! Deviations: the application reads data in order at once. Memory is never short (`tcp_clamp_window`), and no segment is dropped for want
//! of it.

use crate::config::TcpConfig;
use crate::state::FIRST;
use fairlane_units::{Dur, Time};
/// Unit of the share of the buffer (`TCP_RMEM_TO_WIN_SCALE`).
const WHOLE: u64 = 256;
/// Share before the first segment has shown its overhead: half (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SHARE: u64 = WHOLE / 2;
/// `NET_SKB_PAD` and `struct skb_shared_info` of a packet, and `struct sk_buff`.
const BESIDE: u64 = 64 + 320;
const DESCRIPTOR: u64 = 256;
/// Least payload of a segment that opens the window (`tcp_event_data_recv`).
const SMALL: u64 = 128;
/// Segments assumed to be read before the end of the first round trip (`TCP_INIT_CWND`).
const FIRST_TAKEN: u64 = 10;
/// Scale of round-trip times.
const SCALE: u64 = 8;

/// State of the buffer, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    /// Memory granted (`sk_rcvbuf`), and its maximum (`tcp_rmem[2]`).
    size: u64,
    most: u64,
    /// Payload in `WHOLE` bytes of it (`scaling_ratio`).
    share: u64,
    /// Largest window that fits (`window_clamp`), and the part offered so far (`rcv_ssthresh`).
    clamp: u64,
    offer: u64,
    /// Window in force, counted from the acknowledgment that advertised it (`rcv_wnd`, `rcv_wup`).
    window: u64,
    from: u64,
    /// Largest segment announced (`advmss`); bytes of headers.
    mss: u64,
    header: u64,
    /// Shift of the step in which windows are advertised (RFC 7323 section 2); without the option they are in whole segments.
    shift: u8,
    /// Data that the application read in the last round trip, and where and when that began (`rcvq_space`).
    taken: u64,
    taken_from: u64,
    taken_at: Time,
    /// Round-trip time in picoseconds, times [`SCALE`]; 0: none yet. End and beginning of the window that measures it without timestamps.
    rtt: u64,
    round_end: u64,
    round_at: Option<Time>,
    /// Latest echo.
    echo: Option<u32>,
}

impl ReceiveBuffer {
    /// Buffer of a connection that opens (`tcp_select_initial_window`, `tcp_init_buffer_space`).
    pub(crate) fn new(c: &TcpConfig, start: u64, most: u64) -> Self {
        let mss = u64::from(c.smss);
        let space = start * FIRST_SHARE / WHOLE;
        // One segment is kept back.
        let clamp = if space > 2 * mss { space.saturating_sub(mss).max(2 * mss) } else { space };
        // In whole segments; a SYN cannot advertise more than 64 KB.
        let window = if space > mss { space / mss * mss } else { space };
        let offer = window.min(clamp);
        Self {
            size: start,
            most,
            share: FIRST_SHARE,
            clamp,
            offer,
            window,
            from: FIRST,
            mss,
            header: u64::from(c.header_len),
            shift: if c.window_scaling { c.window_shift() } else { 0 },
            taken: offer.min(FIRST_TAKEN * mss),
            taken_from: FIRST,
            taken_at: Time::ZERO,
            rtt: 0,
            round_end: 0,
            round_at: None,
            echo: None,
        }
    }

    /// Starts the measurements when the connection opens.
    pub(crate) fn on_open(&mut self, now: Time) {
        self.taken_at = now;
    }

    /// Memory of a segment (`truesize`).
    fn memory(&self, payload: u64) -> u64 {
        (payload + self.header + BESIDE).next_power_of_two() + DESCRIPTOR
    }

    fn window_of(&self, memory: u64) -> u64 {
        memory * self.share / WHOLE
    }

    /// Window that fits with `kept` bytes out of order (`tcp_space`).
    fn space(&self, kept: u64, arriving: u64) -> u64 {
        let waiting = if kept == 0 { 0 } else { kept.div_ceil(self.mss) * self.memory(self.mss) };
        self.window_of(self.size.saturating_sub(waiting + arriving))
    }

    /// Updates the share for segments of `payload` bytes (`tcp_measure_rcv_mss`, `tcp_set_window_clamp`).
    pub(crate) fn set_segment_size(&mut self, payload: u64) {
        let share = (payload * WHOLE / self.memory(payload)).max(1);
        if share == self.share {
            return;
        }
        self.share = share;
        let before = self.clamp;
        self.clamp = self.window_of(self.size);
        self.offer = if self.clamp < before { self.offer.min(self.clamp) } else { self.offer.max(self.window.min(self.clamp)) };
        self.taken = self.taken.min(self.clamp);
    }

    /// Opens the window for a segment that arrives with `kept` bytes out of order; returns true if it opens (`tcp_grow_window`). `counts`:
    /// true if its own memory is in use already.
    pub(crate) fn grow(&mut self, payload: u64, kept: u64, counts: bool, rcv_mss: u64) -> bool {
        let memory = self.memory(payload);
        let bound = self.clamp.min(self.space(kept, if counts { memory } else { 0 }));
        if payload < SMALL || bound <= self.offer {
            return false;
        }
        let step = if self.window_of(memory) <= payload { 2 * self.mss } else { self.careful_step(payload, memory, rcv_mss) };
        if step != 0 {
            self.offer += step.max(2 * payload).min(bound - self.offer);
        }
        step != 0
    }

    /// Growth for a segment with more overhead than the buffer's share: zero if many of its kind do not fit the largest buffer
    /// (`__tcp_grow_window`).
    fn careful_step(&self, payload: u64, memory: u64, rcv_mss: u64) -> u64 {
        let (mut need, mut window) = (self.window_of(memory) / 2, self.window_of(self.most) / 2);
        while self.offer <= window {
            if need <= payload {
                return 2 * rcv_mss;
            }
            (need, window) = (need / 2, window / 2);
        }
        0
    }

    /// Takes a round-trip time, which is an upper bound only by `window` (`tcp_rcv_rtt_update`).
    fn measure(&mut self, sample: Dur, window: bool) {
        let m = sample.as_ps().min(u64::MAX / SCALE) * SCALE;
        if self.rtt == 0 || m < self.rtt {
            self.rtt = m;
        } else if !window {
            self.rtt = self.rtt - self.rtt / SCALE + m / SCALE;
        }
    }

    /// Measures by the timestamp that data echoes, `age` old (`tcp_rcv_rtt_measure_ts`).
    pub(crate) fn note_echo(&mut self, echo: u32, age: Dur, full: bool) {
        if self.echo != Some(echo) {
            self.echo = Some(echo);
            if full && age != Dur::ZERO {
                self.measure(age, false);
            }
        }
    }

    /// Measures by a window of data, which takes at least a round trip (`tcp_rcv_rtt_measure`).
    pub(crate) fn note_window(&mut self, nxt: u64, now: Time) {
        if let Some(at) = self.round_at {
            if nxt < self.round_end {
                return;
            }
            self.measure(now.since(at).max(Dur::from_us(1)), true);
        }
        (self.round_end, self.round_at) = (nxt + self.window, Some(now));
    }

    /// Adjusts the buffer when the application reads up to `nxt` (`tcp_rcv_space_adjust`).
    pub(crate) fn on_read(&mut self, nxt: u64, now: Time) {
        if self.rtt == 0 || now.since(self.taken_at).as_ps() < self.rtt / SCALE {
            return;
        }
        let taken = nxt - self.taken_from;
        if taken > self.taken {
            self.fit(taken, 0);
        }
        (self.taken_from, self.taken_at) = (nxt, now);
    }

    /// Adjusts the buffer for data up to `beyond` bytes above a hole (`tcp_data_queue_ofo`).
    pub(crate) fn fit_out_of_order(&mut self, beyond: u64) {
        self.fit(self.taken, beyond);
    }

    /// Sizes the buffer for `taken` bytes per round trip (`tcp_rcvbuf_grow`).
    fn fit(&mut self, taken: u64, beyond: u64) {
        let before = std::mem::replace(&mut self.taken, taken).max(1);
        let twice = u128::from(taken) * 2;
        let growth = twice * u128::from(taken.saturating_sub(before)) / u128::from(before) * 2;
        let size = (twice + growth + u128::from(beyond)) * u128::from(WHOLE) / u128::from(self.share);
        let size = size.min(self.most.into()) as u64;
        if size > self.size {
            self.size = size;
            self.clamp = self.window_of(size);
        }
    }

    /// Returns the window for an acknowledgment of `nxt` with `kept` bytes beyond, and true if memory is short (`tcp_select_window`).
    pub(crate) fn advertise(&mut self, nxt: u64, kept: u64, rcv_mss: u64) -> (u32, bool) {
        let current = (self.from + self.window).saturating_sub(nxt);
        let full = self.clamp.min(self.window_of(self.size));
        let mut free = self.space(kept, 0);
        let short = free < full / 2;
        let step = 1_u64 << self.shift;
        let mss = rcv_mss.min(full).max(1);
        if short {
            free &= !(step - 1);
            if free < self.window_of(self.size) / 16 || free < mss {
                free = 0;
            }
        }
        let free = free.min(self.offer);
        let mut window = if self.shift != 0 {
            free.next_multiple_of(step)
        } else if self.window + mss <= free || self.window > free {
            free / mss * mss
        } else {
            self.window
        };
        if window < current {
            // The window does not shrink (RFC 9293 section 3.8.6).
            window = current.next_multiple_of(step);
        }
        (self.window, self.from) = (window.min(65_535 << self.shift), nxt);
        (self.window as u32, short)
    }

    /// Window in force.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Right edge of the window.
    pub(crate) fn edge(&self) -> u64 {
        self.from + self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve_params;
    use fairlane_net::Class;
    use serde_json::json;

    fn buffer() -> ReceiveBuffer {
        let p = resolve_params(json!({ "preset": "linux", "mss": "1448B" })).unwrap();
        ReceiveBuffer::new(&TcpConfig::new(&p, Class(0)).unwrap(), 131_072, 6_291_456)
    }

    /// Linux `tcp_select_initial_window`: half of the buffer in whole segments; RFC 9293 section 3.8.6: the window does not shrink.
    #[test]
    fn the_window_begins_with_half_of_the_buffer_and_never_shrinks() {
        let mut b = buffer();
        assert_eq!(b.window(), 65_536 / 1448 * 1448);
        let edge = b.edge();
        b.advertise(FIRST + 10_000, 40_000, 1448);
        assert!(b.edge() >= edge);
    }

    /// Linux `tcp_rcvbuf_grow`: a round trip in which twice as much is read enlarges the buffer, up to its limit.
    #[test]
    fn the_buffer_follows_the_data_read_in_a_round_trip() {
        let mut b = buffer();
        let (start, at) = (b.size, |ms| Time::ZERO + Dur::from_ms(ms));
        b.on_open(at(0));
        b.measure(Dur::from_ms(10), false);
        b.on_read(FIRST + 20_000, at(5));
        assert_eq!(b.size, start, "within the round trip");
        b.on_read(FIRST + 200_000, at(10));
        assert!(b.size > start && b.size <= b.most);
        b.on_read(FIRST + 100_000_000, at(20));
        assert_eq!(b.size, b.most);
    }
}
