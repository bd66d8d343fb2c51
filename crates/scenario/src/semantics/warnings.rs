//! Warnings: reasons to check results before trusting them.

use super::bottleneck::window;
use super::network::Network;
use super::{Semantics, group_of};
use crate::code::Code;
use crate::expand::{Group, LinkDir, Member, Transport};
use crate::registry::{QueueSpec, SourceSpec};
use crate::spec::{FlowSpec, Scenario};
use fairlane_tcp::EcnMode;
use fairlane_units::{Dur, Rate, Time};
use serde_json::Value;

/// Fewest round-trip times of a flow for a meaningful average.
const ENOUGH_RTT: u64 = 50;
/// Most links visited while following paths: warnings of a larger network cover its first groups.
const MOST_STEPS: usize = 10_000_000;

impl Semantics<'_> {
    /// Collects the warnings; of equal ones in a group only the first.
    pub(super) fn collect_warnings(&mut self, s: &Scenario, network: &Network<'_>, links: &[LinkDir], groups: &[Group], flows: &[Member]) {
        if s.sample.is_some_and(|step| step > s.duration) {
            self.warn(
                Code::CoarseSampling,
                "the sampling step is longer than the run: every series has one row; write a shorter one".to_owned(),
            );
        }
        let mut seen = None;
        let mut steps = 0;
        for m in flows {
            if seen.replace(m.group_index) == Some(m.group_index) {
                continue;
            }
            steps += 2 * links.len();
            if steps > MOST_STEPS {
                break;
            }
            let (a, b) = (m.from.0 as usize, m.to.0 as usize);
            let (Some(there), Some(back)) = (network.path(a, b), network.path(b, a)) else { continue };
            let rtt = there.iter().chain(&back).fold(Dur::ZERO, |d, &l| d + links[l].wire.delay);
            let rate = there.iter().map(|&l| links[l].wire.rate).min().unwrap_or_default();
            let end = Time::from_ps(m.stop.unwrap_or(s.duration).as_ps().min(s.duration.as_ps()));
            let span = end.since(m.start.max(Time::ZERO + s.warmup));
            let group = group_of(groups, m);
            let needs = group.and_then(|g| needed(g, s.flows.get(m.group.as_str())?, rate, rtt));
            if let Some((needs, why)) = needs.filter(|(needs, _)| end.since(m.start) < *needs) {
                self.warn(
                    Code::ShortRun,
                    format!(
                        "flow `{}` has {} of the run, but {why} takes {needs} or more: write a longer duration",
                        m.name,
                        end.since(m.start)
                    ),
                );
            } else if span < rtt * ENOUGH_RTT {
                let more = rtt * ENOUGH_RTT - span;
                self.warn(
                    Code::ShortMeasurement,
                    format!(
                        "flow `{}` is measured for {span}, less than {ENOUGH_RTT} round-trip times of {rtt}: write a duration that is longer by {more}",
                        m.name
                    ),
                );
            }
            if let Some(step) = s.sample.filter(|&step| step > rtt && rtt > Dur::ZERO) {
                self.warn(Code::CoarseSampling, format!(
                    "the sampling step of {step} is coarser than the round-trip time of {rtt} of flow `{}`: series hide changes within it; write sample = \"{rtt}\" or less",
                    m.name
                ));
            }
            if let Some(Transport::Tcp(p, _)) = group.map(|g| &g.transport) {
                if let Some(text) = unmarked(&there, links).filter(|_| p.ecn_mode() != EcnMode::Off) {
                    self.warn(Code::EcnWithoutMarks, format!("flow `{}` offers ECN, but no queue on its path marks: {text}", m.name));
                }
                let (window, path) = (window(p), in_flight(rate, rtt));
                if window < path {
                    let text = format!(
                        "flow `{}`: its window of {window} bytes is below the bandwidth-delay product of {path} bytes, so the window limits it; \
                         write larger values for `window` and `receive_window` unless that is meant",
                        m.name
                    );
                    self.warn(Code::WindowLimits, text);
                }
            }
        }
    }
}

/// Advice for a path on which no queue marks; none if one does, or may.
fn unmarked(path: &[usize], links: &[LinkDir]) -> Option<String> {
    let mut able = None;
    for &l in path {
        match marking(&links[l].wire.queue) {
            Marking::On => return None,
            Marking::Off => able = able.or(Some(l)),
            Marking::Never => {}
        }
    }
    let slowest = || path.iter().copied().min_by_key(|&l| links[l].wire.rate);
    let link = &links[able.or_else(slowest)?];
    let (queue, name) = (link.wire.queue.name(), &link.name);
    Some(match able {
        Some(_) => format!("write ecn = true in queue `{queue}` of link `{name}`"),
        None => format!("queue `{queue}` of link `{name}` cannot; write another, such as queue.red = {{ ecn = true }} or fq_codel"),
    })
}

/// Answer of a queue to packets that offer ECN.
enum Marking {
    /// It marks.
    On,
    /// It can, but its parameter `ecn` is false.
    Off,
    /// It cannot.
    Never,
}

/// Reads the parameters of a queue and of the queues of its classes.
fn marking(queue: &QueueSpec) -> Marking {
    match queue {
        // It always marks. A plug-in may do anything.
        QueueSpec::DualPi2(_) | QueueSpec::Plugin(_) => Marking::On,
        _ => serde_json::to_value(queue).map_or(Marking::On, |v| marking_in(&v)),
    }
}

fn marking_in(value: &Value) -> Marking {
    let mut found = Marking::Never;
    let inner: Vec<&Value> = match value {
        Value::Object(map) => {
            if map.get("ecn") == Some(&Value::Bool(true)) || map.get("ce_threshold").is_some_and(|t| !t.is_null()) {
                return Marking::On;
            }
            if map.contains_key("ecn") {
                found = Marking::Off;
            }
            map.values().collect()
        }
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    for v in inner {
        match marking_in(v) {
            Marking::On => return Marking::On,
            Marking::Off => found = Marking::Off,
            Marking::Never => {}
        }
    }
    found
}

/// Shortest time in which a flow can reach its goal, with an explanation; none if unknown before the run. A transfer must pass
/// the slowest link; a greedy flow doubles its window each round-trip time after the handshake (RFC 5681) until its group fills the path.
fn needed(group: &Group, spec: &FlowSpec, rate: Rate, rtt: Dur) -> Option<(Dur, String)> {
    let Transport::Tcp(p, _) = &group.transport else { return None };
    if let Some(amount) = spec.amount {
        let bits = u128::from(amount.get()) * 8 * u128::from(fairlane_units::PS_PER_SEC);
        let time = Dur::from_ps(u64::try_from(bits / u128::from(rate.as_bps().max(1))).ok()?);
        return Some((time, format!("its amount at {rate}")));
    }
    if !matches!(group.source, SourceSpec::Bulk(_)) {
        return None;
    }
    let share = in_flight(rate, rtt).min(window(p)) / u64::from(spec.count.max(1));
    let first = p.initial_window.bytes(p.mss.get()).max(1);
    let rounds = u64::from((share / first).max(1).ilog2()) + u64::from(p.handshake);
    Some((rtt * rounds, format!("its slow start over {rounds} round-trip times of {rtt}")))
}

/// Bandwidth-delay product of a path in bytes.
fn in_flight(rate: Rate, rtt: Dur) -> u64 {
    u64::try_from(u128::from(rate.as_bps()) * u128::from(rtt.as_ps()) / (8 * u128::from(fairlane_units::PS_PER_SEC))).unwrap_or(u64::MAX)
}
