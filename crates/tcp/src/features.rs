//! Features of an endpoint that select its code paths.

/// Features in force, set by the configuration and by the needs of the congestion control algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// True if no option needs every segment: acknowledgments may take `endpoint/fast_path.rs`.
    pub(crate) fast_path: bool,
    /// True if acknowledgments carry no option but SACK blocks, and no ECN feedback.
    pub(crate) plain_acks: bool,
    /// True if segments are paced.
    pub(crate) paced: bool,
    /// True if an option acts on every round of output.
    pub(crate) output_hooks: bool,
    /// True if the algorithm takes every acknowledgment, also in recovery.
    pub(crate) cc_every_ack: bool,
}
