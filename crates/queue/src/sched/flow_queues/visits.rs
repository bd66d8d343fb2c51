//! Turns of old flows, computed ahead while nothing changes.
//!
//! Where many flows share a quantum, a flow has many turns before it may send: with 1,000 flows of one host behind CAKE, some 700 turns of each for a packet.
//! While no flow joins or leaves and all shares stay the same, the turns are periodic: with `m` old flows, a flow that has turn number `v` has turns `v + m`,
//! `v + 2 m` and so on, and each adds a known share to its credit. So the turn in which it may send is known, and the turns between need not be carried out.

use super::Shares;
use crate::sched::heap::MinHeap;

/// Schedule of the old flows, by slot. Credits in the turns are those before turn number `next` of each flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    /// Number of old flows.
    period: u64,
    /// Number of the present turn.
    now: u64,
    /// Next turn of each flow that its credit does not include.
    next: Vec<u64>,
    /// Turns in which flows may send.
    ready: MinHeap<u64>,
}

/// A flow in the schedule.
pub(super) struct Flow {
    pub(super) slot: usize,
    pub(super) name: usize,
    pub(super) credit: i64,
}

impl Visits {
    /// Schedule of `slots` queues without flows, of which `period` will be in it.
    pub(super) fn new(slots: usize, period: usize) -> Self {
        Self { period: period as u64, now: 0, next: vec![0; slots], ready: MinHeap::default() }
    }

    /// Adds a flow; the first one has turn 0, and so on.
    pub(super) fn add(&mut self, turn: u64, flow: &Flow, quantum: i64, shares: &impl Shares) {
        self.next[flow.slot] = turn;
        self.set(flow, quantum, shares);
    }

    fn set(&mut self, flow: &Flow, quantum: i64, shares: &impl Shares) {
        let turns = if flow.credit > 0 { 0 } else { shares.turns_until(flow.name, quantum, 1 - flow.credit) };
        self.ready.set(flow.slot, self.next[flow.slot].saturating_add(turns.saturating_mul(self.period)));
    }

    /// Advances to the first turn in which a flow may send. Returns the slot of that flow, and the number of its turns before.
    pub(super) fn advance(&mut self) -> Option<(usize, u64)> {
        let (turn, slot) = self.ready.first()?;
        let turns = (turn - self.next[slot]) / self.period;
        (self.now, self.next[slot]) = (turn, turn);
        Some((slot, turns))
    }

    /// Ends the present turn, that of this flow, with whose quantum its credit is known.
    pub(super) fn end_turn(&mut self, flow: &Flow, quantum: i64, shares: &impl Shares) {
        self.next[flow.slot] = self.now + self.period;
        self.now += 1;
        self.set(flow, quantum, shares);
    }

    /// Turns of a flow before the present one that its credit does not include, and true if the present turn is its own.
    pub(super) fn missed(&self, slot: usize) -> (u64, bool) {
        let turns = self.now.saturating_sub(self.next[slot]).div_ceil(self.period);
        (turns, self.next[slot] + turns * self.period == self.now)
    }
}
