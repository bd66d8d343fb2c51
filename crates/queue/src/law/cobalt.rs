//! COBALT, the law of CAKE: CoDel whose count also runs backwards, and BLUE for flows that do not listen.

use super::bounds::check_shares;
use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len, Rate, Time};

fairlane_units::params! {
    /// COBALT is a CoDel that eases off as gradually as it tightened, joined with a BLUE that answers overflow (Høiland-Jørgensen, Täht and Morton 2018, section III; Palmei et al. 2019).
    pub struct CobaltParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Waiting time that may stand; also the least time between two changes of BLUE's probability (Palmei et al., section III).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(5),
        /// Time above `target` before the first signal, and what is divided by sqrt(count) for the next ones (Palmei et al., section III).
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub interval: Dur = Dur::from_ms(100),
        /// Waits of up to four transmission times of a packet this long are never too long, as in CAKE on slow links. Unset: no such guard.
        #[schemars(extend("x-min" = "1B", "x-max" = "10MB"))]
        pub mtu: Option<Bytes> = None,
        /// By how much BLUE's drop probability grows when the buffer overflows (Palmei et al., section III).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 1.0 / 256.0,
        /// By how much it falls when the link finds the queue empty (Palmei et al., section III).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 1.0 / 4096.0,
        /// Waiting time above which BLUE's probability grows without an overflow, as in ns-3. Unset: overflow alone counts.
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub blue_threshold: Option<Dur> = None,
        /// True if CoDel's half marks ECN-capable packets instead of dropping them, as CAKE does; BLUE's half always drops.
        pub ecn: bool = true,
        /// True if the last packet of the queue is never dropped, as in CAKE; it may be marked.
        pub spare_last: bool = false,
    }
}

impl CobaltParams {
    /// True if times and steps make sense; for disciplines that hold a [`Cobalt`] for each flow.
    pub fn check_values(&self) -> Result<(), Problem> {
        if self.target >= self.interval {
            let message = format!("a target of {} must be shorter than the interval of {}", self.target, self.interval);
            return Err(Problem::new("target", message));
        }
        check_shares(&[("increment", self.increment), ("decrement", self.decrement)])
    }
}

impl Discipline for CobaltParams {
    type Queue = Fifo<Cobalt>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "cake",
            doc: "As sch_cake of Linux sets it up: waits of up to four packets of 1514 bytes are never too long, and the last packet is never dropped.",
            values: r#"{"target": "5ms", "interval": "100ms", "mtu": "1514B", "increment": 0.00390625, "decrement": 0.000244140625, "ecn": true,
                        "spare_last": true}"#,
        },
        Preset {
            name: "ns3",
            doc: "CobaltQueueDisc of ns-3 with its defaults: 1.5 MB, BLUE also acts on waits above 400 ms, no marks.",
            values: r#"{"limit": "1500kB", "target": "5ms", "interval": "100ms", "increment": 0.00390625, "decrement": 0.000244140625,
                        "blue_threshold": "400ms", "ecn": false, "spare_last": false}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        self.check_values()
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Cobalt> {
        Fifo::new(Cobalt::new(self, context.link), Limit::new(self.limit, self.admit))
    }
}

/// Transmission times of a full packet that a queue may always wait (sch_cake), and as many for each bulk flow in its ingress mode.
const GUARD: u64 = 4;
const GUARD_OF_BULK: u64 = 2;

/// The state of COBALT: one for a plain queue, one for each queue of a scheduler with many.
#[derive(Clone, Debug, PartialEq)]
pub struct Cobalt {
    target: Dur,
    interval: Dur,
    rate: Rate,
    increment: f64,
    decrement: f64,
    blue_threshold: Dur,
    ecn: bool,
    spare_last: bool,

    /// Waits up to this are never too long.
    guard: Dur,
    /// Transmission time of a full packet; with bulk flows the guard is [`GUARD_OF_BULK`] of it for each, if that is more.
    mtu_time: Dur,
    /// True if the bulk flows of the scheduler count.
    ingress: bool,
    count: u32,
    dropping: bool,
    drop_next: Time,
    /// BLUE's drop probability, and when it changed last.
    p_drop: f64,
    blue_at: Time,
    /// When the link finds nothing to send, if nothing arrives before.
    idle_at: Option<Time>,
    /// True if it is the only queue of its link.
    alone: bool,
    sojourn: Dur,
}

impl Cobalt {
    /// A COBALT that has seen nothing yet, before this link.
    pub fn new(p: &CobaltParams, link: LinkInfo) -> Self {
        let mtu_time = p.mtu.map_or(Dur::ZERO, |b| link.rate.tx_time(b.get()));
        Self {
            target: p.target,
            interval: p.interval,
            rate: link.rate,
            increment: p.increment,
            decrement: p.decrement,
            blue_threshold: p.blue_threshold.unwrap_or(Dur::MAX),
            ecn: p.ecn,
            spare_last: p.spare_last,
            guard: mtu_time * GUARD,
            mtu_time,
            ingress: false,
            count: 0,
            dropping: false,
            drop_next: Time::ZERO,
            p_drop: 0.0,
            blue_at: Time::ZERO,
            idle_at: None,
            alone: true,
            sojourn: Dur::ZERO,
        }
    }

    /// One of several queues of a scheduler, which says when it finds this one empty.
    #[must_use]
    pub(crate) fn of_several(mut self) -> Self {
        self.alone = false;
        self
    }

    /// Judges a packet in CAKE's ingress mode: a wait is long only above two full packets of each bulk flow.
    #[must_use]
    pub(crate) fn at_ingress(mut self, ingress: bool) -> Self {
        self.ingress = ingress;
        self
    }

    /// Signals in force: grows with each, falls while the delay is below target.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// BLUE's drop probability.
    pub fn p_drop(&self) -> f64 {
        self.p_drop
    }

    /// A packet of this queue was lost for want of room.
    pub fn full(&mut self, now: Time) {
        self.blue(now, self.increment);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was to send and had nothing.
    fn empty(&mut self, now: Time) {
        if self.p_drop > 0.0 {
            self.blue(now, -self.decrement);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.ease();
        }
    }

    /// Changes BLUE's probability, at most once in `target`.
    fn blue(&mut self, now: Time, by: f64) {
        if now.since(self.blue_at) > self.target {
            self.p_drop = (self.p_drop + by).clamp(0.0, 1.0);
            self.blue_at = now;
        }
    }

    /// interval / sqrt(count) after `t`; a count of 0 stands for 1.
    fn control_law(&self, t: Time) -> Time {
        t + Dur::from_ps((self.interval.as_ps() as f64 / f64::from(self.count.max(1)).sqrt()) as u64)
    }

    fn ease(&mut self) {
        self.count -= 1;
        self.drop_next = self.control_law(self.drop_next);
    }

    /// CoDel's half. Returns whether a signal is due, and whether the next one already is.
    fn codel(&mut self, now: Time) -> (bool, bool) {
        let over = self.sojourn > self.target && self.sojourn > self.guard;
        let mut due = self.count > 0 && now >= self.drop_next;
        let mut late = now > self.drop_next;
        if over {
            if !self.dropping {
                self.drop_next = self.control_law(now);
            }
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let signal = due && over;
        if signal {
            self.count = self.count.saturating_add(1);
            self.drop_next = self.control_law(self.drop_next);
            late = now > self.drop_next;
        }
        while due && !over {
            self.ease();
            late = now > self.drop_next;
            due = self.count > 0 && now >= self.drop_next;
        }
        (signal, late)
    }

    /// The time of the next signal also says when the queue was last at work: it does not fall behind packets that are sent.
    fn keep_up(&mut self, now: Time, late: bool, dropped: bool) {
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if late && !dropped {
            self.drop_next = now;
        }
    }
}

impl Law for Cobalt {
    const DROPS_LATE: bool = true;
    const COUNTS_BULK: bool = true;

    #[inline]
    fn bulk_flows(&mut self, n: u32) {
        if self.ingress {
            self.guard = self.mtu_time * GUARD.max(GUARD_OF_BULK * u64::from(n));
        }
    }

    #[inline]
    fn on_enqueue(&mut self, _: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if let Some(t) = self.idle_at.take()
            && t < cx.now
        {
            self.empty(t);
        }
        Verdict::Pass
    }

    fn on_overflow(&mut self, _: &Packet, cx: &mut LawCx<'_>) -> Victim {
        self.full(cx.now);
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.sojourn = cx.now.since(p.at);
        let (signal, late) = self.codel(cx.now);
        if self.sojourn > self.blue_threshold {
            self.blue(cx.now, self.increment);
        }
        let lost = self.p_drop > 0.0 && cx.rng.uniform() < self.p_drop;
        let marked = signal && self.ecn && p.ecn.capable();
        // A packet that is spared counts as dropped here, as in sch_cake.
        self.keep_up(cx.now, late, lost || (signal && !marked));
        if self.alone && cx.held.pkts == 0 {
            self.idle_at = Some(cx.now + self.rate.tx_time(u64::from(p.len)));
        }
        let spared = self.spare_last && cx.held.pkts == 0;
        match (lost, signal) {
            (true, _) | (_, true) if spared => {
                if marked {
                    Verdict::Mark
                } else {
                    Verdict::Pass
                }
            }
            (true, _) => Verdict::Drop(DropReason::Early),
            (false, true) if marked => Verdict::Mark,
            (false, true) => Verdict::Drop(DropReason::Head),
            (false, false) => Verdict::Pass,
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.idle_at = None;
        self.empty(now);
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("count", f64::from(self.count));
        out("drop_prob", self.p_drop);
        out("sojourn", self.sojourn.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
