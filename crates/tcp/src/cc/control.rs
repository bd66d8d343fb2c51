//! The congestion control trait, and the samples and events passed to it.

use fairlane_net::Ecn;
use fairlane_units::{Dur, Rate, Time};

/// Acknowledgment of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckSample {
    /// Time of arrival.
    pub now: Time,
    /// Payload bytes newly acknowledged, cumulatively.
    pub acked: u64,
    /// Bytes newly covered by SACK blocks.
    pub sacked: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// Payload bytes acknowledged or SACKed since the flow began.
    pub delivered: u64,
    /// Round-trip time it measured, if it did (Karn's algorithm).
    pub rtt: Option<Dur>,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Dur,
    /// Smallest round-trip time; [`Dur::MAX`] before the first.
    pub min_rtt: Dur,
    /// Rate sample, if the algorithm [`Wants`] it and the acknowledgment newly delivered data.
    pub rate: Option<RateSample>,
    /// One-way delay of its data by the last timestamps, from the sender's clock to the receiver's, which are the same here (RFC 6817
    /// section 2).
    pub one_way: Option<Dur>,
    /// Bytes deemed lost since the flow began; a segment lost twice counts twice.
    pub lost: u64,
    /// Number of round trips since the flow began.
    pub round: u64,
    /// True if the window limited the sender (RFC 7661 section 4.3).
    pub cwnd_limited: bool,
    /// Time until pacing releases the next segment.
    pub paced_ahead: Dur,
    /// True if the sender ran out of data.
    pub app_limited: bool,
    /// Bytes newly delivered that the receiver reports as CE-marked: exact with the feedback of DCTCP, in whole packets with AccECN, always
    /// 0 with that of RFC 3168, which reports no amounts.
    pub ce_bytes: u64,
    /// True in recovery and after a timeout.
    pub in_recovery: bool,
    /// True if RFC 5681 lets the window grow: not in fast recovery. Only algorithms that require every acknowledgment get samples where it
    /// is false.
    pub may_grow: bool,
}

/// Delivery rate over the time that the data in flight took (draft-ietf-ccwg-bbr-03 section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// The longer of the intervals over which they were sent and acknowledged.
    pub interval: Dur,
    /// `delivered / interval`.
    pub rate: Rate,
    /// Bytes that had been delivered when the newest segment delivered now was sent (P.delivered).
    pub prior_delivered: u64,
    /// Bytes in flight when that segment was sent, itself included (P.tx_in_flight).
    pub tx_in_flight: u64,
    /// Bytes deemed lost since that segment was sent.
    pub lost: u64,
    /// Bytes delivered with CE marks since that segment was sent.
    pub delivered_ce: u64,
    /// True if the sender had run out of data when that segment was sent: the sample may be too low.
    pub app_limited: bool,
    /// Bytes newly delivered by this acknowledgment.
    pub newly_delivered: u64,
    /// Bytes deemed lost with this acknowledgment.
    pub newly_lost: u64,
}

/// A segment deemed lost, for algorithms that require rate samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostSample {
    /// Time of the loss.
    pub now: Time,
    /// Its payload.
    pub bytes: u64,
    /// Bytes in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Bytes deemed lost since it was sent, itself included.
    pub lost: u64,
    /// True if the sender had run out of data when it was sent.
    pub app_limited: bool,
}

/// ECN feedback of an acknowledgment, before the sender acts on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkSample {
    /// Time of arrival.
    pub now: Time,
    /// Bytes newly acknowledged or SACKed.
    pub delivered: u64,
    /// Newly delivered bytes reported as marked, see [`AckSample::ce_bytes`].
    pub ce: u64,
    /// Its acknowledgment number.
    pub ack: u64,
    /// The next new sequence number (SND.NXT).
    pub next: u64,
}

/// Requirements of an algorithm on its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Rate samples, and [`CongestionControl::on_lost`].
    pub rate: bool,
    /// Calls for every segment sent and for every acknowledgment that delivers data, also in recovery; implied by `rate`. The window must
    /// not grow where [`AckSample::may_grow`] is false.
    pub every_ack: bool,
    /// Pacing, whatever the parameter `pacing` is.
    pub pacing: bool,
    /// Codepoint of its data when ECN is in use; `NotEct` stands for ECT(0).
    pub ect: Ecn,
    /// Calls of [`CongestionControl::on_marks`] for every acknowledgment while ECN is in use. The algorithm grades its cut by the number of
    /// marks, so a loss in the same window is a separate event (RFC 8257 section 3.5).
    pub grades_marks: bool,
    /// Sole control of the data in flight during recovery: no reduction is spread (PRR), and no window is set when recovery ends.
    pub owns_recovery: bool,
}

/// Source of a sample, computed on demand.
pub trait SampleSource {
    /// The complete sample.
    fn sample(&self) -> AckSample;
    /// The fields that standard slow start and additive increase read; the others are defaults.
    fn brief(&self) -> AckSample;
}

/// Kind of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// Loss reported by duplicate or selective acknowledgments (RFC 5681 section 3.2).
    FastRetransmit,
    /// Like `FastRetransmit`, for a scheme that restarts from one segment (Tahoe, Jacobson 1988).
    FastRetransmitRestart,
    /// Retransmission timeout (RFC 5681 section 3.1).
    Timeout {
        /// True if it is the first timeout of this segment: its back-off had not begun.
        first: bool,
    },
    /// ECN echo (RFC 3168 section 6.1.2).
    EcnEcho,
}

/// A sign of congestion, reported once for each loss event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionEvent {
    /// Kind of event.
    pub kind: CongestionKind,
    /// Time of the event.
    pub now: Time,
    /// Bytes in flight, without those of limited transmit (RFC 5681 equation 4, RFC 3042 section 2).
    pub flight: u64,
}

/// The end of fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryExit {
    /// Time of the end.
    pub now: Time,
    /// Upper limit of the window by the scheme (RFC 6582 section 3.2 step 3), in bytes; `u64::MAX` for none.
    pub bound: u64,
    /// Deflation by partial acknowledgments beyond the inflation, in bytes.
    pub deflated: u64,
    /// True if the window becomes the slow-start threshold.
    pub to_ssthresh: bool,
}

/// An algorithm that times each segment, for recovery with a fine clock (Brakmo and Peterson 1995 section 3.1).
pub trait FineClock {
    /// Notes the oldest segment in flight before [`CongestionControl::on_congestion`]: last sent at `sent`, and `again` if retransmitted.
    fn on_hole(&mut self, sent: Time, again: bool);
    /// True if a segment last sent at `sent` should have been acknowledged by now.
    fn overdue(&self, sent: Time, now: Time) -> bool;
    /// True if the window was already cut for losses among segments sent by `sent`.
    fn answered(&self, sent: Time) -> bool;
    /// Adds duplicates to the window itself (`vegas_inflates_cwnd`).
    fn inflate(&mut self, bytes: u64);
    /// Restores the window that the last cut left.
    fn deflate(&mut self);
    /// True if the window is less than a segment, which [`CongestionControl::cwnd`] does not show.
    fn is_below_segment(&self) -> bool;
}

/// A congestion control algorithm. It never gets segments: it handles acknowledgments and losses, and returns the amount of data that may
/// be in flight.
///
/// `cwnd` is never below one segment.
pub trait CongestionControl: Send {
    /// Seeds the random choices of the algorithm, differently for each flow. Called before the connection opens, and again when a branch of
    /// a run gets its own seed.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }
    /// Handles the round-trip time measured by the handshake, before the connection opens.
    fn on_first_rtt(&mut self, now: Time, rtt: Dur) {
        let _ = (now, rtt);
    }
    /// Opens the connection with a window of `window` bytes (RFC 5681 section 3.1).
    fn on_established(&mut self, now: Time, window: u64);
    /// Handles an acknowledgment of new data.
    fn on_ack(&mut self, s: &AckSample);
    /// Handles an acknowledgment of new data; computes only the fields of the sample that the algorithm reads.
    #[inline(always)]
    fn on_ack_with(&mut self, source: &impl SampleSource)
    where
        Self: Sized,
    {
        self.on_ack(&source.sample());
    }
    /// Handles a loss event or an ECN echo.
    fn on_congestion(&mut self, e: &CongestionEvent);
    /// Fine clock for the recovery scheme `vegas`.
    fn fine_clock(&mut self) -> Option<&mut dyn FineClock> {
        None
    }
    /// Handles the end of fast recovery.
    fn on_recovery_exit(&mut self, e: &RecoveryExit);
    /// Shrinks the window to `window` if it is larger, before data is sent after an idle time above the RTO (RFC 5681 section 4.1).
    fn on_idle_restart(&mut self, now: Time, window: u64);
    /// Sets the slow-start threshold after a lost SYN.
    fn on_syn_loss(&mut self, ssthresh: u64) {
        let _ = ssthresh;
    }
    /// Sets the slow-start threshold before the window shrinks for lack of use, to return by slow start (RFC 2861 section 3).
    fn on_decay(&mut self, ssthresh: u64) {
        let _ = ssthresh;
    }
    /// Sets window and slow-start threshold to values validated by use (RFC 7661 section 4.4). By default this is a restart after idleness.
    fn on_validation(&mut self, now: Time, window: u64, ssthresh: u64) {
        self.on_decay(ssthresh);
        self.on_idle_restart(now, window);
    }
    /// Notes that a segment with `bytes` of payload was sent; `in_flight` includes it. Only called if it [`Wants`] every acknowledgment.
    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        let _ = (now, bytes, in_flight);
    }
    /// Handles a segment deemed lost. Only called if it [`Wants`] rate samples.
    fn on_lost(&mut self, l: &LostSample) {
        let _ = l;
    }
    /// Handles the ECN feedback of an acknowledgment, before its echo. Only called if it [`Wants`] to grade marks.
    fn on_marks(&mut self, m: &MarkSample) {
        let _ = m;
    }
    /// Makes the reductions so far permanent; the next one belongs to another event.
    fn settle(&mut self) {}
    /// Undoes the reductions since the last [`Self::settle`], which were spurious (RFC 4015, RFC 3708).
    fn undo(&mut self) {}
    /// Requirements on the sender, read once before the connection opens.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// True if the algorithm sends below the estimated rate, so that samples of data sent now underestimate the path. Read after each
    /// acknowledgment if it [`Wants`] rate samples.
    fn holds_back(&self) -> bool {
        false
    }
    /// Congestion window in bytes.
    fn cwnd(&self) -> u64;
    /// True if `bytes` may be in flight: `bytes <= cwnd()`, which some windows can tell faster.
    #[inline]
    fn allows(&self, bytes: u64) -> bool {
        bytes <= self.cwnd()
    }
    /// Sets window and pacing rate from outside; a rate of zero does not pace. Returns true if that changes something; false also for algorithms that have their own.
    fn set_window(&mut self, window: u64, rate: Rate) -> bool {
        let _ = (window, rate);
        false
    }
    /// Slow-start threshold in bytes; `u64::MAX` while arbitrarily high.
    fn ssthresh(&self) -> u64;
    /// Pacing rate; `None`: window bursts.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Reports internal variables for plots, by name.
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
}

/// Boxed algorithms that can be cloned.
pub trait CloneCc {
    /// A boxed copy.
    fn clone_box(&self) -> Box<dyn CustomCc>;
}

/// A user-defined algorithm: any type that is [`CongestionControl`] and `Clone`.
pub trait CustomCc: CongestionControl + CloneCc {}

impl<T: CongestionControl + Clone + 'static> CloneCc for T {
    fn clone_box(&self) -> Box<dyn CustomCc> {
        Box::new(self.clone())
    }
}

impl<T: CongestionControl + CloneCc> CustomCc for T {}

impl Clone for Box<dyn CustomCc> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}
