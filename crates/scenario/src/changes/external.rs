//! Changes of the window and the pacing rate of flows with the control `external`.

use crate::components::BuiltIn;
use crate::expand::{Group, Member, Transport};
use crate::resolved::Resolved;
use crate::spec::FlowSpec;
use fairlane_engine::EventQueue;
use fairlane_net::{FlowId, Observer, World};
use fairlane_tcp::cc::{CcParams, external::ExternalParams};

/// The flow with the earlier window and rate.
pub(super) fn without(a: &FlowSpec, b: &FlowSpec) -> FlowSpec {
    let mut rest = b.clone();
    if let (Some(old), Some(new)) = (&a.tcp, &b.tcp) {
        rest.tcp = Some(new.with_external_of(old));
    }
    rest
}

/// Values of a group with the control `external`.
pub(crate) fn of(group: &Group) -> Option<&ExternalParams> {
    match &group.transport {
        Transport::Tcp(p, _) => match &p.cc {
            CcParams::External(values) => Some(values),
            _ => None,
        },
        Transport::Udp(_) | Transport::Stack(_) => None,
    }
}

/// True if two groups differ in window and rate alone, or not at all.
pub(super) fn alike(a: &Group, b: &Group) -> bool {
    if a == b {
        return true;
    }
    let (Some(_), Some(_), Transport::Tcp(old, _), Transport::Tcp(new, _)) = (of(a), of(b), &a.transport, &b.transport) else {
        return false;
    };
    let mut like = new.clone();
    like.cc = old.cc.clone();
    like == *old && *a == Group { transport: a.transport.clone(), ..b.clone() }
}

/// Sets the windows and rates that differ between two states.
pub(super) fn change<H: EventQueue, O: Observer>(
    world: &mut World<BuiltIn, H>,
    (now, next): (&Resolved, &Resolved),
    members: &[Member],
    obs: &mut O,
) {
    let pairs = now.expanded.groups.iter().zip(next.expanded.groups.iter());
    let differ: Vec<bool> = pairs.map(|(a, b)| of(a) != of(b)).collect();
    if !differ.contains(&true) {
        return;
    }
    for (i, member) in (0..).zip(members) {
        let group = &next.expanded.groups[member.group_index];
        if let (true, Some(values), Transport::Tcp(_, config)) = (differ[member.group_index], of(group), &group.transport) {
            world.set_window(FlowId(i), values.window_on(config), values.pacing_rate, obs);
        }
    }
}
