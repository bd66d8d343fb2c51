//! State of proportional rate reduction (RFC 9937).

/// What a reduction answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// None goes on.
    #[default]
    None,
    /// A loss: it ends with fast recovery.
    Loss,
    /// An ECN echo: it ends with the round trip.
    Echo,
}

/// State of a reduction, all in bytes (RFC 9937 section 6.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Reducer {
    pub(crate) kind: Reduction,
    /// prr_delivered.
    pub(crate) delivered: u64,
    /// prr_out.
    pub(crate) out: u64,
    /// RecoverFS.
    pub(crate) base: u64,
    /// What may be in flight.
    pub(crate) window: u64,
    /// SND.NXT when the answer to an ECN echo began.
    pub(crate) end: u64,
}
