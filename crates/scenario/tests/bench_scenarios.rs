//! The benchmark scenarios match their definitions, and run.

use fairlane_scenario::{Code, Format, Options, Progress, Resolved, resolve, run_all};
use fairlane_units::{Dur, Rate};
use std::path::PathBuf;

fn read(name: &str, sets: &[(&str, &str)]) -> Resolved {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../benches/scenarios", &format!("{name}.toml")].iter().collect();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let sets: Vec<(String, String)> = sets.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
    resolve(&text, name, Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
}

/// Hosts and switches, link directions, flows, duration: the numbers of the benchmark set.
#[test]
fn sizes_are_as_defined() {
    for (name, nodes, directions, flows, duration) in [
        ("P1", 34, 66, 16, Dur::from_secs(60)),
        ("P2", 2002, 4002, 1000, Dur::from_secs(10)),
        ("P3", 52, 102, 50, Dur::from_secs(100)),
        ("P4", 202, 402, 100, Dur::from_secs(60)),
        ("P5", 208, 768, 128, Dur::from_ms(10)),
        ("P5s", 208, 768, 128, Dur::from_secs(2)),
        ("P6", 1344, 6144, 1024, Dur::from_ms(2)),
        ("P7", 9472, 49_152, 8192, Dur::from_secs(4)),
        ("P8", 2, 2, 2, Dur::from_secs(5)),
        ("P9", 2, 2, 100_000, Dur::from_ms(100)),
        ("P10", 6, 10, 50_000, Dur::from_ms(200)),
    ] {
        let r = read(name, &[]);
        let e = &r.expanded;
        assert_eq!((e.nodes.len(), e.links.len(), e.flows.len(), r.duration), (nodes, directions, flows, duration), "{name}");
    }
    let p5 = read("P5", &[]);
    assert!(p5.expanded.links.iter().all(|l| l.wire.rate == Rate::from_mbps(10_000) && l.wire.delay == Dur::from_us(1)));
    assert!(p5.expanded.flows.iter().all(|m| m.from != m.to));
}

#[test]
fn each_runs_a_little_way_and_repeats_itself() {
    for name in ["P1", "P2", "P3", "P4", "P5", "P5s", "P6"] {
        let short = if matches!(name, "P5" | "P6") { "200us" } else { "300ms" };
        let mut sets = vec![("duration", short), ("flows.tcp.stagger", "0s")];
        if name == "P4" {
            sets.extend([("flows.cbr.start", "0s"), ("flows.cbr.stagger", "0s")]);
        }
        let r = read(name, &sets);
        let run = |seeds: Vec<u64>, threads| {
            run_all(&r, &Options { seeds, threads, ..Options::default() }, &Progress::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let (one, two) = (run(vec![1, 2], 1), run(vec![1, 2], 2));
        assert!(one[0].packet_hops > 1000, "{name}: {}", one[0].packet_hops);
        for (a, b) in one.iter().zip(&two) {
            assert_eq!((a.fingerprint, a.events), (b.fingerprint, b.events), "{name}");
        }
    }
}

/// Every scenario file of the project resolves; one with a stack that is not built in lacks this stack and nothing else.
#[test]
fn shipped_scenarios_resolve() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dirs = vec![root.join("benches"), root.join("examples"), root.join("papers")];
    let mut seen = 0;
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                // A folder with a plug-in has a scenario that needs its code: `tests/test_own_*.py` run those.
                if !["queue.py", "cc.py"].iter().any(|code| path.join(code).exists()) {
                    dirs.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Papers keep data in TOML files, too: only scenarios have flows.
                if text.contains("\n[flows.") {
                    let name = path.display().to_string();
                    let r = match resolve(&text, &name, Format::Toml, &[]) {
                        Ok(r) => r,
                        Err(e) if text.contains("\nstack.") && e.list.iter().all(|d| d.code == Code::StackMissing) => continue,
                        Err(e) => panic!("{e}"),
                    };
                    assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap_or_else(|e| panic!("{e}")), r, "{name}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 7, "{seen}");
}
