//! Counters that every run keeps, in ports and flows. Ratios and means are formed from them once, in the metrics module.

use super::histogram::Summary;
use super::loss_events::LossesTogether;
use crate::qdisc::{Backlog, DropReason};
use crate::ring::with_room;
use fairlane_units::Time;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::sync::LazyLock;

/// How long a queue held how much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Picoseconds at each length in packets; index 0 is filled in by `close`.
    pub levels: Box<[u64]>,
    /// Integral of the length in bytes over picoseconds.
    pub byte_area: u128,
    /// Integral of the squared length in bytes.
    pub byte_squares: u128,
    /// Longest queue in bytes.
    pub max_bytes: u64,
    level: Backlog,
    since: Time,
}

impl Occupancy {
    /// When the length changed last.
    pub(crate) fn since(&self) -> Time {
        self.since
    }

    /// The length changed to `level` at `now`.
    #[inline]
    pub fn change(&mut self, now: Time, level: Backlog) {
        if self.level.pkts > 0 {
            self.spend(now);
        }
        self.level = level;
        self.since = now;
        if level.bytes > self.max_bytes {
            self.max_bytes = level.bytes;
        }
    }

    /// The same where something waited and less does now.
    #[inline]
    pub(crate) fn fall(&mut self, now: Time, level: Backlog) {
        self.spend(now);
        self.level = level;
        self.since = now;
    }

    #[inline]
    fn spend(&mut self, now: Time) {
        let dt = (now - self.since).as_ps();
        let (n, b) = (self.level.pkts as usize, self.level.bytes);
        match self.levels.get_mut(n) {
            Some(at_length) => *at_length += dt,
            None => self.deepen(n, dt),
        }
        self.byte_area += u128::from(b) * u128::from(dt);
        // Less than 4 GiB wait nearly always, and then one product of 64 bits is enough.
        if b >> 32 == 0 {
            self.byte_squares += u128::from(b * b) * u128::from(dt);
        } else {
            self.square_long(dt);
        }
    }

    #[cold]
    fn square_long(&mut self, dt: u64) {
        let b = u128::from(self.level.bytes);
        self.byte_squares += b * b * u128::from(dt);
    }

    /// The queue was as long as `n` for the first time. A small one takes the room it needs, a large one grows by a quarter.
    #[cold]
    fn deepen(&mut self, n: usize, dt: u64) {
        let len = (n + 1 + self.levels.len() / 4).next_multiple_of(4);
        self.levels = with_room(std::mem::take(&mut self.levels), len, 0);
        self.levels[n] += dt;
    }

    /// Forgets the past; the present length stays.
    pub fn reset(&mut self, now: Time) {
        *self = Self { level: self.level, since: now, max_bytes: self.level.bytes, ..Self::default() };
    }

    /// The distribution over the span from `from` to `now`, the empty time included.
    pub fn close(&self, from: Time, now: Time) -> Self {
        let mut c = self.clone();
        c.change(now, self.level);
        let busy: u64 = c.levels.iter().skip(1).sum();
        if c.levels.is_empty() {
            c.levels = Box::new([0]);
        }
        c.levels[0] = (now - from).as_ps().saturating_sub(busy);
        c
    }
}

/// Counters of a port since the last reset. Those of every hop come first; the rest, [`RareCounters`], are read and written as if they lay here.
///
/// Packets and bytes do not lie side by side, here and in [`FlowCounters`]: the compiler would make a vector of the two to be added, which takes three times the instructions.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PortCounters {
    /// Packets that left the queue. Their transmission began with that, unless the port has a device that holds packets.
    pub sent_pkts: u64,
    rare: Rare<RareCounters>,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Made when the first packet waits: at most ports of a large network none does.
    waiting: Option<Box<Waiting>>,
}

/// What is counted of packets that wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    /// Waiting times of the packets that had to wait.
    pub(crate) waits: Summary<5>,
    /// Queue length over time.
    pub(crate) occupancy: Occupancy,
}

/// Where nothing has waited.
static NOTHING_WAITED: LazyLock<Waiting> = LazyLock::new(Waiting::default);

/// Counters of a port that stay at zero where nothing is lost, and nothing was under way at the reset.
#[derive(Clone, Debug, PartialEq)]
pub struct RareCounters {
    /// Drops by reason.
    pub drops: [u64; DropReason::COUNT],
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Bytes dropped, losses on the link included.
    pub dropped_bytes: u64,
    /// Copies made by the duplication impairment.
    pub duplicates: u64,
    /// Packets that the link brought after one of the same flow and direction that was sent later.
    pub reordered: u64,
    /// Which TCP flows lost data together in this queue.
    pub together: LossesTogether,
    /// What was there at the reset.
    pub initial: Initial,
}

/// What a port held at the reset.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Backlog of the queue.
    pub backlog: Backlog,
    /// Bytes that waited in the device.
    pub ahead: u64,
    /// Bits of the packet in transmission that were still to be sent.
    pub unsent: f64,
}

impl Initial {
    const NOTHING: Self = Self { backlog: Backlog { pkts: 0, bytes: 0 }, ahead: 0, unsent: 0.0 };
}

impl Zero for RareCounters {
    const ZERO: &'static Self = &Self {
        drops: [0; DropReason::COUNT],
        marks: 0,
        dropped_bytes: 0,
        duplicates: 0,
        reordered: 0,
        together: LossesTogether::NONE,
        initial: Initial::NOTHING,
    };
}

/// What stays at zero in most places, where it does not: nothing of it is there before it is first written.
#[derive(Clone, Debug)]
struct Rare<T>(Option<Box<T>>);

/// A value that says nothing, to be read where there is none.
trait Zero: Clone + 'static {
    const ZERO: &'static Self;
}

impl<T: Zero> Rare<T> {
    fn get(&self) -> &T {
        self.0.as_deref().unwrap_or(T::ZERO)
    }
    fn make(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(T::ZERO.clone()))
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Zero + PartialEq> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Zero + Eq> Eq for Rare<T> {}

impl Deref for PortCounters {
    type Target = RareCounters;
    fn deref(&self) -> &RareCounters {
        self.rare.get()
    }
}

impl DerefMut for PortCounters {
    fn deref_mut(&mut self) -> &mut RareCounters {
        self.rare.make()
    }
}

impl PortCounters {
    /// Whether anything of [`RareCounters`] was ever counted.
    #[inline]
    pub(crate) fn has_rare(&self) -> bool {
        self.rare.0.is_some()
    }
    /// So many packets were marked: mostly none, and then nothing is made for them.
    #[inline(always)]
    pub(crate) fn mark(&mut self, packets: u32) {
        if packets > 0 {
            self.marks += u64::from(packets);
        }
    }
    /// What is counted of packets that wait, to be changed.
    #[inline(always)]
    pub(crate) fn waiting(&mut self) -> &mut Waiting {
        if self.waiting.is_none() {
            self.waiting = first_waiting();
        }
        self.waiting.get_or_insert_default()
    }
    /// The same to be looked at, where there is any.
    #[inline(always)]
    pub(crate) fn known_waiting(&self) -> Option<&Waiting> {
        self.waiting.as_deref()
    }
    fn waited(&self) -> &Waiting {
        self.known_waiting().unwrap_or_else(|| &NOTHING_WAITED)
    }
    /// Waiting times of the packets that had to wait.
    #[inline]
    pub fn waits(&self) -> &Summary<5> {
        &self.waited().waits
    }
    /// Queue length over time.
    pub fn occupancy(&self) -> &Occupancy {
        &self.waited().occupancy
    }
    /// Forgets what was counted; the length of the queue stays.
    pub(crate) fn begin_again(&mut self, initial: Initial, now: Time) {
        let mut waiting = self.waiting.take();
        if let Some(w) = &mut waiting {
            w.waits = Summary::default();
            w.occupancy.reset(now);
        }
        *self = Self { waiting, ..Self::default() };
        if initial != Initial::NOTHING {
            self.initial = initial;
        }
    }
    /// Drops by the queue, losses on the link not among them.
    pub fn queue_drops(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.link_losses()
    }
    /// Packets lost because the link was down.
    pub fn outage_losses(&self) -> u64 {
        self.drops[DropReason::Cut as usize] + self.drops[DropReason::Down as usize]
    }
    /// Packets that left the queue and did not get across the link.
    pub fn link_losses(&self) -> u64 {
        DropReason::ALL.iter().filter(|w| w.on_link()).map(|&w| self.drops[w as usize]).sum()
    }
}

#[cold]
fn first_waiting() -> Option<Box<Waiting>> {
    Some(Box::default())
}

/// Drops by reason. Those of most flows have one reason, whose number lies in place.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    first: u64,
    /// Number of the reason of `first` among all.
    why: u8,
    others: Option<Box<[u64; DropReason::COUNT]>>,
}

impl Reasons {
    /// One number for each reason, in their order.
    pub fn all(&self) -> [u64; DropReason::COUNT] {
        std::array::from_fn(|why| self[why])
    }
}

impl PartialEq for Reasons {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl Eq for Reasons {}

impl Index<usize> for Reasons {
    type Output = u64;
    fn index(&self, why: usize) -> &u64 {
        if why == usize::from(self.why) { &self.first } else { self.others.as_ref().map_or(&0, |o| &o[why]) }
    }
}

impl IndexMut<usize> for Reasons {
    fn index_mut(&mut self, why: usize) -> &mut u64 {
        if self.first == 0 && self.others.is_none() {
            self.why = why as u8;
        }
        if why == usize::from(self.why) { &mut self.first } else { &mut self.others.get_or_insert_default()[why] }
    }
}

/// Counters of a flow since the last reset. Packets are those of the forward direction that carry data.
///
/// What hardly any flow counts, [`RareFlowCounters`], is read and written as if it lay here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Data packets handed to the network.
    pub sent_pkts: u64,
    /// Bytes on the wire of the data packets that arrived; their number is that of the `delay`s.
    pub received_bytes: u64,
    /// Bytes on the wire of those sent.
    pub sent_bytes: u64,
    /// Payload bytes delivered to the application in order, each once.
    pub delivered: u64,
    /// One-way delays of the data packets that arrived.
    pub delay: Summary,
    /// Sum of |delay of a packet - delay of the one that arrived before it|.
    pub jitter_sum: u128,
    /// One more than the delay of the last packet that arrived; 0 before the first.
    pub(crate) last_delay: u64,
    /// Of how many flows the first packet of all is among those counted: it has no term in `jitter_sum`.
    pub(crate) firsts: u32,
    /// When the newest packet that arrived was sent, and its number among those sent at that instant.
    pub(crate) newest: (Time, u64),
    /// Round-trip times the sender measured.
    pub rtt: Summary,
    /// Drops of data packets by reason, anywhere on the path.
    pub drops: Reasons,
    rare: Rare<RareFlowCounters>,
}

/// Counters of a flow that stay at zero where nothing comes out of order, is marked or lost on the way back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RareFlowCounters {
    /// Payload bytes that had arrived at the reset and were delivered after it, or not at all: they waited for something before them.
    pub initial_kept: u64,
    /// Data packets that arrived after one that was sent later.
    pub reordered: u64,
    /// Drops of all other packets: acknowledgments of both directions, and what the receiver writes.
    pub other_drops: u64,
    /// Packets of this flow that were marked on their way and arrived.
    pub marked: u64,
    /// Durations of the transactions that its application completed; none for most flows.
    pub transactions: Option<Box<Summary>>,
}

impl Zero for RareFlowCounters {
    const ZERO: &'static Self = &Self { initial_kept: 0, reordered: 0, other_drops: 0, marked: 0, transactions: None };
}

impl Deref for FlowCounters {
    type Target = RareFlowCounters;
    fn deref(&self) -> &RareFlowCounters {
        self.rare.get()
    }
}

impl DerefMut for FlowCounters {
    fn deref_mut(&mut self) -> &mut RareFlowCounters {
        self.rare.make()
    }
}

impl FlowCounters {
    /// After a reset: of the past stays when the last packets arrived, and what was kept by then.
    pub(crate) fn begin_again(&mut self, kept: u64) {
        let (last_delay, newest) = (self.last_delay, self.newest);
        *self = Self { last_delay, newest, ..Self::default() };
        if kept > 0 {
            self.initial_kept = kept;
        }
    }
    /// Data packets that arrived.
    pub fn received_pkts(&self) -> u64 {
        self.delay.n
    }
    /// Number of terms in `jitter_sum`.
    pub fn jitter_n(&self) -> u64 {
        self.delay.n - u64::from(self.firsts)
    }
    /// Adds what was counted elsewhere: in another part of the network, or of another flow. The last arrivals stay those of this one.
    pub fn merge(&mut self, o: &Self) {
        self.sent_pkts += o.sent_pkts;
        self.sent_bytes += o.sent_bytes;
        self.received_bytes += o.received_bytes;
        self.delivered += o.delivered;
        self.delay.merge(&o.delay);
        self.jitter_sum += o.jitter_sum;
        self.firsts += o.firsts;
        self.rtt.merge(&o.rtt);
        for (why, n) in o.drops.all().into_iter().enumerate().filter(|(_, n)| *n > 0) {
            self.drops[why] += n;
        }
        let Some(rare) = &o.rare.0 else { return };
        self.initial_kept += rare.initial_kept;
        self.reordered += rare.reordered;
        self.other_drops += rare.other_drops;
        self.marked += rare.marked;
        if let Some(more) = &rare.transactions {
            self.transactions.get_or_insert_default().merge(more);
        }
    }
}
