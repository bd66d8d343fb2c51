//! AIMD(a, b) of Floyd, Handley and Padhye (2000) as a plug-in congestion control, used by name in any scenario:
//! `cargo run --release -p own-cc -- examples/own_cc/scenario.toml`

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};
use fairlane_tcp::cc::{AckSample, Algorithm, CcContext, CongestionEvent, LossBased, Window, register_cc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Additive increase by a segments a round trip, multiplicative decrease by the share b (Floyd, Handley and Padhye 2000).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct AimdParams {
    /// Growth of the window in segments per round trip.
    #[schemars(range(min = 0.0, max = 100.0))]
    a: f64,
    /// Share of the window removed after a loss.
    #[schemars(range(min = 0.0, max = 1.0))]
    b: f64,
}

impl Default for AimdParams {
    fn default() -> Self {
        Self { a: 1.0, b: 0.5 }
    }
}

impl Algorithm for AimdParams {
    type State = Aimd;
    fn build(&self, context: &CcContext<'_>) -> Aimd {
        Aimd { w: Window::new(context.config), a: self.a, b: self.b }
    }
}

#[derive(Clone, Debug)]
struct Aimd {
    w: Window,
    a: f64,
    b: f64,
}

impl LossBased for Aimd {
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        // Windows are in segments here; what slow start leaves over grows the window by `a` for each window acknowledged.
        if let Some(n) = self.w.slow_start(s) {
            self.w.cwnd += self.a * n / self.w.cwnd;
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        self.w.basis(e) * (1.0 - self.b)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    register_cc::<AimdParams>("AIMD")?;
    let file = std::env::args().nth(1).ok_or("name a scenario file")?;
    let scenario = resolve(&std::fs::read_to_string(&file)?, &file, Format::Toml, &[])?;
    let options = Options { seeds: vec![scenario.seed], threads: 1, ..Options::default() };
    for run in run_all(&scenario, &options, &Progress::default())? {
        println!("seed {} fingerprint {:016x}", run.seed, run.fingerprint);
        for flow in 0..run.flows.text[0].1.len() {
            let number = |name: &str| run.flows.numbers.iter().find(|c| c.0 == name).map_or(f64::NAN, |c| c.1[flow]);
            println!("{:10} {:8.3} Mbit/s {:8.2} ms", run.flows.text[0].1[flow], number("goodput") / 1e6, number("delay_mean") * 1e3);
        }
    }
    Ok(())
}
