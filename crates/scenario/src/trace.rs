//! Event traces of a set of runs: selection by the names of flows, links and events, and output files.

use crate::capture::{CaptureError, Kind, unknown};
use crate::expand::{Hop, LinkDir, Member, Transport};
use crate::resolved::Resolved;
use crate::spec;
use fairlane_net::NodeId;
use fairlane_trace::events::{Ends, Failure, Filter, Format, Kind as Event, Names, Recorder, Wire};
use fairlane_units::{Dur, Name, Time};
use std::path::PathBuf;
use std::sync::Mutex;

/// Filter of recorded events: every list that is not empty must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// Names of events.
    pub events: Vec<String>,
    /// Names of flows or groups.
    pub flows: Vec<String>,
    /// Names of link directions; if set, only events on these links are recorded.
    pub links: Vec<String>,
    /// First time.
    pub from: Option<Dur>,
    /// Last time.
    pub to: Option<Dur>,
}

/// Event trace of a set of runs.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// Filter.
    pub request: TraceRequest,
    /// File format.
    pub format: Format,
    /// Output folder: for the run with seed N a folder `seed=N` with a table, or a file `seed=N.tr` or `seed=N.nam`.
    pub folder: PathBuf,
}

impl TraceRequest {
    /// Checks that every name is known.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn check(&self, scenario: &Resolved) -> Result<(), CaptureError> {
        let known = |kind: Kind, list: &[String]| match list.iter().find(|name| !kind.has(scenario, name)) {
            Some(name) => Err(unknown("record", kind.name(), name, &kind.names(scenario))),
            None => Ok(()),
        };
        known(Kind::Flow, &self.flows)?;
        known(Kind::Link, &self.links)?;
        match self.events.iter().find(|name| !Event::NAMES.contains(&name.as_str())) {
            Some(name) => Err(unknown("record", "event", name, Event::NAMES)),
            None => Ok(()),
        }
    }

    /// Filter by numbers, for the run with this seed.
    pub(crate) fn filter(&self, scenario: &Resolved, seed: u64) -> Filter {
        let r = self;
        let (members, links) = (scenario.members_at(seed), scenario.link_directions());
        let chosen = |list: &[String], all: &mut dyn Iterator<Item = bool>| (!list.is_empty()).then(|| all.collect());
        let has = |list: &[String], name: &Name| list.iter().any(|n| name == n);
        Filter {
            kinds: Event::ALL.iter().zip(Event::NAMES).filter(|(_, n)| r.events.iter().any(|e| e == *n)).map(|(k, _)| *k).collect(),
            flows: chosen(&r.flows, &mut members.iter().map(|m| has(&r.flows, &m.name) || has(&r.flows, &m.group))),
            links: chosen(&r.links, &mut links.iter().map(|l| has(&r.links, &l.name))),
            from: r.from.map_or(Time::ZERO, |d| Time::ZERO + d),
            to: r.to.map_or(Time::MAX, |d| Time::ZERO + d),
        }
    }
}

impl Tracing {
    /// Recorder of the run with this seed.
    ///
    /// # Errors
    /// Its files cannot be created.
    pub(crate) fn begin(&self, scenario: &Resolved, seed: u64) -> Result<Recorder, CaptureError> {
        let place = self.folder.join(match self.format {
            Format::Parquet => format!("seed={seed}"),
            Format::Ns2 => format!("seed={seed}.tr"),
            Format::Nam => format!("seed={seed}.nam"),
        });
        Recorder::new(self.request.filter(scenario, seed), names(scenario, seed), self.format, place).map_err(not_written)
    }
}

/// Names behind the numbers in rows, for the run with this seed.
pub(crate) fn names(scenario: &Resolved, seed: u64) -> Names {
    let (members, links) = (scenario.members_at(seed), scenario.link_directions());
    // A station's interface leads to its channel, which is listed among the nodes.
    let mut all = scenario.expanded.nodes.clone();
    let channels = &scenario.expanded.channels;
    all.extend(channels.iter().map(|c| Name::from(&c.name)));
    let far = |l: &LinkDir| match l.to() {
        Hop::Node(n) => n.0,
        Hop::Channel(c) => (scenario.expanded.nodes.len() + c) as u32,
    };
    // Ports of a node are numbered in the order of its agents, which in ns-2 is the order of creation in a script.
    let mut ports = vec![0; all.len()];
    let mut address = |node: NodeId| {
        let next = ports.get_mut(node.0 as usize).map_or(0, |p| std::mem::replace(p, *p + 1));
        (node.0, next)
    };
    let ends = |m: &Member| {
        let group = &scenario.expanded.groups[m.group_index];
        let addresses = [address(m.from), address(m.to)];
        match &group.transport {
            Transport::Tcp(p, config) => Ends { kinds: ["tcp", "ack"], addresses, mss: config.mss().into(), handshake: p.handshake },
            Transport::Udp(_) | Transport::Stack(_) => Ends { kinds: ["cbr", "udp"], addresses, mss: 0, handshake: false },
        }
    };
    Names {
        flows: members.iter().map(|m| m.name.to_string()).collect(),
        links: links.iter().map(|l| l.name.to_string()).collect(),
        wires: links.iter().map(|l| wire(l.from().0, far(l), &l.wire)).collect(),
        ends: members.iter().map(ends).collect(),
        nodes: all.iter().map(Name::to_string).collect(),
        gauges: Mutex::default(),
    }
}

/// Error about a file that cannot be written.
pub(crate) fn not_written(failure: Failure) -> CaptureError {
    CaptureError::write((failure.place, failure.error))
}

fn wire(from: u32, to: u32, of: &spec::Wire) -> Wire {
    Wire { from, to, rate: of.rate.as_bps(), delay_ps: of.delay.as_ps() }
}
