//! Brown's calendar queue (1988): days in a year, each a sorted list; the width of a day follows the spacing of events.

use crate::event::{EventQueue, Key, Slot, slot_bits};
use fairlane_units::Time;

/// A calendar queue.
#[derive(Clone, Debug)]
pub struct Calendar<K = u64> {
    /// Events of each day, latest first.
    days: Vec<Vec<K>>,
    width: u64,
    /// The day under way, counted from time zero.
    today: u64,
    len: usize,
    bits: u32,
}

impl<K: Key> Calendar<K> {
    fn day_of(&self, key: K) -> u64 {
        key.time(self.bits).as_ps() / self.width
    }

    fn put(&mut self, key: K) {
        let n = self.days.len() as u64;
        let day = self.day_of(key);
        let list = &mut self.days[(day % n) as usize];
        let at = list.partition_point(|k| *k > key);
        list.insert(at, key);
    }

    /// Takes `days` days a year and a width of three times the mean gap of the events about to come.
    #[cold]
    fn resize(&mut self, days: usize) {
        let mut all: Vec<K> = self.days.drain(..).flatten().collect();
        all.sort_unstable();
        // The gaps of the next few events, without the rare far ones (Brown averages those below twice the mean).
        let next: Vec<u64> = all.iter().take(65).map(|k| k.time(self.bits).as_ps()).collect();
        let gaps: Vec<u64> = next.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<u64>() / gaps.len().max(1) as u64;
        let close: Vec<u64> = gaps.into_iter().filter(|&g| g <= 2 * mean).collect();
        self.width = (3 * close.iter().sum::<u64>() / close.len().max(1) as u64).max(1);
        self.days = vec![Vec::new(); days];
        self.today = all.first().map_or(0, |&k| self.day_of(k));
        for key in all {
            self.put(key);
        }
    }
}

impl<K: Key> EventQueue for Calendar<K> {
    fn with_slots(slots: usize) -> Self {
        Self { days: vec![Vec::new(); 2], width: 1 << 20, today: 0, len: 0, bits: slot_bits(slots) }
    }

    fn push(&mut self, time: Time, slot: Slot) {
        let key = K::pack(time, slot, self.bits);
        self.today = self.today.min(self.day_of(key));
        self.put(key);
        self.len += 1;
        if self.len > 2 * self.days.len() {
            self.resize(2 * self.days.len());
        }
    }

    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        if self.len == 0 {
            return None;
        }
        let n = self.days.len() as u64;
        for day in self.today..self.today + n {
            if let Some(&key) = self.days[(day % n) as usize].last().filter(|k| self.day_of(**k) == day) {
                self.today = day;
                if key.time(self.bits) > last {
                    return None;
                }
                self.days[(day % n) as usize].pop();
                self.len -= 1;
                if self.len < self.days.len() / 2 && self.days.len() > 2 {
                    self.resize(self.days.len() / 2);
                }
                return Some((key.time(self.bits), key.slot(self.bits)));
            }
        }
        // Nothing this year: go straight to the earliest event.
        self.today = self.days.iter().filter_map(|d| d.last()).min().map_or(0, |&k| self.day_of(k));
        self.pop_until(last)
    }

    fn len(&self) -> usize {
        self.len
    }
}
