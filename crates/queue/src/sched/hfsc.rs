//! HFSC, hierarchical fair service curve: delay and rate of a class are promised apart from each other, and the rest is shared.

mod classes;
mod curve;

use super::bank::{Bank, ClassSpec, nature_of_several};
use super::check;
use super::ledger::Ledger;
use super::tree::{TreeClass, bank, check_tree, leaves, places};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Problem};
use classes::{Curves, Tree};
use curve::Curve;
pub use curve::ServiceCurve;
use fairlane_net::{BuildContext, LinkInfo, Packet, QCx, Qdisc};
use fairlane_units::{Len, Rate, Time};

fairlane_units::params! {
    /// HFSC serves by deadline what classes are promised by their real-time curves, and shares the rest of the link in a tree by virtual times, up to upper
    /// limits (Stoica, Zhang and Ng 1997; sch_hfsc of Linux 6.18).
    pub struct HfscParams<S> {
        /// The classes of the tree, each with a `name`, the name of its `parent`, and curves; those without others below them also have a `match` and a
        /// `queue`.
        pub classes: Vec<HfscClassParams<S>> = vec![HfscClassParams::default()],
        /// Name of the class for packets that fit none. Unset: the last class.
        pub default: Option<String> = None,
        /// Limit of all classes together. Unset: only the limits of their queues.
        pub limit: Option<Len> = None,
    }

    /// A class of HFSC.
    pub struct HfscClassParams<S> {
        /// Name by which other classes and `default` refer to it.
        pub name: String = String::new(),
        /// Name of the class above, whose share of the link it shares. Unset: it shares the link itself.
        pub parent: Option<String> = None,
        /// Which packets: `"tcp"`, `"udp"`, `"dscp:ef"`, `"flow:NAME"`, `"ecn:ect1"`, `"any"`, or a list of these. The first class that fits takes
        /// the packet. A class with others below it takes no packets itself.
        #[serde(rename = "match")]
        pub select: Match,
        /// The queue of the class: any discipline. Its automatic values see a link of the rate that the class has in the long run.
        pub queue: S,
        /// Real-time curve: service that is promised, whatever others do. Unset: none. Of a class with others below it, it stands for `ls`.
        pub rt: Option<ServiceCurve> = None,
        /// Link-sharing curve: share of what is left, against the curves of its siblings. Unset: none; without `rt` the line of the link's rate.
        pub ls: Option<ServiceCurve> = None,
        /// Upper limit of link-sharing. Unset: none.
        pub ul: Option<ServiceCurve> = None,
    }
}

/// Most levels of a tree; sch_hfsc has no bound.
const LEVELS: usize = 64;

impl<S: Discipline> ClassSpec for HfscClassParams<S> {
    type Inner = S;
    fn select(&self) -> &Match {
        &self.select
    }
    fn queue(&self) -> &S {
        &self.queue
    }
}

impl<S: Discipline> TreeClass for HfscClassParams<S> {
    fn name(&self) -> &str {
        &self.name
    }
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
    fn behind<'a>(&self, context: &BuildContext<'a>) -> BuildContext<'a> {
        let link = context.link.rate;
        let curve = self.rt.clone().or_else(|| self.sharing(false, link));
        let rate = curve.map_or(link, |c| c.m2).clamp(Rate::from_bps(1), link);
        BuildContext { link: LinkInfo { rate, ..context.link }, flows: context.flows }
    }
}

impl<S: Discipline> HfscClassParams<S> {
    fn sharing(&self, inner: bool, link: Rate) -> Option<ServiceCurve> {
        match (&self.rt, &self.ls) {
            (_, Some(ls)) => Some(ls.clone()),
            (None, None) => Some(ServiceCurve::line(link)),
            (Some(rt), None) => inner.then(|| rt.clone()),
        }
    }

    fn curves(&self, inner: bool, link: Rate) -> Curves {
        let curve = |c: Option<ServiceCurve>| c.filter(|c| !c.is_flat()).map(|c| Curve::new(&c));
        Curves { rt: curve(self.rt.clone().filter(|_| !inner)), ls: curve(self.sharing(inner, link)), ul: curve(self.ul.clone()) }
    }
}

impl<S: Discipline> Discipline for HfscParams<S> {
    type Queue = Hfsc<S::Queue>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        for (i, c) in self.classes.iter().enumerate() {
            for (field, curve) in [("rt", &c.rt), ("ls", &c.ls), ("ul", &c.ul)] {
                if curve.as_ref().is_some_and(ServiceCurve::is_flat) {
                    return Err(Problem::new(
                        format!("classes.{i}.{field}.m2"),
                        "a curve of no slope serves nothing: write a rate, or leave it out",
                    ));
                }
                // After the first part of `rt` a class may have its share of the rest alone.
                let shares = field == "rt" && c.ls.is_some();
                if !shares && curve.as_ref().is_some_and(|c| c.m2.as_bps() == 0) {
                    return Err(Problem::new(
                        format!("classes.{i}.{field}.m2"),
                        "after the first part it would serve nothing, for ever: write a rate",
                    ));
                }
            }
        }
        check::holds("limit", self.limit)?;
        check_tree(&self.classes, self.default.as_deref(), false, LEVELS, context)
    }

    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        let places = places(&self.classes);
        let leaves = leaves(&self.classes, &places);
        let promised: Vec<&ServiceCurve> = leaves.iter().filter_map(|(_, c)| c.rt.as_ref()).collect();
        let curves: Vec<Curve> = promised.iter().map(|c| Curve::new(c)).collect();
        let link = context.link.rate;
        let over = |t: u128| curves.iter().map(|c| c.amount(t)).sum::<u128>() > Curve::new(&ServiceCurve::line(link)).amount(t);
        // Sums of lines are steepest against the link at a corner, or in the long run.
        let rates = promised.iter().map(|c| u128::from(c.m2.as_bps())).sum::<u128>();
        let broken = rates > u128::from(link.as_bps()) || promised.iter().any(|c| over(u128::from(c.d.as_ps())));
        broken.then(|| format!("the real-time curves promise more together than the link's {link} can serve: they are not guaranteed"))
    }

    fn build(&self, context: &BuildContext<'_>) -> Hfsc<S::Queue> {
        let places = places(&self.classes);
        let leaves = leaves(&self.classes, &places);
        Hfsc {
            bank: bank(&leaves, self.default.as_deref(), self.limit, context),
            tree: Tree::new(&places, |p| self.classes[p.number].curves(p.leaf.is_none(), context.link.rate)),
            place_of: leaves.iter().map(|l| l.0).collect(),
            waiting: leaves.iter().map(|_| Ledger::default()).collect(),
            looked_at: Time::ZERO,
            held_until: None,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let places = places(&self.classes);
        let leaves = leaves(&self.classes, &places);
        // Without a share of the rest, or with an upper limit, a class leaves the link idle.
        let shapes = self.classes.iter().any(|c| c.ul.is_some() || (c.rt.is_some() && c.ls.is_none()));
        nature_of_several(leaves.iter().map(|l| l.1), leaves.len() > 1).and(Capabilities { shapes, ..Capabilities::default() })
    }
}

/// A tree of classes with service curves and a queue in each of its leaves.
#[derive(Clone, Debug)]
pub struct Hfsc<Q> {
    bank: Bank<Q>,
    tree: Tree,
    /// Place in the tree by the number of the queue.
    place_of: Vec<usize>,
    /// Packets of each queue.
    waiting: Vec<Ledger>,
    /// Time of the last attempt to send.
    looked_at: Time,
    /// Until when the queue that was to send, a shaper, holds its packets.
    held_until: Option<Time>,
}

fn ps(t: Time) -> u128 {
    u128::from(t.as_ps())
}

impl<Q: Qdisc + Clone> Hfsc<Q> {
    fn next_len(&self, i: usize) -> Option<u32> {
        self.waiting[i].first().map(|e| e.len).filter(|_| self.bank.waits(i))
    }
}

impl<Q: Qdisc + Clone> Qdisc for Hfsc<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.bank.place(&p);
        let before = cx.drops.len();
        self.waiting[i].add(&p, 0);
        self.bank.enqueue(i, p, cx);
        for (p, _) in &cx.drops[before..] {
            self.waiting[i].strike(p.id);
        }
        self.held_until = None;
        let at = self.place_of[i];
        match self.next_len(i) {
            Some(len) if !self.tree.takes_part(at) => self.tree.activate(at, len, ps(cx.now)),
            None if self.tree.takes_part(at) => self.tree.charge(at, 0, false, None, ps(cx.now)),
            _ => {}
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        let now = ps(cx.now);
        self.looked_at = cx.now;
        self.held_until = None;
        while self.bank.backlog().pkts > 0 {
            let (at, by_deadline) = self.tree.choose(now)?;
            let i = self.tree.leaf(at);
            if self.bank.waits(i) && !self.bank.ready(i, cx.now) {
                self.held_until = self.bank.ready_at_of(i);
                return None;
            }
            let before = cx.drops.len();
            let sent = self.bank.dequeue(i, cx);
            for p in cx.drops[before..].iter().map(|(p, _)| p).chain(&sent) {
                self.waiting[i].strike(p.id);
            }
            let next = self.next_len(i);
            if let Some(p) = &sent {
                self.tree.charge(at, p.len, by_deadline, next, now);
                return sent;
            }
            if next.is_some() {
                self.held_until = self.bank.ready_at_of(i);
                return None;
            }
            self.tree.charge(at, 0, false, None, now);
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.held_until.or_else(|| {
            let at = self.tree.next_at(ps(self.looked_at))?;
            Some(Time::from_ps(u64::try_from(at).unwrap_or(u64::MAX)))
        })
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let waiting = &mut self.waiting;
        let next = self.bank.on_timer(cx, |i, dropped| {
            dropped.iter().for_each(|(p, _)| {
                waiting[i].strike(p.id);
            });
        });
        for i in 0..self.place_of.len() {
            if !self.bank.waits(i) && self.tree.takes_part(self.place_of[i]) {
                self.tree.charge(self.place_of[i], 0, false, None, ps(cx.now));
            }
        }
        next
    }

    answered_by! { bank: backlog, has_timer, gauges, clamps, headers }
}

#[cfg(test)]
mod tests;
