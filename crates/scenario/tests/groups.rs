//! `report = "groups"`: the row of a group combines the rows of its flows, and nothing else in the result changes.

use fairlane_scenario::{Columns, FLOW_METRICS, Format, Options, Pooled, Progress, Resolved, RunError, RunOutput, jain, resolve, run_all};
use std::fs;
use std::path::PathBuf;

fn read(path: &str, sets: &[(&str, &str)]) -> Resolved {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let sets: Vec<(String, String)> = sets.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    resolve(&fs::read_to_string(&file).unwrap(), &file.to_string_lossy(), Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
}

fn go(scenario: &Resolved, hop_probe: bool) -> RunOutput {
    let options = Options { seeds: vec![3], threads: 1, hop_probe, ..Options::default() };
    run_all(scenario, &options, &Progress::default()).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn of<'a>(table: &'a Columns, name: &str) -> &'a [f64] {
    &table.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("no column {name}")).1
}

fn bits(table: &Columns) -> Vec<(&'static str, Vec<u64>)> {
    table.iter().map(|(name, v)| (*name, v.iter().map(|x| x.to_bits()).collect())).collect()
}

/// Examples with many groups and kinds of flows, cut short: TCP and UDP, pages and requests, transfers that end, marks, losses, wireless
/// stations, rate controls, controls of flows at their source.
const EXAMPLES: [(&str, &str); 12] = [
    ("mixed", "6s"),
    ("lan", "4s"),
    ("web", "20s"),
    ("request_response", "4s"),
    ("transfers", "20s"),
    ("ecn", "4s"),
    ("lossy", "6s"),
    ("voip", "4s"),
    ("tfrc", "6s"),
    ("load", "3s"),
    ("time_slots", "4s"),
    ("wireless_house", "2s"),
];

#[test]
fn a_group_is_what_its_flows_are_together() {
    for (name, duration) in EXAMPLES {
        let path = format!("examples/{name}.toml");
        let sets = [("duration", duration), ("warmup", "500ms"), ("report", "flows")];
        let by_flow = read(&path, &sets);
        let by_group = read(&path, &[sets[0], sets[1], ("report", "groups")]);
        let (flows, groups) = (go(&by_flow, true), go(&by_group, true));
        assert_eq!(flows.fingerprint, groups.fingerprint, "{name}");
        assert_eq!((bits(&flows.links.numbers), flows.warnings), (bits(&groups.links.numbers), groups.warnings), "{name}");
        assert_eq!(bits(&flows.network.numbers), bits(&groups.network.numbers), "{name}");
        assert!(flows.groups.numbers.is_empty() && groups.flows.numbers.is_empty() && groups.flows.text.is_empty());
        assert!(groups.flow_series.is_none());

        let members = by_flow.members_at(3);
        let names: Vec<&str> = by_flow.scenario.flows.keys().map(String::as_str).collect();
        assert_eq!(groups.groups.text[0].1, names, "{name}");
        for (g, group) in names.iter().enumerate() {
            // Tables exclude reserved members.
            let own: Vec<usize> = (0..flows.flows.text[0].1.len())
                .filter(|&i| members.iter().any(|m| m.name == flows.flows.text[0].1[i] && m.group == *group))
                .collect();
            let each = |metric: &str| own.iter().map(|&i| of(&flows.flows.numbers, metric)[i]).collect::<Vec<f64>>();
            let told = |metric: &str| of(&groups.groups.numbers, metric)[g];
            let at = |metric: &str| format!("{name}, group {group}: {metric}");
            let near = |metric: &str, a: f64, b: f64| {
                assert!((a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()), "{}: {a} and {b}", at(metric));
            };
            assert_eq!(told("flows"), own.len() as f64, "{}", at("flows"));
            for m in FLOW_METRICS {
                let values = each(m.name);
                let there: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
                let sum: f64 = there.iter().fold(0.0, |a, b| a + b);
                match m.pooled.unwrap() {
                    // Counts are integers with exact sums; the last digit of rates and times may differ.
                    Pooled::Sum if matches!(m.unit, "packets" | "count") && m.name != "rebufferings" => {
                        assert_eq!(told(m.name), sum, "{}", at(m.name))
                    }
                    Pooled::Sum if there.is_empty() => assert!(told(m.name).is_nan(), "{}", at(m.name)),
                    Pooled::Sum => near(m.name, told(m.name), sum),
                    Pooled::Mean if there.is_empty() => assert!(told(m.name).is_nan(), "{}", at(m.name)),
                    Pooled::Mean => near(m.name, told(m.name), sum / there.len() as f64),
                    Pooled::Null => assert!(told(m.name).is_nan(), "{}", at(m.name)),
                    // A value over all packets lies between the smallest and the largest of the flows; a deviation may be larger, and
                    // percentiles use buckets 1/64 of their value wide.
                    Pooled::All => {
                        let (least, most) = there.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
                        assert_eq!(told(m.name).is_nan(), there.is_empty(), "{}", at(m.name));
                        let room = if m.name.contains("_p") { 1.0 / 32.0 } else { 1e-12 } * most.abs();
                        let above = m.name == "delay_std" || told(m.name) <= most + room;
                        assert!(
                            there.is_empty() || (told(m.name) >= least - room && above),
                            "{}: {} of {there:?}",
                            at(m.name),
                            told(m.name)
                        );
                    }
                }
            }
            // Means over packets are the flows' means weighted by packets; the deviation is that of the whole.
            let packets = each("packets_received");
            let weighted = |values: &[f64]| -> f64 {
                values.iter().zip(&packets).filter(|(_, n)| **n > 0.0).map(|(v, n)| v * n).sum::<f64>() / packets.iter().sum::<f64>()
            };
            let (means, stds) = (each("delay_mean"), each("delay_std"));
            if packets.iter().sum::<f64>() > 0.0 {
                let mean = weighted(&means);
                assert!((told("delay_mean") / mean - 1.0).abs() < 1e-12, "{}", at("delay_mean"));
                let squares: Vec<f64> = means.iter().zip(&stds).map(|(m, s)| s * s + m * m).collect();
                let std = (weighted(&squares) - mean * mean).max(0.0).sqrt();
                assert!((told("delay_std") - std).abs() < 1e-6 * mean, "{}: {} and {std}", at("delay_std"), told("delay_std"));
                assert_eq!(told("delay_max"), each("delay_max").into_iter().fold(f64::NAN, f64::max), "{}", at("delay_max"));
            }
            let decided = told("packets_lost") + told("packets_received");
            assert_eq!(told("loss"), told("packets_lost") / decided.max(1.0), "{}", at("loss"));
            // Fairness uses the goodput of each flow relative to the mean at the same bottleneck: exact to the bit with one bottleneck.
            let (goodputs, fair) = (each("goodput"), each("fair_share"));
            if fair.iter().all(|f| *f == fair[0]) {
                assert_eq!(told("jain").to_bits(), jain(&goodputs).to_bits(), "{}", at("jain"));
            } else {
                let mean = |f: f64| {
                    let same = || goodputs.iter().zip(&fair).filter(move |(_, other)| **other == f);
                    same().map(|(g, _)| g).sum::<f64>() / same().count() as f64
                };
                let shares: Vec<f64> = goodputs.iter().zip(&fair).map(|(g, f)| if *g == 0.0 { 0.0 } else { g / mean(*f) }).collect();
                near("jain", told("jain"), jain(&shares));
            }
            near("goodput_mean", told("goodput_mean"), goodputs.iter().sum::<f64>() / goodputs.len() as f64);
            assert_eq!(told("goodput_min"), goodputs.iter().copied().fold(f64::NAN, f64::min), "{}", at("goodput_min"));
            assert_eq!(told("goodput_max"), goodputs.iter().copied().fold(f64::NAN, f64::max), "{}", at("goodput_max"));
            let mut times: Vec<f64> = each("completion_time").into_iter().filter(|t| !t.is_nan()).collect();
            times.sort_by(f64::total_cmp);
            assert_eq!(told("completed"), times.len() as f64, "{}", at("completed"));
            if !times.is_empty() {
                // The rank of a percentile is between two flows; buckets are 1/64 of their value wide.
                for (metric, q) in [("completion_time_p50", 0.50), ("completion_time_p95", 0.95), ("completion_time_p99", 0.99)] {
                    let rank = q * times.len() as f64;
                    let (low, high) = (times[(rank.ceil() as usize).max(1) - 1], times[(rank.floor() as usize).min(times.len() - 1)]);
                    let (low, high) = (low.min(high), low.max(high));
                    assert!(told(metric) >= low * (1.0 - 1.0 / 32.0) && told(metric) <= high * (1.0 + 1.0 / 32.0), "{}", at(metric));
                }
            }
        }
    }
}

/// A percentile of a group covers all its packets: here two very different groups, in one and separately.
#[test]
fn percentiles_are_those_of_all_packets() {
    let text = |flows: &str| {
        format!(
            "duration = \"10s\"\nreport = \"groups\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\n\
             [links.y]\nfrom = \"c\"\nto = \"d\"\nrate = \"10Mbit/s\"\ndelay = \"100ms\"\n{flows}"
        )
    };
    let flow = |name: &str, from: &str, to: &str, rate: &str| {
        format!("[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nudp = {{}}\nsource.cbr = {{ rate = \"{rate}\" }}\n")
    };
    let near = flow("near", "a", "b", "3Mbit/s") + &flow("far", "c", "d", "1Mbit/s");
    let apart = run(&text(&near));
    let p = |out: &RunOutput, metric: &str| of(&out.groups.numbers, metric).to_vec();
    let (means, sent) = (p(&apart, "delay_mean"), p(&apart, "packets_received"));
    let both = "[flows.both]\ntcp = \"reno\"\nsource.file = { size = \"30kB\" }\npairs.matrix = { demands = [{ from = \"a\", to = \"b\" }, { from = \"c\", to = \"d\" }] }\n";
    assert!((means[1] - means[0] - 0.099).abs() < 1e-3 && (sent[0] / sent[1] - 3.0).abs() < 0.1, "{means:?} {sent:?}");
    let both = run(&text(both));
    let value = |metric: &str| of(&both.groups.numbers, metric)[0];
    // Half of the packets take some milliseconds, half more than a hundred: no flow has such a median and 95th percentile.
    assert!(value("delay_p50") < 0.05 && value("delay_p95") > 0.1 && value("flows") == 2.0 && value("completed") == 2.0);
    assert!(value("completion_time_p50") < 0.1 && value("completion_time_p99") > 0.3, "{}", value("completion_time_p99"));
}

fn run(text: &str) -> RunOutput {
    go(&resolve(text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}\n{text}")), false)
}

/// Reserved members do not count as flows of their group, and a group without flows has a row.
#[test]
fn room_for_flows_is_no_flow() {
    let sets = [("report", "groups"), ("topology.dumbbell.pairs", "9"), ("flows.tcp.room", "9")];
    let out = go(&read("examples/quickstart.toml", &sets[..2]), false);
    let roomy = go(&read("examples/quickstart.toml", &sets), false);
    let count = |out: &RunOutput| of(&out.groups.numbers, "flows").iter().sum::<f64>();
    assert_eq!(count(&out), count(&roomy));
}

/// Only links have series.
#[test]
fn groups_have_no_series_of_flows() {
    let sampled = |report| {
        go(&read("examples/quickstart.toml", &[("sample", "100ms"), ("duration", "5s"), ("warmup", "1s"), ("report", report)]), false)
    };
    let (flows, groups) = (sampled("flows"), sampled("groups"));
    assert_eq!(flows.fingerprint, groups.fingerprint);
    let (a, b) = (flows.link_series.unwrap(), groups.link_series.unwrap());
    assert!(flows.flow_series.is_some() && groups.flow_series.is_none());
    assert_eq!(a.names(), b.names());
    for name in a.names() {
        assert_eq!(format!("{:?}", a.column(name).unwrap()), format!("{:?}", b.column(name).unwrap()), "{name}");
    }
}

/// Limits are reported per flow.
#[test]
fn why_needs_flows() {
    let scenario = read("examples/quickstart.toml", &[("report", "groups")]);
    let options = Options { seeds: vec![1], threads: 1, why: true, ..Options::default() };
    assert_eq!(run_all(&scenario, &options, &Progress::default()).unwrap_err(), RunError::NoFlowRows);
}

/// Short flows that end before and after the warm-up, last until the end, or never begin; some stop, some are calls or videos.
const SHORT: &str = r#"
duration = "4s"
warmup = "1500ms"
[links.line]
from = "a"
to = "b"
rate = "5Mbit/s"
delay = "5ms"
loss = 0.02
duplicate = 0.01
queue.droptail.limit = "30p"
[flows.short]
from = "a"
to = "b"
count = 300
stagger = "12ms"
amount = "20kB"
tcp = { fast_open = "cookie" }
[flows.pulse]
from = "b"
to = "a"
count = 40
spread = "2s"
stop = "2500ms"
udp = {}
source.cbr = { rate = "60kbit/s", size = "200B" }
[flows.call]
from = "a"
to = "b"
count = 3
stagger = "500ms"
stop = "3s"
udp = {}
source.voip = {}
[flows.page]
from = "a"
to = "b"
count = 3
stagger = "700ms"
tcp = {}
source.web = {}
"#;

/// A flow that is built when it begins, and freed when it has ended, counts as one that is there all the time: the hop probe needs all flows from the start.
#[test]
fn short_flows_count_as_long_ones() {
    let short = |report: &str| {
        let sets = [("report".to_owned(), report.to_owned())];
        resolve(SHORT, "short.toml", Format::Toml, &sets).unwrap_or_else(|e| panic!("{e}"))
    };
    let example = |name: &str, duration: &str, report: &str| {
        read(&format!("examples/{name}.toml"), &[("duration", duration), ("warmup", "500ms"), ("report", report)])
    };
    for report in ["flows", "groups"] {
        let examples = EXAMPLES.iter().map(|(name, duration)| (*name, example(name, duration, report)));
        for (name, scenario) in examples.chain([("short", short(report))]) {
            let [begun, there] = [false, true].map(|hop_probe| go(&scenario, hop_probe));
            assert_eq!((begun.fingerprint, &begun.warnings), (there.fingerprint, &there.warnings), "{name}");
            for (a, b) in [
                (&begun.flows, &there.flows),
                (&begun.groups, &there.groups),
                (&begun.links, &there.links),
                (&begun.network, &there.network),
            ] {
                let own = |t: &Columns| bits(t).into_iter().filter(|(column, _)| *column != "router_path_delay_mean").collect::<Vec<_>>();
                assert_eq!(a.text, b.text, "{name}");
                assert_eq!(own(&a.numbers), own(&b.numbers), "{name}, {report}");
            }
        }
    }
}
