//! Reports of transport stacks: their logs, and connections that ended by an error.

use crate::capture::{CaptureError, Kind, unknown};
use crate::code::{Code, Warning};
use crate::components::BuiltIn;
use crate::endpoint::AnyEndpoint;
use crate::expand::{Member, Transport};
use crate::resolved::Resolved;
use fairlane_engine::EventQueue;
use fairlane_net::{EpId, FlowId, World};

/// Checks that each of these names is that of a flow or a group with a transport stack.
pub(crate) fn check_logs(scenario: &Resolved, names: &[String]) -> Result<(), CaptureError> {
    let groups = &scenario.expanded.groups;
    let writes = |m: &&Member| matches!(&groups[m.group_index].transport, Transport::Stack(s) if s.writes_log());
    for name in names {
        if !Kind::Flow.has(scenario, name) {
            return Err(unknown("log", "flow", name, &Kind::Flow.names(scenario)));
        }
        let mut flows = scenario.flow_members().iter().filter(|m| m.name == name.as_str() || m.group == name.as_str());
        if !flows.any(|m| writes(&m)) {
            return Err(CaptureError::Name(format!("flow `{name}` has no log of its own: only a real implementation of QUIC writes one")));
        }
    }
    Ok(())
}

/// Asks the stacks of the flows with these names, or of these groups, for their logs.
pub(crate) fn want_logs<H: EventQueue>(names: &[String], flows: &[Member], world: &World<BuiltIn, H>) {
    for (i, _) in (0..).zip(flows).filter(|(_, m)| names.iter().any(|n| m.name == n.as_str() || m.group == n.as_str())) {
        if let Some(AnyEndpoint::Stack(e)) = world.endpoint(EpId::sender(FlowId(i))) {
            e.datagrams().want_logs();
        }
    }
}

/// Logs that the stacks have written.
pub(crate) fn take_logs<H: EventQueue>(flows: &[Member], world: &World<BuiltIn, H>) -> Vec<(String, Vec<u8>)> {
    let mut logs = Vec::new();
    for (i, m) in (0..).zip(flows) {
        if let Some(AnyEndpoint::Stack(e)) = world.endpoint(EpId::sender(FlowId(i)))
            && e.datagrams().wants_logs()
        {
            let ends = [("sender", false), ("receiver", true)];
            logs.extend(ends.map(|(end, receives)| (format!("{}.{end}", m.name), e.datagrams().take_log(receives))));
        }
    }
    logs
}

/// A warning for each flow whose transport stack ended its connection by an error.
pub(crate) fn lost_connections<H: EventQueue>(flows: &[Member], world: &World<BuiltIn, H>) -> Vec<Warning> {
    let stacks = (0..).zip(flows).filter(|(_, m)| !matches!(m.transport(), "tcp" | "udp"));
    let why = |ep| match world.endpoint(ep) {
        Some(AnyEndpoint::Stack(e)) => e.failure(),
        _ => None,
    };
    stacks
        .filter_map(|(i, m)| {
            let why = why(EpId::sender(FlowId(i))).or_else(|| why(EpId::receiver(FlowId(i))))?;
            Some(Warning { code: Code::ConnectionLost, text: format!("flow `{}`: its connection ended: {}: {why}", m.name, m.transport()) })
        })
        .collect()
}
