//! Table of time series: every gauge of a built-in algorithm is declared, and every declared one exists.

use fairlane_scenario::{FLOW_SERIES, Feed, Format, LINK_SERIES, Options, Progress, QueueSpec, Series, SeriesTable};
use fairlane_scenario::{metrics_listing, resolve, run_all, series_listing, series_name};
use fairlane_tcp::CcParams;
use std::collections::{BTreeMap, BTreeSet};

const MIXED: &str = "examples/mixed.toml";

/// Settings with gauges that the defaults lack.
const MORE: &[(&str, &str)] = &[
    ("tbf with a peak rate", "topology.dumbbell.bottleneck.queue={ tbf = { rate = \"5Mbit/s\", peakrate = \"8Mbit/s\" } }"),
    ("drr with classes", "topology.dumbbell.bottleneck.queue={ drr = { classes = [{ queue = \"red\" }, { queue = \"codel\" }] } }"),
    ("tfrc", "flows.stream.source=tfrc"),
    ("rap", "flows.stream.source=rap"),
];

/// Columns of a short sampled run beyond the common ones: of flows, then of links.
fn gauges(what: &str, sets: &[&str]) -> [Vec<&'static str>; 2] {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sets = sets.iter().chain(&["duration=3s", "warmup=0s", "sample=50ms"]);
    let sets: Vec<(String, String)> = sets.filter_map(|s| s.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let text = std::fs::read_to_string(root.join(MIXED)).unwrap();
    let scenario = resolve(&text, MIXED, Format::Toml, &sets).unwrap_or_else(|e| panic!("{what}: {e}"));
    let out = run_all(&scenario, &Options { seeds: vec![1], ..Options::default() }, &Progress::default()).unwrap().remove(0);
    [beyond(out.flow_series.unwrap(), FLOW_SERIES), beyond(out.link_series.unwrap(), LINK_SERIES)]
}

/// Columns beyond those of every series, which come first.
fn beyond<S>(table: SeriesTable, declared: &[Series<S>]) -> Vec<&'static str> {
    let names: Vec<&str> = table.names().to_vec();
    let always: Vec<&str> = declared.iter().filter(|s| s.feed == Feed::Sampler).map(|s| s.name).collect();
    assert_eq!(names[..always.len()], always);
    names[always.len()..].to_vec()
}

#[test]
fn gauges_and_their_declarations_are_the_same() {
    let queues = QueueSpec::NAMES.iter().map(|(name, _)| (*name, format!("topology.dumbbell.bottleneck.queue={name}")));
    let controls = CcParams::ALL.iter().map(|cc| (cc.name, format!("flows.tcp.tcp.cc={}", cc.name)));
    let more = MORE.iter().map(|(what, set)| (*what, (*set).to_owned()));
    let declared = |table: &str| -> BTreeSet<String> {
        let all = series_listing();
        let rows = all.as_array().unwrap().iter().filter(|s| s["table"] == table && s["feed"] == "gauge");
        rows.map(|s| s["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut silent = [declared("flow"), declared("link")];
    let known = silent.clone();
    // Those of real transport stacks, which this program may lack (tests/test_stacks.py).
    for own in ["pacing_rate", "target_rate"] {
        assert!(silent[0].remove(own));
    }
    for (what, set) in queues.chain(controls).chain(more) {
        for ((names, silent), known) in gauges(what, &[&set]).into_iter().zip(&mut silent).zip(&known) {
            for name in names {
                // A class also has the queue length of every link.
                let own = series_name(name).filter(|own| known.contains(*own) || LINK_SERIES.iter().any(|s| s.name == *own));
                match own {
                    Some(own) => _ = silent.remove(own),
                    None => unknown.entry(name.to_owned()).or_default().push(what.to_owned()),
                }
            }
        }
    }
    assert!(unknown.is_empty(), "gauges that crates/scenario/src/series.rs does not declare, and who hands them on: {unknown:?}");
    assert!(silent.iter().all(BTreeSet::is_empty), "gauges of flows and of links that are declared but never passed on: {silent:?}");
}

/// An idle link is skipped, but not the gauges of a queue installed meanwhile.
#[test]
fn a_queue_that_comes_while_its_link_rests_hands_on_its_gauges() {
    let text = r#"
        duration = "2s"
        sample = "50ms"
        [topology.dumbbell]
        pairs = 1
        bottleneck = { rate = "10Mbit/s", delay = "10ms", queue.droptail.limit = "100p" }
        [flows.tcp]
        from = "s0"
        to = "d0"
        start = "1800ms"
        tcp = "newreno"
        [[at]]
        time = "1s"
        set = { "links.bottleneck.queue" = "red" }
    "#;
    let scenario = resolve(text, "a test", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&scenario, &Options { seeds: vec![1], ..Options::default() }, &Progress::default()).unwrap().remove(0);
    let links = out.link_series.unwrap();
    let [times, avg] = ["time", "avg"].map(|name| links.column(name).unwrap());
    let told = times.iter().zip(&avg).filter(|(_, avg)| !avg.is_nan());
    let instants: Vec<f64> = told.map(|(time, _)| (time * 20.0).round()).collect();
    // In both directions.
    let want: Vec<f64> = (21..=40).flat_map(|at| [f64::from(at); 2]).collect();
    assert_eq!(instants, want);
}

#[test]
fn names_of_classes_and_tins_lead_to_their_declaration() {
    for (column, name) in [
        ("avg", Some("avg")),
        ("class3_avg", Some("avg")),
        ("flow12_class0_sojourn", Some("sojourn")),
        ("class1_queue", Some("queue")),
        ("tin7", Some("tin{i}")),
        ("tin", None),
        ("classy_avg", None),
        ("avg3", None),
        ("mine", None),
    ] {
        assert_eq!(series_name(column), name, "{column}");
    }
}

/// Figures and pages look up a unit by the name alone.
#[test]
fn a_name_has_one_unit_wherever_it_stands() {
    let mut units: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for list in [metrics_listing(), series_listing()] {
        for row in list.as_array().unwrap() {
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            assert!(!text("unit").is_empty() && text("doc").ends_with('.'), "{row}");
            units.entry(text("name")).or_default().insert(text("unit"));
        }
    }
    units.retain(|_, found| found.len() > 1);
    assert!(units.is_empty(), "{units:?}");
}
