//! `cargo dev perf`: one run of a scenario, for profilers and for comparing structures of the event queue.

use fairlane_engine::{QuadHeap, Sorted, Tournament, Wheel};
use fairlane_scenario::{
    CaptureRequest, Format, Options, Parallel, Progress, Resolved, RunError, RunOutput, TraceFormat, TraceRequest, Tracing, resolve,
    run_traced, run_with,
};
use std::fs;
use std::thread;
use std::time::Instant;

const SEED: u64 = 1;
const USAGE: &str =
    "usage: cargo dev perf FILE [queue=sorted|heap|tournament|wheel] [pcap=WHAT:FILE] [trace=FOLDER] [threads=N] [parts=N] [path=value]...";

fn read(file: &str, sets: &[(String, String)]) -> Result<Resolved, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    resolve(&text, file, Format::Toml, sets).map_err(|e| e.to_string())
}

fn run(scenario: &Resolved, queue: &str, options: &Options, tracing: Option<&Tracing>) -> Result<RunOutput, RunError> {
    let (seed, progress) = (SEED, Progress::default());
    match queue {
        "heap" => run_with::<QuadHeap<u64>>(scenario, seed, &progress),
        "wheel" => run_with::<Wheel<u64>>(scenario, seed, &progress),
        "tournament" => run_with::<Tournament<u64>>(scenario, seed, &progress),
        "sorted" => run_with::<Sorted<u64>>(scenario, seed, &progress),
        _ => run_traced(scenario, options, tracing, &progress).and_then(|mut runs| runs.pop().ok_or(RunError::Stopped)),
    }
}

/// Most memory that this process held at a time, where the system tells (Linux).
fn peak_rss() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Runs once and says what it cost, in one line of `key=value`.
pub(crate) fn perf(args: &[String]) -> Result<String, String> {
    let (file, rest) = args.split_first().ok_or(USAGE)?;
    let (mut queue, mut sets, mut tracing) = ("auto".to_owned(), Vec::new(), None);
    let mut options = Options { seeds: vec![SEED], threads: 1, ..Options::default() };
    for arg in rest {
        let (key, value) = arg.split_once('=').ok_or(USAGE)?;
        match (key, value.split_once(':')) {
            ("queue", _) => value.clone_into(&mut queue),
            ("trace", _) => {
                tracing = Some(Tracing { request: TraceRequest::default(), format: TraceFormat::Parquet, folder: value.into() });
            }
            ("pcap", Some((what, file))) => {
                options.captures.requests.push(CaptureRequest { what: what.to_owned(), files: vec![file.into()] });
            }
            ("threads", _) => options.threads = value.parse().map_err(|_| USAGE)?,
            // Cut wherever possible, even on one thread: for counting the cost of parts.
            ("parts", _) => (options.threads, options.parts) = (value.parse().map_err(|_| USAGE)?, Parallel::Always),
            _ => sets.push((key.to_owned(), value.to_owned())),
        }
    }
    if !["auto", "sorted", "heap", "tournament", "wheel"].contains(&queue.as_str()) {
        return Err(USAGE.to_owned());
    }
    let begun = Instant::now();
    let scenario = read(file, &sets)?;
    let read_s = begun.elapsed().as_secs_f64();
    // On a thread of its own, as Python has it done.
    let work = || run(&scenario, &queue, &options, tracing.as_ref());
    let r = thread::scope(|t| t.spawn(work).join()).map_err(|_| "the run panicked".to_owned())?.map_err(|e| e.to_string())?;
    let ns = r.cpu_s * 1e9 / r.packet_hops as f64;
    let (hops, events, fp, setup_s) = (r.packet_hops, r.events, r.fingerprint, r.setup_s);
    let rss = peak_rss().map(|bytes| format!(" peak_rss_bytes={bytes}")).unwrap_or_default();
    Ok(format!(
        "packet_hops={hops} events={events} ns_per_packet_hop={ns:.1} fingerprint={fp:016x} read_s={read_s:.2} setup_s={setup_s:.2}{rss}"
    ))
}
