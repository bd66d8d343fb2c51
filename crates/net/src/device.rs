//! Device buffer: packets that have left the queue discipline and wait for the transmitter.
//!
//! The queue cannot drop, mark or reorder such a packet, and does not count it. The ring of a
//! Linux driver with its byte queue limit is one (`net/sched/sch_generic.c`, `lib/dynamic_queue_limits.c`), the queue of a `NetDevice` of ns-3 another.
//!
//! A packet leaves the queue as soon as the device has room, not when its transmission begins. Transmissions follow one another, so the time at which
//! there is room is known when a packet enters: a packet before it begins transmission then.

use fairlane_units::{Len, Time};
use std::collections::VecDeque;

/// Packets that wait in a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    room: Len,
    /// Time at which the transmitter is free.
    until: Time,
    /// Packets whose transmission had not begun when the last one entered, in order.
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
    /// Start of its transmission, which is the end of the previous one.
    begins: Time,
    len: u32,
    /// Rest of the previous packet's transmission opportunity, on a link that follows a trace.
    left: u32,
}

impl Device {
    /// Creates a device that holds `room` packets, or accepts packets while it holds fewer than `room` bytes. `None` if it holds none.
    pub fn new(room: Len) -> Option<Self> {
        let empty = matches!(room, Len::Packets(0) | Len::Bytes(0));
        (!empty).then(|| Self { room, until: Time::ZERO, waiting: VecDeque::new(), bytes: 0 })
    }

    /// Start of the transmission of a packet that leaves the queue at `now`.
    pub fn begins(&self, now: Time) -> Time {
        now.max(self.until)
    }

    /// Adds a packet of `len` bytes that leaves the queue at `now` and whose transmission ends at `end`. `left`: bytes left of the previous
    /// packet's opportunity. Returns the time at which the next packet may enter.
    pub fn take(&mut self, now: Time, end: Time, len: u32, left: u32) -> Time {
        let begins = self.begins(now);
        self.until = end;
        while let Some(&w) = self.waiting.front()
            && w.begins <= now
        {
            self.bytes -= u64::from(w.len);
            self.waiting.pop_front();
        }
        if begins > now {
            self.waiting.push_back(Waiting { begins, len, left });
            self.bytes += u64::from(len);
        }
        let (mut next, mut packets, mut bytes) = (now, self.waiting.len() as u64, self.bytes);
        for w in &self.waiting {
            if !self.full(packets, bytes) {
                break;
            }
            // This transmission makes room.
            (next, packets, bytes) = (w.begins, packets - 1, bytes - u64::from(w.len));
        }
        next
    }

    /// Bytes whose transmission has not begun by `now`.
    pub fn ahead(&self, now: Time) -> u64 {
        self.waiting.iter().filter(|w| w.begins > now).map(|w| u64::from(w.len)).sum()
    }

    /// Transmission in progress at `now`: its end, and the bytes that it leaves of its opportunity if another packet waits.
    pub fn serving(&self, now: Time) -> (Time, Option<u32>) {
        let next = self.waiting.iter().find(|w| w.begins > now);
        next.map_or((self.until, None), |w| (w.begins, Some(w.left)))
    }

    /// Empties the device.
    pub fn clear(&mut self) {
        *self = Self { room: self.room, until: Time::ZERO, waiting: VecDeque::new(), bytes: 0 };
    }

    fn full(&self, packets: u64, bytes: u64) -> bool {
        match self.room {
            Len::Packets(n) => packets >= n,
            Len::Bytes(n) => bytes >= n,
        }
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
