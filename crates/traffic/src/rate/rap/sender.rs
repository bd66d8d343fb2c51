//! The sender of RAP: the decision function, the increase and decrease of the gap, and the record of packets on their way ("The RAP protocol" of the paper).

use crate::rate::outlet::Outlet;
use crate::rate::sender::RateControl;
use crate::rate::unpack;
use fairlane_net::{Cx, Segment, TimerId, flag};
use fairlane_units::{Dur, Time};
use std::collections::VecDeque;

/// Packets that must have arrived beyond one for it to be lost: as TCP's fast retransmit.
const REORDERING: u64 = 3;
/// Longest gap: a packet in 64 seconds, the longest back-off of TCP (RFC 6298 section 2.5 allows 60 and more).
const LONGEST_GAP: f64 = 64.0;
/// Shortest gap, so that a rate stays a number of packets.
const SHORTEST_GAP: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) increase: f64,
    pub(super) decrease: f64,
    pub(super) initial_rtt: f64,
    pub(super) srtt_gain: f64,
    pub(super) deviation_gain: f64,
    pub(super) timeout_srtt: f64,
    pub(super) timeout_deviation: f64,
    pub(super) used: f64,
    pub(super) fine_grain: bool,
    pub(super) frtt_gain: f64,
    pub(super) xrtt_gain: f64,
}

/// Fate of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// On its way: its loss is congestion.
    Sent,
    /// On its way when the rate was cut: its loss is part of the same congestion.
    Inactive,
    /// Acknowledged or lost.
    Done,
}

/// A line of the transmission history.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sent {
    time: Time,
    fate: Fate,
}

/// RAP where data is sent. Times are in seconds.
#[derive(Clone, Debug)]
pub struct Rap {
    config: Config,
    outlet: Outlet,
    /// Packets that may still be on their way, in order.
    history: VecDeque<Sent>,
    /// Number of the first of them. Packets are numbered from 1.
    first: u64,
    /// The gap between two packets, IPG.
    ipg: f64,
    srtt: f64,
    deviation: f64,
    /// Short-term and long-term means of the round-trip time.
    frtt: f64,
    xrtt: f64,
    /// True if a round trip was measured.
    measured: bool,
    /// Packets sent, and whether an acknowledgment came, since a time: the begin of the step, or of the first of those in which nothing was heard.
    sent: u64,
    heard: bool,
    since: Time,
    /// When the last packet was sent.
    last: Option<Time>,
}

impl Rap {
    pub(super) fn new(config: Config, outlet: Outlet) -> Self {
        let rtt = config.initial_rtt;
        Self {
            outlet,
            history: VecDeque::new(),
            first: 1,
            ipg: rtt,
            srtt: rtt,
            deviation: 0.0,
            frtt: rtt,
            xrtt: rtt,
            measured: false,
            sent: 0,
            heard: false,
            since: Time::ZERO,
            last: None,
            config,
        }
    }

    fn timeout(&self) -> Dur {
        Dur::from_secs_f64(self.config.timeout_srtt * self.srtt + self.config.timeout_deviation * self.deviation)
    }

    /// The gap in force: with fine-grain adaptation longer while queues grow (fine-grain adaptation).
    fn gap(&self) -> f64 {
        if self.config.fine_grain { self.ipg * self.frtt / self.xrtt } else { self.ipg }
    }

    fn next_at(&self) -> Time {
        self.last.map_or(Time::ZERO, |t| t + Dur::from_secs_f64(self.gap().max(SHORTEST_GAP)))
    }

    /// Sends a packet if one is there and its time has come, and sets the timer for the next.
    fn send(&mut self, cx: &mut Cx<'_>) {
        if self.outlet.queue.is_empty() || self.outlet.held {
            return cx.timers.cancel(TimerId::Pace);
        }
        let due = self.next_at();
        if due > cx.now {
            return cx.timers.set(TimerId::Pace, due);
        }
        // Before each packet: has one been on its way for too long? Then the next waits for the longer gap.
        if self.time_out(cx.now) {
            self.outlet.view.timeouts += 1;
            self.cut(cx);
            self.last = Some(cx.now);
            return cx.timers.set(TimerId::Pace, self.next_at());
        }
        self.outlet.send([0; 4], cx);
        self.history.push_back(Sent { time: cx.now, fate: Fate::Sent });
        self.sent += 1;
        self.last = Some(cx.now);
        if cx.timers.get(TimerId::Probe).is_none() {
            self.begin_step(cx);
        }
        if self.outlet.queue.is_empty() { cx.timers.cancel(TimerId::Pace) } else { cx.timers.set(TimerId::Pace, self.next_at()) }
    }

    /// A step lasts a smoothed round trip.
    fn begin_step(&mut self, cx: &mut Cx<'_>) {
        (self.sent, self.heard, self.since) = (0, false, cx.now);
        self.step(cx);
    }

    fn step(&mut self, cx: &mut Cx<'_>) {
        cx.timers.set(TimerId::Probe, cx.now + Dur::from_secs_f64(self.srtt.max(SHORTEST_GAP)));
    }

    /// A step is over without a loss: `increase` packets a round trip more, IPG C / (IPG increase + C) with C = SRTT.
    fn on_step(&mut self, cx: &mut Cx<'_>) {
        if self.sent == 0 && (self.outlet.queue.is_empty() || self.outlet.held) {
            // Idle: steps restart with the next packet.
            return;
        }
        if !self.heard {
            // Below a packet a round trip, what is sent in one step is answered in another.
            return self.step(cx);
        }
        if self.sent as f64 * self.ipg >= self.config.used * cx.now.since(self.since).as_secs_f64() {
            self.ipg = (self.ipg * self.srtt / (self.config.increase * self.ipg + self.srtt)).max(SHORTEST_GAP);
        }
        self.begin_step(cx);
    }

    /// Congestion: the gap grows at once, and losses of packets now in flight do not count against the new rate (cluster losses).
    fn cut(&mut self, cx: &mut Cx<'_>) {
        self.ipg = (self.ipg / self.config.decrease).min(LONGEST_GAP);
        self.history.iter_mut().filter(|s| s.fate == Fate::Sent).for_each(|s| s.fate = Fate::Inactive);
        self.outlet.view.cwnd_cuts += 1;
        self.begin_step(cx);
    }

    /// Drops what has been on its way for longer than a timeout; says whether that is congestion.
    fn time_out(&mut self, now: Time) -> bool {
        let (limit, mut lost) = (self.timeout(), false);
        while let Some(s) = self.history.front().filter(|s| s.fate == Fate::Done || now.since(s.time) >= limit) {
            lost |= s.fate == Fate::Sent;
            self.history.pop_front();
            self.first += 1;
        }
        lost
    }

    /// The round-trip time as Jacobson and Karels measure it, and its two means for fine-grain adaptation.
    fn measure(&mut self, sample: f64) {
        if self.measured {
            let c = &self.config;
            self.deviation += c.deviation_gain * ((sample - self.srtt).abs() - self.deviation);
            self.srtt += c.srtt_gain * (sample - self.srtt);
            self.frtt += c.frtt_gain * (sample - self.frtt);
            self.xrtt += c.xrtt_gain * (sample - self.xrtt);
        } else {
            // One packet a round trip to begin with.
            (self.srtt, self.frtt, self.xrtt, self.ipg) = (sample, sample, sample, sample);
            self.measured = true;
        }
        self.outlet.view.srtt = Dur::from_secs_f64(self.srtt);
        self.outlet.view.rttvar = Dur::from_secs_f64(self.deviation);
        self.outlet.view.rto = self.timeout();
    }

    /// The line of a packet.
    fn line(&mut self, number: u64) -> Option<&mut Sent> {
        let place = number.checked_sub(self.first)?;
        self.history.get_mut(usize::try_from(place).ok()?)
    }

    /// Goes through what an acknowledgment tells; says whether it tells of congestion.
    fn hear(&mut self, ack: &Segment, cx: &mut Cx<'_>) -> bool {
        let [highest, missing, before, _] = unpack(ack);
        let now = cx.now;
        let mut marked = false;
        if let Some(s) = self.line(ack.ack).filter(|s| s.fate != Fate::Done) {
            marked = ack.has(flag::ECE) && s.fate == Fate::Sent;
            s.fate = Fate::Done;
            let elapsed = now.since(s.time);
            if elapsed > Dur::ZERO {
                cx.rtt = Some(elapsed);
                let first = !self.measured;
                self.measure(elapsed.as_secs_f64());
                if first {
                    self.begin_step(cx);
                }
            }
        }
        self.heard = true;
        let mut lost = false;
        for (i, s) in self.history.iter_mut().enumerate() {
            let number = self.first + i as u64;
            if number > highest {
                break;
            }
            if number > missing || number == before {
                s.fate = Fate::Done;
            } else if highest - number >= REORDERING {
                lost |= s.fate == Fate::Sent;
                s.fate = Fate::Done;
            }
        }
        while self.history.front().is_some_and(|s| s.fate == Fate::Done) {
            self.history.pop_front();
            self.first += 1;
        }
        self.outlet.view.fast_recoveries += u64::from(lost);
        lost || marked
    }

    /// The gap between two packets, in seconds.
    #[cfg(test)]
    pub(crate) fn ipg(&self) -> f64 {
        self.ipg
    }
}

impl RateControl for Rap {
    const TIMER: TimerId = TimerId::Probe;

    fn outlet(&self) -> &Outlet {
        &self.outlet
    }
    fn outlet_mut(&mut self) -> &mut Outlet {
        &mut self.outlet
    }
    fn send(&mut self, cx: &mut Cx<'_>) {
        Self::send(self, cx);
    }
    fn on_report(&mut self, ack: &Segment, cx: &mut Cx<'_>) {
        if self.hear(ack, cx) {
            self.cut(cx);
        }
        self.send(cx);
    }
    fn on_own_timer(&mut self, cx: &mut Cx<'_>) {
        self.on_step(cx);
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate", 8.0 * f64::from(self.outlet.size) / self.gap());
    }
}
