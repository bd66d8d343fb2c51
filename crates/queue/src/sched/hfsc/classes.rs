//! The classes of HFSC: eligible times and deadlines of those with a real-time curve, virtual times for link-sharing, fit times for upper limits.

use super::super::heap::MinHeap;
use super::super::tree::Place;
use super::curve::{Curve, amount};
use fairlane_engine::steps::step;
use std::cmp::Reverse;

/// The classes right below one, of which some hold packets.
#[derive(Clone, Debug, Default)]
struct Below {
    /// Classes within their upper limits, by virtual time.
    fit: MinHeap<u128>,
    /// The others, by the time from which they will be.
    unfit: MinHeap<u128>,
    /// All, the largest virtual time first.
    latest: MinHeap<Reverse<u128>>,
    /// Least virtual time of those that were served (cl_cvtmin).
    least: u128,
    /// Largest virtual time of those that have run empty (cl_cvtoff).
    seen: u128,
}

impl Below {
    fn put(&mut self, i: usize, vt: u128, f: u128, now: u128) {
        self.latest.set(i, Reverse(vt));
        if f <= now {
            self.unfit.remove(i);
            self.fit.set(i, vt);
        } else {
            self.fit.remove(i);
            self.unfit.set(i, f);
        }
    }

    fn remove(&mut self, i: usize) {
        self.latest.remove(i);
        self.fit.remove(i);
        self.unfit.remove(i);
    }

    /// When the first of them fits; 0 if one does, or if none holds packets (cl_cfmin).
    fn fits_at(&self) -> u128 {
        if self.fit.len() > 0 { 0 } else { self.unfit.first().map_or(0, |(f, _)| f) }
    }
}

/// The curves of a class: real time, link-sharing, upper limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curves {
    pub(super) rt: Option<Curve>,
    pub(super) ls: Option<Curve>,
    pub(super) ul: Option<Curve>,
}

#[derive(Clone, Debug)]
struct Class {
    /// Place of the class above; the root, which holds no curves, is the last of all.
    parent: usize,
    /// Its number among the classes below the parent.
    rank: usize,
    leaf: Option<usize>,
    curves: Curves,
    deadline: Curve,
    eligible: Curve,
    virtual_curve: Curve,
    limit: Curve,
    /// All work done, and that by the real-time criterion.
    total: u128,
    cumul: u128,
    vt: u128,
    /// When it fits by its own limit, and with those below it.
    own_f: u128,
    f: u128,
    vt_adjust: u128,
    period: u64,
    parent_period: u64,
    /// Classes below it that hold packets; 1 for a leaf that does.
    active: usize,
    /// Deadline of its next packet.
    d: u128,
    /// Place of the first class below it.
    first: usize,
    below: Option<Box<Below>>,
}

impl Class {
    fn new(parent: usize, rank: usize, leaf: Option<usize>, first: usize, curves: Curves) -> Self {
        let of = |curve: Option<Curve>| curve.unwrap_or_default();
        Self {
            parent,
            rank,
            leaf,
            curves,
            deadline: of(curves.rt),
            eligible: of(curves.rt),
            virtual_curve: of(curves.ls),
            limit: of(curves.ul),
            total: 0,
            cumul: 0,
            vt: 0,
            own_f: 0,
            f: 0,
            vt_adjust: 0,
            period: 0,
            parent_period: 0,
            active: 0,
            d: 0,
            first,
            below: leaf.is_none().then(Box::default),
        }
    }
}

/// All classes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    classes: Vec<Class>,
    /// Leaves with a real-time curve that hold packets: not eligible yet, by when they are; eligible, by deadline.
    waiting: MinHeap<u128>,
    eligible: MinHeap<u128>,
}

impl Tree {
    pub(super) fn new(places: &[Place], curves: impl Fn(&Place) -> Curves) -> Self {
        let root = places.len();
        let mut roots = 0;
        let mut classes: Vec<Class> = vec![];
        for p in places {
            let (parent, rank) = match p.parent {
                Some(parent) => (parent, classes.len() - places[parent].below.start),
                None => (root, roots),
            };
            roots += usize::from(p.parent.is_none());
            classes.push(Class::new(parent, rank, p.leaf, p.below.start, curves(p)));
        }
        classes.push(Class::new(root, 0, None, 0, Curves::default()));
        Self { classes, waiting: MinHeap::default(), eligible: MinHeap::default() }
    }

    fn root(&self) -> usize {
        self.classes.len() - 1
    }

    /// True if a leaf takes part in either criterion.
    pub(super) fn takes_part(&self, at: usize) -> bool {
        self.classes[at].active > 0
    }

    /// When the next class may be served, if none may now.
    pub(super) fn next_at(&self, now: u128) -> Option<u128> {
        if self.eligible.len() > 0 {
            return None;
        }
        let root = self.root();
        let shares = (self.classes[root].active > 0).then(|| self.fits_at(root));
        let at = self.waiting.first().map(|(e, _)| e).into_iter().chain(shares).min()?;
        (at > now).then_some(at)
    }

    /// The number of the queue of a leaf.
    pub(super) fn leaf(&self, at: usize) -> usize {
        self.classes[at].leaf.unwrap_or(usize::MAX)
    }

    fn fits_at(&self, at: usize) -> u128 {
        self.classes[at].below.as_ref().map_or(0, |b| b.fits_at())
    }

    fn below_mut(&mut self, at: usize) -> &mut Below {
        self.classes[at].below.get_or_insert_default()
    }

    /// Lets a leaf whose packets wait take part; the first of them has this length.
    pub(super) fn activate(&mut self, at: usize, len: u32, now: u128) {
        let c = &mut self.classes[at];
        if let Some(rt) = c.curves.rt {
            c.deadline.lower_to(&rt, now, c.cumul);
            // For a concave curve it is the deadline's; for a convex one the line of the second slope, so that no later promise is broken.
            c.eligible = if rt.is_convex() { c.deadline.without_first_part() } else { c.deadline };
            self.set_eligible(at, len, now);
        }
        if self.classes[at].curves.ls.is_some() {
            self.share(at, now);
        } else {
            self.classes[at].active = 1;
        }
    }

    fn set_eligible(&mut self, at: usize, len: u32, now: u128) {
        let c = &mut self.classes[at];
        let (e, d) = (c.eligible.when(c.cumul), c.deadline.when(c.cumul + amount(len)));
        c.d = d;
        if e <= now {
            self.waiting.remove(at);
            self.eligible.set(at, d);
        } else {
            self.eligible.remove(at);
            self.waiting.set(at, e);
        }
    }

    /// Lets a leaf share the link, with the classes above it that did not yet (init_vf).
    fn share(&mut self, leaf: usize, now: u128) {
        let (mut at, mut begins) = (leaf, true);
        while at != self.root() {
            step(1);
            let (parent, rank) = (self.classes[at].parent, self.classes[at].rank);
            if begins {
                self.classes[at].active += 1;
                begins = self.classes[at].active == 1;
            }
            if begins {
                self.begin(at, parent, now);
            }
            let fits_at = self.fits_at(at);
            let c = &mut self.classes[at];
            c.f = c.own_f.max(fits_at);
            let (vt, f) = (c.vt, c.f);
            self.below_mut(parent).put(rank, vt, f, now);
            at = parent;
        }
        if begins {
            let root = self.root();
            let c = &mut self.classes[root];
            c.active += 1;
            c.period += u64::from(c.active == 1);
        }
    }

    fn begin(&mut self, at: usize, parent: usize, now: u128) {
        let (period, parent_active) = (self.classes[parent].period, self.classes[parent].active);
        let siblings = self.below_mut(parent);
        let start = match siblings.latest.first() {
            // Between the least and the largest of the others.
            Some((Reverse(most), _)) => Ok(if siblings.least != 0 { u128::midpoint(siblings.least, most) } else { most }),
            // The first of a new period: where the last one ended.
            None => {
                siblings.least = 0;
                Err(siblings.seen)
            }
        };
        let c = &mut self.classes[at];
        match start {
            Ok(vt) if period != c.parent_period || vt > c.vt => c.vt = vt,
            Ok(_) => {}
            Err(seen) => c.vt = seen,
        }
        if let Some(ls) = c.curves.ls {
            c.virtual_curve.lower_to(&ls, c.vt, c.total);
        }
        c.vt_adjust = 0;
        c.period += 1;
        c.parent_period = period + u64::from(parent_active == 0);
        if let Some(ul) = c.curves.ul {
            c.limit.lower_to(&ul, now, c.total);
            c.own_f = c.limit.when(c.total);
        }
    }

    /// The leaf to serve, and whether by the real-time criterion.
    pub(super) fn choose(&mut self, now: u128) -> Option<(usize, bool)> {
        while let Some((e, at)) = self.waiting.first()
            && e <= now
        {
            step(1);
            self.waiting.remove(at);
            self.eligible.set(at, self.classes[at].d);
        }
        if let Some((_, at)) = self.eligible.first() {
            return Some((at, true));
        }
        let mut at = self.root();
        loop {
            step(1);
            let first = self.classes[at].first;
            while let Some((f, i)) = self.below_mut(at).unfit.first()
                && f <= now
            {
                step(1);
                let vt = self.classes[first + i].vt;
                let below = self.below_mut(at);
                below.unfit.remove(i);
                below.fit.set(i, vt);
            }
            let below = self.below_mut(at);
            let (vt, i) = below.fit.first()?;
            below.least = below.least.max(vt);
            at = first + i;
            if self.classes[at].leaf.is_some() {
                return Some((at, false));
            }
        }
    }

    /// Charges a packet that left a leaf; `next` is the length of the one behind it. A length of 0 stands for a last packet that was dropped.
    pub(super) fn charge(&mut self, leaf: usize, len: u32, by_deadline: bool, next: Option<u32>, now: u128) {
        let sent = amount(len);
        self.work(leaf, sent, next.is_none(), now);
        let c = &mut self.classes[leaf];
        if by_deadline {
            c.cumul += sent;
        }
        match next {
            None => {
                self.eligible.remove(leaf);
                self.waiting.remove(leaf);
                if c.curves.ls.is_none() {
                    c.active = 0;
                }
            }
            Some(next) if c.curves.rt.is_some() => {
                if by_deadline {
                    return self.set_eligible(leaf, next, now);
                }
                // Work of the other criterion moves the deadline of another packet alone, not the time at which it may be sent by this one.
                c.d = c.deadline.when(c.cumul + amount(next));
            }
            Some(_) => {}
        }
    }

    /// Adds work of a leaf to the virtual and fit times of it and of the classes above it (update_vf).
    fn work(&mut self, leaf: usize, sent: u128, empty: bool, now: u128) {
        let mut at = leaf;
        let mut ends = empty && self.classes[leaf].curves.ls.is_some() && self.classes[leaf].active > 0;
        while at != self.root() {
            step(1);
            let (parent, rank) = (self.classes[at].parent, self.classes[at].rank);
            let least = self.below_mut(parent).least;
            let fits_at = self.fits_at(at);
            let c = &mut self.classes[at];
            c.total += sent;
            if c.curves.ls.is_none() || c.active == 0 {
                at = parent;
                continue;
            }
            if ends {
                c.active -= 1;
                ends = c.active == 0;
            }
            c.vt = c.virtual_curve.when(c.total).saturating_add(c.vt_adjust);
            if c.vt < least {
                // It was passed over while it did not fit: it may not catch up.
                c.vt_adjust += least - c.vt;
                c.vt = least;
            }
            let vt = c.vt;
            if ends {
                let below = self.below_mut(parent);
                below.seen = below.seen.max(vt);
                below.remove(rank);
            } else {
                if c.curves.ul.is_some() {
                    c.own_f = c.limit.when(c.total);
                }
                c.f = c.own_f.max(fits_at);
                let f = c.f;
                self.below_mut(parent).put(rank, vt, f, now);
            }
            at = parent;
        }
        if ends {
            let root = self.root();
            self.classes[root].active -= 1;
        }
    }
}
