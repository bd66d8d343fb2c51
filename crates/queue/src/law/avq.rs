//! AVQ: a virtual queue, slower than the link, whose overflows are the signals and whose rate adapts to the arrivals.

use super::bounds::check_shares;
use super::red::{Measure, limit_in};
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Len, Time};

fairlane_units::params! {
    /// AVQ, adaptive virtual queue: an arrival that would overflow a virtual queue is dropped or marked; the virtual queue's capacity adapts so that
    /// arrivals fill the share `gamma` of the link (Kunniyur and Srikant 2001 and 2004).
    pub struct AvqParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// Limit of the virtual buffer. Unset: that of the real one (ns-2's buflim_ = 1).
        pub virtual_limit: Option<Len> = None,
        /// Desired utilisation: arrivals are steered to this share of the link's rate (gamma).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub gamma: f64 = 0.98,
        /// How fast the virtual capacity adapts (alpha; 0.15 in the paper's simulations and in ns-2's code).
        #[schemars(range(min = 0.0))]
        pub alpha: f64 = 0.15,
        /// Virtual capacity at the first arrival, as a share of the link's rate (ns-2's ecnlim_).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub initial: f64 = 1.0,
        /// Unit of the virtual queue, the real queue and the limits (ns-2's queue_in_bytes_).
        pub measure: Measure = Measure::Bytes,
        /// Length of a typical packet: converts between packets and bytes, and the link's rate into packets.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
        /// True if ECN-capable packets are marked instead of dropped (ns-2's markpkts_).
        pub ecn: bool = false,
        /// With `ecn`: whether packets that are not ECN-capable are left alone instead of dropped (ns-2).
        pub spare_incapable: bool = false,
        /// True if arrivals that are dropped by the law leave the virtual capacity as it is (ns-2): then accepted packets, not offered ones, are
        /// steered to `gamma`.
        pub skip_dropped: bool = false,
        /// True if the virtual capacity is capped at the link's rate after the arrival is subtracted (ns-2) instead of before.
        pub cap_last: bool = false,
    }
}

impl Discipline for AvqParams {
    type Queue = Fifo<Avq>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/Vq of ns-2.35 with its class defaults. It drops unless markpkts_ (here `ecn`) is set.",
        values: r#"{"limit": "50p", "admit": "fits", "gamma": 0.98, "alpha": 0.15, "initial": 0.8, "measure": "bytes", "mean_packet": "1000B",
                    "ecn": false, "spare_incapable": true, "skip_dropped": true, "cap_last": true}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        super::headdrop::check_limit(self.limit, self.admit)?;
        if let Some(Len::Packets(0) | Len::Bytes(0)) = self.virtual_limit {
            return Err(Problem::new("virtual_limit", "a virtual queue that holds nothing drops everything: write at least \"1p\""));
        }
        check_shares(&[("gamma", self.gamma), ("initial", self.initial)])?;
        if !self.alpha.is_finite() || self.alpha < 0.0 {
            return Err(Problem::new("alpha", format!("{} is not a gain: write zero or more", self.alpha)));
        }
        Ok(())
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Avq> {
        Fifo::new(Avq::new(self, context.link), limit_in(self.measure, self.limit, self.mean_packet, self.admit)).bearing(self.front)
    }
}

/// The state of AVQ. Quantities are in packets or bytes, as its measure says.
#[derive(Clone, Debug, PartialEq)]
pub struct Avq {
    /// Limit of the virtual buffer.
    room: f64,
    /// The link's rate, per second.
    rate: f64,
    /// gamma times the link's rate, per second.
    desired: f64,
    alpha: f64,
    in_bytes: bool,
    ecn: bool,
    spare_incapable: bool,
    skip_dropped: bool,
    cap_last: bool,

    /// The virtual capacity, per second.
    capacity: f64,
    /// The virtual queue.
    queue: f64,
    /// The last arrival; none yet.
    last: Option<Time>,
    /// The last adaptation.
    adapted: Time,
}

impl Avq {
    fn new(p: &AvqParams, link: LinkInfo) -> Self {
        let mean = p.mean_packet.get().max(1) as f64;
        let in_bytes = p.measure == Measure::Bytes;
        let room = match (p.virtual_limit.unwrap_or(p.limit), in_bytes) {
            (Len::Packets(n), false) | (Len::Bytes(n), true) => n as f64,
            (Len::Packets(n), true) => n as f64 * mean,
            (Len::Bytes(n), false) => n as f64 / mean,
        };
        let rate = link.rate.as_bps() as f64 / if in_bytes { 8.0 } else { 8.0 * mean };
        Self {
            room,
            rate,
            desired: p.gamma * rate,
            alpha: p.alpha,
            in_bytes,
            ecn: p.ecn,
            spare_incapable: p.spare_incapable,
            skip_dropped: p.skip_dropped,
            cap_last: p.cap_last,
            capacity: p.initial * rate,
            queue: 0.0,
            last: None,
            adapted: Time::ZERO,
        }
    }

    /// The virtual capacity as a share of the link's rate.
    pub fn virtual_share(&self) -> f64 {
        self.capacity / self.rate
    }

    /// The virtual queue, in the unit of the measure.
    pub fn virtual_queue(&self) -> f64 {
        self.queue
    }

    /// A token bucket. The capacity grows with the desired rate and shrinks with what arrives.
    fn adapt(&mut self, now: Time, len: f64) {
        let grown = self.capacity + self.alpha * self.desired * (now - self.adapted).as_secs_f64();
        let taken = self.alpha * len;
        let capacity = match self.cap_last {
            false => least(grown, self.rate) - taken,
            true => least(grown - taken, self.rate),
        };
        self.capacity = if capacity > 0.0 { capacity } else { 0.0 };
        self.adapted = now;
    }
}

fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl Law for Avq {
    const FRONT: bool = true;
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let len = if self.in_bytes { f64::from(p.len) } else { 1.0 };
        match self.last.replace(cx.now) {
            Some(before) => {
                let left = self.queue - self.capacity * (cx.now - before).as_secs_f64();
                self.queue = if left > 0.0 { left } else { 0.0 };
            }
            None => self.adapted = cx.now,
        }
        let verdict = if self.queue + len <= self.room {
            self.queue += len;
            Verdict::Pass
        } else if self.ecn && p.ecn.capable() {
            Verdict::Mark
        } else if self.ecn && self.spare_incapable {
            Verdict::Pass
        } else {
            Verdict::Drop(DropReason::Early)
        };
        if !(self.skip_dropped && matches!(verdict, Verdict::Drop(_))) {
            self.adapt(cx.now, len);
        }
        verdict
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("virtual_queue", self.queue);
        out("virtual_share", self.virtual_share());
    }
}
