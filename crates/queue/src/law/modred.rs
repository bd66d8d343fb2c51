//! ModRED: RIO's two curves without early drops; between the thresholds it closes the windows of the senders instead.

use super::bounds::check_shares;
use super::pair::{Twin, TwinSetting, check_profile};
use super::red::{Measure, length_in, limit_in};
use super::wred::{assured, check_curve};
use super::{Law, LawCx, Verdict, Victim};
use crate::classify::Match;
use crate::discipline::{Discipline, Problem};
use crate::limit::Admit;
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, FlowId, Packet};
use fairlane_units::{Bytes, Len};

fairlane_units::params! {
    /// ModRED: while the average queue lies between the thresholds, the receive windows of returning acknowledgements are cut to one segment; above them
    /// packets are dropped, those out of profile first (Ramachendra, Banu and Ali Ahammed 2014). Hosts need not change, nor know of ECN.
    pub struct ModRedParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(100),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packets are in profile: `"dscp:af11"`, `"tcp"`, `"flow:NAME"`, or a list of these. By default those of the lowest drop precedence of
        /// assured forwarding (RFC 2597 section 6), as srTCM and trTCM colour them.
        pub in_profile: Match = assured(1),
        /// Average of all packets from which windows are cut, up to `in_max`.
        pub min: Len = Len::Packets(5),
        /// Average of all packets above which every arrival out of profile is dropped.
        pub out_max: Len = Len::Packets(10),
        /// Average of the packets in profile above which every arrival in profile is dropped.
        pub in_max: Len = Len::Packets(20),
        /// Largest window, in bytes, that acknowledgements may show while windows are cut: one segment.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub window: Bytes = Bytes(1000),
        /// Weight of one arrival in the averages.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub w_q: f64 = 0.002,
        /// Unit of the averages, the thresholds and the limit.
        pub measure: Measure = Measure::Packets,
        /// Length of a typical packet: converts between packets and bytes, and ages the averages of an idle link.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
    }
}

impl Discipline for ModRedParams {
    type Queue = Fifo<ModRed>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        super::headdrop::check_limit(self.limit, self.admit)?;
        check_shares(&[("w_q", self.w_q)])?;
        if self.window == Bytes(0) {
            return Err(Problem::new("window", "a window of nothing would stop every sender for good: write one segment"));
        }
        for (name, max) in [("out_max", self.out_max), ("in_max", self.in_max)] {
            check_curve(self.min, max, 1.0, self.measure, self.mean_packet).map_err(|p| Problem { field: name.into(), ..p })?;
        }
        check_profile(&self.in_profile, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<ModRed> {
        let length = |len| length_in(self.measure, len, self.mean_packet);
        let twin = TwinSetting {
            in_profile: &self.in_profile,
            w_q: self.w_q,
            measure: self.measure,
            mean_packet: self.mean_packet,
            total_by_in: false,
            age_own: false,
        };
        let law = ModRed {
            twin: Twin::new(&twin, context),
            min: length(self.min),
            out_max: length(self.out_max),
            in_max: length(self.in_max),
            window: u32::try_from(self.window.get()).unwrap_or(u32::MAX),
        };
        Fifo::new(law, limit_in(self.measure, self.limit, self.mean_packet, self.admit))
    }
}

/// The state of ModRED.
#[derive(Clone, Debug)]
pub struct ModRed {
    twin: Twin,
    min: f64,
    out_max: f64,
    in_max: f64,
    window: u32,
}

impl ModRed {
    /// The average of the whole queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.twin.total()
    }
    /// The average of the packets in profile.
    pub fn avg_in(&self) -> f64 {
        self.twin.inside()
    }
    fn clamping(&self) -> bool {
        (self.min..=self.in_max).contains(&self.twin.total())
    }
}

impl Law for ModRed {
    const CLAMPS: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let a = self.twin.arrive(p, cx);
        let (avg, max) = if a.inside { (a.own, self.in_max) } else { (a.total, self.out_max) };
        if avg > max {
            return Verdict::Drop(DropReason::Forced);
        }
        self.twin.keep(p, a.inside);
        Verdict::Pass
    }

    #[inline]
    fn on_overflow(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Victim {
        self.twin.lost(p);
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.twin.left(p, cx.now);
        Verdict::Pass
    }

    #[inline]
    fn on_evict(&mut self, p: &Packet) {
        self.twin.gone(p);
    }

    fn window_clamp(&self, _: FlowId) -> Option<u32> {
        self.clamping().then_some(self.window)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.twin.total());
        out("avg_in", self.twin.inside());
        out("clamping", f64::from(u8::from(self.clamping())));
    }
}
