//! State of a flow and of a queue at one instant.

use crate::components::BuiltIn;
use crate::endpoint::AnyEndpoint;
use crate::event_queues::AnyEvents;
use fairlane_net::{Endpoint, EpId, FlowId, PortId, Qdisc, TimerId, World};
use fairlane_units::{Dur, Time};
use std::collections::BTreeMap;

/// A value of a state.
#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    /// A number.
    Number(f64),
    /// A count.
    Count(u64),
    /// A word.
    Word(&'static str),
    /// No value yet.
    Nothing,
}

/// Values by group and name.
pub type Row = Vec<(&'static str, &'static str, StateValue)>;

fn seconds(d: Dur) -> StateValue {
    if d == Dur::ZERO { StateValue::Nothing } else { StateValue::Number(d.as_secs_f64()) }
}

fn instant(t: Time) -> StateValue {
    if t == Time::MAX { StateValue::Nothing } else { StateValue::Number(t.as_secs_f64()) }
}

/// State of a flow: its progress (`flow`), its connection or sender (`transport`), and the gauges of its congestion control (`gauge`).
pub(super) fn flow_now(world: &World<BuiltIn, AnyEvents>, flow: FlowId) -> Row {
    let f = &world.flows()[flow.0 as usize];
    let (ep, v) = (EpId::sender(flow), world.view(EpId::sender(flow)));
    let mut row: Row = vec![
        ("flow", "started", instant(f.started)),
        ("flow", "completed", instant(f.completed)),
        ("flow", "delivered", StateValue::Count(f.delivered)),
        ("transport", "sent", StateValue::Count(v.data_bytes)),
        ("transport", "packets", StateValue::Count(v.data_segments)),
    ];
    let mut add = |name, value| row.push(("transport", name, value));
    let Some(e) = world.endpoint(ep) else { return row };
    if v.cwnd != 0 {
        add("cwnd", StateValue::Count(v.cwnd));
        add("ssthresh", if v.ssthresh == u64::MAX { StateValue::Number(f64::INFINITY) } else { StateValue::Count(v.ssthresh) });
        add("in_flight", StateValue::Count(v.in_flight));
        add("srtt", seconds(v.srtt));
        add("rttvar", seconds(v.rttvar));
        add("rto", seconds(v.rto));
        add("mss", StateValue::Count(v.mss.into()));
        add("acked", StateValue::Count(v.acked));
        add("retransmits", StateValue::Count(v.retransmits));
        add("timeouts", StateValue::Count(v.timeouts));
        add("fast_recoveries", StateValue::Count(v.fast_recoveries));
        add("cwnd_cuts", StateValue::Count(v.cwnd_cuts));
        add("ecn_cuts", StateValue::Count(v.ecn_cuts));
    }
    if let Some(m) = world.moment(ep) {
        add("connection", StateValue::Word(m.connection));
        add("state", StateValue::Word(m.sending));
    }
    if let AnyEndpoint::Tcp(t) = e {
        let i = t.info();
        add("segments_out", StateValue::Count(i.unacked.into()));
        add("segments_sacked", StateValue::Count(i.sacked.into()));
        add("segments_lost", StateValue::Count(i.lost.into()));
        add("segments_resent", StateValue::Count(i.retrans.into()));
        add("backoff", StateValue::Count(i.backoff.into()));
        add("min_rtt", i.min_rtt.map_or(StateValue::Nothing, seconds));
        let timers = world.timers(ep);
        for (name, id) in [("rto_at", TimerId::Rto), ("pace_at", TimerId::Pace), ("probe_at", TimerId::Probe)] {
            add(name, timers.get(id).map_or(StateValue::Nothing, instant));
        }
    }
    e.gauges(&mut |name, value| row.push(("gauge", name, StateValue::Number(value))));
    row
}

/// State of the queue of a port and its link; `gauge` has the discipline's own variables.
pub(super) fn queue_now(world: &World<BuiltIn, AnyEvents>, port: PortId) -> Row {
    let p = world.port(port);
    let level = p.qdisc().backlog();
    let mut row: Row = vec![
        ("queue", "packets", StateValue::Count(level.pkts.into())),
        ("queue", "bytes", StateValue::Count(level.bytes)),
        ("link", "rate", StateValue::Number(p.rate_at(world.now()).as_bps() as f64)),
        ("link", "delay", StateValue::Number(p.link().delay.as_secs_f64())),
        ("link", "in_flight", StateValue::Count(p.in_flight() as u64)),
        ("link", "sent", StateValue::Count(p.counters().sent_bytes)),
        ("link", "drops", StateValue::Count(p.counters().queue_drops())),
        ("link", "marks", StateValue::Count(p.counters().marks)),
    ];
    p.qdisc().gauges(&mut |name, value| row.push(("gauge", name, StateValue::Number(value))));
    row
}

/// Number, packets and bytes of each flow with packets in the queue; none if the queue does not report them.
pub(super) fn waiting_now(world: &World<BuiltIn, AnyEvents>, port: PortId) -> Option<Vec<(u32, u32, u64)>> {
    let mut flows = BTreeMap::<u32, (u32, u64)>::new();
    for p in world.waiting(port).ok()? {
        let of = flows.entry(p.flow.0).or_default();
        *of = (of.0 + 1, of.1 + u64::from(p.len));
    }
    Some(flows.into_iter().map(|(flow, (packets, bytes))| (flow, packets, bytes)).collect())
}
