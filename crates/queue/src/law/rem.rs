//! REM: a price that grows while too much arrives or waits, and a probability exponential in it.

use super::bounds::check_shares;
use super::red::{Measure, limit_in};
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// REM, random exponential marking: a price follows the mismatch of rate and queue, and packets are dropped or marked with the probability
    /// 1 - phi^-price, so that queue and rate settle at their targets whatever the number of flows (Athuraliya, Low, Li and Yin 2001).
    pub struct RemParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// The queue to hold (b*; ns-2's pbo_).
        pub target: Len = Len::Packets(20),
        /// Step of the price at each update, per packet of mismatch (gamma).
        #[schemars(range(min = 0.0))]
        pub gamma: f64 = 0.001,
        /// Weight of the queue's mismatch relative to the rate's (alpha; 0.1 in ns-2's code).
        #[schemars(range(min = 0.0))]
        pub alpha: f64 = 0.1,
        /// Base of the probability (phi), above 1.
        #[schemars(range(min = 1.0))]
        pub phi: f64 = 1.001,
        /// Time between two updates of the price (ns-2's pupdtime_).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub interval: Dur = Dur::from_ms(2),
        /// Weight of the newest interval in the average of the arrivals (ns-2's inw_); 1: no averaging.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 1.0,
        /// Unit of arrivals, queue and limit (ns-2's qib_). In bytes, a packet is dropped in proportion to its length.
        pub measure: Measure = Measure::Packets,
        /// Length of a typical packet: converts between packets and bytes, and the link's rate into packets.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = false,
        /// With `ecn`: whether packets are marked as they leave instead of as they arrive (ns-2's markpkts_).
        pub mark_departing: bool = false,
        /// With `ecn`: whether packets that are not ECN-capable are left alone instead of dropped (ns-2's markpkts_).
        pub spare_incapable: bool = false,
    }
}

impl Discipline for RemParams {
    type Queue = Fifo<Rem>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/REM of ns-2.35 with its class defaults: of a limit of n packets, n - 1 wait. It drops unless markpkts_ (here `ecn`) is set, \
              and then marks departing packets and drops none.",
        values: r#"{"limit": "50p", "admit": "under", "target": "20p", "gamma": 0.001, "alpha": 0.1, "phi": 1.001, "interval": "2ms", "weight": 1.0,
                    "measure": "packets", "mean_packet": "1000B", "ecn": false, "mark_departing": true, "spare_incapable": true}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        super::headdrop::check_limit(self.limit, self.admit)?;
        if self.interval == Dur::ZERO {
            return Err(Problem::new("interval", "the interval is zero: the price would be updated without end"));
        }
        for (name, v) in [("gamma", self.gamma), ("alpha", self.alpha)] {
            if !v.is_finite() || v < 0.0 {
                return Err(Problem::new(name, format!("{v} is not a gain: write zero or more")));
            }
        }
        if !self.phi.is_finite() || self.phi <= 1.0 {
            return Err(Problem::new("phi", format!("with the base {} no price leads to a drop: write more than 1", self.phi)));
        }
        check_shares(&[("weight", self.weight)])
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Rem> {
        Fifo::new(Rem::new(self, context.link), limit_in(self.measure, self.limit, self.mean_packet, self.admit)).bearing(self.front)
    }
}

/// The state of REM.
#[derive(Clone, Debug, PartialEq)]
pub struct Rem {
    /// In packets.
    target: f64,
    gamma: f64,
    alpha: f64,
    /// Natural logarithm of phi.
    ln_phi: f64,
    interval: Dur,
    weight: f64,
    /// Packets that the link sends in an interval.
    capacity: f64,
    in_bytes: bool,
    mean_packet: f64,
    ecn: bool,
    mark_departing: bool,
    spare_incapable: bool,

    /// Packets or bytes that arrived since the last update.
    arrived: u64,
    /// Average of the arrivals in an interval, in packets.
    rate: f64,
    price: f64,
    p: f64,
}

impl Rem {
    fn new(s: &RemParams, link: LinkInfo) -> Self {
        let mean_packet = s.mean_packet.get().max(1) as f64;
        Self {
            target: match s.target {
                Len::Packets(n) => n as f64,
                Len::Bytes(n) => n as f64 / mean_packet,
            },
            gamma: s.gamma,
            alpha: s.alpha,
            ln_phi: libm::log(s.phi),
            interval: s.interval,
            weight: s.weight,
            capacity: s.interval.as_secs_f64() * (link.rate.as_bps() as f64 / (8.0 * mean_packet)),
            in_bytes: s.measure == Measure::Bytes,
            mean_packet,
            ecn: s.ecn,
            mark_departing: s.mark_departing,
            spare_incapable: s.spare_incapable,
            arrived: 0,
            rate: 0.0,
            price: 0.0,
            p: 0.0,
        }
    }

    /// The price.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// The probability in force.
    pub fn prob(&self) -> f64 {
        self.p
    }

    #[inline]
    fn chooses(&self, p: &Packet, cx: &mut LawCx<'_>) -> bool {
        let prob = if self.in_bytes { self.p * f64::from(p.len) / self.mean_packet } else { self.p };
        cx.rng.uniform() < prob
    }
}

impl Law for Rem {
    const FRONT: bool = true;
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.arrived += if self.in_bytes { u64::from(p.len) } else { 1 };
        let markable = self.ecn && p.ecn.capable();
        let here = if markable { !self.mark_departing } else { !(self.ecn && self.spare_incapable) };
        match here && self.chooses(p, cx) {
            false => Verdict::Pass,
            true if markable => Verdict::Mark,
            true => Verdict::Drop(DropReason::Early),
        }
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if self.ecn && self.mark_departing && p.ecn.capable() && self.chooses(p, cx) { Verdict::Mark } else { Verdict::Pass }
    }

    /// Price = max(0, price + gamma (alpha (queue - target) + arrivals - capacity)); probability = 1 - phi^-price.
    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        if cx.now > Time::ZERO {
            let scale = if self.in_bytes { self.mean_packet } else { 1.0 };
            let queue = if self.in_bytes { cx.held.bytes as f64 / scale } else { f64::from(cx.held.pkts) };
            self.rate = self.rate * (1.0 - self.weight) + self.weight * (self.arrived as f64 / scale);
            self.arrived = 0;
            let price = self.price + self.gamma * (self.rate + self.alpha * (queue - self.target) - self.capacity);
            self.price = if price > 0.0 { price } else { 0.0 };
            self.p = 1.0 - libm::exp(-self.price * self.ln_phi);
        }
        Some(cx.now + self.interval)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("price", self.price);
        out("drop_prob", self.p);
    }
}
