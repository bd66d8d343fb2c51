//! Listeners to events during a run, with rows kept in memory.

use super::{Filter, Names, Recorder, Row};
use fairlane_net::SenderState;
use fairlane_units::Time;
use std::sync::Arc;

/// Most rows that wait for batches.
const MOST: usize = 1 << 16;
/// Bytes of a row.
const BYTES: usize = 64;

/// A listener with its filter.
struct Listener {
    id: u32,
    filter: Filter,
    kinds: u16,
    /// True to deliver each event before the next one.
    at_once: bool,
    /// Index of the first row after its registration.
    since: usize,
}

impl Listener {
    fn lets(&self, row: &Row) -> bool {
        self.filter.lets(self.kinds, row)
    }
}

/// All listeners of a run.
#[derive(Default)]
pub(super) struct Listeners {
    list: Vec<Listener>,
    given: u32,
    /// Rows delivered to listeners that get each event at once.
    delivered: usize,
    /// True if further such rows wait.
    urgent: bool,
    /// Time of the first registration.
    began: Time,
}

impl Listeners {
    /// True if a listener selects the row.
    #[inline]
    pub(super) fn hear(&mut self, row: &Row) -> bool {
        let mut wanted = false;
        for listener in &self.list {
            if listener.lets(row) {
                wanted = true;
                self.urgent |= listener.at_once;
            }
        }
        wanted
    }

    #[inline]
    pub(super) fn enough(&self, rows: usize) -> bool {
        self.urgent || rows >= MOST
    }
}

impl Recorder {
    /// Creates a recorder without files, for listeners that start at `now`; `moments`: states of the senders that have started.
    pub fn listening(names: Names, moments: Vec<Option<SenderState>>, now: Time) -> Self {
        let mut recorder = Self::collecting(Filter::default(), Arc::new(names));
        recorder.before = moments;
        recorder.listeners = Some(Listeners { began: now, ..Listeners::default() });
        recorder.renew();
        recorder
    }

    /// Registers a listener and returns its number. `at_once`: delivers each event before the next one.
    pub fn listen(&mut self, filter: Filter, at_once: bool) -> u32 {
        let rows = self.rows.len();
        let Some(listeners) = &mut self.listeners else { return 0 };
        listeners.given += 1;
        let (id, kinds) = (listeners.given, filter.set());
        listeners.list.push(Listener { id, filter, kinds, at_once, since: rows });
        self.renew();
        id
    }

    /// Removes a listener; returns true if any remain.
    pub fn leave(&mut self, id: u32) -> bool {
        if let Some(listeners) = &mut self.listeners {
            listeners.list.retain(|e| e.id != id);
        }
        self.renew();
        self.listeners.as_ref().is_some_and(|e| !e.list.is_empty())
    }

    fn renew(&mut self) {
        let Some(listeners) = &self.listeners else { return };
        let all = listeners.list.iter().map(|e| e.filter.clone()).reduce(|all, one| all.or(&one));
        self.kinds = all.as_ref().map_or(0, Filter::set);
        self.filter = all.unwrap_or_default();
    }

    /// True if rows must be delivered before the run continues.
    pub fn pending(&self) -> bool {
        self.listeners.as_ref().is_some_and(|listeners| listeners.enough(self.rows.len()))
    }

    /// Takes the rows of listeners that get each event at once, with the listener's number.
    pub fn prompt_rows(&mut self) -> Vec<(u32, [u8; BYTES])> {
        let Some(listeners) = &mut self.listeners else { return Vec::new() };
        let mut out = Vec::new();
        if std::mem::take(&mut listeners.urgent) {
            for (i, row) in self.rows.iter().enumerate().skip(listeners.delivered) {
                let hears = listeners.list.iter().filter(|e| e.at_once && i >= e.since && e.lets(row));
                out.extend(hears.map(|e| (e.id, row.bytes())));
            }
        }
        listeners.delivered = self.rows.len();
        if listeners.list.iter().all(|e| e.at_once) {
            self.clear();
        }
        out
    }

    /// Takes the rows of listeners that get batches, one after the other, with the listener's number.
    pub fn batches(&mut self) -> Vec<(u32, Vec<u8>)> {
        let Some(listeners) = &self.listeners else { return Vec::new() };
        let of = |listener: &Listener| {
            let own = self.rows.get(listener.since..).unwrap_or_default();
            // Whole rows at a time: collecting single bytes took most of the time of a listener to all events.
            let mut out = Vec::with_capacity(own.len() * BYTES);
            own.iter().filter(|row| listener.lets(row)).for_each(|row| out.extend_from_slice(&row.bytes()));
            (listener.id, out)
        };
        let out = listeners.list.iter().filter(|e| !e.at_once).map(of).filter(|(_, rows)| !rows.is_empty()).collect();
        self.clear();
        out
    }

    fn clear(&mut self) {
        self.rows.clear();
        if let Some(listeners) = &mut self.listeners {
            (listeners.delivered, listeners.urgent) = (0, false);
            listeners.list.iter_mut().for_each(|e| e.since = 0);
        }
    }

    /// True if a packet was queued before the first listener.
    pub(super) fn waits_unknown(&self, at: Time) -> bool {
        self.listeners.as_ref().is_some_and(|listeners| listeners.began > Time::ZERO && at <= listeners.began)
    }

    /// Names behind the numbers in rows.
    pub fn names(&self) -> &Names {
        &self.names
    }
}

impl Row {
    /// Little-endian numbers in this order: `<5Q5I4B` of Python's `struct`.
    fn bytes(&self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        let wide = [self.time.as_ps(), self.packet, self.seq, self.ack, self.queue_bytes];
        let few = [self.queue_packets, self.flow, self.link, self.length, self.payload];
        let (front, back) = out.split_at_mut(40);
        front.chunks_exact_mut(8).zip(wide).for_each(|(place, n)| place.copy_from_slice(&n.to_le_bytes()));
        back.chunks_exact_mut(4).zip(few).for_each(|(place, n)| place.copy_from_slice(&n.to_le_bytes()));
        out[60..].copy_from_slice(&[self.kind as u8, self.flags, self.field, self.detail]);
        out
    }
}
