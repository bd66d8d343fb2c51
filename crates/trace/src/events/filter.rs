//! Filter of event rows.

use super::{Kind, Row};
use fairlane_units::Time;

/// Selects rows; every given condition must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Kinds of events; empty selects all.
    pub kinds: Vec<Kind>,
    /// True for each selected flow; `None` selects all.
    pub flows: Option<Vec<bool>>,
    /// True for each selected link direction; events elsewhere are excluded; `None` selects all.
    pub links: Option<Vec<bool>>,
    /// First time.
    pub from: Time,
    /// Last time.
    pub to: Time,
}

impl Default for Filter {
    fn default() -> Self {
        Self { kinds: Vec::new(), flows: None, links: None, from: Time::ZERO, to: Time::MAX }
    }
}

impl Filter {
    /// Selected kinds of events, one bit each.
    pub(super) fn set(&self) -> u16 {
        // Gauges change with nearly every packet: they are recorded only if named.
        if self.kinds.is_empty() { !Kind::Gauge.bit() } else { self.kinds.iter().fold(0, |all, k| all | k.bit()) }
    }

    /// True if a row passes; `kinds`: result of `set`.
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

    /// Returns a filter that passes at least the rows of both.
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
