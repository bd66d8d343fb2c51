//! Which rows are wanted.

use super::{Kind, Row};
use fairlane_units::Time;

/// Which rows are wanted; every condition that is there has to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Kinds of events; none given: all.
    pub kinds: Vec<Kind>,
    /// For each flow whether it is wanted; `None`: all.
    pub flows: Option<Vec<bool>>,
    /// For each link direction whether it is wanted, and nothing that happens elsewhere; `None`: all.
    pub links: Option<Vec<bool>>,
    /// From this instant on.
    pub from: Time,
    /// Up to this one.
    pub to: Time,
}

impl Default for Filter {
    fn default() -> Self {
        Self { kinds: Vec::new(), flows: None, links: None, from: Time::ZERO, to: Time::MAX }
    }
}

impl Filter {
    /// The kinds of events, a bit each.
    pub(super) fn set(&self) -> u16 {
        // Variables change with nearly every packet: they are recorded when they are named.
        if self.kinds.is_empty() { !Kind::Gauge.bit() } else { self.kinds.iter().fold(0, |all, k| all | k.bit()) }
    }

    /// Whether a row passes; `kinds`: what `set` gave.
    #[inline]
    pub(super) fn lets(&self, kinds: u16, row: &Row) -> bool {
        if kinds & row.kind.bit() == 0 || row.time < self.from || row.time > self.to {
            return false;
        }
        if let Some(flows) = &self.flows
            && !flows.get(row.flow as usize).is_some_and(|&wanted| wanted)
        {
            return false;
        }
        self.links.as_ref().is_none_or(|links| links.get(row.link as usize).is_some_and(|&wanted| wanted))
    }

    /// A filter that lets through whatever one of the two does, and more.
    #[must_use]
    pub(super) fn or(&self, other: &Self) -> Self {
        let either = |a: &Option<Vec<bool>>, b: &Option<Vec<bool>>| {
            let (Some(a), Some(b)) = (a, b) else { return None };
            Some(a.iter().zip(b).map(|(a, b)| a | b).collect())
        };
        let both = self.set() | other.set();
        Self {
            kinds: Kind::ALL.iter().copied().filter(|k| both & k.bit() != 0).collect(),
            flows: either(&self.flows, &other.flows),
            links: either(&self.links, &other.links),
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }
}
