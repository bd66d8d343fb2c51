//! Loss events of a queue: they show global synchronisation.

use crate::ids::FlowId;
use fairlane_units::Time;

/// Loss events of a queue, and the TCP flows that each of them hit.
///
/// An event begins with the drop of a data packet. It includes all drops within one round-trip time, the mean one of that packet's flow: their senders have
/// not yet reacted to the first drop. Flows hit by the same events halve their windows at the same time (Hassayoun and Ros 2008).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossEvents {
    /// Loss events.
    pub events: u64,
    /// Flows hit, each counted once per event.
    pub hits: u64,
    until: Time,
    /// Number of the last event that hit each flow; 0 for none.
    last: Vec<u64>,
}

impl LossEvents {
    /// No loss yet.
    pub(crate) const NONE: Self = Self { events: 0, hits: 0, until: Time::ZERO, last: Vec::new() };
    /// Counts a dropped data packet of `flow`; `rtt_ps` is its mean round-trip time, 0 before the first measurement.
    #[cold]
    pub(crate) fn lost(&mut self, flow: FlowId, now: Time, rtt_ps: u64) {
        if self.events == 0 || now > self.until {
            self.events += 1;
            self.until = now.later(fairlane_units::Dur::from_ps(rtt_ps));
        }
        let i = flow.0 as usize;
        if self.last.len() <= i {
            self.last.resize(i + 1, 0);
        }
        if self.last[i] != self.events {
            self.last[i] = self.events;
            self.hits += 1;
        }
    }

    /// Number of flows hit at least once.
    pub fn flows_hit(&self) -> u64 {
        self.last.iter().filter(|event| **event > 0).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows that lose within a round trip of the first loss are one event; a third, after it, begins another.
    #[test]
    fn an_event_lasts_a_round_trip() {
        let mut t = LossEvents::default();
        let ms = |n: u64| Time::from_ps(n * 1_000_000_000);
        for (flow, at) in [(0, 100), (0, 110), (3, 120), (1, 151), (0, 160)] {
            t.lost(FlowId(flow), ms(at), 50_000_000_000);
        }
        assert_eq!((t.events, t.hits), (2, 4));
    }
}
