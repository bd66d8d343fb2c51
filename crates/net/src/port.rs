//! A port: a queue discipline and the link it feeds, as one ring of packets in flight.

use crate::counters::PortCounters;
use crate::packet::QPkt;
use crate::prefetch::prefetch;
use crate::qdisc::{LinkInfo, Qdisc};
use crate::ring::Ring;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Rate, Time};

/// Number of a port: one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub u32);

/// What a link does to packets besides carrying them.
#[derive(Clone, Debug, PartialEq)]
pub struct Impair {
    /// Probability that a packet is lost after it was transmitted.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// The port of the other direction, if its queue rewrites the windows of acknowledgements that cross this link.
    pub clamped_by: Option<PortId>,
    pub(crate) rng: Stream,
}

/// One direction of a link with its queue.
///
/// The ring holds the packets in flight, the one in transmission last. A waiting packet leaves the queue when the
/// transmitter is free, but the port looks only when something happens here: an arrival, or a packet reaching the far end,
/// which is never before the next transmission begins. So a hop costs one event, congested or not.
///
/// The fields that every hop touches come first, so that they share cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port<Q> {
    pub(crate) ring: Ring<QPkt>,
    pub(crate) busy_until: Time,
    /// Picoseconds a byte if that is a whole number, else zero.
    ps_per_byte: u64,
    pub(crate) delay: Dur,
    /// Whether anything waits in the queue.
    pub(crate) queued: bool,
    /// When the extra look at the queue is due that shapers and observers need; `MAX` for none.
    pub(crate) wake: Time,
    pub(crate) rate: Rate,
    pub(crate) impair: Option<Box<Impair>>,
    pub(crate) counters: PortCounters,
    pub(crate) qdisc: Q,
    pub(crate) rng: Stream,
}

impl<Q: Qdisc> Port<Q> {
    pub(crate) fn new(rate: Rate, delay: Dur, qdisc: Q, impair: Option<Impair>, rng: Stream) -> Self {
        let ps_per_sec_byte = 8 * fairlane_units::PS_PER_SEC;
        let exact = ps_per_sec_byte.is_multiple_of(rate.as_bps());
        Self {
            ring: Ring::default(),
            busy_until: Time::ZERO,
            ps_per_byte: if exact { ps_per_sec_byte / rate.as_bps() } else { 0 },
            delay,
            queued: false,
            wake: Time::MAX,
            rate,
            impair: impair.map(Box::new),
            qdisc,
            rng,
            counters: PortCounters::default(),
        }
    }

    #[inline]
    pub(crate) fn tx_time(&self, len: u32) -> Dur {
        if self.ps_per_byte != 0 { Dur::from_ps(u64::from(len) * self.ps_per_byte) } else { self.rate.tx_time(u64::from(len)) }
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
            Some(t) => t.max(self.busy_until),
            None => self.busy_until,
        }
    }

    /// Rate and delay of its link.
    pub fn link(&self) -> LinkInfo {
        LinkInfo { rate: self.rate, delay: self.delay }
    }
    /// Its queue discipline.
    pub fn qdisc(&self) -> &Q {
        &self.qdisc
    }
    /// Its counters.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }
    /// Packets on the link, the one in transmission included.
    pub fn in_flight(&self) -> usize {
        self.ring.len()
    }
}
