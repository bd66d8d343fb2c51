//! Every source of the registry over every transport and before queues of every kind: it runs, delivers, loses nothing out of sight, and repeats itself. A new line
//! of the registry is tested without being named here, unless it cannot run on its defaults.

use crate::common::{column, run_seed};
use fairlane_engine::{QuadHeap, Stream};
use fairlane_scenario::{Format, Resolved, SourceSpec, registry_listing, resolve, world};
use fairlane_testkit::draw;
use fairlane_units::Time;
use serde_json::{Map, Value};

const TRANSPORTS: [&str; 3] = ["tcp = \"newreno\"", "tcp = { preset = \"linux\" }", "udp = {}"];
/// Transports that a source runs over: one that controls its rate has its own, over UDP.
fn transports(source: &str) -> &'static [&'static str] {
    let carries = SourceSpec::all().iter().any(|s| s.name() == source && s.carried().is_some());
    if carries { &TRANSPORTS[2..] } else { &TRANSPORTS }
}

const QUEUES: [&str; 8] = ["droptail", "red", "codel", "pie", "fq_codel", "drr", "prio", "sfq"];

/// Parameters of the sources that need some; the others run on their defaults.
fn parameters(source: &str) -> &'static str {
    match source {
        "replay" => "{ file = \"data:,0 500 528 1000000 500 528 9000000 100 128\", repeat = true }",
        // Pages of the default model are read for half a minute.
        "web" => "{ reading = \"100ms\" }",
        _ => "{}",
    }
}

/// Sources that draw nothing, or carry one that does not: another seed changes at most the order of events of one instant.
/// A new one that draws nothing is to be named here.
const EVEN: [&str; 6] = ["bulk", "file", "cbr", "replay", "tfrc", "rap"];

/// The source stops well before the run ends, so that nothing is on its way at the end.
fn text(source: &str, transport: &str, queue: &str) -> String {
    format!(
        "duration = \"40s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"2Mbit/s\"\ndelay = \"10ms\"\nqueue = \"{queue}\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{transport}\nstop = \"8s\"\nsource.{source} = {}\n",
        parameters(source)
    )
}

#[test]
fn any_source_over_any_transport_and_queue() {
    for source in SourceSpec::NAMES.iter().map(|n| n.0) {
        for transport in transports(source) {
            for queue in QUEUES {
                let text = text(source, transport, queue);
                let what = format!("{source} over {transport} before {queue}");
                let out = run_seed(&text, 1);
                assert!(column(&out, "goodput") > 0.0, "{what} delivers nothing");
                let (sent, received, lost) = (column(&out, "packets_sent"), column(&out, "packets_received"), column(&out, "packets_lost"));
                assert!(sent > 0.0 && sent == received + lost, "{what}: {sent} sent, {received} received, {lost} lost");
                let again = run_seed(&text, 1);
                assert_eq!((out.fingerprint, out.events), (again.fingerprint, again.events), "{what} does not repeat itself");
                if !EVEN.contains(&source) {
                    assert_ne!(
                        out.fingerprint,
                        run_seed(&text, 2).fingerprint,
                        "{what} is the same with another seed; if it draws nothing, say so in EVEN"
                    );
                }
            }
        }
    }
}

/// Events of a run with drawn parameters: some draws would fill the link a hundred times over for as long as the run lasts.
const BUDGET: u64 = 200_000;

/// The scenario of [`text`] with other parameters of the source; `None` if they do not fit one another.
fn with_drawn(source: &str, transport: &str, drawn: &Map<String, Value>) -> Option<Resolved> {
    let written = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let sets: Vec<_> = drawn.iter().map(|(key, v)| (format!("flows.f.source.{source}.{key}"), written(v))).collect();
    resolve(&text(source, transport, "droptail"), "x.toml", Format::Toml, &sets).ok()
}

/// What is written is delivered or counted as lost, and a run repeats with its seed, whatever the parameters that a source may have.
#[test]
fn any_source_with_any_parameters() {
    let sources = registry_listing().into_iter().filter(|l| l.kind == "source");
    for (number, l) in (0..).zip(sources) {
        let mut rng = Stream::new(number, "test", l.name, "parameters");
        let (mut accepted, mut whole, mut delivering) = (0, 0, 0);
        for _ in 0..24 {
            let mut drawn = draw::table(&l.schema, 0.5, &mut rng);
            // What a source needs stays as it is: a recording, for instance.
            drawn.retain(|key, value| !value.is_null() && !parameters(l.name).contains(key.as_str()));
            for transport in transports(l.name) {
                let Some(scenario) = with_drawn(l.name, transport, &drawn) else { continue };
                let what = || format!("{} over {transport} with {}", l.name, Value::Object(drawn.clone()));
                accepted += 1;
                let run = || {
                    let mut w = world::<QuadHeap<u64>>(&scenario, 1).unwrap();
                    let ended = w.advance(Time::ZERO + scenario.duration, BUDGET, &mut ());
                    (ended, w)
                };
                let ((ended, w), (_, again)) = (run(), run());
                assert_eq!((w.fingerprint(), w.events()), (again.fingerprint(), again.events()), "{} does not repeat itself", what());
                let c = &w.flows()[0].counters;
                delivering += u32::from(c.delivered > 0);
                let lost: u64 = c.drops.all().iter().sum();
                let received = c.received_pkts();
                assert!(received + lost <= c.sent_pkts, "{}: {} sent, {received} received, {lost} lost", what(), c.sent_pkts);
                if ended && w.packets_alive() == 0 {
                    whole += 1;
                    assert_eq!(c.sent_pkts, received + lost, "{}: packets are gone", what());
                }
            }
        }
        assert!(accepted >= 8 && whole > 0 && delivering > 0, "{}: {accepted} accepted, {whole} whole, {delivering} deliver", l.name);
    }
}

/// Requests and answers are transactions over either transport; sources that only send have none.
#[test]
fn transactions_are_counted_where_there_are_some() {
    for source in SourceSpec::NAMES.iter().map(|n| n.0) {
        for transport in transports(source) {
            let n = column(&run_seed(&text(source, transport, "droptail"), 1), "transactions");
            match source {
                "web" | "request_response" => assert!(n > 0.0, "{source} {transport}"),
                "bulk" | "cbr" | "poisson" => assert!(n == 0.0, "{source} {transport}: {n}"),
                _ => {}
            }
        }
    }
}

/// A greedy sender of datagrams fills the link and no more: there is no queue before its first link. Before a slower second link it loses the difference.
#[test]
fn bulk_over_udp_is_as_fast_as_its_first_link() {
    let line = |second: &str| {
        format!(
            "duration = \"10s\"\n[links.x]\nfrom = \"a\"\nto = \"r\"\nrate = \"8Mbit/s\"\ndelay = \"1ms\"\n[links.y]\nfrom = \"r\"\nto = \"b\"\nrate = \"{second}\"\ndelay = \"1ms\"\nqueue.droptail = {{ limit = \"10p\" }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nsource = \"bulk\"\n"
        )
    };
    let free = run_seed(&line("8Mbit/s"), 1);
    let full = 8e6 * 1472.0 / 1500.0;
    assert!((column(&free, "goodput") / full - 1.0).abs() < 0.001, "{}", column(&free, "goodput"));
    assert_eq!(column(&free, "packets_lost"), 0.0);
    let link = |name: &str, i: usize| free.links.numbers.iter().find(|c| c.0 == name).unwrap().1[i];
    assert_eq!(link("queue_max", 0), 0.0);
    let narrow = run_seed(&line("2Mbit/s"), 1);
    assert!((column(&narrow, "loss") - 0.75).abs() < 0.01, "{}", column(&narrow, "loss"));
}

/// A file over UDP is complete when all of it arrives, and never where part of it is lost: nothing is sent again.
#[test]
fn a_file_over_udp_completes_without_losses_only() {
    let file = |loss: f64| {
        let text = format!(
            "duration = \"10s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"1ms\"\nloss = {loss}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nsource.file = {{ size = \"147200B\" }}\n"
        );
        run_seed(&text, 1)
    };
    let whole = file(0.0);
    // A hundred datagrams of 1500 byte on the wire: 1.5 ms each.
    assert!((column(&whole, "completion_time") - 0.151).abs() < 1e-9, "{}", column(&whole, "completion_time"));
    let part = file(0.1);
    assert!(column(&part, "completion_time").is_nan() && column(&part, "packets_received") < 100.0);
}
