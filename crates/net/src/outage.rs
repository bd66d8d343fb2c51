//! Failures and repairs of links at given times, and the delay with which routes follow.
//!
//! Routes follow a change after it has lasted for a given time; a shorter one is ignored. A link that routes avoid carries no packets, even if it is repaired
//! already: a flow without another path has none until routes return to the link.

use fairlane_units::{Dur, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Start and end of each outage of a link; `MAX` for no end.
pub(crate) type Spans = Vec<(Time, Time)>;

/// Changes at one instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) at: Time,
    /// Ports that go down.
    pub(crate) close: Vec<u32>,
    /// Ports that come up.
    pub(crate) open: Vec<u32>,
    /// Number of the set of links that routes avoid from now on; `None` if unchanged.
    pub(crate) routes: Option<usize>,
}

/// All changes of a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    /// Sets of links that routes avoid; the first one is empty.
    pub(crate) avoided: Vec<BTreeSet<u32>>,
}

/// Changes, of which `next` is the first one to come.
#[derive(Clone, Debug)]
pub(crate) struct Outages {
    pub(crate) changes: std::sync::Arc<[Change]>,
    pub(crate) next: usize,
}

/// Spans in which routes avoid a link: they follow a change after it has lasted for `after`.
fn known(down: &Spans, after: Dur) -> Spans {
    let edges: Vec<(Time, bool)> = down.iter().flat_map(|&(a, b)| [(a, true), (b, false)]).filter(|e| e.0 != Time::MAX).collect();
    let mut spans: Spans = Vec::new();
    let mut avoided = false;
    for (k, &(at, fails)) in edges.iter().enumerate() {
        let next = edges.get(k + 1).map_or(Time::MAX, |e| e.0);
        let seen = at.later(after);
        if seen < next && fails != avoided {
            avoided = fails;
            match spans.last_mut() {
                Some(last) if !fails => last.1 = seen,
                _ => spans.push((seen, Time::MAX)),
            }
        }
    }
    spans
}

/// Merges overlapping spans, and sorts them.
pub(crate) fn merged(mut spans: Spans) -> Spans {
    spans.sort_unstable();
    let mut out: Spans = Vec::new();
    for (a, b) in spans {
        match out.last_mut() {
            Some(last) if a <= last.1 => last.1 = last.1.max(b),
            _ => out.push((a, b)),
        }
    }
    out
}

/// Ports whose links fail, come up, are avoided by routes from then on, and are not any more, at one instant.
#[derive(Default)]
struct Edges {
    close: Vec<u32>,
    open: Vec<u32>,
    avoid: Vec<u32>,
    allow: Vec<u32>,
}

impl Plan {
    /// Plans the changes for the outages of each port, which must not overlap. `reroute` is the delay of routes; `None`: they never change.
    pub(crate) fn new(down: &BTreeMap<u32, Spans>, reroute: Option<Dur>) -> Self {
        let seen: Vec<Spans> = down.values().map(|spans| reroute.map_or(Vec::new(), |after| known(spans, after))).collect();
        let closed: Vec<Spans> = down.values().zip(&seen).map(|(d, s)| merged([&d[..], &s[..]].concat())).collect();
        let mut edges: BTreeMap<Time, Edges> = BTreeMap::new();
        for ((&port, seen), closed) in down.keys().zip(&seen).zip(&closed) {
            for &(a, b) in closed {
                edges.entry(a).or_default().close.push(port);
                edges.entry(b).or_default().open.push(port);
            }
            for &(a, b) in seen {
                edges.entry(a).or_default().avoid.push(port);
                edges.entry(b).or_default().allow.push(port);
            }
        }
        edges.remove(&Time::MAX);
        let mut plan = Self { changes: Vec::new(), avoided: vec![BTreeSet::new()] };
        let mut numbers = BTreeMap::from([(BTreeSet::new(), 0)]);
        let (mut avoided, mut now) = (BTreeSet::new(), 0);
        for (at, Edges { close, open, avoid, allow }) in edges {
            allow.iter().for_each(|port| _ = avoided.remove(port));
            avoided.extend(avoid);
            let set = numbers.get(&avoided).copied().unwrap_or_else(|| {
                numbers.insert(avoided.clone(), plan.avoided.len());
                plan.avoided.push(avoided.clone());
                plan.avoided.len() - 1
            });
            let routes = (set != now).then_some(set);
            now = set;
            plan.changes.push(Change { at, close, open, routes });
        }
        plan
    }
}

/// Outages of a port's link.
#[derive(Clone, Debug)]
pub(crate) struct FailureSchedule<Q> {
    /// The queue as it was built, which replaces it after a failure: Linux resets a queue (`qdisc_reset`) when an interface goes down.
    pub(crate) fresh: Q,
    /// Outages of the link.
    pub(crate) down: Spans,
}

impl<Q> FailureSchedule<Q> {
    /// Returns the parts of a span in which the link is up.
    pub(crate) fn up(&self, from: Time, to: Time) -> impl Iterator<Item = (Time, Time)> {
        let ends = self.down.iter().map(|d| (d.0, d.1)).chain([(Time::MAX, Time::MAX)]);
        let mut up = Time::ZERO;
        ends.filter_map(move |(fails, back)| {
            let part = (up.max(from), fails.min(to));
            up = back;
            (part.0 < part.1).then_some(part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(n: u64) -> Time {
        Time::from_ps(n * 1_000_000_000_000)
    }

    #[test]
    fn routes_follow_what_has_lasted() {
        let after = Dur::from_secs(3);
        assert_eq!(known(&vec![(s(10), s(20))], after), [(s(13), s(23))]);
        assert_eq!(known(&vec![(s(10), s(12))], after), [], "too short to be seen");
        assert_eq!(known(&vec![(s(10), s(20)), (s(22), s(30))], after), [(s(13), s(33))], "the repair was too short");
        assert_eq!(known(&vec![(s(10), Time::MAX)], after), [(s(13), Time::MAX)]);
        assert_eq!(known(&vec![(s(10), s(20))], Dur::ZERO), [(s(10), s(20))]);
    }

    #[test]
    fn a_plan_has_one_table_for_each_set_of_links() {
        let down = BTreeMap::from([(4, vec![(s(10), s(20)), (s(50), s(60))]), (7, vec![(s(15), s(25))])]);
        let plan = Plan::new(&down, Some(Dur::from_secs(1)));
        let sets: Vec<Vec<u32>> = plan.avoided.iter().map(|s| s.iter().copied().collect()).collect();
        assert_eq!(sets, [vec![], vec![4], vec![4, 7], vec![7]]);
        let change = |at, close: &[u32], open: &[u32], routes| Change { at: s(at), close: close.to_vec(), open: open.to_vec(), routes };
        let wanted = [
            change(10, &[4], &[], None),
            change(11, &[], &[], Some(1)),
            change(15, &[7], &[], None),
            change(16, &[], &[], Some(2)),
            change(21, &[], &[4], Some(3)),
            change(26, &[], &[7], Some(0)),
            change(50, &[4], &[], None),
            change(51, &[], &[], Some(1)),
            change(61, &[], &[4], Some(0)),
        ];
        assert_eq!(plan.changes, wanted);
        let never = Plan::new(&down, None);
        assert_eq!(never.changes.iter().map(|c| c.at).collect::<Vec<_>>(), [10, 15, 20, 25, 50, 60].map(s));
        assert!(never.changes.iter().all(|c| c.routes.is_none()) && never.avoided.len() == 1);
    }
}
