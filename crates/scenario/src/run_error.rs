//! Errors that end a run without results.

use crate::capture::CaptureError;
use crate::plugin::Fault;
use crate::registry::QueueSpec;
use crate::resolved::Resolved;
use fairlane_net::{BuildError, Standstill};
use fairlane_units::{Dur, Time};

/// Why runs ended without results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The world cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// [`Progress::stop`] was called.
    #[error("stopped before the end")]
    Stopped,
    /// Packets cannot be captured.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The code of a plug-in or of a transport stack failed.
    #[error("a {} failed at {} of simulated time\n{}", .0.kind(), .0.time.since(Time::ZERO), .0.message)]
    Plugin(Fault),
    /// Limits of flows were requested, but the scenario reports groups.
    #[error(
        "the limits of flows are reported per flow, but this scenario has report = \"groups\": set report = \"flows\", or leave out `why`"
    )]
    NoFlowRows,
    /// A change of the network failed.
    #[error("{0}")]
    Change(String),
    /// Simulated time stands still.
    #[error("simulated time stands still: {events} events at {time}{place}")]
    Standstill {
        /// Time of the standstill.
        time: Dur,
        /// Fewest events at that time.
        events: u64,
        /// Place of the events: link, queue and flow, as far as known.
        place: String,
    },
    /// A run panicked: a defect of the simulator.
    #[error("the run with seed {seed} failed inside the simulator; please report this with the scenario")]
    Panicked {
        /// Seed of that run.
        seed: u64,
    },
}

impl RunError {
    /// Describes a standstill with the names of the scenario.
    pub(crate) fn standing(scenario: &Resolved, seed: u64, still: &Standstill) -> Self {
        let mut place = String::new();
        let link = still.port.and_then(|p| scenario.link_directions().get(p.0 as usize));
        if let Some(link) = link {
            place += &format!(
                ", on link `{}` with queue `{}`",
                link.name,
                match &link.wire.queue {
                    QueueSpec::Plugin(own) => own.name(),
                    queue => queue.name(),
                }
            );
        }
        if let Some(channel) = still.channel.and_then(|c| scenario.expanded.channels.get(c as usize)) {
            place += &format!(", on channel `{}`", channel.name);
        }
        if let Some(flow) = still.flow.and_then(|f| scenario.members_at(seed).get(f.0 as usize).map(|m| m.name.clone())) {
            place += &format!(", of flow `{flow}`");
        }
        Self::Standstill { time: still.time.since(Time::ZERO), events: still.events, place }
    }
}
