//! PRIO: classes in strict order of priority.

use super::bank::{Bank, ClassParams, check_classes, nature_of};
use super::check;
use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use fairlane_net::{BuildContext, Packet, QCx, Qdisc};
use fairlane_units::{Len, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// PRIO serves a class only while those before it are empty (tc-prio; with `yields`, the modified PRIO of Nowak, Domańska and Domański 2009).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, bound(deserialize = "S: Deserialize<'de> + Default"))]
#[schemars(bound = "S: JsonSchema + Serialize + Default")]
pub struct PrioParams<S> {
    /// The classes, highest priority first; each has a `match` (which packets it takes) and a `queue` (any discipline).
    pub classes: Vec<ClassParams<S>>,
    /// Limit of all classes together. Unset: only the limits of their queues.
    pub limit: Option<Len>,
    /// True if a class may send one packet before those above it each time that the queue of the class just above drops a packet
    /// (Nowak, Domańska and Domański 2009).
    pub yields: bool,
}

impl<S: Default> Default for PrioParams<S> {
    fn default() -> Self {
        let class = |select: &str| ClassParams { select: select.into(), queue: S::default() };
        Self { classes: vec![class("tcp"), class("udp")], limit: None, yields: false }
    }
}

impl<S: Discipline> Discipline for PrioParams<S> {
    type Queue = Prio<S::Queue>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "nowak2009",
            doc: "Modified PRIO of Nowak et al. 2009: UDP may also send when the queue of TCP has dropped a packet.",
            values: r#"{"yields": true}"#,
        },
        Preset {
            name: "linux",
            doc: "tc-prio's three bands with its default priomap, which reads the lower three bits of the DSCP as the TOS field of RFC 1349.",
            values: r#"{"classes": [
                {"queue": {"droptail": {"limit": "1000p", "admit": "fits"}}, "match": [
                    "dscp:4", "dscp:5", "dscp:12", "dscp:13", "dscp:20", "dscp:21", "dscp:28", "dscp:29", "dscp:36", "dscp:37",
                    "dscp:44", "dscp:45", "dscp:52", "dscp:53", "dscp:60", "dscp:61"]},
                {"queue": {"droptail": {"limit": "1000p", "admit": "fits"}}, "match": [
                    "dscp:0", "dscp:1", "dscp:6", "dscp:7", "dscp:8", "dscp:9", "dscp:14", "dscp:15", "dscp:16", "dscp:17",
                    "dscp:22", "dscp:23", "dscp:24", "dscp:25", "dscp:30", "dscp:31", "dscp:32", "dscp:33", "dscp:38", "dscp:39",
                    "dscp:40", "dscp:41", "dscp:46", "dscp:47", "dscp:48", "dscp:49", "dscp:54", "dscp:55", "dscp:56", "dscp:57",
                    "dscp:62", "dscp:63"]},
                {"queue": {"droptail": {"limit": "1000p", "admit": "fits"}}, "match": [
                    "dscp:2", "dscp:3", "dscp:10", "dscp:11", "dscp:18", "dscp:19", "dscp:26", "dscp:27", "dscp:34", "dscp:35",
                    "dscp:42", "dscp:43", "dscp:50", "dscp:51", "dscp:58", "dscp:59"]}]}"#,
        },
    ];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        if self.classes.is_empty() {
            return Err(Problem::new("classes", "no class is given: write for instance [{ match = \"tcp\" }, { match = \"udp\" }]"));
        }
        check::holds("limit", self.limit)?;
        check_classes(&self.classes, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Prio<S::Queue> {
        let bank = Bank::of_classes(&self.classes, self.limit, context);
        Prio { owed: vec![0; bank.len()], bank, yields: self.yields, owing: 0 }
    }

    fn capabilities(&self) -> Capabilities {
        nature_of(&self.classes)
    }
}

/// Queues in strict order.
#[derive(Clone, Debug)]
pub struct Prio<Q> {
    bank: Bank<Q>,
    yields: bool,
    /// Packets that each class may send out of its turn, and their sum.
    owed: Vec<u32>,
    owing: u32,
}

impl<Q: Qdisc + Clone> Prio<Q> {
    /// The queue of class `i` dropped `n` packets: the class below may send as many, if it has any. What it cannot use at once it
    /// loses when it runs empty.
    fn dropped(&mut self, i: usize, n: usize) {
        if self.yields && n > 0 && i + 1 < self.bank.len() && self.bank.waits(i + 1) {
            self.owed[i + 1] += n as u32;
            self.owing += n as u32;
        }
    }

    fn forget(&mut self, i: usize) {
        if !self.bank.waits(i) {
            self.owing -= std::mem::take(&mut self.owed[i]);
        }
    }

    fn serve(&mut self, i: usize, cx: &mut QCx<'_>) -> Option<Packet> {
        let before = cx.drops.len();
        let p = self.bank.dequeue(i, cx);
        self.dropped(i, cx.drops.len() - before);
        self.forget(i);
        p
    }
}

impl<Q: Qdisc + Clone> Qdisc for Prio<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        let before = cx.drops.len();
        if self.bank.enqueue(i, p, cx) {
            self.dropped(i, cx.drops.len() - before);
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        if self.owing > 0 {
            for i in 1..self.bank.len() {
                if self.owed[i] > 0 && self.bank.ready(i, cx.now) {
                    self.owed[i] -= 1;
                    self.owing -= 1;
                    if let Some(p) = self.serve(i, cx) {
                        return Some(p);
                    }
                }
            }
        }
        for i in 0..self.bank.len() {
            if self.bank.ready(i, cx.now)
                && let Some(p) = self.serve(i, cx)
            {
                return Some(p);
            }
        }
        None
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let next = self.bank.on_timer(cx, |_, _| {});
        (0..self.bank.len()).for_each(|i| self.forget(i));
        next
    }

    answered_by! { bank: backlog, ready_at, has_timer, gauges, clamps, headers }
}

#[cfg(test)]
mod tests;
