//! A port: a queue discipline and the link it feeds, as one ring of packets in flight.

mod change;

use crate::device::Device;
use crate::impair::Impair;
use crate::link::LinkInfo;
use crate::outage::Frail;
use crate::packet::Packet;
use crate::prefetch::prefetch;
use crate::qdisc::{Backlog, Qdisc, Room};
use crate::ring::Ring;
use crate::schedule::Schedule;
use crate::stats::PortCounters;
use change::Changed;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Len, Rate, Time};

/// No packet is longer, its headers included.
pub(crate) const LONGEST: u32 = 1 << 17;
/// [`Port::busy_until`] of a port whose link is down. That of a station is `MAX`.
pub(crate) const CLOSED: Time = Time::from_ps(u64::MAX - 1);

/// One direction of a link with its queue.
///
/// The ring holds the packets in flight, the one in transmission last. A waiting packet leaves the queue when the
/// transmitter is free, but the port looks only when something happens here: an arrival, or a packet reaching the far end,
/// which is never before the next transmission begins. So a hop costs one event, congested or not.
///
/// The fields that every hop touches come first: those of the packet that arrives at the far end share a cache line, those of one that begins have the next.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port<Q> {
    pub(crate) ring: Ring<Packet>,
    /// Before it nothing leaves the queue: the transmitter is at work, or the device is full.
    pub(crate) busy_until: Time,
    /// What waits on the ring, at its end.
    pub(crate) held: Backlog,
    /// Propagation delay, less what an impairment adds to each packet.
    pub(crate) delay: Dur,
    /// Whether anything waits in the queue.
    pub(crate) queued: bool,
    /// Whether more is to be done at the far end of the link than to hand packets on, or events may have lost their meaning.
    pub(crate) rough: bool,
    /// Whether it is a feeder or a relay (see `path/relay.rs`).
    pub(crate) tied: bool,
    /// Whether packets that leave it may pass the next port at once.
    pub(crate) feeds: bool,
    /// The feeder of a relay.
    pub(crate) fed_by: u32,
    // The second cache line.
    pace: Pace,
    pub(crate) counters: PortCounters,
    /// The limit of its queue, if packets wait on the ring (see `path/lane.rs`).
    pub(crate) lane: Option<Room>,
    /// Packets on their way to a relay that it has to be asked about.
    pub(crate) ahead: u32,
    /// Whether the loop knows that packets wait there.
    pub(crate) listed: bool,
    /// Whether any packet passes its queue that finds nothing waiting, and nobody wants to see that.
    pub(crate) open: bool,
    // What few hops touch.
    /// When the extra look at the queue is due that shapers and observers need; `MAX` for none.
    pub(crate) wake: Time,
    pub(crate) qdisc: Q,
    pub(crate) rng: Stream,
    more: Option<Box<More<Q>>>,
}

/// The rate of a link: picoseconds a byte if that is a whole number and always the same, else bits a second with [`UNEVEN`].
#[derive(Clone, Copy, Debug)]
struct Pace(u64);

/// Marks a rate of which the path has to work out each end of a transmission.
const UNEVEN: u64 = 1 << 63;
/// Picoseconds that a byte takes at one bit a second.
const SLOWEST: u64 = 8 * fairlane_units::PS_PER_SEC;

impl Pace {
    fn of(rate: Rate) -> Self {
        if SLOWEST.is_multiple_of(rate.as_bps()) { Self(SLOWEST / rate.as_bps()) } else { Self::uneven(rate) }
    }
    fn uneven(rate: Rate) -> Self {
        Self(rate.as_bps().min(UNEVEN - 1) | UNEVEN)
    }
    #[inline]
    fn ps_a_byte(self) -> Option<u64> {
        (self.0 < UNEVEN).then_some(self.0)
    }
    fn rate(self) -> Rate {
        Rate::from_bps(self.ps_a_byte().map_or(self.0 ^ UNEVEN, |ps| SLOWEST / ps))
    }
}

/// What hardly any port has.
#[derive(Clone, Debug)]
struct More<Q> {
    /// Losses, copies, late packets.
    impair: Option<Box<Impair>>,
    /// How the rate changes, if it does.
    schedule: Option<Schedule>,
    /// What waits between queue and transmitter, where anything can.
    device: Option<Device>,
    /// What changes while the run went on have left to do.
    changed: Option<Changed>,
    /// What is needed where the link can fail.
    frail: Option<Frail<Q>>,
}

impl<Q> Default for More<Q> {
    fn default() -> Self {
        Self { impair: None, schedule: None, device: None, changed: None, frail: None }
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
            queued: false,
            rough: impair.is_some(),
            tied: false,
            feeds: false,
            fed_by: u32::MAX,
            held: Backlog::default(),
            listed: false,
            open: false,
            lane: None,
            ahead: 0,
            wake: Time::MAX,
            qdisc,
            rng,
            counters: PortCounters::default(),
            more: (schedule.is_some() || impair.is_some())
                .then(|| Box::new(More { schedule, impair: impair.map(Box::new), ..More::default() })),
        }
    }

    /// Its rate; of one that changes the one it was built with.
    fn rate(&self) -> Rate {
        self.pace.rate()
    }
    fn more(&mut self) -> &mut More<Q> {
        self.more.get_or_insert_default()
    }
    /// Losses, copies and late packets of its link.
    pub(crate) fn impair(&self) -> Option<&Impair> {
        self.more.as_ref()?.impair.as_deref()
    }
    pub(crate) fn impair_mut(&mut self) -> Option<&mut Impair> {
        self.more.as_mut()?.impair.as_deref_mut()
    }
    /// The same where there has to be some.
    pub(crate) fn make_impair(&mut self, idle: impl FnOnce() -> Impair) -> &mut Impair {
        self.more().impair.get_or_insert_with(|| Box::new(idle()))
    }
    fn schedule(&self) -> Option<&Schedule> {
        self.more.as_ref()?.schedule.as_ref()
    }
    fn device(&self) -> Option<&Device> {
        self.more.as_ref()?.device.as_ref()
    }
    /// What is needed where the link can fail.
    pub(crate) fn frail(&self) -> Option<&Frail<Q>> {
        self.more.as_ref()?.frail.as_ref()
    }
    /// The link can fail.
    pub(crate) fn set_frail(&mut self, frail: Frail<Q>) {
        self.more().frail = Some(frail);
    }

    /// With a device that holds packets below the queue.
    pub(crate) fn with_device(mut self, room: Option<Len>) -> Self {
        if let Some(device) = room.and_then(Device::new) {
            self.more().device = Some(device);
            // All ends of transmissions are worked out where the device is asked.
            self.pace = Pace::uneven(self.rate());
        }
        self
    }

    /// That of a station on a channel: nothing leaves the queue by itself, the station takes it.
    pub(crate) fn put_on_air(&mut self) {
        self.busy_until = Time::MAX;
    }
    /// Whether a station takes what leaves the queue.
    #[inline]
    pub(crate) fn is_on_air(&self) -> bool {
        self.busy_until == Time::MAX
    }

    /// A packet of those that come late.
    pub(crate) fn take_late(&mut self) -> Option<Packet> {
        self.impair_mut()?.late.as_mut()?.take()
    }

    /// The transmission under way ends here, and what waits in the device is gone: neither was carried.
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

    /// A packet leaves the queue at `start`: when its transmission ends. Sets [`Self::busy_until`].
    #[inline]
    pub(crate) fn tx_end(&mut self, pkt: &Packet, start: Time) -> Time {
        let Some(ps) = self.pace.ps_a_byte() else { return self.uneven_end(pkt, start) };
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

    /// Brings near what every packet touches here.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch(self, 128);
        prefetch(&self.qdisc, 128);
    }

    /// When the next waiting packet may start.
    #[inline]
    pub(crate) fn next_start(&self) -> Time {
        match self.qdisc.ready_at() {
            // A plug-in may name a time that is over: nothing happens before what has happened.
            Some(t) => t.max(self.busy_until).max(self.counters.known_waiting().map_or(Time::ZERO, |w| w.occupancy.since())),
            None => self.busy_until,
        }
    }

    /// Whether there is nothing to it but a queue and a link.
    pub(crate) fn is_plain(&self) -> bool {
        !self.rough && !self.is_on_air() && self.more.is_none()
    }
    /// Picoseconds that a byte takes, if that is a whole number and always the same.
    #[inline]
    pub(crate) fn ps_a_byte(&self) -> Option<u64> {
        self.pace.ps_a_byte()
    }
    /// Packets may wait on its ring, as many as there is room for, or none may.
    pub(crate) fn set_lane(&mut self, lane: Option<Room>) {
        self.lane = lane;
        self.open = lane.is_some_and(|room| room.admits(Backlog::default(), LONGEST));
    }
    /// Whether nothing is on the link.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.ring.len() == self.held.pkts as usize
    }
    /// The packet that reaches the far end of the link next.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Packet> {
        if self.is_idle() { None } else { self.ring.head() }
    }
    /// Whether it is rough or tied: one look at both.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> bool {
        u16::from_ne_bytes([self.rough.into(), self.tied.into()]) != 0
    }
    /// Takes the packet that reaches the far end of the link, if there is any; when the one behind it does, if there is one.
    #[inline(always)]
    pub(crate) fn take(&mut self, into: &mut Packet) -> Option<Option<Time>> {
        let &pkt = self.ring.front()?;
        self.ring.advance();
        let next = self.first().map(|next| next.at);
        *into = pkt;
        Some(next)
    }
    /// The packet that leaves the queue next, where that is known beforehand.
    #[inline]
    pub(crate) fn next(&self) -> Option<&Packet> {
        if self.held.pkts > 0 { self.ring.get(self.ring.len() - self.held.pkts as usize) } else { self.qdisc.head() }
    }
    /// Of a plain port: how long the transmission of so many bytes takes.
    pub(crate) fn tx_time(&self, len: u32) -> Dur {
        let len = u64::from(len);
        self.pace.ps_a_byte().map_or_else(|| self.rate().tx_time(len), |ps| Dur::from_ps(len * ps))
    }
    /// Of a plain port: when the transmission of a packet on its ring ends.
    pub(crate) fn end(&self, pkt: &Packet) -> Time {
        Time::ZERO + pkt.at.since(Time::ZERO + self.delay)
    }
    /// Of a plain port: when the transmission of a packet on its ring began.
    pub(crate) fn begun(&self, pkt: &Packet) -> Time {
        Time::ZERO + pkt.at.since(Time::ZERO + self.delay + self.tx_time(pkt.len))
    }
    /// Whether the next packet of a feeder may be at the far end of its link before the one at the head of its ring has its event.
    #[inline]
    pub(crate) fn misses(&self) -> bool {
        self.feeds && self.queued && self.ring.front().is_some_and(|p| p.at > self.busy_until.later(self.delay))
    }

    /// Rate and delay of its link; of a rate that changes the one it was built with, of a delay that varies the mean.
    pub fn link(&self) -> LinkInfo {
        LinkInfo { rate: self.rate(), delay: self.own_delay() + self.impair().map_or(Dur::ZERO, Impair::early) }
    }
    /// Bytes that have left the queue and wait in the device: their transmission has not begun by `now`.
    pub fn ahead(&self, now: Time) -> u64 {
        self.device().map_or(0, |d| d.ahead(now))
    }
    /// Bits of the packet in transmission that are still to be sent at `now`.
    pub fn unsent(&self, now: Time) -> f64 {
        let (end, left) = self.device().map_or((self.busy_until, None), |d| d.serving(now));
        match self.schedule() {
            _ if end <= now || self.busy_until >= CLOSED => 0.0,
            Some(s) => s.unsent(now, end, left.unwrap_or_else(|| s.left())),
            None => self.rate().as_bps() as f64 * end.since(now).as_secs_f64(),
        }
    }
    /// Bits carried since the last reset: of a packet in transmission what is sent of it.
    ///
    /// The end of a transmission is a whole picosecond, so of a packet that has just begun there may seem to be a little more to send than it has: that
    /// is nothing carried, and not less.
    pub fn carried(&self, now: Time) -> f64 {
        let c = &self.counters;
        ((8 * (c.sent_bytes + c.initial.ahead - self.ahead(now))) as f64 + c.initial.unsent - self.unsent(now)).max(0.0)
    }
    /// Bits carried, packets dropped by the queue, and packets that a link lost which was down, as counters have them.
    #[inline]
    pub(crate) fn progress(&self, now: Time) -> (f64, u64, u64) {
        let c = &self.counters;
        if self.more.is_some() || c.has_rare() {
            return (self.carried(now), c.queue_drops(), c.outage_losses());
        }
        // The same, of which all the rest is zero.
        let unsent = if self.busy_until <= now { 0.0 } else { self.unsent(now) };
        (((8 * c.sent_bytes) as f64 - unsent).max(0.0), 0, 0)
    }
    /// Whether nothing waits or is sent, and nothing was ever lost: what a sample tells then follows from the bytes that were sent.
    #[inline]
    pub(crate) fn rests(&self, now: Time) -> bool {
        !self.queued && self.busy_until <= now && self.more.is_none() && !self.counters.has_rare()
    }
    /// Bits that the link can carry between two times.
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        let of = |(from, to): (Time, Time)| match self.schedule() {
            Some(s) => s.capacity(from, to),
            None => self.rate().as_bps() as f64 * to.since(from).as_secs_f64(),
        };
        self.frail().map_or_else(|| of((from, to)), |f| f.up(from, to).map(of).sum())
    }
    /// Its queue discipline.
    pub fn qdisc(&self) -> &Q {
        &self.qdisc
    }
    /// What waits, in the queue or on the ring.
    pub(crate) fn backlog(&self) -> Backlog {
        let Backlog { pkts, bytes } = self.qdisc.backlog();
        Backlog { pkts: pkts + self.held.pkts, bytes: bytes + self.held.bytes }
    }
    /// Its counters.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }
    /// Packets on the link, the one in transmission included.
    pub fn in_flight(&self) -> usize {
        self.ring.len() + self.impair().and_then(|i| i.late.as_ref()).map_or(0, crate::late::Late::len)
    }
}
