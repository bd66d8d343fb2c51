//! The receiver of RAP: an acknowledgment for every packet, which also tells of the last hole, so that a lost acknowledgment costs nothing.

use crate::rate::arrivals::Arrivals;
use crate::rate::back::Back;
use crate::rate::pack;
use fairlane_net::{Class, Cx, Ecn, Endpoint, FlowView, Segment, TimerId, flag};

/// The end that acknowledges. Packets are numbered from 1 here; 0 stands for none.
#[derive(Clone, Debug)]
pub struct RapReceiver {
    /// Length of an acknowledgment on the wire.
    length: u32,
    class: Class,
    arrivals: Arrivals,
    back: Back,
    acks: u64,
}

impl RapReceiver {
    pub(super) fn new(length: u32, class: Class, back: Back) -> Self {
        Self { length, class, arrivals: Arrivals::default(), back, acks: 0 }
    }
}

impl Endpoint for RapReceiver {
    fn start(&mut self, _: &mut Cx<'_>) {}

    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.payload == 0 {
            return;
        }
        let number = seg.seq.saturating_add(1);
        if self.arrivals.note(number) {
            cx.delivered += u64::from(seg.payload);
        }
        let (missing, before) = self.arrivals.hole();
        let mark = if seg.ecn() == Ecn::Ce { flag::ECE } else { 0 };
        let mut ack = Segment::new(self.acks, number, mark, 0);
        pack(&mut ack, [self.arrivals.highest, missing, before, 0]);
        self.acks += 1;
        cx.send(ack, self.length, self.class);
    }

    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}
    fn on_write(&mut self, bytes: u64, _: bool, cx: &mut Cx<'_>) {
        self.back.write(bytes, cx);
    }

    fn on_stop(&mut self, _: &mut Cx<'_>) {}

    fn view(&self) -> FlowView {
        FlowView { acks: self.acks, ..FlowView::default() }
    }
}
