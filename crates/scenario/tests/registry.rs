//! Every entry of the registry is listed, reads back, builds and runs.

use fairlane_net::LinkInfo;
use fairlane_queue::Discipline;
use fairlane_scenario::{
    Format, Options, Progress, QueueSpec, Resolved, SourceSpec, TopologySpec, presets_listing, registry_listing, resolve, run_all,
};
use fairlane_units::{Dur, Rate};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn scenario(queue: &str, flow: &str) -> Result<Resolved, String> {
    let text = format!(
        "duration = \"2s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\nqueue.{queue} = {{}}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    resolve(&text, "x.toml", Format::Toml, &[]).map_err(|e| e.to_string())
}

/// Maximum over some runs.
fn delivered_in(r: &Resolved, seeds: Vec<u64>) -> f64 {
    let out = run_all(r, &Options { seeds, threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    out.iter().map(|o| o.flows.numbers.iter().find(|c| c.0 == "goodput").unwrap().1[0]).fold(0.0, f64::max)
}

#[test]
fn every_name_and_alias_runs() {
    for l in registry_listing() {
        assert!(!l.doc.is_empty(), "{} {} has no doc", l.kind, l.name);
        for name in std::iter::once(&l.name).chain(l.aliases) {
            let quoted = format!("\"{name}\"");
            let r = match l.kind {
                "queue" => scenario(&quoted, "tcp = \"newreno\""),
                "cc" => scenario("droptail", &format!("tcp = {quoted}")),
                "source" if matches!(l.name, "bulk" | "file") => scenario("droptail", &format!("tcp = {{}}\nsource = {quoted}")),
                // It needs a recording: two packets, 10 ms apart, repeated.
                "source" if l.name == "replay" => {
                    let file = "data:,0 1000 1028 10000000 1000 1028";
                    scenario("droptail", &format!("udp = {{}}\nsource = {{ {quoted} = {{ file = \"{file}\", repeat = true }} }}"))
                }
                "source" => scenario("droptail", &format!("udp = {{}}\nsource = {quoted}")),
                _ => continue,
            };
            let r = r.unwrap_or_else(|e| panic!("{} {name}: {e}", l.kind));
            // A voice call or an occasional page is less than a TCP flow under a queue, and may be silent in one run.
            let (least, seeds) = if l.kind == "source" { (0.01e6, vec![1, 2, 3, 4]) } else { (0.5e6, vec![1]) };
            let got = delivered_in(&r, seeds);
            assert!(got > least, "{} {name}: {got}", l.kind);
            assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r, "{} {name}", l.kind);
        }
    }
}

#[test]
fn specs_read_what_they_write() {
    let link = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(5) };
    for q in QueueSpec::all() {
        assert_eq!(q.check(&link.into()), Ok(()), "{}", q.name());
        let json = serde_json::to_value(&q).unwrap();
        assert_eq!(json.as_object().unwrap().keys().next().unwrap(), q.name());
        assert_eq!(serde_json::from_value::<QueueSpec>(json).unwrap(), q);
    }
    for s in SourceSpec::all() {
        assert_eq!(serde_json::from_value::<SourceSpec>(serde_json::to_value(&s).unwrap()).unwrap(), s);
    }
    for t in TopologySpec::all() {
        assert_eq!(serde_json::from_value::<TopologySpec>(serde_json::to_value(&t).unwrap()).unwrap(), t);
    }
}

/// An algorithm without a line in a registry is unavailable, and the compiler does not notice.
#[test]
fn every_algorithm_is_registered() {
    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            match entry.is_dir() {
                true => sources(&entry, found),
                false => found.push(fs::read_to_string(&entry).unwrap()),
            }
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (ours, of_tcp) = ("src/registry.rs", "../tcp/src/cc/registry.rs");
    for (folder, of, list, least) in [
        ("../queue/src", " Discipline for ", ours, 36),
        ("../tcp/src/cc", " Algorithm for ", of_tcp, 16),
        ("../traffic/src", " Source for ", ours, 13),
        ("../traffic/src", " Controller for ", ours, 2),
    ] {
        let registry = fs::read_to_string(here.join(list)).unwrap();
        let mut found = Vec::new();
        sources(&here.join(folder), &mut found);
        let code = found.iter().flat_map(|text| text.lines()).filter(|l| l.starts_with("impl"));
        let parameters: Vec<&str> = code.filter_map(|l| l.split_once(of)).filter_map(|(_, rest)| rest.split([' ', '<']).next()).collect();
        let missing: Vec<&&str> = parameters.iter().filter(|p| !registry.contains(&format!("::{p}"))).collect();
        assert!(missing.is_empty(), "crates/scenario/{list} has no line with {missing:?}");
        assert!(parameters.len() >= least, "only {parameters:?} were found");
    }
}

#[test]
fn every_preset_is_accepted() {
    for p in presets_listing() {
        let (queue, tcp) = match p.kind {
            "queue" => (format!("queue.{} = {{ preset = \"{}\" }}", p.algorithm, p.name), "{}".to_owned()),
            _ => (String::new(), format!("{{ preset = \"{}\" }}", p.name)),
        };
        let text = format!(
            "duration = \"2s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n{queue}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = {tcp}\n"
        );
        let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{} {}: {e}", p.algorithm, p.name));
        // Each value of the preset appears in the resolved scenario.
        let v = r.to_json();
        let at = if p.kind == "queue" { &v["links"]["l"]["queue"][p.algorithm] } else { &v["flows"]["f"]["tcp"] };
        // For TCP, the preset's values for its algorithm take precedence.
        let own = p.values.get("cc").and_then(|cc| p.with.get(cc.as_str()?)).and_then(Value::as_object);
        for (key, value) in &p.values {
            let value = own.and_then(|own| own.get(key)).unwrap_or(value);
            if key == "cc" {
                continue; // an algorithm's name stands for a table of its parameters
            }
            assert_eq!(&at[key], value, "{} {} {key}", p.algorithm, p.name);
        }
    }
}
