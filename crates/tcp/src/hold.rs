//! Actions deferred while an endpoint is held.

use crate::features::Features;

/// Actions to make up for when the hold ends, and the features to restore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredActions {
    /// Features before the hold.
    pub(crate) features: Features,
    /// True if the connection is to be opened.
    pub(crate) open: bool,
    /// SND.UNA at a retransmission that ignores the window.
    pub(crate) resend: Option<u64>,
    /// True if the timer of RACK and of the loss probe expired.
    pub(crate) probe: bool,
    /// SND.UNA at the expiry of the retransmission timer.
    pub(crate) timeout: Option<u64>,
    /// True if the device is full: losses are still detected, but retransmissions do not leave.
    pub(crate) device: bool,
}

impl DeferredActions {
    pub(crate) fn new(features: Features) -> Self {
        Self { features, open: false, resend: None, probe: false, timeout: None, device: false }
    }
}
