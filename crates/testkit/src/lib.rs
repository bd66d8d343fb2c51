//! Helpers for the tests of all crates: a packet, a conformance suite for queues, values drawn from a schema, the number of random cases, formulas of queueing theory, small statistics.

pub mod conformance;
pub mod draw;
pub mod growth;
pub mod limits;
mod number_of_cases;
pub mod packet;
pub mod stats;
pub mod theory;

pub use number_of_cases::cases;
