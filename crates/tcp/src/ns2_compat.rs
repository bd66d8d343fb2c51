//! State that only the ns-2 preset needs.

/// Behaviour of ns-2's agents that no RFC describes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ns2Compat {
    /// True while nothing is sent until the retransmission timer expires (`fack_lost_again_stops`, `vegas_inflates_cwnd`).
    pub(crate) output_stopped: bool,
    /// True if FACK's rampdown takes three quarters of the window instead of half (`fack_overdamping`).
    pub(crate) overdamped: bool,
}
