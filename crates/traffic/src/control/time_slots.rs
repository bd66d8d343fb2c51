//! Time slots: the flows of a source take turns (C. Yang and C.-H. Fu, "Research into two source-based control algorithms for Internet
//! traffic flows", 2001, the algorithm "ts").
//!
//! The unfinished flows of a node form a ring. One is open at a time, for `tsn(P)` slots; it may then send as its transport likes, while the
//! others are closed. A flow that finishes gives up the rest of its turn. A flow that is alone keeps the turn.
//!
//! The paper does not say how long a slot is, in which order the ring runs, nor what aging does to a flow that had its turn: the slot of
//! 0.1 s and the order of the file follow from its printed times; the time spent closed adds up over all turns.
//!
//! Deviation: a flow is in the ring from its start on, whether or not it has something to send in its turn. The priority that aging gives is not
//! written into the packets.

use super::{Acks, Controller, Member, PRIORITIES};
use fairlane_engine::steps::log_step;
use fairlane_net::{Control, ControlCx, Problem};
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Time slots let the flows of a node send one at a time, round robin, for a number of slots that depends on the priority (yang2001, section 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSlotsParams {
    /// Nodes whose flows are governed, each node by a ring of its own. Absent: every node that sends.
    pub nodes: Option<Vec<String>>,
    /// Flows that are governed, by the name of a group or of a member. Absent: all that begin at these nodes.
    pub flows: Option<Vec<String>>,
    /// Length of a slot; 0.1 s fits the times that the paper prints.
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub slot: Dur,
    /// Slots of a turn for the priorities 1 to 6: tsn(P) = 2^(9-P).
    #[schemars(inner(range(min = 1, max = 100_000)))]
    pub slots: Vec<u32>,
    /// Order in which the ring runs.
    pub order: RingOrder,
    /// For each such time that a flow has been closed, its priority is better by one, but not better than 1. Absent: priorities stay.
    #[schemars(extend("x-min" = "1us"))]
    pub aging: Option<Dur>,
    /// Treatment of acknowledgments by a closed TCP sender.
    pub acks: Acks,
}

/// The order of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RingOrder {
    /// Groups in the order of the file, members by number.
    #[default]
    File,
    /// The first member of each group, then the second of each, and so on.
    Interleaved,
    /// The best priority first; among equals as in the file.
    Priority,
}

impl Default for TimeSlotsParams {
    fn default() -> Self {
        Self {
            nodes: None,
            flows: None,
            slot: Dur::from_ms(100),
            slots: (1..=u32::from(PRIORITIES)).map(|p| 1 << (9 - p)).collect(),
            order: RingOrder::File,
            aging: None,
            acks: Acks::Heard,
        }
    }
}

impl Controller for TimeSlotsParams {
    type Control = TimeSlots;

    fn nodes(&self) -> Option<&[String]> {
        self.nodes.as_deref()
    }
    fn flows(&self) -> Option<&[String]> {
        self.flows.as_deref()
    }
    fn check(&self) -> Result<(), Problem> {
        match self.slots.len() {
            n if n == usize::from(PRIORITIES) => Ok(()),
            n => Err(Problem::new("slots", format!("{n} numbers of slots for the {PRIORITIES} priorities"))),
        }
    }
    fn build(&self, priorities: &[u8], numbers: &[u32]) -> TimeSlots {
        let mut ring: Vec<usize> = (0..priorities.len()).collect();
        match self.order {
            RingOrder::File => {}
            RingOrder::Interleaved => ring.sort_by_key(|&f| numbers[f]),
            RingOrder::Priority => ring.sort_by_key(|&f| priorities[f]),
        }
        let mut places = vec![0; ring.len()];
        (0..).zip(&ring).for_each(|(place, &f)| places[f] = place);
        TimeSlots {
            members: Member::all(priorities),
            ring,
            places,
            unfinished: BTreeSet::new(),
            at: 0,
            early: None,
            open: None,
            turns: self.slots.iter().map(|&n| self.slot * u64::from(n)).collect(),
            aging: self.aging,
            acks: self.acks,
        }
    }
}

/// The ring of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSlots {
    members: Vec<Member>,
    /// Flows in the order of the ring.
    ring: Vec<usize>,
    /// Place of each flow in the ring.
    places: Vec<usize>,
    /// Places of the flows that have begun and are not over.
    unfinished: BTreeSet<usize>,
    /// Place of the ring from which the next turn is given.
    at: usize,
    /// A flow that had its turn before its place came.
    early: Option<usize>,
    open: Option<usize>,
    /// Length of a turn for each priority.
    turns: Vec<Dur>,
    aging: Option<Dur>,
    acks: Acks,
}

impl TimeSlots {
    /// The turn goes to the next unfinished flow. An idle ring gives it to a newcomer, which is then passed over once.
    fn turn(&mut self, cx: &mut ControlCx<'_>) {
        let n = self.ring.len();
        log_step(self.unfinished.len());
        let mut places = self.unfinished.range(self.at..).chain(self.unfinished.range(..self.at)).copied();
        let (first, second) = (places.next(), places.next());
        let early = |place: usize| self.early == Some(self.ring[place]);
        let next = if first.is_some_and(early) { second.or(first) } else { first };
        if first.is_some_and(early) {
            self.early = None;
        }
        let flow = next.map(|place| self.ring[place]);
        match next {
            Some(place) if self.open.is_none() && place != self.at => self.early = flow,
            Some(place) => self.at = (place + 1) % n,
            None => self.early = None,
        }
        if self.open != flow {
            if let Some(last) = self.open.filter(|&f| self.members[f].alive) {
                self.members[last].close(cx.now);
                cx.close(last);
            }
            if let Some(f) = flow {
                self.members[f].open(cx.now);
                cx.open(f);
            }
        }
        self.open = flow;
        cx.wake_at(flow.map_or(Time::MAX, |f| {
            let priority = usize::from(self.members[f].priority(self.aging, cx.now));
            cx.now + self.turns[(priority - 1).min(self.turns.len() - 1)]
        }));
    }
}

impl Control for TimeSlots {
    fn begins_closed(&self) -> bool {
        true
    }
    fn deaf(&self) -> bool {
        self.acks == Acks::Ignored
    }
    fn on_begin(&mut self, flow: usize, cx: &mut ControlCx<'_>) {
        let m = &mut self.members[flow];
        m.alive = true;
        m.close(cx.now);
        self.unfinished.insert(self.places[flow]);
        if self.open.is_none() {
            // After all that begin at this instant.
            cx.wake_at(cx.now);
        }
    }
    fn on_finish(&mut self, flow: usize, cx: &mut ControlCx<'_>) {
        self.members[flow].alive = false;
        self.unfinished.remove(&self.places[flow]);
        if self.open == Some(flow) {
            self.turn(cx);
        }
    }
    fn on_wake(&mut self, cx: &mut ControlCx<'_>) {
        self.turn(cx);
    }
}

#[cfg(test)]
#[path = "time_slots_tests.rs"]
mod tests;
