//! Results of one run.

use crate::code::Warning;
use crate::metrics::Columns;
use crate::series_table::SeriesTable;
use fairlane_units::Name;

/// Columns of text and numbers of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Text columns.
    pub text: Vec<(&'static str, Vec<Name>)>,
    /// Number columns.
    pub numbers: Columns,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        let text = self.text.first().map(|(_, values)| values.len());
        text.or_else(|| self.numbers.first().map(|(_, values)| values.len())).unwrap_or(0)
    }
}

/// Result of one run.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// Seed of the run.
    pub seed: u64,
    /// Hash of the trajectory, see [`fairlane_net::World::fingerprint`].
    pub fingerprint: u64,
    /// Number of events.
    pub events: u64,
    /// Packets transmitted, counted once per link.
    pub packet_hops: u64,
    /// CPU seconds of the run itself.
    pub cpu_s: f64,
    /// CPU seconds to build the world.
    pub setup_s: f64,
    /// Most packets alive at once.
    pub peak_packets: usize,
    /// Warnings about the result.
    pub warnings: Vec<Warning>,
    /// One row per flow; no columns if the scenario reports groups.
    pub flows: Table,
    /// One row per group of flows if the scenario reports groups; else no columns.
    pub groups: Table,
    /// One row per link direction.
    pub links: Table,
    /// One row.
    pub network: Table,
    /// Time series of flows, if the scenario samples.
    pub flow_series: Option<SeriesTable>,
    /// Time series of links, if the scenario samples.
    pub link_series: Option<SeriesTable>,
    /// Logs of transport stacks, if requested: name of the flow and the end, and the document.
    pub logs: Vec<(String, Vec<u8>)>,
    /// Limits of flows and the effect of queues, if requested.
    pub why: Option<serde_json::Value>,
}

impl RunOutput {
    /// Returns a table by name: `flows`, `groups`, `links` or `network`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        match name {
            "flows" => Some(&self.flows),
            "groups" => Some(&self.groups),
            "links" => Some(&self.links),
            "network" => Some(&self.network),
            _ => None,
        }
    }
}
