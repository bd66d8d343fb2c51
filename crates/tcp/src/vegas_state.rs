//! State of the recovery scheme `vegas`.

use std::ops::Range;

/// State of retransmission by a fine clock (Brakmo and Peterson 1995 section 3.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct VegasState {
    /// Acknowledgments after a retransmission that still check for overdue segments.
    pub(crate) overdue_checks: u8,
    /// Ends of new segments that ns-2's table takes for retransmissions (`vegas_send_table`), newest first.
    stale: Option<[Range<u64>; 2]>,
}

impl VegasState {
    pub(crate) fn new(send_table: bool) -> Self {
        Self { overdue_checks: 0, stale: send_table.then_some([0..0, 0..0]) }
    }

    /// True if the table takes a new segment that ends at `end` for a retransmission.
    pub(crate) fn is_stale(&self, end: u64) -> bool {
        self.stale.as_ref().is_some_and(|s| s.iter().any(|r| r.contains(&end)))
    }

    /// Adds the ends of segments whose entries were not cleared.
    pub(crate) fn add_stale(&mut self, ends: Range<u64>) {
        if let Some(s) = &mut self.stale {
            s.swap(0, 1);
            s[0] = ends;
        }
    }

    /// True if there is a table and its newest stale entries are other than `ends`.
    pub(crate) fn newest_stale_differs(&self, ends: &Range<u64>) -> bool {
        self.stale.as_ref().is_some_and(|s| s[0] != *ends)
    }
}
