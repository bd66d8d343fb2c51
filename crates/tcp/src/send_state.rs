//! What an end has of its sending half once it sends: the receiver of a flow that goes one way never does.

use crate::scoreboard::Scoreboard;
use crate::state::FIRST;
use fairlane_units::Time;
use std::ops::{Deref, DerefMut};

/// Counters of [`FlowView`](fairlane_net::FlowView).
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    pub(crate) data_segments: u64,
    pub(crate) retransmit_bytes: u64,
    pub(crate) retransmits: u32,
    pub(crate) timeouts: u32,
    pub(crate) fast_recoveries: u32,
    pub(crate) cwnd_cuts: u32,
    pub(crate) dsacks: u32,
}

/// State of the sending half that an end has no use for before it sends data.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sending {
    pub(crate) board: Scoreboard,
    /// Last transmission of data.
    pub(crate) last_sent: Time,
    pub(crate) round: u64,
    pub(crate) round_end: u64,
    pub(crate) count: Counters,
    /// Inflation of the window by duplicate acknowledgments.
    pub(crate) inflation: u64,
    /// What partial acknowledgments took beyond the inflation.
    pub(crate) deflated: u64,
    /// The counted pipe of SACK recovery.
    pub(crate) pipe: u64,
    /// Bytes sent by limited transmit since the last acknowledgment of new data.
    pub(crate) limited_bytes: u64,
    /// SND.NXT when the last loss event began (`recover` of RFC 6582, RecoveryPoint of RFC 6675).
    pub(crate) recover: u64,
    /// End of the segment being timed.
    pub(crate) timed_end: u64,
    /// What the acknowledgment at hand newly acknowledged and SACKed.
    pub(crate) fresh_acked: u64,
    pub(crate) fresh_sacked: u64,
    /// SND.UNA before it, with what was SACKed, and what had been deemed lost.
    pub(crate) una_before: u64,
    pub(crate) delivered_before: u64,
    pub(crate) marked_before: u64,
    /// Where the round trip of `was_limited` and `most_out` ends.
    pub(crate) used_until: u64,
}

impl Sending {
    const IDLE: Self = Self {
        board: Scoreboard::EMPTY,
        last_sent: Time::ZERO,
        round: 0,
        round_end: FIRST,
        count: Counters { data_segments: 0, retransmit_bytes: 0, retransmits: 0, timeouts: 0, fast_recoveries: 0, cwnd_cuts: 0, dsacks: 0 },
        inflation: 0,
        deflated: 0,
        pipe: 0,
        limited_bytes: 0,
        recover: 0,
        timed_end: 0,
        fresh_acked: 0,
        fresh_sacked: 0,
        una_before: FIRST,
        delivered_before: FIRST,
        marked_before: 0,
        used_until: 0,
    };
}

static IDLE: Sending = Sending::IDLE;

/// [`Sending`], made when something in it is first changed; until then it is read as it begins. Both ways of having it are a pointer at the same place, so that
/// reading asks nothing.
#[derive(Clone, Debug)]
pub(crate) enum Tx {
    /// Nothing was ever changed.
    Idle(&'static Sending),
    /// One's own.
    Own(Box<Sending>),
}

impl Default for Tx {
    fn default() -> Self {
        Self::Idle(&IDLE)
    }
}

impl Deref for Tx {
    type Target = Sending;
    #[inline]
    fn deref(&self) -> &Sending {
        match self {
            Self::Idle(s) => s,
            Self::Own(s) => s,
        }
    }
}

impl DerefMut for Tx {
    #[inline]
    fn deref_mut(&mut self) -> &mut Sending {
        if let Self::Idle(_) = self {
            self.begin();
        }
        match self {
            Self::Own(s) => s,
            Self::Idle(_) => unreachable!("it was made"),
        }
    }
}

impl Tx {
    /// To be changed, where there is any.
    #[inline]
    pub(crate) fn own(&mut self) -> Option<&mut Sending> {
        match self {
            Self::Own(s) => Some(s),
            Self::Idle(_) => None,
        }
    }

    #[cold]
    fn begin(&mut self) {
        *self = Self::Own(Box::new(Sending::IDLE));
    }
}
