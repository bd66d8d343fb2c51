//! The trait of the parameters of every discipline: check them, and build the queue.

pub use fairlane_net::Problem;
use fairlane_net::{BuildContext, Qdisc};

/// A dialect: a named set of parameter values, laid under the user's own values before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The preset's name.
    pub name: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// A JSON object. Keys the user writes win over these; keys in neither take their default.
    pub values: &'static str,
}

/// Properties of a discipline that a plain FIFO lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// May leave the link idle although packets wait.
    pub shapes: bool,
    /// Changes the traffic class of packets.
    pub recolours: bool,
    /// Packets of one flow may overtake one another.
    pub reorders: bool,
}

impl Capabilities {
    /// Returns the union of two sets of capabilities.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            shapes: self.shapes || other.shapes,
            recolours: self.recolours || other.recolours,
            reorders: self.reorders || other.reorders,
        }
    }
}

/// The parameters of a queue discipline.
///
/// Schedulers that hold queues of other disciplines are generic over the inner parameters, so that any discipline of the
/// registry fits into any of their classes.
pub trait Discipline {
    /// Queue that is built.
    type Queue: Qdisc + Clone + std::fmt::Debug + 'static;

    /// Its dialects. A preset is data: no code asks which one is in force.
    const PRESETS: &'static [Preset] = &[];

    /// True if the parameters make sense together, on this link and among these flows. A site without flows means that
    /// they are not known yet; then nothing about flows is an error.
    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        let _ = context;
        Ok(())
    }
    /// Why a queue with these parameters, which are valid, does something else at this place than its name says; none as a rule.
    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        let _ = context;
        None
    }
    /// The queue with these parameters at this place. They have passed [`Discipline::check`].
    fn build(&self, context: &BuildContext<'_>) -> Self::Queue;
    /// Returns the properties that a plain FIFO lacks.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}
