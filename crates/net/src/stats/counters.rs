//! Counters of ports and flows in every run. The metrics module computes ratios and means from them.

use super::histogram::Summary;
use super::loss_events::LossEvents;
use super::playback::Playback;
use crate::qdisc::{Backlog, DropReason};
use crate::ring::with_room;
use fairlane_units::Time;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::sync::LazyLock;

/// Distribution of the queue length over time.
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
    /// Time of the last change.
    pub(crate) fn since(&self) -> Time {
        self.since
    }

    /// Records that the length changed to `level` at `now`.
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

    /// [`Self::change`] to a smaller `level` of a queue that was not empty.
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
        // Below 4 GiB one product of 64 bits is enough.
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

    /// Adds levels up to `n`, the longest length so far. A large table grows by a quarter.
    #[cold]
    fn deepen(&mut self, n: usize, dt: u64) {
        let len = (n + 1 + self.levels.len() / 4).next_multiple_of(4);
        self.levels = with_room(std::mem::take(&mut self.levels), len, 0);
        self.levels[n] += dt;
    }

    /// Resets everything but the present length.
    pub fn reset(&mut self, now: Time) {
        *self = Self { level: self.level, since: now, max_bytes: self.level.bytes, ..Self::default() };
    }

    /// Returns the distribution from `from` to `now`, including the time when the queue was empty.
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

/// Counters of a port since the last reset. [`RareCounters`] are fields of it by `Deref`.
///
/// Packets and bytes are not neighbours, here and in [`FlowCounters`]: else the compiler adds both as a vector, with three times the instructions.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PortCounters {
    /// Packets that left the queue, which starts their transmission unless a device holds packets below the queue.
    pub sent_pkts: u64,
    rare: Rare<RareCounters>,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Present after the first packet had to wait.
    waiting: Option<Box<Waiting>>,
}

/// Counters of packets that wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    /// Waiting times of the packets that had to wait.
    pub(crate) waits: Summary<5>,
    /// Queue length over time.
    pub(crate) occupancy: Occupancy,
}

/// Counters of a port where no packet has waited.
static NOTHING_WAITED: LazyLock<Waiting> = LazyLock::new(Waiting::default);

/// Counters of a port that stay zero without drops, marks, and packets in flight at the reset.
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
    /// Packets that arrived after a later packet of the same flow and direction.
    pub reordered: u64,
    /// Loss events of TCP flows in this queue.
    pub loss_events: LossEvents,
    /// State at the reset.
    pub initial: Initial,
}

/// State of a port at the reset.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Backlog of the queue.
    pub backlog: Backlog,
    /// Bytes in the device.
    pub ahead: u64,
    /// Unsent bits of the packet in transmission.
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
        loss_events: LossEvents::NONE,
        initial: Initial::NOTHING,
    };
}

/// A value that is allocated at its first change.
#[derive(Clone, Debug)]
struct Rare<T>(Option<Box<T>>);

/// Value that is read before the first change.
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
    /// True if any of [`RareCounters`] was ever changed.
    #[inline]
    pub(crate) fn has_rare(&self) -> bool {
        self.rare.0.is_some()
    }
    /// Counts marked packets; no allocation if there are none.
    #[inline(always)]
    pub(crate) fn mark(&mut self, packets: u32) {
        if packets > 0 {
            self.marks += u64::from(packets);
        }
    }
    /// Counters of packets that wait, for changes.
    #[inline(always)]
    pub(crate) fn waiting(&mut self) -> &mut Waiting {
        if self.waiting.is_none() {
            self.waiting = first_waiting();
        }
        self.waiting.get_or_insert_default()
    }
    /// Counters of packets that wait, if any packet ever waited.
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
    /// Resets all counters; the length of the queue stays.
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
    /// Drops by the queue, without losses on the link.
    pub fn queue_drops(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.link_losses()
    }
    /// Packets lost in an outage of the link.
    pub fn outage_losses(&self) -> u64 {
        self.drops[DropReason::Cut as usize] + self.drops[DropReason::Down as usize]
    }
    /// Packets that left the queue and were lost on the link.
    pub fn link_losses(&self) -> u64 {
        DropReason::ALL.iter().filter(|w| w.on_link()).map(|&w| self.drops[w as usize]).sum()
    }
}

#[cold]
fn first_waiting() -> Option<Box<Waiting>> {
    Some(Box::default())
}

/// Drops by reason. The first reason has no allocation.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    first: u64,
    /// Reason of `first`.
    why: u8,
    others: Option<Box<[u64; DropReason::COUNT]>>,
}

impl Reasons {
    /// Returns the drops of all reasons, in their order.
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

/// Counters of a flow since the last reset. Packets are data packets of the forward direction. [`RareFlowCounters`] are fields of it by `Deref`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Data packets handed to the network.
    pub sent_pkts: u64,
    /// Bytes on the wire of data packets that arrived; `delay.n` counts the packets.
    pub received_bytes: u64,
    /// Bytes on the wire of data packets sent.
    pub sent_bytes: u64,
    /// Payload bytes delivered to the application in order, each once.
    pub delivered: u64,
    /// One-way delays of the data packets that arrived.
    pub delay: Summary,
    /// Sum of |delay of a packet - delay of the packet that arrived before it|.
    pub jitter_sum: u128,
    /// Delay of the last packet that arrived, plus 1; 0 before the first.
    pub(crate) last_delay: u64,
    /// Number of flows whose first packet is counted: it has no term in `jitter_sum`.
    pub(crate) firsts: u32,
    /// Send time and sequence number of the newest packet that arrived.
    pub(crate) newest: (Time, u64),
    /// Round-trip times the sender measured.
    pub rtt: Summary,
    /// Drops of data packets by reason, anywhere on the path.
    pub drops: Reasons,
    rare: Rare<RareFlowCounters>,
}

/// Counters of a flow that stay zero without reordering, marks and losses of acknowledgments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RareFlowCounters {
    /// Payload bytes that had arrived out of order at the reset and were not delivered yet.
    pub initial_kept: u64,
    /// Data packets that arrived after one that was sent later.
    pub reordered: u64,
    /// Drops of all other packets: acknowledgments, and data of the receiver.
    pub other_drops: u64,
    /// Data packets that arrived with a mark.
    pub marked: u64,
    /// Durations of completed transactions; `None` for most flows.
    pub transactions: Option<Box<Summary>>,
    /// Play-out at the receiver; `None` for flows that are not played, and before the begin.
    pub playback: Option<Box<Playback>>,
}

impl Zero for RareFlowCounters {
    const ZERO: &'static Self = &Self { initial_kept: 0, reordered: 0, other_drops: 0, marked: 0, transactions: None, playback: None };
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
    /// Resets all counters; state of the last arrivals, of the play-out and the `kept` bytes stay.
    pub(crate) fn begin_again(&mut self, kept: u64, now: Time) {
        let (last_delay, newest) = (self.last_delay, self.newest);
        let playback = self.rare.0.as_mut().and_then(|r| r.playback.take());
        *self = Self { last_delay, newest, ..Self::default() };
        if kept > 0 {
            self.initial_kept = kept;
        }
        if let Some(mut p) = playback {
            p.begin_again(now);
            self.playback = Some(p);
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
    /// Adds counters of another part of the network, or of another flow. State of the last arrivals stays.
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
        // Of all parts of the network one plays.
        if let (Some(played), None) = (&rare.playback, &self.playback) {
            self.playback = Some(played.clone());
        }
    }
}
