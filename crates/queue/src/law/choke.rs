//! CHOKe: RED that also compares an arriving packet with one drawn from the queue and drops both if they are of one flow.

use super::red::{Red, RedParams, RedThresholds, RedTuning};
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Len};

fairlane_units::params! {
    /// CHOKe drops an arriving packet together with one drawn at random from the queue if both belong to one flow, and else does what RED does (Pan, Prabhakar and Psounis 2000).
    pub struct ChokeParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Packets drawn for each arrival while the average is above `min`; all of the arriving flow's are dropped (section 2).
        #[schemars(range(min = 1, max = 64))]
        pub draws: u32 = 1,
        /// RED's thresholds; below the lower one nothing is drawn.
        #[serde(flatten)]
        pub thresholds: RedThresholds,
        /// Weight of one arrival in the average. Unset: as RED does.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub w_q: Option<f64> = None,
        /// True if RED's probability grows on to 1 at twice `max` instead of jumping there.
        pub gentle: bool = false,
        /// Length of a typical packet.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = RedTuning::default().mean_packet,
        /// True if RED's half marks ECN-capable packets instead of dropping them, above `max` as well, as tc's does; packets of a drawn flow are always dropped.
        pub ecn: bool = false,
    }
}

/// Most packets drawn for an arrival.
const MOST_DRAWS: u32 = 64;

impl ChokeParams {
    fn red(&self) -> RedParams {
        let tuning = RedTuning { w_q: self.w_q, gentle: self.gentle, mean_packet: self.mean_packet, ecn: self.ecn, ..RedTuning::default() };
        // sch_choke marks above `max`, too: tc gives it no harddrop.
        let hard_drop = false;
        RedParams { limit: self.limit, admit: self.admit, thresholds: self.thresholds.clone(), tuning, hard_drop, ..RedParams::default() }
    }
}

impl Discipline for ChokeParams {
    type Queue = Fifo<Choke>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        if !(1..=MOST_DRAWS).contains(&self.draws) {
            return Err(Problem::new("draws", format!("{} is not between 1 and {MOST_DRAWS}", self.draws)));
        }
        self.red().check(context)
    }

    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        self.red().remark(context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Choke> {
        let red = self.red();
        let law = Choke {
            min: red.setting(context.link).min,
            red: Red::new(&red, context.link),
            draws: self.draws,
            matched: Vec::with_capacity(self.draws as usize),
        };
        Fifo::new(law, Limit::new(self.limit, self.admit))
    }
}

/// The state of CHOKe.
#[derive(Clone, Debug, PartialEq)]
pub struct Choke {
    red: Red,
    min: f64,
    draws: u32,
    /// Places of the drawn packets that belong to the arriving packet's flow, the last place first.
    matched: Vec<usize>,
}

impl Choke {
    /// Draws packets from the queue; those of the flow of `p` are remembered.
    fn draw(&mut self, p: &Packet, cx: &mut LawCx<'_>) {
        for _ in 0..self.draws.min(cx.held.pkts) {
            let at = cx.rng.below(cx.queue.len() as u64) as usize;
            if cx.queue.get(at).is_some_and(|q| q.flow == p.flow && q.back == p.back) && !self.matched.contains(&at) {
                self.matched.push(at);
            }
        }
        self.matched.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl Law for Choke {
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.red.update_average(cx);
        self.matched.clear();
        if self.red.avg() >= self.min {
            self.draw(p, cx);
        }
        // Section 2: RED decides only about packets that match none.
        if self.matched.is_empty() { self.red.judge(p, cx) } else { Verdict::DropBoth(DropReason::Early) }
    }

    fn on_overflow(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Victim {
        self.red.on_overflow(p, cx)
    }

    fn victims(&self) -> &[usize] {
        &self.matched
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.red.on_dequeue(p, cx)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.red.gauges(out);
    }
}

#[cfg(test)]
mod tests;
