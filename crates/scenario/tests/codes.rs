//! Codes of diagnostics and warnings: each stands for one kind of mistake, and each is used.

use fairlane_scenario::{Code, Diagnostics, Format, Kind, resolve, resolve_bytes};
use std::collections::BTreeSet;

const GOOD: &str = "duration = \"10s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"20ms\"\n\
                    [flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n";

/// A mistake: its code, the text to replace in the valid scenario, and the replacement.
const MISTAKES: &[(Code, &str, &str)] = &[
    (Code::Syntax, "\"10s\"", "\"10s"),
    (Code::UnknownKey, "rate =", "bandwidth ="),
    (Code::MissingKey, "duration = \"10s\"", ""),
    (Code::WrongType, "\"newreno\"", "3"),
    (Code::OutOfRange, "[flows.f]", "[flows.f]\nactive = 2.0"),
    (Code::BadQuantity, "\"20ms\"", "20"),
    (Code::UnknownValue, "\"newreno\"", "{ recovery = \"magic\" }"),
    (Code::UnknownAlgorithm, "\"newreno\"", "\"newrenno\""),
    (Code::BadTc, "delay =", "queue = \"tc: nothing\"\ndelay ="),
    (Code::OneAlgorithm, "delay =", "queue = { red = {}, codel = {} }\ndelay ="),
    (Code::BadFile, "rate = \"10Mbit/s\"", "trace = \"no/such/file\""),
    (Code::EmptyName, "[links.l]", "[links.\"\"]"),
    (Code::ControlCharacter, "[links.l]", "[links.\"\\u0007\"]"),
    (Code::NameTaken, "[links.l]", "[links.\"l.reverse\"]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n[links.l]"),
    (Code::UnknownNode, "to = \"b\"\ntcp", "to = \"c\"\ntcp"),
    (Code::UnknownLink, "[flows.f]", "[flows.f]\nload = { link = \"m\", share = 0.5 }"),
    (Code::UnknownFlow, "[flows.f]", "[control.time_slots]\nflows = [\"g\"]\n[flows.f]"),
    (Code::WarmupTooLong, "[links.l]", "warmup = \"10s\"\n[links.l]"),
    (Code::TooManyRows, "[links.l]", "sample = \"1us\"\n[links.l]"),
    (Code::NoNetwork, "[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"20ms\"\n", ""),
    (Code::TopologyUnfit, "[flows.f]", "[topology.dumbbell]\npairs = 2\ndelays = [\"1ms\"]\n[flows.f]"),
    (Code::LinkIncomplete, "rate = \"10Mbit/s\"\n", ""),
    (Code::EndsDiffer, "[links.l]", "[topology.dumbbell]\n[links.bottleneck]\nfrom = \"a\"\n[links.l]"),
    (Code::EndsMeet, "to = \"b\"\nrate", "to = \"a\"\nrate"),
    (Code::TwoRates, "delay =", "trace = \"../../examples/data/cellular.down\"\ndelay ="),
    (Code::WireUnfit, "delay =", "jitter = \"50ms\"\ndelay ="),
    (Code::QueueUnfit, "delay =", "queue.droptail.limit = \"0p\"\ndelay ="),
    (Code::ChannelUnfit, "[flows.f]", "[wireless.w]\nnodes = { a = [0, 0], b = [0, 0] }\n[flows.f]"),
    (Code::Island, "[flows.f]", "[wireless.w]\nnodes = { a = [0, 0], b = [9000, 0] }\n[flows.f]"),
    (Code::NoFlows, "[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n", ""),
    (Code::NoMembers, "[flows.f]", "[flows.f]\nactive = 0.0"),
    (Code::StartTooLate, "[flows.f]", "[flows.f]\nstart = \"10s\""),
    (Code::StopTooEarly, "[flows.f]", "[flows.f]\nstart = \"5s\"\nstop = \"5s\""),
    (Code::BadPlaceholder, "to = \"b\"\ntcp", "to = \"{k}\"\ntcp"),
    (Code::PairsUnfit, "[flows.f]", "[flows.f]\npairs.random = { share = 0.5 }"),
    (Code::PermutationUnfit, "[flows.f]", "[flows.f]\npermute = true"),
    (Code::TwoTransports, "[flows.f]", "[flows.f]\nudp = {}"),
    (Code::NoTransport, "tcp = \"newreno\"\n", ""),
    (Code::StackMissing, "tcp = \"newreno\"", "stack = \"quinn\""),
    (Code::NoSource, "tcp = \"newreno\"", "udp = {}"),
    (Code::SourceUnfit, "[flows.f]", "[flows.f]\nsource.mmpp = { states = [{ to = [0] }, {}] }"),
    (Code::CarrierUnfit, "[flows.f]", "[flows.f]\nsource.tfrc = {}"),
    (Code::TcpUnfit, "\"newreno\"", "{ rto_min = \"5s\", rto_max = \"1s\" }"),
    (Code::NoRoute, "delay =", "duplex = false\ndelay ="),
    (Code::ChangeUnfit, "[flows.f]", "[[at]]\ntime = \"11s\"\nset = { \"links.l.rate\" = \"2Mbit/s\" }\n[flows.f]"),
    (Code::GovernsNothing, "[flows.f]", "[control.time_slots]\nnodes = [\"a\"]\nflows = []\n[flows.f]"),
    (Code::GovernedTwice, "[flows.f]", "[[control.time_slots]]\n[[control.time_slots]]\n[flows.f]\nclass = 1"),
    (Code::ClassNoPriority, "[flows.f]", "[control.time_slots]\n[flows.f]\nclass = 0"),
    (Code::NoFlowThere, "[flows.f]", "[control.time_slots]\nnodes = [\"b\"]\n[flows.f]"),
];

fn codes(found: &Diagnostics) -> Vec<Code> {
    found.list.iter().map(|d| d.code).collect()
}

fn wrong(text: &str, sets: &[(&str, &str)]) -> Vec<Code> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    resolve(text, "x.toml", Format::Toml, &sets).map_or_else(|found| codes(&found), |_| Vec::new())
}

#[test]
fn a_mistake_has_its_code() {
    assert_eq!(wrong(GOOD, &[]), []);
    let mut off = Vec::new();
    for (code, old, new) in MISTAKES {
        assert!(GOOD.contains(old), "{old}");
        let got = wrong(&GOOD.replacen(old, new, 1), &[]);
        if !got.contains(code) {
            off.push(format!("{code} for {new:?}: {got:?}"));
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
    assert_eq!(wrong("", &[]), [Code::EmptyFile]);
    assert_eq!(wrong(GOOD, &[("a..b", "1")]), [Code::BadPath]);
    assert_eq!(wrong(&GOOD.replace("[links.l]", &format!("x = {}1{}\n[links.l]", "[".repeat(70), "]".repeat(70))), &[]), [Code::TooDeep]);
    let crowd = "[flows.g]\nfrom = \"a\"\nto = \"b\"\ntcp = {}\ncount = 600000\n[flows.f]\ncount = 600000";
    assert_eq!(wrong(&GOOD.replace("[flows.f]", crowd), &[]), [Code::TooLarge]);
    assert_eq!(codes(&resolve_bytes(b"\xff", "x.toml", Format::Toml, &[]).unwrap_err()), [Code::NotText]);
    assert_eq!(wrong(GOOD, &[("links.l.queue.red.classes.0.weight", "2")]), [Code::UnknownKey]);
}

/// The difference names a code that no check gives any more, or a new one without a case above.
#[test]
fn every_code_of_an_error_is_shown_once() {
    let mut left: BTreeSet<&str> = Code::ALL.iter().filter(|c| c.1 == Kind::Error).map(|c| c.2).collect();
    for (code, ..) in MISTAKES {
        assert!(left.remove(code.name()), "{code} twice");
    }
    // Codes of whole files and options are in the test above; the rest are for defects, other files, or cases that no table above can hold.
    let others = [
        "bad-path",
        "control-unfit",
        "empty-file",
        "no-such-list",
        "not-text",
        "remark",
        "stack-unfit",
        "too-deep",
        "too-large",
        "unreadable",
    ];
    assert_eq!(left.into_iter().collect::<Vec<_>>(), others);
}

#[test]
fn names_are_kebab_case_and_lead_back() {
    for (code, _, name, doc) in Code::ALL {
        assert_eq!((code.name(), Code::named(name)), (*name, Some(*code)));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && doc.ends_with('.'), "{name}");
        assert_eq!(format!("{code:?}").to_lowercase(), name.replace('-', ""), "the variant is the name");
    }
    assert_eq!(Code::named("no such code"), None);
}

#[test]
fn a_warning_has_its_code() {
    let sets = [("sample", "100ms"), ("duration", "1s"), ("flows.f.tcp.window", "5p")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let doubtful = resolve(GOOD, "x.toml", Format::Toml, &sets).unwrap();
    let told: Vec<Code> = doubtful.warnings().iter().map(|w| w.code).collect();
    assert_eq!(told, [Code::ShortMeasurement, Code::CoarseSampling, Code::WindowLimits]);
}

fn told(text: &str, sets: &[(&str, &str)]) -> Vec<(Code, String)> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let resolved = resolve(text, "x.toml", Format::Toml, &sets).unwrap();
    resolved.warnings().iter().map(|w| (w.code, w.text.clone())).collect()
}

#[test]
fn ecn_that_no_queue_answers_is_a_warning() {
    let ecn = ("flows.f.tcp.ecn", "classic");
    for (queue, expected) in [
        ("droptail", "queue `droptail` of link `l` cannot"),
        ("red", "write ecn = true in queue `red` of link `l`"),
        ("{ prio = { classes = [{ queue = \"codel\" }] } }", "write ecn = true in queue `prio` of link `l`"),
    ] {
        let found = told(GOOD, &[ecn, ("links.l.queue", queue)]);
        let [(Code::EcnWithoutMarks, text)] = found.as_slice() else { panic!("{queue}: {found:?}") };
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(told(GOOD, &[("flows.f.tcp.cc", "dctcp")])[0].0, Code::EcnWithoutMarks, "its mode is implied");
    let nested = "{ prio = { classes = [{ queue = \"droptail\" }, { queue.red.ecn = true }] } }";
    let threshold = "{ codel = { ce_threshold = \"1ms\" } }";
    for queue in ["{ red = { ecn = true } }", "fq_codel", "dualpi2", nested, threshold] {
        assert_eq!(told(GOOD, &[ecn, ("links.l.queue", queue)]), [], "{queue}");
    }
    assert_eq!(told(GOOD, &[("links.l.queue", "red")]), [], "no ECN is offered");
}

#[test]
fn a_limit_below_the_threshold_of_red_is_a_warning() {
    for (queue, expected) in [
        ("{ red = { limit = \"5p\" } }", "its limit is 5 packets, below the upper threshold of 15, so it is full before it drops early"),
        ("{ red = { limit = \"12p\" } }", "so it never drops as often as `max_p` says"),
        ("{ ared = { limit = \"5p\" } }", "its limit is 5 packets"),
        ("{ choke = { limit = \"5p\" } }", "its limit is 5 packets"),
    ] {
        let found = told(GOOD, &[("links.l.queue", queue)]);
        let [(Code::ThresholdAboveLimit, text)] = found.as_slice() else { panic!("{queue}: {found:?}") };
        assert!(text.contains(expected) && text.contains("of link `l`"), "{text}");
    }
    for queue in ["{ red = { limit = \"15p\" } }", "{ red = { limit = \"5p\", min = \"1p\", max = \"4p\" } }", "red", "droptail"] {
        assert_eq!(told(GOOD, &[("links.l.queue", queue)]), [], "{queue}");
    }
}

#[test]
fn a_class_may_be_the_name_of_a_code_point() {
    let sets = |value: &str| vec![("flows.f.class".to_owned(), value.to_owned())];
    let class = |value: &str| resolve(GOOD, "x.toml", Format::Toml, &sets(value)).map(|r| r.to_json()["flows"]["f"]["class"].clone());
    for (value, bits) in [("ef", 46), ("EF", 46), ("46", 46), ("af41", 34), ("cs1", 8), ("be", 0)] {
        assert_eq!(class(value).unwrap(), bits, "{value}");
    }
    assert_eq!(class("[\"ef\", 10]").unwrap(), serde_json::json!([46, 10]));
    for (value, expected) in [("ex", "`ef`"), ("64", "63"), ("[\"ex\"]", "`ef`")] {
        let found = class(value).unwrap_err();
        assert_eq!(found.list.len(), 1, "{found:?}");
        assert!(found.list[0].help.contains(expected) || found.list[0].message.contains(expected), "{:?}", found.list[0]);
    }
    let found = resolve(GOOD, "x.toml", Format::Toml, &[("flows.f.dscp".to_owned(), "EF".to_owned())]).unwrap_err();
    assert_eq!(found.list[0].help, "the key is called `class`");
}

#[test]
fn a_mistake_leads_to_what_is_meant() {
    for (path, value, message, help) in [
        ("links.l.loss", "1%", "found \"1%\"", "write 0.01"),
        ("links.l.queue.red.max_p", "10%", "found \"10%\"", "write 0.1"),
        ("links.l.queue.limit", "50p", "unknown queue \"limit\"", "such as droptail.limit"),
        ("links.l.queue.red.min_th", "5p", "unknown key `min_th`", "the key is called `min`"),
        ("flows.f.cc", "bbr", "unknown key `cc`", "the key is called `tcp`"),
        ("flows.f.tcp", "bbr2", "unknown congestion control \"bbr2\"", "did you mean `bbr`"),
        ("queue", "red", "unknown key `queue`", "links.NAME.queue"),
        ("tcp", "bbr", "unknown key `tcp`", "flows.NAME.tcp"),
        ("links.zzz.rate", "1Mbit/s", "unknown link `zzz`", "links: l"),
    ] {
        let found = resolve(GOOD, "x.toml", Format::Toml, &[(path.to_owned(), value.to_owned())]).unwrap_err();
        let d = &found.list[0];
        assert!(d.message.contains(message) && d.help.contains(help), "{path}={value}: {d:?}");
    }
}
