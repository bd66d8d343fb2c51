//! The tests of the crate as one program, which is linked once: `cargo test -p fairlane-net --test all MODULE::`.

mod clamp;
mod copies;
mod laws;
mod outages;
mod relays;
mod rough;
mod samples;
mod standstill;
mod toy;
