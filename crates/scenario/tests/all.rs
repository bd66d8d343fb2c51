//! The tests of the crate as one program, which is linked once: `cargo test -p fairlane-scenario --test all MODULE::`.

mod bad_inputs;
mod bench_scenarios;
mod codes;
mod common;
mod control;
mod dialogue;
mod ecn;
mod fast_open;
mod gauges;
mod links;
mod moving;
mod plugin;
mod plugin_cc;
mod queues;
mod rate_control;
mod registry;
mod resolved;
mod series;
mod shaped_classes;
mod sharing;
mod sources;
mod synchronisation;
mod topologies;
mod transfers;
mod wireless;
mod yang2001;
