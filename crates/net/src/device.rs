//! What a device holds below its queue discipline: packets that have left the queue and wait for the transmitter.
//!
//! Such a packet is beyond the reach of the queue: it is not dropped, marked or passed by another any more, and the queue does not count it. The ring of a
//! Linux driver with its byte queue limit is one (`net/sched/sch_generic.c`, `lib/dynamic_queue_limits.c`), the queue of a `NetDevice` of ns-3 another.
//!
//! A packet leaves the queue as soon as the device has room, and not when its transmission begins. As the transmissions follow one another, the time when
//! there is room is known once a packet enters: it is when a packet before it begins.

use fairlane_units::{Len, Time};
use std::collections::VecDeque;

/// The packets that wait in a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    room: Len,
    /// When the transmitter is free again.
    until: Time,
    /// Those whose transmission had not begun when the last one came, in order.
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
    /// When its transmission begins: that of the one before it ends then.
    begins: Time,
    len: u32,
    /// What the one before it leaves of its opportunity, where a trace rules the link.
    left: u32,
}

impl Device {
    /// A device that holds so many packets, or takes packets as long as it holds fewer than so many bytes; `None` where it holds none.
    pub fn new(room: Len) -> Option<Self> {
        let empty = matches!(room, Len::Packets(0) | Len::Bytes(0));
        (!empty).then(|| Self { room, until: Time::ZERO, waiting: VecDeque::new(), bytes: 0 })
    }

    /// When the transmission begins of a packet that leaves the queue at `now`.
    pub fn begins(&self, now: Time) -> Time {
        now.max(self.until)
    }

    /// A packet of `len` bytes leaves the queue at `now`; its transmission ends at `end`, and the one before it has `left` so many bytes of its
    /// opportunity. When the next one may follow it.
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
            // The transmission that makes room.
            (next, packets, bytes) = (w.begins, packets - 1, bytes - u64::from(w.len));
        }
        next
    }

    /// Bytes whose transmission has not begun by `now`.
    pub fn ahead(&self, now: Time) -> u64 {
        self.waiting.iter().filter(|w| w.begins > now).map(|w| u64::from(w.len)).sum()
    }

    /// The transmission under way at `now`: when it ends, and what it leaves of its opportunity if another waits behind it.
    pub fn serving(&self, now: Time) -> (Time, Option<u32>) {
        let next = self.waiting.iter().find(|w| w.begins > now);
        next.map_or((self.until, None), |w| (w.begins, Some(w.left)))
    }

    /// All that it holds is gone.
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
