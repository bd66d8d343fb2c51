//! Parallel runs: for any partition and number of threads, results equal those of the unsplit run to the bit.

use fairlane_engine::Stream;
use fairlane_scenario::{Format, Options, Parallel, Progress, QueueSpec, Resolved, RunOutput, SourceSpec, partition, resolve, run_all};
use fairlane_tcp::CcParams;
use std::fs;
use std::path::PathBuf;

fn go(scenario: &Resolved, parts: Parallel, threads: usize) -> RunOutput {
    let options = Options { seeds: vec![scenario.seed], threads, parts, ..Options::default() };
    run_all(scenario, &options, &Progress::default()).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// All results of a run, except its duration and the memory layout of its packets.
fn told(out: &RunOutput) -> String {
    let numbers = |t: &fairlane_scenario::Table| {
        let bits = |v: &Vec<f64>| v.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ");
        t.numbers.iter().map(|(name, v)| format!("{name}: {}\n", bits(v))).collect::<String>()
    };
    let tables = [&out.flows, &out.groups, &out.links, &out.network].map(numbers).concat();
    // Not the events: a packet that passes a port at once has no event there in the unsplit run.
    format!("fingerprint {:016x}\nhops {}\nwarnings {:?}\n{tables}", out.fingerprint, out.packet_hops, out.warnings)
}

#[track_caller]
fn same(whole: &RunOutput, parts: &RunOutput, what: &str) {
    let (a, b) = (told(whole), told(parts));
    if a != b {
        let differs: Vec<String> = a.lines().zip(b.lines()).filter(|(a, b)| a != b).map(|(a, b)| format!("- {a}\n+ {b}")).collect();
        panic!("{what}: in parts something else came out\n{}", differs.join("\n"));
    }
}

/// Runs a scenario whole, and in parts on these numbers of threads. Returns the number of parts.
fn check(scenario: &Resolved, threads: &[usize], what: &str) -> usize {
    let parts = partition(scenario, scenario.seed, None).unwrap()["parts"].as_array().unwrap().len();
    let whole = go(scenario, Parallel::Never, 1);
    if parts > 0 {
        for &n in threads {
            same(&whole, &go(scenario, Parallel::Always, n), &format!("{what} on {n} threads"));
        }
    }
    parts
}

fn file(path: &str, sets: &[(&str, &str)]) -> Resolved {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sets: Vec<(String, String)> = sets.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    resolve(&fs::read_to_string(root.join(path)).unwrap(), path, Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
}

/// The benchmarks, shortened: a dumbbell split at its bottleneck, and fat trees.
#[test]
fn benchmarks_are_the_same_in_parts() {
    for (path, duration, warmup, report) in
        [("P1", "4s", "1s", "flows"), ("P1", "4s", "1s", "groups"), ("P5", "1ms", "200us", "groups"), ("P6", "50us", "0s", "flows")]
    {
        let sets = [("duration", duration), ("warmup", warmup), ("report", report)];
        let scenario = file(&format!("python/fairlane/scenarios/{path}.toml"), &sets);
        let parts = check(&scenario, &[1, 2, 3, 16], path);
        assert!(parts >= 2, "{path} has {parts} parts");
    }
}

/// Parts are bundled for fewer threads, as many bundles as threads if loads are even, and each bundle consists of whole parts.
#[test]
fn fewer_threads_have_fewer_parts() {
    let even = file("python/fairlane/scenarios/P5.toml", &[]);
    let parts = |scenario: &Resolved, threads: Option<usize>| -> Vec<Vec<String>> {
        let told = partition(scenario, 1, threads).unwrap();
        let names = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()).collect();
        told["parts"].as_array().unwrap().iter().map(|p| names(&p["nodes"])).collect()
    };
    let all = parts(&even, None);
    assert_eq!([2, 3, 4, 8, 9].map(|n| parts(&even, Some(n)).len()), [2, 3, 4, all.len(), all.len()]);
    for threads in [2, 4] {
        let bundles = parts(&even, Some(threads));
        for part in &all {
            assert_eq!(bundles.iter().filter(|b| part.iter().any(|n| b.contains(n))).count(), 1, "a part is torn");
        }
    }
}

/// The decision whether several threads pay depends on the network, not on the number of threads: a run on four is split exactly if one on two is.
#[test]
fn whether_it_pays_is_one_answer() {
    let mut answers = Vec::new();
    for flows in ["16", "20", "24", "28", "32"] {
        let scenario = file("python/fairlane/scenarios/P5.toml", &[("duration", "100ms"), ("flows.tcp.count", flows)]);
        let whole = |threads: Option<usize>| partition(&scenario, 1, threads).unwrap()["whole"].clone();
        let all = whole(None);
        for threads in [1, 2, 3, 4, 8] {
            assert_eq!(whole(Some(threads)), all, "{flows} flows, {threads} threads");
        }
        answers.push(all.is_null());
    }
    assert!(answers.contains(&true) && answers.contains(&false), "{answers:?}");
}

/// A link whose delay follows a profile is never cut; the network is cut elsewhere, also where only a rate follows one, and results are the same.
#[test]
fn profiles_are_the_same_in_parts() {
    let text = "duration = \"2s\"\n\
                [links.p]\nfrom = \"a\"\nto = \"b\"\nrate = \"20Mbit/s\"\ndelay = \"10ms\"\n\
                [links.q]\nfrom = \"b\"\nto = \"c\"\nprofile = \"leo\"\n\
                [links.r]\nfrom = \"c\"\nto = \"d\"\ndelay = \"12ms\"\nprofile = { file = \"cable\", delays = false }\n\
                [flows.f]\nfrom = \"a\"\nto = \"d\"\ncount = 3\nspread = \"50ms\"\ntcp = \"cubic\"\n\
                [flows.g]\nfrom = \"d\"\nto = \"a\"\nudp = {}\nsource.poisson.rate = \"2Mbit/s\"\n";
    let scenario = resolve(text, "profiles.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let parts = check(&scenario, &[1, 2, 3], "profiles");
    assert!((2..=3).contains(&parts), "{parts} parts");
    let told = partition(&scenario, 1, None).unwrap();
    let home = |n: &str| told["parts"].as_array().unwrap().iter().position(|p| p["nodes"].as_array().unwrap().iter().any(|m| m == n));
    assert_eq!(home("b"), home("c"));
}

/// Picks one of several values.
fn pick<'a, T>(of: &'a [T], rng: &mut Stream) -> &'a T {
    &of[rng.below(of.len() as u64) as usize]
}

/// A random network: a chain, a tree or a mesh of different links, with every queue of the registry, and flows of every kind between its nodes.
fn drawn(number: u64) -> String {
    let rng = &mut Stream::new(number, "test", "apart", "network");
    let nodes = 3 + rng.below(8);
    let queues: Vec<&str> = QueueSpec::NAMES.iter().map(|(n, _)| *n).collect();
    let sources: Vec<&str> = SourceSpec::NAMES.iter().map(|(n, _)| *n).filter(|n| *n != "replay").collect();
    let names: Vec<String> = (0..nodes).map(|i| format!("\"n{i}\"")).collect();
    let warmup = pick(&["0s", "0s", "300ms"], rng);
    let mut text = format!("duration = \"1500ms\"\nwarmup = \"{warmup}\"\nseed = {number}\nnodes = [{}]\n", names.join(", "));
    let shape = rng.below(3);
    let mut links: Vec<(u64, u64)> = (1..nodes).map(|i| (if shape == 0 { i - 1 } else { rng.below(i) }, i)).collect();
    if shape == 2 {
        links.extend((0..nodes).map(|i| (i, (i + 2) % nodes)).filter(|(a, b)| a < b));
        links.sort_unstable();
        links.dedup();
    }
    for (k, (a, b)) in links.iter().enumerate() {
        let rate = pick(&["2Mbit/s", "3Mbit/s", "5Mbit/s", "8.1Mbit/s", "20Mbit/s"], rng);
        let delay = pick(&["0s", "1ms", "1ms", "2ms", "3.7ms", "10ms"], rng);
        let queue =
            if rng.uniform() < 0.5 { "droptail = { limit = \"12p\" }".to_owned() } else { format!("{} = {{}}", pick(&queues, rng)) };
        let loss = if rng.uniform() < 0.15 { "loss = 0.01\njitter = \"1ms\"\n" } else { "" };
        text +=
            &format!("[links.l{k}]\nfrom = \"n{a}\"\nto = \"n{b}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n{loss}queue = {{ {queue} }}\n");
    }
    for k in 0..2 + rng.below(6) {
        let from = rng.below(nodes);
        let to = (from + 1 + rng.below(nodes - 1)) % nodes;
        let start = rng.below(400);
        text += &format!("[flows.f{k}]\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{start}ms\"\n");
        let source = *pick(&sources, rng);
        if rng.uniform() < 0.6 {
            let cc = pick(CcParams::ALL, rng).name;
            let preset = pick(&["rfc", "linux", "ns2"], rng);
            let source = if matches!(source, "tfrc" | "rap") || rng.uniform() < 0.4 { "bulk" } else { source };
            let of = if source == "file" { "file = { size = \"60kB\" }".to_owned() } else { format!("{source} = {{}}") };
            text += &format!("tcp = {{ preset = \"{preset}\", cc = \"{cc}\" }}\nsource = {{ {of} }}\n");
        } else {
            let source = if matches!(source, "bulk" | "file") { "cbr" } else { source };
            text += &format!("udp = {{}}\nsource = {{ {source} = {{}} }}\n");
        }
    }
    text
}

/// Random networks with all queues, controls and sources, on one thread and on several.
#[test]
fn random_networks_are_the_same_in_parts() {
    let (mut cut, mut refused) = (0, 0);
    for number in 0..50 {
        let text = drawn(number);
        // The checks refuse inconsistent networks: then another is drawn.
        let Ok(scenario) = resolve(&text, "drawn.toml", Format::Toml, &[]) else {
            refused += 1;
            continue;
        };
        cut += usize::from(check(&scenario, &[1, 2, 3, 16], &format!("network {number}\n{text}")) > 1);
    }
    assert!(refused < 20 && cut > 25, "{refused} refused, {cut} cut");
}

/// A dumbbell with these settings of its bottleneck and flow, and others.
fn dumbbell(bottleneck: &str, flow: &str, rest: &str) -> Resolved {
    let text = format!(
        "duration = \"2s\"\n{rest}\n[topology.dumbbell]\npairs = 4\naccess = {{ rate = \"100Mbit/s\", delay = \"0s\" }}\n\
         bottleneck = {{ rate = \"10Mbit/s\", delay = \"10ms\", {bottleneck} }}\n\
         [flows.f]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = 4\n{flow}\n"
    );
    resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Features that read across the network without delay prevent a split, with a reason; the plain dumbbell is split in two at its bottleneck.
#[test]
fn what_cannot_be_cut_is_not() {
    let droptail = "queue.droptail.limit = \"50p\"";
    let plain = partition(&dumbbell(droptail, "tcp = {}", ""), 1, None).unwrap();
    assert_eq!((plain["parts"].as_array().unwrap().len(), &plain["window_s"]), (2, &serde_json::json!(0.01)), "{plain}");
    assert_eq!(plain["links"], serde_json::json!(["bottleneck", "bottleneck.reverse"]));
    let together = "links or flows that cannot be cut connect all nodes";
    for (bottleneck, flow, rest, why) in [
        ("queue.codel = {}", "tcp = {}", "", together),
        ("queue.droptail.limit = \"50p\"\nloss = 0.01", "tcp = {}", "", together),
        ("queue.droptail.limit = \"50p\"\njitter = \"1ms\"", "tcp = {}", "", together),
        (droptail, "tcp = {}\namount = \"100kB\"", "", together),
        (droptail, "tcp = {}\nsource.request_response = {}", "", together),
        (droptail, "tcp = {}", "sample = \"10ms\"", "time series are recorded"),
        (droptail, "tcp = {}", "routing = \"ecmp_packets\"", "routes change, or packets of a flow take several"),
        (
            droptail,
            "tcp = {}",
            "[[at]]\ntime = \"1s\"\nset.\"links.bottleneck.rate\" = \"5Mbit/s\"\n",
            "the network changes during the run",
        ),
        (droptail, "tcp = {}\nclass = 1\n[control.time_slots]", "", "a control opens and closes flows"),
    ] {
        let scenario = dumbbell(&bottleneck.replace('\n', ", "), flow, rest);
        let told = partition(&scenario, 1, None).unwrap();
        assert_eq!((told["whole"].as_str(), told["parts"].as_array().map(Vec::len)), (Some(why), Some(0)), "{bottleneck} {flow} {rest}");
        // With a forced split, it still runs unsplit.
        same(&go(&scenario, Parallel::Never, 1), &go(&scenario, Parallel::Always, 4), "in one piece");
    }
}
