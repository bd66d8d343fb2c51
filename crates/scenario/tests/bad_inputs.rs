//! Table of user mistakes: each input gives these findings, with place and hint.

use fairlane_scenario::{Format, MOST_REPORTED, resolve, resolve_bytes};

/// A valid scenario; the cases replace or add one line.
const GOOD: &str = r#"duration = "10s"
[topology.dumbbell]
pairs = 2
bottleneck = { rate = "10Mbit/s", delay = "20ms", queue.droptail.limit = "50p" }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 2
tcp = "newreno"
"#;

/// (what, text to replace, replacement, line:column-end_column, path, part of the message, part of the help)
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("unknown key", "pairs = 2", "pars = 2", "3:1-5", "topology.dumbbell.pars", "unknown key `pars`", "did you mean `pairs`?"),
    ("key of another tool", "rate = \"10Mbit/s\"", "bandwidth = \"10Mbit/s\"", "4:16-25", "topology.dumbbell.bottleneck.bandwidth", "unknown key `bandwidth`", "the key is called `rate`"),
    ("unknown parameter of a queue", "droptail.limit", "droptail.limt", "4:66-70", "topology.dumbbell.bottleneck.queue.droptail.limt", "unknown key `limt`", "did you mean `limit`?"),
    ("unknown algorithm", "droptail.limit = \"50p\"", "rde = {}", "4:57-60", "topology.dumbbell.bottleneck.queue", "unknown queue \"rde\"", "did you mean `red`?"),
    ("two algorithms", "queue.droptail.limit = \"50p\"", "queue = { red = {}, droptail = {} }", "4:59-86", "topology.dumbbell.bottleneck.queue", "expected one queue, found red and droptail", "queue = \"droptail\""),
    ("unknown control", "\"newreno\"", "\"newrenno\"", "9:7-17", "flows.tcp.tcp.cc", "unknown congestion control \"newrenno\"", "did you mean `newreno`?"),
    ("wrong unit", "\"20ms\"", "\"20MB\"", "4:43-49", "topology.dumbbell.bottleneck.delay", "unknown unit \"MB\"", "\"20ms\""),
    ("ambiguous unit", "\"10Mbit/s\"", "\"10Mbps\"", "4:23-31", "topology.dumbbell.bottleneck.rate", "ambiguous", "10Mbit/s"),
    ("bare number", "\"10s\"", "10", "1:12-14", "duration", "10 has no unit", "write \"10s\""),
    ("bare number in quotes", "\"50p\"", "\"50\"", "4:74-78", "topology.dumbbell.bottleneck.queue.droptail.limit", "bare number", "\"50p\""),
    ("negative rate", "\"10Mbit/s\"", "\"-10Mbit/s\"", "4:23-34", "topology.dumbbell.bottleneck.rate", "negative", "10Mbit/s"),
    ("negative number", "\"20ms\"", "-20", "4:43-46", "topology.dumbbell.bottleneck.delay", "-20 is negative", "20ms"),
    ("zero rate", "\"10Mbit/s\"", "\"0Mbit/s\"", "4:23-32", "topology.dumbbell.bottleneck.rate", "zero is not allowed", "allowed is 1bit/s to 10Tbit/s"),
    ("huge duration", "\"10s\"", "\"1e30s\"", "1:12-19", "duration", "too large", ""),
    ("long duration", "\"10s\"", "\"2000h\"", "1:12-19", "duration", "more than 1000h", ""),
    ("control character in a name", "[flows.tcp]", "[flows.\"a\\u001b[31m\"]", "5:8-21", "flows.\"a\\u001b[31m\"", "control characters", "letters"),
    ("empty name", "[flows.tcp]", "[flows.\"\"]", "5:8-10", "flows.\"\"", "must not be empty", "\"a\""),
    ("control character in a node", "[flows.tcp]", "[links.x]\nfrom = \"a\\u0007\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[flows.tcp]", "6:8-17", "links.x.from", "control characters", "letters"),
    ("table twice", "[flows.tcp]", "[flows.tcp]\nfrom = \"s0\"\nto = \"d0\"\n[flows.tcp]", "8:8-11", "", "duplicate key", "once"),
    ("huge rate", "\"10Mbit/s\"", "\"11Tbit/s\"", "4:23-33", "topology.dumbbell.bottleneck.rate", "more than 10Tbit/s", ""),
    ("NaN", "delay = \"20ms\"", "delay = \"20ms\", loss = nan", "4:58-61", "topology.dumbbell.bottleneck.loss", "NaN", "finite"),
    ("NaN as a quantity", "\"20ms\"", "nan", "4:43-46", "topology.dumbbell.bottleneck.delay", "NaN is not a quantity", "20ms"),
    ("probability above one", "delay = \"20ms\"", "delay = \"20ms\", loss = 1.5", "4:58-61", "topology.dumbbell.bottleneck.loss", "1.5 is out of range", "allowed is 0 to 1"),
    ("number as text", "pairs = 2", "pairs = \"2\"", "3:9-12", "topology.dumbbell.pairs", "expected an integer, found \"2\"", "without quotes"),
    ("fraction of a pair", "pairs = 2", "pairs = 2.5", "3:9-12", "topology.dumbbell.pairs", "expected an integer, found 2.5", ""),
    ("missing duration", "duration = \"10s\"", "", "1:1-2", "duration", "`duration` is missing", "write duration = \"20ms\""),
    ("missing end", "to = \"d{i}\"", "", "5:1-12", "flows.tcp.to", "`to` is missing", ""),
    ("unknown node", "\"d{i}\"", "\"e1\"", "7:6-10", "flows.tcp.to", "unknown node `e1`", "did you mean"),
    ("member beyond the builder", "count = 2", "count = 3", "6:8-14", "flows.tcp.from", "flow `tcp.2`: unknown node `s2`", "pairs = 2 has hosts s0..s1"),
    ("other placeholder", "\"d{i}\"", "\"d{n}\"", "7:6-12", "flows.tcp.to", "placeholder other than {i}", ""),
    ("same ends", "\"d{i}\"", "\"s{i}\"", "7:6-12", "flows.tcp.to", "flow `tcp.0` starts and ends at `s0`", ""),
    ("no transport", "tcp = \"newreno\"", "", "5:8-11", "flows.tcp", "flow `tcp` has no transport", "tcp = \"newreno\""),
    ("two transports", "count = 2", "count = 2\nudp = {}", "9:7-9", "flows.tcp.udp", "both tcp and udp", ""),
    ("udp without a source", "tcp = \"newreno\"", "udp = {}", "5:8-11", "flows.tcp", "has no source", "source.cbr"),
    ("window 0", "tcp = \"newreno\"", "tcp = { window = \"0p\" }", "9:18-22", "flows.tcp.tcp.window", "zero is not allowed", "1p"),
    ("unknown preset", "tcp = \"newreno\"", "tcp = { preset = \"ns4\" }", "9:18-23", "flows.tcp.tcp.preset", "unknown value \"ns4\"", "did you mean `ns2`?"),
    ("file of no size", "count = 2", "count = 2\nsource.file = { size = \"0B\" }", "9:24-28", "flows.tcp.source.file.size", "zero is not allowed", ""),
    ("Hurst parameter of white noise", "count = 2", "count = 2\nsource.on_off = { periods = \"pareto\", hurst = 0.5 }", "9:47-50", "flows.tcp.source.on_off.hurst", "0.5 is out of range", "allowed is 0.5 to 1"),
    ("Hurst parameter without Pareto", "count = 2", "count = 2\nsource.on_off = { hurst = 0.8 }", "9:27-30", "flows.tcp.source.on_off.hurst", "on_off: `hurst` needs periods = \"pareto\"", ""),
    ("burst faster than any link", "count = 2", "count = 2\nsource.on_off = { rate = \"11Tbit/s\" }", "9:26-36", "flows.tcp.source.on_off.rate", "more than 1Tbit/s", ""),
    ("chain without states", "count = 2", "count = 2\nsource.mmpp = { states = [] }", "9:26-28", "flows.tcp.source.mmpp.states", "mmpp: 0 states", ""),
    ("chain that does not come back", "count = 2", "count = 2\nsource.mmpp = { states = [{ to = [0, 1, 0] }, { to = [1, 0, 0] }, {}] }", "9:26-70", "flows.tcp.source.mmpp.states", "not every state is reached", ""),
    ("too few weights", "count = 2", "count = 2\nsource.mmpp = { states = [{ to = [0] }, {}] }", "9:34-37", "flows.tcp.source.mmpp.states.0.to", "1 weights for 2 states", ""),
    ("frame of another type", "count = 2", "count = 2\nsource.video = { gop = \"IBD\" }", "9:24-29", "flows.tcp.source.video.gop", "video: `D` is no type of frame", ""),
    ("trace with an empty frame", "count = 2", "count = 2\nsource.video = { trace = \"data:,900 0\" }", "9:26-39", "flows.tcp.source.video.trace", "video: frame 1 has 0 bytes", ""),
    ("trace of nothing", "count = 2", "count = 2\nsource.video = { trace = \"data:,\" }", "9:26-34", "flows.tcp.source.video.trace", "contains no values", "a whole number on each line"),
    ("trace that is not there", "count = 2", "count = 2\nsource.video = { trace = \"gone.txt\" }", "9:26-36", "flows.tcp.source.video.trace", "cannot read \"gone.txt\": file not found", ""),
    ("part of a frame of speech", "count = 2", "count = 2\nsource.voip = { codec = \"g729\", interval = \"25ms\" }", "9:44-50", "flows.tcp.source.voip.interval", "voip: 25ms is no whole number of the codec's frames of 10ms", ""),
    ("transfers repeated twice over", "count = 2", "count = 2\nsource.file = { rate = \"1Mbit/s\", gap = \"1s\" }", "9:41-45", "flows.tcp.source.file.gap", "file: `rate` and `gap` are two ways", ""),
    ("infinite mean", "count = 2", "count = 2\nsource.file = { shape = 1.0 }", "9:25-28", "flows.tcp.source.file.shape", "1 is out of range", ""),
    ("no flow takes part", "count = 2", "count = 2\nactive = 0", "9:10-11", "flows.tcp.active", "starts no flow of `tcp`", "above 0"),
    ("more than all", "count = 2", "count = 2\nactive = 1.5", "9:10-13", "flows.tcp.active", "1.5 is out of range", "0 to 1"),
    ("start after the end", "count = 2", "count = 2\nstart = \"10s\"", "9:9-14", "flows.tcp.start", "the run ends at 10s", ""),
    ("last start after the end", "count = 2", "count = 2\nstagger = \"10s\"", "9:11-16", "flows.tcp.stagger", "starts at 10s, the run ends at 10s", ""),
    ("stop before start", "count = 2", "count = 2\nstart = \"5s\"\nstop = \"5s\"", "10:8-12", "flows.tcp.stop", "stops at 5s, but starts at 5s", ""),
    ("warm-up as long as the run", "[topology", "warmup = \"10s\"\n[topology", "2:10-15", "warmup", "is not shorter", "shorter"),
    ("zero step", "[topology", "sample = \"0s\"\n[topology", "2:10-14", "sample", "zero is not allowed", "1ns"),
    ("too fine a step", "[topology", "sample = \"1us\"\n[topology", "2:10-15", "sample", "the limit is 10000000", "at least"),
    ("list of the wrong length", "pairs = 2", "pairs = 2\ndelays = [\"1ms\"]", "4:10-17", "topology.dumbbell.delays", "lists 1 values for 2 pairs", ""),
    ("zero in a list", "pairs = 2", "pairs = 2\nrates = [\"1Mbit/s\", \"0bit/s\"]", "4:9-30", "topology.dumbbell.rates", "rate is zero", ""),
    ("unknown link", "[flows.tcp]", "[links.botleneck]\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[flows.tcp]", "5:8-17", "links.botleneck", "unknown link `botleneck`", "did you mean `bottleneck`?"),
    ("unknown link of the file", "[flows.tcp]", "[links.trunk]\nfrom = \"r1\"\nto = \"r2\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[links.trnuk]\nloss = 0.1\n[flows.tcp]", "10:8-13", "links.trnuk", "unknown link `trnuk`", "did you mean `trunk`?"),
    ("source for a transport", "tcp = ", "udp = \"cbr\"\n# ", "9:7-12", "flows.tcp.udp", "expected a table", "source.cbr = {"),
    ("rate in bit/s", "\"10Mbit/s\"", "10e6", "4:23-27", "topology.dumbbell.bottleneck.rate", "10000000 has no unit", "write \"10Mbit/s\""),
    ("part of a second", "\"10s\"", "0.02", "1:12-16", "duration", "0.02 has no unit", "write \"20ms\""),
    ("builder's link moved", "[flows.tcp]", "[links.bottleneck]\nto = \"r3\"\n[flows.tcp]", "6:6-10", "links.bottleneck.to", "has to = \"r2\", not \"r3\"", ""),
    ("link to itself", "[flows.tcp]", "[links.x]\nfrom = \"a\"\nto = \"a\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[flows.tcp]", "7:6-9", "links.x.to", "starts and ends at `a`", ""),
    ("link without rate", "[flows.tcp]", "[links.x]\nfrom = \"a\"\nto = \"b\"\ndelay = \"0s\"\n[flows.tcp]", "5:8-9", "links.x", "link `x` has no `rate`", "10Mbit/s"),
    ("name of a reverse direction", "[flows.tcp]", "[links.\"s0.reverse\"]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[flows.tcp]", "5:8-20", "links.\"s0.reverse\"", "other direction of link `s0`", ""),
    ("no route", "[flows.tcp]", "[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[flows.u]\nfrom = \"s0\"\nto = \"b\"\ntcp = {}\n[flows.tcp]", "12:6-9", "flows.u.to", "no route from `s0` to `b`", ""),
    ("one-way link", "[flows.tcp]", "[links.bottleneck]\nduplex = false\n[flows.tcp]", "9:6-12", "flows.tcp.to", "no route from `d0` to `s0` for its acknowledgments", "one way"),
    ("node not declared", "[topology", "nodes = [\"a\"]\n[links.x]\nfrom = \"a\"\nto = \"aa\"\nrate = \"1Mbit/s\"\ndelay = \"0s\"\n[topology", "5:6-10", "links.x.to", "unknown node `aa` in `nodes`", "known nodes: r1, r2"),
    ("node twice", "[topology", "nodes = [\"a\", \"r1\"]\n[topology", "2:15-19", "nodes.1", "node `r1` appears twice", "builder"),
    ("flow names meet", "[flows.tcp]", "[flows.\"tcp.1\"]\nfrom = \"s0\"\nto = \"d1\"\ntcp = {}\n[flows.tcp]", "9:8-11", "flows.tcp", "two flows are named `tcp.1`", ""),
    ("permutation of one", "count = 2", "count = 1\npermute = true", "9:11-15", "flows.tcp.permute", "at least two members", ""),
    ("no flows", "[flows.tcp]", "[links.bottleneck.reverse.queue.droptail]\nlimit = \"1p\"\n[topology.dumbbell.x]", "7:20-21", "topology.dumbbell.x", "unknown key `x`", ""),
    ("key twice", "pairs = 2", "pairs = 2\npairs = 3", "4:1-6", "", "duplicate key", ""),
    ("syntax", "pairs = 2", "pairs = ", "3:9-10", "", "TOML syntax", ""),
    ("date", "\"10s\"", "2013-01-01", "1:12-22", "duration", "a scenario has no dates", ""),
    ("odd fat-tree", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.fat_tree]\nk = 3\n#", "3:5-6", "topology.fat_tree.k", "half the ports", "even"),
    ("as many links as nodes", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.barabasi_albert]\nnodes = 5\nlinks = 5\n#", "4:9-10", "topology.barabasi_albert.links", "`links` is 5, but there are 5 nodes", "fewer links"),
    ("network in parts", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.random_geometric]\nislands = \"refuse\"\nradius = 0.05\n#", "3:11-19", "topology.random_geometric.islands", "the random network is in", "join"),
    ("too many links", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.waxman]\nnodes = 9000\nbeta = 0.9\nalpha = 1.0\n#", "4:8-11", "topology.waxman.beta", "too many links, the limit is 200000", "fewer nodes"),
    ("tree of all the world", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.tree]\nfanout = 1000\ndepth = 16\n#", "4:9-11", "topology.tree.depth", "thousands of millions", "smaller depth"),
    ("rates of levels", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.tree]\nrates = [\"1Mbit/s\"]\n#", "3:9-20", "topology.tree.rates", "lists 1 values for a depth of 3", "each level"),
    ("ring of two", "[topology.dumbbell]\npairs = 2\nbottleneck", "[topology.ring]\nnodes = 2\n#", "3:9-10", "topology.ring.nodes", "out of range", "3 to 100000"),
    ("place of no node", "[flows.tcp]", "[positions]\nr3 = { x = 1, y = 2 }\n[flows.tcp]", "6:1-3", "positions.r3", "unknown node `r3`", "r1"),
    ("half a place", "[flows.tcp]", "[positions]\nr1 = { x = 1 }\n[flows.tcp]", "6:6-15", "positions.r1.y", "`y` is missing", "y ="),
    ("weight of nothing", "delay = \"20ms\"", "delay = \"20ms\", weight = 0", "4:60-61", "topology.dumbbell.bottleneck.weight", "0 is out of range", "1 to 65535"),
    ("routes by what", "[topology", "route_by = \"cost\"\n[topology", "2:12-18", "route_by", "unknown value \"cost\"", "weight"),
    ("two builders", "[flows.tcp]", "[topology.star]\n[flows.tcp]", "2:2-10", "topology", "expected one topology, found dumbbell and star", ""),
    ("queue that holds nothing", "\"50p\"", "\"0p\"", "4:74-78", "links.bottleneck.queue.droptail.limit", "holds nothing", ""),
];

#[test]
fn every_mistake_has_its_place_and_its_hint() {
    assert!(resolve(GOOD, "x.toml", Format::Toml, &[]).is_ok());
    let mut wrong = Vec::new();
    for (what, old, new, place, path, message, help) in CASES {
        assert!(GOOD.contains(old), "{what}: the text to replace is not there");
        let text = GOOD.replacen(old, new, 1);
        let Err(found) = resolve(&text, "x.toml", Format::Toml, &[]) else {
            wrong.push(format!("{what}: accepted"));
            continue;
        };
        assert!(found.list.iter().all(|d| !d.help.is_empty()), "{what}: no hint\n{found}");
        let fits = found.list.iter().any(|d| {
            let at = format!("{}:{}-{}", d.line.unwrap_or(0), d.column, d.end_column);
            at == *place && d.path == *path && d.message.contains(message) && d.help.contains(help)
        });
        if !fits {
            let got: Vec<String> = found.list.iter().map(|d| format!("{}-{}\n{d}", d.column, d.end_column)).collect();
            wrong.push(format!("{what}: wanted {place} {path}: {message} | {help}\ngot {}", got.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

/// Input may be long; messages are not. A repeated table is one mistake, not one per key.
#[test]
fn messages_are_short() {
    let found = resolve(&GOOD.replace("10s", &"9".repeat(100_000)), "x.toml", Format::Toml, &[]).unwrap_err();
    assert!(found.to_string().len() < 1000, "{} bytes", found.to_string().len());
    let twice = GOOD.replace("[flows.tcp]", "[flows.tcp]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {}\n[flows.tcp]");
    assert_eq!(resolve(&twice, "x.toml", Format::Toml, &[]).unwrap_err().list.len(), 1);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = GOOD.replace("\"10s\"", "10").replace("pairs", "pars").replace("\"50p\"", "\"fifty\"").replace("to = \"d{i}\"\n", "");
    let found = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_err();
    let paths: Vec<&str> = found.list.iter().map(|d| d.path.as_str()).collect();
    assert_eq!(paths, ["duration", "topology.dumbbell.pars", "topology.dumbbell.bottleneck.queue.droptail.limit", "flows.tcp.to"]);
}

#[test]
fn files_that_are_no_scenario() {
    let message = |bytes: &[u8]| {
        let d = resolve_bytes(bytes, "x.toml", Format::Toml, &[]).unwrap_err().list.remove(0);
        (d.message, d.line, d.column)
    };
    assert_eq!(message(b""), ("the file is empty".to_owned(), Some(1), 1));
    assert_eq!(message(b" \n\n").0, "the file is empty");
    let (text, line, column) = message(b"a = 1\nb = \xff");
    assert!(text.contains("not a text file: byte 0xff"), "{text}");
    assert_eq!((line, column), (Some(2), 5));
    assert!(message(b"\x7fELF\x02\x01\x01\0\0").0.contains("not a text file"));
    assert!(message(&vec![b'#'; (16 << 20) + 1]).0.contains("too large"));
    assert!(message("[".repeat(100_000).as_bytes()).0.contains("TOML syntax"));
    let json = |text: &str| resolve(text, "x.json", Format::Json, &[]).unwrap_err().list.remove(0);
    assert!(json(&"[".repeat(100_000)).message.contains("nested too deeply"));
    assert!(json("[1]").message.contains("a scenario is an object"));
    let d = json("{\n  \"duration\": \"10s\"\n  \"seed\": 1\n}");
    assert_eq!((d.line, d.column, d.message.as_str()), (Some(3), 3, "JSON syntax: expected `,` or `}`"));
    let d = json("{\"duration\": NaN, \"flows\": {}}");
    assert_eq!((d.path.as_str(), d.message.as_str()), ("duration", "NaN is not a quantity"));
}

#[test]
fn options_are_named_in_place_of_lines() {
    let set = |path: &str, value: &str| resolve(GOOD, "x.toml", Format::Toml, &[(path.to_owned(), value.to_owned())]);
    let wrong = |path: &str, value: &str| set(path, value).unwrap_err().list.remove(0);
    let d = wrong("topology.dumbbell.bottleneck.queue.red.mni", "10p");
    assert_eq!((d.line, d.file.as_str()), (None, "--set topology.dumbbell.bottleneck.queue.red.mni=10p"));
    assert_eq!((d.message.as_str(), d.help.as_str()), ("unknown key `mni`", "did you mean `min`?"));
    let d = wrong("duration", "5");
    assert_eq!((d.message.as_str(), d.column, d.end_column), ("5 has no unit", 10, 11));
    assert!(wrong("a..b", "1").message.contains("not a valid path"));
    assert!(wrong("flows.tcp.to", "nowhere").message.contains("unknown node `nowhere`"));
    for (path, message, help) in [
        ("links.botleneck.rate", "unknown link `botleneck`", "did you mean `bottleneck`?"),
        ("links.nothing.rate", "unknown link `nothing`", "links: "),
        ("flows.tpc.stop", "unknown flow `tpc`", "did you mean `tcp`?"),
    ] {
        let d = wrong(path, if path.ends_with("stop") { "1s" } else { "1Mbit/s" });
        assert!(d.message == message && d.help.contains(help), "{d:?}");
    }
    assert!(set("links.bottleneck.queue.red.min", "10p").is_ok());
}

/// Any damage to the text gives a scenario or findings, never a panic; findings point into the text.
#[test]
fn damaged_text_never_panics() {
    let mut rng = fairlane_engine::Stream::new(1, "test", "damage", "");
    let scraps =
        ["[", "]", "{", "}", "\"", "=", ".", "\n", "é", "nan", "-1", "1e99", "null", "[[x]]", "queue", "\u{0}", "9999999999999999999"];
    for format in [Format::Toml, Format::Json] {
        let whole = match format {
            Format::Toml => GOOD.to_owned(),
            Format::Json => resolve(GOOD, "x.toml", Format::Toml, &[]).unwrap().to_json_expanded().to_string(),
        };
        for _ in 0..1500 {
            let mut text: Vec<char> = whole.chars().collect();
            for _ in 0..=rng.below(3) {
                let at = rng.below(text.len() as u64) as usize;
                match rng.below(3) {
                    0 => drop(text.drain(at..(at + 1 + rng.below(8) as usize).min(text.len()))),
                    1 => {
                        let scrap = scraps[rng.below(scraps.len() as u64) as usize];
                        text.splice(at..at, scrap.chars());
                    }
                    _ => text.swap(at, 0),
                }
                if text.is_empty() {
                    text.push('x');
                }
            }
            let text: String = text.into_iter().collect();
            if let Err(found) = resolve(&text, "x", format, &[]) {
                assert!(!found.list.is_empty());
                let lines = text.lines().count().max(1) + 1;
                assert!(found.list.iter().all(|d| d.line.unwrap_or(1) <= lines && !d.message.is_empty()), "{found}");
            }
        }
    }
}

/// Twenty findings are listed, anywhere in the file, and the rest is counted: once, though two passes find them.
#[test]
fn thousands_of_mistakes_are_counted() {
    let keys = |n: usize| (0..n).map(|i| format!("\"k{i}\":1")).collect::<Vec<_>>().join(",");
    let on_a_line = resolve(&format!("{{{}}}", keys(8000)), "x.json", Format::Json, &[]).unwrap_err();
    // `duration` is missing, too.
    assert_eq!((on_a_line.list.len(), on_a_line.more()), (MOST_REPORTED, 8000 + 1 - MOST_REPORTED), "{on_a_line}");
    let text = on_a_line.to_string();
    assert!(text.ends_with("\nand 7,981 more\n") && text.len() < 20_000, "{} bytes\n{text}", text.len());
    assert!(text.lines().all(|l| l.len() < 200));
    let lines: String = (1..MOST_REPORTED).map(|i| format!("k{i} = 1\n")).collect();
    let few = resolve(&format!("{lines}{GOOD}"), "x.toml", Format::Toml, &[]).unwrap_err();
    assert_eq!((few.list.len(), few.more()), (MOST_REPORTED - 1, 0), "{few}");
    assert!(!few.to_string().contains("more"));
}

/// The caret of a mistake in a long line is visible, in the right column.
#[test]
fn a_long_line_is_shown_around_the_caret() {
    let space = " ".repeat(3000);
    let line = format!("{{{space}\"odd\":1,{space}\"duration\":\"1s\"}}");
    let found = resolve(&line, "x.json", Format::Json, &[]).unwrap_err().to_string();
    let (shown, caret) = found.lines().zip(found.lines().skip(1)).find(|(_, c)| c.contains('^')).unwrap();
    let (from, to) = (caret.find('^').unwrap(), caret.rfind('^').unwrap());
    assert_eq!(&shown[from..=to], "\"odd\"", "{found}");
    assert!(shown.len() < 140);
}

/// A mistake in the links of a builder is reported once, not for each link.
#[test]
fn a_bad_queue_of_a_builder_is_told_once() {
    for queue in ["queue.red = { min = \"50p\", max = \"10p\" }", "queue = \"red\"\nqueue_x = 1"] {
        let text = format!("duration = \"1s\"\n[topology.fat_tree]\nk = 8\n{queue}\n[flows.f]\nfrom = \"h0\"\nto = \"h9\"\ntcp = {{}}\n");
        let found = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_err();
        assert_eq!((found.list.len(), found.more()), (1, 0), "{found}");
    }
}

/// A name may be as long as the file allows: it is cut in messages, and not compared with known names.
#[test]
fn long_names_take_no_time() {
    let name = "x".repeat(1 << 20);
    let text = GOOD.replace("[flows.tcp]", &format!("[links.{name}]\nrate = \"1Mbit/s\"\n[flows.{name}]\nform = \"{name}\"\n[flows.tcp]"));
    let found = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_err().to_string();
    assert!(found.len() < 10_000, "{} bytes", found.len());
}
