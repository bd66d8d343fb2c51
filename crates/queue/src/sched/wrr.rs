//! WRR and RR: classes in turn.

use super::bank::{Bank, ClassParams, WeightedParams, check_classes, check_weight, nature_of_classes_or};
use super::check;
use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use fairlane_net::{BuildContext, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Len, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of the turns of weighted round robin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnUnit {
    /// Packets: a turn is `weight` packets.
    #[default]
    Packets,
    /// Bytes: a turn is `weight` times `quantum`; what the last packet takes beyond it is missing from the next turn.
    Bytes,
}

/// WRR serves the classes in turn, each with as many packets, or bytes, as its weight says (Katevenis, Sidiropoulos and Courcoubetis 1991).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, bound(deserialize = "S: Deserialize<'de> + Default"))]
#[schemars(bound = "S: JsonSchema + Serialize + Default")]
pub struct WrrParams<S> {
    /// The classes in the order of their turns, each with a `match`, a `queue` and a `weight` of 1 to 65535; the default is one TCP packet, then four
    /// UDP packets (Nowak, Domańska and Domański 2009). None: each flow is a class of weight 1.
    pub classes: Vec<WeightedParams<S>>,
    /// The queue of each flow, where no classes are given.
    pub queue: Box<S>,
    /// Unit of turns.
    pub count: TurnUnit,
    /// Bytes of a turn for each unit of weight, with `count = "bytes"`.
    #[schemars(extend("x-min" = "64B", "x-max" = "1MiB"))]
    pub quantum: Bytes,
    /// Limit of all classes together. Unset: only the limits of their queues.
    pub limit: Option<Len>,
}

/// A full Ethernet frame's payload.
const QUANTUM: u64 = 1500;
/// Least quantum: a turn of weight 1 then lets a packet of 64 KiB go after at most this many empty rounds.
const LEAST_QUANTUM: u64 = 64;

impl<S: Default> Default for WrrParams<S> {
    fn default() -> Self {
        let class = |select: &str, weight| WeightedParams { select: select.into(), queue: S::default(), weight };
        // The "SFQ 4:1" of Nowak, Domańska and Domański 2009: one TCP packet, then four UDP packets.
        let classes = vec![class("tcp", 1), class("udp", 4)];
        Self { classes, queue: Box::default(), count: TurnUnit::Packets, quantum: Bytes(QUANTUM), limit: None }
    }
}

impl<S: Discipline> Discipline for WrrParams<S> {
    type Queue = Wrr<S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        for (i, c) in self.classes.iter().enumerate() {
            check_weight(c.weight, &format!("classes.{i}.weight"))?;
        }
        if self.quantum.get() < LEAST_QUANTUM {
            return Err(Problem::new("quantum", format!("{} is too small: write at least \"{LEAST_QUANTUM}B\"", self.quantum)));
        }
        check::holds("limit", self.limit)?;
        self.queue.check(context).map_err(|p| p.within("queue"))?;
        check_classes(&self.classes, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Wrr<S::Queue> {
        let unit = match self.count {
            TurnUnit::Packets => 1,
            TurnUnit::Bytes => self.quantum.get() as i64,
        };
        let bank = Bank::of_classes_or_flows(&self.classes, &*self.queue, self.limit, context);
        Wrr::new(bank, self.classes.iter().map(|c| i64::from(c.weight) * unit).collect(), unit, self.count)
    }

    fn capabilities(&self) -> Capabilities {
        nature_of_classes_or(&self.classes, &*self.queue)
    }
}

fairlane_units::params! {
    /// RR serves the classes in turn, one packet each (Nagle 1985, RFC 970).
    pub struct RrParams<S> {
        /// The classes in the order of their turns, each with a `match` and a `queue`. None: as `queues` says.
        pub classes: Vec<ClassParams<S>> = vec![],
        /// Number of equal queues, where no classes are given: flow number i, counted from 0 in the order of the scenario, goes to queue i modulo
        /// this number (Ramachendra et al. 2014). Unset: each flow has its own queue.
        #[schemars(range(min = 1, max = 65535))]
        pub queues: Option<u32> = None,
        /// Each of the equal queues.
        pub queue: Box<S> = Box::default(),
        /// Limit of all queues together. Unset: only their own limits.
        pub limit: Option<Len> = None,
    }
}

impl<S: Discipline> Discipline for RrParams<S> {
    type Queue = Wrr<S::Queue>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ramachendra2014",
        doc: "Three queues, sender i in queue i modulo 3, as Ramachendra et al. 2014 configure ns-2.",
        values: r#"{"queues": 3}"#,
    }];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        match self.queues {
            Some(_) if !self.classes.is_empty() => {
                return Err(Problem::new("queues", "classes are given already: leave one of the two out"));
            }
            Some(n) => check_weight(n, "queues")?,
            None => {}
        }
        check::holds("limit", self.limit)?;
        self.queue.check(context).map_err(|p| p.within("queue"))?;
        check_classes(&self.classes, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Wrr<S::Queue> {
        let bank = match (self.classes.as_slice(), self.queues) {
            ([], Some(n)) => Bank::of_numbers(n, &*self.queue, self.limit, context),
            (classes, _) => Bank::of_classes_or_flows(classes, &*self.queue, self.limit, context),
        };
        Wrr::new(bank, vec![], 1, TurnUnit::Packets)
    }

    fn capabilities(&self) -> Capabilities {
        nature_of_classes_or(&self.classes, &*self.queue)
    }
}

/// Before the first turn.
const NOBODY: usize = usize::MAX;

/// Queues in turn.
#[derive(Clone, Debug)]
pub struct Wrr<Q> {
    bank: Bank<Q>,
    /// Credit that a turn brings to each queue, in packets or bytes; queues beyond have that of weight 1.
    turns: Vec<i64>,
    unit: i64,
    count: TurnUnit,
    /// Credit of each queue in its turn; negative if its last turn took too much.
    credit: Vec<i64>,
    /// Queues that hold packets, a bit each.
    busy: Vec<u64>,
    /// Whose turn it is.
    current: usize,
}

impl<Q: Qdisc + Clone> Wrr<Q> {
    pub(crate) fn new(bank: Bank<Q>, turns: Vec<i64>, unit: i64, count: TurnUnit) -> Self {
        let n = bank.len();
        let mut wrr = Self { bank, turns, unit, count, credit: vec![], busy: vec![], current: NOBODY };
        if n > 0 {
            wrr.grow(n - 1);
        }
        wrr
    }

    fn grow(&mut self, i: usize) {
        if self.credit.len() <= i {
            self.credit.resize(i + 1, 0);
            self.turns.resize((i + 1).max(self.turns.len()), self.unit);
            self.busy.resize(i / 64 + 1, 0);
        }
    }

    /// Notes whether queue `i` holds packets; one that has run empty keeps no credit.
    #[inline]
    fn note(&mut self, i: usize) {
        let bit = 1 << (i % 64);
        if self.bank.waits(i) {
            self.busy[i / 64] |= bit;
        } else {
            self.busy[i / 64] &= !bit;
            self.credit[i] = self.credit[i].min(0);
        }
    }

    /// The next queue after `i` that holds packets, round about; after [`NOBODY`] the first.
    fn next_after(&self, i: usize) -> Option<usize> {
        let (n, from) = (self.busy.len(), i.wrapping_add(1));
        let (word, bit) = (from / 64, from % 64);
        let found = |w: usize, bits: u64| (bits != 0).then(|| w * 64 + bits.trailing_zeros() as usize);
        let rest = self.busy.get(word).and_then(|&bits| found(word, bits & u64::MAX << bit));
        rest.or_else(|| (1..=n).map(|k| (word + k) % n).find_map(|w| found(w, self.busy[w])))
    }
}

impl<Q: Qdisc + Clone> Qdisc for Wrr<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        self.grow(i);
        if self.bank.enqueue(i, p, cx) {
            self.note(i);
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        // Visits in a row to queues that a shaper holds; once all have had one, nothing can leave now.
        let mut held_back = 0;
        loop {
            let i = self.current;
            if self.credit.get(i).is_some_and(|&c| c > 0) {
                if self.bank.ready(i, cx.now) {
                    let sent = self.bank.dequeue(i, cx);
                    if let Some(p) = &sent {
                        self.credit[i] -= if self.count == TurnUnit::Packets { 1 } else { i64::from(p.len) };
                    }
                    self.note(i);
                    if sent.is_some() {
                        return sent;
                    }
                }
                // It may send and does not: its turn is over.
                self.credit[i] = self.credit[i].min(0);
                held_back += 1;
            } else if self.credit.get(i).is_some() && self.bank.ready(i, cx.now) {
                // It pays for its last turn: the round continues until it may send.
                held_back = 0;
            }
            if held_back > self.bank.len() {
                return None;
            }
            self.current = self.next_after(i)?;
            self.credit[self.current] += self.turns[self.current];
        }
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let next = self.bank.on_timer(cx, |_, _| {});
        (0..self.bank.len()).for_each(|i| self.note(i));
        next
    }

    answered_by! { bank: backlog, ready_at, has_timer, gauges, clamps, headers }
}

#[cfg(test)]
mod tests;
