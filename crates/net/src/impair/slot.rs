//! Slots: packets are delivered in batches, as by links that wait for a grant or collect frames (netem's `slot`).

use super::{At, Finding, Impairment, Work};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slots in which packets arrive: nothing arrives between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotSpec {
    /// Least time from a slot, or from a packet that finds none, to the next slot.
    #[schemars(extend("x-max" = "1h"))]
    pub min: Dur,
    /// Most time; all times between are equally likely. Absent: `min`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1h"))]
    pub max: Option<Dur>,
    /// Most packets in a slot. Absent: all that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
}

impl SlotSpec {
    fn most(&self) -> Dur {
        self.max.unwrap_or(self.min)
    }
}

impl Impairment for SlotSpec {
    type Working = Slotting;

    fn check(&self, _: Dur) -> Option<Finding> {
        (self.most() < self.min).then(|| Finding {
            key: "slot",
            message: format!("slots come after at least {} and at most {}", self.min, self.most()),
            help: "write a `max` that is not below `min`".to_owned(),
        })
    }
    fn delays(&self) -> bool {
        self.most() > Dur::ZERO
    }
    fn begin(&self, at: &At<'_>) -> Option<Slotting> {
        self.delays().then(|| Slotting { what: *self, stream: at.stream("slot"), next: Time::ZERO, left: 0 })
    }
}

/// State of the slots of a link.
#[derive(Clone, Debug)]
pub struct Slotting {
    what: SlotSpec,
    stream: Stream,
    /// The slot of the next packet, and how many more it takes.
    next: Time,
    left: u64,
}

impl Slotting {
    fn begin(&mut self, from: Time) {
        let width = self.what.most().as_ps() - self.what.min.as_ps();
        self.next = from + self.what.min + Dur::from_ps(self.stream.below(width + 1));
        self.left = self.what.packets.unwrap_or(u64::MAX);
    }
}

impl Work for Slotting {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn extra(&mut self, now: Time, _: Time) -> Dur {
        if self.left == 0 {
            self.begin(self.next.max(now));
        }
        if self.next < now {
            self.begin(now);
        }
        self.left -= 1;
        self.next - now
    }
}
