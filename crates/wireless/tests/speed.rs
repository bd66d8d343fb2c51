//! How fast: frames of 50 saturated stations in a second of one core. Not a test of anything, as clocks differ: `cargo test --release -p fairlane-wireless --test
//! speed -- --ignored --nocapture`.

#![allow(clippy::print_stdout)]

mod lab;

use lab::*;
use std::time::Instant;

#[test]
#[ignore = "prints a speed"]
fn fifty_saturated_stations() {
    for (name, dcf) in [("basic", b11()), ("rts", rts(b11()))] {
        let start = Instant::now();
        let lab = saturated(50, dcf, &ns3(-82.0, -82.0), 100);
        let took = start.elapsed().as_secs_f64();
        let frames = lab.sum(|c| c.data_tx + c.rts_tx + c.cts_tx + c.ack_tx);
        println!("{name}: {frames} frames, {:.0} in a second, {:.0} times as fast as real time", frames / took, 100.5 / took);
    }
}
