//! One network on several threads: conservative parallel simulation (Chandy and Misra 1979) in windows of time.
//!
//! The network is cut at links with a propagation delay ([`Cut`]). Each part is a [`World`] of its own, in which only its nodes live: it has the events of
//! their endpoints, applications and queues, and those of packets that reach the far end of a link there. What begins to cross a cut link in
//! one window arrives in the next at the earliest, as no window is longer than the shortest delay that was cut; so parts run a window at the same time without
//! knowing of each other, and tell each other at its end what they have sent ([`post`]).
//!
//! Results are those of the run in one piece, to the bit. Events are ordered by numbers that are the same in every part; a cut port is the near part's, with its
//! queue, counters and random numbers, and the ring behind it is the far part's, with the event of its head. What is read across
//! the cut without any delay is put off to the end of the window: whether a delivery was the last of its flow, and how long the round trip
//! of a flow is that a queue has dropped a packet of ([`ledger`]).

mod cut;
mod group;
mod join;
mod ledger;
mod pace;
mod part;
mod post;
mod turnstile;

pub use cut::{Cut, Map, Portion, Whole};
pub use ledger::Ledger;
pub(crate) use ledger::lost;

use crate::world::{Plugs, World};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};
use pace::Pace;
use part::Part;
use post::Post;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use turnstile::{OVER, Turnstile};

/// Windows after which parts are shared out among threads anew, by what they have had to do; then after twice as many, and so on.
const REVIEW: u64 = 32;
/// Windows between two looks at whether to go on.
const LOOK: u64 = 64;
/// Rounds of post behind the last window: questions go out with the first of these, answers with the second, and are read in the third.
const ROUNDS: u64 = 3;

/// A network in parts.
pub struct Parts<P: Plugs, H: EventQueue> {
    parts: Vec<Mutex<Part<P, H>>>,
    /// For each part what the others have sent it in even and in odd windows.
    inboxes: Vec<[Mutex<Post>; 2]>,
    cut: Cut,
    /// Where it stands: the number of the next window, and the last instant that is over.
    round: u64,
    now: Option<Time>,
    /// What each part has had to do, and how many threads do it.
    loads: Vec<AtomicU64>,
    pace: Mutex<Pace>,
}

/// One stretch of a run, which several threads carry out together.
pub struct Stretch<'a, P: Plugs, H: EventQueue> {
    parts: &'a Parts<P, H>,
    until: Time,
    threads: usize,
    gate: Turnstile,
    /// The end of the window that is open, in picoseconds.
    end: AtomicU64,
    /// By part, the number of the next window that nobody has taken it in.
    taken: Vec<AtomicU64>,
    /// Parts of the window that are not over, and whether anything happened in others.
    left: AtomicUsize,
    busy: AtomicBool,
    /// By thread, all parts in the order in which it looks for one to take; that it is another one than before.
    turns: Mutex<Vec<Vec<usize>>>,
    shared: AtomicU64,
    /// Windows that are over at the end of the stretch; none where it was left before.
    done: AtomicU64,
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

impl<P: Plugs, H: EventQueue> Parts<P, H> {
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
        for (own, ((mut world, events), exits)) in std::iter::repeat_n(world, count).zip(queues).zip(exits).enumerate() {
            world.path.events = events;
            parts.push(Mutex::new(Part::new(world, Ledger::new(ends.clone(), own as u16), exits, count)));
        }
        Self {
            parts,
            inboxes: (0..count).map(|_| Default::default()).collect(),
            loads: cut.portions.iter().map(|p| AtomicU64::new((p.load * 1e3) as u64)).collect(),
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
        let inside = lock(&self.pace).begin(threads, outside.clock(), self.events());
        let start = self.now.map_or(Time::ZERO, |t| t.later(Dur::from_ps(1)));
        Stretch {
            parts: self,
            until,
            threads,
            gate: Turnstile::new(threads, self.round, let_in(0, inside, threads)),
            end: AtomicU64::new(self.end(start, until).as_ps()),
            taken: (0..count).map(|_| AtomicU64::new(self.round)).collect(),
            left: AtomicUsize::new(count),
            busy: AtomicBool::new(false),
            turns: Mutex::new(self.turns(threads)),
            shared: AtomicU64::new(0),
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

    /// Forgets what was counted so far, in all parts.
    pub fn reset_counters(&mut self) {
        for part in &mut self.parts {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).reset_counters();
        }
    }

    /// By thread, the order in which it takes parts: its own share first, so that a part mostly stays where its memory is at hand, then what others have not come to,
    /// each with most to do first. Shares: the part with most to do goes first, to whom has least.
    fn turns(&self, threads: usize) -> Vec<Vec<usize>> {
        let mut parts: Vec<(u64, usize)> = self.loads.iter().enumerate().map(|(i, l)| (l.load(Ordering::Relaxed), i)).collect();
        parts.sort_by_key(|&(load, i)| (std::cmp::Reverse(load), i));
        let mut shares = vec![(0, Vec::new()); threads];
        for &(load, i) in &parts {
            if let Some(least) = shares.iter_mut().min_by_key(|s| s.0) {
                least.0 += load;
                least.1.push(i);
            }
        }
        let whole = |(_, own): (u64, Vec<usize>)| {
            let others = parts.iter().map(|p| p.1).filter(|i| !own.contains(i));
            own.iter().copied().chain(others).collect()
        };
        shares.into_iter().map(whole).collect()
    }

    /// Sends what a part has for the others.
    fn deliver(&self, part: &mut Part<P, H>, window: u64) -> bool {
        let mut any = false;
        for (to, post) in part.post.iter_mut().enumerate().filter(|(_, p)| !p.is_empty()) {
            lock(&self.inboxes[to][(window & 1) as usize]).take(post);
            any = true;
        }
        any
    }

    /// A part takes in what the others have sent it.
    fn open(&self, part: &mut Part<P, H>, i: usize, window: u64) {
        part.open(&mut lock(&self.inboxes[i][(window & 1 ^ 1) as usize]));
    }

    /// One window of one part, up to and including `until`. Whether anything happened.
    fn window(&self, i: usize, window: u64, until: Time) -> bool {
        let mut part = lock(&self.parts[i]);
        self.open(&mut part, i, window);
        let before = part.world.events_run;
        let ran = part.run(until);
        self.loads[i].fetch_add(part.world.events_run - before, Ordering::Relaxed);
        self.deliver(&mut part, window) || ran
    }
}

impl<P: Plugs, H: EventQueue> Stretch<'_, P, H> {
    /// Threads that are to call [`Self::work`].
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The work of thread `own`: it takes parts of each window that nobody else has taken, and who is the last to be done with one opens the next window. So
    /// a thread that gets no core makes others wait only if it has taken a part. Returns the number of windows that are over, or none where the stretch was left before
    /// its end.
    pub fn work(&self, own: usize, outside: &impl Outside) -> Option<u64> {
        let _guard = self.gate.enter(own);
        let (mut turns, mut shared, mut seen) = (lock(&self.turns)[own].clone(), 0, OVER - 1);
        loop {
            let window = self.gate.pass(own, seen);
            if window == OVER {
                let done = self.done.load(Ordering::Relaxed);
                return (done != OVER).then_some(done);
            }
            seen = window;
            let now = self.shared.load(Ordering::Relaxed);
            if now != shared {
                turns.clone_from(&lock(&self.turns)[own]);
                shared = now;
            }
            // If the window is over by now, another one has taken all of its parts.
            let until = Time::from_ps(self.end.load(Ordering::Relaxed));
            for &i in &turns {
                if self.taken[i].compare_exchange(window, window + 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                    continue;
                }
                if self.parts.window(i, window, until) {
                    self.busy.store(true, Ordering::Relaxed);
                }
                if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    self.close(own, window, until, outside);
                }
            }
        }
    }

    /// A window is over: opens the next one, or ends the stretch. No other thread does anything meanwhile.
    fn close(&self, own: usize, window: u64, until: Time, outside: &impl Outside) {
        let (parts, next) = (self.parts, window + 1);
        let mut start = until.later(Dur::from_ps(1));
        if until == self.until {
            self.done.store(next, Ordering::Relaxed);
        }
        if until == self.until || (next % LOOK == 0 && !outside.more(start, parts.events())) {
            return self.gate.open(OVER, u64::MAX);
        }
        if !self.busy.swap(false, Ordering::Relaxed) {
            // Nothing is under way between parts: on to when something happens.
            let soonest = parts.parts.iter().map(|p| lock(p).next()).min();
            start = soonest.unwrap_or(start).max(start).min(self.until);
        }
        // After so many windows, and then after twice as many.
        if next >= REVIEW && next.is_power_of_two() {
            *lock(&self.turns) = parts.turns(self.threads);
            self.shared.store(next, Ordering::Relaxed);
        }
        let threads = if self.threads == 1 { 1 } else { lock(&parts.pace).next(outside.clock(), parts.events()) };
        self.end.store(parts.end(start, self.until).as_ps(), Ordering::Relaxed);
        self.left.store(parts.parts.len(), Ordering::Relaxed);
        self.gate.open(next, let_in(own, threads, self.threads));
    }
}

/// The threads that take parts, a bit each: this one, which is at work, and those behind it.
fn let_in(own: usize, threads: usize, all: usize) -> u64 {
    (0..threads).fold(0, |bits, i| bits | 1 << ((own + i) % all))
}

impl<P: Plugs, H: EventQueue> Parts<P, H> {
    /// Events carried out so far, by what the parts have told.
    fn events(&self) -> u64 {
        self.loads.iter().map(|l| l.load(Ordering::Relaxed)).sum()
    }
}
