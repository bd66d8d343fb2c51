//! Parameters of TCP that congestion control uses.

use crate::choices::{EcnMode, GrowthUnit, HystartRounds, LossBasis, SlowStart};
use crate::quantum::Quantum;
use fairlane_units::Dur;

/// Parameters of a connection for its congestion control, checked and in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct CcConfig {
    pub(crate) smss: u32,
    /// Limit of the send window; `u64::MAX` for none.
    pub(crate) window: u64,
    pub(crate) initial_window: u64,
    pub(crate) initial_ssthresh: u64,
    pub(crate) max_ssthresh: u64,
    pub(crate) byte_counting: Option<u32>,
    pub(crate) avoidance_counts_all: bool,
    pub(crate) growth_unit: GrowthUnit,
    pub(crate) grow_by_delivered: bool,
    pub(crate) slow_start: Option<SlowStart>,
    pub(crate) hystart_divisor: f64,
    pub(crate) hystart_min: Dur,
    pub(crate) hystart_max: Dur,
    pub(crate) hystart_train: f64,
    pub(crate) hystart_rounds: HystartRounds,
    pub(crate) cwnd_validation: bool,
    pub(crate) loss_basis: LossBasis,
    pub(crate) ssthresh_whole_segments: bool,
    pub(crate) timeout_cuts_again: bool,
    pub(crate) pacing: bool,
    pub(crate) pacing_slow_start: f64,
    /// Burst that pacing lets out at once.
    pub(crate) quantum: Quantum,
    pub(crate) abe: bool,
    pub(crate) ecn: EcnMode,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) tso: bool,
}

/// Window parameters of TCP in bytes, for algorithms that keep their own window instead of a [`super::Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRules {
    /// Largest payload of a segment (SMSS).
    pub mss: u32,
    /// Initial slow-start threshold; `u64::MAX`: arbitrarily high.
    pub initial_ssthresh: u64,
    /// Limit of the send window; `u64::MAX`: none.
    pub cap: u64,
    /// Most segments that an acknowledgment counts for (RFC 3465); `None`: one each.
    pub byte_counting: Option<u32>,
    /// True if the window grows only while it limits the sender (RFC 7661 section 4.3).
    pub cwnd_validation: bool,
    /// Base of the reduction after a loss.
    pub loss_basis: LossBasis,
    /// True if the slow-start threshold is a whole number of segments.
    pub whole_segments: bool,
    /// True if each timeout in a row lowers the threshold again.
    pub timeout_cuts_again: bool,
}

impl CcConfig {
    /// Maximum segment size in bytes.
    pub fn mss(&self) -> u32 {
        self.smss
    }

    /// Window parameters for plug-ins.
    pub fn window_rules(&self) -> WindowRules {
        WindowRules {
            mss: self.smss,
            initial_ssthresh: self.initial_ssthresh,
            cap: self.window,
            byte_counting: self.byte_counting,
            cwnd_validation: self.cwnd_validation,
            loss_basis: self.loss_basis,
            whole_segments: self.ssthresh_whole_segments,
            timeout_cuts_again: self.timeout_cuts_again,
        }
    }
}
