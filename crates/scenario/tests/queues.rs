//! Every queue of the registry obeys the laws of all queues, with any parameters: conservation, order within a flow, its limit, a link
//! that is never idle while packets wait, marks on ECN-capable packets only. A new line of the registry is tested automatically.

use fairlane_engine::Stream;
use fairlane_net::{Backlog, BuildContext, FlowInfo, LinkInfo, Proto, Qdisc};
use fairlane_queue::{Admit, Discipline, DropTailParams};
use fairlane_scenario::{QueueSpec, registry_listing};
use fairlane_testkit::conformance::{Load, Outcome, Rules, check};
use fairlane_testkit::{draw, limits};
use fairlane_units::{Dur, Len, Rate};
use serde_json::{Map, Value, json};

const LENS: &[u32] = &[40, 576, 1500];
const LARGEST: u32 = 1500;
/// Small limits; the one in bytes holds a few of the largest packets.
const LIMITS: [&str; 2] = ["20p", "9kB"];
/// Random parameter sets per queue.
const DRAWS: usize = 30;

/// Seven flows, TCP and UDP in turn, over a link of this rate.
fn at<R>(mbps: u64, run: impl FnOnce(&BuildContext<'_>) -> R) -> R {
    let link = LinkInfo { rate: Rate::from_mbps(mbps), delay: Dur::from_ms(20) };
    let names: Vec<String> = (0..7).map(|i| format!("f{i}")).collect();
    let proto = |i: u32| if i.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp };
    let flows: Vec<FlowInfo<'_>> =
        names.iter().zip(0..).map(|(name, i)| FlowInfo { name, from: 2 * i, to: 2 * i + 1, proto: proto(i) }).collect();
    run(&BuildContext { link, flows: &flows })
}

/// Packets of 705 bytes in the mean that come every `percent` of their transmission time.
fn load(context: &BuildContext<'_>, percent: u64) -> Load<'static> {
    let mean_gap = Dur::from_ps((context.link.rate.tx_time(705).as_ps() * percent / 100).max(1));
    Load { packets: 4000, flows: 7, lens: LENS, ect: 0.5, mean_gap }
}

/// Queues of the registry and of presets: name for messages, and all parameters.
fn named() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for q in QueueSpec::all() {
        let name = q.name();
        all.push((name.to_owned(), serde_json::to_value(&q).unwrap()));
        for p in QueueSpec::presets(name) {
            let values: Value = serde_json::from_str(p.values).unwrap();
            let q: QueueSpec = serde_json::from_value(json!({ name: values })).unwrap_or_else(|e| panic!("{name} {}: {e}", p.name));
            all.push((format!("{name} preset {}", p.name), serde_json::to_value(&q).unwrap()));
        }
    }
    all
}

/// Runs a queue under every law, including its limit if it has one.
fn conforms(
    queue: &(impl Qdisc + Clone),
    spec: &Value,
    rules: Rules,
    context: &BuildContext<'_>,
    load: &Load<'_>,
) -> Result<Outcome, String> {
    let most = limits::most(spec, LARGEST).unwrap_or(rules.most);
    let out = check(queue, context.link, &load.draw(load.mean_gap.as_ps()), &Rules { most, ..rules })?;
    match out.sent.len() + out.dropped.len() {
        n if n == load.packets => Ok(out),
        n => Err(format!("{n} of {} packets left", load.packets)),
    }
}

fn rules(q: &QueueSpec) -> Rules {
    let n = q.capabilities();
    Rules { keeps_order: !n.reorders, work_conserving: !n.shapes, recolours: n.recolours, ..Rules::default() }
}

/// Reads, checks, builds and runs; the first error is that of the parameters.
fn run(spec: &Value, context: &BuildContext<'_>, load: &Load<'_>) -> Result<Result<Outcome, String>, String> {
    let q: QueueSpec = serde_json::from_value(spec.clone()).map_err(|e| e.to_string())?;
    q.check(context).map_err(|p| format!("{}: {}", p.field, p.message))?;
    Ok(conforms(&q.build(context), spec, rules(&q), context, load))
}

#[test]
fn every_queue_and_preset_conforms() {
    for mbps in [1, 10, 400_000] {
        at(mbps, |context| {
            // Offered load of half, all and twice the link's rate.
            for percent in [200, 100, 50] {
                for (name, spec) in named() {
                    let done = run(&spec, context, &load(context, percent)).and_then(|r| r);
                    done.unwrap_or_else(|e| panic!("{name} at {mbps} Mbit/s: {e}"));
                }
            }
        });
    }
}

/// The parameter `limit` is a promise: no law queues more. A queue that names it differently, or has none, fails here.
#[test]
fn every_queue_and_preset_keeps_its_limit() {
    let mut found = Vec::new();
    at(10, |context| {
        for (name, mut spec) in named() {
            let mut accepted = 0;
            for limit in LIMITS {
                limits::set(&mut spec, limit);
                assert!(limits::most(&spec, LARGEST).is_some(), "{name}: no parameter `limit` says what it holds");
                for percent in [50, 10] {
                    // A queue may count in packets only, or in bytes only.
                    let Ok(done) = run(&spec, context, &load(context, percent)) else { continue };
                    accepted += 1;
                    match done {
                        Ok(out) if out.dropped.is_empty() => found.push(format!("{name} with limits of {limit} dropped nothing")),
                        Ok(_) => {}
                        Err(e) => found.push(format!("{name} with limits of {limit}: {e}")),
                    }
                }
            }
            assert!(accepted > 0, "{name}: none of {LIMITS:?} is a limit that it takes");
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Random parameters from the ranges of the schema, as a user may write them.
#[test]
fn every_queue_conforms_with_drawn_parameters() {
    let mut found = Vec::new();
    at(10, |context| {
        for listed in registry_listing().iter().filter(|l| l.kind == "queue") {
            let mut rng = Stream::new(1, "test", listed.name, "parameters");
            let (mut ran, mut last) = (0, String::new());
            for _ in 0..20 * DRAWS {
                let mut drawn: Map<String, Value> = draw::table(&listed.schema, 0.5, &mut rng);
                drawn.remove("preset");
                let written = json!({ listed.name: drawn });
                // With all its parameters, because limits are read from them.
                let whole = match serde_json::from_value::<QueueSpec>(written.clone()) {
                    Ok(q) => serde_json::to_value(q).unwrap(),
                    Err(e) => panic!("{written}: the schema allows it, but {e}"),
                };
                match run(&whole, context, &load(context, 60)) {
                    Ok(done) => {
                        found.extend(done.err().map(|e| format!("{written}: {e}")));
                        ran += 1;
                    }
                    // Values may be refused together; then others are drawn.
                    Err(why) => last = format!("{written}: {why}"),
                }
                if ran == DRAWS {
                    break;
                }
            }
            if ran < DRAWS {
                found.push(format!("{}: most of what its schema allows is refused, such as {last}", listed.name));
            }
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The checks find a queue that holds more than its limit.
#[test]
fn a_queue_without_its_limit_is_found() {
    at(10, |context| {
        let queue = DropTailParams { limit: Len::Packets(1000), admit: Admit::Fits }.build(context);
        let of = |limit: &str| conforms(&queue, &json!({ "droptail": { "limit": limit } }), Rules::default(), context, &load(context, 50));
        assert!(of("20p").unwrap_err().contains("is above"));
        assert!(of("9kB").unwrap_err().contains("is above"));
        assert_eq!(of("1000p").unwrap().most, Backlog { pkts: 1000, ..of("1000p").unwrap().most });
    });
}
