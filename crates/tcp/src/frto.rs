//! State of F-RTO (RFC 5682).

/// Acknowledgment that F-RTO waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// No acknowledgment: not in progress, or decided.
    #[default]
    Off,
    /// The first after the retransmission (step 2).
    First,
    /// The first acknowledgment after new data was sent (step 3).
    Second,
}
