//! TFRC and RAP in scenarios: competing with TCP, limited by their sources, and refused combinations.

use fairlane_scenario::{Format, Options, Progress, RunOutput, resolve, run_all};

/// Two TCP flows and two rate-controlled flows share a 10 Mbit/s link with RED; 100 seconds, in one-second windows.
fn beside_tcp(source: &str, seeds: &[u64]) -> Vec<RunOutput> {
    let text = format!(
        "duration = \"100s\"\nwarmup = \"20s\"\nsample = \"1s\"\n[topology.dumbbell]\npairs = 8\naccess = {{ rate = \"100Mbit/s\", delay = \"2ms\" }}\n\
         bottleneck = {{ rate = \"10Mbit/s\", delay = \"20ms\", queue.red = {{ limit = \"100p\", min = \"10p\", max = \"50p\" }} }}\n\
         [flows.tcp]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = 4\nspread = \"1s\"\ntcp = {{ cc = \"newreno\", recovery = \"sack\", mss = \"1000B\", ack_every = 1 }}\n\
         [flows.rate]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\nfirst = 4\ncount = 4\nspread = \"1s\"\nudp = {{}}\nsource = {source}\n"
    );
    run(&text, seeds)
}

fn run(text: &str, seeds: &[u64]) -> Vec<RunOutput> {
    let scenario = resolve(text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    run_all(&scenario, &Options { seeds: seeds.to_vec(), threads: 1, ..options() }, &Progress::default()).unwrap()
}

fn options() -> Options {
    Options { threads: 1, ..Options::default() }
}

fn column<'a>(table: &'a fairlane_scenario::Table, name: &str) -> &'a [f64] {
    &table.numbers.iter().find(|c| c.0 == name).unwrap().1
}

/// Mean rates and coefficients of variation of each flow, from its throughput in each second after the warm-up.
fn rates(out: &RunOutput) -> Vec<(f64, f64)> {
    let series = &out.flow_series.as_ref().unwrap().table();
    let (time, rate, names) = (column(series, "time"), column(series, "throughput"), &series.text[0].1);
    out.flows.text[0]
        .1
        .iter()
        .map(|name| {
            let all: Vec<f64> = (0..time.len()).filter(|&k| names[k] == *name && time[k] > 20.5).map(|k| rate[k]).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / all.len() as f64;
            (mean, variance.sqrt() / mean)
        })
        .collect()
}

/// Ratio of the rate control's throughput to TCP's, and the mean coefficients of variation of both.
fn compared(runs: &[RunOutput]) -> (f64, f64, f64) {
    let (mut share, mut own, mut tcp) = (0.0, 0.0, 0.0);
    for out in runs {
        let r = rates(out);
        let mean = |flows: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| flows.iter().map(of).sum::<f64>() / flows.len() as f64;
        share += mean(&r[4..], |x| x.0) / mean(&r[..4], |x| x.0) / runs.len() as f64;
        own += mean(&r[4..], |x| x.1) / runs.len() as f64;
        tcp += mean(&r[..4], |x| x.1) / runs.len() as f64;
    }
    (share, own, tcp)
}

/// Floyd, Handley, Padhye and Widmer 2000, section 4.1: TFRC gets about as much as TCP, and its rate is smoother.
#[test]
fn tfrc_shares_with_tcp_and_is_smoother() {
    let (share, own, tcp) = compared(&beside_tcp("\"tfrc\"", &[1, 2, 3]));
    assert!((0.5..2.0).contains(&share), "{share}");
    assert!(own < 0.85 * tcp, "variation {own}, of TCP {tcp}");
}

#[test]
fn rap_shares_with_tcp() {
    let (share, _, _) = compared(&beside_tcp("\"rap\"", &[1, 2, 3]));
    assert!((0.5..2.0).contains(&share), "{share}");
}

/// A source below its allowed rate is not limited by the control, and the rate is among the series.
#[test]
fn limited_sources_get_what_they_write() {
    for kind in ["tfrc", "rap"] {
        let source = format!("{{ {kind} = {{ source.cbr = {{ rate = \"400kbit/s\", size = \"1000B\" }} }} }}");
        let runs = beside_tcp(&source, &[1]);
        let (goodput, lost) = (column(&runs[0].flows, "goodput"), column(&runs[0].flows, "loss"));
        for k in 4..8 {
            assert!((goodput[k] / (400e3 * (1.0 - lost[k])) - 1.0).abs() < 0.03, "{kind}: {} {}", goodput[k], lost[k]);
        }
        let series = &runs[0].flow_series.as_ref().unwrap().table();
        let (rate, names) = (column(series, "rate"), &series.text[0].1);
        assert!(names.iter().zip(rate).all(|(n, r)| if n.starts_with("tcp") { r.is_nan() } else { *r > 0.0 }), "{kind}");
    }
}

fn wrong(flow: &str) -> String {
    let text = format!(
        "duration = \"9s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let found = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_err();
    assert_eq!(found.list.len(), 1, "{found}");
    found.to_string()
}

#[test]
fn misuse_is_one_error_at_its_place() {
    let tcp = wrong("tcp = {}\nsource.tfrc = { size = \"500B\" }");
    assert!(
        tcp.contains("tfrc controls the rate of a flow over udp; flow `f` has tcp") && tcp.contains(":11:") && tcp.contains('^'),
        "{tcp}"
    );
    let nested = wrong("udp = {}\nsource.tfrc.source.rap = {}");
    assert!(nested.contains("tfrc carries rap, which controls its rate itself") && nested.contains('^'), "{nested}");
    let credit = wrong("udp = {}\nsource.tfrc = { credit = 2.0 }");
    assert!(credit.contains("allowed is 0 to 1"), "{credit}");
    let inner = wrong("udp = {}\nsource.tfrc = { source.cbr = { rate = \"12 parsec\" } }");
    assert!(inner.contains("12 parsec"), "{inner}");
}
