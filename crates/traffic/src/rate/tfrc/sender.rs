//! The sender of TFRC (RFC 5348 section 4).

use super::{LONGEST_RTT, T_MBI};
use crate::rate::equation::throughput;
use crate::rate::outlet::Outlet;
use crate::rate::recv_set::RecvSet;
use crate::rate::sender::RateControl;
use crate::rate::{MeanSize, unpack};
use fairlane_net::{Cx, Segment, TimerId};
use fairlane_units::{Dur, Time};

/// Filter of the round-trip estimate, q (section 4.3 step 2), and of the mean of its square roots, q2 (section 4.5).
const Q: f64 = 0.9;
const Q2: f64 = 0.9;
/// The nofeedback timer before there is a round-trip sample (section 4.2).
const FIRST_NOFEEDBACK: Dur = Dur::from_secs(2);
/// Factor of the receive rate after a loss event in a data-limited interval (section 4.3 step 4).
const DATA_LIMITED_DECREASE: f64 = 0.85;
/// The initial window in bytes, min(4 MSS, max(2 MSS, 4380)) (section 4.2, RFC 3390).
const INITIAL_WINDOW: f64 = 4380.0;
/// Spans of time in which the rate held data back that are remembered; those closer than a quarter of a round trip are one, so two round trips fit.
const SPANS: usize = 10;

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) reduces_oscillation: bool,
    /// In round trips.
    pub(super) credit: f64,
}

/// When the sender was not data-limited: more was there to send than it was allowed to (section 8.2.1).
#[derive(Clone, Debug, Default)]
struct HeldBack {
    /// Beginnings and ends, the latest first; an end of `MAX` is still to come.
    spans: [(Time, Time); SPANS],
}

impl HeldBack {
    fn begin(&mut self, now: Time, rtt: Dur) {
        let last = &mut self.spans[0];
        if last.1 == Time::MAX {
            return;
        }
        if last.1 > Time::ZERO && now.since(last.1) < rtt / 4 {
            last.1 = Time::MAX;
            return;
        }
        self.spans.rotate_right(1);
        self.spans[0] = (now, Time::MAX);
    }
    fn end(&mut self, now: Time) {
        if self.spans[0].1 == Time::MAX {
            self.spans[0].1 = now;
        }
    }
    /// True if data was held back at any time after `from`, up to `to`.
    fn within(&self, from: Time, to: Time) -> bool {
        self.spans.iter().any(|&(begin, end)| end > Time::ZERO && begin <= to && end > from)
    }
}

/// TFRC where data is sent. Rates are payload bytes a second.
#[derive(Clone, Debug)]
pub struct Tfrc {
    config: Config,
    outlet: Outlet,
    size: MeanSize,
    /// Allowed sending rate X, and that in force X_inst.
    x: f64,
    x_inst: f64,
    /// X_Bps, the rate of the equation.
    x_bps: f64,
    /// Time last doubled.
    tld: Time,
    /// Round-trip estimate R, in seconds; 0 before the first sample. Its last sample, and the mean of the samples' roots.
    r: f64,
    r_sample: f64,
    r_sqmean: f64,
    p: f64,
    events: u64,
    recv_set: RecvSet,
    held_back: HeldBack,
    /// True if a packet was sent since the nofeedback timer was set.
    busy: bool,
    /// When the last packet was sent, and what it carried.
    last: Option<(Time, u16)>,
}

impl Tfrc {
    pub(super) fn new(config: Config, outlet: Outlet) -> Self {
        let s = f64::from(outlet.size);
        Self {
            outlet,
            size: MeanSize(s),
            // One packet a second until there is a round-trip sample (section 4.2).
            x: s,
            x_inst: s,
            x_bps: 0.0,
            tld: Time::ZERO,
            r: 0.0,
            r_sample: 0.0,
            r_sqmean: 0.0,
            p: 0.0,
            events: 0,
            recv_set: RecvSet::new(),
            held_back: HeldBack::default(),
            busy: false,
            last: None,
            config,
        }
    }

    fn rtt(&self) -> Dur {
        Dur::from_secs_f64(self.r)
    }

    /// W_init / R: the rate after the first sample, and the rate to which an idle sender may come back.
    fn initial_rate(&self) -> f64 {
        let mss = f64::from(self.outlet.size);
        (4.0 * mss).min((2.0 * mss).max(INITIAL_WINDOW)) / self.r
    }

    /// A packet in t_mbi, below which no rate falls.
    fn least(&self) -> f64 {
        self.size.0 / T_MBI
    }

    /// When the next packet may be sent (section 4.6).
    fn next_at(&self) -> Time {
        self.last.map_or(Time::ZERO, |(time, payload)| time + Dur::from_secs_f64(f64::from(payload) / self.x_inst).max(Dur::from_ps(1)))
    }

    /// Sends what the rate allows, and sets the timer for the next packet.
    fn send(&mut self, cx: &mut Cx<'_>) {
        while !self.outlet.queue.is_empty() && !self.outlet.held {
            let due = self.next_at();
            if due > cx.now {
                self.held_back.begin(cx.now, self.rtt());
                return cx.timers.set(TimerId::Pace, due);
            }
            let Some(payload) = self.outlet.send([cx.now.as_ps(), self.rtt().as_ps(), 0, 0], cx) else { return };
            self.size.add(payload);
            // Time that was not used counts back by the credit at most.
            let earliest = Time::from_ps(cx.now.as_ps().saturating_sub(Dur::from_secs_f64(self.config.credit * self.r).as_ps()));
            self.last = Some((if self.last.is_some() { due.max(earliest) } else { cx.now }, payload));
            self.busy = true;
            if cx.timers.get(TimerId::Rto).is_none() {
                self.set_nofeedback(cx);
            }
        }
        cx.timers.cancel(TimerId::Pace);
        self.held_back.end(cx.now);
    }

    /// RTO = max(4 R, 2 s / X) (section 4.3 step 3).
    fn set_nofeedback(&mut self, cx: &mut Cx<'_>) {
        let two_packets = Dur::from_secs_f64(2.0 * self.size.0 / self.x);
        let span = if self.r == 0.0 { two_packets.max(FIRST_NOFEEDBACK) } else { two_packets.max(self.rtt() * 4) };
        self.outlet.view.rto = span;
        cx.timers.set(TimerId::Rto, cx.now + span);
    }

    /// The second half of section 4.3 step (4): the rate from p, the equation and what limits it.
    fn set_rate(&mut self, recv_limit: f64, now: Time) {
        if self.p > 0.0 {
            self.x_bps = throughput(self.size.0, self.r, self.p);
            self.x = self.x_bps.min(recv_limit).max(self.least());
        } else if now.since(self.tld) >= self.rtt() {
            self.x = (2.0 * self.x).min(recv_limit).max(self.initial_rate());
            self.tld = now;
        }
    }

    /// Section 4.5: X_inst = X * R_sqmean / sqrt(R_sample).
    fn set_instant(&mut self) {
        let reduced = self.config.reduces_oscillation && self.r_sample > 0.0;
        self.x_inst = if reduced { (self.x * self.r_sqmean / self.r_sample.sqrt()).max(self.least()) } else { self.x };
    }

    /// Section 4.3.
    fn on_feedback(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let [stamp, delay, rate, p] = unpack(seg);
        let stamp = Time::from_ps(stamp);
        let (x_recv, p) = (f64::from_bits(rate), f64::from_bits(p));
        let elapsed = cx.now.since(stamp).saturating_sub(Dur::from_ps(delay));
        // Nothing but a packet of ours is answered; the guard keeps a broken one from becoming a rate.
        if self.last.is_none()
            || stamp > cx.now
            || elapsed == Dur::ZERO
            || elapsed > LONGEST_RTT
            || !(x_recv >= 0.0 && (0.0..=1.0).contains(&p))
        {
            return;
        }
        let sample = elapsed.as_secs_f64();
        cx.rtt = Some(elapsed);
        let first = self.r == 0.0;
        self.r_sample = sample;
        if first {
            (self.r, self.r_sqmean) = (sample, sample.sqrt());
        } else {
            self.r = Q * self.r + (1.0 - Q) * sample;
            self.r_sqmean = Q2 * self.r_sqmean + (1.0 - Q2) * sample.sqrt();
        }
        let worse = seg.ack > self.events || p > self.p;
        self.outlet.view.cwnd_cuts += seg.ack.saturating_sub(self.events);
        self.events = self.events.max(seg.ack);
        self.p = p;
        if first {
            // Instead of step (4) (section 4.2).
            self.x = self.initial_rate();
            self.tld = cx.now;
        } else {
            let covered_from = Time::from_ps(stamp.as_ps().saturating_sub(self.rtt().as_ps()));
            let limit = if self.held_back.within(covered_from, stamp) {
                self.recv_set.update(x_recv, cx.now, self.rtt());
                2.0 * self.recv_set.max()
            } else if worse {
                self.recv_set.halve();
                self.recv_set.maximize(DATA_LIMITED_DECREASE * x_recv, cx.now);
                self.recv_set.max()
            } else {
                self.recv_set.maximize(x_recv, cx.now);
                2.0 * self.recv_set.max()
            };
            self.set_rate(limit, cx.now);
        }
        self.set_instant();
        self.outlet.view.srtt = self.rtt();
        self.busy = false;
        self.set_nofeedback(cx);
        self.send(cx);
    }

    /// Section 4.4.
    fn on_nofeedback(&mut self, cx: &mut Cx<'_>) {
        let x_recv = self.recv_set.max();
        let idle = !self.busy;
        if self.r == 0.0 {
            if idle {
                return;
            }
            self.x = (0.5 * self.x).max(self.least());
        } else if idle && if self.p > 0.0 { x_recv < self.initial_rate() } else { self.x < 2.0 * self.initial_rate() } {
            // Not slowed any more: the timer rests until the next packet.
            return;
        } else if self.p == 0.0 {
            self.x = (0.5 * self.x).max(self.least());
        } else {
            // Update_Limits(): 2 X_recv was the limit, or X_Bps was.
            let limit = if self.x_bps > 2.0 * x_recv { x_recv } else { 0.5 * self.x_bps }.max(self.least());
            self.recv_set.replace(0.5 * limit, cx.now);
            self.set_rate(limit, cx.now);
        }
        self.outlet.view.timeouts += u64::from(!idle);
        self.set_instant();
        self.busy = false;
        self.set_nofeedback(cx);
        self.send(cx);
    }

    /// The allowed sending rate X in bytes a second.
    #[cfg(test)]
    pub(crate) fn allowed(&self) -> f64 {
        self.x
    }
}

impl RateControl for Tfrc {
    const TIMER: TimerId = TimerId::Rto;

    fn outlet(&self) -> &Outlet {
        &self.outlet
    }
    fn outlet_mut(&mut self) -> &mut Outlet {
        &mut self.outlet
    }
    fn send(&mut self, cx: &mut Cx<'_>) {
        Self::send(self, cx);
    }
    fn on_report(&mut self, report: &Segment, cx: &mut Cx<'_>) {
        self.on_feedback(report, cx);
    }
    fn on_own_timer(&mut self, cx: &mut Cx<'_>) {
        self.on_nofeedback(cx);
    }
    fn on_cleared(&mut self, now: Time) {
        self.held_back.end(now);
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate", 8.0 * self.x);
        out("loss_event_rate", self.p);
    }
}
