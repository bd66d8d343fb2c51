//! Policer: one token bucket, or two, without colours and without a queue of its own.

use super::{BURST, Colour, Common, Marker, Meter, MeterMode, MeterPer, check_depth, check_rate};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::sched::bucket::{Bucket, tokens};
use crate::sched::cake::wire::Wire;
use crate::sched::link_layer::LinkLayer;
use fairlane_net::BuildContext;
use fairlane_units::{Bytes, Rate, Time};

fairlane_units::params! {
    /// A policer drops or marks what exceeds a rate instead of delaying it, before a queue of any kind (tc-police(8); act_police of Linux 6.18).
    pub struct PolicerParams<S> {
        /// Rate of the tokens. Unset: half of the link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Depth of the bucket: what passes at once after a pause.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub burst: Bytes = BURST,
        /// Rate of a second bucket that bounds how fast the burst passes. Unset: none.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub peakrate: Option<Rate> = None,
        /// Longest packet that may conform, and depth of the second bucket. Unset: any, and that of a full Ethernet frame.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mtu: Option<Bytes> = None,
        /// Action on packets that conform: a code point, `"drop"` or `"keep"`.
        pub conform: String = "keep".into(),
        /// Action on packets that exceed the rate.
        pub exceed: String = "drop".into(),
        /// True if all packets share the profile or each flow has one.
        pub per: MeterPer = MeterPer::Aggregate,
        /// Which packets are policed, in the language of classes; the others pass.
        #[serde(rename = "match")]
        pub select: Match,
        /// Link layer of the rates.
        #[serde(flatten)]
        pub link_layer: LinkLayer,
        /// The queue behind the policer: any discipline.
        pub queue: Box<S> = Box::default(),
    }
}

/// Depth of the second bucket unless set: a full Ethernet frame with its header.
const FRAME: Bytes = Bytes(1514);

impl<S> PolicerParams<S> {
    fn common(&self) -> Common<'_> {
        // A single rate has no yellow packets.
        let actions = [("conform", self.conform.as_str()), ("exceed", "keep"), ("exceed", self.exceed.as_str())];
        Common { mode: MeterMode::Blind, per: self.per, select: &self.select, actions }
    }

    fn rate(&self, context: &BuildContext<'_>) -> Rate {
        self.rate.unwrap_or(Rate::from_bps((context.link.rate.as_bps() / 2).max(1)))
    }
}

impl<S: Discipline> Discipline for PolicerParams<S> {
    type Queue = Marker<Policer, S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check_rate(self.rate(context), "rate")?;
        check_depth(self.burst, "burst")?;
        check_depth(self.mtu.unwrap_or(FRAME), "mtu")?;
        if let Some(peak) = self.peakrate {
            check_rate(peak, "peakrate")?;
            if peak < self.rate(context) {
                let rate = self.rate(context);
                return Err(Problem::new("peakrate", format!("it is below the rate of {rate}, which would then never be reached")));
            }
        }
        self.common().check(context)?;
        self.queue.check(context).map_err(|p| p.within("queue"))
    }

    fn build(&self, context: &BuildContext<'_>) -> Self::Queue {
        let meter = Policer {
            wire: self.link_layer.wire(),
            committed: Bucket::new(self.rate(context), self.burst),
            peak: self.peakrate.map(|p| Bucket::new(p, self.mtu.unwrap_or(FRAME))),
            longest: self.mtu.map_or(u64::MAX, Bytes::get),
        };
        self.common().build(meter, &*self.queue, context)
    }

    fn capabilities(&self) -> Capabilities {
        self.queue.capabilities().and(Capabilities { recolours: true, ..Capabilities::default() })
    }
}

/// The meter of act_police: a packet conforms if both buckets hold its tokens, and takes none otherwise.
#[derive(Clone, Debug)]
pub struct Policer {
    wire: Wire,
    committed: Bucket,
    peak: Option<Bucket>,
    longest: u64,
}

impl Meter for Policer {
    #[inline]
    fn colour(&mut self, now: Time, len: u32, _: Colour) -> Colour {
        let cost = tokens(self.wire.framed(len));
        self.committed.fill(now);
        let mut conforms = u64::from(len) <= self.longest && self.committed.holds(cost);
        if let Some(peak) = &mut self.peak {
            peak.fill(now);
            conforms &= peak.holds(cost);
            if conforms {
                peak.take(cost);
            }
        }
        if !conforms {
            return Colour::Red;
        }
        self.committed.take(cost);
        Colour::Green
    }

    fn buckets(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("committed_tokens", self.committed.bytes());
        if let Some(peak) = &self.peak {
            out("peak_tokens", peak.bytes());
        }
    }
}
