//! BLUE: a marking probability that overflow raises and idleness lowers, without a look at the queue's length.

use super::bounds::check_shares;
use super::headdrop::check_limit;
use super::idle::Idle;
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Front, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Dur, Len, Time};

fairlane_units::params! {
    /// BLUE drops or marks arriving packets with a probability that grows when the buffer overflows and shrinks when the link falls idle (Feng, Kandlur, Saha and Shin 1999).
    pub struct BlueParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// Queue above which an arrival raises the probability as a loss does (L, section 3.1). Unset: losses alone.
        pub length: Option<Len> = None,
        /// By how much the probability grows (d1, section 3.1).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 0.02,
        /// By how much it shrinks (d2, section 3.1).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 0.002,
        /// Least time between two changes (freeze_time, section 3.1).
        #[schemars(extend("x-min" = "0s", "x-max" = "1000s"))]
        pub freeze_time: Dur = Dur::from_ms(100),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = false,
    }
}

impl Discipline for BlueParams {
    type Queue = Fifo<Blue>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        check_shares(&[("increment", self.increment), ("decrement", self.decrement)])
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Blue> {
        Fifo::new(Blue::new(self, context.link), Limit::new(self.limit, self.admit)).bearing(self.front)
    }
}

/// The state of BLUE.
#[derive(Clone, Debug, PartialEq)]
pub struct Blue {
    increment: f64,
    decrement: f64,
    freeze_time: Dur,
    length: Limit,
    ecn: bool,

    p: f64,
    /// When the probability changed last; `None`: never yet.
    changed: Option<Time>,
    idle: Idle,
}

impl Blue {
    /// A BLUE that has seen nothing yet, before this link.
    pub fn new(p: &BlueParams, link: LinkInfo) -> Self {
        Self {
            increment: p.increment,
            decrement: p.decrement,
            freeze_time: p.freeze_time,
            length: p.length.map_or(Limit::NONE, |len| Limit::new(len, Admit::Fits)),
            ecn: p.ecn,
            p: 0.0,
            changed: None,
            idle: Idle::new(link.rate),
        }
    }

    /// The marking probability, p_m.
    pub fn p(&self) -> f64 {
        self.p
    }

    fn thawed(&self, now: Time) -> bool {
        self.changed.is_none_or(|t| now.since(t) > self.freeze_time)
    }

    /// Section 3.1: a packet was lost, or the queue is too long.
    fn raise(&mut self, now: Time) {
        if self.thawed(now) {
            self.p = (self.p + self.increment).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Section 3.1: the link had nothing to send from `from` to `to`, an event that repeats itself every `freeze_time`.
    fn idled(&mut self, from: Time, to: Time) {
        let step = self.freeze_time + Dur::from_ps(1);
        let first = self.changed.map_or(from, |t| from.max(t + step));
        if self.p == 0.0 || first >= to {
            return;
        }
        // Without freezing one idle time is one event.
        let more = if self.freeze_time == Dur::ZERO { 0 } else { ((to - first).as_ps() - 1) / step.as_ps() };
        self.p = (self.p - self.decrement * (more + 1) as f64).max(0.0);
        self.changed = Some(first + step * more);
    }
}

impl Law for Blue {
    const FRONT: bool = true;
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if let Some(from) = self.idle.ended(cx.now) {
            self.idled(from, cx.now);
        }
        if !self.length.admits(cx.held, p.len) {
            self.raise(cx.now);
        }
        if self.p == 0.0 || cx.rng.uniform() >= self.p {
            return Verdict::Pass;
        }
        if self.ecn && p.ecn.capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }

    fn on_overflow(&mut self, _: &Packet, cx: &mut LawCx<'_>) -> Victim {
        self.raise(cx.now);
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.idle.departed(p, cx.now);
        Verdict::Pass
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("drop_prob", self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::testing::{Bench, pkt};
    use fairlane_net::Ecn;
    use fairlane_units::Rate;

    fn link() -> LinkInfo {
        LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
    }

    fn bench(p: &BlueParams) -> Bench<Blue> {
        Bench::new(Blue::new(p, link()), 5)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_secs(10) + Dur::from_ms(ms)
    }

    fn packet(ecn: Ecn) -> Packet {
        pkt(1000, 0, ecn, at(0))
    }

    /// Section 3.1: p_m grows by d1 with a loss, then not for freeze_time.
    #[test]
    fn losses_raise_the_probability() {
        let mut b = bench(&BlueParams::default());
        for ms in 0..1000 {
            b.overflow(&packet(Ecn::NotEct), at(ms), 50_000);
        }
        // At 0, 101, 202 ... 909 ms: ten times d1 = 0.02.
        assert!((b.law.p() - 0.2).abs() < 1e-12);
        let mut b = bench(&BlueParams { freeze_time: Dur::ZERO, ..BlueParams::default() });
        (0..60).for_each(|ms| b.overflow(&packet(Ecn::NotEct), at(ms), 50_000));
        assert_eq!(b.law.p(), 1.0);
    }

    /// ... and shrinks by d2 when the link is idle: here 0.8 ms after the last departure, and again every 100 ms.
    #[test]
    fn idleness_lowers_it() {
        for (arrival_us, events) in [(799, 0), (801, 1), (100_700, 1), (100_900, 2), (1_000_900, 11)] {
            let mut b = bench(&BlueParams::default());
            (b.law.p, b.law.changed) = (0.5, Some(at(0)));
            b.dequeue(&packet(Ecn::NotEct), at(500), 0);
            b.enqueue(&packet(Ecn::NotEct), at(500) + Dur::from_us(arrival_us), 0);
            let want = 0.5 - 0.002 * f64::from(events);
            assert!((b.law.p() - want).abs() < 1e-12, "{arrival_us}: {} {want}", b.law.p());
        }
        // Frozen by a loss 50 ms before, it waits for the rest.
        let mut b = bench(&BlueParams::default());
        (b.law.p, b.law.changed) = (0.5, Some(at(450)));
        b.dequeue(&packet(Ecn::NotEct), at(500), 0);
        b.enqueue(&packet(Ecn::NotEct), at(549), 0);
        assert_eq!(b.law.p(), 0.5);
        b.dequeue(&packet(Ecn::NotEct), at(550), 0);
        b.enqueue(&packet(Ecn::NotEct), at(552), 0);
        assert!((b.law.p() - 0.498).abs() < 1e-12);
    }

    /// The queue's length itself counts only where `length` is set.
    #[test]
    fn length_stands_for_a_loss() {
        for (length, p) in [(None, 0.0), (Some(Len::Packets(20)), 0.02)] {
            let mut b = bench(&BlueParams { length, ..BlueParams::default() });
            b.enqueue(&packet(Ecn::NotEct), at(0), 19_000);
            assert_eq!(b.law.p(), 0.0);
            b.enqueue(&packet(Ecn::NotEct), at(0), 20_000);
            assert_eq!(b.law.p(), p);
        }
    }

    #[test]
    fn drops_or_marks_the_share_p() {
        let mut b = bench(&BlueParams { ecn: true, ..BlueParams::default() });
        b.law.p = 0.25;
        for (ecn, verdict) in [(Ecn::NotEct, Verdict::Drop(DropReason::Early)), (Ecn::Ect0, Verdict::Mark)] {
            let n = (0..40_000).filter(|_| b.enqueue(&packet(ecn), at(0), 5000) == verdict).count();
            assert!(n.abs_diff(10_000) < 350, "{n}");
        }
    }

    #[test]
    fn impossible_values_are_refused() {
        let p = BlueParams { increment: 1.5, ..BlueParams::default() };
        assert_eq!(p.check(&link().into()).unwrap_err().field, "increment");
        assert!(BlueParams::default().check(&link().into()).is_ok());
    }
}
