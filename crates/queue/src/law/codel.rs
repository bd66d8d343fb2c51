//! CoDel, controlled delay: drops at the head, ever more often, while the delay stays above a target.

use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// How 1 / sqrt(count) is worked out.
    pub enum InvSqrt {
        /// Exactly (RFC 8289 section 5.3).
        #[default]
        Exact,
        /// By one step of Newton's method for each drop, kept in 16 bits, as Linux and ns-3 do.
        Newton,
    }

    /// CoDel drops or marks at the head of the queue, at intervals that shrink with the square root of their count, while packets wait longer than a target (RFC 8289).
    pub struct CodelParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// When it drops.
        #[serde(flatten)]
        pub times: CodelTimes,
        /// True if ECN-capable packets are marked instead of dropped (section 3).
        pub ecn: bool = false,
        /// Variants of implementations.
        #[serde(flatten)]
        pub finer: CodelFiner,
    }

    /// When CoDel drops.
    pub part CodelTimes {
        /// Waiting time that may stand (TARGET, RFC 8289 section 4.2).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(5),
        /// How long the waiting time must stay above `target` before a packet is dropped; about a long round trip (INTERVAL, RFC 8289 section 4.3).
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub interval: Dur = Dur::from_ms(100),
        /// Nothing is dropped while at most this much waits behind the packet (maxpacket, RFC 8289 section 5.4). Unset: the largest packet seen so far.
        #[schemars(extend("x-min" = "0B", "x-max" = "10MB"))]
        pub mtu: Option<Bytes> = None,
    }

    /// Variants of CoDel in implementations, and their arithmetic.
    pub part CodelFiner {
        /// Waiting time above which every ECN-capable packet is marked, whatever the state (tc's ce_threshold, RFC 8290 section 5.2.7). Unset: off.
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub ce_threshold: Option<Dur>,
        /// How 1 / sqrt(count) is worked out.
        pub inv_sqrt: InvSqrt,
    }
}

impl CodelTimes {
    /// True if the times make sense.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.target >= self.interval {
            let message = format!("a target of {} must be shorter than the interval of {}", self.target, self.interval);
            return Err(Problem::new("target", message));
        }
        Ok(())
    }
}

impl Discipline for CodelParams {
    type Queue = Fifo<Codel>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_codel of Linux (tc codel): stops one full packet before the end of the queue, 16-bit square roots.",
            values: r#"{"limit": "1000p", "target": "5ms", "interval": "100ms", "mtu": "1500B", "ecn": false, "inv_sqrt": "newton"}"#,
        },
        Preset {
            name: "ns3",
            doc: "CoDelQueueDisc of ns-3 with its defaults: a buffer of 1.5 MB, and drops even with one full packet left (MinBytes 1500 is compared with <).",
            values: r#"{"limit": "1500kB", "target": "5ms", "interval": "100ms", "mtu": "1499B", "ecn": false, "inv_sqrt": "newton"}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        self.times.check()
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Codel> {
        Fifo::new(Codel::new(self), Limit::new(self.limit, self.admit))
    }
}

/// Where CoDel stands between two packets at the head (RFC 8289 section 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not in dropping state.
    Calm,
    /// Dropping state was entered with a drop: the next packet is sent whatever it waited.
    Entered,
    /// In dropping state, until `drop_next`.
    Dropping,
    /// In dropping state, after a drop that was due: the next packet decides whether there is another.
    Dropped,
}

/// Ends of dropping state are remembered for this many intervals (RFC 8289 section 5.5).
const MEMORY: u64 = 16;
/// One, in the 16-bit fractions of [`InvSqrt::Newton`].
const FULL: u16 = u16::MAX;

/// The state of CoDel: one for a plain queue, one for each queue of a scheduler with many.
#[derive(Clone, Debug, PartialEq)]
pub struct Codel {
    target: Dur,
    interval: Dur,
    mtu: Option<u64>,
    ce_threshold: Dur,
    ecn: bool,
    newton: bool,

    phase: Phase,
    /// Largest packet seen.
    max_packet: u64,
    /// When the delay will have been above target for an interval; `None` while it is below.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    inv_sqrt: u16,
    sojourn: Dur,
    shared: CodelShared,
    /// Bytes in the other queues, where `mtu` is compared with all.
    others: u64,
}

fairlane_units::params! {
    /// How a CoDel that is one of several in a scheduler takes part in what happens to all.
    pub part CodelShared {
        /// True if `mtu` is compared with what waits in all queues together, as in Linux; else with what waits in the packet's own (RFC 8289 section 5.4).
        pub mtu_of_all: bool,
        /// True if packets that are dropped from the queue with most bytes raise the count of its CoDel, as in Linux.
        pub count_evicted: bool,
    }
}

impl Codel {
    /// A CoDel that has seen nothing yet.
    pub fn new(p: &CodelParams) -> Self {
        Self::of(&p.times, &p.finer, p.ecn)
    }

    /// One of these parameters.
    pub(crate) fn of(times: &CodelTimes, finer: &CodelFiner, ecn: bool) -> Self {
        Self {
            target: times.target,
            interval: times.interval,
            mtu: times.mtu.map(Bytes::get),
            ce_threshold: finer.ce_threshold.unwrap_or(Dur::MAX),
            ecn,
            newton: finer.inv_sqrt == InvSqrt::Newton,
            phase: Phase::Calm,
            max_packet: 0,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            inv_sqrt: FULL,
            sojourn: Dur::ZERO,
            shared: CodelShared::default(),
            others: 0,
        }
    }

    /// One of several in a scheduler.
    #[must_use]
    pub(crate) fn sharing(mut self, shared: &CodelShared) -> Self {
        self.shared = shared.clone();
        self
    }

    /// Drops since dropping state was entered, counted on from the last time if that was not long ago.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// True if it is in dropping state.
    pub fn dropping(&self) -> bool {
        self.phase != Phase::Calm
    }

    /// Section 5.4: whether the delay has been above target for an interval. `waiting` is what is left in the queue, in bytes.
    fn ok_to_drop(&mut self, now: Time, waiting: u64) -> bool {
        if self.sojourn < self.target || waiting <= self.mtu.unwrap_or(self.max_packet) {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
            Some(t) => now >= t,
        }
    }

    /// Section 5.3: the next drop is interval / sqrt(count) after `t`.
    fn control_law(&self, t: Time) -> Time {
        let interval = self.interval.as_ps();
        let gap = match self.newton {
            true => ((u128::from(interval) * u128::from(self.inv_sqrt)) >> 16) as u64,
            false => (interval as f64 / f64::from(self.count.max(1)).sqrt()) as u64,
        };
        t + Dur::from_ps(gap)
    }

    /// Newton's step x <- x (3 - count x^2) / 2 towards 1 / sqrt(count), in 16-bit fractions rounded down.
    fn newton_step(&mut self) {
        let x = u64::from(self.inv_sqrt) << 16;
        let square = (x * x) >> 32;
        // A quarter of 3 - count x^2: the difference itself leaves no bits for another factor.
        let rest = (3_u64 << 32).saturating_sub(u64::from(self.count).saturating_mul(square)) >> 2;
        self.inv_sqrt = ((((rest * x) >> 31).min(u64::from(u32::MAX))) >> 16) as u16;
    }

    /// Marks or drops; the answer to a packet that has to go.
    fn signal(&self, p: &Packet) -> Verdict {
        if self.ecn && p.ecn.capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Head) }
    }

    /// Returns the verdict on a packet that CoDel sends.
    fn send(&self, p: &Packet) -> Verdict {
        if self.sojourn > self.ce_threshold && p.ecn.capable() { Verdict::Mark } else { Verdict::Pass }
    }

    /// Section 5.5: enters dropping state, at the rate that was right last time if that is not long ago.
    fn enter(&mut self, now: Time, p: &Packet) -> Verdict {
        let delta = self.count - self.last_count;
        if delta > 1 && now < self.drop_next + self.interval * MEMORY {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.inv_sqrt = FULL;
        }
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        let v = self.signal(p);
        // A marked packet is itself the one that is sent.
        self.phase = if v == Verdict::Mark { Phase::Dropping } else { Phase::Entered };
        v
    }
}

impl Law for Codel {
    const DROPS_LATE: bool = true;
    const USES_OTHER_BACKLOG: bool = true;

    #[inline]
    fn other_backlog(&mut self, bytes: u64) {
        self.others = if self.shared.mtu_of_all { bytes } else { 0 };
    }

    /// Only where `mtu` is compared with what waits elsewhere can the last packet have been dropped, or the queue run empty in dropping state. As in codel_impl.h,
    /// a drop that leaves nothing behind forgets how long the wait has been too long; a look at an empty queue ends the state alone.
    fn on_empty(&mut self, _: Time) {
        match self.phase {
            Phase::Calm => {}
            Phase::Dropping => self.phase = Phase::Calm,
            Phase::Dropped => (self.phase, self.first_above) = (Phase::Calm, None),
            Phase::Entered => (self.phase, self.first_above) = (Phase::Dropping, None),
        }
    }

    fn on_evict(&mut self, _: &Packet) {
        self.count = self.count.saturating_add(u32::from(self.shared.count_evicted));
    }

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Verdict {
        self.max_packet = self.max_packet.max(u64::from(p.len));
        Verdict::Pass
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.sojourn = cx.now.since(p.at);
        let ok = self.ok_to_drop(cx.now, cx.held.bytes + self.others);
        match (self.phase, ok) {
            (Phase::Calm, false) => {}
            (Phase::Calm, true) => return self.enter(cx.now, p),
            (Phase::Entered, _) => self.phase = Phase::Dropping,
            (_, false) => self.phase = Phase::Calm,
            (phase, true) => {
                // Section 5.5: the time of the next drop follows from the last one, and only while the delay is above target.
                if phase == Phase::Dropped {
                    self.drop_next = self.control_law(self.drop_next);
                    self.phase = Phase::Dropping;
                }
                if cx.now >= self.drop_next {
                    self.count = self.count.saturating_add(1);
                    self.newton_step();
                    let v = self.signal(p);
                    match v {
                        Verdict::Mark => self.drop_next = self.control_law(self.drop_next),
                        _ => self.phase = Phase::Dropped,
                    }
                    return v;
                }
            }
        }
        self.send(p)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("count", f64::from(self.count));
        out("dropping", f64::from(u8::from(self.dropping())));
        out("sojourn", self.sojourn.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
