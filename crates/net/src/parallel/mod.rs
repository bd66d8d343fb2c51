//! One network on several threads: conservative parallel simulation (Chandy and Misra 1979) in windows of time.
//!
//! The network is cut at links with a propagation delay ([`Cut`]). Each part is a [`World`] of its own, in which only its nodes live: it has the events of
//! their endpoints, applications and queues, and those of packets that reach the far end of a link there. What begins to cross a cut link in
//! one window arrives in the next at the earliest, as no window is longer than the shortest delay that was cut; so parts run a window at the same time without
//! knowing of each other, and tell each other at its end what they have sent ([`mailbox`]).
//!
//! Results are those of the run in one piece, to the bit. Events are ordered by numbers that are the same in every part; a cut port is the near part's, with its
//! queue, counters and random numbers, and the ring behind it is the far part's, with the event of its head. What is read across
//! the cut without any delay is put off to the end of the window: whether a delivery was the last of its flow, and how long the round trip
//! of a flow is that a queue has dropped a packet of ([`ledger`]).

mod barrier;
mod clusters;
mod ledger;
mod mailbox;
mod merge;
mod pace;
mod part;
mod partition;

pub use ledger::Ledger;
pub(crate) use ledger::lost;
pub use partition::{Cut, Map, NotPartitioned, Portion};

use crate::world::{Components, Standstill, World};
use barrier::{OVER, Turnstile};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};
use mailbox::{Aside, Post};
use pace::Pace;
use part::Part;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Windows after which parts are shared out among threads anew, by what they have had to do; then after twice as many, and so on.
const REVIEW: u64 = 32;
/// Windows between two looks at whether to go on.
const LOOK: u64 = 64;
/// Looks at whether another thread takes its parts before they are taken from it: some ten microseconds.
const PATIENCE: u32 = 1000;
/// Rounds of post behind the last window: questions go out with the first of these, answers with the second, and are read in the third.
const ROUNDS: u64 = 3;

/// A network in parts.
pub struct Parts<P: Components, H: EventQueue> {
    parts: Vec<Mutex<Part<P, H>>>,
    /// For each part, and each that sends to it, what was sent in even and in odd windows.
    boxes: Vec<Vec<[Aside<Mutex<Post>>; 2]>>,
    cut: Cut,
    /// Where it stands: the number of the next window, and the last instant that is over.
    round: u64,
    now: Option<Time>,
    /// Events so far, and how many threads carry them out.
    events: AtomicU64,
    /// True if time does not move any more in one of them.
    still: AtomicBool,
    pace: Mutex<Pace>,
}

/// One stretch of a run, which several threads carry out together.
pub struct Stretch<'a, P: Components, H: EventQueue> {
    parts: &'a Parts<P, H>,
    until: Time,
    threads: usize,
    gate: Turnstile,
    /// By thread, of its share the window and the number of the next part that nobody has taken in it: `window * NEXT + number`.
    next: Vec<Aside<AtomicU64>>,
    /// What threads say when they find nothing more to take: see [`Did`].
    left: Aside<AtomicU64>,
    /// By thread its share of the parts.
    shares: Mutex<Shares>,
    /// Windows that are over at the end of the stretch; none where it was left before.
    done: AtomicU64,
}

/// The parts of each thread, those with most to do first, as they are from a window on.
#[derive(Clone, Default)]
struct Shares {
    from: u64,
    of: Vec<Vec<usize>>,
}

/// More than a thread has parts.
const NEXT: u64 = 1 << 8;

/// What one thread or several did in a window: parts that are over, those of them in which something happened, and their events. All in one number, since
/// each look at what another thread has written takes as long as several events.
#[derive(Clone, Copy, Default)]
struct Did {
    parts: u64,
    busy: u64,
    events: u64,
}

impl Did {
    /// Adds it to that of the other threads, which began with so many parts left: what all did, if that is the whole window.
    fn tell(self, left: &AtomicU64) -> Option<Self> {
        let before = left.fetch_add((self.events << 16 | self.busy << 8).wrapping_sub(self.parts), Ordering::AcqRel);
        let (busy, events) = (self.busy + (before >> 8 & 0xff), self.events + (before >> 16));
        (before & 0xff == self.parts).then_some(Self { busy, events, ..self })
    }
}

/// What goes on outside of simulated time, for all threads.
pub trait Outside: Sync {
    /// The clock. Nothing in results depends on it.
    fn clock(&self) -> Duration;
    /// Whether to go on: asked now and then, with the time and the events so far.
    fn more(&self, now: Time, events: u64) -> bool;
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Components, H: EventQueue> Parts<P, H> {
    /// Cuts a world that has not begun.
    pub fn new(mut world: World<P, H>, cut: Cut) -> Self {
        if world.path.has_short_ways() {
            // The relay of a cut link is in the part where that ends, and none is one itself: the event at its end is another part's.
            world.path.untie_all();
            world.path.find_relays(&cut.links, |_| false);
            world.path.find_lanes(&[]);
        }
        let (slots, count) = (world.path.slots, cut.portions.len());
        let ends: Arc<[u16]> = cut.ends.clone().into();
        // The part of each source of events: packets belong to the far side, everything else to the near one.
        let home = |slot: u32| -> u16 {
            let port = |i: u32| cut.near[i as usize];
            if slot < slots.endpoints {
                cut.far[slot as usize]
            } else if slot < slots.hosts {
                ends[(slot - slots.endpoints) as usize]
            } else if slot < slots.clocks {
                cut.hosts[(slot - slots.hosts) as usize]
            } else if slot < slots.lates {
                port(world.clocks[(slot - slots.clocks) as usize])
            } else {
                port(world.lates[(slot - slots.lates) as usize])
            }
        };
        let mut queues: Vec<H> = (0..count).map(|_| H::with_slots(slots.order.numbers())).collect();
        while let Some((time, number)) = world.path.events.pop_until(Time::MAX) {
            queues[home(slots.order.slot(time, number)) as usize].push(time, number);
        }
        world.path.events = H::with_slots(0);
        let mut exits = vec![Vec::new(); count];
        for &i in &cut.links {
            exits[cut.near[i as usize] as usize].push((i, cut.far[i as usize]));
        }
        let mut parts = Vec::with_capacity(count);
        for (own, ((mut world, queue), exits)) in std::iter::repeat_n(world, count).zip(queues).zip(exits).enumerate() {
            world.path.events = queue;
            let load = (cut.portions[own].load * 1e3) as u64;
            parts.push(Mutex::new(Part::new(world, Ledger::new(ends.clone(), own as u16), exits, count, load)));
        }
        Self {
            parts,
            boxes: (0..count).map(|_| (0..count).map(|_| Default::default()).collect()).collect(),
            events: AtomicU64::new(0),
            still: AtomicBool::new(false),
            cut,
            round: 0,
            now: None,
            pace: Mutex::new(Pace::new(1)),
        }
    }

    /// How it is cut.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The next stretch of a run, up to and including `until`: each of so many threads calls [`Stretch::work`].
    pub fn stretch(&self, until: Time, threads: usize, outside: &impl Outside) -> Stretch<'_, P, H> {
        let count = self.parts.len();
        let threads = threads.clamp(1, count);
        let inside = lock(&self.pace).begin(threads, outside.clock(), self.events.load(Ordering::Relaxed));
        let start = self.now.map_or(Time::ZERO, |t| t.later(Dur::from_ps(1)));
        Stretch {
            parts: self,
            until,
            threads,
            gate: Turnstile::new(threads, self.round, let_in(0, inside, threads), self.end(start, until)),
            next: (0..threads).map(|_| Aside::default()).collect(),
            left: Aside(AtomicU64::new(count as u64)),
            shares: Mutex::new(self.shares(threads, self.round)),
            done: AtomicU64::new(OVER),
        }
    }

    /// The end of the window that begins at `start`.
    fn end(&self, start: Time, until: Time) -> Time {
        start.later(self.cut.window - Dur::from_ps(1)).min(until)
    }

    /// That a stretch came to its end; so many windows are over.
    pub fn arrived(&mut self, until: Time, windows: u64) {
        (self.now, self.round) = (Some(until), windows);
    }

    /// The standstill of the first part that has come to one.
    pub fn standstill(&self) -> Option<Standstill> {
        self.parts.iter().find_map(|p| lock(p).world.standstill().copied())
    }

    /// Forgets what was counted so far, in all parts.
    pub fn reset_counters(&mut self) {
        for part in &mut self.parts {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).reset_counters();
        }
    }

    /// By thread the parts that it takes first, so that a part mostly stays where its memory is at hand: the part with most to do goes first, to whom has least.
    fn shares(&self, threads: usize, from: u64) -> Shares {
        let mut parts: Vec<(u64, usize)> = self.parts.iter().enumerate().map(|(i, p)| (lock(p).load, i)).collect();
        parts.sort_by_key(|&(load, i)| (std::cmp::Reverse(load), i));
        let mut shares = vec![(0, Vec::new()); threads];
        for (load, i) in parts {
            if let Some(least) = shares.iter_mut().min_by_key(|s| s.0) {
                least.0 += load;
                least.1.push(i);
            }
        }
        Shares { from, of: shares.into_iter().map(|s| s.1).collect() }
    }

    /// Sends what part `i` has for the others.
    fn deliver(&self, part: &mut Part<P, H>, i: usize, window: u64) -> bool {
        let mut any = false;
        for (to, post) in part.post.iter_mut().enumerate().filter(|(_, p)| !p.is_empty()) {
            // It was emptied a window ago: memory goes to and fro.
            std::mem::swap(&mut *lock(&self.boxes[to][i][(window & 1) as usize].0), post);
            any = true;
        }
        any
    }

    /// Part `i` takes in what the others have sent it, and what it has asked itself.
    fn open(&self, part: &mut Part<P, H>, i: usize, window: u64) {
        for sent in &self.boxes[i] {
            part.take(&mut lock(&sent[(window & 1 ^ 1) as usize].0));
        }
        part.open();
    }

    /// One window of one part, up to and including `until`. Its events, and whether anything happened.
    fn window(&self, i: usize, window: u64, until: Time) -> (u64, bool) {
        let mut part = lock(&self.parts[i]);
        self.open(&mut part, i, window);
        let events = part.run(until);
        if part.world.standstill().is_some() {
            self.still.store(true, Ordering::Relaxed);
        }
        (events, self.deliver(&mut part, i, window) || events > 0)
    }
}

impl<P: Components, H: EventQueue> Stretch<'_, P, H> {
    /// Threads that are to call [`Self::work`].
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The work of thread `own`: it takes parts of each window that nobody else has taken, and who is the last to be done with one opens the next window. So
    /// a thread that gets no core makes others wait only if it has taken a part. Returns the number of windows that are over, or none where the stretch was left before
    /// its end.
    pub fn work(&self, own: usize, outside: &impl Outside) -> Option<u64> {
        let _guard = self.gate.enter(own);
        let (mut shares, mut seen) = (Shares { from: OVER, of: Vec::new() }, OVER - 1);
        loop {
            let (window, until) = self.gate.pass(own, seen);
            if window == OVER {
                let done = self.done.load(Ordering::Relaxed);
                return (done != OVER).then_some(done);
            }
            seen = window;
            let from = if window < REVIEW { 0 } else { 1 << window.ilog2() };
            if shares.from < from || shares.from == OVER {
                shares.clone_from(&lock(&self.shares));
            }
            // If the window is over by now, another one has taken all of its parts, and shares may be those of a later one.
            if shares.from > window {
                continue;
            }
            let mut did = Did::default();
            for whose in (own..self.threads).chain(0..own) {
                if whose != own && self.comes(whose, window, shares.of[whose].len()) {
                    continue;
                }
                while let Some(i) = self.claim(whose, window, &shares.of[whose]) {
                    let (events, busy) = self.parts.window(i, window, until);
                    did = Did { parts: did.parts + 1, busy: did.busy + u64::from(busy), events: did.events + events };
                }
            }
            if did.parts > 0
                && let Some(all) = did.tell(&self.left.0)
            {
                self.close(own, window, until, all, outside);
            }
        }
    }

    /// Whether thread `whose` takes all parts of its share within a while: they lie in the caches of its core, and it takes longer to fetch them than to wait.
    fn comes(&self, whose: usize, window: u64, parts: usize) -> bool {
        let taken = || self.next[whose].0.load(Ordering::Relaxed) >= window * NEXT + parts as u64;
        let over = || {
            std::hint::spin_loop();
            !self.gate.waits_for(whose, window)
        };
        // One that was not let in does not come, and nobody waits where all is taken.
        taken() || (self.gate.waits_for(whose, window) && (0..PATIENCE).any(|_| over() || taken()))
    }

    /// Takes the next part of somebody's share.
    fn claim(&self, whose: usize, window: u64, share: &[usize]) -> Option<usize> {
        let next = &self.next[whose].0;
        let mut seen = next.load(Ordering::Relaxed);
        loop {
            // In this window nobody was here before, if that was in an earlier one.
            let now = seen.max(window * NEXT);
            let &part = share.get((now - window * NEXT) as usize)?;
            match next.compare_exchange_weak(seen, now + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(part),
                Err(other) => seen = other,
            }
        }
    }

    /// A window is over: opens the next one, or ends the stretch. No other thread does anything meanwhile.
    fn close(&self, own: usize, window: u64, until: Time, all: Did, outside: &impl Outside) {
        let (parts, next) = (self.parts, window + 1);
        let mut start = until.later(Dur::from_ps(1));
        let events = parts.events.load(Ordering::Relaxed) + all.events;
        parts.events.store(events, Ordering::Relaxed);
        let still = parts.still.load(Ordering::Relaxed);
        if until == self.until && !still {
            self.done.store(next, Ordering::Relaxed);
        }
        if until == self.until || still || (next % LOOK == 0 && !outside.more(start, events)) {
            return self.gate.open(OVER, u64::MAX, until);
        }
        if all.busy == 0 {
            // Nothing is under way between parts: on to when something happens.
            let soonest = parts.parts.iter().map(|p| lock(p).next()).min();
            start = soonest.unwrap_or(start).max(start).min(self.until);
        }
        // After so many windows, and then after twice as many.
        if next >= REVIEW && next.is_power_of_two() {
            *lock(&self.shares) = parts.shares(self.threads, next);
        }
        let threads = if self.threads == 1 { 1 } else { lock(&parts.pace).next(outside.clock(), events) };
        self.left.0.store(parts.parts.len() as u64, Ordering::Relaxed);
        self.gate.open(next, let_in(own, threads, self.threads), parts.end(start, self.until));
    }
}

/// The threads that take parts, a bit each: this one, which is at work, and those behind it.
fn let_in(own: usize, threads: usize, all: usize) -> u64 {
    (0..threads).fold(0, |bits, i| bits | 1 << ((own + i) % all))
}
