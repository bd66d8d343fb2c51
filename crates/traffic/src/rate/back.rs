//! The other direction: what is written at the receiving end, requests for instance. It goes as plain datagrams of UDP, at once; the rate control governs the data
//! of the flow alone.

use super::arrivals::Arrivals;
use fairlane_net::{Class, Cx, ENDLESS, Ecn, Segment};

/// Sends the datagrams.
#[derive(Clone, Debug)]
pub(super) struct Back {
    sent: u64,
    /// Largest payload.
    pub(super) size: u16,
    /// Length of the headers of IP and UDP.
    pub(super) header: u32,
    pub(super) class: Class,
    pub(super) ecn: Ecn,
}

impl Back {
    pub(super) fn new(size: u16, header: u32, class: Class, ecn: Ecn) -> Self {
        Self { sent: 0, size, header, class, ecn }
    }

    /// A write. One that never ends sends nothing: this direction has no rate.
    pub(super) fn write(&mut self, bytes: u64, cx: &mut Cx<'_>) {
        let mut left = if bytes < ENDLESS { bytes } else { 0 };
        while left > 0 {
            let payload = left.min(u64::from(self.size)) as u16;
            left -= u64::from(payload);
            let mut seg = Segment::new(self.sent, 0, 0, payload);
            seg.set_ecn(self.ecn);
            self.sent += 1;
            cx.send(seg, u32::from(payload) + self.header, self.class);
        }
    }
}

/// Takes one at the other end, each once.
pub(super) fn receive(arrivals: &mut Arrivals, seg: &Segment, cx: &mut Cx<'_>) {
    if arrivals.note(seg.seq.saturating_add(1)) {
        cx.delivered += u64::from(seg.payload);
    }
}
