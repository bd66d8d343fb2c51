//! DualPI2: a queue for Scalable flows and one for Classic flows, coupled so that both get the same share.

use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use crate::law::pi2::{Controller, check_control};
use crate::limit::{Admit, Limit};
use fairlane_net::{Backlog, BuildContext, DropReason, Ecn, LinkInfo, Packet, QCx, Qdisc};
use fairlane_units::{Dur, Len, Time};
use std::collections::VecDeque;

fairlane_units::params! {
    /// Which of the two queues is served (RFC 9332 section 4.2.2 and appendix A.1).
    pub enum DualScheduler {
        /// Weighted round robin in bytes: the Classic queue gets at least `classic_share`.
        #[default]
        Wrr,
        /// Time-shifted FIFO: the packet that came first, where Classic ones count as having come `t_shift` later.
        TsFifo,
    }

    /// DualPI2 keeps ECT(1) and CE packets in a queue with a shallow marking ramp and all others in one under PI2, whose output also marks the first queue (RFC 9332 appendix A).
    pub struct DualPi2Params {
        /// Limit of both queues together; the packet in transmission is not counted. Unset: 250 ms of the link, at least 10 packets of 1500 bytes.
        pub limit: Option<Len> = None,
        /// Delay to hold in the Classic queue (target).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(15),
        /// Longest round trip to be stable with (RTT_max).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub rtt_max: Dur = Dur::from_ms(100),
        /// Time between two updates (Tupdate). Unset: the smaller of `target` and a third of `rtt_max`.
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub tupdate: Option<Dur> = None,
        /// Integral gain, per second and update. Unset: 0.1 Tupdate / RTT_max^2.
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub alpha: Option<f64> = None,
        /// Proportional gain, per second and update. Unset: 0.3 / RTT_max.
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: Option<f64> = None,
        /// Coupling factor: p_CL = k p' (section 2.1).
        #[schemars(range(min = 0.0, max = 100.0))]
        pub k: f64 = 2.0,
        /// Delay of the L queue at which its own marking begins (minTh).
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub min_th: Dur = Dur::from_us(800),
        /// Delay over which its own marking rises to 1 (range). Zero makes it a step.
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub range: Dur = Dur::from_us(400),
        /// The L queue's own marking spares packets while at most this many are queued there, the leaving one included (Th_len).
        #[schemars(range(min = 0, max = 1_000_000))]
        pub th_len: u32 = 1,
        /// Which queue is served.
        pub scheduler: DualScheduler = DualScheduler::Wrr,
        /// Least share of the link for a busy Classic queue, with `scheduler = "wrr"`.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub classic_share: f64 = 0.1,
        /// By how much Classic packets are taken to have come later, with `scheduler = "ts_fifo"`.
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub t_shift: Dur = Dur::from_ms(50),
    }
}

/// The automatic limit: this long at the link's rate, and at least these bytes.
const LIMIT_TIME: f64 = 0.25;
const LEAST_LIMIT: f64 = 15_000.0;

impl DualPi2Params {
    fn tupdate(&self) -> Dur {
        self.tupdate.unwrap_or(self.target.min(self.rtt_max / 3))
    }

    /// The gains in force, alpha and beta.
    fn gains(&self) -> (f64, f64) {
        let rtt = self.rtt_max.as_secs_f64();
        let alpha = self.alpha.unwrap_or_else(|| 0.1 * self.tupdate().as_secs_f64() / (rtt * rtt));
        (alpha, self.beta.unwrap_or(0.3 / rtt))
    }

    fn limit(&self, link: LinkInfo) -> Len {
        let auto = link.rate.as_bps() as f64 / 8.0 * LIMIT_TIME;
        self.limit.unwrap_or(Len::Bytes(if auto > LEAST_LIMIT { auto } else { LEAST_LIMIT } as u64))
    }
}

impl Discipline for DualPi2Params {
    type Queue = DualPi2;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "linux",
        doc: "sch_dualpi2 of Linux (tc dualpi2): updates every 16 ms, a step at 1 ms that spares no packet, 10 % for the Classic queue.",
        values: r#"{"limit": "10000p", "target": "15ms", "tupdate": "16ms", "alpha": 0.16, "beta": 3.2, "k": 2.0, "min_th": "1ms", "range": "0s",
                    "th_len": 0, "scheduler": "wrr", "classic_share": 0.1}"#,
    }];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        if matches!(self.limit(context.link), Len::Packets(0) | Len::Bytes(0)) {
            return Err(Problem::new("limit", "a limit of 0 holds nothing: write at least \"1p\""));
        }
        if self.rtt_max == Dur::ZERO {
            return Err(Problem::new("rtt_max", "there is no gain for round trips of 0 s"));
        }
        let (alpha, beta) = self.gains();
        // The automatic gains of a very short round trip may be large: they are right.
        let most = |set: bool| if set { 1000.0 } else { f64::MAX };
        let values = [
            ("alpha", alpha, most(self.alpha.is_some())),
            ("beta", beta, most(self.beta.is_some())),
            ("k", self.k, 100.0),
            ("classic_share", self.classic_share, 1.0),
        ];
        check_control(self.tupdate(), &values)
    }

    fn build(&self, context: &BuildContext<'_>) -> DualPi2 {
        DualPi2::new(self, context.link)
    }

    /// A packet that was marked on its way overtakes those of its flow that were not.
    fn capabilities(&self) -> Capabilities {
        Capabilities { reorders: true, ..Capabilities::default() }
    }
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct Side {
    packets: VecDeque<Packet>,
    held: Backlog,
    /// Sum of the probabilities since the last signal (RFC 9332 appendix A.1, recur).
    due: f64,
}

impl Side {
    fn pop(&mut self) -> Option<Packet> {
        let p = self.packets.pop_front()?;
        self.held.sub(&p);
        Some(p)
    }

    /// How long its head has waited, in seconds.
    fn time(&self, now: Time) -> f64 {
        self.packets.front().map_or(0.0, |p| now.since(p.at).as_secs_f64())
    }
}

/// Signals the share `p` of the packets as evenly as can be: when the probabilities since the last signal pass 1.
fn recur(due: &mut f64, p: f64) -> bool {
    *due += p;
    let signal = *due > 1.0;
    if signal {
        *due -= 1.0;
    }
    signal
}

/// The two coupled queues.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    p: DualPi2Params,
    limit: Limit,
    tupdate: Dur,
    min_th: f64,
    range: f64,
    /// Largest Classic probability: there p_CL is 1 (p_Cmax).
    p_cmax: f64,

    control: Controller,
    l: Side,
    c: Side,
    /// Sum of the probabilities since the last drop from the L queue in overload.
    l_drop_due: f64,
    /// Bytes the Classic queue is owed, times the weights' denominator.
    credit: f64,
    /// The L queue's own probability at its last departure.
    native: f64,
}

impl DualPi2 {
    fn new(p: &DualPi2Params, link: LinkInfo) -> Self {
        let (alpha, beta) = p.gains();
        let square = 1.0 / (p.k * p.k);
        Self {
            limit: Limit::new(p.limit(link), Admit::Fits),
            tupdate: p.tupdate(),
            min_th: p.min_th.as_secs_f64(),
            range: p.range.as_secs_f64(),
            p_cmax: if square < 1.0 { square } else { 1.0 },
            control: Controller { alpha, beta, target: p.target.as_secs_f64(), max: 1.0, p: 0.0, qdelay: 0.0 },
            l: Side::default(),
            c: Side::default(),
            l_drop_due: 0.0,
            credit: 0.0,
            native: 0.0,
            p: p.clone(),
        }
    }

    /// The probability for Classic packets, p_C = p'^2.
    pub fn classic(&self) -> f64 {
        self.control.p * self.control.p
    }

    /// The coupled probability for the L queue, p_CL = k p', not limited to 1.
    pub fn coupled(&self) -> f64 {
        self.p.k * self.control.p
    }

    /// Packets and bytes in the L queue.
    pub fn l_backlog(&self) -> Backlog {
        self.l.held
    }

    /// Packets and bytes in the Classic queue.
    pub fn c_backlog(&self) -> Backlog {
        self.c.held
    }

    /// Appendix A.1, laqm: the L queue's own probability for a packet that waited `qdelay` seconds.
    fn laqm(&self, qdelay: f64, queued: u32) -> f64 {
        if queued <= self.p.th_len || qdelay <= self.min_th {
            0.0
        } else if qdelay >= self.min_th + self.range {
            1.0
        } else {
            (qdelay - self.min_th) / self.range
        }
    }

    /// True if the L queue is served next.
    fn serve_l(&mut self) -> bool {
        let (Some(l), Some(c)) = (self.l.packets.front(), self.c.packets.front()) else {
            self.credit = 0.0;
            return !self.l.packets.is_empty();
        };
        match self.p.scheduler {
            DualScheduler::TsFifo => l.at <= c.at + self.p.t_shift,
            DualScheduler::Wrr => {
                // What the Classic queue is owed after this packet of the L queue decides: over time it gets its share of the bytes.
                let owed = self.credit + self.p.classic_share * f64::from(l.len);
                let classic = owed >= (1.0 - self.p.classic_share) * f64::from(c.len);
                self.credit = if classic { self.credit - (1.0 - self.p.classic_share) * f64::from(c.len) } else { owed };
                !classic
            }
        }
    }

    /// Appendix A.2: whether `p`, just taken from the L queue, is sent; marked where it has to be.
    fn leave_l(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        self.native = self.laqm(cx.now.since(p.at).as_secs_f64(), self.l.held.pkts + 1);
        let p_cl = self.coupled();
        if p_cl >= 1.0 && recur(&mut self.l_drop_due, self.control.p * self.control.p) {
            cx.drop(*p, DropReason::Early);
            return false;
        }
        let p_l = if self.native > p_cl { self.native } else { p_cl };
        if recur(&mut self.l.due, if p_l < 1.0 { p_l } else { 1.0 }) {
            cx.mark(p);
        }
        true
    }

    /// Appendices A.1 and A.2: the same for a Classic packet, which is dropped if it cannot carry the mark or marks are not enough.
    fn leave_c(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        let p_c = self.classic();
        if !recur(&mut self.c.due, p_c) {
            return true;
        }
        if p.ecn.capable() && p_c < self.p_cmax {
            cx.mark(p);
            return true;
        }
        cx.drop(*p, DropReason::Early);
        false
    }
}

impl Qdisc for DualPi2 {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        if !self.limit.admits(self.backlog(), p.len) {
            cx.drop(p, DropReason::Overflow);
            return;
        }
        let side = if matches!(p.ecn, Ecn::Ect1 | Ecn::Ce) { &mut self.l } else { &mut self.c };
        side.held.add(&p);
        side.packets.push_back(p);
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        loop {
            if self.serve_l() {
                let mut p = self.l.pop()?;
                if self.leave_l(&mut p, cx) {
                    return Some(p);
                }
            } else {
                let mut p = self.c.pop()?;
                if self.leave_c(&mut p, cx) {
                    return Some(p);
                }
            }
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { pkts: self.l.held.pkts + self.c.held.pkts, bytes: self.l.held.bytes + self.c.held.bytes }
    }

    fn has_timer(&self) -> bool {
        true
    }

    /// Appendix A.2: the controller follows the longer of the two waits.
    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let (l, c) = (self.l.time(cx.now), self.c.time(cx.now));
        self.control.update(if l > c { l } else { c });
        Some(cx.now + self.tupdate)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.control.p);
        out("drop_prob", self.classic());
        out("mark_prob", if self.coupled() > self.native { self.coupled().min(1.0) } else { self.native });
        out("l_queue", f64::from(self.l.held.pkts));
        out("c_queue", f64::from(self.c.held.pkts));
    }
}

#[cfg(test)]
mod tests;
