//! When a link falls idle: its port does not tell, but the last departure does.

use fairlane_net::Packet;
use fairlane_units::{Rate, Time};

/// Watches departures and says at the next arrival since when the link has had nothing to send.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Idle {
    rate: Rate,
    /// When the last packet will have been sent.
    free_at: Option<Time>,
}

impl Idle {
    /// Before anything was sent.
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, free_at: None }
    }

    /// `p` starts its transmission.
    #[inline]
    pub(crate) fn departed(&mut self, p: &Packet, now: Time) {
        self.free_at = Some(now + self.rate.tx_time(u64::from(p.len)));
    }

    /// A packet arrives. Since when the link was idle, if it was; told once.
    #[inline]
    pub(crate) fn ended(&mut self, now: Time) -> Option<Time> {
        match self.free_at {
            Some(t) if t < now => self.free_at.take(),
            _ => None,
        }
    }
}
