//! What tests of any room share: a conformance suite for queues, formulas of queueing theory, small statistics.

pub mod conformance;
pub mod stats;
pub mod theory;
