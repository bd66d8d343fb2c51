//! UDP: every write is a datagram on its way at once.

use fairlane_net::{Class, Cx, ENDLESS, Ecn, Endpoint, FlowView, Segment, TimerId};
use fairlane_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest payload of a datagram over IPv4 without jumbograms: 65,535 less 20 bytes of IP and 8 of UDP header (RFC 768, RFC 791).
pub const MAX_DATAGRAM: u64 = 65_507;

/// UDP sends each write as one datagram, without feedback, recovery or rate control (RFC 768).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UdpParams {
    /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768); ns-2 counts none.
    #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
    pub header: Bytes,
    /// ECN field of every datagram: what queues may do to it besides dropping it (RFC 3168 section 5).
    pub ecn: UdpEcn,
}

/// The ECN field that a sender of datagrams sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UdpEcn {
    /// Not ECN-capable: queues drop.
    #[default]
    NotEct,
    /// ECT(0): queues that can will mark.
    Ect0,
    /// ECT(1): the low-latency service of RFC 9331; for other queues the same as ECT(0).
    Ect1,
}

impl From<UdpEcn> for Ecn {
    fn from(e: UdpEcn) -> Self {
        match e {
            UdpEcn::NotEct => Self::NotEct,
            UdpEcn::Ect0 => Self::Ect0,
            UdpEcn::Ect1 => Self::Ect1,
        }
    }
}

impl Default for UdpParams {
    fn default() -> Self {
        Self { header: Bytes(28), ecn: UdpEcn::NotEct }
    }
}

impl UdpParams {
    /// The two ends of a flow whose packets carry `class`.
    pub fn build(&self, class: Class) -> (UdpSender, UdpReceiver) {
        let header = u32::try_from(self.header.get()).unwrap_or(u32::MAX >> 1);
        (UdpSender { header, class, ecn: self.ecn.into(), view: FlowView::default() }, UdpReceiver::default())
    }
}

/// The end that sends datagrams, numbered from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpSender {
    header: u32,
    class: Class,
    ecn: Ecn,
    view: FlowView,
}

impl Endpoint for UdpSender {
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_packet(&mut self, _: &Segment, _: &mut Cx<'_>) {}
    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}

    /// Writes above [`MAX_DATAGRAM`] become several datagrams. An endless write sends nothing: UDP has no rate of its own.
    fn on_write(&mut self, bytes: u64, _: bool, cx: &mut Cx<'_>) {
        if bytes >= ENDLESS {
            return;
        }
        let mut left = bytes;
        while left > 0 {
            let payload = left.min(MAX_DATAGRAM) as u16;
            left -= u64::from(payload);
            let mut seg = Segment::default();
            (seg.seq, seg.payload) = (self.view.data_segments, payload);
            seg.set_ecn(self.ecn);
            self.view.data_segments += 1;
            self.view.data_bytes += u64::from(payload);
            self.view.mss = u32::from(payload);
            cx.send(seg, u32::from(payload) + self.header, self.class);
        }
    }

    fn on_stop(&mut self, _: &mut Cx<'_>) {}

    fn view(&self) -> FlowView {
        self.view
    }
}

/// The end that receives them. It hands on every datagram once: a copy made on the way is told by its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UdpReceiver {
    /// One past the highest number seen.
    next: u64,
    /// Which of the [`WINDOW`] numbers below `next` were seen, bit 0 being `next - 1`.
    seen: u64,
}

/// Numbers that the receiver remembers; a datagram that comes later than this many others counts as new.
const WINDOW: u64 = 64;

impl UdpReceiver {
    fn is_new(&mut self, seq: u64) -> bool {
        if seq >= self.next {
            let shift = seq + 1 - self.next;
            self.seen = if shift < WINDOW { self.seen << shift | 1 } else { 1 };
            self.next = seq + 1;
            return true;
        }
        let back = self.next - 1 - seq;
        if back >= WINDOW {
            return true;
        }
        let bit = 1 << back;
        let new = self.seen & bit == 0;
        self.seen |= bit;
        new
    }
}

impl Endpoint for UdpReceiver {
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if self.is_new(seg.seq) {
            cx.delivered += u64::from(seg.payload);
        }
    }
    fn on_timer(&mut self, _: TimerId, _: &mut Cx<'_>) {}
    fn on_write(&mut self, _: u64, _: bool, _: &mut Cx<'_>) {}
    fn on_stop(&mut self, _: &mut Cx<'_>) {}
    fn view(&self) -> FlowView {
        FlowView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_net::{Out, Timers};
    use fairlane_units::Time;

    fn send(tx: &mut UdpSender, bytes: u64) -> Vec<Out> {
        let (mut out, mut timers) = (vec![], Timers::default());
        tx.on_write(bytes, false, &mut Cx::new(Time::ZERO, &mut out, &mut timers));
        out
    }

    fn receive(rx: &mut UdpReceiver, seq: u64) -> u64 {
        let (mut out, mut timers) = (vec![], Timers::default());
        let mut cx = Cx::new(Time::ZERO, &mut out, &mut timers);
        let mut seg = Segment::default();
        (seg.seq, seg.payload) = (seq, 100);
        rx.on_packet(&seg, &mut cx);
        cx.delivered
    }

    /// RFC 791 and 768: 20 + 8 bytes of header; ns-2's none.
    #[test]
    fn a_write_is_a_datagram() {
        let (mut tx, _) = UdpParams::default().build(Class(46));
        let out = [send(&mut tx, 1000), send(&mut tx, 1)].concat();
        let got: Vec<_> = out.iter().map(|o| (o.seg.seq, o.seg.payload, o.len, o.class)).collect();
        assert_eq!(got, [(0, 1000, 1028, Class(46)), (1, 1, 29, Class(46))]);
        let (mut bare, _) = serde_json::from_str::<UdpParams>(r#"{"header":"0B"}"#).unwrap().build(Class(0));
        assert_eq!(send(&mut bare, 1500)[0].len, 1500);
        assert_eq!((tx.view().data_segments, tx.view().data_bytes), (2, 1001));
    }

    #[test]
    fn large_and_endless_writes() {
        let (mut tx, _) = UdpParams::default().build(Class(0));
        let sizes: Vec<_> = send(&mut tx, 2 * MAX_DATAGRAM + 5).iter().map(|o| u64::from(o.seg.payload)).collect();
        assert_eq!(sizes, [MAX_DATAGRAM, MAX_DATAGRAM, 5]);
        assert!(send(&mut tx, ENDLESS).is_empty() && send(&mut tx, 0).is_empty());
    }

    #[test]
    fn copies_are_delivered_once() {
        let mut rx = UdpReceiver::default();
        let order = [0, 1, 1, 3, 2, 3, 2, 100, 50, 50, 101, 164, 101, 0];
        let got: Vec<bool> = order.iter().map(|&s| receive(&mut rx, s) > 0).collect();
        // 0 at the end is more than 64 numbers late.
        let want = [true, true, false, true, true, false, false, true, true, false, true, true, false, true];
        assert_eq!(got, want);
    }
}
