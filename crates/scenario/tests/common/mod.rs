//! Runs scenarios from text.
#![allow(dead_code, unreachable_pub)]

use fairlane_scenario::{Format, Options, Progress, Resolved, RunOutput, resolve, run_all};

/// Scenario of a TOML text.
pub fn read(text: &str) -> Resolved {
    resolve(text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// One run.
pub fn run_seed(text: &str, seed: u64) -> RunOutput {
    let options = Options { seeds: vec![seed], threads: 1, ..Options::default() };
    run_all(&read(text), &options, &Progress::default()).unwrap_or_else(|e| panic!("{e}\n{text}")).remove(0)
}

/// One run with seed 1.
pub fn run(text: &str) -> RunOutput {
    run_seed(text, 1)
}

/// Metric of the first flow.
pub fn column(out: &RunOutput, name: &str) -> f64 {
    cell(out, name, 0)
}

/// Metric of flow `i`.
pub fn cell(out: &RunOutput, name: &str, i: usize) -> f64 {
    out.flows.numbers.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("no column {name}")).1[i]
}
