//! Adaptive RED: RED that sets its own thresholds, weight and, in operation, its maximum probability.

use super::bounds::check_shares;
use super::red::{Red, RedParams, RedSetting, RedStart, RedThresholds, RedTuning};
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, LinkInfo, Packet};
use fairlane_units::{Dur, Len, Time};

fairlane_units::params! {
    /// Adaptive RED keeps the average queue half-way between its thresholds by raising and lowering RED's `max_p` (Floyd, Gummadi and Shenker 2001).
    pub struct AredParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// RED's thresholds; `max_p` is the probability at the start, from then on it adapts.
        #[serde(flatten)]
        pub thresholds: RedThresholds,
        /// Time between two changes of `max_p` .
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub interval: Dur = Dur::from_ms(500),
        /// Most that is added to `max_p` when the average is above the target; never more than a quarter of it.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub alpha: f64 = 0.01,
        /// Factor of `max_p` when the average is below the target.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta: f64 = 0.9,
        /// `max_p` is not raised above this.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub top: f64 = 0.5,
        /// `max_p` is not lowered below this. Unset: 0.01, on links above 8 Mbit/s one in the packets of 1000 bytes that the link carries in
        /// 100 ms (as in ns-2).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub bottom: Option<f64> = None,
        /// True if `max_p` changes when a packet arrives more than `interval` after the last change (ns-2, ns-3) instead of by the clock.
        pub on_arrival: bool = false,
        /// True if above `max` the probability rises from the first `max_p` to 1 (ns-2, ns-3) instead of from the present one.
        pub fixed_gentle: bool = false,
        /// RED's average, and what follows from it.
        #[serde(flatten)]
        pub tuning: RedTuning,
        /// How a stay above the lower threshold begins.
        #[serde(flatten)]
        pub start: RedStart,
    }
}

/// The paper's lower bound of `max_p`.
const LEAST_BOTTOM: f64 = 0.01;
/// Bits in 1000 bytes over 100 ms: divided by the link's rate, one in the packets that it carries in that time (ns-2).
const BOTTOM_RATE: f64 = 80_000.0;
/// The target leaves this share of the distance between the thresholds on either side .
const TARGET_MARGIN: f64 = 0.4;
/// `max_p` grows by at most this share of itself.
const MOST_GROWTH: f64 = 0.25;

impl AredParams {
    fn red(&self) -> RedParams {
        RedParams {
            limit: self.limit,
            admit: self.admit,
            front: self.front,
            thresholds: self.thresholds.clone(),
            tuning: self.tuning.clone(),
            hard_drop: true,
            start: self.start.clone(),
        }
    }

    /// The thresholds and the weight in force on a link, as for RED.
    pub fn setting(&self, link: LinkInfo) -> RedSetting {
        self.red().setting(link)
    }

    fn bottom(&self, link: LinkInfo) -> f64 {
        self.bottom.unwrap_or_else(|| {
            let one_in_window = BOTTOM_RATE / link.rate.as_bps().max(1) as f64;
            if one_in_window < LEAST_BOTTOM { one_in_window } else { LEAST_BOTTOM }
        })
    }
}

impl Discipline for AredParams {
    type Queue = Fifo<Ared>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "ns2",
            doc: "Queue/RED of ns-2.35 with adaptive_ = 1 and its other class defaults: lengths and probabilities in bytes of 500-byte packets.",
            values: r#"{"limit": "50p", "admit": "not_full", "target_delay": "5ms", "max_p": 0.1, "interval": "500ms", "alpha": 0.01, "beta": 0.9,
                        "top": 0.5, "on_arrival": true, "fixed_gentle": true, "gentle": true, "wait": true,
                        "measure": "bytes", "byte_mode": true, "mean_packet": "500B", "ecn": false, "mark_p": 0.1, "spare": 1, "grace": true}"#,
        },
        Preset {
            name: "ns3",
            doc: "RedQueueDisc of ns-3.37 with ARED = true: automatic thresholds and weight, in packets. ns-3 works them out from its attributes \
                  LinkBandwidth and LinkDelay, which have to be set to the link's; so its lowest max_p, 8 MeanPktSize Rtt / LinkBandwidth, which is \
                  0.00004 at 10 Mbit/s.",
            values: r#"{"limit": "25p", "admit": "not_full", "target_delay": "5ms", "max_p": 0.02, "interval": "500ms", "alpha": 0.01, "beta": 0.9,
                        "top": 0.5, "bottom": 0.00004, "on_arrival": true, "fixed_gentle": true, "averaging": "1s", "gentle": true, "wait": true,
                        "measure": "packets", "byte_mode": false, "mean_packet": "500B", "ecn": false, "spare": 1, "grace": true}"#,
        },
    ];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        if self.interval == Dur::ZERO {
            return Err(Problem::new("interval", "the interval is zero: the maximum probability would never stop changing"));
        }
        let bottom = self.bottom(context.link);
        check_shares(&[("alpha", self.alpha), ("beta", self.beta), ("top", self.top), ("bottom", bottom)])?;
        if self.top < bottom {
            return Err(Problem::new("top", format!("the highest max_p ({}) is below the lowest ({bottom})", self.top)));
        }
        self.red().check(context)
    }

    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        self.red().remark(context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Ared> {
        let red = self.red();
        Fifo::new(Ared::new(self, context.link, Red::new(&red, context.link)), red.limit()).bearing(self.front)
    }
}

/// The state of adaptive RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Ared {
    red: Red,
    low: f64,
    high: f64,
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
    interval: Dur,
    on_arrival: bool,
    fixed_gentle: bool,
    max_p: f64,
    changed_at: Time,
}

impl Ared {
    fn new(p: &AredParams, link: LinkInfo, red: Red) -> Self {
        let s = p.setting(link);
        let margin = TARGET_MARGIN * (s.max - s.min);
        Self {
            red,
            low: s.min + margin,
            high: s.max - margin,
            alpha: p.alpha,
            beta: p.beta,
            top: p.top,
            bottom: p.bottom(link),
            interval: p.interval,
            on_arrival: p.on_arrival,
            fixed_gentle: p.fixed_gentle,
            max_p: p.thresholds.max_p,
            changed_at: Time::ZERO,
        }
    }

    /// The average queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.red.avg()
    }

    /// The maximum probability in force.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// The averages between which `max_p` is left alone.
    pub fn target(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The paper's AIMD rule. Above the target the probability grows by a step, below it shrinks by a factor.
    fn adapt(&mut self, now: Time) {
        let avg = self.red.avg();
        if avg > self.high && self.max_p <= self.top {
            let quarter = MOST_GROWTH * self.max_p;
            self.max_p += if self.alpha > quarter { quarter } else { self.alpha };
        } else if avg < self.low && self.max_p >= self.bottom {
            self.max_p *= self.beta;
        } else {
            return;
        }
        self.changed_at = now;
        self.red.chooser_mut().set_max_p(self.max_p, !self.fixed_gentle);
    }
}

impl Law for Ared {
    const FRONT: bool = true;
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.red.update_average(cx);
        if self.on_arrival && cx.now > self.changed_at + self.interval {
            self.adapt(cx.now);
        }
        self.red.judge(p, cx)
    }

    #[inline]
    fn on_overflow(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Victim {
        self.red.on_overflow(p, cx)
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.red.on_dequeue(p, cx)
    }

    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        if self.on_arrival {
            return None;
        }
        // At time zero there is nothing to judge yet.
        if cx.now > Time::ZERO {
            self.adapt(cx.now);
        }
        Some(cx.now + self.interval)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.red.gauges(out);
        out("max_p", self.max_p);
    }
}
