//! The inner queues of a scheduler: who goes where, their common limit, their timers, ready times and gauges.

use crate::classify::{Classifier, Match};
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::limit::{Admit, Limit};
use fairlane_net::{Backlog, BuildContext, DropReason, FlowId, Packet, QCx, Qdisc, Segment};
use fairlane_units::{Len, Time};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Common part of the parameters of a scheduler's class.
pub trait ClassSpec {
    /// Parameters of its queue.
    type Inner: Discipline;
    /// Which packets it takes.
    fn select(&self) -> &Match;
    /// Its queue.
    fn queue(&self) -> &Self::Inner;
}

fairlane_units::params! {
    /// A class of packets with a queue of its own.
    pub struct ClassParams<S> {
        /// Which packets: `"tcp"`, `"udp"`, `"dscp:ef"`, `"flow:NAME"`, `"ecn:ect1"`, `"any"`, or a list of these. The first class that fits takes
        /// the packet; a packet that fits none goes to the last class.
        #[serde(rename = "match")]
        pub select: Match,
        /// The queue of the class: any discipline.
        pub queue: S,
    }
}

impl<S: Discipline> ClassSpec for ClassParams<S> {
    type Inner = S;
    fn select(&self) -> &Match {
        &self.select
    }
    fn queue(&self) -> &S {
        &self.queue
    }
}

fairlane_units::params! {
    /// A class of packets with a queue of its own and a share of the link.
    pub struct WeightedParams<S> {
        /// Which packets: `"tcp"`, `"udp"`, `"dscp:ef"`, `"flow:NAME"`, `"ecn:ect1"`, `"any"`, or a list of these. The first class that fits takes
        /// the packet; a packet that fits none goes to the last class.
        #[serde(rename = "match")]
        pub select: Match,
        /// The queue of the class: any discipline.
        pub queue: S,
        /// Share of the class in proportion to the weights of the others.
        #[schemars(range(min = 1, max = 65535))]
        pub weight: u32 = 1,
    }
}

impl<S: Discipline> ClassSpec for WeightedParams<S> {
    type Inner = S;
    fn select(&self) -> &Match {
        &self.select
    }
    fn queue(&self) -> &S {
        &self.queue
    }
}

/// Largest weight of a class.
pub(crate) const MOST_WEIGHT: u32 = 65_535;

pub(crate) fn check_weight(weight: u32, field: &str) -> Result<(), Problem> {
    match weight {
        1..=MOST_WEIGHT => Ok(()),
        w => Err(Problem::new(field, format!("{w} is out of range: allowed is 1 to {MOST_WEIGHT}"))),
    }
}

/// Refuses more than `most` classes.
pub(crate) fn check_count(classes: usize, most: usize) -> Result<(), Problem> {
    if classes > most { Err(Problem::new("classes", format!("{classes} are too many: at most {most}"))) } else { Ok(()) }
}

/// True if class number `i` has a valid match, and a valid queue in this context.
pub(crate) fn check_class<C: ClassSpec>(i: usize, class: &C, context: &BuildContext<'_>) -> Result<(), Problem> {
    class.select().check(context).map_err(|message| Problem::new(format!("classes.{i}.match"), message))?;
    class.queue().check(context).map_err(|p| p.within(&format!("classes.{i}.queue")))
}

/// True if the classes are distinct and their queues are valid.
pub(crate) fn check_classes<C: ClassSpec>(classes: &[C], context: &BuildContext<'_>) -> Result<(), Problem> {
    check_count(classes.len(), Classifier::MOST)?;
    classes.iter().enumerate().try_for_each(|(i, c)| check_class(i, c, context))
}

/// Returns the capabilities of queues in classes. Packets of a flow may overtake one another where its packets go to several classes.
pub(crate) fn nature_of<C: ClassSpec>(classes: &[C]) -> Capabilities {
    nature_of_several(classes, classes.len() > 1)
}

/// Returns the same; `several`: packets have several ways.
pub(crate) fn nature_of_several<'a, C: ClassSpec + 'a>(classes: impl IntoIterator<Item = &'a C> + Clone, several: bool) -> Capabilities {
    let reorders = several && classes.clone().into_iter().any(|c| c.select().splits_flows());
    classes.into_iter().map(|c| c.queue().capabilities()).fold(Capabilities { reorders, ..Capabilities::default() }, Capabilities::and)
}

/// Returns the capabilities of queues in classes, or without classes those of the equal queues of all flows.
pub(crate) fn nature_of_classes_or<C: ClassSpec>(classes: &[C], queue: &impl Discipline) -> Capabilities {
    if classes.is_empty() { queue.capabilities() } else { nature_of(classes) }
}

/// How packets find their queue.
#[derive(Clone, Debug)]
enum Sorting<Q> {
    /// By what they are.
    Match(Classifier),
    /// By what they are, or to this queue.
    MatchOr(Classifier, usize),
    /// By the number of their flow, modulo the number of queues.
    Modulo(u32),
    /// One queue for each flow, made when its first packet comes.
    Flow { lane: Vec<u32>, pattern: Q },
}

/// No queue yet.
const NO_LANE: u32 = u32::MAX;
/// Classes, or flows, that have gauges.
const GAUGED: usize = 16;

/// Inner queues, numbered, and everything about them that does not depend on the order in which they are served.
#[derive(Clone, Debug)]
pub(crate) struct Bank<Q> {
    sorting: Sorting<Q>,
    inner: Vec<Q>,
    /// When the timer of each queue is due; that of the pattern is the last entry when there is one for each flow.
    timers: Vec<Time>,
    pattern_timer: Time,
    /// Class by flow, for those that rewrite windows.
    last_class: Vec<u32>,
    limit: Limit,
    held: Backlog,
    has_timer: bool,
    shapes: bool,
    clamps: bool,
    /// True if a queue reads headers, and that of the packet that arrives next.
    reads_headers: bool,
    header: Option<Segment>,
    names: Vec<u32>,
}

impl<Q: Qdisc + Clone> Bank<Q> {
    /// One queue for each class.
    pub(crate) fn of_classes<C: ClassSpec>(classes: &[C], limit: Option<Len>, context: &BuildContext<'_>) -> Self
    where
        C::Inner: Discipline<Queue = Q>,
    {
        let inner: Vec<Q> = classes.iter().map(|c| c.queue().build(context)).collect();
        let sorting = Sorting::Match(Classifier::new(classes.iter().map(ClassSpec::select), context));
        Self::new(sorting, inner, limit, classes.iter().any(|c| c.queue().capabilities().shapes))
    }

    /// One queue for each of the matches; packets that fit none go to queue `default`, which may be one past the last: then they are not for the bank.
    pub(crate) fn of_leaves(
        leaves: Vec<(Q, &Match)>,
        default: usize,
        shapes: bool,
        limit: Option<Len>,
        context: &BuildContext<'_>,
    ) -> Self {
        let rest = Match::default();
        let classifier = Classifier::new(leaves.iter().map(|l| l.1).chain([&rest]), context);
        Self::new(Sorting::MatchOr(classifier, default), leaves.into_iter().map(|l| l.0).collect(), limit, shapes)
    }

    /// `n` equal queues; flow i goes to queue i modulo n.
    pub(crate) fn of_numbers<S: Discipline<Queue = Q>>(n: u32, queue: &S, limit: Option<Len>, context: &BuildContext<'_>) -> Self {
        let n = n.max(1);
        let inner = (0..n).map(|_| queue.build(context)).collect();
        Self::new(Sorting::Modulo(n), inner, limit, queue.capabilities().shapes)
    }

    /// Equal queues, one for each flow that sends here.
    pub(crate) fn of_flows<S: Discipline<Queue = Q>>(queue: &S, limit: Option<Len>, context: &BuildContext<'_>) -> Self {
        let sorting = Sorting::Flow { lane: vec![NO_LANE; context.flows().len()], pattern: queue.build(context) };
        Self::new(sorting, vec![], limit, queue.capabilities().shapes)
    }

    /// One queue for each class, or without classes one for each flow.
    pub(crate) fn of_classes_or_flows<C: ClassSpec<Inner = S>, S: Discipline<Queue = Q>>(
        classes: &[C],
        queue: &S,
        limit: Option<Len>,
        context: &BuildContext<'_>,
    ) -> Self {
        if classes.is_empty() { Self::of_flows(queue, limit, context) } else { Self::of_classes(classes, limit, context) }
    }

    fn new(sorting: Sorting<Q>, inner: Vec<Q>, limit: Option<Len>, shapes: bool) -> Self {
        let pattern = match &sorting {
            Sorting::Flow { pattern, .. } => Some(pattern),
            _ => None,
        };
        let any = |f: fn(&Q) -> bool| inner.iter().chain(pattern).any(f);
        let due = |q: &Q| if q.has_timer() { Time::ZERO } else { Time::MAX };
        let (has_timer, clamps, reads_headers) = (any(Q::has_timer), any(Q::clamps), any(Q::reads_headers));
        Self {
            timers: inner.iter().map(due).collect(),
            pattern_timer: pattern.map_or(Time::MAX, due),
            last_class: vec![],
            limit: limit.map_or(Limit::NONE, |len| Limit::new(len, Admit::Fits)),
            held: Backlog::default(),
            has_timer,
            shapes,
            clamps,
            reads_headers,
            header: None,
            names: (0..inner.len() as u32).collect(),
            inner,
            sorting,
        }
    }

    /// Number of queues; those for flows become more.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.inner.len()
    }

    /// The queue for a packet, made if it is the first of its flow.
    #[inline]
    pub(crate) fn place(&mut self, p: &Packet) -> usize {
        let i = match &mut self.sorting {
            Sorting::Match(c) => c.class_of(p),
            Sorting::MatchOr(c, default) => match c.class_of(p) {
                i if i < self.inner.len() => i,
                _ => *default,
            },
            Sorting::Modulo(n) => (p.flow.0 % *n) as usize,
            Sorting::Flow { lane, .. } => match lane.get(p.flow.0 as usize) {
                Some(&i) if i != NO_LANE => i as usize,
                _ => self.add_flow(p.flow),
            },
        };
        if self.clamps {
            let flow = p.flow.0 as usize;
            if self.last_class.len() <= flow {
                self.last_class.resize(flow + 1, NO_LANE);
            }
            self.last_class[flow] = i as u32;
        }
        i
    }

    #[cold]
    fn add_flow(&mut self, flow: FlowId) -> usize {
        let i = self.inner.len();
        if let Sorting::Flow { lane, pattern } = &mut self.sorting {
            if lane.len() <= flow.0 as usize {
                lane.resize(flow.0 as usize + 1, NO_LANE);
            }
            lane[flow.0 as usize] = i as u32;
            self.inner.push(pattern.clone());
            self.timers.push(self.pattern_timer);
            self.names.push(flow.0);
        }
        i
    }

    /// Returns the backlog of all queues.
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        self.held
    }

    /// True if packets wait in queue `i`.
    #[inline]
    pub(crate) fn waits(&self, i: usize) -> bool {
        self.inner[i].backlog().pkts > 0
    }

    /// True if queue `i` has something that it lets go now.
    #[inline]
    pub(crate) fn ready(&self, i: usize, now: Time) -> bool {
        self.waits(i) && (!self.shapes || self.inner[i].ready_at().is_none_or(|t| t <= now))
    }

    /// When the first of the queues that hold packets lets one go; `None` if one does at once.
    pub(crate) fn ready_at(&self) -> Option<Time> {
        if !self.shapes || self.held.pkts == 0 {
            return None;
        }
        let waiting = self.inner.iter().filter(|q| q.backlog().pkts > 0);
        waiting.map(|q| q.ready_at().unwrap_or(Time::ZERO)).min().filter(|&t| t > Time::ZERO)
    }

    /// When queue `i` lets a packet go.
    pub(crate) fn ready_at_of(&self, i: usize) -> Option<Time> {
        self.inner[i].ready_at()
    }

    /// When the next of the queues that hold packets and let none go at `now` lets one go.
    pub(crate) fn ready_after(&self, now: Time) -> Option<Time> {
        let waiting = self.inner.iter().filter(|q| self.shapes && q.backlog().pkts > 0);
        waiting.filter_map(Q::ready_at).filter(|&t| t > now).min()
    }

    /// Calls queue `i` and keeps the common books.
    #[inline]
    fn call<R>(&mut self, i: usize, f: impl FnOnce(&mut Q) -> R) -> R {
        let q = &mut self.inner[i];
        let before = q.backlog();
        let r = f(q);
        let after = q.backlog();
        self.held.pkts = self.held.pkts - before.pkts + after.pkts;
        self.held.bytes = self.held.bytes - before.bytes + after.bytes;
        r
    }

    /// Offers a packet to queue `i`. Returns whether the queue was asked, the common limit having admitted the packet.
    #[inline]
    pub(crate) fn enqueue(&mut self, i: usize, p: Packet, cx: &mut QCx<'_>) -> bool {
        if !self.limit.admits(self.held, p.len) {
            self.header = None;
            cx.drop(p, DropReason::Overflow);
            return false;
        }
        if let Some(header) = self.header.take() {
            self.inner[i].on_header(&header);
        }
        self.call(i, |q| q.enqueue(p, cx));
        true
    }

    /// The next packet of queue `i`.
    #[inline]
    pub(crate) fn dequeue(&mut self, i: usize, cx: &mut QCx<'_>) -> Option<Packet> {
        self.call(i, |q| q.dequeue(cx))
    }

    pub(crate) fn reads_headers(&self) -> bool {
        self.reads_headers
    }

    pub(crate) fn on_header(&mut self, header: &Segment) {
        self.header = Some(*header);
    }

    pub(crate) fn has_timer(&self) -> bool {
        self.has_timer
    }

    /// Fires the timers that are due; `after` hears of each queue that had its turn, while its drops are the last ones in the context.
    pub(crate) fn on_timer(&mut self, cx: &mut QCx<'_>, mut after: impl FnMut(usize, &[(Packet, DropReason)])) -> Option<Time> {
        for i in 0..self.inner.len() {
            if self.timers[i] <= cx.now {
                let dropped = cx.drops.len();
                let next = self.call(i, |q| q.on_timer(cx));
                self.timers[i] = next.unwrap_or(Time::MAX);
                after(i, &cx.drops[dropped..]);
            }
        }
        // The pattern keeps time for queues that are yet to be made: it holds no packets, and its copies start in step with it.
        if let (Sorting::Flow { pattern, .. }, true) = (&mut self.sorting, self.pattern_timer <= cx.now) {
            self.pattern_timer = pattern.on_timer(cx).unwrap_or(Time::MAX);
        }
        self.timers.iter().copied().chain([self.pattern_timer]).min().filter(|&t| t < Time::MAX)
    }

    pub(crate) fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let kind = if matches!(self.sorting, Sorting::Flow { .. }) { "flow" } else { "class" };
        for (q, n) in self.inner.iter().zip(&self.names).take(GAUGED) {
            out(intern(format!("{kind}{n}_queue")), f64::from(q.backlog().pkts));
            q.gauges(&mut |name, value| out(intern(format!("{kind}{n}_{name}")), value));
        }
    }

    pub(crate) fn clamps(&self) -> bool {
        self.clamps
    }

    /// Returns the window that the queue of the flow's last packet allows.
    pub(crate) fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        let i = *self.last_class.get(flow.0 as usize).filter(|&&i| i != NO_LANE)?;
        self.inner.get(i as usize)?.window_clamp(flow)
    }
}

/// Returns the name with static lifetime: gauges have static names, and there are few of them.
pub(crate) fn intern(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let kept: &'static str = name.leak();
    names.insert(kept);
    kept
}
