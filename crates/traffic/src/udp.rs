//! UDP (RFC 768): both ends send and receive datagrams. A write is one datagram on its way at once; longer ones are sent at the rate of the first link.
//!
//! Deviation: a socket's buffer is shared by what leaves through one device. Here each flow takes the rate of the link for itself, so that flows which share
//! their first link overload it together.

use fairlane_net::{Class, Cx, ENDLESS, Ecn, Endpoint, FlowView, Segment, TimerId, Usage};
use fairlane_units::{Bytes, Rate};

/// Largest payload of a datagram over IPv4 without jumbograms: 65,535 less 20 bytes of IP and 8 of UDP header (RFC 768, RFC 791).
pub const MAX_DATAGRAM: u64 = 65_507;

/// Payload of a datagram that fills an Ethernet frame: 1500 bytes (RFC 894) less the headers.
const ETHERNET_PAYLOAD: u64 = 1472;

fairlane_units::params! {
    /// UDP sends datagrams without feedback, recovery or congestion control (RFC 768), either way.
    pub struct UdpParams {
        /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768); ns-2 counts none.
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub header: Bytes = Bytes(28),
        /// ECN field of every datagram: what queues may do to it besides dropping it (RFC 3168 section 5).
        pub ecn: UdpEcn = UdpEcn::NotEct,
        /// Payload of the datagrams that an amount of data (a file, an answer) is cut into: 1500 bytes of Ethernet (RFC 894) less 28 of headers. Sources of packets
        /// say themselves how long these are.
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub datagram: Bytes = Bytes(ETHERNET_PAYLOAD),
        /// Rate on the wire of what takes more than one datagram, headers included. Absent: that of the first link on the way, as under the back-pressure of a
        /// socket.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
        pub rate: Option<Rate> = None,
    }

    /// The ECN field that a sender of datagrams sets.
    pub enum UdpEcn {
        /// Not ECN-capable: queues drop.
        #[default]
        NotEct,
        /// ECT(0): queues that can will mark.
        Ect0,
        /// ECT(1): the low-latency service of RFC 9331; for other queues the same as ECT(0).
        Ect1,
    }
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

impl UdpParams {
    /// The two ends of a flow whose packets carry `class`, for an application with this `usage`.
    pub fn build(&self, class: Class, usage: Usage) -> (Udp, Udp) {
        let most = if usage.amounts { self.datagram.get().clamp(1, MAX_DATAGRAM) } else { MAX_DATAGRAM };
        let end = Udp {
            rate: self.rate.unwrap_or_default(),
            header: u32::try_from(self.header.get()).unwrap_or(u32::MAX >> 1),
            most: most as u16,
            keeps: usage.amounts,
            class,
            ecn: self.ecn.into(),
            ..Udp::default()
        };
        (end.clone(), end)
    }
}

/// One end of a flow of datagrams. Datagrams are numbered from 0; each is delivered once: a copy made on the way is recognised by its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Udp {
    /// Bytes written that wait for their turn.
    left: u64,
    /// Datagrams sent, and their payload.
    sent: u64,
    sent_bytes: u64,
    /// One past the highest number that arrived.
    next: u64,
    /// Which of the [`WINDOW`] numbers below `next` were seen, bit 0 being `next - 1`.
    seen: u64,
    /// Pace of longer writes; zero as long as it is not known.
    rate: Rate,
    header: u32,
    /// Longest payload of a datagram, and that of the last one sent.
    most: u16,
    last: u16,
    /// True if writes are amounts of data, kept while a control holds the flow.
    keeps: bool,
    held: bool,
    class: Class,
    ecn: Ecn,
}

impl Udp {
    /// Sends up to `bytes` in one datagram; what is left of them.
    fn send(&mut self, bytes: u64, cx: &mut Cx<'_>) -> u64 {
        let payload = bytes.min(self.most.into()) as u16;
        let mut seg = Segment::default();
        (seg.seq, seg.payload) = (self.sent, payload);
        seg.set_ecn(self.ecn);
        self.sent += 1;
        self.sent_bytes += u64::from(payload);
        self.last = payload;
        cx.send(seg, u32::from(payload) + self.header, self.class);
        bytes - u64::from(payload)
    }

    /// Sends the next datagram of what waits, and sets the time of the one after it.
    fn send_next(&mut self, cx: &mut Cx<'_>) {
        self.left = self.send(self.left, cx);
        if self.left > 0 {
            cx.timers.set(TimerId::Pace, cx.now + self.rate.tx_time(u64::from(self.last) + u64::from(self.header)));
        }
    }

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

/// Numbers that the receiver remembers; a datagram that comes later than this many others counts as new.
const WINDOW: u64 = 64;

impl Endpoint for Udp {
    fn attach(&mut self, first_link: Rate) {
        if self.rate == Rate::default() {
            self.rate = first_link;
        }
    }

    fn start(&mut self, _: &mut Cx<'_>) {}

    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if self.is_new(seg.seq) {
            cx.delivered += u64::from(seg.payload);
        }
    }

    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        if id == TimerId::Pace && self.left > 0 {
            self.send_next(cx);
        }
    }

    /// Data that fit one datagram are sent at once. Longer writes are cut and sent at the rate, behind what is left of earlier ones.
    fn on_write(&mut self, bytes: u64, _: bool, cx: &mut Cx<'_>) {
        if self.rate == Rate::default() {
            // Nothing is known of a link: all at once, and of what never ends nothing.
            let mut left = if bytes < ENDLESS { bytes } else { 0 };
            while left > 0 {
                left = self.send(left, cx);
            }
        } else {
            let idle = self.left == 0;
            self.left = self.left.saturating_add(bytes).min(ENDLESS);
            if idle && self.left > 0 && !self.held {
                self.send_next(cx);
            }
        }
    }

    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        self.left = 0;
        cx.timers.cancel(TimerId::Pace);
    }

    /// Packets are not kept: their source stands still.
    fn hold(&mut self, held: bool, cx: &mut Cx<'_>) -> bool {
        if self.keeps {
            self.held = held;
            cx.timers.cancel(TimerId::Pace);
            if !held && self.left > 0 {
                self.send_next(cx);
            }
        }
        self.keeps
    }

    fn view(&self) -> FlowView {
        FlowView { data_segments: self.sent, data_bytes: self.sent_bytes, mss: self.last.into(), ..FlowView::default() }
    }
}

#[cfg(test)]
#[path = "udp_tests.rs"]
mod tests;
