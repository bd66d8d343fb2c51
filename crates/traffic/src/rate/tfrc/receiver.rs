//! The receiver of TFRC (RFC 5348 section 6).

use super::LONGEST_RTT;
use crate::rate::back::Back;
use crate::rate::losses::{Losses, Surroundings};
use crate::rate::{MeanSize, pack, unpack};
use fairlane_net::{Class, Cx, Ecn, Endpoint, FlowView, Segment, TimerId};
use fairlane_units::{Dur, Time};

/// Feedback timer expirations that are remembered, to find one at least a round trip ago: the regular one, and those before their time that new loss events cause.
const MARKS: usize = 4;

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) size: u16,
    /// Length of a feedback packet on the wire.
    pub(super) feedback: u32,
    pub(super) class: Class,
    pub(super) discounting: bool,
}

/// An expiration of the feedback timer: how many bytes had come by then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    time: Time,
    bytes: u64,
}

/// The end that measures and reports.
#[derive(Clone, Debug)]
pub struct TfrcReceiver {
    config: Config,
    losses: Losses,
    size: MeanSize,
    /// The sender's round-trip estimate in the last packet; zero while it has none.
    rtt: Dur,
    /// Time stamp and arrival of the last data packet.
    stamp: u64,
    arrived: Time,
    /// Payload bytes so far.
    bytes: u64,
    /// Expirations, the latest first.
    marks: [Mark; MARKS],
    /// Data came since the last feedback.
    news: bool,
    /// The largest receive rate reported.
    best: f64,
    begun: bool,
    feedbacks: u64,
    back: Back,
}

impl TfrcReceiver {
    pub(super) fn new(config: Config, back: Back) -> Self {
        Self {
            losses: Losses::new(config.discounting),
            size: MeanSize(f64::from(config.size)),
            rtt: Dur::ZERO,
            stamp: 0,
            arrived: Time::ZERO,
            bytes: 0,
            marks: [Mark::default(); MARKS],
            news: false,
            best: 0.0,
            begun: false,
            feedbacks: 0,
            back,
            config,
        }
    }

    /// Bytes a second since the latest expiration that was at least a round trip ago (section 6.2 step 2).
    fn receive_rate(&self, now: Time, bytes: u64) -> f64 {
        let mut used = self.marks.iter().filter(|m| m.time > Time::ZERO || m.bytes > 0);
        let old = used.clone().find(|m| now.since(m.time) >= self.rtt).or_else(|| used.next_back());
        let Some(old) = old else { return 0.0 };
        // Right after the first packet not even a round trip has passed: then it is what came within one.
        let span = now.since(old.time).max(self.rtt);
        if span == Dur::ZERO { 0.0 } else { (bytes - old.bytes) as f64 / span.as_secs_f64() }
    }

    /// Returns the state that the loss record needs when a packet arrives. X_target is the largest receive rate so far (section 6.3.1).
    fn surroundings(&self, now: Time, payload: u16) -> Surroundings {
        let known = self.losses.events == 0 && self.rtt > Dur::ZERO;
        let target = if known { self.best.max(self.receive_rate(now, self.bytes + u64::from(payload))) } else { 0.0 };
        Surroundings { rtt: self.rtt, size: self.size.0, target }
    }

    fn mark(&mut self, time: Time, bytes: u64) {
        self.marks.rotate_right(1);
        self.marks[0] = Mark { time, bytes };
    }

    /// Section 6.2: the feedback timer expires, in its time or before.
    fn report(&mut self, cx: &mut Cx<'_>) {
        let rate = if self.feedbacks == 0 { 0.0 } else { self.receive_rate(cx.now, self.bytes) };
        self.best = self.best.max(rate);
        let mut seg = Segment::new(self.feedbacks, self.losses.events, 0, 0);
        pack(&mut seg, [self.stamp, cx.now.since(self.arrived).as_ps(), rate.to_bits(), self.losses.rate().to_bits()]);
        cx.send(seg, self.config.feedback, self.config.class);
        self.feedbacks += 1;
        self.news = false;
        self.mark(cx.now, self.bytes);
        if self.rtt > Dur::ZERO {
            cx.timers.set(TimerId::DelAck, cx.now + self.rtt);
        }
    }

    /// The timer rests while no packet arrives. It resumes as if it had expired every round trip, without a report (section 6.2).
    fn catch_up(&mut self, cx: &mut Cx<'_>, before: u64) {
        let rest = cx.now.since(self.marks[0].time).as_ps();
        let rtt = self.rtt.as_ps();
        let last = Time::from_ps(cx.now.as_ps() - rest % rtt);
        if last > self.marks[0].time {
            self.mark(last, before);
        }
        cx.timers.set(TimerId::DelAck, last + self.rtt);
    }
}

impl Endpoint for TfrcReceiver {
    fn start(&mut self, _: &mut Cx<'_>) {}

    /// Section 6.1, and 6.3 for the first packet.
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.payload == 0 {
            return;
        }
        let [stamp, rtt, ..] = unpack(seg);
        let around = self.surroundings(cx.now, seg.payload);
        let news = self.losses.arrive(seg.seq.saturating_add(1), cx.now, seg.ecn() == Ecn::Ce, &around);
        if !news.fresh {
            return;
        }
        cx.delivered += u64::from(seg.payload);
        let before = self.bytes;
        self.bytes += u64::from(seg.payload);
        self.size.add(seg.payload);
        if rtt > 0 {
            self.rtt = Dur::from_ps(rtt).min(LONGEST_RTT);
        }
        (self.stamp, self.arrived, self.news) = (stamp, cx.now, true);
        if !self.begun || self.rtt == Dur::ZERO {
            // The first packet is answered at once, and each while the sender knows no round trip (section 6.3).
            self.begun = true;
            return self.report(cx);
        }
        if cx.timers.get(TimerId::DelAck).is_none() {
            self.catch_up(cx, before);
        }
        // Step (3): a new loss event is reported at once; without one p does not rise.
        if news.events > 0 {
            self.report(cx);
        }
    }

    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        if id == TimerId::DelAck && self.news {
            self.report(cx);
        }
    }

    fn on_write(&mut self, bytes: u64, _: bool, cx: &mut Cx<'_>) {
        self.back.write(bytes, cx);
    }

    fn on_stop(&mut self, _: &mut Cx<'_>) {}

    fn view(&self) -> FlowView {
        FlowView { acks: self.feedbacks, srtt: self.rtt, ..FlowView::default() }
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("loss_event_rate", self.losses.rate());
    }
}
