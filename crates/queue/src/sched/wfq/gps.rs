//! Generalized processor sharing: the fluid server that WFQ is measured by.

use crate::sched::heap::MinHeap;
use fairlane_units::{Rate, Time};

/// The fluid server's virtual time V, which grows at rate C / (sum of the weights of the classes that it is serving)
/// (Parekh and Gallager 1993). It stands still while the server is idle, which is the same as starting again.
///
/// Work is counted in picobits, one being what 1 bit/s carries in a picosecond; V in picobits per unit of weight. Work that does not
/// make a whole step of V is carried on, so that however long a busy period is, V is never more than one step late.
#[derive(Clone, Debug)]
pub(super) struct Gps {
    rate: u128,
    at: Time,
    now: u128,
    carry: u128,
    weights: Vec<u32>,
    /// When each class will have been served, by V.
    finish: Vec<u128>,
    /// The classes in service by that, and the sum of their weights.
    busy: MinHeap<u128>,
    sum: u128,
}

impl Gps {
    pub(super) fn new(rate: Rate) -> Self {
        let rate = u128::from(rate.as_bps());
        Self { rate, at: Time::ZERO, now: 0, carry: 0, weights: vec![], finish: vec![], busy: MinHeap::default(), sum: 0 }
    }

    pub(super) fn grow(&mut self, weight: u32) {
        self.weights.push(weight);
        self.finish.push(0);
    }

    /// V at time `t`.
    pub(super) fn advance(&mut self, t: Time) -> u128 {
        let elapsed = u128::from(t.since(self.at).as_ps());
        self.at = self.at.max(t);
        let mut work = elapsed * self.rate + self.carry;
        self.carry = 0;
        while let Some((finish, i)) = self.busy.first() {
            let until = finish.saturating_sub(self.now).saturating_mul(self.sum);
            if work < until {
                self.now += work / self.sum;
                self.carry = work % self.sum;
                break;
            }
            work -= until;
            self.now = self.now.max(finish);
            self.leave(i);
        }
        self.now
    }

    fn leave(&mut self, i: usize) {
        self.busy.remove(i);
        self.sum -= u128::from(self.weights[i]);
    }

    /// Class `i` gets a packet of this cost at the time last shown.
    pub(super) fn arrive(&mut self, i: usize, cost: u128) {
        if cost == 0 {
            // It is served in no time; a class that has nothing else must not count as being served.
            return;
        }
        if self.finish[i] <= self.now {
            self.finish[i] = self.now;
            self.sum += u128::from(self.weights[i]);
        }
        self.finish[i] += cost;
        self.busy.set(i, self.finish[i]);
    }

    /// A packet of this cost was dropped: what the fluid server has not yet served of class `i` becomes as much less.
    pub(super) fn forget(&mut self, i: usize, cost: u128) {
        if self.finish[i] > self.now {
            self.finish[i] = self.finish[i].saturating_sub(cost).max(self.now);
            if self.finish[i] > self.now { self.busy.set(i, self.finish[i]) } else { self.leave(i) }
        }
    }
}
