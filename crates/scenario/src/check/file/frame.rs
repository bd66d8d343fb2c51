//! A captured frame.

/// A packet of a capture file.
pub(super) struct Frame<'a> {
    /// Nanoseconds since the epoch of the capture.
    pub(super) time: i128,
    /// Link type of the capturing interface.
    pub(super) link: u32,
    /// Captured bytes.
    pub(super) bytes: &'a [u8],
    /// Length on the wire.
    pub(super) length: u32,
}
