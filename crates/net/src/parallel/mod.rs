//! One network on several threads: conservative parallel simulation (Chandy and Misra 1979) in windows of time.
//!
//! The network is cut at links with a propagation delay ([`Partition`]). Each part is a [`World`] in which only the nodes of that part act: it has the
//! events of their endpoints, applications and queues, and those of packets that reach the far end of a link there. A packet that starts to cross a cut
//! link in one window arrives in the next one at the earliest, because no window is longer than the shortest delay that was cut. So all parts run a
//! window at the same time without communicating, and exchange what they sent at its end ([`mailbox`]).
//!
//! Results equal those of the undivided run, to the bit. Events are ordered by numbers that are the same in every part. The near part owns a cut port, with
//! its queue, counters and random numbers; the far part owns the ring behind it, with the event of its head. Two values are read across the cut without
//! delay, and are settled at the end of the window: whether a delivery was the last of its flow, and the mean round-trip time of a flow whose packet a queue
//! has dropped ([`ledger`]).

mod barrier;
mod clusters;
mod ledger;
mod mailbox;
mod merge;
mod part;
mod partition;

pub use partition::{NotPartitioned, Partition, Portion, Topology};

use crate::path::Visible;
use crate::world::{Components, Standstill, World};
use barrier::Barrier;
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};
use ledger::Ledger;
use mailbox::{CachePadded, Mailbox};
use part::Part;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Window at which parts are assigned to threads again, by the events that they have had; next after twice as many windows, and so on.
const REVIEW: u64 = 32;
/// Windows between two calls of `more`.
const LOOK: u64 = 64;
/// Exchanges of mail behind the last window: questions go out with the first, answers with the second, and are read in the third.
const ROUNDS: u64 = 3;

/// A network in parts.
pub struct ParallelWorld<P: Components, H: EventQueue> {
    parts: Vec<Mutex<Part<P, H>>>,
    /// For each part and each part that sends to it: mail of even and of odd windows.
    mail: Vec<Vec<[CachePadded<Mutex<Mailbox>>; 2]>>,
    partition: Partition,
    /// Number of the next window.
    window: u64,
    /// Last instant that is over.
    now: Option<Time>,
    events: AtomicU64,
    /// True if time no longer moves in a part.
    still: AtomicBool,
}

/// One phase of a run, carried out by a fixed number of threads.
pub struct Phase<'a, P: Components, H: EventQueue> {
    world: &'a ParallelWorld<P, H>,
    until: Time,
    barrier: Barrier,
    /// Parts of each thread.
    shares: Vec<CachePadded<Mutex<Vec<usize>>>>,
    /// End of the open window, in picoseconds.
    end: AtomicU64,
    /// True if something happened in the open window.
    busy: AtomicBool,
    /// One of [`RUNNING`], [`REACHED`] and [`ABANDONED`].
    state: AtomicU64,
}

const RUNNING: u64 = 0;
const REACHED: u64 = 1;
const ABANDONED: u64 = 2;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Components, H: EventQueue> ParallelWorld<P, H> {
    /// Splits a world that has not begun.
    pub fn new(mut world: World<P, H>, partition: Partition) -> Self {
        if world.path.has_shortcuts() {
            // No cut link is a downstream link: the event at its far end belongs to another part.
            world.path.disable_all_shortcuts();
            let is_cut = |i| partition.near[i as usize] != partition.far[i as usize];
            world.path.choose_shortcuts(|i| Visible { port: is_cut(i), ..Visible::default() });
        }
        let (slots, count) = (world.path.slots, partition.portions.len());
        let ends: Arc<[u16]> = partition.ends.clone().into();
        // Packets belong to the part at the far side of a link, all other events to the near one.
        let home = |slot: u32| -> u16 {
            let port = |i: u32| partition.near[i as usize];
            if slot < slots.endpoints {
                partition.far[slot as usize]
            } else if slot < slots.hosts {
                ends[(slot - slots.endpoints) as usize]
            } else if slot < slots.clocks {
                partition.hosts[(slot - slots.hosts) as usize]
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
        for &i in &partition.links {
            exits[partition.near[i as usize] as usize].push((i, partition.far[i as usize]));
        }
        let mut parts = Vec::with_capacity(count);
        for (own, ((mut world, queue), exits)) in std::iter::repeat_n(world, count).zip(queues).zip(exits).enumerate() {
            world.path.events = queue;
            let load = (partition.portions[own].load * 1e3) as u64;
            parts.push(Mutex::new(Part::new(world, Ledger::new(ends.clone(), own as u16), exits, count, load)));
        }
        Self {
            parts,
            mail: (0..count).map(|_| (0..count).map(|_| Default::default()).collect()).collect(),
            partition,
            window: 0,
            now: None,
            events: AtomicU64::new(0),
            still: AtomicBool::new(false),
        }
    }

    /// Starts the phase up to and including `until`: each of its threads must call [`Phase::work`].
    pub fn phase(&self, until: Time, threads: usize) -> Phase<'_, P, H> {
        let threads = threads.clamp(1, self.parts.len());
        let start = self.now.map_or(Time::ZERO, |t| t.later(Dur::from_ps(1)));
        Phase {
            world: self,
            until,
            barrier: Barrier::new(threads),
            shares: self.shares(threads).into_iter().map(|share| CachePadded(Mutex::new(share))).collect(),
            end: AtomicU64::new(self.end(start, until).as_ps()),
            busy: AtomicBool::new(false),
            state: AtomicU64::new(RUNNING),
        }
    }

    /// End of the window that begins at `start`.
    fn end(&self, start: Time, until: Time) -> Time {
        start.later(self.partition.window - Dur::from_ps(1)).min(until)
    }

    /// Records that the phase up to `until` is over; `window` is the number that [`Phase::work`] returned.
    pub fn arrived(&mut self, until: Time, window: u64) {
        (self.now, self.window) = (Some(until), window);
    }

    /// Standstill of the first part that has one.
    pub fn standstill(&self) -> Option<Standstill> {
        self.parts.iter().find_map(|p| lock(p).world.standstill().copied())
    }

    /// Resets the counters of all parts at the end of the warm-up.
    pub fn reset_counters(&mut self) {
        for part in &mut self.parts {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).reset_counters();
        }
    }

    /// Assigns parts to threads: the part with the largest load first, each to the thread with the least.
    fn shares(&self, threads: usize) -> Vec<Vec<usize>> {
        let mut parts: Vec<(u64, usize)> = self.parts.iter().enumerate().map(|(i, p)| (lock(p).load, i)).collect();
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

    /// Sends the mail of part `i`. Returns true if there was any.
    fn send_mail(&self, part: &mut Part<P, H>, i: usize, window: u64) -> bool {
        let mut any = false;
        for (to, mail) in part.outbox.iter_mut().enumerate().filter(|(_, m)| !m.is_empty()) {
            // The receiver emptied it a window ago: the memory is used again.
            std::mem::swap(&mut *lock(&self.mail[to][i][(window & 1) as usize].0), mail);
            any = true;
        }
        any
    }

    /// Delivers the mail of the window before to part `i`.
    fn receive_mail(&self, part: &mut Part<P, H>, i: usize, window: u64) {
        for sent in &self.mail[i] {
            part.receive(&mut lock(&sent[(window & 1 ^ 1) as usize].0));
        }
        part.begin_window();
    }

    /// Runs one part for one window, up to and including `until`. Returns its events, and true if anything happened.
    fn run_part(&self, i: usize, window: u64, until: Time) -> (u64, bool) {
        let mut part = lock(&self.parts[i]);
        self.receive_mail(&mut part, i, window);
        let events = part.run(until);
        if part.world.standstill().is_some() {
            self.still.store(true, Ordering::Relaxed);
        }
        (events, self.send_mail(&mut part, i, window) || events > 0)
    }
}

impl<P: Components, H: EventQueue> Phase<'_, P, H> {
    /// Number of threads that must call [`Self::work`].
    pub fn threads(&self) -> usize {
        self.shares.len()
    }

    /// Does the work of thread `own`: runs its parts, window by window. `more` is called now and then with the time and the events so far; the phase ends
    /// early if it returns false. Returns the number of the next window, or `None` if the phase ended early.
    pub fn work(&self, own: usize, more: &impl Fn(Time, u64) -> bool) -> Option<u64> {
        let _guard = self.barrier.guard();
        let mut window = self.world.window;
        loop {
            let until = Time::from_ps(self.end.load(Ordering::Relaxed));
            for &i in &*lock(&self.shares[own].0) {
                let (events, busy) = self.world.run_part(i, window, until);
                self.world.events.fetch_add(events, Ordering::Relaxed);
                if busy {
                    self.busy.store(true, Ordering::Relaxed);
                }
            }
            if !self.barrier.wait(|| self.close(window, until, more)) {
                return None;
            }
            window += 1;
            match self.state.load(Ordering::Relaxed) {
                RUNNING => {}
                state => return (state == REACHED).then_some(window),
            }
        }
    }

    /// Closes a window while all other threads wait: opens the next one, or ends the phase.
    fn close(&self, window: u64, until: Time, more: &impl Fn(Time, u64) -> bool) {
        let (world, next) = (self.world, window + 1);
        let mut start = until.later(Dur::from_ps(1));
        let still = world.still.load(Ordering::Relaxed);
        if until == self.until && !still {
            return self.state.store(REACHED, Ordering::Relaxed);
        }
        if still || next % LOOK == 0 && !more(start, world.events.load(Ordering::Relaxed)) {
            return self.state.store(ABANDONED, Ordering::Relaxed);
        }
        if !self.busy.swap(false, Ordering::Relaxed) {
            // No mail is in transit: skip to the next event.
            let soonest = world.parts.iter().map(|p| lock(p).next()).min();
            start = soonest.unwrap_or(start).max(start).min(self.until);
        }
        if next >= REVIEW && next.is_power_of_two() {
            for (old, new) in self.shares.iter().zip(world.shares(self.shares.len())) {
                *lock(&old.0) = new;
            }
        }
        self.end.store(world.end(start, self.until).as_ps(), Ordering::Relaxed);
    }
}
