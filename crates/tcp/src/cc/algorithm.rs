//! Construction of congestion control algorithms from their parameters.

use super::CcConfig;
use super::CongestionControl;
use crate::choices::{EcnMode, Scheme};
use fairlane_engine::Stream;

/// Context in which an algorithm is built.
#[derive(Clone, Copy, Debug)]
pub struct CcContext<'a> {
    /// Name of its flow; empty outside of networks.
    pub flow: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Parameters of its connection.
    pub config: &'a CcConfig,
}

impl<'a> CcContext<'a> {
    /// Context of a connection outside of any network.
    pub fn of(config: &'a CcConfig) -> Self {
        Self { flow: "", seed: 0, config }
    }

    /// Random number stream of this flow's algorithm alone.
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed, "flow", self.flow, "congestion control")
    }
}

/// Parameters of an algorithm, built in or user-defined, and how to construct it from them.
pub trait Algorithm {
    /// State of the algorithm.
    type State: CongestionControl + Clone + 'static;
    /// Recovery scheme implied.
    const SCHEME: Scheme = Scheme::Sack;
    /// ECN mode that it needs.
    const ECN: EcnMode = EcnMode::Off;
    /// Checks the values together.
    ///
    /// # Errors
    /// The mistake, and what to write instead.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
    /// Builds the algorithm in its initial state.
    fn build(&self, context: &CcContext<'_>) -> Self::State;
}
