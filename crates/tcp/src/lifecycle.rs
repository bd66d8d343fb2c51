//! Connection state used at the start, at the end and for errors.

use crate::ns3_socket::Ns3Socket;
use fairlane_units::{Dur, Time};
use std::ops::{Deref, DerefMut};

/// How a connection ended, other than by closing both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// It has not ended, or both ends closed it.
    #[default]
    No,
    /// The peer refused it.
    Refused,
    /// The peer reset it.
    Reset,
    /// This end reset it.
    Aborted,
}

/// State that most connections of a large network never need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    pub(crate) peer_closed_first: bool,
    pub(crate) ended: Ended,
    /// Latest start of TIME-WAIT.
    pub(crate) time_wait_since: Time,
    pub(crate) challenges: ChallengeLimit,
    pub(crate) ns3: Ns3Socket,
}

impl Lifecycle {
    const NEW: &Self = &Self {
        peer_closed_first: false,
        ended: Ended::No,
        time_wait_since: Time::ZERO,
        challenges: ChallengeLimit { left: 0, renewed_at: Time::ZERO },
        ns3: Ns3Socket::NEW,
    };
}

/// Rate limit of challenge ACKs (RFC 5961 section 7).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChallengeLimit {
    /// Challenge ACKs left in this interval.
    left: u32,
    /// End of the interval.
    renewed_at: Time,
}

impl ChallengeLimit {
    /// Takes one of `count` challenge ACKs per `interval`; returns true if one was left.
    pub(crate) fn take(&mut self, now: Time, count: u32, interval: Dur) -> bool {
        if now >= self.renewed_at {
            (self.left, self.renewed_at) = (count, now + interval);
        }
        let allowed = self.left != 0;
        self.left -= u32::from(allowed);
        allowed
    }
}

/// [`Lifecycle`], allocated by the first change.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyLifecycle(Option<Box<Lifecycle>>);

impl Deref for LazyLifecycle {
    type Target = Lifecycle;
    fn deref(&self) -> &Lifecycle {
        self.0.as_deref().unwrap_or(Lifecycle::NEW)
    }
}

impl DerefMut for LazyLifecycle {
    fn deref_mut(&mut self) -> &mut Lifecycle {
        self.0.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5961 section 7: a limited number of challenge ACKs in an interval.
    #[test]
    fn challenge_acks_are_limited_per_interval() {
        let mut c = ChallengeLimit::default();
        let taken = |c: &mut ChallengeLimit, ms| (0..4).filter(|_| c.take(Time::ZERO + Dur::from_ms(ms), 2, Dur::from_secs(5))).count();
        assert_eq!([taken(&mut c, 0), taken(&mut c, 4999), taken(&mut c, 5000)], [2, 0, 2]);
    }
}
