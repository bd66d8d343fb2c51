//! All models of `fuzz/`, with a few thousand operations each in tests, and any number by hand:
//! `cargo test -p fairlane-scenario --test fuzz -- TARGET OPERATIONS [FIRST SEED]`. Overflow checks and debug assertions are on.
//! `docs/validation/fuzzing.md` defines an operation and lists the operations run so far.

#[path = "../../../fuzz/draws.rs"]
mod draws;
#[path = "../../../fuzz/harness.rs"]
mod harness;
#[path = "../../../fuzz/layers.rs"]
mod layers;
#[path = "../../../fuzz/queue.rs"]
mod queue;
#[path = "../../../fuzz/recorded.rs"]
mod recorded;
#[path = "../../../fuzz/text.rs"]
mod text;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Names of the models, and operations in the tests.
const TARGETS: [(&str, u64); 5] = [("queue", 300_000), ("tcp", 100_000), ("scenario", 1000), ("pcap", 20_000), ("layers", 20_000)];
/// Seeds that once found a defect: a D-SACK as long as the sequence space.
const FOUND: [(&str, u64); 1] = [("tcp", 8484)];
/// Bytes of a TCP endpoint's life.
const LONGEST_LIFE: usize = 6000;
/// Number of kinds of findings that ends the search.
const ENOUGH: usize = 20;

/// Message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn say(text: &str) {
    // The reader may be gone: the exit code is enough.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn tcp(seed: u64) -> Result<u64, String> {
    let d = &mut draws::Draws::new(seed);
    let data = {
        let len = d.below(LONGEST_LIFE);
        d.bytes(len)
    };
    harness::run(&data)
}

/// Runs a model until the number of operations; returns findings by kind, each with its first seed.
fn fuzz(target: &str, operations: u64, first: u64) -> Vec<String> {
    let corpus = (target == "scenario").then(text::Corpus::new);
    let (start, mut told) = (Instant::now(), Instant::now());
    let (mut done, mut seed, mut found) = (0_u64, first, Vec::<(String, String)>::new());
    let rate = |done: u64| done as f64 / start.elapsed().as_secs_f64().max(1e-9);
    while done < operations && found.len() < ENOUGH {
        let life = AssertUnwindSafe(|| match (target, &corpus) {
            ("queue", _) => queue::run(seed),
            ("tcp", _) => tcp(seed),
            ("pcap", _) => recorded::run(seed),
            ("layers", _) => layers::run(seed),
            (_, Some(corpus)) => text::run(seed, corpus),
            (_, None) => Err("there is no such target".to_owned()),
        });
        let wrong = match catch_unwind(life) {
            Ok(Ok(n)) => {
                done += n;
                None
            }
            Ok(Err(why)) => Some(why),
            Err(_) => Some(PANIC.lock().map_or_else(|e| e.into_inner().clone(), |p| p.clone())),
        };
        if let Some(why) = wrong {
            let kind: String = why.split(": ").take(2).flat_map(str::chars).filter(|c| !c.is_ascii_digit()).collect();
            if found.iter().all(|(k, _)| *k != kind) {
                say(&format!("{target}: seed {seed}: {why}"));
                found.push((kind, format!("{target}: seed {seed}: {why}")));
            }
        }
        seed += 1;
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            say(&format!("{target}: {done} operations, {:.0} a second, next seed {seed}", rate(done)));
        }
    }
    say(&format!(
        "{target}: {done} operations in {} lives from seed {first}, {:.0} a second, {} findings",
        seed - first,
        rate(done),
        found.len()
    ));
    found.into_iter().map(|(_, why)| why).collect()
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut panic) = PANIC.lock() {
            // The location comes first: it distinguishes panics.
            *panic = format!("panic at {}: {info}", info.location().map_or_else(String::new, ToString::to_string).replace(':', " "));
        }
    }));
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).and_then(|w| w.replace('_', "").parse::<u64>().ok());
    let named = TARGETS.iter().find(|(name, _)| words.first().is_some_and(|w| w == name));
    let found = match named {
        Some(&(name, few)) => fuzz(name, number(1).unwrap_or(few), number(2).unwrap_or(0)),
        // The filter names another program's test, or asks for the list of all.
        None if words.iter().any(|w| !w.starts_with('-') && w.parse::<u64>().is_err()) || words.iter().any(|w| w == "--list") => {
            return ExitCode::SUCCESS;
        }
        None => {
            let found = FOUND.iter().flat_map(|&(name, seed)| fuzz(name, 1, seed));
            found.chain(TARGETS.iter().flat_map(|&(name, few)| fuzz(name, few, 0))).collect()
        }
    };
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
