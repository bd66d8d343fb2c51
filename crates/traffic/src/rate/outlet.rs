//! Common part of senders under rate control: the queue, packets, the reverse direction, and the counters. When a packet may
//! go is theirs to say.

use super::arrivals::Arrivals;
use super::back::{Back, receive};
use super::pack;
use super::queue::SendQueue;
use crate::udp::{MAX_DATAGRAM, UdpParams};
use fairlane_net::{Class, Cx, Ecn, FlowView, Segment};
use fairlane_units::Bytes;

/// The largest payload of a packet.
fn payload(size: Bytes) -> u16 {
    size.get().clamp(1, MAX_DATAGRAM) as u16
}

/// Length of all headers: those of UDP and what lies under it, and one of the rate control.
pub(super) fn headers(udp: &UdpParams, own: Bytes) -> u32 {
    u32::try_from(udp.header.get() + own.get()).unwrap_or(u32::MAX >> 1)
}

/// The receiver's own datagrams, next to a rate control with packets of `size`.
pub(super) fn back(size: Bytes, udp: &UdpParams, class: Class) -> Back {
    Back::new(payload(size), headers(udp, Bytes(0)), class, udp.ecn.into())
}

/// The way out of a sender.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    pub(super) size: u16,
    header: u32,
    class: Class,
    ecn: Ecn,
    pub(super) queue: SendQueue,
    /// True if a control keeps the flow closed: it is as if the application had nothing to send.
    pub(super) held: bool,
    /// Datagrams from the other end besides reports.
    arrivals: Arrivals,
    pub(super) view: FlowView,
}

impl Outlet {
    /// Packets of `size` at most with a header of `own` over that of UDP; `buffer` bytes may wait.
    pub(super) fn new(size: Bytes, own: Bytes, buffer: Bytes, udp: &UdpParams, class: Class) -> Self {
        let size = payload(size);
        Self {
            size,
            header: headers(udp, own),
            class,
            ecn: udp.ecn.into(),
            queue: SendQueue::new(buffer.get()),
            held: false,
            arrivals: Arrivals::default(),
            view: FlowView { mss: u32::from(size), ssthresh: u64::MAX, ..FlowView::default() },
        }
    }

    /// Sends the next packet with these numbers in its header; its payload, or nothing if nothing waits.
    pub(super) fn send(&mut self, header: [u64; 4], cx: &mut Cx<'_>) -> Option<u16> {
        let payload = self.queue.pop(u64::from(self.size))?;
        let mut seg = Segment::new(self.view.data_segments, 0, 0, payload);
        pack(&mut seg, header);
        seg.set_ecn(self.ecn);
        cx.send(seg, u32::from(payload) + self.header, self.class);
        self.view.data_segments += 1;
        self.view.data_bytes += u64::from(payload);
        Some(payload)
    }

    /// Takes a datagram of the other end.
    pub(super) fn receive(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        receive(&mut self.arrivals, seg, cx);
    }
}
