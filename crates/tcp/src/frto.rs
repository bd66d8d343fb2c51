//! State of F-RTO (RFC 5682).

/// The acknowledgment that F-RTO waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// None: not in doubt, or settled.
    #[default]
    Off,
    /// The first after the retransmission (step 2).
    First,
    /// The first after new data went out (step 3).
    Second,
}
