//! Bursts of segmentation offload.

/// The burst that is going out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    /// Segments of it that are still to go.
    pub(crate) left: u8,
    /// It has several.
    many: bool,
    /// The next one waits for room.
    pub(crate) waits: bool,
    /// True if no segment is deferred.
    pub(crate) pushed: bool,
}

impl Burst {
    /// Starts a burst of `segments`, the first of which goes out now.
    pub(crate) fn of(segments: u64, pushed: bool) -> Self {
        Self { left: (segments - 1) as u8, many: segments > 1, waits: false, pushed }
    }

    /// True if the segment that leaves now ends a burst of several.
    pub(crate) fn ends(self) -> bool {
        self.many && self.left == 0
    }
}
