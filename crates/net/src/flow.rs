//! A flow, without its endpoints.

use crate::counters::FlowCounters;
use crate::endpoint::FlowView;
use fairlane_units::Time;

/// A flow: its counters and its progress.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique name.
    pub name: String,
    /// Counters since the last reset.
    pub counters: FlowCounters,
    /// The sender's view at the last reset: subtract it from the present one.
    pub base: Option<Box<FlowView>>,
    /// When the application first wrote; `MAX` before.
    pub started: Time,
    /// When the last byte written reached the receiving application; `MAX` before.
    pub completed: Time,
    /// Payload bytes delivered since the flow began.
    pub delivered: u64,
    pub(crate) written: u64,
    /// The flow is over once the receiver has this much; 0: once it has all that was written.
    pub(crate) amount: u64,
    pub(crate) closed: bool,
    pub(crate) app: u32,
    pub(crate) watched: bool,
    /// Its application drives no other.
    pub(crate) alone: bool,
}

impl Flow {
    /// One that no application drives yet.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            counters: FlowCounters::default(),
            base: None,
            started: Time::MAX,
            completed: Time::MAX,
            delivered: 0,
            written: 0,
            amount: 0,
            closed: false,
            app: u32::MAX,
            watched: false,
            alone: true,
        }
    }
}
