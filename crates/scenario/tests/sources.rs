//! Every source of the registry over every transport and all kinds of queues: it runs, delivers, conserves packets, and is repeatable. A new line
//! of the registry is tested automatically, unless it cannot run with its defaults.

use crate::common::{column, run_seed};
use fairlane_engine::{QuadHeap, Stream};
use fairlane_scenario::{Format, Resolved, SourceSpec, registry_listing, resolve, world};
use fairlane_testkit::draw;
use fairlane_units::Time;
use serde_json::{Map, Value};

const TRANSPORTS: [&str; 3] = ["tcp = \"newreno\"", "tcp = { preset = \"linux\" }", "udp = {}"];
/// Transports of a source; a rate-controlled source brings its own, over UDP.
fn transports(source: &str) -> &'static [&'static str] {
    let carries = SourceSpec::all().iter().any(|s| s.name() == source && s.carried().is_some());
    if carries { &TRANSPORTS[2..] } else { &TRANSPORTS }
}

const QUEUES: [&str; 8] = ["droptail", "red", "codel", "pie", "fq_codel", "drr", "prio", "sfq"];

/// Parameters of sources that need some; the others run with their defaults.
fn parameters(source: &str) -> &'static str {
    match source {
        "replay" => "{ file = \"data:,0 500 528 1000000 500 528 9000000 100 128\", repeat = true }",
        // The default model reads pages for half a minute.
        "web" => "{ reading = \"100ms\" }",
        _ => "{}",
    }
}

/// Sources without random numbers: another seed changes at most the order of simultaneous events.
/// A new one without random numbers must be added.
const EVEN: [&str; 6] = ["bulk", "file", "cbr", "replay", "tfrc", "rap"];

/// The source stops well before the run ends, so that nothing is in flight at the end.
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

/// Most events of a run with random parameters: some draws would overload the link a hundred times for the whole run.
const BUDGET: u64 = 200_000;

/// True for packets of some bytes: a frame of a megabyte is then hundreds of thousands of packets at one instant, before an event counts.
fn split_too_far(drawn: &Map<String, Value>) -> bool {
    let size = drawn.get("size").and_then(Value::as_str).and_then(|s| s.strip_suffix('B')).and_then(|n| n.parse::<u64>().ok());
    drawn.keys().any(|key| key.ends_with("_size")) && size.is_some_and(|n| n < 100)
}

/// Scenario of [`text`] with other parameters of the source; `None` if they are inconsistent.
fn with_drawn(source: &str, transport: &str, drawn: &Map<String, Value>) -> Option<Resolved> {
    let written = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let sets: Vec<_> = drawn.iter().map(|(key, v)| (format!("flows.f.source.{source}.{key}"), written(v))).collect();
    resolve(&text(source, transport, "droptail"), "x.toml", Format::Toml, &sets).ok()
}

/// All written data is delivered or counted as lost, and a run repeats with its seed, for any parameters of a source.
#[test]
fn any_source_with_any_parameters() {
    let sources = registry_listing().into_iter().filter(|l| l.kind == "source");
    for (number, l) in (0..).zip(sources) {
        let mut rng = Stream::new(number, "test", l.name, "parameters");
        let (mut accepted, mut whole, mut delivering) = (0, 0, 0);
        for _ in 0..24 {
            let mut drawn = draw::table(&l.schema, 0.5, &mut rng);
            // Required parameters stay, such as a recording.
            drawn.retain(|key, value| !value.is_null() && !parameters(l.name).contains(key.as_str()));
            if split_too_far(&drawn) {
                continue;
            }
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

/// A greedy sender of datagrams just fills its first link, which has no queue before it. Before a slower second link it loses the difference.
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

/// A file over UDP is complete when all of it arrives, and never if part of it is lost: there are no retransmissions.
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
    // A hundred datagrams of 1500 bytes on the wire: 1.5 ms each.
    assert!((column(&whole, "completion_time") - 0.151).abs() < 1e-9, "{}", column(&whole, "completion_time"));
    let part = file(0.1);
    assert!(column(&part, "completion_time").is_nan() && column(&part, "packets_received") < 100.0);
}
