//! Definition of every time series: name, unit, meaning, source, and for sampled ones the expression. Tables, plots, `fairlane explain`
//! and the reference page use these names and texts. Gauges are internal variables that queues, transports and congestion
//! controls report themselves (`Qdisc::gauges`, `Endpoint::gauges`); those of a plug-in need no line here, and have no unit.

use crate::expand::LinkDir;
use crate::metrics::{Range, range};
use crate::spec::Scenario;
use fairlane_net::{Column, Fill, FlowSample, PortSample, Sampling};
use fairlane_units::Dur;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Origin of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// The sampler, for every flow or link.
    Sampler,
    /// The sampler, if the scenario has a control.
    Control,
    /// The sampler, if a link fails.
    Outage,
    /// Algorithms with such a variable.
    Gauge,
}

impl Feed {
    /// Description for documentation.
    fn text(self) -> &'static str {
        match self {
            Self::Sampler => "sampler",
            Self::Control => "control",
            Self::Outage => "outage",
            Self::Gauge => "gauge",
        }
    }
}

/// Definition of a series over samples of type `S`.
pub struct Series<S> {
    /// Column name.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Possible values.
    pub range: Range,
    /// Origin of the series.
    pub feed: Feed,
    /// Meaning.
    pub doc: &'static str,
    fill: Fill<S>,
}

macro_rules! series {
    // Values of all subjects at one instant, in one loop.
    (@fill $sample:ty, $value:expr) => {
        |samples: &[$sample], column: &mut Vec<f64>| {
            let value: fn(&$sample) -> f64 = $value;
            column.extend(samples.iter().map(value));
        }
    };
    (@fill $sample:ty,) => { |_, _| {} };
    ($list:ident: $sample:ty { $($name:literal [$unit:literal $($range:ident)?] $feed:ident $doc:literal $(=> $value:expr)?;)* }) => {
        #[allow(missing_docs)]
        pub static $list: &[Series<$sample>] =
            &[$(Series { name: $name, unit: $unit, range: range!($($range)?), feed: Feed::$feed, doc: $doc, fill: series!(@fill $sample, $($value)?) }),*];
    };
}

/// Zero means a transport without a window: TCP never goes below one segment.
fn window(s: &FlowSample, bytes: u64) -> f64 {
    if s.sender.cwnd == 0 { f64::NAN } else { bytes as f64 }
}

fn bit_rate(bytes: u64, step: f64) -> f64 {
    bytes as f64 * (8.0 / step)
}

series! { FLOW_SERIES: FlowSample {
    "time" ["s"] Sampler "Simulated time of the sample." => |s| s.time;
    "cwnd" ["byte"] Sampler "Congestion window; NaN for a transport without one." => |s| window(s, s.sender.cwnd);
    "ssthresh" ["byte"] Sampler "Slow-start threshold; infinite before the first loss." => |s| if s.sender.ssthresh == u64::MAX { f64::INFINITY } else { window(s, s.sender.ssthresh) };
    "srtt" ["s"] Sampler "Smoothed round-trip time; NaN before the first measurement." => |s| if s.sender.srtt == Dur::ZERO { f64::NAN } else { s.sender.srtt.as_secs_f64() };
    "in_flight" ["byte"] Sampler "Bytes in flight." => |s| window(s, s.sender.in_flight);
    "goodput" ["bit/s"] Sampler "Rate of the payload that reached the receiver since the previous sample, each byte once; out-of-order data counts when it arrives." => |s| bit_rate(s.arrived, s.step);
    "throughput" ["bit/s"] Sampler "Rate on the wire that reached the receiver since the previous sample. Packets count as a whole when they arrive, so a short step may show more than the rate of the link." => |s| bit_rate(s.received, s.step);
    "open" ["1" share] Control "Share of the time since the previous sample in which its control let the flow send; NaN for a flow without one." => |s| s.open;
    "rate" ["bit/s"] Gauge "Rate that a rate control allows (TFRC, RAP).";
    "loss_event_rate" ["1" share] Gauge "Loss events per packet, as TFRC measures them (RFC 5348 section 5).";
    "a" ["segments"] Gauge "HighSpeed's a(w), by which the window grows in a round trip (RFC 3649 section 5).";
    "b" ["1" share] Gauge "HighSpeed's b(w), the share of the window that a loss takes (RFC 3649 section 5).";
    "alpha" ["1"] Gauge "DCTCP and Prague: running mean of the share of marked data (RFC 8257 section 3.3). Illinois: segments by which the window grows in a round trip.";
    "beta" ["1" share] Gauge "H-TCP: share of the window that the next loss leaves. Illinois: share that it takes.";
    "bandwidth" ["bit/s"] Gauge "Rate that the path delivers, as BBR or Westwood estimates it.";
    "bandwidth_shortterm" ["bit/s"] Gauge "BBRv3's short-term bound of the bandwidth; 0 without one (draft-ietf-ccwg-bbr).";
    "inflight_longterm" ["byte"] Gauge "BBRv3's long-term bound of the data in flight; 0 without one (draft-ietf-ccwg-bbr).";
    "inflight_shortterm" ["byte"] Gauge "BBRv3's short-term bound of the data in flight; 0 without one (draft-ietf-ccwg-bbr).";
    "base_rtt" ["s"] Gauge "Smallest round-trip time that Vegas has seen; 0 before the first (BaseRTT).";
    "min_rtt" ["s"] Gauge "Smallest round-trip time in BBR's window for it; 0 before the first.";
    "cwnd_gain" ["1"] Gauge "Gain of BBR's congestion window over the bandwidth-delay product.";
    "pacing_gain" ["1"] Gauge "Gain of BBR's pacing rate over the bandwidth.";
    "pacing_rate" ["bit/s"] Gauge "Rate at which a real transport stack paces its packets.";
    "target_rate" ["bit/s"] Gauge "Rate that the congestion control of media allows its encoder (`str0m`).";
    "external_pacing_rate" ["bit/s"] Gauge "Pacing rate that is set from outside; 0: none (`external`).";
    "mode" ["1"] Gauge "Number of the state that BBR is in, as its page lists them.";
    "round" ["count"] Gauge "Round trips that BBR has counted.";
    "diff" ["packets"] Gauge "Packets of the flow in the queue, as Vegas estimated at its last comparison.";
    "queued" ["packets"] Gauge "Packets of the flow in the queue, as Veno or YeAH estimates them.";
    "slow_rounds" ["count"] Gauge "Round trips in a row that YeAH has spent in its slow mode.";
    "queueing_delay" ["s"] Gauge "Queueing delay that LEDBAT measures (RFC 6817 section 2.4.2).";
    "k" ["s"] Gauge "CUBIC's K, the time from the last cut to `w_max` (RFC 9438 section 4.2).";
    "w_est" ["segments"] Gauge "CUBIC's estimate of the window of a Reno flow (RFC 9438 section 4.3).";
    "w_max" ["segments"] Gauge "Window of BIC or CUBIC at which the last loss came.";
    "rho" ["1"] Gauge "Hybla's round-trip time over that of its reference path, at least 1.";
}}

series! { LINK_SERIES: PortSample {
    "time" ["s"] Sampler "Simulated time of the sample." => |s| s.time;
    "queue" ["packets"] Sampler "Queued packets, without the one in transmission." => |s| f64::from(s.backlog.pkts);
    "queue_bytes" ["byte"] Sampler "Bytes waiting." => |s| s.backlog.bytes as f64;
    "throughput" ["bit/s"] Sampler "Rate on the wire since the previous sample; a packet in transmission counts with the part that was sent." => |s| s.carried / s.step;
    "drops" ["packets"] Sampler "Packets dropped by the queue since the previous sample." => |s| s.drops as f64;
    "lost_down" ["packets"] Outage "Packets that the link lost because it failed or was down, since the previous sample; only where a link fails." => |s| s.outage as f64;
    "avg" ["packets"] Gauge "Average queue of RED and its variants (Floyd and Jacobson 1993 section 4); in bytes with `measure = \"bytes\"`.";
    "avg_in" ["packets"] Gauge "Average queue of the packets in profile (RIO, ModRED); in bytes with `measure = \"bytes\"`.";
    "fair" ["packets"] Gauge "Share of a flow in the sample of AFD above which its packets are dropped (m_fair).";
    "sampled" ["packets"] Gauge "Arrivals in the sample of AFD.";
    "avg_per_flow" ["packets"] Gauge "Average queue of FRED per flow with queued packets.";
    "max_p" ["1" share] Gauge "Probability at the upper threshold, which Adaptive RED changes.";
    "drop_prob" ["1" share] Gauge "Probability that the law drops or marks an arriving packet.";
    "drop_prob_in" ["1" share] Gauge "Probability of RIO for packets in profile.";
    "drop_prob_out" ["1" share] Gauge "Probability of RIO for packets out of profile.";
    "mark_prob" ["1" share] Gauge "Probability that a packet of scalable traffic is marked (PI2, DualPI2).";
    "p" ["1" share] Gauge "Base probability of PI2 and DualPI2 (RFC 9332 section 2.4).";
    "price" ["1"] Gauge "Price of REM.";
    "active" ["count"] Gauge "Flows that FRED or GREEN counts as active.";
    "clamping" ["1" share] Gauge "1 while ModRED cuts the windows of acknowledgements, else 0.";
    "count" ["packets"] Gauge "Packets that CoDel or COBALT dropped or marked since it started to (RFC 8289 section 5).";
    "dropping" ["1" share] Gauge "1 while CoDel drops or marks, else 0.";
    "sojourn" ["s"] Gauge "Queueing delay of the last packet (CoDel, COBALT).";
    "qdelay" ["s"] Gauge "Queueing delay as PIE or PI2 estimates it (RFC 8033 section 5).";
    "burst_allowance" ["s"] Gauge "Time in which PIE still lets a burst pass (RFC 8033 section 4.4).";
    "virtual_queue" ["packets"] Gauge "Virtual queue of AVQ; in bytes with `measure = \"bytes\"`.";
    "virtual_share" ["1" share] Gauge "Virtual capacity of AVQ as a share of the link's rate.";
    "tokens" ["byte"] Gauge "Tokens in the bucket of a token bucket filter.";
    "peak_tokens" ["byte"] Gauge "Tokens in the bucket for the peak rate.";
    "committed_tokens" ["byte"] Gauge "Tokens in the committed bucket of a meter (RFC 2697, RFC 2698).";
    "excess_tokens" ["byte"] Gauge "Tokens in the excess bucket of a meter (RFC 2697).";
    "green_packets" ["packets"] Gauge "Packets that a meter coloured green.";
    "yellow_packets" ["packets"] Gauge "Packets that a meter coloured yellow.";
    "red_packets" ["packets"] Gauge "Packets that a meter coloured red.";
    "flows" ["count"] Gauge "Flows with queued packets in the scheduler.";
    "queues" ["count"] Gauge "Queues of the scheduler that hold packets.";
    "new_flows" ["count"] Gauge "Queues on the list of new flows (RFC 8290 section 4.1).";
    "old_flows" ["count"] Gauge "Queues on the list of old flows (RFC 8290 section 4.1).";
    "l_queue" ["packets"] Gauge "Packets in the low-latency queue of DualPI2.";
    "c_queue" ["packets"] Gauge "Packets in the classic queue of DualPI2.";
    "tin{i}" ["packets"] Gauge "Packets in tin i of CAKE.";
}}

/// Columns sampled every `step` in runs of a scenario.
pub(crate) fn sampling(scenario: &Scenario, links: &[LinkDir], step: Dur) -> Sampling {
    let controls = scenario.control.each().next().is_some();
    let outages = links.iter().any(|l| !l.wire.down.is_empty());
    let fed: Vec<Feed> =
        [Some(Feed::Sampler), controls.then_some(Feed::Control), outages.then_some(Feed::Outage)].into_iter().flatten().collect();
    let flows = if scenario.report.is_flows() { sampled(FLOW_SERIES, &fed) } else { Vec::new() };
    Sampling { step, flows, ports: sampled(LINK_SERIES, &fed) }
}

fn sampled<S>(all: &[Series<S>], fed: &[Feed]) -> Vec<Column<S>> {
    let wanted = |s: &&Series<S>| fed.contains(&s.feed);
    all.iter().filter(wanted).map(|s| (s.name, s.fill)).collect()
}

/// Declared name of a column, if it has one. Variables of a scheduler's classes and flows have the prefix `class3_` or `flow3_`,
/// and `tin{i}` stands for `tin0`, `tin1` and so on.
pub fn series_name(column: &str) -> Option<&'static str> {
    let mut own = column;
    while let Some(rest) = ["class", "flow"].iter().find_map(|kind| own.strip_prefix(kind)) {
        match rest.split_once('_') {
            Some((number, inner)) if number.parse::<u32>().is_ok() => own = inner,
            _ => break,
        }
    }
    let stem = own.trim_end_matches(|c: char| c.is_ascii_digit());
    let own = if stem.len() < own.len() { Cow::from(format!("{stem}{{i}}")) } else { Cow::from(own) };
    let mut names = FLOW_SERIES.iter().map(|s| s.name).chain(LINK_SERIES.iter().map(|s| s.name));
    names.find(|n| *n == own)
}

/// All definitions as data, for `fairlane explain`, the reference page and the units of columns.
pub fn series_listing() -> Value {
    fn list<S>(table: &str, all: &[Series<S>]) -> Vec<Value> {
        all.iter().map(|s| json!({ "table": table, "name": s.name, "unit": s.unit, "least": s.range.bounds().0, "most": s.range.bounds().1, "feed": s.feed.text(), "doc": s.doc })).collect()
    }
    Value::Array([list("flow", FLOW_SERIES), list("link", LINK_SERIES)].concat())
}
