//! The tests of the crate as one program, which is linked once: `cargo test -p fairlane-net --test all MODULE::`.

mod clamp;
mod copies;
mod laws;
mod ledger;
mod lifetimes;
mod minimal;
mod outages;
mod samples;
mod shortcuts;
mod slow_path;
mod standstill;
