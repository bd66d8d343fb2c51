//! A sampled run has a column for each gauge on the page of its congestion control, and no other.

use fairlane_scenario::{Format, Options, Progress, Table, resolve, run_all};
use fairlane_tcp::CcParams;
use std::path::Path;

/// Columns of every sampled flow.
const COMMON: [&str; 7] = ["time", "cwnd", "ssthresh", "srtt", "in_flight", "goodput", "throughput"];

/// One flow fills a queue that drops, or marks for congestion controls with ECN.
fn sampled(cc: &str) -> Table {
    let text = format!(
        "duration = \"4s\"\nsample = \"100ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n\
         queue.red = {{ limit = \"30p\", min = \"5p\", max = \"15p\", ecn = true }}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp.cc = \"{cc}\"\n"
    );
    let scenario = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{cc}: {e}"));
    let mut runs = run_all(&scenario, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    runs.pop().unwrap().flow_series.unwrap().table()
}

/// Names in code after "Gauge:" or "Gauges:" on the algorithm's page; none without a page.
fn promised(cc: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/models/{cc}.md"));
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let lines = text.lines().filter_map(|l| l.split_once("Gauge: ").or(l.split_once("Gauges: ")));
    lines.flat_map(|(_, names)| names.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn a_sampled_run_has_the_gauges_that_the_page_of_its_control_names() {
    let mut with = 0;
    for cc in CcParams::ALL {
        let series = sampled(cc.name);
        let mut found: Vec<&str> = series.numbers.iter().map(|c| c.0).filter(|n| !COMMON.contains(n)).collect();
        let mut promised = promised(cc.name);
        found.sort_unstable();
        promised.sort_unstable();
        assert_eq!(found, promised, "{}: the left is recorded, the right is what docs/models/{0}.md names", cc.name);
        for (name, values) in series.numbers.iter().filter(|c| !COMMON.contains(&c.0)) {
            assert_eq!(values.len(), series.numbers[0].1.len(), "{}: {name} has a value for each sample", cc.name);
            assert!(values.iter().all(|v| !v.is_nan()), "{}: {name} is a number in each sample", cc.name);
        }
        with += usize::from(!found.is_empty());
    }
    assert!(with >= 10, "only {with} algorithms have gauges");
}
