//! FRED: RED that keeps account of each flow's packets, spares flows with few and holds down those that do not listen.

use super::bounds::check_shares;
use super::headdrop::check_limit;
use super::red::parts::{Average, Idle};
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len};

fairlane_units::params! {
    /// FRED drops early only from flows that hold more than their share of the queue, and from flows that keep too much at every arrival (Lin and Morris 1997).
    pub struct FredParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Average queue below which nothing is dropped at random, and most packets of one flow (min_th, figure 7). Unset: a quarter of `limit`, at most what
        /// the link sends in `rtt`.
        pub min: Option<Len> = None,
        /// Average queue from which flows may hold two packets each (max_th, figure 7). Unset: twice `min`.
        pub max: Option<Len> = None,
        /// Round-trip time that the automatic `min` reckons with.
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub rtt: Dur = Dur::from_ms(100),
        /// RED's probability at `max` (max_p, figure 7).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.02,
        /// Weight of one sample in the average (w_q, figure 7).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub w_q: f64 = 0.002,
        /// Packets that each flow may hold without random drops: 2 for small buffers, 4 for large ones (minq, figure 7).
        pub min_q: Len = Len::Packets(4),
        /// True if flows may still hold two packets each while the average is above `max`, so that many flows do not lock each other out (section 5.2).
        /// Without it every arrival is dropped then.
        pub many_flows: bool = true,
        /// Length of a typical packet: converts bytes into packets, in which FRED counts.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
    }
}

/// Packets of a flow while the average is above `max` (two-packet buffering, section 5.2).
const CROWDED_Q: f64 = 2.0;

impl FredParams {
    fn packets(&self, len: Len) -> f64 {
        match len {
            Len::Packets(n) => n as f64,
            Len::Bytes(n) => n as f64 / self.mean_packet.get().max(1) as f64,
        }
    }

    /// The thresholds in force on a link, in packets.
    fn thresholds(&self, link: LinkInfo) -> (f64, f64) {
        let min = self.min.map_or_else(
            || {
                let quarter = self.packets(self.limit) / 4.0;
                let trip = link.rate.as_bps() as f64 / 8.0 * self.rtt.as_secs_f64() / self.mean_packet.get().max(1) as f64;
                let least = if quarter < trip { quarter } else { trip };
                if least > 1.0 { least } else { 1.0 }
            },
            |len| self.packets(len),
        );
        (min, self.max.map_or(2.0 * min, |len| self.packets(len)))
    }
}

impl Discipline for FredParams {
    type Queue = Fifo<Fred>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        let (min, max) = self.thresholds(context.link);
        if max < min {
            return Err(Problem::new("max", format!("the upper threshold ({max} packets) is below the lower one ({min} packets)")));
        }
        check_shares(&[("max_p", self.max_p), ("w_q", self.w_q)])
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Fred> {
        Fifo::new(Fred::new(self, context.link), Limit::new(self.limit, self.admit))
    }
}

/// State of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Account {
    /// Packets in the queue.
    qlen: u32,
    /// How often it held too much since it last had none.
    strike: u32,
}

/// The state of FRED.
#[derive(Clone, Debug, PartialEq)]
pub struct Fred {
    min: f64,
    max: f64,
    max_p: f64,
    min_q: f64,
    many_flows: bool,

    average: Average,
    idle: Idle,
    /// Arrivals since the last random drop.
    count: u64,
    /// Two accounts for each flow, one for each direction.
    accounts: Vec<Account>,
    /// Flows with packets in the queue.
    active: u32,
    /// True if the last arrival was put on its flow's account.
    booked: bool,
}

impl Fred {
    /// A FRED that has seen nothing yet, before this link.
    pub fn new(p: &FredParams, link: LinkInfo) -> Self {
        let (min, max) = p.thresholds(link);
        Self {
            min,
            max,
            max_p: p.max_p,
            min_q: p.packets(p.min_q),
            many_flows: p.many_flows,
            average: Average::new(p.w_q),
            idle: Idle::of_packets(p.mean_packet, link),
            count: 0,
            accounts: vec![],
            active: 0,
            booked: false,
        }
    }

    /// The average queue, in packets.
    pub fn avg(&self) -> f64 {
        self.average.value
    }

    /// The average queue of an active flow, in packets; at least 1 (avgcq).
    pub fn avg_per_flow(&self) -> f64 {
        let each = self.average.value / f64::from(self.active.max(1));
        if each > 1.0 { each } else { 1.0 }
    }

    fn account(&mut self, p: &Packet) -> &mut Account {
        let i = 2 * p.flow.0 as usize + usize::from(p.back);
        if self.accounts.len() <= i {
            self.accounts.resize(i + 1, Account::default());
        }
        &mut self.accounts[i]
    }

    /// Figure 7: a flow that holds all it may, much more than others in a crowd, or more than others after several strikes.
    fn unfair(&self, a: Account) -> bool {
        let (qlen, share) = (f64::from(a.qlen), self.avg_per_flow());
        let crowded = self.average.value >= self.max;
        let max_q = if crowded && self.many_flows { CROWDED_Q } else { self.min };
        qlen >= max_q || (crowded && qlen > 2.0 * share) || (qlen >= share && a.strike > 1)
    }

    /// Figure 7: random drops, and those of a crowd.
    fn drops(&mut self, qlen: u32, cx: &mut LawCx<'_>) -> Option<DropReason> {
        let avg = self.average.value;
        if avg < self.min {
            self.count = 0;
            return None;
        }
        if avg >= self.max {
            self.count = 0;
            return (!self.many_flows).then_some(DropReason::Forced);
        }
        let robust = f64::from(qlen) >= if self.min_q > self.avg_per_flow() { self.min_q } else { self.avg_per_flow() };
        let p_b = self.max_p * (avg - self.min) / (self.max - self.min);
        let spread = 1.0 - self.count as f64 * p_b;
        self.count += 1;
        if !robust || (spread > 0.0 && cx.rng.uniform() >= p_b / spread) {
            return None;
        }
        self.count = 0;
        Some(DropReason::Early)
    }

    fn book(&mut self, p: &Packet) {
        let a = self.account(p);
        a.qlen += 1;
        self.active += u32::from(a.qlen == 1);
        self.booked = true;
    }

    /// Takes a packet off its flow's account; a flow without packets is forgotten with its strikes.
    fn unbook(&mut self, p: &Packet) {
        let a = self.account(p);
        let last = a.qlen == 1;
        *a = if a.qlen > 1 { Account { qlen: a.qlen - 1, ..*a } } else { Account::default() };
        self.active -= u32::from(last);
    }
}

impl Law for Fred {
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.booked = false;
        if cx.held.pkts == 0 {
            self.average.age(self.idle.packets(cx.now));
        }
        let a = *self.account(p);
        if self.unfair(a) {
            self.account(p).strike += 1;
            return Verdict::Drop(DropReason::Forced);
        }
        if let Some(why) = self.drops(a.qlen, cx) {
            return Verdict::Drop(why);
        }
        self.average.sample(u64::from(cx.held.pkts) + 1);
        self.book(p);
        Verdict::Pass
    }

    fn on_overflow(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Victim {
        if self.booked {
            self.unbook(p);
            self.booked = false;
        }
        Victim::Arriving
    }

    /// The average is also taken at departures, so that it does not lag behind a queue that drains (section 4).
    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.idle.left(cx.now, p.len);
        self.average.sample(u64::from(cx.held.pkts));
        self.unbook(p);
        Verdict::Pass
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average.value);
        out("avg_per_flow", self.avg_per_flow());
        out("active", f64::from(self.active));
    }
}

#[cfg(test)]
mod tests;
