//! The classes of HTB: their tokens and modes, and who may send at which level and priority.

use super::super::bits::Bits;
use super::super::cake::wire::Wire;
use super::super::heap::MinHeap;
use super::super::tree::Place;
use fairlane_engine::steps::step;
use fairlane_units::{Bytes, Dur, Rate, Time};
use std::ops::Range;

/// Levels of a tree: packets wait on the lowest one (TC_HTB_MAXDEPTH).
pub(super) const LEVELS: usize = 8;
/// Number of priorities (TC_HTB_NUMPRIO).
pub(super) const PRIORITIES: usize = 8;
/// Most time that a bucket counts, and its deepest debt (mbuffer).
const MOST_WAIT: i64 = Dur::from_secs(60).as_ps() as i64;

/// State of a class: it may send, borrow, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It is above its ceil.
    CantSend,
    /// It is above its rate and below its ceil.
    MayBorrow,
    /// It is below its rate.
    CanSend,
}

/// Tokens are kept as the time in which they come.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: Rate,
    depth: i64,
    tokens: i64,
}

impl Bucket {
    fn new(rate: Rate, depth: Bytes) -> Self {
        let depth = rate.tx_time(depth.get()).as_ps().min(i64::MAX as u64 / 4) as i64;
        Self { rate, depth, tokens: depth }
    }

    #[inline]
    fn charge(&mut self, len: u64, elapsed: i64) {
        let cost = self.rate.tx_time(len).as_ps().min(i64::MAX as u64 / 4) as i64;
        self.tokens = ((self.tokens + elapsed).min(self.depth) - cost).max(1 - MOST_WAIT);
    }
}

/// Members of a row, or classes below one that borrow from it, at one priority, and whose turn it is.
#[derive(Clone, Debug, Default)]
struct Round {
    members: Bits,
    /// The first member that is not below this number has its turn.
    at: usize,
}

/// Rate and ceil of a class, their bursts, and what both count for a packet.
pub(super) struct Shape {
    pub(super) rates: [Rate; 2],
    pub(super) bursts: [Bytes; 2],
    pub(super) wire: Wire,
}

/// A class.
#[derive(Clone, Debug)]
pub(super) struct Class {
    parent: Option<usize>,
    below: Range<usize>,
    level: usize,
    leaf: usize,
    prio: usize,
    quantum: i64,
    rate: Bucket,
    ceil: Bucket,
    wire: Wire,
    /// When the buckets were last brought up to date.
    at: Time,
    mode: Mode,
    /// Priorities at which packets wait in it or below it, a bit each.
    active: u8,
    /// Bytes left of its turn when it borrows from each level.
    deficit: [i64; LEVELS],
}

impl Class {
    pub(super) fn new(place: &Place, level: usize, shape: Shape, prio: usize, quantum: i64) -> Self {
        Self {
            parent: place.parent,
            below: place.below.clone(),
            level,
            leaf: place.leaf.unwrap_or(usize::MAX),
            prio,
            quantum,
            rate: Bucket::new(shape.rates[0], shape.bursts[0]),
            ceil: Bucket::new(shape.rates[1], shape.bursts[1]),
            wire: shape.wire,
            at: Time::ZERO,
            mode: Mode::CanSend,
            active: 0,
            deficit: [0; LEVELS],
        }
    }

    /// Picoseconds since the buckets were brought up to date.
    fn elapsed(&self, now: Time) -> i64 {
        now.since(self.at).as_ps().min(MOST_WAIT as u64) as i64
    }

    /// The mode at a time after the last update, and how long until it changes.
    fn mode_after(&self, elapsed: i64) -> (Mode, i64) {
        let (tokens, ctokens) = (self.rate.tokens + elapsed, self.ceil.tokens + elapsed);
        if ctokens < 0 {
            (Mode::CantSend, -ctokens)
        } else if tokens < 0 {
            (Mode::MayBorrow, -tokens)
        } else {
            (Mode::CanSend, 0)
        }
    }
}

/// Priorities in a mask.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |p| mask & 1 << p != 0)
}

/// All classes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    classes: Vec<Class>,
    /// Classes that can send, by level and priority.
    rows: Vec<[Round; PRIORITIES]>,
    /// Priorities that have members, by level.
    open: [u8; LEVELS],
    /// Classes that borrow, by the one they borrow from; none for leaves.
    feeds: Vec<Option<Box<[Round; PRIORITIES]>>>,
    /// Classes by the time at which their mode changes.
    waiting: MinHeap<Time>,
}

impl Tree {
    pub(super) fn new(classes: Vec<Class>) -> Self {
        let rounds = |n: usize| std::array::from_fn(|_| Round { members: Bits::new(n), at: 0 });
        let feeds = classes.iter().map(|c| (c.level > 0).then(|| Box::new(rounds(c.below.len())))).collect();
        let rows = (0..LEVELS).map(|_| rounds(classes.len())).collect();
        Self { classes, rows, open: [0; LEVELS], feeds, waiting: MinHeap::default() }
    }

    /// The number of the queue of a leaf.
    #[inline]
    pub(super) fn leaf(&self, at: usize) -> usize {
        self.classes[at].leaf
    }

    /// Priorities at which a class on this level can send for a leaf.
    #[inline]
    pub(super) fn priorities(&self, level: usize) -> u8 {
        self.open[level]
    }

    /// True if any class may send.
    #[inline]
    pub(super) fn may_send(&self) -> bool {
        self.open != [0; LEVELS]
    }

    /// When the next mode changes.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.waiting.first().map(|(t, _)| t)
    }

    /// Changes the modes that are due.
    pub(super) fn pass_time(&mut self, now: Time) {
        while let Some((due, at)) = self.waiting.first()
            && due <= now
        {
            step(1);
            self.waiting.remove(at);
            let wait = self.change_mode(at, self.classes[at].elapsed(now));
            self.wait(at, now, wait);
        }
    }

    fn wait(&mut self, at: usize, now: Time, wait: i64) {
        if self.classes[at].mode != Mode::CanSend {
            self.waiting.set(at, now + Dur::from_ps(wait.max(1) as u64));
        }
    }

    /// Sets the mode by the tokens. Returns how long until it changes.
    fn change_mode(&mut self, at: usize, elapsed: i64) -> i64 {
        let (mode, wait) = self.classes[at].mode_after(elapsed);
        if mode != self.classes[at].mode {
            let active = self.classes[at].active != 0;
            if active && self.classes[at].mode != Mode::CantSend {
                self.leave(at);
            }
            self.classes[at].mode = mode;
            if active && mode != Mode::CantSend {
                self.join(at);
            }
        }
        wait
    }

    /// Notes that packets wait in a leaf.
    #[inline]
    pub(super) fn activate(&mut self, at: usize) {
        let c = &mut self.classes[at];
        if c.active == 0 {
            c.active = 1 << c.prio;
            self.join(at);
        }
    }

    /// Notes that no packet waits in a leaf.
    #[inline]
    pub(super) fn deactivate(&mut self, at: usize) {
        if self.classes[at].active != 0 {
            self.leave(at);
            self.classes[at].active = 0;
        }
    }

    /// Puts a class into the row of its level if it can send, or else among those that borrow from its parent, which joins in turn.
    fn join(&mut self, mut at: usize) {
        let mut mask = self.classes[at].active;
        while mask != 0 {
            step(1);
            let c = &self.classes[at];
            match (c.mode, c.parent) {
                (Mode::CanSend, _) => {
                    self.open[c.level] |= mask;
                    bits(mask).for_each(|prio| self.rows[c.level][prio].members.insert(at));
                    return;
                }
                (Mode::MayBorrow, Some(parent)) => {
                    let first = self.classes[parent].below.start;
                    let Some(feed) = &mut self.feeds[parent] else { return };
                    for prio in bits(mask) {
                        let members = &mut feed[prio].members;
                        if !members.is_empty() {
                            // The parent is where it belongs already.
                            mask &= !(1 << prio);
                        }
                        members.insert(at - first);
                    }
                    self.classes[parent].active |= mask;
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Undoes [`Self::join`], in the mode in which the class joined.
    fn leave(&mut self, mut at: usize) {
        let mut mask = self.classes[at].active;
        while mask != 0 {
            step(1);
            let c = &self.classes[at];
            match (c.mode, c.parent) {
                (Mode::CanSend, _) => {
                    for prio in bits(mask) {
                        let round = &mut self.rows[c.level][prio];
                        round.members.remove(at);
                        if round.at == at {
                            round.at += 1;
                        }
                        if round.members.is_empty() {
                            self.open[c.level] &= !(1 << prio);
                        }
                    }
                    return;
                }
                (Mode::MayBorrow, Some(parent)) => {
                    let first = self.classes[parent].below.start;
                    let Some(feed) = &mut self.feeds[parent] else { return };
                    for prio in bits(mask) {
                        let members = &mut feed[prio].members;
                        members.remove(at - first);
                        if !members.is_empty() {
                            mask &= !(1 << prio);
                        }
                    }
                    self.classes[parent].active &= !mask;
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// The leaf whose turn it is among those for which a class on this level can send.
    pub(super) fn find(&mut self, level: usize, prio: usize) -> Option<usize> {
        let mut node: Option<usize> = None;
        loop {
            step(1);
            let (round, first) = match node {
                None => (&mut self.rows[level][prio], 0),
                Some(at) => {
                    let first = self.classes[at].below.start;
                    (&mut self.feeds[at].as_mut()?[prio], first)
                }
            };
            if round.members.is_empty() {
                return None;
            }
            match (round.members.next(round.at), node) {
                (Some(i), _) => {
                    round.at = i;
                    node = Some(first + i);
                    if self.classes[first + i].level == 0 {
                        return node;
                    }
                }
                (None, None) => round.at = 0,
                (None, Some(at)) => {
                    // All below this one had a turn: so had it.
                    round.at = 0;
                    self.skip(at, level, prio);
                    node = None;
                }
            }
        }
    }

    /// Ends the turn of a class, in the row or among those that borrow from its parent.
    pub(super) fn skip(&mut self, at: usize, level: usize, prio: usize) {
        let c = &self.classes[at];
        match c.parent {
            Some(parent) if c.level != level => {
                let first = self.classes[parent].below.start;
                if let Some(feed) = &mut self.feeds[parent] {
                    feed[prio].at = at - first + 1;
                }
            }
            _ => self.rows[level][prio].at = at + 1,
        }
    }

    /// Charges a packet to the turn of a leaf.
    pub(super) fn turn(&mut self, at: usize, level: usize, prio: usize, len: u32) {
        let c = &mut self.classes[at];
        c.deficit[level] -= i64::from(len);
        if c.deficit[level] < 0 {
            c.deficit[level] += c.quantum;
            self.skip(at, level, prio);
        }
    }

    /// Charges a packet to a leaf and the classes above it: to the ceil of all, and to the rates from the level that sent it on.
    pub(super) fn charge(&mut self, leaf: usize, level: usize, len: u32, now: Time) {
        let mut next = Some(leaf);
        while let Some(at) = next {
            step(1);
            let c = &mut self.classes[at];
            let (elapsed, before, framed) = (c.elapsed(now), c.mode, c.wire.framed(len));
            if c.level >= level {
                c.rate.charge(framed, elapsed);
            } else {
                c.rate.tokens += elapsed;
            }
            c.ceil.charge(framed, elapsed);
            c.at = now;
            next = c.parent;
            let wait = self.change_mode(at, 0);
            if self.classes[at].mode != before {
                self.waiting.remove(at);
                self.wait(at, now, wait);
            }
        }
    }
}
