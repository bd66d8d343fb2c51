//! Helpers for the tests of all crates: a packet, a conformance suite for queues, values drawn from a schema, formulas of queueing theory, small statistics.

pub mod conformance;
pub mod draw;
pub mod limits;
pub mod packet;
pub mod stats;
pub mod theory;
