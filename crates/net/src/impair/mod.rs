//! What a link does to packets besides carrying them: one file each, and a line in the list below.
//!
//! A packet that any impairment takes is lost. Each has random streams of its own and always moves on, so that changing one leaves the others'
//! luck alone. Packets that are to come late are kept as `late.rs` says.

use crate::ids::PortId;
use crate::late::Late;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each impairment once: what it is, its name, which is that of its file, and its parameters.
macro_rules! impairments {
    ($($(#[$attr:meta])* $doc:literal $name:ident: $params:ident;)*) => {
        $(mod $name;)*
        $(pub use $name::$params;)*

        /// What a link does to packets besides carrying them, as far as it is said.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Impairments {
            $(#[doc = $doc] #[serde(skip_serializing_if = "unsaid")] $(#[$attr])* pub $name: Option<$params>,)*
        }

        impl Impairments {
            /// Their names in scenario files.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// `self` where it says something, else `base`.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                Self { $($name: self.$name.clone().or_else(|| base.$name.clone())),* }
            }
            /// Those that are written out even where nothing is said.
            pub fn plain() -> Self {
                Self { $($name: $params::plain()),* }
            }
            /// What makes no sense on a link with this propagation delay.
            pub fn findings(&self, delay: Dur) -> Vec<Finding> {
                [$(self.$name.as_ref().and_then(|p| p.check(delay))),*].into_iter().flatten().collect()
            }
            /// Whether packets may come later than the propagation delay says.
            pub fn delays(&self) -> bool {
                false $(|| self.$name.as_ref().is_some_and(Impairment::delays))*
            }
        }

        /// Those of a link that do something.
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
            fn judge(&mut self, luck: Draws, fate: &mut Outcome) {
                $(if let Some(w) = &mut self.$name { w.judge(luck, fate); })*
            }
            fn extra(&mut self, now: Time) -> Dur {
                Dur::ZERO $(+ self.$name.as_mut().map_or(Dur::ZERO, |w| w.extra(now)))*
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
}

pub use jitter::{Distribution, JitterParams};
pub use loss::{GilbertElliottSpec, LossModels};

/// The parameters of an impairment.
pub trait Impairment: Sized {
    /// What it is at work on one direction of a link.
    type Working: Work;

    /// What is written out where nothing is said, if anything is.
    fn plain() -> Option<Self> {
        None
    }
    /// What makes no sense on a link with this propagation delay, and cannot be said in a schema.
    fn check(&self, delay: Dur) -> Option<Finding> {
        let _ = delay;
        None
    }
    /// Whether packets may come later than the propagation delay says.
    fn delays(&self) -> bool {
        false
    }
    /// At work on a link; `None` if it does nothing.
    fn begin(&self, at: &At<'_>) -> Option<Self::Working>;
}

/// An impairment at work.
pub trait Work {
    /// Decides over the next packet.
    fn judge(&mut self, luck: Draws, fate: &mut Outcome) {
        let _ = (luck, fate);
    }
    /// How much later a packet arrives that could arrive at `now`; asked of those that delay, once a packet.
    fn extra(&mut self, now: Time) -> Dur {
        let _ = now;
        Dur::ZERO
    }
    /// How much sooner than the propagation delay says packets are to be handed to [`Self::extra`].
    fn early(&self) -> Dur {
        Dur::ZERO
    }
    /// Draws from another stream from now on.
    fn reseed(&mut self, number: u64) {
        let _ = number;
    }
}

fn unsaid<P: Impairment>(what: &Option<P>) -> bool {
    what.is_none() && P::plain().is_none()
}

/// Parameters that do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The parameter.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
}

/// Where an impairment is at work.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    seed: u64,
    name: &'a str,
    /// The propagation delay of the link.
    pub delay: Dur,
}

impl At<'_> {
    /// A random stream of the link.
    pub fn stream(&self, purpose: &'static str) -> Stream {
        Stream::new(self.seed, "port", self.name, purpose)
    }
}

/// Two draws from 0 to 1 for each packet, which are always made.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Decides over loss with one probability.
    pub loss: f64,
    /// Decides over a copy.
    pub twice: f64,
}

/// What happens to a packet at the end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// It is lost.
    pub lost: bool,
    /// It arrives twice.
    pub twice: bool,
}

/// The impairments of a link at work.
#[derive(Clone, Debug)]
pub struct Impair {
    working: Working,
    /// The port of the other direction, if its queue rewrites the windows of acknowledgements that cross this link.
    pub(crate) clamped_by: Option<PortId>,
    rng: Stream,
    pub(crate) late: Option<Late>,
}

impl Impair {
    /// Of the link `name` with a propagation delay of `delay`; none if it does nothing.
    pub fn new(what: &Impairments, delay: Dur, seed: u64, name: &str) -> Option<Self> {
        let idle = Working::new(what, &At { seed, name, delay }).is_idle();
        (!idle).then(|| Self::idle(what, delay, seed, name))
    }

    pub(crate) fn idle(what: &Impairments, delay: Dur, seed: u64, name: &str) -> Self {
        let at = At { seed, name, delay };
        let late = what.delays().then(Late::default);
        Self { working: Working::new(what, &at), clamped_by: None, rng: at.stream("impair"), late }
    }

    /// Draws from other streams from now on.
    pub(crate) fn reseed(&mut self, number: u64) {
        self.rng.fork(number);
        self.working.reseed(number);
    }

    /// Loses and copies packets as `what` says from now on; what it says of delays is left alone. `seed`: of models that draw for themselves.
    pub(crate) fn change(&mut self, what: &Impairments, seed: u64, name: &str) {
        let at = At { seed, name, delay: Dur::ZERO };
        self.working.loss = what.loss.as_ref().and_then(|p| p.begin(&at));
        self.working.duplicate = what.duplicate.as_ref().and_then(|p| p.begin(&at));
    }

    /// Decides over the next packet.
    pub fn fate(&mut self) -> Outcome {
        let luck = Draws { loss: self.rng.uniform(), twice: self.rng.uniform() };
        let mut fate = Outcome::default();
        self.working.judge(luck, &mut fate);
        fate
    }

    /// When a packet that the propagation delay would bring at `now` is there in truth.
    pub fn arrival(&mut self, now: Time) -> Time {
        now + self.working.extra(now)
    }

    /// The same, with where such packets are kept; `None` if none are late.
    pub(crate) fn late_arrival(&mut self, now: Time) -> Option<(&mut Late, Time)> {
        let late = self.late.as_mut()?;
        Some((late, now + self.working.extra(now)))
    }

    /// How much sooner than the propagation delay says packets are to be handed to [`Self::arrival`].
    pub fn early(&self) -> Dur {
        self.working.early()
    }
}

#[cfg(test)]
mod tests;
