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
mod part;
mod post;
mod turnstile;

pub use cut::{Cut, Map, Portion, Whole};
pub use ledger::Ledger;
pub(crate) use ledger::lost;

use crate::world::{Plugs, World};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};
use part::Part;
use post::Post;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turnstile::Turnstile;

/// Windows after which parts are shared out among threads anew, by what they have had to do; then after twice as many, and so on.
const REVIEW: u64 = 32;
/// Windows between two looks of the first thread at whether to go on.
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
    /// What each part has had to do, and who does it.
    loads: Vec<AtomicU64>,
}

/// One stretch of a run, which several threads carry out together.
pub struct Stretch<'a, P: Plugs, H: EventQueue> {
    parts: &'a Parts<P, H>,
    until: Time,
    threads: usize,
    gate: Turnstile,
    /// By the number of the window modulo three: whether anything happened, and when something will.
    busy: [AtomicBool; 3],
    next: [AtomicU64; 3],
    /// The window after which all leave.
    last: AtomicU64,
    shares: Mutex<Vec<Vec<usize>>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Plugs, H: EventQueue> Parts<P, H> {
    /// Cuts a world that has not begun.
    pub fn new(mut world: World<P, H>, cut: Cut) -> Self {
        world.path.untie_all();
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
            loads: cut.portions.iter().map(|p| AtomicU64::new((p.load * 1e6) as u64)).collect(),
            cut,
            round: 0,
            now: None,
        }
    }

    /// How it is cut.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The next stretch of a run, up to and including `until`: each of so many threads calls [`Stretch::work`].
    pub fn stretch(&self, until: Time, threads: usize) -> Stretch<'_, P, H> {
        let threads = threads.clamp(1, self.parts.len());
        let never = || AtomicU64::new(u64::MAX);
        Stretch {
            parts: self,
            until,
            threads,
            gate: Turnstile::new(threads),
            busy: Default::default(),
            next: [never(), never(), never()],
            last: never(),
            shares: Mutex::new(self.shares(threads)),
        }
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

    /// Parts by thread: the one with most to do goes first, to whom has least.
    fn shares(&self, threads: usize) -> Vec<Vec<usize>> {
        let mut parts: Vec<(u64, usize)> = self.loads.iter().enumerate().map(|(i, l)| (l.load(Ordering::Relaxed), i)).collect();
        parts.sort_by_key(|&(load, i)| (std::cmp::Reverse(load), i));
        let mut shares = vec![(0, Vec::new()); threads];
        for (load, i) in parts {
            if let Some(least) = shares.iter_mut().min_by_key(|s| s.0) {
                least.0 += load;
                least.1.push(i);
            }
        }
        shares.into_iter().map(|s| s.1).collect()
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

    /// The work of thread `own`. The first one asks `more` now and then, with the time and the events so far, whether to go on. Returns the number of windows that are
    /// over, or none where the stretch was left before its end.
    pub fn work(&self, own: usize, mut more: impl FnMut(Time, u64) -> bool) -> Option<u64> {
        // A thread that fails lets the others go.
        let _guard = self.gate.guard();
        let parts = self.parts;
        let length = parts.cut.window;
        let (mut window, mut start) = (parts.round, parts.now.map_or(Time::ZERO, |t| t.later(Dur::from_ps(1))));
        let mut mine = lock(&self.shares)[own].clone();
        let mut review = REVIEW;
        loop {
            let until = start.later(length - Dur::from_ps(1)).min(self.until);
            let now = (window % 3) as usize;
            if own == 0 {
                self.busy[(now + 1) % 3].store(false, Ordering::Relaxed);
                self.next[(now + 1) % 3].store(u64::MAX, Ordering::Relaxed);
                if window % LOOK == 0 && !more(start, parts.events()) {
                    self.last.store(window, Ordering::Relaxed);
                }
            }
            for &i in &mine {
                if parts.window(i, window, until) {
                    self.busy[now].store(true, Ordering::Relaxed);
                }
            }
            if !self.gate.pass() || self.last.load(Ordering::Relaxed) <= window {
                return None;
            }
            if until == self.until {
                return Some(window + 1);
            }
            start = until.later(Dur::from_ps(1));
            if !self.busy[now].load(Ordering::Relaxed) {
                // Nothing is under way between parts: on to when something happens.
                for &i in &mine {
                    self.next[now].fetch_min(lock(&parts.parts[i]).next().as_ps(), Ordering::Relaxed);
                }
                if !self.gate.pass() {
                    return None;
                }
                start = start.max(Time::from_ps(self.next[now].load(Ordering::Relaxed))).min(self.until);
            }
            window += 1;
            if window == review {
                review *= 2;
                if own == 0 {
                    *lock(&self.shares) = parts.shares(self.threads);
                }
                if !self.gate.pass() {
                    return None;
                }
                mine.clone_from(&lock(&self.shares)[own]);
            }
        }
    }
}

impl<P: Plugs, H: EventQueue> Parts<P, H> {
    /// Events carried out so far, by what the parts have told.
    fn events(&self) -> u64 {
        self.loads.iter().map(|l| l.load(Ordering::Relaxed)).sum()
    }
}
