//! Which flows lose together at a queue: global synchronisation, as far as losses show it.

use crate::ids::FlowId;
use fairlane_units::Time;

/// Loss events of a queue and the TCP flows that each of them hit.
///
/// An event begins with the drop of a data packet and takes in what is dropped within a round trip of it (the mean one that the flow of that
/// packet has measured): losses of that time are news to their senders before any of them has seen what its answer did. Flows that are hit by the
/// same events halve their windows together (Hassayoun and Ros 2008).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossesTogether {
    /// Loss events.
    pub events: u64,
    /// Flows hit by them, each flow once an event.
    pub hits: u64,
    until: Time,
    /// By flow, the number of the last event that hit it; 0 for none.
    last: Vec<u64>,
}

impl LossesTogether {
    /// Before any loss.
    pub(crate) const NONE: Self = Self { events: 0, hits: 0, until: Time::ZERO, last: Vec::new() };
    /// A data packet of `flow` was dropped; its round trip takes `rtt_ps`, 0 before the first measurement.
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

    /// Flows that were hit at all.
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
        let mut t = LossesTogether::default();
        let ms = |n: u64| Time::from_ps(n * 1_000_000_000);
        for (flow, at) in [(0, 100), (0, 110), (3, 120), (1, 151), (0, 160)] {
            t.lost(FlowId(flow), ms(at), 50_000_000_000);
        }
        assert_eq!((t.events, t.hits), (2, 4));
    }
}
