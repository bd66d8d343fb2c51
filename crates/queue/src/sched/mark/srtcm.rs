//! srTCM: the single rate three color marker.

use super::{BURST, Colour, Common, Marker, Meter, MeterMode, MeterPer, check_depth, check_rate};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::sched::bucket::{Bucket, tokens};
use fairlane_net::BuildContext;
use fairlane_units::{Bytes, Rate, Time};

fairlane_units::params! {
    /// srTCM colours packets green, yellow or red by one rate and two burst sizes, before a queue of any kind (RFC 2697).
    pub struct SrtcmParams<S> {
        /// Committed information rate, CIR. Unset: half of the link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub cir: Option<Rate> = None,
        /// Committed burst size, CBS: depth of the bucket of green packets.
        pub cbs: Bytes = BURST,
        /// Excess burst size, EBS: depth of the bucket of yellow packets, which takes what the first has no room for.
        pub ebs: Bytes = BURST,
        /// True if the meter looks at the colour that packets come with.
        pub mode: MeterMode = MeterMode::Blind,
        /// True if all packets share the profile or each flow has one.
        pub per: MeterPer = MeterPer::Aggregate,
        /// Which packets are metered, in the language of classes; the others stay as they are.
        #[serde(rename = "match")]
        pub select: Match,
        /// Action on green packets: a code point, `"drop"` or `"keep"`.
        pub green: String = "af11".into(),
        /// Action on yellow packets.
        pub yellow: String = "af12".into(),
        /// Action on red packets.
        pub red: String = "af13".into(),
        /// The queue behind the meter: any discipline.
        pub queue: Box<S> = Box::default(),
    }
}

impl<S> SrtcmParams<S> {
    fn common(&self) -> Common<'_> {
        Common {
            mode: self.mode,
            per: self.per,
            select: &self.select,
            actions: [("green", &self.green), ("yellow", &self.yellow), ("red", &self.red)],
        }
    }

    fn rate(&self, context: &BuildContext<'_>) -> Rate {
        self.cir.unwrap_or(Rate::from_bps((context.link.rate.as_bps() / 2).max(1)))
    }
}

impl<S: Discipline> Discipline for SrtcmParams<S> {
    type Queue = Marker<Srtcm, S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check_rate(self.rate(context), "cir")?;
        // RFC 2697 section 1: at least one of the two is larger than zero.
        if self.ebs.get() == 0 {
            check_depth(self.cbs, "cbs")?;
        }
        self.common().check(context)?;
        self.queue.check(context).map_err(|p| p.within("queue"))
    }

    fn build(&self, context: &BuildContext<'_>) -> Self::Queue {
        let rate = self.rate(context);
        // Tokens come into the second bucket from the first.
        let meter = Srtcm { committed: Bucket::new(rate, self.cbs), excess: Bucket::new(Rate::from_bps(0), self.ebs) };
        self.common().build(meter, &*self.queue, context)
    }

    fn capabilities(&self) -> Capabilities {
        self.queue.capabilities().and(Capabilities { recolours: true, ..Capabilities::default() })
    }
}

/// The meter of RFC 2697 section 2.
#[derive(Clone, Debug)]
pub struct Srtcm {
    committed: Bucket,
    excess: Bucket,
}

impl Meter for Srtcm {
    #[inline]
    fn colour(&mut self, now: Time, len: u32, before: Colour) -> Colour {
        let cost = tokens(u64::from(len));
        // RFC 2697 section 3: a token goes to C while it is not full, then to E while that is not full.
        let surplus = self.committed.fill(now);
        self.excess.add(surplus);
        if before == Colour::Green && self.committed.holds(cost) {
            self.committed.take(cost);
            return Colour::Green;
        }
        if before != Colour::Red && self.excess.holds(cost) {
            self.excess.take(cost);
            return Colour::Yellow;
        }
        Colour::Red
    }

    fn buckets(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("committed_tokens", self.committed.bytes());
        out("excess_tokens", self.excess.bytes());
    }
}
