//! Golden fingerprints: trajectories of a set of scenarios, as committed in `tests/golden/fingerprints.txt`. A change of one is a
//! change of results: it gets a commit of its own and a line under "Changed results" in CHANGELOG.md. [`RECORD`] writes those of new scenarios.

use fairlane_scenario::{Format, Options, Progress, QueueSpec, Resolved, RunOutput, SourceSpec, Table, resolve, run_all};
use fairlane_tcp::CcParams;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Scenario files with changes that shorten them.
const CASES: &[(&str, &[&str])] = &[
    ("python/fairlane/scenarios/P1.toml", &["duration=4s"]),
    ("python/fairlane/scenarios/P2.toml", &["duration=1500ms"]),
    ("python/fairlane/scenarios/P3.toml", &["duration=8s"]),
    ("python/fairlane/scenarios/P4.toml", &["duration=12s"]),
    ("python/fairlane/scenarios/P5.toml", &["duration=1ms"]),
    ("python/fairlane/scenarios/P6.toml", &["duration=50us"]),
    ("examples/quickstart.toml", &["duration=15s"]),
    ("examples/lan.toml", &["duration=15s"]),
    ("examples/parking_lot.toml", &["duration=15s"]),
    ("examples/custom_graph.toml", &["duration=15s"]),
    ("examples/tfrc.toml", &["duration=15s"]),
    ("examples/rap.toml", &["duration=15s"]),
    ("validation/ns2/scenarios/c1.toml", &["flows.tcp.tcp.cc=tahoe"]),
    ("validation/ns2/scenarios/c1.toml", &["flows.tcp.tcp.cc=reno"]),
    ("validation/ns2/scenarios/c1.toml", &["flows.tcp.tcp.cc=newreno"]),
    ("validation/ns2/scenarios/c1.toml", &["flows.tcp.tcp.cc=sack"]),
    ("validation/ns2/scenarios/c2-red.toml", &["duration=30s"]),
    ("validation/ns2/scenarios/c5-half-red.toml", &["duration=20s"]),
    ("examples/cellular.toml", &["duration=12s"]),
    ("examples/lossy.toml", &["duration=10s"]),
    ("examples/reordering.toml", &["duration=10s"]),
    ("examples/hidden_terminals.toml", &["duration=4s"]),
    ("examples/wireless_chain.toml", &["duration=10s"]),
    ("examples/wireless_house.toml", &["duration=8s"]),
    ("examples/wireless_mesh.toml", &["duration=8s"]),
    ("examples/replay.toml", &["duration=6s"]),
    ("examples/lan.toml", &["duration=8s", "topology.star.server.jitter=9ms"]),
    (
        "examples/lan.toml",
        &["duration=8s", "topology.star.server.jitter={ width = \"2ms\", distribution = \"normal\", keep_order = true }"],
    ),
    ("examples/lan.toml", &["duration=8s", "topology.star.server.rates=[{ at = \"4s\", rate = \"5Mbit/s\" }]"]),
    ("examples/leaf_spine.toml", &["duration=200ms", "warmup=0s"]),
    ("examples/grid.toml", &["duration=5s", "warmup=0s"]),
    ("examples/grid.toml", &["duration=5s", "warmup=0s", "topology=ring", "flows.tcp.count=8"]),
    ("examples/grid.toml", &["duration=5s", "warmup=0s", "topology=full_mesh", "flows.tcp.count=5"]),
    ("examples/grid.toml", &["duration=5s", "warmup=0s", "topology=tree", "flows.tcp.count=8", "flows.tcp.from=h{i}", "flows.tcp.to=h{i}"]),
    ("examples/random_networks.toml", &["duration=5s", "warmup=0s"]),
    ("examples/random_networks.toml", &["duration=5s", "warmup=0s", "route_by=delay"]),
    ("examples/random_networks.toml", &["duration=5s", "warmup=0s", "topology=random_geometric"]),
    ("examples/random_networks.toml", &["duration=5s", "warmup=0s", "topology=barabasi_albert"]),
    ("examples/failure.toml", &["duration=15s"]),
    ("examples/leaf_spine.toml", &["duration=200ms", "warmup=0s", "routing=ecmp_packets"]),
    ("examples/load.toml", &["duration=5s"]),
];

/// Every queue with its defaults, in the same mixed traffic.
fn queues() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let names = QueueSpec::NAMES.iter().map(|(name, _)| *name);
    names.map(|name| (name, "examples/mixed.toml", format!("topology.dumbbell.bottleneck.queue={name}")))
}

/// Every congestion control, in the default preset, in that of the RFCs and in that of Linux.
fn controls() -> impl Iterator<Item = (&'static str, [String; 2])> {
    let of = |name, preset: &str| (name, [format!("flows.tcp.tcp.preset={preset}"), format!("flows.tcp.tcp.cc={name}")]);
    CcParams::ALL.iter().flat_map(move |cc| ["modern", "rfc", "linux"].map(|preset| of(cc.name, preset)))
}

/// Every source with its defaults, over TCP unless it controls its rate, and over UDP unless it is a mere amount.
fn sources() -> impl Iterator<Item = (&'static str, String)> {
    // A replay needs a file; an example runs one.
    let names = SourceSpec::NAMES.iter().map(|(name, _)| *name).filter(|name| *name != "replay");
    names.flat_map(|name| {
        let flows = match name {
            "bulk" | "file" => &["tcp"][..],
            "tfrc" | "rap" => &["stream"],
            _ => &["tcp", "stream"],
        };
        flows.iter().map(move |flow| (name, format!("flows.{flow}.source={name}")))
    })
}

/// Writes the fingerprints again.
const RECORD: &str = "FAIRLANE_BLESS=1 cargo test -p fairlane-scenario --test golden";

const CONTROLS: &str = "examples/tcp_variants.toml";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str, sets: &[&str]) -> Resolved {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let sets: Vec<(String, String)> = sets.iter().filter_map(|s| s.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    // By its whole path, because data files are searched next to it.
    let name = root().join(file).display().to_string();
    resolve(&text, &name, Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Resolved, seeds: &[u64], threads: usize, hop_probe: bool) -> Vec<RunOutput> {
    run_all(scenario, &Options { seeds: seeds.to_vec(), threads, hop_probe, ..Options::default() }, &Progress::default()).unwrap()
}

fn fingerprints(runs: &[RunOutput]) -> Vec<u64> {
    runs.iter().map(|r| r.fingerprint).collect()
}

/// Equal to the bit; NaN equals NaN.
fn same(a: &Table, b: &Table) -> bool {
    let bits = |t: &Table| -> Vec<Vec<u64>> { t.numbers.iter().map(|(_, v)| v.iter().map(|x| x.to_bits()).collect()).collect() };
    a.text == b.text && bits(a) == bits(b)
}

#[test]
fn trajectories_are_the_committed_ones() {
    let stored = root().join("tests/golden/fingerprints.txt");
    let mut got = String::from("# scenario, changes, seed 1, fingerprint of the trajectory; see crates/scenario/tests/golden.rs\n");
    for (file, sets) in CASES {
        let out = &run(&read(file, sets), &[1], 1, false)[0];
        writeln!(got, "{file} {} {:016x}", sets.join(" "), out.fingerprint).unwrap();
    }
    for (queue, file, set) in queues() {
        let out = &run(&read(file, &[&set, "duration=8s", "warmup=0s"]), &[1], 1, false)[0];
        writeln!(got, "{file} queue={queue} {:016x}", out.fingerprint).unwrap();
    }
    for (_, set) in sources() {
        let out = &run(&read("examples/mixed.toml", &[&set, "duration=8s", "warmup=0s"]), &[1], 1, false)[0];
        writeln!(got, "examples/mixed.toml {set} {:016x}", out.fingerprint).unwrap();
    }
    for (_, [preset, cc]) in controls() {
        let out = &run(&read(CONTROLS, &[&preset, &cc, "duration=12s", "warmup=0s"]), &[1], 1, false)[0];
        writeln!(got, "{CONTROLS} {preset} {cc} {:016x}", out.fingerprint).unwrap();
    }
    if std::env::var_os("FAIRLANE_BLESS").is_some() {
        fs::create_dir_all(stored.parent().unwrap()).unwrap();
        fs::write(&stored, &got).unwrap();
    }
    let found = differences(&fs::read_to_string(&stored).unwrap(), &got);
    assert!(found.is_empty(), "{found}");
}

/// Differences from the recorded fingerprints, and the next step.
fn differences(recorded: &str, got: &str) -> String {
    let by_case = |text: &str| -> BTreeMap<String, String> {
        text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.rsplit_once(' ')).map(|(c, f)| (c.to_owned(), f.to_owned())).collect()
    };
    let (recorded, got) = (by_case(recorded), by_case(got));
    let mut found = String::new();
    let mut tell = |what: &str, cases: Vec<String>| {
        if !cases.is_empty() {
            writeln!(found, "{what}\n  {}", cases.join("\n  ")).unwrap();
        }
    };
    let changed = got.iter().filter_map(|(case, now)| {
        let before = recorded.get(case).filter(|before| *before != now)?;
        Some(format!("{case}: {before} is now {now}"))
    });
    tell("CHANGED results (a commit of its own, and a line under \"Changed results\" in CHANGELOG.md):", changed.collect());
    let only = |a: &BTreeMap<String, String>, b: &BTreeMap<String, String>| a.keys().filter(|c| !b.contains_key(*c)).cloned().collect();
    tell("NEW, without a record:", only(&got, &recorded));
    tell("VANISHED, on record but not run any more:", only(&recorded, &got));
    if !found.is_empty() {
        writeln!(found, "To record what is now: {RECORD}").unwrap();
    }
    found
}

#[test]
fn new_changed_and_vanished_cases_are_told_apart() {
    let recorded = "# heading\nx.toml queue=a 01\nx.toml queue=b 02\nx.toml queue=gone 03\n";
    assert_eq!(differences(recorded, recorded), "");
    let found = differences(recorded, "# other heading\nx.toml queue=a 01\nx.toml queue=b ff\nx.toml queue=new 04\n");
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines[0].starts_with("CHANGED") && lines[1] == "  x.toml queue=b: 02 is now ff", "{found}");
    assert!(lines[2].starts_with("NEW") && lines[3] == "  x.toml queue=new", "{found}");
    assert!(lines[4].starts_with("VANISHED") && lines[5] == "  x.toml queue=gone", "{found}");
    assert!(lines[6].contains(RECORD) && lines.len() == 7, "{found}");
}

/// Observers, the sampler and the number of threads change neither the trajectory nor any table.
#[test]
fn observers_samplers_and_threads_change_nothing() {
    for (file, sets) in CASES.iter().filter(|c| !c.0.contains("P6")) {
        let mut short: Vec<&str> = sets.to_vec();
        if sets.iter().all(|s| !s.starts_with("duration")) {
            short.push("duration=10s");
        }
        let scenario = read(file, &short);
        let plain = run(&scenario, &[1], 1, false);
        let probed = run(&scenario, &[1], 1, true);
        assert_eq!(fingerprints(&plain), fingerprints(&probed), "{file} {sets:?}: the hop probe changed the run");
        assert!(same(&plain[0].links, &probed[0].links), "{file} {sets:?}: the hop probe changed a table");
        let step = format!("sample={}ps", scenario.duration.as_ps() / 53);
        let sampled = read(file, &[&short[..], &[&step]].concat());
        assert_eq!(fingerprints(&plain), fingerprints(&run(&sampled, &[1], 1, false)), "{file} {sets:?}: sampling changed the run");
    }
    for (queue, file, set) in queues() {
        let scenario = read(file, &[&set, "duration=3s", "warmup=0s", "sample=50ms"]);
        let (plain, probed) = (run(&scenario, &[1], 1, false), run(&scenario, &[1], 1, true));
        assert_eq!(fingerprints(&plain), fingerprints(&probed), "{queue}: the hop probe changed the run");
        assert!(same(&plain[0].links, &probed[0].links), "{queue}: the hop probe changed a table");
    }
    for (source, set) in sources() {
        let scenario = read("examples/mixed.toml", &[&set, "duration=3s", "warmup=0s", "sample=50ms"]);
        let (plain, probed) = (run(&scenario, &[1], 1, false), run(&scenario, &[1], 1, true));
        assert_eq!(fingerprints(&plain), fingerprints(&probed), "{source}: the hop probe changed the run");
    }
    for (_, [preset, cc]) in controls() {
        let scenario = read(CONTROLS, &[&preset, &cc, "duration=3s", "warmup=0s", "sample=50ms"]);
        let (plain, probed) = (run(&scenario, &[1], 1, false), run(&scenario, &[1], 1, true));
        assert_eq!(fingerprints(&plain), fingerprints(&probed), "{preset} {cc}: the hop probe changed the run");
        let quiet = run(&read(CONTROLS, &[&preset, &cc, "duration=3s", "warmup=0s"]), &[1], 1, false);
        assert_eq!(fingerprints(&plain), fingerprints(&quiet), "{preset} {cc}: sampling changed the run");
    }
    let scenario = read("validation/ns2/scenarios/c2-red.toml", &["duration=10s"]);
    let seeds = [1, 2, 3, 4, 5];
    let one = run(&scenario, &seeds, 1, false);
    for threads in [2, 8] {
        let many = run(&scenario, &seeds, threads, false);
        assert_eq!(fingerprints(&one), fingerprints(&many), "{threads} threads");
        assert!(one.iter().zip(&many).all(|(a, b)| a.seed == b.seed && same(&a.flows, &b.flows)), "{threads} threads");
    }
    let mut distinct = fingerprints(&one);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), seeds.len(), "other seeds are other runs");
}
