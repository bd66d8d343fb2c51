//! What the parameters of an algorithm make, and where.

use super::CongestionControl;
use crate::choices::{EcnMode, Scheme};
use crate::config::TcpConfig;
use fairlane_engine::Stream;

/// Where an algorithm is to work.
#[derive(Clone, Copy, Debug)]
pub struct CcSite<'a> {
    /// Name of its flow; empty outside of networks.
    pub flow: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Parameters of its connection.
    pub config: &'a TcpConfig,
}

impl<'a> CcSite<'a> {
    /// A connection outside of any network.
    pub fn of(config: &'a TcpConfig) -> Self {
        Self { flow: "", seed: 0, config }
    }

    /// The random numbers of this flow's algorithm: nobody else draws from them.
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed, "flow", self.flow, "congestion control")
    }
}

/// The parameters of an algorithm, built in or of one's own: their struct declares them, and this says what follows from them.
pub trait Algorithm {
    /// What runs.
    type State: CongestionControl + Clone + 'static;
    /// The recovery scheme it implies.
    const SCHEME: Scheme = Scheme::Sack;
    /// What it needs of ECN.
    const ECN: EcnMode = EcnMode::Off;
    /// Whether the values make sense together.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
    /// The algorithm in its first state.
    fn build(&self, site: &CcSite<'_>) -> Self::State;
}
