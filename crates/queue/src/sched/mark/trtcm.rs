//! trTCM: the two rate three color marker.

use super::{BURST, Colour, Common, Marker, Meter, MeterMode, MeterPer, check_depth, check_rate};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::sched::bucket::{Bucket, tokens};
use fairlane_net::BuildContext;
use fairlane_units::{Bytes, Rate, Time};

fairlane_units::params! {
    /// trTCM colours packets green, yellow or red by a committed and a peak rate, before a queue of any kind (RFC 2698).
    pub struct TrtcmParams<S> {
        /// Committed information rate, CIR: packets within it are green. Unset: half of the link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub cir: Option<Rate> = None,
        /// Committed burst size, CBS.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub cbs: Bytes = BURST,
        /// Peak information rate, PIR: packets above it are red. Unset: three quarters of the link, at least `cir`.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub pir: Option<Rate> = None,
        /// Peak burst size, PBS.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub pbs: Bytes = BURST,
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

impl<S> TrtcmParams<S> {
    fn common(&self) -> Common<'_> {
        Common {
            mode: self.mode,
            per: self.per,
            select: &self.select,
            actions: [("green", &self.green), ("yellow", &self.yellow), ("red", &self.red)],
        }
    }

    /// CIR and PIR.
    fn rates(&self, context: &BuildContext<'_>) -> (Rate, Rate) {
        let link = context.link.rate.as_bps();
        let cir = self.cir.unwrap_or(Rate::from_bps((link / 2).max(1)));
        (cir, self.pir.unwrap_or(Rate::from_bps(link / 4 * 3).max(cir)))
    }
}

impl<S: Discipline> Discipline for TrtcmParams<S> {
    type Queue = Marker<Trtcm, S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        let (cir, pir) = self.rates(context);
        check_rate(cir, "cir")?;
        check_rate(pir, "pir")?;
        if pir < cir {
            return Err(Problem::new("pir", format!("the peak rate {pir} is below the committed rate {cir} (RFC 2698 section 1)")));
        }
        check_depth(self.cbs, "cbs")?;
        check_depth(self.pbs, "pbs")?;
        self.common().check(context)?;
        self.queue.check(context).map_err(|p| p.within("queue"))
    }

    fn build(&self, context: &BuildContext<'_>) -> Self::Queue {
        let (cir, pir) = self.rates(context);
        let meter = Trtcm { committed: Bucket::new(cir, self.cbs), peak: Bucket::new(pir, self.pbs) };
        self.common().build(meter, &*self.queue, context)
    }

    fn capabilities(&self) -> Capabilities {
        self.queue.capabilities().and(Capabilities { recolours: true, ..Capabilities::default() })
    }
}

/// The meter of RFC 2698 section 3.
#[derive(Clone, Debug)]
pub struct Trtcm {
    committed: Bucket,
    peak: Bucket,
}

impl Meter for Trtcm {
    #[inline]
    fn colour(&mut self, now: Time, len: u32, before: Colour) -> Colour {
        let cost = tokens(u64::from(len));
        self.committed.fill(now);
        self.peak.fill(now);
        if before == Colour::Red || !self.peak.holds(cost) {
            return Colour::Red;
        }
        self.peak.take(cost);
        if before == Colour::Yellow || !self.committed.holds(cost) {
            return Colour::Yellow;
        }
        self.committed.take(cost);
        Colour::Green
    }

    fn buckets(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("committed_tokens", self.committed.bytes());
        out("peak_tokens", self.peak.bytes());
    }
}
