//! The Management queue of Syla, Alla and Xhabafti (2022) as a plug-in queue, used by name in any scenario:
//! `cargo run --release -p own-queue -- examples/own_queue/scenario.toml`

use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_queue::{Discipline, Fifo, Law, LawCx, Limit, Problem, Verdict};
use fairlane_scenario::{Format, Options, Progress, register, resolve, run_all};
use fairlane_units::Len;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tail drop that keeps limit - 1 packets (Syla, Alla and Xhabafti 2022, part 3).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct NMinusOneParams {
    /// Number of waiting packets plus one.
    limit: Len,
}

impl Default for NMinusOneParams {
    fn default() -> Self {
        Self { limit: Len::Packets(50) }
    }
}

impl Discipline for NMinusOneParams {
    type Queue = Fifo<NMinusOne>;
    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        match self.limit {
            Len::Packets(2..) => Ok(()),
            _ => Err(Problem::new("limit", "write at least \"2p\"")),
        }
    }
    fn build(&self, _: &BuildContext<'_>) -> Self::Queue {
        let limit = if let Len::Packets(n) = self.limit { n } else { 2 };
        Fifo::new(NMinusOne { limit }, Limit::NONE)
    }
}

#[derive(Clone, Debug)]
struct NMinusOne {
    limit: u64,
}

impl Law for NMinusOne {
    fn on_enqueue(&mut self, _: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        // With the arriving packet the queue would be as long as the limit: it is removed again.
        if u64::from(cx.held.pkts) + 1 >= self.limit { Verdict::Drop(DropReason::Overflow) } else { Verdict::Pass }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    register::<NMinusOneParams>("NMinusOne")?;
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
