//! GREEN: the loss rate at which TCP's own throughput formula gives each flow its fair share.

use super::bounds::check_up_to;
use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Front, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len};

fairlane_units::params! {
    /// GREEN drops or marks with the probability at which N flows of TCP just fill the link, from their number and their round-trip time (Feng, Kapadia and Thulasidasan 2002).
    pub struct GreenParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// Round-trip time of the flows (RTT, equation 2).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub rtt: Dur = Dur::from_ms(100),
        /// Segment size of the flows (MSS, equation 2).
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mss: Bytes = Bytes(1000),
        /// Constant of the throughput formula: sqrt(3/2) = 1.22 with an acknowledgement for each segment, 0.87 for every other one (Mathis et al. 1997).
        #[schemars(range(min = 0.0, max = 10.0))]
        pub c: f64 = 1.22,
        /// A flow counts if it sent data within this time.
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub window: Dur = Dur::from_secs(1),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = false,
    }
}

impl Discipline for GreenParams {
    type Queue = Fifo<Green>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        for (name, d) in [("rtt", self.rtt), ("window", self.window)] {
            if d == Dur::ZERO {
                return Err(Problem::new(name, "0 s is no time"));
            }
        }
        check_up_to(&[("c", self.c, 10.0)])
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Green> {
        Fifo::new(Green::new(self, context.link), Limit::new(self.limit, self.admit)).bearing(self.front)
    }
}

/// The state of GREEN.
#[derive(Clone, Debug, PartialEq)]
pub struct Green {
    /// sqrt(p) for each flow: MSS c / (L RTT).
    share: f64,
    window: Dur,
    ecn: bool,

    /// For each flow, one more than the number of the window in which it last sent.
    seen: Vec<u64>,
    /// One more than the number of the window that runs.
    current: u64,
    /// Flows seen in it, and in the one before.
    now_active: u32,
    last_active: u32,
}

impl Green {
    /// A GREEN that has seen nothing yet, before this link.
    pub fn new(p: &GreenParams, link: LinkInfo) -> Self {
        let per_rtt = link.rate.as_bps() as f64 / 8.0 * p.rtt.as_secs_f64();
        Self {
            share: p.mss.get() as f64 * p.c / if per_rtt > 0.0 { per_rtt } else { 1.0 },
            window: p.window,
            ecn: p.ecn,
            seen: vec![],
            current: 1,
            now_active: 0,
            last_active: 0,
        }
    }

    /// Active flows, N: those of the last full window, or of the running one if they are more already.
    pub fn active(&self) -> u32 {
        self.last_active.max(self.now_active)
    }

    /// p = (N MSS c / (L RTT))^2 (equation 2), at most 1.
    pub fn p(&self) -> f64 {
        let root = f64::from(self.active()) * self.share;
        if root < 1.0 { root * root } else { 1.0 }
    }

    fn count(&mut self, p: &Packet, window: u64) {
        if window != self.current {
            self.last_active = if window == self.current + 1 { self.now_active } else { 0 };
            self.now_active = 0;
            self.current = window;
        }
        let i = 2 * p.flow.0 as usize + usize::from(p.back);
        if self.seen.len() <= i {
            self.seen.resize(i + 1, 0);
        }
        if self.seen[i] != window {
            self.seen[i] = window;
            self.now_active += 1;
        }
    }
}

impl Law for Green {
    const FRONT: bool = true;
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        // The formula is about data: acknowledgements neither count nor suffer.
        if !p.data {
            return Verdict::Pass;
        }
        self.count(p, cx.now.as_ps() / self.window.as_ps() + 1);
        if cx.rng.uniform() >= self.p() {
            return Verdict::Pass;
        }
        if self.ecn && p.ecn.capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("drop_prob", self.p());
        out("active", f64::from(self.active()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::testing::{Bench, pkt};
    use fairlane_net::Ecn;
    use fairlane_units::{Rate, Time};

    fn link() -> LinkInfo {
        LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// Each of `flows` sends one packet at `ms`.
    fn arrive(b: &mut Bench<Green>, flows: u32, ms: u64) {
        for f in 0..flows {
            b.enqueue(&pkt(1000, f, Ecn::NotEct, at(ms)), at(ms), 5000);
        }
    }

    /// Equation 2 at 10 Mbit/s and 100 ms, which is 125,000 bytes: ten flows of 1000 bytes, c = 1.22: (12,200 / 125,000)^2 = 0.0095.
    #[test]
    fn formula() {
        for (n, want) in [(1, 9.525_76e-5), (10, 9.525_76e-3), (40, 0.152_412_16), (200, 1.0)] {
            let mut b = Bench::new(Green::new(&GreenParams::default(), link()), 1);
            arrive(&mut b, n, 10);
            assert_eq!(b.law.active(), n);
            assert!((b.law.p() - want).abs() < 1e-12, "{n}: {}", b.law.p());
        }
        // The square of the flows over the square of the path: a path four times as long needs a sixteenth.
        let mut b = Bench::new(Green::new(&GreenParams { rtt: Dur::from_ms(400), ..GreenParams::default() }, link()), 1);
        arrive(&mut b, 40, 10);
        assert!((b.law.p() - 0.152_412_16 / 16.0).abs() < 1e-12);
    }

    /// At this probability Mathis' formula gives each flow its share: c MSS / (RTT sqrt(p)) = L / N.
    #[test]
    fn each_flow_gets_its_share() {
        let mut b = Bench::new(Green::new(&GreenParams::default(), link()), 1);
        arrive(&mut b, 25, 10);
        let each = 1.22 * 1000.0 * 8.0 / (0.1 * b.law.p().sqrt());
        assert!((each * 25.0 / 10e6 - 1.0).abs() < 1e-12);
    }

    /// Flows count in the window in which they send and the next one; data counts, acknowledgements do not.
    #[test]
    fn flows_come_and_go() {
        let mut b = Bench::new(Green::new(&GreenParams::default(), link()), 1);
        arrive(&mut b, 30, 500);
        arrive(&mut b, 30, 600);
        assert_eq!(b.law.active(), 30);
        arrive(&mut b, 5, 1100);
        assert_eq!(b.law.active(), 30);
        arrive(&mut b, 6, 2100);
        assert_eq!(b.law.active(), 6);
        arrive(&mut b, 2, 9100);
        assert_eq!(b.law.active(), 2);
        for f in 0..50 {
            let ack = Packet { data: false, ..pkt(40, f, Ecn::NotEct, at(9200)) };
            assert_eq!(b.enqueue(&ack, at(9200), 5000), Verdict::Pass);
        }
        assert_eq!(b.law.active(), 2);
    }

    #[test]
    fn drops_or_marks_the_share_p() {
        let mut b = Bench::new(Green::new(&GreenParams { ecn: true, ..GreenParams::default() }, link()), 1);
        arrive(&mut b, 40, 10);
        for (ecn, verdict) in [(Ecn::NotEct, Verdict::Drop(DropReason::Early)), (Ecn::Ect0, Verdict::Mark)] {
            let n = (0..50_000).filter(|_| b.enqueue(&pkt(1000, 3, ecn, at(20)), at(20), 5000) == verdict).count();
            assert!(n.abs_diff(7621) < 330, "{n}");
        }
    }

    #[test]
    fn impossible_values_are_refused() {
        for (p, field) in [
            (GreenParams { rtt: Dur::ZERO, ..GreenParams::default() }, "rtt"),
            (GreenParams { c: f64::NAN, ..GreenParams::default() }, "c"),
        ] {
            assert_eq!(p.check(&link().into()).unwrap_err().field, field);
        }
        assert!(GreenParams::default().check(&link().into()).is_ok());
    }
}
