//! PI2: a plain PI controller whose output is squared for flows that answer to 1 / sqrt(p).

use super::bounds::check_up_to;
use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Front, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Ecn, Packet};
use fairlane_units::{Dur, Len, Time};

fairlane_units::params! {
    /// PI2 drops or marks Classic packets with the square of a PI controller's output and marks Scalable ones in proportion to it (De Schepper, Bondarenko, Tsang and Briscoe 2016).
    pub struct Pi2Params {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// Delay to hold (tau_0, section 4; 20 ms in section 6).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(20),
        /// Time between two updates (T, section 4; 32 ms in section 6).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub tupdate: Dur = Dur::from_ms(32),
        /// Weight of the delay's distance from the target, per second and update (5/16 in section 6).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub alpha: f64 = 0.3125,
        /// Weight of the delay's change, per second and update (50/16 in section 6).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: f64 = 3.125,
        /// Coupling: a Scalable packet, one with ECT(1) or CE, is marked with k times the controller's output (section 5).
        #[schemars(range(min = 0.0, max = 100.0))]
        pub k: f64 = 2.0,
        /// Largest probability for Classic packets (25 % in section 6); beyond it the buffer has to overflow.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_prob: f64 = 0.25,
        /// True if ECN-capable packets are marked instead of dropped; without it all are Classic and dropped.
        pub ecn: bool = true,
    }
}

impl Discipline for Pi2Params {
    type Queue = Fifo<Pi2>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        check_control(
            self.tupdate,
            &[("alpha", self.alpha, 1000.0), ("beta", self.beta, 1000.0), ("k", self.k, 100.0), ("max_prob", self.max_prob, 1.0)],
        )
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Pi2> {
        Fifo::new(Pi2::new(self), Limit::new(self.limit, self.admit)).bearing(self.front)
    }
}

/// True if a controller can work with these values; each is given with its name and the most it may be.
pub(crate) fn check_control(tupdate: Dur, values: &[(&str, f64, f64)]) -> Result<(), Problem> {
    if tupdate == Dur::ZERO {
        return Err(Problem::new("tupdate", "the probability cannot be updated every 0 s"));
    }
    check_up_to(values)
}

/// A proportional integral controller of the queueing delay; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Controller {
    /// Weight of the distance from the target.
    pub alpha: f64,
    /// Weight of the change since the last update.
    pub beta: f64,
    /// The delay to hold.
    pub target: f64,
    /// Largest output.
    pub max: f64,
    /// The output, p'.
    pub p: f64,
    /// The delay at the last update.
    pub qdelay: f64,
}

impl Controller {
    /// Takes in the delay of now (equation 4 of the PI2 paper; RFC 9332 appendix A.1).
    pub(crate) fn update(&mut self, qdelay: f64) {
        let p = self.p + self.alpha * (qdelay - self.target) + self.beta * (qdelay - self.qdelay);
        self.p = p.clamp(0.0, self.max);
        self.qdelay = qdelay;
    }
}

/// The state of PI2.
#[derive(Clone, Debug, PartialEq)]
pub struct Pi2 {
    control: Controller,
    tupdate: Dur,
    k: f64,
    ecn: bool,
}

impl Pi2 {
    /// A PI2 that has seen nothing yet.
    pub fn new(p: &Pi2Params) -> Self {
        let max = p.max_prob.sqrt();
        let control = Controller { alpha: p.alpha, beta: p.beta, target: p.target.as_secs_f64(), max, p: 0.0, qdelay: 0.0 };
        Self { control, tupdate: p.tupdate, k: p.k, ecn: p.ecn }
    }

    /// The controller's output, p'.
    pub fn p(&self) -> f64 {
        self.control.p
    }

    /// The probability for Classic packets: p' squared (section 4).
    pub fn classic(&self) -> f64 {
        self.control.p * self.control.p
    }

    /// The probability for Scalable packets: k p' (section 5).
    pub fn scalable(&self) -> f64 {
        (self.k * self.control.p).min(1.0)
    }
}

impl Law for Pi2 {
    const FRONT: bool = true;
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let scalable = self.ecn && matches!(p.ecn, Ecn::Ect1 | Ecn::Ce);
        let prob = if scalable { self.scalable() } else { self.classic() };
        if cx.rng.uniform() >= prob {
            Verdict::Pass
        } else if self.ecn && p.ecn.capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        self.control.update(cx.queue.front().map_or(0.0, |p| cx.now.since(p.at).as_secs_f64()));
        Some(cx.now + self.tupdate)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p());
        out("drop_prob", self.classic());
        out("mark_prob", self.scalable());
        out("qdelay", self.control.qdelay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::testing::{Bench, pkt};
    use crate::sched::waiting::Waiting;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn bench(p: f64, params: &Pi2Params) -> Bench<Pi2> {
        let mut b = Bench::new(Pi2::new(params), 7);
        b.law.control.p = p;
        b
    }

    fn share(b: &mut Bench<Pi2>, ecn: Ecn, want: Verdict) -> f64 {
        let n = 100_000;
        let hit: Vec<Verdict> = (0..n).map(|_| b.enqueue(&pkt(1000, 0, ecn, at(0)), at(0), 9000)).filter(|v| *v != Verdict::Pass).collect();
        assert!(hit.iter().all(|v| *v == want), "{ecn:?}");
        hit.len() as f64 / f64::from(n)
    }

    /// Section 4: p' += alpha (tau - tau_0) + beta (tau - tau_old), with the delay of the packet at the head.
    #[test]
    fn controller_by_hand() {
        let mut b = bench(0.0, &Pi2Params::default());
        b.queue.push_back(pkt(1000, 0, Ecn::NotEct, at(2)));
        assert_eq!(b.timer(at(32), 1000), Some(at(64)));
        let first = 0.3125 * 0.010 + 3.125 * 0.030;
        assert!((b.law.p() - first).abs() < 1e-12, "{}", b.law.p());
        let head = b.queue.pop_front().unwrap();
        b.queue.push_back(Packet { at: at(39), ..head });
        b.timer(at(64), 1000);
        assert!((b.law.p() - (first + 0.3125 * 0.005 - 3.125 * 0.005)).abs() < 1e-12);
        b.queue = Waiting::default();
        b.timer(at(96), 0);
        let third = first + 0.3125 * 0.005 - 3.125 * 0.005 - 0.3125 * 0.020 - 3.125 * 0.025;
        assert!((b.law.p() - third.max(0.0)).abs() < 1e-12);
    }

    /// Classic: p' squared, dropped or marked by what the packet can carry. Scalable: k p', always marked.
    #[test]
    fn squares_and_couples() {
        for p in [0.05, 0.1, 0.3] {
            let mut b = bench(p, &Pi2Params::default());
            for (ecn, verdict, want) in [
                (Ecn::NotEct, Verdict::Drop(DropReason::Early), p * p),
                (Ecn::Ect0, Verdict::Mark, p * p),
                (Ecn::Ect1, Verdict::Mark, 2.0 * p),
                (Ecn::Ce, Verdict::Mark, 2.0 * p),
            ] {
                let got = share(&mut b, ecn, verdict);
                let sigma = (want * (1.0 - want) / 1e5).sqrt();
                assert!((got - want).abs() < 4.0 * sigma, "{p} {ecn:?}: {got} {want}");
            }
            // Without ECN every packet is Classic.
            let mut b = bench(p, &Pi2Params { ecn: false, ..Pi2Params::default() });
            assert!((share(&mut b, Ecn::Ect1, Verdict::Drop(DropReason::Early)) - p * p).abs() < 0.005);
        }
    }

    /// Section 6: at most 25 % for Classic packets, where Scalable ones are all marked.
    #[test]
    fn output_is_capped_at_a_half() {
        let mut b = bench(0.0, &Pi2Params::default());
        b.queue.push_back(pkt(1000, 0, Ecn::NotEct, at(0)));
        b.timer(at(10_000), 1000);
        assert_eq!((b.law.p(), b.law.classic(), b.law.scalable()), (0.5, 0.25, 1.0));
        assert_eq!(share(&mut b, Ecn::Ect1, Verdict::Mark), 1.0);
    }

    #[test]
    fn impossible_values_are_refused() {
        let context = fairlane_net::LinkInfo { rate: fairlane_units::Rate::from_mbps(1), delay: Dur::ZERO }.into();
        for (p, field) in [
            (Pi2Params { tupdate: Dur::ZERO, ..Pi2Params::default() }, "tupdate"),
            (Pi2Params { k: -1.0, ..Pi2Params::default() }, "k"),
            (Pi2Params { max_prob: 1.1, ..Pi2Params::default() }, "max_prob"),
        ] {
            assert_eq!(p.check(&context).unwrap_err().field, field);
        }
        assert!(Pi2Params::default().check(&context).is_ok());
    }
}
