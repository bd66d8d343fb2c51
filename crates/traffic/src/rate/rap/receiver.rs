//! The receiver of RAP: an acknowledgment for every packet, which also tells of the last hole, so that a lost acknowledgment costs nothing.

use crate::rate::pack;
use fairlane_net::{Class, Cx, Ecn, Endpoint, FlowView, Segment, TimerId, flag};

/// Numbers below the highest for which it is known whether they arrived.
const WINDOW: u64 = 128;

/// The end that acknowledges. Packets are numbered from 1 here; 0 stands for none.
#[derive(Clone, Debug)]
pub struct RapReceiver {
    /// Length of an acknowledgment on the wire.
    length: u32,
    class: Class,
    /// Highest number received.
    highest: u64,
    /// Which of the numbers up to it have arrived, bit 0 being the highest.
    here: u128,
    acks: u64,
}

impl RapReceiver {
    pub(super) fn new(length: u32, class: Class) -> Self {
        Self { length, class, highest: 0, here: 0, acks: 0 }
    }

    /// Whether a number arrives for the first time; one out of the window counts as new.
    fn note(&mut self, number: u64) -> bool {
        if number > self.highest {
            let shift = number - self.highest;
            self.here = if shift < WINDOW { self.here << shift | 1 } else { 1 };
            self.highest = number;
            return true;
        }
        let back = self.highest - number;
        if back >= WINDOW {
            return true;
        }
        let new = self.here >> back & 1 == 0;
        self.here |= 1 << back;
        new
    }

    /// The last packet missing before the highest, and the last one received before that; 0 for none.
    fn hole(&self) -> (u64, u64) {
        let missing = u64::from((!self.here).trailing_zeros());
        if missing >= self.highest.min(WINDOW) {
            return (0, 0);
        }
        let below = self.here >> missing;
        let received = missing + u64::from(below.trailing_zeros());
        (self.highest - missing, if below == 0 { 0 } else { self.highest - received })
    }
}

impl Endpoint for RapReceiver {
    fn start(&mut self, _: &mut Cx<'_>) {}

    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.payload == 0 {
            return;
        }
        let number = seg.seq.saturating_add(1);
        if self.note(number) {
            cx.delivered += u64::from(seg.payload);
        }
        let (missing, before) = self.hole();
        let mark = if seg.ecn() == Ecn::Ce { flag::ECE } else { 0 };
        let mut ack = Segment::new(self.acks, number, mark, 0);
        pack(&mut ack, [self.highest, missing, before, 0]);
        self.acks += 1;
        cx.send(ack, self.length, self.class);
    }

    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}
    fn on_write(&mut self, _: u64, _: bool, _: &mut Cx<'_>) {}
    fn on_stop(&mut self, _: &mut Cx<'_>) {}

    fn view(&self) -> FlowView {
        FlowView { acks: self.acks, ..FlowView::default() }
    }
}
