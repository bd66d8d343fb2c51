//! Actions deferred while an endpoint is held.

/// What a held end puts off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The flags `straight` and `watched` as they were.
    pub(crate) straight: bool,
    pub(crate) watched: bool,
    /// It was to open the connection.
    pub(crate) opens: bool,
    /// A segment was to go out again at once, whatever the window says; the oldest unacknowledged number at that time.
    pub(crate) owes: Option<u64>,
    /// The timer of RACK and of the loss probe went off.
    pub(crate) probe: bool,
    /// It is the device that takes nothing: losses are found as before, only what is to be sent again does not get out.
    pub(crate) device: bool,
    /// The retransmission timer went off, with this as the oldest unacknowledged number.
    pub(crate) timeout: Option<u64>,
}
