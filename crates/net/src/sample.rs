//! Time series, sampled at a fixed step by a source of events of its own.

use crate::endpoint::Endpoint;
use crate::flow::Flow;
use crate::port::Port;
use crate::qdisc::Qdisc;
use fairlane_units::{Dur, Time};

/// One row a flow and sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// Seconds.
    pub time: Vec<f64>,
    /// Number of the flow.
    pub flow: Vec<u32>,
    /// Congestion window in bytes; NaN for a transport without one.
    pub cwnd: Vec<f64>,
    /// Slow-start threshold in bytes; infinite before the first loss.
    pub ssthresh: Vec<f64>,
    /// Smoothed round-trip time in seconds; NaN before the first sample.
    pub srtt: Vec<f64>,
    /// Bytes in flight.
    pub in_flight: Vec<f64>,
    /// Bits a second delivered in order to the application since the sample before.
    pub goodput: Vec<f64>,
    /// Bits a second on the wire that reached the receiver since the sample before.
    pub throughput: Vec<f64>,
    /// Share of the time since the sample before in which its control let the flow send; NaN for a flow without one, no rows without any control.
    pub open: Vec<f64>,
    /// Inner variables of transports that have some, by name; NaN where a flow has none of that name.
    pub gauges: Gauges,
}

/// Columns by name.
pub type Gauges = Vec<(&'static str, Vec<f64>)>;

/// The value of one gauge in the row that is the last of `rows`.
fn set_gauge(gauges: &mut Gauges, rows: usize, name: &'static str, value: f64) {
    let k = gauges.iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
        gauges.push((name, Vec::new()));
        gauges.len() - 1
    });
    gauges[k].1.resize(rows - 1, f64::NAN);
    gauges[k].1.push(value);
}

/// Rows that said nothing of a gauge.
fn fill_gauges(gauges: &mut Gauges, rows: usize) {
    for (_, column) in gauges {
        column.resize(rows, f64::NAN);
    }
}

/// One row a port and sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSeries {
    /// Seconds.
    pub time: Vec<f64>,
    /// Number of the port.
    pub port: Vec<u32>,
    /// Packets waiting.
    pub queue: Vec<f64>,
    /// Bytes waiting.
    pub queue_bytes: Vec<f64>,
    /// Bits a second whose transmission began since the sample before.
    pub throughput: Vec<f64>,
    /// Packets dropped since the sample before.
    pub drops: Vec<f64>,
    /// Inner variables of the queue disciplines, by name; NaN where a queue has none of that name.
    pub gauges: Gauges,
}

/// What a sample needs to know of the one before.
#[derive(Clone, Debug, Default)]
struct Before {
    delivered: u64,
    received: u64,
}

/// The sampler and what it has recorded.
#[derive(Clone, Debug)]
pub struct Sampler {
    step: Dur,
    flows_before: Vec<Before>,
    ports_before: Vec<Before>,
    /// Ports that are sampled.
    watched: Vec<u32>,
    /// Flows over time.
    pub flows: FlowSeries,
    /// Links over time.
    pub links: LinkSeries,
}

impl Sampler {
    /// Samples every `step`; links only those in `watched`.
    pub fn new(step: Dur, watched: Vec<u32>) -> Self {
        Self {
            step,
            flows_before: Vec::new(),
            ports_before: Vec::new(),
            watched,
            flows: FlowSeries::default(),
            links: LinkSeries::default(),
        }
    }

    /// The step.
    pub fn step(&self) -> Dur {
        self.step
    }

    /// Takes one sample; returns when the next is due.
    pub(crate) fn record<'a, Q: Qdisc + 'a, E: Endpoint + 'a>(
        &mut self,
        now: Time,
        flows: impl ExactSizeIterator<Item = &'a Flow>,
        sender: impl Fn(usize) -> &'a E,
        ports: &[Port<Q>],
    ) -> Time {
        let (t, bits) = (now.as_secs_f64(), 8.0 / self.step.as_secs_f64());
        self.flows_before.resize_with(flows.len(), Before::default);
        for (i, flow) in flows.enumerate() {
            let (endpoint, s, before) = (sender(i), &mut self.flows, &mut self.flows_before[i]);
            let v = endpoint.view();
            // Counters fall back to zero at the end of the warm-up; that step then counts from there.
            let received = flow.counters.received_bytes;
            s.time.push(t);
            s.flow.push(i as u32);
            // TCP never goes below one segment: no window at all means a transport without one.
            let window = |x: u64| if v.cwnd == 0 { f64::NAN } else { x as f64 };
            s.cwnd.push(window(v.cwnd));
            s.ssthresh.push(if v.ssthresh == u64::MAX { f64::INFINITY } else { window(v.ssthresh) });
            s.srtt.push(if v.srtt == Dur::ZERO { f64::NAN } else { v.srtt.as_secs_f64() });
            s.in_flight.push(window(v.in_flight));
            s.goodput.push((flow.delivered - before.delivered) as f64 * bits);
            s.throughput.push(received.checked_sub(before.received).unwrap_or(received) as f64 * bits);
            *before = Before { delivered: flow.delivered, received };
            let rows = s.time.len();
            endpoint.gauges(&mut |name, value| set_gauge(&mut s.gauges, rows, name, value));
            fill_gauges(&mut s.gauges, rows);
        }
        self.ports_before.resize_with(self.watched.len(), Before::default);
        for (&i, before) in self.watched.iter().zip(&mut self.ports_before) {
            let (port, s) = (&ports[i as usize], &mut self.links);
            let (level, c) = (port.qdisc().backlog(), port.counters());
            let drops: u64 = c.drops.iter().sum();
            s.time.push(t);
            s.port.push(i);
            s.queue.push(f64::from(level.pkts));
            s.queue_bytes.push(level.bytes as f64);
            s.throughput.push(c.sent_bytes.checked_sub(before.received).unwrap_or(c.sent_bytes) as f64 * bits);
            s.drops.push(drops.checked_sub(before.delivered).unwrap_or(drops) as f64);
            *before = Before { delivered: drops, received: c.sent_bytes };
            let rows = s.time.len();
            port.qdisc().gauges(&mut |name, value| set_gauge(&mut s.gauges, rows, name, value));
            fill_gauges(&mut s.gauges, rows);
        }
        now + self.step
    }
}
