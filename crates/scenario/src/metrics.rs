//! Definition of every metric: name, unit, formula, source and expression. Tables, plots and reference pages
//! use these names and texts. Terms follow RFC 5166 and RFC 2679/2680/3393 where these define them.
//!
//! The measured span runs from the end of the warm-up to the end of the run; `T` is its length.

mod bottleneck;
mod group;
mod measure;
mod quality;
mod responsiveness;

pub use bottleneck::jain;
pub use group::{GroupSubject, Pooled};
pub use measure::{Columns, Keep, Measured, Rows, measure};

use bottleneck::fairness;

use fairlane_net::{DropReason, FlowCounters, FlowView, Occupancy, PortCounters, Summary};
use fairlane_units::{Dur, PS_PER_SEC};
use fairlane_wireless::{Lost, RadioCounters};
use serde_json::{Value, json};

/// The definition of a metric over subjects of type `S`.
pub struct Metric<S> {
    /// Column name.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Possible values.
    pub range: Range,
    /// Formula in words.
    pub formula: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// Value for a group of flows; none if it is not a metric of flows.
    pub pooled: Option<Pooled>,
    value: fn(&S) -> f64,
}

/// Range of a metric. A confidence interval of its mean stays within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Zero or more.
    Positive,
    /// From zero to one.
    Share,
    /// From 0 to 100, the scale of the E-model.
    Rating,
    /// From 1 to 4.5, the mean opinion scores that the E-model knows.
    Opinion,
}

impl Range {
    /// Lower bound, and upper bound if there is one.
    pub fn bounds(self) -> (f64, Option<f64>) {
        match self {
            Self::Positive => (0.0, None),
            Self::Share => (0.0, Some(1.0)),
            Self::Rating => (0.0, Some(100.0)),
            Self::Opinion => (1.0, Some(4.5)),
        }
    }
}

macro_rules! range {
    () => {
        $crate::metrics::Range::Positive
    };
    (share) => {
        $crate::metrics::Range::Share
    };
    (rating) => {
        $crate::metrics::Range::Rating
    };
    (opinion) => {
        $crate::metrics::Range::Opinion
    };
}
pub(crate) use range;

/// A flow, or several together, at the end of a run.
#[derive(Clone, Default)]
pub struct FlowSubject {
    /// Number of flows.
    flows: f64,
    counters: FlowCounters,
    view: FlowView,
    base: FlowView,
    /// Payload bytes that arrived in the span, without duplicates.
    arrived: u64,
    span: f64,
    /// Mean goodput of the flows with the same bottleneck, and the goodput relative to it; sums for several flows.
    fair: f64,
    shares: f64,
    /// Mean delay after the sender's access link, and the number of packets.
    after_first: (f64, u64),
    /// Total completion time in picoseconds, and the number of completed flows.
    lasted: (u128, u64),
    opened: Option<(Dur, u32)>,
    /// Quality of a call, and play-out of a video; of none for other flows.
    voice: quality::Voice,
    video: quality::Video,
}

/// One direction of a link at the end of a run.
pub struct LinkSubject {
    c: PortCounters,
    occupancy: Occupancy,
    /// Capacity in the span, in bits.
    capacity: f64,
    /// Bits sent.
    carried: f64,
    span: f64,
    waits: Summary<5>,
    arrivals: f64,
    /// TCP flows whose data packets could use the link in the span.
    tcp_flows: u64,
    /// Number of flows with this bottleneck, and Jain's index of their goodputs.
    limited: (u64, f64),
}

/// Interface of a wireless station at the end of a run; none for a wired link.
pub struct StationSubject {
    radio: Option<RadioCounters>,
    given_up: f64,
    span: f64,
}

impl StationSubject {
    fn count(&self, of: impl Fn(&RadioCounters) -> u64) -> f64 {
        self.radio.as_ref().map_or(f64::NAN, |c| of(c) as f64)
    }
    fn share(&self, of: impl Fn(&RadioCounters) -> Dur) -> f64 {
        self.radio.as_ref().map_or(f64::NAN, |c| of(c).as_secs_f64() / self.span)
    }
}

/// The whole network at the end of a run.
pub struct NetworkSubject {
    goodputs: Vec<f64>,
    /// Bottleneck of each flow.
    at: Vec<u32>,
    tcp: Vec<f64>,
    tcp_at: Vec<u32>,
    /// Smallest ratio of a flow's goodput to the equal share of its bottleneck.
    worst_share: f64,
    throughput: f64,
    drops: f64,
    link_losses: f64,
    lost: f64,
    marks: f64,
    received: f64,
    sent: f64,
    retransmits: f64,
    timeouts: f64,
    completed: f64,
    delay: Summary,
    /// Times of all transactions, and round-trip times of the flows without transactions.
    foreign: Summary,
    own: Summary,
}

const S: f64 = PS_PER_SEC as f64;

fn secs(ps: f64) -> f64 {
    ps / S
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// Packet loss ratio. Both counts cover the same population, the packets that arrived or were lost in the measured span, so it lies between 0 and 1
/// regardless of when they were sent.
fn ended_badly(lost: f64, well: f64) -> f64 {
    ratio(lost, lost + well)
}

/// Sum from positive zero: the sum of no numbers would otherwise be -0.0.
fn sum(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, b| a + b)
}

fn lost(c: &FlowCounters) -> f64 {
    c.drops.all().iter().sum::<u64>() as f64
}

fn transaction(s: &FlowSubject, of: fn(&Summary) -> f64) -> f64 {
    s.counters.transactions.as_deref().map_or(f64::NAN, |t| secs(of(t)))
}

impl LinkSubject {
    fn queue_moment(&self, power: i32) -> f64 {
        let levels = &self.occupancy.levels;
        let total: u64 = levels.iter().sum();
        let sum: f64 = levels.iter().enumerate().map(|(n, &t)| (n as f64).powi(power) * t as f64).sum();
        ratio(sum, total as f64)
    }
    /// Smallest length that the queue did not exceed for a share `q` of the time.
    fn queue_quantile(&self, q: f64) -> usize {
        let levels = &self.occupancy.levels;
        let mut left = q * levels.iter().sum::<u64>() as f64;
        for (n, &t) in levels.iter().enumerate() {
            left -= t as f64;
            if left <= 0.0 {
                return n;
            }
        }
        levels.len().saturating_sub(1)
    }
    fn byte_mean(&self) -> f64 {
        self.occupancy.byte_area as f64 / (self.span * S)
    }
    /// Quantile in packets times the mean size of a queued packet; exact if all packets have one size.
    fn byte_quantile(&self, q: f64) -> f64 {
        let estimate = self.queue_quantile(q) as f64 * ratio(self.byte_mean(), self.queue_moment(1));
        estimate.min(self.occupancy.max_bytes as f64)
    }
    fn drops(&self, why: DropReason) -> f64 {
        self.c.drops[why as usize] as f64
    }
}

macro_rules! metrics {
    (@pooled) => { None };
    (@pooled sum) => { Some(Pooled::Sum) };
    (@pooled all) => { Some(Pooled::All) };
    (@pooled mean) => { Some(Pooled::Mean) };
    (@pooled null) => { Some(Pooled::Null) };
    ($list:ident: $subject:ty { $($name:literal [$unit:literal $($range:ident)?] $($pooled:ident)? $formula:literal, $doc:literal, $source:literal => $value:expr;)* }) => {
        #[allow(missing_docs)]
        pub static $list: &[Metric<$subject>] =
            &[$(Metric { name: $name, unit: $unit, range: range!($($range)?), formula: $formula, doc: $doc, source: $source, pooled: metrics!(@pooled $($pooled)?), value: $value }),*];
    };
}

metrics! { FLOW_METRICS: FlowSubject {
    "throughput" ["bit/s"] sum "8 * (wire bytes of data packets received) / T", "Rate at which data packets arrive at the receiver, headers and retransmissions included. A packet counts as a whole when it arrives, so the value may exceed the rate of a full link by one packet in T.", "RFC 5166 section 2.1.1" => |s| s.counters.received_bytes as f64 * 8.0 / s.span;
    "goodput" ["bit/s"] sum "8 * (payload bytes that arrived for the first time) / T", "Useful part of the throughput, never more than it. Out-of-order data counts when it arrives, not when the application receives it.", "RFC 5166 section 2.1.1" => |s| s.arrived as f64 * 8.0 / s.span;
    "share" ["1"] mean "goodput / fair_share", "Goodput in units of the mean goodput of the flows with the same bottleneck; 1 is an equal share.", "RFC 5166 section 2.3" => |s| s.shares / s.flows;
    "fair_share" ["bit/s"] mean "(sum of the goodputs of the flows with the same bottleneck) / (number of these flows)", "Equal share at the flow's bottleneck: the link on its path that would leave it least under max-min fairness while the others demand their measured goodput.", "RFC 5166 section 2.3; Bertsekas and Gallager, Data Networks, section 6.5.2" => |s| s.fair / s.flows;
    "delay_mean" ["s"] all "mean of (arrival at the receiver - handed to the first queue)", "One-way delay of data packets that arrived.", "RFC 7679" => |s| secs(s.counters.delay.mean());
    "delay_std" ["s"] all "population standard deviation of the one-way delay", "Spread of the one-way delay.", "RFC 7679" => |s| secs(s.counters.delay.std());
    "delay_p50" ["s"] all "median of the one-way delay", "Median one-way delay; percentiles are exact to 1/64 of their value.", "RFC 7679" => |s| secs(s.counters.delay.quantile(0.50));
    "delay_p95" ["s"] all "95th percentile of the one-way delay", "One-way delay that 5 % of the packets exceed.", "RFC 7679" => |s| secs(s.counters.delay.quantile(0.95));
    "delay_p99" ["s"] all "99th percentile of the one-way delay", "One-way delay that 1 % of the packets exceed.", "RFC 7679" => |s| secs(s.counters.delay.quantile(0.99));
    "delay_max" ["s"] all "maximum of the one-way delay", "Longest one-way delay.", "RFC 7679" => |s| if s.counters.delay.n == 0 { f64::NAN } else { secs(s.counters.delay.max as f64) };
    "jitter" ["s"] all "mean of |delay(k) - delay(k-1)| in order of arrival", "Mean difference between the delays of successive packets.", "RFC 3393, RFC 5166 section 2.2.2" => |s| if s.counters.jitter_n() == 0 { f64::NAN } else { secs(s.counters.jitter_sum as f64 / s.counters.jitter_n() as f64) };
    "router_path_delay_mean" ["s"] all "mean of (arrival at the receiver - arrival at the second node) + propagation delay of the first link", "One-way delay without queueing and transmission at the sender's own access link; measured only with the hop probe.", "sarma2013" => |s| if s.after_first.1 == 0 { f64::NAN } else { s.after_first.0 };
    "packets_sent" ["packets"] sum "data packets handed to the first queue, retransmissions included", "Data packets sent.", "RFC 5166 section 2.1.3" => |s| s.counters.sent_pkts as f64;
    "packets_received" ["packets"] sum "data packets that arrived at the receiver", "Data packets received, duplicates included.", "RFC 5166 section 2.1.3" => |s| s.counters.received_pkts() as f64;
    "packets_lost" ["packets"] sum "data packets dropped by a queue or lost on a link", "Data packets that did not arrive.", "RFC 7680" => |s| lost(&s.counters);
    "loss" ["1" share] all "packets_lost / (packets_lost + packets_received)", "Packet loss ratio: lost data packets among those that arrived or were lost in T; 0 if there were none. Copies of the `duplicate` impairment count as packets.", "RFC 5166 section 2.1.3, RFC 7680" => |s| ended_badly(lost(&s.counters), s.counters.received_pkts() as f64);
    "lost_down" ["packets"] sum "data packets in flight on a link when it failed, or at a link that was down", "Data packets lost to failures of links; part of `packets_lost`.", "RFC 7680" => |s| (s.counters.drops[DropReason::Cut as usize] + s.counters.drops[DropReason::Down as usize]) as f64;
    "reordered" ["packets"] sum "data packets that arrived after one that was sent later", "Data packets out of order at the receiver, because of several paths, or `reorder` and `jitter` of links.", "RFC 4737 section 3.3" => |s| s.counters.reordered as f64;
    "acks_lost" ["packets"] sum "packets of this flow that were lost and are not data of its sender, both directions", "Lost acknowledgments, handshake packets and requests.", "RFC 7680" => |s| s.counters.other_drops as f64;
    "marked" ["packets"] sum "data packets that arrived with congestion experienced", "Marked packets received.", "RFC 3168" => |s| s.counters.marked as f64;
    "retransmits" ["packets"] sum "retransmitted data packets", "Retransmissions of all causes.", "RFC 5166 section 2.1.3" => |s| (s.view.retransmits - s.base.retransmits) as f64;
    "timeouts" ["count"] sum "expirations of the retransmission timer with data or a FIN outstanding", "Retransmission timeouts.", "RFC 6298" => |s| (s.view.timeouts - s.base.timeouts) as f64;
    "fast_recoveries" ["count"] sum "entries into loss recovery without a timeout", "Fast retransmits.", "RFC 5681 section 3.2" => |s| (s.view.fast_recoveries - s.base.fast_recoveries) as f64;
    "cwnd_cuts" ["count"] sum "reductions of the congestion window", "Window reductions of all causes.", "RFC 5681" => |s| (s.view.cwnd_cuts - s.base.cwnd_cuts) as f64;
    "ecn_cuts" ["count"] sum "reductions of the congestion window for ECN marks", "Window reductions without a loss; part of `cwnd_cuts`.", "RFC 3168 section 6.1.2" => |s| (s.view.ecn_cuts - s.base.ecn_cuts) as f64;
    "dsacks" ["count"] sum "duplicate arrivals reported by D-SACK", "Needless retransmissions reported by the receiver.", "RFC 2883" => |s| (s.view.dsacks - s.base.dsacks) as f64;
    "rtt_mean" ["s"] all "mean of (arrival of an acknowledgment) - (departure of the newest segment it acknowledges), over those sent once", "Round-trip time of segments, one value per acknowledgment, independent of the samples of the retransmission timer (`rtt_sampling`).", "RFC 6298" => |s| secs(s.counters.rtt.mean());
    "rtt_p50" ["s"] all "median of the values that `rtt_mean` averages", "Median round-trip time.", "RFC 6298" => |s| secs(s.counters.rtt.quantile(0.50));
    "rtt_p99" ["s"] all "99th percentile of the values that `rtt_mean` averages", "Round-trip time that 1 % of the acknowledgments exceed.", "RFC 6298" => |s| secs(s.counters.rtt.quantile(0.99));
    "srtt" ["s"] null "smoothed round-trip time at the end", "The sender's smoothed round-trip time when the run ends.", "RFC 6298 section 2" => |s| if s.view.srtt == Dur::ZERO { f64::NAN } else { s.view.srtt.as_secs_f64() };
    "completion_time" ["s"] mean "(last byte delivered) - (first write of the application)", "Flow completion time; NaN for an endless or unfinished flow. For a reconnecting flow: of its newest connection.", "RFC 5166 section 2.1.1" => |s| secs(s.lasted.0 as f64 / s.lasted.1 as f64);
    "open_time" ["s"] sum "sum of the spans from the flow's start to its end in which its control let it send", "Time in which the control at its source let a flow send; NaN for a flow without one.", "yang2001" => |s| s.opened.map_or(f64::NAN, |o| o.0.as_secs_f64());
    "turns" ["count"] sum "number of times that its control let the flow begin to send", "How often the control at its source opened a flow; 0 for a flow without one.", "yang2001" => |s| s.opened.map_or(0.0, |o| f64::from(o.1));
    "transactions" ["count"] sum "transactions that the application completed", "Pages loaded, requests answered, repeated transfers delivered; 0 for sources that have none.", "RFC 5166 section 2.1.1" => |s| s.counters.transactions.as_ref().map_or(0.0, |t| t.n as f64);
    "transaction_time_mean" ["s"] all "mean of (last byte of the answer delivered - request written)", "Mean time of a transaction: page load time of `web`, response time of `request_response`, completion time of the repeated transfers of `file`.", "RFC 5166 section 2.1.2" => |s| transaction(s, |t| t.mean());
    "transaction_time_p50" ["s"] all "median of the transaction times", "Median time of a transaction.", "RFC 5166 section 2.1.2" => |s| transaction(s, |t| t.quantile(0.50));
    "transaction_time_p95" ["s"] all "95th percentile of the transaction times", "Time that 5 % of the transactions exceed.", "RFC 5166 section 2.1.2" => |s| transaction(s, |t| t.quantile(0.95));
    "transaction_time_p99" ["s"] all "99th percentile of the transaction times", "Time that 1 % of the transactions exceed.", "RFC 5166 section 2.1.2" => |s| transaction(s, |t| t.quantile(0.99));
    "rpm_foreign" ["RPM"] all "60 s / (mean of the shortest 95 % of the transaction times)", "Responsiveness under load for foreign probes, in round trips per minute: transactions on connections of their own, such as `request_response` with short answers. NaN without transactions.", "draft-ietf-ippm-responsiveness-09 (Foreign_Responsiveness)" => |s| responsiveness::foreign(s);
    "rpm_self" ["RPM"] all "60 s / (mean of the shortest 95 % of the values that `rtt_mean` averages)", "Responsiveness under load for self probes, in round trips per minute: on the connection that loads the path. NaN for a flow with transactions, and over UDP.", "draft-ietf-ippm-responsiveness-09 (Loaded_Responsiveness)" => |s| responsiveness::own(s);
    "r_factor" ["1" rating] mean "93.2 - Id(mouth_to_ear_delay) - Ie,eff(lost + discarded), at least 0", "Transmission rating of a `voip` call over UDP by the E-model with its default values, random loss and no advantage; above 80 users are satisfied, below 60 nearly all are not. NaN for other flows, and for codecs without values in G.113 Appendix I (Opus, the lower rate of G.723.1).", "ITU-T G.107 (06/2015) clause 7; G.113 Appendix I" => |s| s.voice.rating();
    "mos" ["1" opinion] mean "1 + 0.035 R + R (R - 60) (100 - R) 7e-6 of R = `r_factor`, at least 1", "Mean opinion score in a conversation (MOS-CQE), 1 bad to 4.5, estimated from delay, jitter and loss of a `voip` call; NaN where `r_factor` is.", "ITU-T G.107 (06/2015) Annex B" => |s| s.voice.mos();
    "mouth_to_ear_delay" ["s"] mean "speech in a packet + look-ahead of the codec + shortest delay of the network + delay of the de-jitter buffer", "Delay at which the packets of a call are played. The buffer has the delay between `jitter_buffer_min` and `jitter_buffer_max` that gives the highest `r_factor`; NaN where that is.", "ITU-T G.107 (06/2015) clause 7.4 (Ta); G.114" => |s| s.voice.delay();
    "discard_rate" ["1" share] mean "(packets later than `mouth_to_ear_delay` allows) / (packets_lost + packets_received)", "Share of a call's packets that the de-jitter buffer discards because they come too late; they count as lost in `r_factor`. NaN where that is.", "RFC 3611 section 4.7.1" => |s| s.voice.discarded();
    "startup_delay" ["s"] mean "(begin of play-out) - (first write of the application)", "Start-up delay of a `video` (initial loading): time until `buffer_to_start` of it has arrived. It covers the whole run; NaN for other flows, for a video without `buffer_to_start`, and while nothing has played.", "ITU-T P.1203.3 (initial loading delay)" => |s| s.video.startup();
    "rebufferings" ["count"] sum "number of times that the buffer of the player became empty", "Stalls of a `video`, each until `buffer_to_resume` of it has arrived. Over UDP lost data is not waited for. NaN where `startup_delay` is.", "ITU-T P.1203.3 (stalling events)" => |s| s.video.stalls();
    "rebuffering_time" ["s"] sum "time in T after the begin of play-out in which nothing plays", "Total length of the stalls of a `video`, the last one until the end of the source or of the run.", "ITU-T P.1203.3 (stalling)" => |s| s.video.stalled();
    "play_time" ["s"] sum "time in T in which the player plays", "Time in which a `video` plays.", "ITU-T P.1203.3" => |s| s.video.played();
    "rebuffering_ratio" ["1" share] all "rebuffering_time / (rebuffering_time + play_time)", "Share of the time after the begin of play-out in which a `video` stalls.", "ITU-T P.1203.3 (stalling)" => |s| s.video.stalled_share();
}}

metrics! { GROUP_METRICS: GroupSubject {
    "flows" ["count"] "number of flows in the group", "Flows in the group.", "RFC 5166 section 2" => |s| s.flows();
    "completed" ["count"] "number of flows of the group whose last byte was delivered", "Finished flows of the group.", "RFC 5166 section 2.1.1" => |s| s.completed();
    "goodput_mean" ["bit/s"] "(sum of the goodputs of the group) / flows", "Mean goodput of a flow of the group.", "RFC 5166 section 2.1.1" => |s| s.goodput_mean();
    "goodput_min" ["bit/s"] "least goodput of a flow of the group", "Goodput of the worst-off flow of the group.", "RFC 5166 section 2.3 (max-min)" => |s| s.goodput_least();
    "goodput_max" ["bit/s"] "largest goodput of a flow of the group", "Goodput of the best-off flow of the group.", "RFC 5166 section 2.3" => |s| s.goodput_most();
    "jain" ["1" share] "(sum x)^2 / (n * sum x^2) over the goodputs x of the n flows of the group, each in units of their mean at the same bottleneck", "Jain's fairness index among the flows of the group, from the goodput of each; flows of different bottlenecks are not compared.", "Jain, Chiu and Hawe 1984; RFC 5166 section 2.3" => |s| s.jain();
    "completion_time_p50" ["s"] "median of `completion_time` over the flows of the group that finished", "Median flow completion time; percentiles are exact to 1/64 of their value.", "RFC 5166 section 2.1.1" => |s| s.completion(0.50);
    "completion_time_p95" ["s"] "95th percentile of `completion_time` over the flows of the group that finished", "Flow completion time that 5 % of the finished flows exceed.", "RFC 5166 section 2.1.1" => |s| s.completion(0.95);
    "completion_time_p99" ["s"] "99th percentile of `completion_time` over the flows of the group that finished", "Flow completion time that 1 % of the finished flows exceed.", "RFC 5166 section 2.1.1" => |s| s.completion(0.99);
}}

metrics! { LINK_METRICS: LinkSubject {
    "utilisation" ["1" share] "(bits sent) / (bits the link could carry in T)", "Share of the link's capacity in use, at most 1; the capacity is rate * T, or the sum over a trace or over steps of the rate. A packet in transmission when T begins or ends counts with its part in T.", "RFC 5166 section 2.1.1" => |s| ratio(s.carried, s.capacity);
    "throughput" ["bit/s"] "(bits sent) / T", "Rate on the wire, counted as in `utilisation`.", "RFC 5166 section 2.1.1" => |s| s.carried / s.span;
    "arrivals" ["packets"] "departures + drops + change of the backlog", "Packets offered to the queue.", "RFC 7928 section 2" => |s| s.arrivals;
    "departures" ["packets"] "packets that left the queue", "Packets sent: their transmission began, or they wait in the link's `device`.", "RFC 7928 section 2" => |s| s.c.sent_pkts as f64;
    "drops" ["packets"] "packets dropped by the queue", "All drops of the queue; losses on the link are separate.", "RFC 7567" => |s| s.c.queue_drops() as f64;
    "drops_overflow" ["packets"] "drops because the buffer was full", "Tail drops.", "RFC 7567" => |s| s.drops(DropReason::Overflow);
    "drops_early" ["packets"] "random early drops", "Random drops before the buffer is full.", "RFC 7567" => |s| s.drops(DropReason::Early);
    "drops_forced" ["packets"] "drops in the forced region of the law", "Drops the law makes with certainty.", "Floyd and Jacobson 1993" => |s| s.drops(DropReason::Forced);
    "drops_head" ["packets"] "drops at the head of the queue", "Drops of the oldest packet.", "RFC 8289" => |s| s.drops(DropReason::Head);
    "drops_evicted" ["packets"] "packets evicted to make room", "Evictions from the longest queue.", "McKenney 1990" => |s| s.drops(DropReason::Evicted);
    "drops_down" ["packets"] "packets queued when the link failed, or arriving while it was down", "Packets dropped because the link was down; part of `drops`.", "RFC 7680" => |s| s.drops(DropReason::Down);
    "lost" ["packets"] "packets lost on the link by an impairment or a failure, or dropped by a wireless station after the retry limit", "Losses after the packet left the queue.", "RFC 7680" => |s| s.c.link_losses() as f64;
    "lost_cut" ["packets"] "packets in flight on the link when it failed", "Packets lost in flight because the link failed; part of `lost`.", "RFC 7680" => |s| s.drops(DropReason::Cut);
    "reordered" ["packets"] "packets that the link delivered after one of the same flow and direction that was sent later", "Packets made late by `reorder` or `jitter`; queues keep the order.", "RFC 4737 section 3.3" => |s| s.c.reordered as f64;
    "marks" ["packets"] "packets marked with congestion experienced", "ECN marks.", "RFC 3168" => |s| s.c.marks as f64;
    "loss" ["1" share] "drops / (drops + departures)", "Share of dropped packets among those that the queue dropped or sent in T; 0 if there were none.", "RFC 5166 section 2.1.3" => |s| ended_badly(s.c.queue_drops() as f64, s.c.sent_pkts as f64);
    "loss_events" ["count"] "events; one begins with the drop of a TCP data packet by the queue and takes in the drops within the mean round-trip time of its flow", "Number of times at which TCP flows lost packets here, however many packets.", "Hassayoun and Ros 2008; RFC 5348 section 5.2 (loss event)" => |s| s.c.loss_events.events as f64;
    "loss_synchronisation" ["1" share] "(flows hit, summed over the loss events) / (loss events * TCP flows whose packets could take the link in T)", "Global synchronisation: mean share of the TCP flows hit by a loss event, which then reduce their windows together. 1: all at every event; 1 divided by the number of flows: one at a time; NaN without an event.", "Hassayoun and Ros 2008" => |s| s.c.loss_events.hits as f64 / (s.c.loss_events.events * s.tcp_flows.max(s.c.loss_events.flows_hit())) as f64;
    "bottleneck_flows" ["count"] "flows whose bottleneck the link is", "Flows limited by this direction of the link, see `fair_share`; the links of a wireless channel count as one, and have the same number.", "Bertsekas and Gallager, Data Networks, section 6.5.2" => |s| s.limited.0 as f64;
    "jain" ["1" share] "(sum x)^2 / (n * sum x^2) over the goodputs x of the n flows whose bottleneck the link is", "Jain's fairness index among the flows that compete here; NaN if there are none, or nothing was delivered to them.", "Jain, Chiu and Hawe 1984; RFC 5166 section 2.3" => |s| s.limited.1;
    "queue_mean" ["packets"] "time average of the number of queued packets", "Mean queue length; the packet in transmission is not counted.", "RFC 7928 section 2" => |s| s.queue_moment(1);
    "queue_std" ["packets"] "standard deviation over time of the number of queued packets", "Spread of the queue length.", "RFC 7928 section 2" => |s| { let m = s.queue_moment(1); (s.queue_moment(2) - m * m).max(0.0).sqrt() };
    "queue_p50" ["packets"] "median over time of the number of queued packets", "Length the queue does not exceed half of the time.", "RFC 7928 section 2" => |s| s.queue_quantile(0.50) as f64;
    "queue_p95" ["packets"] "95th percentile over time", "Length exceeded 5 % of the time.", "RFC 7928 section 2" => |s| s.queue_quantile(0.95) as f64;
    "queue_p99" ["packets"] "99th percentile over time", "Length exceeded 1 % of the time.", "RFC 7928 section 2" => |s| s.queue_quantile(0.99) as f64;
    "queue_max" ["packets"] "largest number of queued packets", "Longest queue.", "RFC 7928 section 2" => |s| s.occupancy.levels.iter().rposition(|&t| t > 0).unwrap_or(0) as f64;
    "queue_bytes_mean" ["byte"] "time average of the queued bytes", "Mean backlog.", "RFC 7928 section 2" => |s| s.byte_mean();
    "queue_bytes_std" ["byte"] "standard deviation over time of the queued bytes", "Spread of the backlog.", "RFC 7928 section 2" => |s| { let m = s.byte_mean(); (s.occupancy.byte_squares as f64 / (s.span * S) - m * m).max(0.0).sqrt() };
    "queue_bytes_p50" ["byte"] "queue_p50 * queue_bytes_mean / queue_mean, at most queue_bytes_max", "Backlog not exceeded half of the time.", "RFC 7928 section 2" => |s| s.byte_quantile(0.50);
    "queue_bytes_p95" ["byte"] "queue_p95 * queue_bytes_mean / queue_mean, at most queue_bytes_max", "Backlog exceeded 5 % of the time.", "RFC 7928 section 2" => |s| s.byte_quantile(0.95);
    "queue_bytes_p99" ["byte"] "queue_p99 * queue_bytes_mean / queue_mean, at most queue_bytes_max", "Backlog exceeded 1 % of the time.", "RFC 7928 section 2" => |s| s.byte_quantile(0.99);
    "queue_bytes_max" ["byte"] "largest number of queued bytes", "Largest backlog.", "RFC 7928 section 2" => |s| s.occupancy.max_bytes as f64;
    "sojourn_mean" ["s"] "mean of (start of transmission - arrival at the queue)", "Queueing delay of sent packets, including those that did not wait.", "RFC 8289 section 3" => |s| secs(s.waits.mean());
    "sojourn_std" ["s"] "population standard deviation of the queueing delay", "Spread of the queueing delay.", "RFC 8289 section 3" => |s| secs(s.waits.std());
    "sojourn_p50" ["s"] "median of the queueing delay", "Median queueing delay.", "RFC 8289 section 3" => |s| secs(s.waits.quantile(0.50));
    "sojourn_p95" ["s"] "95th percentile of the queueing delay", "Queueing delay that 5 % of the packets exceed.", "RFC 8289 section 3" => |s| secs(s.waits.quantile(0.95));
    "sojourn_p99" ["s"] "99th percentile of the queueing delay", "Queueing delay that 1 % of the packets exceed.", "RFC 8289 section 3" => |s| secs(s.waits.quantile(0.99));
    "sojourn_max" ["s"] "largest queueing delay", "Largest queueing delay.", "RFC 8289 section 3" => |s| if s.waits.n == 0 { f64::NAN } else { secs(s.waits.max as f64) };
}}

metrics! { STATION_METRICS: StationSubject {
    "attempts" ["frames"] "frames of data that the station sent, retries included", "Attempts of the station's packets; only links on a wireless channel have this and the metrics below, others NaN.", "IEEE 802.11-2016 clause 10.3" => |s| s.count(|c| c.data_tx);
    "rts_sent" ["frames"] "requests to send that the station sent", "RTS frames.", "IEEE 802.11-2016 clause 10.3.2.8" => |s| s.count(|c| c.rts_tx);
    "retries" ["frames"] "frames of data and requests to send with the retry bit", "Repeated attempts.", "IEEE 802.11-2016 clause 10.3.4.4" => |s| s.count(|c| c.retries);
    "acknowledged" ["packets"] "packets whose acknowledgment reached the station", "Acknowledged packets.", "IEEE 802.11-2016 clause 10.3.2.9" => |s| s.count(|c| c.acked);
    "given_up" ["packets"] "packets dropped after the last attempt that the receiver does not have", "Packets lost to the retry limit; part of `lost`.", "IEEE 802.11-2016 clause 10.3.4.4" => |s| if s.radio.is_some() { s.given_up } else { f64::NAN };
    "frames_collided" ["frames"] "frames of the station lost to other signals at the receiver", "Losses to interference, or to a receiver busy with another frame.", "IEEE 802.11-2016 clause 10.3" => |s| s.count(|c| c.lost[Lost::Collision as usize]);
    "frames_noise" ["frames"] "frames of the station that arrived too weak against the noise alone", "Losses to noise.", "IEEE 802.11-2016 clause 10.3" => |s| s.count(|c| c.lost[Lost::Noise as usize]);
    "frames_deaf" ["frames"] "frames of the station for a receiver that was sending", "Losses to a receiver that was sending.", "IEEE 802.11-2016 clause 10.3" => |s| s.count(|c| c.lost[Lost::Sending as usize]);
    "airtime" ["1" share] "(time that the station was sending, answers included) / T", "The station's own share of the medium.", "IEEE 802.11-2016 clause 10.3" => |s| s.share(|c| c.airtime);
    "medium_busy" ["1" share] "(time that the medium was busy where the station stands, its own frames included) / T", "Physical carrier sense; the virtual one (NAV) is not included.", "IEEE 802.11-2016 clause 10.3.2.1" => |s| s.share(|c| c.busy);
    "access_time_mean" ["s"] "mean of (acknowledgment - packet became the head of the queue)", "Time that a packet took from the head of the queue over the air, of acknowledged packets.", "IEEE 802.11-2016 clause 10.3" => |s| s.radio.as_ref().map_or(f64::NAN, |c| if c.acked == 0 { f64::NAN } else { secs(c.service as f64 / c.acked as f64) });
}}

metrics! { NETWORK_METRICS: NetworkSubject {
    "goodput" ["bit/s"] "sum of the goodputs of all flows", "Useful rate of the whole network.", "RFC 5166 section 2.1.1" => |s| sum(&s.goodputs);
    "goodput_tcp" ["bit/s"] "sum of the goodputs of the TCP flows", "Useful rate of TCP.", "RFC 5166 section 2.1.1" => |s| sum(&s.tcp);
    "goodput_udp" ["bit/s"] "goodput - goodput_tcp", "Useful rate of UDP.", "RFC 5166 section 2.1.1" => |s| sum(&s.goodputs) - sum(&s.tcp);
    "throughput" ["bit/s"] "sum of the throughputs of all flows", "Rate of data packets at the receivers, headers included.", "RFC 5166 section 2.1.1" => |s| s.throughput;
    "jain" ["1" share] "(sum x)^2 / (n * sum x^2) over the `share` x of all n flows", "Jain's fairness index: 1 if all flows with the same bottleneck are equal, 1/n if one has all; NaN (0/0) if nothing was delivered. With one bottleneck it is the index of the goodputs, with several the harmonic mean of the `jain` of these links, each weighed by its flows.", "Jain, Chiu and Hawe 1984; RFC 5166 section 2.3" => |s| fairness(&s.goodputs, &s.at);
    "jain_tcp" ["1" share] "Jain's index of the TCP flows alone, with the mean over TCP flows at the same bottleneck as unit", "Fairness among the TCP flows; NaN if there are none, or nothing was delivered to them.", "Jain, Chiu and Hawe 1984; RFC 5166 section 2.3" => |s| fairness(&s.tcp, &s.tcp_at);
    "worst_share" ["1" share] "least `share` of a flow", "Goodput of the worst-off flow, in units of the equal share at its bottleneck.", "RFC 5166 section 2.3 (max-min)" => |s| s.worst_share;
    "delay_mean" ["s"] "mean one-way delay over the data packets of all flows", "Mean one-way delay.", "RFC 7679" => |s| secs(s.delay.mean());
    "delay_p95" ["s"] "95th percentile of the one-way delay over all data packets", "One-way delay that 5 % exceed.", "RFC 7679" => |s| secs(s.delay.quantile(0.95));
    "delay_p99" ["s"] "99th percentile of the one-way delay over all data packets", "One-way delay that 1 % exceed.", "RFC 7679" => |s| secs(s.delay.quantile(0.99));
    "packets_sent" ["packets"] "sum over flows", "Data packets sent.", "RFC 5166 section 2.1.3" => |s| s.sent;
    "packets_received" ["packets"] "sum over flows", "Data packets received.", "RFC 5166 section 2.1.3" => |s| s.received;
    "drops" ["packets"] "sum of the drops of all queues, packets without data included", "Drops in the whole network.", "RFC 7567" => |s| s.drops;
    "lost" ["packets"] "sum of the losses on all links", "Losses by impairments.", "RFC 7680" => |s| s.link_losses;
    "marks" ["packets"] "sum over queues", "ECN marks in the whole network.", "RFC 3168" => |s| s.marks;
    "loss" ["1" share] "(data packets lost) / (data packets lost or received), all flows", "Packet loss ratio: lost data packets among those that arrived or were lost in T; 0 if there were none.", "RFC 5166 section 2.1.3" => |s| ended_badly(s.lost, s.received);
    "retransmits" ["packets"] "sum over flows", "Retransmissions.", "RFC 5166 section 2.1.3" => |s| s.retransmits;
    "timeouts" ["count"] "sum over flows", "Retransmission timeouts.", "RFC 6298" => |s| s.timeouts;
    "completed" ["count"] "number of flows whose last byte was delivered", "Finished flows.", "RFC 5166 section 2.1.1" => |s| s.completed;
    "rpm" ["RPM"] "(`rpm_foreign` over all transactions + `rpm_self` over all flows without transactions) / 2", "Responsiveness under load, in round trips per minute: foreign and self probes count alike. NaN unless there are both.", "draft-ietf-ippm-responsiveness-09 (Responsiveness)" => |s| (responsiveness::rpm(&s.foreign) + responsiveness::rpm(&s.own)) / 2.0;
}}

/// All definitions as data, for `fairlane explain`, the reference page and the units of columns.
pub fn metrics_listing() -> Value {
    fn list<S>(table: &str, metrics: &[Metric<S>]) -> Vec<Value> {
        let row = |m: &Metric<S>| json!({ "table": table, "name": m.name, "unit": m.unit, "least": m.range.bounds().0, "most": m.range.bounds().1, "formula": m.formula, "doc": m.doc, "source": m.source, "pooled": m.pooled.map(Pooled::text) });
        metrics.iter().map(row).collect()
    }
    Value::Array(
        [
            list("flow", FLOW_METRICS),
            list("group", GROUP_METRICS),
            list("link", LINK_METRICS),
            list("link", STATION_METRICS),
            list("network", NETWORK_METRICS),
        ]
        .concat(),
    )
}
