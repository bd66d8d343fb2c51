//! Which events a set of runs records, by the names of flows, links and events, and where their rows go.

use crate::capture::{CaptureError, Kind, unknown};
use crate::expand::{Member, Transport};
use crate::resolve::Resolved;
use fairlane_trace::events::{Batch, Ends, Filter, Kind as Event, Names, Recorder};
use fairlane_units::{Dur, Time};
use std::collections::HashMap;
use std::sync::Arc;

/// What is recorded: every list that is not empty has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// Names of events.
    pub events: Vec<String>,
    /// Names of flows or groups.
    pub flows: Vec<String>,
    /// Names of link directions; then nothing is recorded that happens elsewhere.
    pub links: Vec<String>,
    /// From then on.
    pub from: Option<Dur>,
    /// Up to then.
    pub to: Option<Dur>,
}

/// Takes the batches of all runs, each with the number of its run; it may be called by several threads, and may wait.
pub type TraceSink = Arc<dyn Fn(usize, Batch) + Send + Sync>;

/// What is recorded of a set of runs.
#[derive(Clone)]
pub struct Tracing {
    /// What.
    pub request: TraceRequest,
    /// Where to.
    pub sink: TraceSink,
}

impl Tracing {
    /// Whether every name means something.
    ///
    /// # Errors
    /// The first name that does not.
    pub fn check(&self, scenario: &Resolved) -> Result<(), CaptureError> {
        let r = &self.request;
        let known = |kind: Kind, list: &[String]| match list.iter().find(|name| !kind.has(scenario, name)) {
            Some(name) => Err(unknown("record", kind.name(), name, &kind.names(scenario))),
            None => Ok(()),
        };
        known(Kind::Flow, &r.flows)?;
        known(Kind::Link, &r.links)?;
        match r.events.iter().find(|name| !Event::NAMES.contains(&name.as_str())) {
            Some(name) => Err(unknown("record", "event", name, Event::NAMES)),
            None => Ok(()),
        }
    }

    /// The recorder of run number `run`, which has this seed.
    pub(crate) fn begin(&self, scenario: &Resolved, run: usize, seed: u64) -> Recorder {
        let r = &self.request;
        let (members, links) = (scenario.members_at(seed), scenario.link_directions());
        let chosen = |list: &[String], all: &mut dyn Iterator<Item = bool>| (!list.is_empty()).then(|| all.collect());
        let has = |list: &[String], name: &String| list.contains(name);
        let filter = Filter {
            kinds: Event::ALL.iter().zip(Event::NAMES).filter(|(_, n)| r.events.iter().any(|e| e == *n)).map(|(k, _)| *k).collect(),
            flows: chosen(&r.flows, &mut members.iter().map(|m| has(&r.flows, &m.name) || has(&r.flows, &m.group))),
            links: chosen(&r.links, &mut links.iter().map(|l| has(&r.links, &l.name))),
            from: r.from.map_or(Time::ZERO, |d| Time::ZERO + d),
            to: r.to.map_or(Time::MAX, |d| Time::ZERO + d),
        };
        let sink = self.sink.clone();
        let nodes: HashMap<&str, u32> = scenario.expanded.nodes.iter().zip(0..).map(|(n, i)| (n.as_str(), i)).collect();
        let node = |name: &String| nodes.get(name.as_str()).copied().unwrap_or(0);
        // Ports of a node are given out as agents come to it, which in ns-2 is the order in which a script makes them.
        let mut ports = vec![0; nodes.len()];
        let mut address = |name: &String| {
            let node = node(name);
            let next = ports.get_mut(node as usize).map_or(0, |p| std::mem::replace(p, *p + 1));
            (node, next)
        };
        let ends = |m: &Member| {
            let group = &scenario.expanded.groups[m.group_index];
            let addresses = [address(&m.from), address(&m.to)];
            match &group.transport {
                Transport::Tcp(p, config) => Ends { kinds: ["tcp", "ack"], addresses, mss: config.mss().into(), handshake: p.handshake },
                Transport::Udp(_) => Ends { kinds: ["cbr", "udp"], addresses, mss: 0, handshake: false },
            }
        };
        let names = Names {
            flows: members.iter().map(|m| m.name.clone()).collect(),
            links: links.iter().map(|l| l.name.clone()).collect(),
            wires: links.iter().map(|l| (node(&l.from), node(&l.to))).collect(),
            ends: members.iter().map(ends).collect(),
        };
        Recorder::new(filter, names, Box::new(move |batch| sink(run, batch)))
    }
}
