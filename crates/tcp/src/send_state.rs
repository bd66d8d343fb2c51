//! State of the sending half, allocated by the first change: a receiver that sends no data has none.

use crate::cwnd_usage::CwndUsage;
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

/// State of the sending half that an end needs once it sends data.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct SendState {
    pub(crate) board: Scoreboard,
    /// Last transmission of data.
    pub(crate) last_sent: Time,
    pub(crate) round: u64,
    pub(crate) round_end: u64,
    pub(crate) count: Counters,
    /// Inflation of the window by duplicate acknowledgments.
    pub(crate) inflation: u64,
    /// Deflation by partial acknowledgments beyond the inflation.
    pub(crate) deflated: u64,
    /// The counted pipe of SACK recovery.
    pub(crate) pipe: u64,
    /// Bytes sent by limited transmit since the last acknowledgment of new data.
    pub(crate) limited_bytes: u64,
    /// SND.NXT when the last loss event began (`recover` of RFC 6582, RecoveryPoint of RFC 6675).
    pub(crate) recover: u64,
    /// End of the segment being timed; 0: none.
    pub(crate) timed_end: u64,
    /// Bytes that the current acknowledgment newly acknowledged, and newly SACKed.
    pub(crate) newly_acked: u64,
    pub(crate) newly_sacked: u64,
    /// SND.UNA before it, plus SACKed bytes, and bytes deemed lost by then.
    pub(crate) una_before: u64,
    pub(crate) delivered_before: u64,
    pub(crate) marked_before: u64,
    pub(crate) usage: CwndUsage,
    /// True after the first partial acknowledgment of this recovery (RFC 6582 section 3.2 step 3).
    pub(crate) partial_ack_seen: bool,
    /// True after the rescue retransmission of this recovery (RFC 6675 section 4 rule 4).
    pub(crate) rescue_sent: bool,
}

impl SendState {
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
        newly_acked: 0,
        newly_sacked: 0,
        una_before: FIRST,
        delivered_before: FIRST,
        marked_before: 0,
        usage: CwndUsage::NONE,
        partial_ack_seen: false,
        rescue_sent: false,
    };
}

static IDLE: SendState = SendState::IDLE;

/// [`SendState`], allocated by the first change and read as its initial value before. Both variants are a pointer at the same place, so
/// that reading takes no branch.
#[derive(Clone, Debug)]
pub(crate) enum LazySendState {
    /// The initial value.
    Idle(&'static SendState),
    /// Allocated state.
    Own(Box<SendState>),
}

impl Default for LazySendState {
    fn default() -> Self {
        Self::Idle(&IDLE)
    }
}

impl Deref for LazySendState {
    type Target = SendState;
    #[inline]
    fn deref(&self) -> &SendState {
        match self {
            Self::Idle(s) => s,
            Self::Own(s) => s,
        }
    }
}

impl DerefMut for LazySendState {
    #[inline]
    fn deref_mut(&mut self) -> &mut SendState {
        if let Self::Idle(_) = self {
            self.begin();
        }
        match self {
            Self::Own(s) => s,
            Self::Idle(_) => unreachable!("it was made"),
        }
    }
}

impl LazySendState {
    /// Returns the state for a change, if it is allocated.
    #[inline]
    pub(crate) fn own(&mut self) -> Option<&mut SendState> {
        match self {
            Self::Own(s) => Some(s),
            Self::Idle(_) => None,
        }
    }

    #[cold]
    fn begin(&mut self) {
        *self = Self::Own(Box::new(SendState::IDLE));
    }
}
