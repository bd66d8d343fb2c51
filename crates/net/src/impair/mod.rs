//! Impairments of links, one file each, and a line in the list below.
//!
//! A packet is lost if any impairment loses it. Each has its own random streams and always advances them, so that changing one leaves the draws of the
//! others alone. Late packets wait in `reorder_buffer.rs`.

use crate::ids::PortId;
use crate::packet::{Class, Ecn, Packet};
use crate::reorder_buffer::ReorderBuffer;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines each impairment once: description, name (also of its file), and parameters. Then lists those that delay packets, in the order in which they do.
macro_rules! impairments {
    ($($(#[$attr:meta])* $doc:literal $name:ident: $params:ident;)* delays: $($late:ident)*) => {
        $(mod $name;)*
        $(pub use $name::$params;)*

        /// Impairments of a link, as far as they are given.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Impairments {
            $(#[doc = $doc] #[serde(skip_serializing_if = "unsaid")] $(#[$attr])* pub $name: Option<$params>,)*
        }

        impl Impairments {
            /// Names in scenario files.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Merges: values of `self`, else of `base`.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                Self { $($name: self.$name.clone().or_else(|| base.$name.clone())),* }
            }
            /// Impairments that are written out even if they are not given.
            pub fn plain() -> Self {
                Self { $($name: $params::plain()),* }
            }
            /// Problems on a link with this propagation delay.
            pub fn findings(&self, delay: Dur) -> Vec<Finding> {
                [$(self.$name.as_ref().and_then(|p| p.check(delay))),*].into_iter().flatten().collect()
            }
            /// Returns true if packets may arrive later than the propagation delay.
            pub fn delays(&self) -> bool {
                false $(|| self.$name.as_ref().is_some_and(Impairment::delays))*
            }
        }

        /// Active impairments of a link.
        #[derive(Clone, Debug)]
        struct Working {
            $($name: Option<<$params as Impairment>::Working>,)*
        }

        impl Working {
            fn new(what: &Impairments, at: &At<'_>) -> Self {
                Self { $($name: what.$name.as_ref().and_then(|p| p.begin(at))),* }
            }
            fn is_idle(&self) -> bool {
                true $(&& self.$name.is_none())*
            }
            fn apply(&mut self, draws: Draws, sent: Time, outcome: &mut Outcome) {
                $(if let Some(w) = &mut self.$name { w.apply(draws, sent, outcome); })*
            }
            /// Extra delay of a packet: each impairment delays what the one before it delivers, so that none undoes the order that another keeps.
            fn extra(&mut self, p: Arrival) -> Dur {
                let mut at = p.at;
                $(if let Some(w) = &mut self.$late { at += w.extra(Arrival { at, ..p }); })*
                at - p.at
            }
            fn early(&self) -> Dur {
                Dur::ZERO $(+ self.$name.as_ref().map_or(Dur::ZERO, Work::early))*
            }
            fn reseed(&mut self, number: u64) {
                $(if let Some(w) = &mut self.$name { w.reseed(number); })*
            }
        }
    };
}

impairments! {
    "Probability that a packet is lost on the link, or a table of models. Absent: 0." loss: LossSpec;
    #[schemars(range(min = 0.0, max = 1.0))]
    "Probability that a packet arrives twice. Absent: 0." duplicate: Duplicate;
    "A share of the packets that arrives later than those behind them." reorder: ReorderSpec;
    "Variation of the propagation delay: its width, or a table of parameters." jitter: JitterSpec;
    "Rate, delay and loss that follow a trace: a file or the name of a shipped profile, or a table of parameters." profile: ProfileSpec;
    "Share of the packets in which a bit is flipped, which a checksum finds: they are lost." corrupt: CorruptSpec;
    "Slots in which packets arrive, in batches." slot: SlotSpec;
    "Headers that the link rewrites: ECN field and code point." remark: RemarkSpec;
    #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
    "Longest packet that passes the link; longer ones vanish. Absent: any." black_hole: BlackHole;
    "NAT or stateful firewall: one timeout for the mappings of its flows, or a table of parameters." nat: NatSpec;
    delays: profile jitter slot reorder
}

mod chance;

pub use corrupt::CorruptParams;
pub use jitter::{Distribution, JitterParams};
pub use loss::{FourStatesSpec, GilbertElliottSpec, LossModels};
pub(crate) use nat::{Guard, Header};
pub use nat::{NatInside, NatParams};
pub use profile::{Interpolation, ProfileParams};
pub use remark::RemarkEcn;

/// Parameters of an impairment.
pub trait Impairment: Sized {
    /// State on one direction of a link.
    type Working: Work;

    /// Value that is written out if none is given.
    fn plain() -> Option<Self> {
        None
    }
    /// Checks what a schema cannot, on a link with this propagation delay.
    fn check(&self, delay: Dur) -> Option<Finding> {
        let _ = delay;
        None
    }
    /// Returns true if packets may arrive later than the propagation delay.
    fn delays(&self) -> bool {
        false
    }
    /// Creates the state on a link; `None` if it does nothing.
    fn begin(&self, at: &At<'_>) -> Option<Self::Working>;
}

/// State of an impairment on a link.
pub trait Work {
    /// Applies the impairment to the next packet, whose transmission ended at `sent`.
    fn apply(&mut self, draws: Draws, sent: Time, outcome: &mut Outcome) {
        let _ = (draws, sent, outcome);
    }
    /// Extra delay of a packet. Called once per packet.
    fn extra(&mut self, packet: Arrival) -> Dur {
        let _ = packet;
        Dur::ZERO
    }
    /// Part of the propagation delay that [`Self::extra`] adds instead.
    fn early(&self) -> Dur {
        Dur::ZERO
    }
    /// Draws from another random stream from now on.
    fn reseed(&mut self, number: u64) {
        let _ = number;
    }
}

/// True for the value that a parameter has if it is not given: it is not written out.
fn plain<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn unsaid<P: Impairment>(what: &Option<P>) -> bool {
    what.is_none() && P::plain().is_none()
}

/// Problem with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Parameter.
    pub key: &'static str,
    /// Problem.
    pub message: String,
    /// Suggested value.
    pub help: String,
}

/// Link of an impairment.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    seed: u64,
    name: &'a str,
    /// Propagation delay of the link.
    pub delay: Dur,
}

impl At<'_> {
    /// Creates a random stream of the link.
    pub fn stream(&self, purpose: &'static str) -> Stream {
        Stream::new(self.seed, "port", self.name, purpose)
    }
}

/// A packet at the end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it could arrive.
    pub at: Time,
    /// When its transmission ended.
    pub sent: Time,
    /// Its length in bytes.
    pub len: u32,
}

/// Two random numbers from 0 to 1, drawn for each packet.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Decides on loss with one probability.
    pub loss: f64,
    /// Decides on duplication.
    pub twice: f64,
}

/// Fate of a packet at the end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// It is lost.
    pub lost: bool,
    /// It arrives twice.
    pub twice: bool,
    /// Its length in bytes.
    pub len: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its traffic class.
    pub class: Class,
}

impl Outcome {
    /// The fate of a packet to which nothing happens.
    pub fn of(p: &Packet) -> Self {
        Self { lost: false, twice: false, len: p.len, ecn: p.ecn, class: p.class }
    }
}

/// Impairments of a link, with their state.
#[derive(Clone, Debug)]
pub struct Impair {
    working: Working,
    /// The port of the other direction, if its queue rewrites the windows of acknowledgements that cross this link.
    pub(crate) clamped_by: Option<PortId>,
    /// The NAT that packets of this direction pass.
    pub(crate) guard: Option<Guard>,
    rng: Stream,
    /// Delay of the ring: that of the link without what impairments add instead.
    ring: Dur,
    pub(crate) reorder_buffer: Option<ReorderBuffer>,
}

impl Impair {
    /// Creates the impairments of link `name`; `None` if they do nothing.
    pub fn new(what: &Impairments, delay: Dur, seed: u64, name: &str) -> Option<Self> {
        let idle = Working::new(what, &At { seed, name, delay }).is_idle();
        (!idle).then(|| Self::idle(what, delay, seed, name))
    }

    pub(crate) fn idle(what: &Impairments, delay: Dur, seed: u64, name: &str) -> Self {
        let at = At { seed, name, delay };
        let reorder_buffer = what.delays().then(ReorderBuffer::default);
        let working = Working::new(what, &at);
        let ring = delay.saturating_sub(working.early());
        Self { working, clamped_by: None, guard: None, rng: at.stream("impair"), ring, reorder_buffer }
    }

    /// Draws from other random streams from now on.
    pub(crate) fn reseed(&mut self, number: u64) {
        self.rng.fork(number);
        self.working.reseed(number);
    }

    /// Changes losses and duplicates; delays stay as they are. `seed`: for models with their own random stream.
    pub(crate) fn change(&mut self, what: &Impairments, seed: u64, name: &str) {
        let at = At { seed, name, delay: Dur::ZERO };
        self.working.loss = what.loss.as_ref().and_then(|p| p.begin(&at));
        self.working.duplicate = what.duplicate.as_ref().and_then(|p| p.begin(&at));
    }

    /// Sets the delay of the ring.
    pub(crate) fn set_ring(&mut self, delay: Dur) {
        self.ring = delay;
    }

    /// End of the transmission of a packet that would arrive at `now` by the delay of the ring alone.
    fn sent(&self, now: Time) -> Time {
        Time::ZERO + now.since(Time::ZERO + self.ring)
    }

    /// Outcome of the next packet, which would be this one if nothing happened, and which would arrive at `now` by the delay of the ring alone.
    pub fn outcome(&mut self, now: Time, mut outcome: Outcome) -> Outcome {
        let draws = Draws { loss: self.rng.uniform(), twice: self.rng.uniform() };
        self.working.apply(draws, self.sent(now), &mut outcome);
        outcome
    }

    /// Arrival time of a packet of `len` bytes that would arrive at `now` by the propagation delay alone.
    pub fn arrival(&mut self, now: Time, len: u32) -> Time {
        now + self.working.extra(Arrival { at: now, sent: self.sent(now), len })
    }

    /// [`Self::arrival`] with the reorder buffer; `None` if the link has none.
    pub(crate) fn late_arrival(&mut self, now: Time, len: u32) -> Option<(&mut ReorderBuffer, Time)> {
        let sent = self.sent(now);
        let buffer = self.reorder_buffer.as_mut()?;
        Some((buffer, now + self.working.extra(Arrival { at: now, sent, len })))
    }

    /// True if the NAT of the link, if it has one, lets the packet pass.
    pub(crate) fn nat_passes(&mut self, packet: &Packet, header: Header, now: Time) -> bool {
        self.working.nat.as_mut().is_none_or(|nat| nat.passes(packet, header, now))
    }

    /// Part of the propagation delay that [`Self::arrival`] adds instead.
    pub fn early(&self) -> Dur {
        self.working.early()
    }
}

#[cfg(test)]
mod netem_tests;
#[cfg(test)]
mod tests;
