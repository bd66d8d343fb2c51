//! Ports: a queue discipline and its link, a ring of packets in flight.

mod change;

use crate::device::Device;
use crate::impair::Impair;
use crate::link::LinkInfo;
use crate::outage::FailureSchedule;
use crate::packet::Packet;
use crate::prefetch::prefetch;
use crate::qdisc::{Backlog, Qdisc, Room};
use crate::reorder_buffer::ReorderBuffer;
use crate::ring::Ring;
use crate::schedule::Schedule;
use crate::stats::PortCounters;
use change::Changed;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Len, Rate, Time};

/// Upper bound of packet lengths, headers included.
pub(crate) const LONGEST: u32 = 1 << 17;
/// [`Port::busy_until`] while the link is down. That of a wireless station is `MAX`.
pub(crate) const CLOSED: Time = Time::from_ps(u64::MAX - 1);

/// [`Port::upstream`] of a port without one.
pub(crate) const NO_PORT: u32 = u32::MAX;

/// How packets reach the far end of a port's link. Shortcuts are explained in `path/shortcut`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Role {
    /// Each packet has one event, at its arrival.
    Plain,
    /// True if packets may pass through the downstream port without an event here.
    Upstream,
    /// Packets may come from [`Port::upstream`] without an event there.
    Downstream,
    /// A former upstream or downstream port: each packet has one event, and others are stale.
    Released,
    /// Events may be stale, or the far end does more than hand packets on: impairments, outages, dynamic routes.
    SlowPath,
}

/// How packets wait at a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Queueing {
    /// Every packet goes through the queue discipline.
    Discipline,
    /// Packets that find the port free skip the discipline, which is tail drop.
    Passthrough,
    /// Likewise, and packets wait on the ring.
    Ring,
    /// Packets wait on the ring. Even an empty queue would drop some packets, so the discipline sees those that find the port free.
    RingChecked,
}

impl Queueing {
    /// Returns true if packets that find the port free skip the queue discipline.
    #[inline(always)]
    pub(crate) fn skips_empty(self) -> bool {
        matches!(self, Self::Passthrough | Self::Ring)
    }
    /// Returns true if packets wait on the ring.
    #[inline(always)]
    pub(crate) fn on_ring(self) -> bool {
        self >= Self::Ring
    }
}

/// One direction of a link with its queue.
///
/// The ring holds the packets in flight, the one in transmission last. A waiting packet leaves the queue when the
/// transmitter is free, but the port looks only when something happens here: an arrival, or a packet reaching the far end,
/// which is never before the next transmission begins. So a hop costs one event, congested or not.
///
/// Fields are in the order of use: a packet that arrives at the far end touches the first cache line, one that begins transmission also the second.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port<Q> {
    pub(crate) ring: Ring<Packet>,
    /// Nothing leaves the queue before this time: the transmitter is busy, or the device is full.
    pub(crate) busy_until: Time,
    /// Packets that wait at the end of the ring.
    pub(crate) waiting: Backlog,
    /// Propagation delay, less what an impairment adds to each packet.
    pub(crate) delay: Dur,
    /// True if packets wait, in the queue discipline or on the ring.
    pub(crate) queued: bool,
    pub(crate) role: Role,
    pub(crate) queueing: Queueing,
    /// True if the shortcuts list the port as a ring queue with packets.
    pub(crate) listed: bool,
    /// Upstream port of a downstream port, else [`NO_PORT`].
    pub(crate) upstream: u32,
    // The second cache line.
    pace: Pace,
    pub(crate) counters: PortCounters,
    /// Limit of the queue, if packets skip the queue discipline.
    pub(crate) limit: Room,
    /// Packets on their way to a downstream port that have an event there.
    pub(crate) pending_downstream: u32,
    /// True if the queue discipline reads the headers of arriving packets.
    pub(crate) reads_headers: bool,
    // Rarely used.
    /// Time of the wake event that shapers and observers need; `MAX` for none.
    pub(crate) wake: Time,
    pub(crate) qdisc: Q,
    pub(crate) rng: Stream,
    more: Option<Box<More<Q>>>,
}

const _: () = assert!(std::mem::offset_of!(Port<()>, pace) == 64 && std::mem::offset_of!(Port<()>, wake) == 128, "cache lines");

/// Rate of a link: picoseconds per byte if that is a whole number and constant, else bits per second with [`UNEVEN`].
#[derive(Clone, Copy, Debug)]
struct Pace(u64);

/// Flag of a rate for which each end of a transmission has to be computed.
const UNEVEN: u64 = 1 << 63;
/// Picoseconds per byte at one bit per second.
const SLOWEST: u64 = 8 * fairlane_units::PS_PER_SEC;

impl Pace {
    fn of(rate: Rate) -> Self {
        if SLOWEST.is_multiple_of(rate.as_bps()) { Self(SLOWEST / rate.as_bps()) } else { Self::uneven(rate) }
    }
    fn uneven(rate: Rate) -> Self {
        Self(rate.as_bps().min(UNEVEN - 1) | UNEVEN)
    }
    #[inline]
    fn ps_per_byte(self) -> Option<u64> {
        (self.0 < UNEVEN).then_some(self.0)
    }
    fn rate(self) -> Rate {
        Rate::from_bps(self.ps_per_byte().map_or(self.0 ^ UNEVEN, |ps| SLOWEST / ps))
    }
}

/// Optional state that few ports have.
#[derive(Clone, Debug)]
struct More<Q> {
    /// Losses, duplicates, late packets.
    impair: Option<Box<Impair>>,
    /// Changes of the rate.
    schedule: Option<Schedule>,
    /// Packets between queue and transmitter.
    device: Option<Device>,
    /// Pending consequences of changes during the run.
    changed: Option<Changed>,
    /// State of a link that can fail.
    failures: Option<FailureSchedule<Q>>,
}

impl<Q> Default for More<Q> {
    fn default() -> Self {
        Self { impair: None, schedule: None, device: None, changed: None, failures: None }
    }
}

impl<Q: Qdisc> Port<Q> {
    pub(crate) fn new(link: LinkInfo, schedule: Option<Schedule>, qdisc: Q, impair: Option<Impair>, rng: Stream) -> Self {
        let LinkInfo { rate, delay } = link;
        let early = impair.as_ref().map_or(Dur::ZERO, Impair::early);
        Self {
            ring: Ring::default(),
            busy_until: Time::ZERO,
            pace: if schedule.is_none() { Pace::of(rate) } else { Pace::uneven(rate) },
            delay: delay.saturating_sub(early),
            waiting: Backlog::default(),
            queued: false,
            role: if impair.is_some() { Role::SlowPath } else { Role::Plain },
            queueing: Queueing::Discipline,
            listed: false,
            reads_headers: qdisc.reads_headers(),
            upstream: NO_PORT,
            limit: Room { pkts: 0, bytes: 0, arriving: false },
            pending_downstream: 0,
            wake: Time::MAX,
            qdisc,
            rng,
            counters: PortCounters::default(),
            more: (schedule.is_some() || impair.is_some())
                .then(|| Box::new(More { schedule, impair: impair.map(Box::new), ..More::default() })),
        }
    }

    /// Rate of the link; if it changes, the initial one.
    fn rate(&self) -> Rate {
        self.pace.rate()
    }
    fn more(&mut self) -> &mut More<Q> {
        self.more.get_or_insert_default()
    }
    /// Losses, duplicates and late packets of the link.
    pub(crate) fn impair(&self) -> Option<&Impair> {
        self.more.as_ref()?.impair.as_deref()
    }
    pub(crate) fn impair_mut(&mut self) -> Option<&mut Impair> {
        self.more.as_mut()?.impair.as_deref_mut()
    }
    /// Returns the impairments, created by `idle` if there are none.
    pub(crate) fn make_impair(&mut self, idle: impl FnOnce() -> Impair) -> &mut Impair {
        self.more().impair.get_or_insert_with(|| Box::new(idle()))
    }
    fn schedule(&self) -> Option<&Schedule> {
        self.more.as_ref()?.schedule.as_ref()
    }
    fn device(&self) -> Option<&Device> {
        self.more.as_ref()?.device.as_ref()
    }
    /// State of a link that can fail.
    pub(crate) fn failure_schedule(&self) -> Option<&FailureSchedule<Q>> {
        self.more.as_ref()?.failures.as_ref()
    }
    /// Makes the link one that can fail.
    pub(crate) fn set_failure_schedule(&mut self, failures: FailureSchedule<Q>) {
        self.more().failures = Some(failures);
    }

    /// Adds a device that holds packets below the queue.
    pub(crate) fn with_device(mut self, room: Option<Len>) -> Self {
        if let Some(device) = room.and_then(Device::new) {
            self.more().device = Some(device);
            // The device takes part in computing each end of a transmission.
            self.pace = Pace::uneven(self.rate());
        }
        self
    }

    /// Makes it the port of a wireless station, which takes packets from the queue itself.
    pub(crate) fn put_on_air(&mut self) {
        self.busy_until = Time::MAX;
    }
    /// Returns true if a wireless station takes packets from the queue.
    #[inline]
    pub(crate) fn is_on_air(&self) -> bool {
        self.busy_until == Time::MAX
    }

    /// Takes a packet out of the reorder buffer.
    pub(crate) fn take_late(&mut self) -> Option<Packet> {
        self.impair_mut()?.reorder_buffer.as_mut()?.take()
    }

    /// Aborts the current transmission, and empties the device: neither counts as carried.
    pub(crate) fn cut(&mut self, now: Time) {
        self.counters.initial.unsent -= self.unsent(now) + (8 * self.ahead(now)) as f64;
        let Some(more) = &mut self.more else { return };
        if let Some(d) = &mut more.device {
            d.clear();
        }
        if let Some(s) = &mut more.schedule {
            s.forget();
        }
    }

    /// Starts the transmission of a packet that leaves the queue at `start`. Returns its end, and sets [`Self::busy_until`].
    #[inline]
    pub(crate) fn tx_end(&mut self, pkt: &Packet, start: Time) -> Time {
        let Some(ps) = self.pace.ps_per_byte() else { return self.uneven_end(pkt, start) };
        let end = start.later(Dur::from_ps(u64::from(pkt.len) * ps));
        self.busy_until = end;
        end
    }

    #[inline(never)]
    fn uneven_end(&mut self, pkt: &Packet, start: Time) -> Time {
        let tx_time = self.rate().tx_time(u64::from(pkt.len));
        let Some(more) = &mut self.more else {
            self.busy_until = start.later(tx_time);
            return self.busy_until;
        };
        let begins = more.device.as_ref().map_or(start, |d| d.begins(start));
        let left = more.schedule.as_ref().map_or(0, |s| s.left());
        let end = more.schedule.as_mut().map_or(begins.later(tx_time), |s| s.end(pkt.at, begins, pkt.len));
        self.busy_until = more.device.as_mut().map_or(end, |d| d.take(start, end, pkt.len, left));
        if more.changed.is_some() {
            self.keep_order(end);
        }
        end
    }

    /// Prefetches the memory that every packet touches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self, 128);
        prefetch(&self.qdisc, 128);
    }

    /// Time at which the next waiting packet may start.
    #[inline]
    pub(crate) fn next_start(&self) -> Time {
        match self.qdisc.ready_at() {
            // A plug-in may name a time in the past.
            Some(t) => t.max(self.busy_until).max(self.counters.known_waiting().map_or(Time::ZERO, |w| w.occupancy.since())),
            None => self.busy_until,
        }
    }

    /// Returns true if the port is a queue and a link, and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.role != Role::SlowPath && !self.is_on_air() && self.more.is_none()
    }
    /// Picoseconds per byte, if that is a whole number and constant.
    #[inline]
    pub(crate) fn ps_per_byte(&self) -> Option<u64> {
        self.pace.ps_per_byte()
    }
    /// Returns true if the queue is tail drop, and takes any packet when it is empty.
    pub(crate) fn takes_any(&self) -> bool {
        self.qdisc.tail().is_some_and(|limit| limit.admits(Backlog::default(), LONGEST))
    }
    /// Lets packets skip the queue discipline as far as possible.
    pub(crate) fn choose_queueing(&mut self) {
        let Some(limit) = self.qdisc.tail() else { return };
        self.limit = limit;
        self.queueing = match (self.ps_per_byte().is_some(), self.takes_any()) {
            (true, true) => Queueing::Ring,
            (true, false) => Queueing::RingChecked,
            (false, true) => Queueing::Passthrough,
            (false, false) => Queueing::Discipline,
        };
    }
    /// Ends the role of an upstream or downstream port.
    pub(crate) fn release(&mut self) {
        if matches!(self.role, Role::Upstream | Role::Downstream) {
            self.role = Role::Released;
        }
    }
    /// Returns true if the link is empty.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.ring.len() == self.waiting.pkts as usize
    }
    /// Packet that reaches the far end of the link next.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Packet> {
        if self.is_idle() { None } else { self.ring.head() }
    }
    /// Takes the head of the ring, if there is one. Returns the arrival time of the packet behind it, if any.
    #[inline(always)]
    pub(crate) fn take(&mut self, into: &mut Packet) -> Option<Option<Time>> {
        let &pkt = self.ring.front()?;
        self.ring.advance();
        let next = self.first().map(|next| next.at);
        *into = pkt;
        Some(next)
    }
    /// Packet that leaves the queue next, if known in advance.
    #[inline]
    pub(crate) fn next(&self) -> Option<&Packet> {
        if self.waiting.pkts > 0 { self.ring.get(self.ring.len() - self.waiting.pkts as usize) } else { self.qdisc.head() }
    }
    /// Transmission time of `len` bytes at a plain port.
    pub(crate) fn tx_time(&self, len: u32) -> Dur {
        let len = u64::from(len);
        self.pace.ps_per_byte().map_or_else(|| self.rate().tx_time(len), |ps| Dur::from_ps(len * ps))
    }
    /// End of the transmission of a packet on the ring of a plain port.
    pub(crate) fn end(&self, pkt: &Packet) -> Time {
        Time::ZERO + pkt.at.since(Time::ZERO + self.delay)
    }
    /// Start of the transmission of a packet on the ring of a plain port.
    pub(crate) fn begun(&self, pkt: &Packet) -> Time {
        Time::ZERO + pkt.at.since(Time::ZERO + self.delay + self.tx_time(pkt.len))
    }
    /// Returns true if the next packet of an upstream port may cross its link before the head of its ring has its event.
    #[inline]
    pub(crate) fn misses(&self) -> bool {
        self.role == Role::Upstream && self.queued && self.ring.front().is_some_and(|p| p.at > self.busy_until.later(self.delay))
    }

    /// Rate and delay of the link: the initial rate if it changes, the mean delay if it varies.
    pub fn link(&self) -> LinkInfo {
        LinkInfo { rate: self.rate(), delay: self.own_delay() + self.impair().map_or(Dur::ZERO, Impair::early) }
    }
    /// Bytes in the device whose transmission has not begun by `now`.
    pub fn ahead(&self, now: Time) -> u64 {
        self.device().map_or(0, |d| d.ahead(now))
    }
    /// Bits of the packet in transmission that are not sent yet at `now`.
    pub fn unsent(&self, now: Time) -> f64 {
        let (end, left) = self.device().map_or((self.busy_until, None), |d| d.serving(now));
        match self.schedule() {
            _ if end <= now || self.busy_until >= CLOSED => 0.0,
            Some(s) => s.unsent(now, end, left.unwrap_or_else(|| s.left())),
            None => self.rate().as_bps() as f64 * end.since(now).as_secs_f64(),
        }
    }
    /// Bits carried since the last reset, including those sent of the packet in transmission.
    ///
    /// The end of a transmission is rounded to a picosecond. So a packet that has just begun may seem to have more bits left than it has: the result
    /// is not below zero.
    pub fn carried(&self, now: Time) -> f64 {
        let c = &self.counters;
        ((8 * (c.sent_bytes + c.initial.ahead - self.ahead(now))) as f64 + c.initial.unsent - self.unsent(now)).max(0.0)
    }
    /// Bits carried, packets dropped by the queue, and packets lost in outages.
    #[inline]
    pub(crate) fn progress(&self, now: Time) -> (f64, u64, u64) {
        let c = &self.counters;
        if self.more.is_some() || c.has_rare() {
            return (self.carried(now), c.queue_drops(), c.outage_losses());
        }
        // All other terms are zero.
        let unsent = if self.busy_until <= now { 0.0 } else { self.unsent(now) };
        (((8 * c.sent_bytes) as f64 - unsent).max(0.0), 0, 0)
    }
    /// Bits that the link can carry between two times.
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        let of = |(from, to): (Time, Time)| match self.schedule() {
            Some(s) => s.capacity(from, to),
            None => self.rate().as_bps() as f64 * to.since(from).as_secs_f64(),
        };
        self.failure_schedule().map_or_else(|| of((from, to)), |f| f.up(from, to).map(of).sum())
    }
    /// Queue discipline.
    pub fn qdisc(&self) -> &Q {
        &self.qdisc
    }
    /// Packets that wait, in the queue discipline or on the ring.
    pub(crate) fn backlog(&self) -> Backlog {
        let Backlog { pkts, bytes } = self.qdisc.backlog();
        Backlog { pkts: pkts + self.waiting.pkts, bytes: bytes + self.waiting.bytes }
    }
    /// Counters.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }
    /// Packets on the link, including the one in transmission.
    pub fn in_flight(&self) -> usize {
        self.ring.len() + self.impair().and_then(|i| i.reorder_buffer.as_ref()).map_or(0, ReorderBuffer::len)
    }
}
