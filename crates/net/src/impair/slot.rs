//! Slots: packets are delivered in batches, as by links that wait for a grant or collect frames (netem's `slot`).

use super::{Arrival, At, Distribution, Finding, Impairment, Work, plain};
use fairlane_engine::Stream;
use fairlane_units::{Bytes, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slots in which packets arrive: nothing arrives between them. The time between two is between `min` and `max`, or `delay` varied by `jitter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlotSpec {
    /// Least time from a slot, or from a packet that finds none, to the next slot.
    #[schemars(extend("x-max" = "1h"))]
    pub min: Dur,
    /// Most time; all times between are equally likely. Absent: `min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1h"))]
    pub max: Option<Dur>,
    /// Mean time, instead of `min` and `max` (netem's slot distribution).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1h"))]
    pub delay: Option<Dur>,
    /// How far the time is from `delay`, as the width of a jitter.
    #[serde(skip_serializing_if = "plain")]
    #[schemars(extend("x-max" = "1h"))]
    pub jitter: Dur,
    /// Distribution of the times around `delay`.
    #[serde(skip_serializing_if = "plain")]
    pub distribution: Distribution,
    /// Most packets in a slot. Absent: all that are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// Bytes after which a slot is full; the packet that reaches them still fits. Absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1B"))]
    pub bytes: Option<Bytes>,
}

impl SlotSpec {
    fn most(&self) -> Dur {
        self.max.unwrap_or(self.min)
    }
}

impl Impairment for SlotSpec {
    type Working = Slotting;

    fn check(&self, _: Dur) -> Option<Finding> {
        let between = self.min > Dur::ZERO || self.max.is_some();
        let varied = self.jitter > Dur::ZERO || self.distribution != Distribution::default();
        let (message, help) = if self.delay.is_some() && between {
            ("the time between slots is given twice".to_owned(), "write `min` and `max`, or `delay` and `jitter`")
        } else if self.delay.is_none() && varied {
            ("jitter and distribution are those of `delay`, which is missing".to_owned(), "write for instance delay = \"5ms\"")
        } else if self.most() < self.min {
            let message = format!("slots come after at least {} and at most {}", self.min, self.most());
            (message, "write a `max` that is not below `min`")
        } else if self.bytes == Some(Bytes(0)) {
            ("a slot of no bytes takes no packet".to_owned(), "write for instance bytes = \"3000B\"")
        } else {
            return None;
        };
        Some(Finding { key: "slot", message, help: help.to_owned() })
    }
    fn delays(&self) -> bool {
        self.most() > Dur::ZERO || self.delay.is_some_and(|d| d > Dur::ZERO) || self.jitter > Dur::ZERO
    }
    fn begin(&self, at: &At<'_>) -> Option<Slotting> {
        self.delays().then(|| Slotting { what: *self, stream: at.stream("slot"), next: Time::ZERO, packets: u64::MAX, bytes: u64::MAX })
    }
}

/// State of the slots of a link (netem_dequeue and get_slot_next of sch_netem).
#[derive(Clone, Debug)]
pub struct Slotting {
    what: SlotSpec,
    stream: Stream,
    /// The slot of the next packet, and how many more packets and bytes it takes.
    next: Time,
    packets: u64,
    bytes: u64,
}

impl Slotting {
    fn wait(&mut self) -> Dur {
        let Some(mean) = self.what.delay else {
            let width = self.what.most().as_ps() - self.what.min.as_ps();
            return self.what.min + Dur::from_ps(self.stream.below(width + 1));
        };
        let widths = self.what.distribution.quantile(self.stream.uniform());
        // A draw below zero becomes zero.
        Dur::from_ps((mean.as_ps() as f64 + self.what.jitter.as_ps() as f64 * widths + 0.5) as u64)
    }

    fn begin(&mut self, from: Time) {
        self.next = from + self.wait();
        self.packets = self.what.packets.unwrap_or(u64::MAX);
        self.bytes = self.what.bytes.map_or(u64::MAX, Bytes::get);
    }
}

impl Work for Slotting {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn extra(&mut self, p: Arrival) -> Dur {
        if self.next < p.at {
            self.begin(p.at);
        }
        let slot = self.next;
        self.packets -= 1;
        self.bytes = self.bytes.saturating_sub(u64::from(p.len));
        if self.packets == 0 || self.bytes == 0 {
            self.begin(slot);
        }
        slot - p.at
    }
}
