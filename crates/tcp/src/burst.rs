//! Bursts of segmentation offload.

/// A burst that is being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    /// Segments left in the burst.
    pub(crate) left: u8,
    /// True if the burst has several segments.
    several: bool,
    /// True if the next burst waits for room in the window.
    pub(crate) deferred: bool,
    /// True if no segment is deferred.
    pub(crate) pushed: bool,
}

impl Burst {
    /// Starts a burst of `segments`, the first of which goes out now.
    pub(crate) fn of(segments: u64, pushed: bool) -> Self {
        Self { left: (segments - 1) as u8, several: segments > 1, deferred: false, pushed }
    }

    /// True if the segment that leaves now ends a burst of several.
    pub(crate) fn ends(self) -> bool {
        self.several && self.left == 0
    }
}
