//! PI: a proportional-integral controller that holds the queue at a reference.

use super::red::{Measure, limit_in};
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// PI drops or marks with a probability that a proportional-integral controller sets from samples of the queue, so that it stays at `target` whatever
    /// the load (Hollot, Misra, Towsley and Gong 2001).
    pub struct PiParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// The queue to hold (q_ref); ns-2's qref_.
        pub target: Len = Len::Packets(50),
        /// Gain of the present error at each sample, per packet (a; ns-2's a_).
        pub a: f64 = 1.822e-5,
        /// Gain of the previous sample's error, subtracted, per packet (b; ns-2's b_). The paper's a and b suit 60 flows at 15 Mbit/s.
        pub b: f64 = 1.816e-5,
        /// Time between two samples; the paper's frequency is 160 Hz (ns-2's w_ is the frequency).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub interval: Dur = Dur::from_us(6250),
        /// Unit of the queue and the limit (ns-2's queue_in_bytes_); bytes are divided by `mean_packet` before the controller uses them.
        pub measure: Measure = Measure::Packets,
        /// True if a packet is dropped in proportion to its length (ns-2's bytes_).
        pub byte_mode: bool = false,
        /// Length of a typical packet: converts between packets and bytes.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
        /// True if ECN-capable packets are marked instead of dropped (ns-2's setbit_).
        pub ecn: bool = false,
    }
}

impl PiParams {
    fn mean(&self) -> f64 {
        self.mean_packet.get().max(1) as f64
    }
}

impl Discipline for PiParams {
    type Queue = Fifo<Pi>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "paper",
            doc: "The simulations of Hollot, Misra, Towsley and Gong (2001): reference 200 packets of 500 bytes in a buffer of 800.",
            values: r#"{"limit": "800p", "target": "200p", "a": 1.822e-5, "b": 1.816e-5, "interval": "6.25ms", "mean_packet": "500B"}"#,
        },
        Preset {
            name: "ns2",
            doc: "Queue/PI of ns-2.35 with its class defaults: 170 samples a second. It drops unless setbit_ is set.",
            values: r#"{"limit": "50p", "admit": "not_full", "target": "50p", "a": 1.822e-5, "b": 1.816e-5, "interval": "5.882352941ms",
                        "measure": "packets", "byte_mode": false, "mean_packet": "500B", "ecn": false}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        if matches!(self.limit, Len::Packets(0) | Len::Bytes(0)) {
            return Err(Problem::new("limit", format!("{} holds nothing: write at least \"1p\"", self.limit)));
        }
        if self.interval == Dur::ZERO {
            return Err(Problem::new("interval", "the interval is zero: the queue would be sampled without end"));
        }
        for (name, v) in [("a", self.a), ("b", self.b)] {
            if !v.is_finite() || v < 0.0 {
                return Err(Problem::new(name, format!("{v} is not a gain: write zero or more")));
            }
        }
        if self.a < self.b {
            return Err(Problem::new(
                "a",
                format!("a ({}) is below b ({}): the probability would fall while the queue is too long", self.a, self.b),
            ));
        }
        Ok(())
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Pi> {
        let mean = self.mean();
        let target = match self.target {
            Len::Packets(n) => n as f64,
            Len::Bytes(n) => n as f64 / mean,
        };
        let pi = Pi {
            a: self.a,
            b: self.b,
            target,
            interval: self.interval,
            in_bytes: self.measure == Measure::Bytes,
            byte_mode: self.byte_mode,
            mean_packet: mean,
            ecn: self.ecn,
            p: 0.0,
            error: -target,
        };
        Fifo::new(pi, limit_in(self.measure, self.limit, self.mean_packet, self.admit)).bearing(self.front)
    }
}

/// The state of PI.
#[derive(Clone, Debug, PartialEq)]
pub struct Pi {
    a: f64,
    b: f64,
    /// In packets.
    target: f64,
    interval: Dur,
    in_bytes: bool,
    byte_mode: bool,
    mean_packet: f64,
    ecn: bool,

    p: f64,
    /// Queue less target at the last sample, in packets. The queue starts empty.
    error: f64,
}

impl Pi {
    /// The probability in force.
    pub fn prob(&self) -> f64 {
        self.p
    }
}

impl Law for Pi {
    const FRONT: bool = true;
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let prob = if self.byte_mode { self.p * f64::from(p.len) / self.mean_packet } else { self.p };
        if cx.rng.uniform() >= prob {
            return Verdict::Pass;
        }
        if self.ecn && p.ecn.capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }

    /// The controller in discrete time: p(k) = a (q(k) - q_ref) - b (q(k-1) - q_ref) + p(k-1).
    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        let queue = if self.in_bytes { cx.held.bytes as f64 / self.mean_packet } else { f64::from(cx.held.pkts) };
        let error = queue - self.target;
        self.p = (self.a * error - self.b * self.error + self.p).clamp(0.0, 1.0);
        self.error = error;
        Some(cx.now + self.interval)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("drop_prob", self.p);
    }
}
