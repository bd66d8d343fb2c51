//! A captured frame.

/// A packet of a capture.
pub(super) struct Frame<'a> {
    /// Nanoseconds since the epoch of the capture.
    pub(super) time: i128,
    /// Type of the link it was captured on.
    pub(super) link: u32,
    /// As much of it as was captured.
    pub(super) bytes: &'a [u8],
    /// Its length on the wire.
    pub(super) length: u32,
}
