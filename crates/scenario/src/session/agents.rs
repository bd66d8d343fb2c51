//! Agents: flows with the control `external` whose window and pacing rate a learner sets at each step, and what it observes.

use super::Simulation;
use crate::changes::{self, external, shown};
use crate::components::BuiltIn;
use crate::endpoint::AnyEndpoint;
use crate::event_queues::AnyEvents;
use crate::resolved::{Resolved, Update};
use crate::run;
use crate::run_error::RunError;
use crate::spec::AtSpec;
use fairlane_net::{Endpoint, EpId, FlowId, Waiting, World};
use fairlane_units::{Bytes, Rate, Time};
use serde_json::Value;
use std::sync::Arc;

/// Quantities that a learner observes of a flow: name, unit, what it is. All are known to the sender.
pub const OBSERVED: [(&str, &str, &str); 8] = [
    ("acked_rate", "bit/s", "rate at which payload was acknowledged in the step"),
    ("sent_rate", "bit/s", "rate at which payload was sent in the step, retransmissions included"),
    ("rtt", "s", "mean of the round-trip times measured in the step; without one that of the step before, 0 at first"),
    ("min_rtt", "s", "smallest round-trip time so far; 0 at first"),
    ("resent", "1", "share of the payload sent in the step that was sent again"),
    ("in_flight", "byte", "payload in flight"),
    ("window", "byte", "congestion window"),
    ("pacing_rate", "bit/s", "pacing rate; 0 without pacing"),
];

/// Window in bytes and pacing rate, zero for none, of a flow from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Congestion window in bytes.
    pub window: u64,
    /// Pacing rate; zero: not paced.
    pub rate: Rate,
}

/// An action as it was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) time: Time,
    flow: u32,
    action: Action,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    acked: u64,
    sent: u64,
    resent: u64,
    rtts: (u64, u128),
}

/// A flow whose window and rate are set by steps.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    flow: u32,
    action: Action,
    before: Counts,
    since: Time,
    rtt: f64,
}

impl Agent {
    /// Adds the observation of the time since the last one.
    fn observe(&mut self, world: &World<BuiltIn, AnyEvents>, out: &mut Vec<f64>) {
        let (ep, now) = (EpId::sender(FlowId(self.flow)), world.now());
        let counted = &world.flows()[self.flow as usize].counters.rtt;
        let Some(end) = world.endpoint(ep) else { return };
        let view = end.view();
        let next = Counts { acked: view.acked, sent: view.data_bytes, resent: view.retransmit_bytes, rtts: (counted.n, counted.sum()) };
        // The end of the warm-up, and a new connection, begin the counters again.
        let differ = |new: u64, old: u64| if new < old { new } else { new - old };
        let (acked, sent) = (differ(next.acked, self.before.acked), differ(next.sent, self.before.sent));
        let resent = differ(next.resent, self.before.resent);
        let (n, sum) =
            if next.rtts.0 < self.before.rtts.0 { next.rtts } else { (next.rtts.0 - self.before.rtts.0, next.rtts.1 - self.before.rtts.1) };
        if n > 0 {
            self.rtt = sum as f64 / n as f64 * 1e-12;
        }
        let seconds = now.since(self.since).as_secs_f64();
        let rate = |bytes: u64| if seconds > 0.0 { 8.0 * bytes as f64 / seconds } else { 0.0 };
        let least = match end {
            AnyEndpoint::Tcp(t) => t.min_rtt().map_or(0.0, fairlane_units::Dur::as_secs_f64),
            _ => 0.0,
        };
        let share = if sent > 0 { resent as f64 / sent as f64 } else { 0.0 };
        out.extend([
            rate(acked),
            rate(sent),
            self.rtt,
            least,
            share,
            view.in_flight as f64,
            view.cwnd as f64,
            self.action.rate.as_bps() as f64,
        ]);
        (self.before, self.since) = (next, now);
    }
}

impl Simulation {
    /// Chooses the flows whose windows and rates [`Self::act`] sets, by number. Returns of each the rate of the slowest link of its path (bit/s), the
    /// round-trip time without queues (s), and the payload of a segment (bytes).
    ///
    /// # Errors
    /// A flow does not have the control `external`, or is one of several of its group.
    pub fn set_agents(&mut self, flows: &[u32]) -> Result<Vec<(f64, f64, u32)>, RunError> {
        let members = self.scenario.members_at(self.seed);
        let agents: Result<Vec<Agent>, RunError> = flows
            .iter()
            .map(|&flow| {
                let refused = |why: &str| {
                    let name = members.get(flow as usize).map_or_else(|| flow.to_string(), |m| m.name.to_string());
                    RunError::Change(format!("flow `{name}` takes no actions: {why}"))
                };
                let member = members.get(flow as usize).ok_or_else(|| refused("there is no such flow"))?;
                let state = self.state();
                let group = &state.expanded.groups[member.group_index];
                let values = external::of(group).ok_or_else(|| refused("write tcp = \"external\""))?;
                if state.scenario.flows.get(group.name.as_str()).is_none_or(|spec| spec.most() != 1) {
                    return Err(refused("it is one of several in its group; give it a group of its own"));
                }
                let crate::expand::Transport::Tcp(_, config) = &group.transport else { return Err(refused("it is not TCP")) };
                let action = Action { window: values.window_on(config), rate: values.pacing_rate };
                Ok(Agent { flow, action, before: Counts::default(), since: self.now(), rtt: 0.0 })
            })
            .collect();
        self.agents = agents?;
        Ok(flows.iter().map(|&flow| self.world.path(FlowId(flow))).collect())
    }

    /// Window and rate of each agent.
    pub fn actions(&self) -> Vec<Action> {
        self.agents.iter().map(|a| a.action).collect()
    }

    /// Sets window and rate of each agent at the current time.
    ///
    /// # Errors
    /// The run cannot continue.
    pub fn act(&mut self, actions: &[Action]) -> Result<(), RunError> {
        self.finish_instant()?;
        let time = self.now();
        for (i, &action) in (0..self.agents.len()).zip(actions) {
            if self.agents[i].action == action {
                continue;
            }
            // Each is a change of its own in the scenario, before which the events of this instant happen.
            self.finish_instant()?;
            let agent = &mut self.agents[i];
            let flow = agent.flow;
            agent.action = action;
            self.made.push(super::Made::Action(Taken { time, flow, action }));
            let Self { scenario, world, probes, .. } = self;
            run::as_run(run::SESSION, || world.set_window(scenario, FlowId(flow), action, probes));
        }
        Ok(())
    }

    /// Appends the observation of each agent, [`OBSERVED`] in order, of the time since the last call.
    pub fn observe(&mut self, out: &mut Vec<f64>) {
        let Self { agents, world, .. } = self;
        for agent in agents {
            agent.observe(&world.0, out);
        }
    }

    /// Writes the newest actions into the current scenario, so that a change of something else keeps them.
    pub(super) fn keep_actions(&mut self) -> Result<(), RunError> {
        let newest: Vec<Taken> = self.made.iter().rev().map_while(super::Made::action).collect();
        if newest.is_empty() {
            return Ok(());
        }
        let mut sets = Vec::new();
        for taken in newest.iter().rev() {
            let set = specified(taken, &self.scenario, self.seed).sets();
            sets.retain(|(path, _): &(String, String)| set.iter().all(|(new, _)| new != path));
            sets.extend(set);
        }
        let next = changes::resolved_again(self.state(), &sets, self.now()).map_err(|d| RunError::Change(d.to_string()))?;
        let Self { scenario, timeline, world, probes, .. } = self;
        run::as_run(run::SESSION, || world.change(scenario, timeline, Update::All(Arc::new(next)), Waiting::Move, probes))
    }
}

/// An action as a change of the scenario.
pub(super) fn specified(taken: &Taken, scenario: &Resolved, seed: u64) -> AtSpec {
    let members = scenario.members_at(seed);
    let group = &scenario.expanded.groups[members[taken.flow as usize].group_index].name;
    let at = |key: &str| format!("{}.tcp.cc.external.{key}", crate::source::join(["flows", group.as_str()]));
    let window = Value::from(Bytes(taken.action.window).to_string());
    let rate = Value::from(taken.action.rate.to_string());
    AtSpec {
        time: shown(taken.time),
        set: [(at("window"), window), (at("pacing_rate"), rate)].into_iter().collect(),
        waiting: Waiting::Move,
    }
}
