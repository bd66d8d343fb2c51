//! HTB, hierarchical token bucket: classes with a rate of their own that lend each other what they do not use.

mod classes;

use super::bank::{Bank, ClassSpec, nature_of_several};
use super::check;
use super::link_layer::LinkLayer;
use super::tree::{DIRECT, Place, TreeClass, bank, check_tree, leaves, places};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::limit::{Admit, Limit};
use classes::{Class, LEVELS, PRIORITIES, Shape, Tree};
use fairlane_net::{Backlog, BuildContext, DropReason, LinkInfo, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Len, Rate, Time};
use std::collections::VecDeque;

fairlane_units::params! {
    /// HTB gives each class its rate, and lends what others leave unused to classes below their ceil: first to those of a better priority, among equals in
    /// proportion to their quanta (Devera 2002; sch_htb of Linux 6.18).
    pub struct HtbParams<S> {
        /// The classes of the tree, each with a `name`, the name of its `parent`, and a `rate`; those without others below them also have a `match` and a
        /// `queue`.
        pub classes: Vec<HtbClassParams<S>> = vec![HtbClassParams::default()],
        /// Name of the class for packets that fit none, or "direct": they are sent at once, before all classes (tc's default of 0). Unset: the last class.
        pub default: Option<String> = None,
        /// A class without a `quantum` has what its rate sends in a second, in bytes, divided by this number (tc's r2q).
        #[schemars(range(min = 1, max = 1_000_000))]
        pub rate2quantum: u32 = 10,
        /// Limit of the packets that bypass the classes (tc's direct_qlen, a device's default txqueuelen).
        pub direct_limit: Len = Len::Packets(1000),
        /// Limit of all classes together. Unset: only the limits of their queues.
        pub limit: Option<Len> = None,
    }

    /// A class of HTB.
    pub struct HtbClassParams<S> {
        /// Name by which other classes and `default` refer to it.
        pub name: String = String::new(),
        /// Name of the class above, from which it borrows. Unset: it borrows from none.
        pub parent: Option<String> = None,
        /// Which packets: `"tcp"`, `"udp"`, `"dscp:ef"`, `"flow:NAME"`, `"ecn:ect1"`, `"any"`, or a list of these. The first class that fits takes
        /// the packet. A class with others below it takes no packets itself.
        #[serde(rename = "match")]
        pub select: Match,
        /// The queue of the class: any discipline. Its automatic values see a link of the class's `rate`.
        pub queue: S,
        /// Rate that it may send at without borrowing. Unset: that of the link.
        #[schemars(extend("x-min" = "8bit/s", "x-max" = "100Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Rate up to which it may borrow. Unset: `rate`, so that it borrows nothing (tc).
        #[schemars(extend("x-min" = "8bit/s", "x-max" = "100Tbit/s"))]
        pub ceil: Option<Rate> = None,
        /// Bytes that it may send at once without borrowing; the default is tc's.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub burst: Bytes = BURST,
        /// Bytes that it may send at once where nothing but its ceil holds it back.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub cburst: Bytes = BURST,
        /// Who borrows first: the lowest number. Guaranteed rates come before it.
        #[schemars(range(min = 0, max = 7))]
        pub prio: u32 = 0,
        /// Bytes of its turn among borrowers of one priority. Unset: from its rate, at least 1000 and at most 200000 bytes.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub quantum: Option<Bytes> = None,
        /// Link layer of its rate and its ceil.
        #[serde(flatten)]
        pub link_layer: LinkLayer,
    }
}

/// tc's default: an mtu of 1600 bytes, and what the rate sends in a tick of a nanosecond.
const BURST: Bytes = Bytes(1600);
/// Bounds of a quantum that is not written (htb_change_class).
const LEAST_QUANTUM: u64 = 1000;
const MOST_QUANTUM: u64 = 200_000;

impl<S: Discipline> ClassSpec for HtbClassParams<S> {
    type Inner = S;
    fn select(&self) -> &Match {
        &self.select
    }
    fn queue(&self) -> &S {
        &self.queue
    }
}

impl<S: Discipline> TreeClass for HtbClassParams<S> {
    fn name(&self) -> &str {
        &self.name
    }
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
    fn behind<'a>(&self, context: &BuildContext<'a>) -> BuildContext<'a> {
        let rate = self.rates(context.link.rate)[0].min(context.link.rate);
        BuildContext { link: LinkInfo { rate, ..context.link }, flows: context.flows }
    }
}

impl<S: Discipline> HtbClassParams<S> {
    fn rates(&self, link: Rate) -> [Rate; 2] {
        let rate = self.rate.unwrap_or(link);
        [rate, self.ceil.unwrap_or(rate)]
    }

    fn quantum(&self, link: Rate, rate2quantum: u32) -> u64 {
        self.quantum.map_or_else(
            || (self.rates(link)[0].as_bps() / 8 / u64::from(rate2quantum.max(1))).clamp(LEAST_QUANTUM, MOST_QUANTUM),
            Bytes::get,
        )
    }
}

impl<S: Discipline> HtbParams<S> {
    fn class(&self, place: &Place, link: Rate) -> Class {
        let c = &self.classes[place.number];
        let [rate, ceil] = c.rates(link);
        // Those without a parent are on the highest level, unless packets wait in them.
        let level = if place.leaf.is_some() { 0 } else { LEVELS - 1 - place.depth.min(LEVELS - 2) };
        let quantum = c.quantum(link, self.rate2quantum).min(i64::MAX as u64) as i64;
        let shape = Shape { rates: [rate, ceil], bursts: [c.burst, c.cburst], wire: c.link_layer.wire() };
        Class::new(place, level, shape, (c.prio as usize).min(PRIORITIES - 1), quantum)
    }
}

impl<S: Discipline> Discipline for HtbParams<S> {
    type Queue = Htb<S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        for (i, c) in self.classes.iter().enumerate() {
            for (field, rate) in [("rate", c.rate), ("ceil", c.ceil)] {
                if rate.is_some_and(|r| r.as_bps() < 8) {
                    return Err(Problem::new(format!("classes.{i}.{field}"), "must be at least 8bit/s"));
                }
            }
            let [rate, ceil] = c.rates(context.link.rate);
            if ceil < rate {
                return Err(Problem::new(
                    format!("classes.{i}.ceil"),
                    format!("it is below the rate of {rate}, which would then never be reached"),
                ));
            }
            for (field, bytes) in [("burst", Some(c.burst)), ("cburst", Some(c.cburst)), ("quantum", c.quantum)] {
                check::some(&format!("classes.{i}.{field}"), bytes.map_or(1, Bytes::get))?;
            }
            if c.prio as usize >= PRIORITIES {
                return Err(Problem::new(format!("classes.{i}.prio"), format!("{} is out of range: allowed is 0 to 7", c.prio)));
            }
        }
        check::some("rate2quantum", u64::from(self.rate2quantum))?;
        check::holds("direct_limit", Some(self.direct_limit))?;
        check::holds("limit", self.limit)?;
        check_tree(&self.classes, self.default.as_deref(), true, LEVELS, context)
    }

    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        let rate = |i: usize| self.classes[i].rates(context.link.rate)[0];
        let places = places(&self.classes);
        places.iter().find_map(|p| {
            let sum: u64 = p.below.clone().filter_map(|k| places.get(k)).map(|k| rate(k.number).as_bps()).sum();
            let (name, own) = (&self.classes[p.number].name, rate(p.number));
            (sum > own.as_bps()).then(|| {
                format!(
                    "the classes below `{name}` have rates of {} together, more than its {own}: they are not guaranteed",
                    Rate::from_bps(sum)
                )
            })
        })
    }

    fn build(&self, context: &BuildContext<'_>) -> Htb<S::Queue> {
        let places = places(&self.classes);
        let leaves = leaves(&self.classes, &places);
        let tree = Tree::new(places.iter().map(|p| self.class(p, context.link.rate)).collect());
        Htb {
            bank: bank(&leaves, self.default.as_deref(), self.limit, context),
            tree,
            place_of: leaves.iter().map(|l| l.0).collect(),
            direct: VecDeque::new(),
            direct_held: Backlog::default(),
            direct_limit: Limit::new(self.direct_limit, Admit::Fits),
            refused_at: None,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let places = places(&self.classes);
        let leaves = leaves(&self.classes, &places);
        let several = leaves.len() > 1 || self.default.as_deref() == Some(DIRECT);
        Capabilities { shapes: true, ..nature_of_several(leaves.iter().map(|l| l.1), several) }
    }
}

/// A tree of classes with a queue in each of its leaves.
#[derive(Clone, Debug)]
pub struct Htb<Q> {
    bank: Bank<Q>,
    tree: Tree,
    /// Place in the tree by the number of the queue.
    place_of: Vec<usize>,
    /// Packets that bypass the classes.
    direct: VecDeque<Packet>,
    direct_held: Backlog,
    direct_limit: Limit,
    /// When the queues of all classes that may send last refused.
    refused_at: Option<Time>,
}

impl<Q: Qdisc + Clone> Htb<Q> {
    /// The next packet of the classes at one level and priority, and its class.
    fn serve(&mut self, level: usize, prio: usize, cx: &mut QCx<'_>) -> Option<Packet> {
        let mut first = None;
        loop {
            let at = self.tree.find(level, prio)?;
            if first == Some(at) {
                return None;
            }
            let leaf = self.tree.leaf(at);
            if self.bank.waits(leaf) {
                if self.bank.ready(leaf, cx.now)
                    && let Some(p) = self.bank.dequeue(leaf, cx)
                {
                    self.tree.turn(at, level, prio, p.len);
                    if !self.bank.waits(leaf) {
                        self.tree.deactivate(at);
                    }
                    self.tree.charge(at, level, p.len, cx.now);
                    return Some(p);
                }
                if self.bank.waits(leaf) {
                    // A shaper: the next one may do.
                    first.get_or_insert(at);
                    self.tree.skip(at, level, prio);
                    continue;
                }
            }
            self.tree.deactivate(at);
        }
    }
}

impl<Q: Qdisc + Clone> Qdisc for Htb<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        let Some(&at) = self.place_of.get(i) else {
            if !self.direct_limit.admits(self.direct_held, p.len) {
                return cx.drop(p, DropReason::Overflow);
            }
            self.direct_held.add(&p);
            return self.direct.push_back(p);
        };
        self.bank.enqueue(i, p, cx);
        if self.bank.waits(i) {
            self.tree.activate(at);
            self.refused_at = None;
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        if let Some(p) = self.direct.pop_front() {
            self.direct_held.sub(&p);
            return Some(p);
        }
        if self.bank.backlog().pkts == 0 {
            return None;
        }
        self.refused_at = None;
        self.tree.pass_time(cx.now);
        for level in 0..LEVELS {
            let mut open = self.tree.priorities(level);
            while open != 0 {
                let prio = open.trailing_zeros() as usize;
                open &= open - 1;
                if let Some(p) = self.serve(level, prio, cx) {
                    return Some(p);
                }
            }
        }
        self.refused_at = Some(cx.now);
        None
    }

    fn backlog(&self) -> Backlog {
        let held = self.bank.backlog();
        Backlog { pkts: held.pkts + self.direct_held.pkts, bytes: held.bytes + self.direct_held.bytes }
    }

    fn ready_at(&self) -> Option<Time> {
        if !self.direct.is_empty() {
            return None;
        }
        if !self.tree.may_send() {
            return self.tree.next_change();
        }
        match self.refused_at {
            Some(now) => self.tree.next_change().into_iter().chain(self.bank.ready_after(now)).min(),
            None => self.bank.ready_at(),
        }
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        self.bank.on_timer(cx, |_, _| {})
    }

    answered_by! { bank: has_timer, gauges, clamps, headers }
}

#[cfg(test)]
mod tests;
