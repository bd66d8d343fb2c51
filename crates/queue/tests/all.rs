//! The tests of the crate as one program, which is linked once: `cargo test -p fairlane-queue --test all MODULE::`.

mod aqm_conformance;
mod aqm_regulation;
mod ared;
mod classful;
mod closed;
mod conformance;
mod controllers;
mod drops;
mod dsred;
mod fair_bounds;
mod fair_queues;
mod front;
mod ns2;
mod precedence;
