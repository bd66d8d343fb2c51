//! Report of the limits of a run's flows.

use crate::expand::Member;
use crate::resolved::Resolved;
use crate::run_error::RunError;
use fairlane_engine::EventQueue;
use fairlane_net::{Components, EpId, FlowId, Limit, World};
use fairlane_trace::limits::LimitReport;
use fairlane_units::Time;
use serde_json::{Map, Value, json};

/// Checks that a scenario with a limit report has rows of single flows.
pub(crate) fn check(scenario: &Resolved, asked: bool) -> Result<(), RunError> {
    if asked && !scenario.report.is_flows() { Err(RunError::NoFlowRows) } else { Ok(()) }
}

/// Starts a limit report of a world before its start.
pub(crate) fn watch<P: Components, H: EventQueue>(world: &World<P, H>, from: Time) -> LimitReport {
    let route = |f| world.route(EpId::sender(FlowId(f))).map(|p| p.0).collect();
    LimitReport::new((0..world.flows().len() as u32).map(route).collect(), world.ports().len(), from)
}

/// Report up to `now`: times in whole picoseconds, which add up exactly; waiting in bytes times seconds.
pub(crate) fn report(mut why: LimitReport, scenario: &Resolved, seed: u64, now: Time) -> Value {
    why.close(now);
    let (members, links) = (scenario.members_at(seed), scenario.link_directions());
    let name = |flow: u32| members.get(flow as usize).map_or("", |m| m.name.as_str());
    let times = |times: &[u64; Limit::COUNT]| -> Map<String, Value> {
        Limit::ALL.iter().filter(|l| **l != Limit::Nothing).map(|l| (l.name().to_owned(), times[*l as usize].into())).collect()
    };
    let flows: Vec<Value> = (0..)
        .zip(why.flows())
        .filter(|(i, f)| members.get(*i as usize).is_some_and(Member::is_there) || times(f.times()).values().any(|t| *t != 0))
        .map(|(i, f)| json!({ "flow": name(i), "picoseconds": times(f.times()), "timeouts": f.timeouts() }))
        .collect();
    let queue = |(link, q): (&crate::expand::LinkDir, &fairlane_trace::limits::QueueLimits)| {
        let share = |(&flow, s): (&u32, &fairlane_trace::limits::Share)| json!({ "flow": name(flow), "byte_seconds": s.waited as f64 / fairlane_units::PS_PER_SEC as f64, "drops": s.drops, "marks": s.marks });
        let shares: Vec<Value> = q.shares.iter().filter(|(_, s)| s.waited > 0 || s.drops + s.marks > 0).map(share).collect();
        json!({ "link": link.name, "flows": shares, "starved_ps": q.starved, "wanted_ps": q.wanted })
    };
    let queues: Vec<Value> = links.iter().zip(why.queues()).map(queue).collect();
    json!({ "flows": flows, "queues": queues })
}
