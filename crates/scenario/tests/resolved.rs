//! Contents of a resolved scenario, which resolves to itself.

use fairlane_scenario::{Format, Resolved, resolve, schema, watched};
use serde_json::{Value, json};

fn read(text: &str, sets: &[(&str, &str)]) -> Resolved {
    let sets: Vec<(String, String)> = sets.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
    resolve(text, "x.toml", Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
}

const DUMBBELL: &str = r#"
duration = "100s"
sample = "10ms"
[topology.dumbbell]
pairs = 5
left = { delay = "2ms" }
delays = ["1ms", "2ms", "3ms", "4ms", "5ms"]
bottleneck = { rate = "10Mbit/s", delay = "20ms", queue.red = { preset = "ns2", min = "10p" } }
[links.bottleneck]
queue.red.max = "30p"
reverse = { rate = "1Mbit/s" }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 4
stagger = "100ms"
spread = "10ms"
permute = true
tcp = { preset = "ns2", cc = "Newreno", window = "10000p" }
[flows.cbr]
from = "s4"
to = "d4"
udp = {}
source.cbr = { rate = "5Mbit/s", size = "1000B" }
"#;

#[test]
fn resolved_scenario_resolves_to_itself() {
    let first = read(DUMBBELL, &[]);
    for text in [first.to_json().to_string(), first.to_json_expanded().to_string()] {
        let second = Resolved::from_json(&text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(second, first);
        assert_eq!(second.to_json_expanded(), first.to_json_expanded());
    }
}

#[test]
fn layers_lie_over_one_another() {
    let v = read(DUMBBELL, &[("links.bottleneck.queue.red.max_p", "0.02"), ("seed", "7")]).to_json_expanded();
    let red = &v["expanded"]["links"][0]["queue"]["red"];
    // Builder's table, refinement, option, preset of the queue: the option is the strongest.
    assert_eq!((&red["min"], &red["max"], &red["max_p"], &red["measure"]), (&json!("10p"), &json!("30p"), &json!(0.02), &json!("bytes")));
    let names: Vec<&str> = v["expanded"]["links"].as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names[..4], ["bottleneck", "bottleneck.reverse", "s0", "s0.reverse"]);
    let reverse = &v["expanded"]["links"][1];
    assert_eq!(
        (&reverse["rate"], &reverse["delay"], &reverse["queue"]),
        (&json!("1Mbit/s"), &json!("20ms"), &v["expanded"]["links"][0]["queue"])
    );
    let s2 = &v["expanded"]["links"][10];
    assert_eq!((&s2["name"], &s2["delay"], &s2["rate"]), (&json!("s2"), &json!("3ms"), &json!("100Mbit/s")));
    assert_eq!(v["seed"], 7);
    // Another algorithm replaces the builder's.
    let v = read(DUMBBELL, &[("links.bottleneck.queue", "droptail")]).to_json_expanded();
    assert!(v["expanded"]["links"][0]["queue"].get("droptail").is_some());
}

#[test]
fn flows_are_complete() {
    let r = read(DUMBBELL, &[]);
    let v = r.to_json_expanded();
    let tcp = &v["flows"]["tcp"]["tcp"];
    assert_eq!(
        (&tcp["preset"], &tcp["cc"], &tcp["window"], &tcp["ack_every"]),
        (&json!("ns2"), &json!("newreno"), &json!("10000p"), &json!(1))
    );
    assert_eq!(v["flows"]["tcp"]["source"], json!({"bulk": {}}));
    let members: Vec<(&str, &str)> = r.expanded.flows.iter().map(|m| (m.name.as_str(), r.expanded.node(m.from))).collect();
    assert_eq!(members, [("tcp.0", "s0"), ("tcp.1", "s1"), ("tcp.2", "s2"), ("tcp.3", "s3"), ("cbr", "s4")]);
    for (i, m) in r.expanded.flows[..4].iter().enumerate() {
        assert_ne!(r.expanded.node(m.to), format!("d{i}"));
        let start = m.start.as_secs_f64() - 0.1 * i as f64;
        assert!((0.0..0.01).contains(&start), "{start}");
    }
}

#[test]
fn warnings_name_what_is_doubtful() {
    let short = read(DUMBBELL, &[("duration", "1s"), ("sample", "100ms"), ("flows.tcp.tcp.window", "5p")]);
    let all = short.warnings.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join("\n");
    for part in ["less than 50 round-trip times", "coarser than the round-trip time", "the window limits it"] {
        assert!(all.contains(part), "{part} not in {all}");
    }
    assert_eq!(read(DUMBBELL, &[]).warnings, Vec::new());
}

#[test]
fn json_is_the_same_tree() {
    let text = r#"{"duration": "10s", "links": {"l": {"from": "a", "to": "b", "rate": "1Mbit/s", "delay": "5ms", "queue": "RED"}},
        "flows": {"f": {"from": "a", "to": "b", "tcp": "newreno", "stop": null}}}"#;
    let r = resolve(text, "x.json", Format::Json, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(r.expanded.nodes, ["a", "b"]);
    assert_eq!(r.expanded.links.len(), 2);
    assert!(r.to_json()["links"]["l"]["queue"].get("red").is_some());
}

#[test]
fn schema_describes_every_parameter() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut bare = Vec::new();
    for (name, def) in schema["$defs"].as_object().unwrap() {
        for (key, property) in def["properties"].as_object().into_iter().flatten() {
            let described = property.get("description").is_some_and(Value::is_string);
            if !described {
                bare.push(format!("{name}.{key}"));
            }
        }
    }
    assert_eq!(bare, Vec::<String>::new());
}

/// A large network records the links between routers and those the user names; a small one records all.
#[test]
fn series_of_large_networks_are_those_of_interest() {
    let small = read(DUMBBELL, &[]);
    assert_eq!(watched(&small.scenario, &small.expanded.nodes, &small.expanded.links).len(), 22);
    let text = DUMBBELL.replace("pairs = 5", "pairs = 500").replace("delays = [\"1ms\", \"2ms\", \"3ms\", \"4ms\", \"5ms\"]", "");
    let large = read(&text, &[("links.s7.delay", "9ms")]);
    let interesting = watched(&large.scenario, &large.expanded.nodes, &large.expanded.links);
    let names: Vec<&str> = interesting.iter().map(|&i| large.expanded.links[i].name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "bottleneck.reverse", "s7", "s7.reverse"]);
}

/// Permutations and random starts follow the seed of the run; everything else stays.
#[test]
fn members_follow_the_seed_of_the_run() {
    let r = read(DUMBBELL, &[]);
    assert_eq!(*r.members_at(1), *r.flow_members());
    let other = r.members_at(2);
    assert_ne!(other[0].start, r.flow_members()[0].start);
    for (a, b) in other.iter().zip(r.flow_members()) {
        assert_eq!((&a.name, &a.from, a.stop), (&b.name, &b.from, b.stop));
    }
}

/// An automatic value over a preset that sets it.
#[test]
fn automatic_values_can_be_asked_for() {
    let v = read(DUMBBELL, &[("flows.tcp.tcp.recovery_burst", "off"), ("links.bottleneck.queue.red.min", "auto")]).to_json();
    assert!(v["flows"]["tcp"]["tcp"]["recovery_burst"].is_null());
    assert!(v["links"]["bottleneck"]["queue"]["red"]["min"].is_null());
}

/// An option changes an element of the list of classes, wherever the queue was written; without a list there it is an error.
#[test]
fn options_reach_into_lists() {
    let text = "duration = \"1s\"\n[topology.dumbbell]\npairs = 1\naccess = { rate = \"100Mbit/s\", delay = \"1ms\" }\n\
                [topology.dumbbell.bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n\
                queue.wrr = { classes = [{ match = \"tcp\", queue.red = { min = \"5p\" } }, { match = \"udp\" }] }\n\
                [flows.f]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {}\n";
    let with = |path: &str, value: &str| resolve(text, "x.toml", Format::Toml, &[(path.to_owned(), value.to_owned())]);
    for root in ["topology.dumbbell.bottleneck", "links.bottleneck"] {
        let r = with(&format!("{root}.queue.wrr.classes.0.weight"), "3").unwrap_or_else(|e| panic!("{e}"));
        let r = [r, with(&format!("{root}.queue.wrr.classes.0.queue.red.max"), "17p").unwrap_or_else(|e| panic!("{e}"))];
        let class = |r: &Resolved| serde_json::to_value(&r.link_directions()[0].wire.queue).unwrap()["wrr"]["classes"][0].clone();
        assert_eq!((class(&r[0])["weight"].clone(), class(&r[0])["queue"]["red"]["min"].clone()), (3.into(), "5p".into()), "{root}");
        assert_eq!((class(&r[1])["weight"].clone(), class(&r[1])["queue"]["red"]["max"].clone()), (1.into(), "17p".into()), "{root}");
        let e = with(&format!("{root}.queue.wrr.classes.2.weight"), "3").unwrap_err().to_string();
        assert!(e.contains("list"), "{e}");
        let e = with(&format!("{root}.queue.wrr.classes.0.weight"), "\"x\"").unwrap_err().to_string();
        assert!(e.contains("expected an integer"), "{e}");
    }
    let e = with("links.bottleneck.queue.prio.classes.0.match", "\"any\"").unwrap_err().to_string();
    assert!(e.contains("no such list"), "{e}");
}

/// The output of a resolved scenario needs no checks to be read back unchanged.
#[test]
fn a_whole_scenario_is_read_as_it_was_written() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let Ok(first) = resolve(&text, &file.display().to_string(), Format::Toml, &[]) else { continue };
        let json = first.to_json().to_string();
        let whole = Resolved::from_whole(&json).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert_eq!(whole, Resolved::from_json(&json).unwrap(), "{}", file.display());
        assert_eq!(whole.to_json_expanded(), first.to_json_expanded(), "{}", file.display());
        read += 1;
    }
    assert!(read > 20, "{read} examples");
    // Exact to the last digit.
    for i in 1..500_u32 {
        let mut tree = self::read(DUMBBELL, &[]).to_json();
        tree["flows"]["tcp"]["active"] = (f64::from(i) / 499.0 * 0.987_654_321).into();
        let json = tree.to_string();
        assert_eq!(Resolved::from_whole(&json).unwrap(), Resolved::from_json(&json).unwrap(), "{i}");
    }
    for not in ["", "[1]", "{\"duration\": \"1s\", \"nonsense\": 1}"] {
        assert!(Resolved::from_whole(not).is_err(), "{not}");
    }
}
