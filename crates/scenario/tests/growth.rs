//! The steps per packet grow at most with the logarithm of what waits and of the number of flows, in everything that the registry lists. A new
//! line of the registry is tested automatically. What counts as a step: `fairlane_engine::steps`.

use fairlane_engine::steps::steps;
use fairlane_engine::{Stream, Wheel};
use fairlane_net::{BuildContext, Class, Ecn, FlowId, FlowInfo, Impairments, LinkInfo, Observer, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_queue::Discipline;
use fairlane_scenario::{ControlSpec, Format, QueueSpec, Simulation, SourceSpec, Waiting, resolve, world};
use fairlane_tcp::CcParams;
use fairlane_testkit::growth::{assert_costs_logarithmic, assert_logarithmic};
use fairlane_testkit::limits;
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};
use std::sync::Arc;

/// Length of a packet in bytes.
const LENGTH: u32 = 1000;

/// With the clock of ns-2's FQ, the order of flows depends on how many wait, and each departure looks at all of them, as the parameter says.
const LINEAR: &str = "fq preset ns2";

/// Queues of the registry and of presets, by name.
fn queues() -> Vec<(String, Value)> {
    let preset = |name: &str, values: &str| json!({ name: serde_json::from_str::<Value>(values).unwrap() });
    let all = QueueSpec::all().into_iter().flat_map(|q| {
        let name = q.name();
        let presets = QueueSpec::presets(name).iter().map(move |p| (format!("{name} preset {}", p.name), preset(name, p.values)));
        std::iter::once((name.to_owned(), serde_json::to_value(&q).unwrap())).chain(presets)
    });
    all.filter(|(name, _)| name != LINEAR).collect()
}

/// Offers packets of `flows` flows at twice the rate of the link, until the queue has held `limit` packets for long; returns their number.
fn overload(spec: &Value, limit: usize, flows: usize) -> usize {
    let link = LinkInfo { rate: Rate::from_mbps(10_000), delay: Dur::from_ms(1) };
    let names: Vec<String> = (0..flows).map(|i| format!("f{i}")).collect();
    let info = |(name, i): (_, u32)| FlowInfo { name, from: 2 * i, to: 2 * i + 1, proto: Proto::Tcp };
    let all: Vec<FlowInfo<'_>> = names.iter().map(String::as_str).zip(0..).map(info).collect();
    let mut spec = spec.clone();
    limits::set(&mut spec, &format!("{limit}p"));
    let spec: QueueSpec = serde_json::from_value(spec).unwrap();
    let mut queue = spec.build(&BuildContext { link, flows: &all });
    let mut rng = Stream::new(1, "test", spec.name(), "queue");
    let mut load = Stream::new(1, "test", spec.name(), "load");
    let mut drops = Vec::new();
    let mut ids: Vec<u32> = (0..2 * limit as u32 + 100).rev().collect();
    let slot = link.rate.tx_time(LENGTH.into());
    let (mut now, mut timer) = (Time::ZERO, if queue.has_timer() { Time::ZERO } else { Time::MAX });
    let packets = 8 * limit.max(flows);
    for k in 0..packets {
        let flow = load.below(flows as u64) as u32;
        let class = Class((load.below(8) * 8) as u8);
        let p =
            Packet { id: PacketRef(ids.pop().unwrap_or(0)), len: LENGTH, flow: FlowId(flow), at: now, class, ecn: Ecn::NotEct, ..PACKET };
        queue.enqueue(p, &mut QCx { now, rng: &mut rng, drops: &mut drops, marks: 0 });
        if k % 2 == 0 {
            now += slot;
            let mut cx = QCx { now, rng: &mut rng, drops: &mut drops, marks: 0 };
            if timer <= now {
                timer = queue.on_timer(&mut cx).unwrap_or(Time::MAX);
            }
            ids.extend(queue.dequeue(&mut cx).map(|p| p.id.0));
        }
        ids.extend(drops.drain(..).map(|(p, _)| p.id.0));
    }
    packets
}

#[test]
fn queues_do_not_grow_with_flows_or_packets() {
    for (name, spec) in queues() {
        assert_logarithmic(&format!("{name}, many packets"), 250, |n| overload(&spec, n, 16));
        assert_logarithmic(&format!("{name}, many flows"), 250, |n| overload(&spec, 200, n));
        assert_logarithmic(&format!("{name}, many flows and packets"), 250, |n| overload(&spec, n, n));
    }
}

/// A queue with a class for each of `n` flows; where classes form a tree, they borrow from one root.
fn classes(name: &str, n: usize) -> Value {
    let class = |i: usize| match name {
        "htb" => {
            json!({ "name": format!("c{i}"), "parent": "root", "rate": "10kbit/s", "ceil": "10Gbit/s", "match": format!("flow:f{i}") })
        }
        "hfsc" => json!({ "name": format!("c{i}"), "parent": "root", "ls": { "m2": "1Mbit/s" }, "rt": { "m2": "10kbit/s" },
                          "ul": { "m2": "10Gbit/s" }, "match": format!("flow:f{i}") }),
        _ => json!({ "match": format!("flow:f{i}") }),
    };
    let root = match name {
        "htb" => Some(json!({ "name": "root", "rate": "10Gbit/s" })),
        "hfsc" => Some(json!({ "name": "root", "ls": { "m2": "10Gbit/s" } })),
        _ => None,
    };
    let all: Vec<Value> = root.into_iter().chain((0..n).map(class)).collect();
    json!({ name: { "classes": all } })
}

#[test]
fn queues_do_not_grow_with_classes() {
    let tables = QueueSpec::all().into_iter().map(|q| (q.name(), serde_json::to_value(&q).unwrap()));
    let mut tried = 0;
    for (name, _) in tables.filter(|(name, table)| table[name].get("classes").is_some()) {
        assert_logarithmic(&format!("{name}, many classes"), 60, |n| overload(&filled(&classes(name, n)), 2 * n, n));
        tried += 1;
    }
    assert!(tried >= 8, "{tried} queues have classes");
}

/// The queue with all its parameters.
fn filled(spec: &Value) -> Value {
    serde_json::to_value(serde_json::from_value::<QueueSpec>(spec.clone()).unwrap()).unwrap()
}

/// Acknowledgments of `n` downloads wait before a link that is 50 times slower; CAKE's filter looks for older ones of their connection.
#[test]
fn filters_of_acknowledgments_do_not_grow_with_flows() {
    for filter in ["filter", "aggressive"] {
        let run = |n: usize| {
            whole_run(&format!(
                "duration = \"3s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"{}kbit/s\"\ndelay = \"10ms\"\n\
                 reverse = {{ rate = \"{}kbit/s\", queue.cake = {{ ack_filter = \"{filter}\", isolation = \"flows\" }} }}\n\
                 [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {n}\nspread = \"500ms\"\ntcp = \"cubic\"\n",
                500 * n,
                10 * n
            ))
        };
        assert_costs_logarithmic(filter, 20, run);
    }
}

/// Steps of `Simulation::set` in a network of `n` links.
fn change_of_a_link(n: usize) -> f64 {
    let links: String = (0..n)
        .map(|i| format!("[links.l{i}]\nfrom = \"n{i}\"\nto = \"n{}\"\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\nqueue = \"red\"\n", i + 1))
        .collect();
    let text = format!("duration = \"9s\"\n{links}[flows.f]\nfrom = \"n0\"\nto = \"n{n}\"\nudp = {{}}\nsource = \"cbr\"\n");
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    let mut set = |value: &str| run.set(&[("links.l7.rate".to_owned(), value.to_owned())], Waiting::Move).unwrap();
    // The first change finds the link among all others.
    set("8Mbit/s");
    let before = steps();
    for k in 1..=10 {
        set(&format!("{k}Mbit/s"));
    }
    let cost = (steps() - before) as f64 / 10.0;
    assert!(cost > 1.0);
    cost
}

/// Steps of `Simulation::set` in a network of `n` flows, with another seed than the scenario's.
fn change_beside_flows(n: usize, path: &str, values: [&str; 2]) -> f64 {
    let text = format!(
        "duration = \"9s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\nqueue = \"red\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {n}\nstart = \"5s\"\nudp = {{}}\nsource = \"cbr\"\n"
    );
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 2, false).unwrap();
    let mut set = |k: usize| run.set(&[(path.to_owned(), values[k % 2].to_owned())], Waiting::Move).unwrap();
    set(0);
    let before = steps();
    (1..=10).for_each(&mut set);
    (steps() - before) as f64 / 10.0
}

/// Steps for each of `n` changes of as many links, of reading them and of the run.
fn change_of_every_link(n: usize) -> f64 {
    let links: String =
        (0..n).map(|i| format!("[links.l{i}]\nfrom = \"n{i}\"\nto = \"n{}\"\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\n", i + 1)).collect();
    let changes: String =
        (0..n).map(|i| format!("[[at]]\ntime = \"{}ms\"\nset = {{ \"links.l{i}.rate\" = \"8Mbit/s\" }}\n", i + 1)).collect();
    let text = format!("duration = \"9s\"\n{links}[flows.f]\nfrom = \"n0\"\nto = \"n{n}\"\nudp = {{}}\nsource = \"cbr\"\n{changes}");
    let before = steps();
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    while !run.advance(Time::ZERO + Dur::from_secs(2)).unwrap() {}
    let cost = (steps() - before) as f64 / n as f64;
    assert_eq!(run.state().links[n - 1].forward.rate, Some(Rate::from_mbps(8)));
    cost
}

/// Steps for each of `n` flows that stop, and restart one after the other, with another seed than the scenario's.
fn restarts(n: usize) -> f64 {
    let text = format!(
        "duration = \"4s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"9Gbit/s\"\ndelay = \"1ms\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {n}\nspread = \"500ms\"\nudp = {{}}\nsource.cbr.rate = \"24kbit/s\"\n\
         [[at]]\ntime = \"1s\"\nset = {{ \"flows.f.stop\" = \"1s\" }}\n\
         [[at]]\ntime = \"2s\"\nset = {{ \"flows.f.start\" = \"2s\", \"flows.f.stagger\" = \"{}us\" }}\n",
        1_000_000 / n
    );
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 2, false).unwrap();
    let before = steps();
    while !run.advance(Time::ZERO + Dur::from_secs(4)).unwrap() {}
    (steps() - before) as f64 / n as f64
}

/// Steps of a change after `n` others, and of a short call of `Simulation::advance` with it.
fn change_after(n: usize, path: &str, values: [&str; 2]) -> f64 {
    let text = "duration = \"60s\"\nsample = \"1ms\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\n\
                queue = \"red\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {}\nsource.cbr.rate = \"12Mbit/s\"\n";
    let scenario = resolve(text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    let mut change = |k: usize| {
        run.set(&[(path.to_owned(), values[k % 2].to_owned())], Waiting::Move).unwrap();
        while !run.advance(Time::ZERO + Dur::from_ms(k as u64)).unwrap() {}
    };
    (1..=n).for_each(&mut change);
    let before = steps();
    (n + 1..=n + 20).for_each(&mut change);
    (steps() - before) as f64 / 20.0
}

#[test]
fn changes_do_not_grow_with_earlier_ones() {
    for (key, values) in [("rate", ["8Mbit/s", "7Mbit/s"]), ("delay", ["2ms", "3ms"]), ("loss", ["0.1", "0.2"]), ("queue", ["pie", "red"])]
    {
        assert_costs_logarithmic(key, 100, |n| change_after(n, &format!("links.line.{key}"), values));
    }
}

#[test]
fn changes_do_not_grow_with_the_network() {
    assert_costs_logarithmic("set", 20, change_of_a_link);
    assert_costs_logarithmic("a change of every link", 20, change_of_every_link);
    for (key, values) in
        [("rate", ["8Mbit/s", "7Mbit/s"]), ("delay", ["2ms", "3ms"]), ("loss", ["0.1", "0.2"]), ("queue.red.max", ["30p", "40p"])]
    {
        assert_costs_logarithmic(key, 20, |n| change_beside_flows(n, &format!("links.line.{key}"), values));
    }
}

#[test]
fn restarts_do_not_grow_with_flows() {
    assert_costs_logarithmic("restarts", 50, restarts);
}

/// Steps of a short call of `Simulation::advance` with `n` packets in a queue.
fn short_advance(n: usize, queue: &str) -> f64 {
    let text = format!(
        r#"duration = "60s"
        [links.line]
        from = "a"
        to = "b"
        rate = "100Mbit/s"
        delay = "1ms"
        queue.{queue}.limit = "{n}p"
        [flows.f]
        from = "a"
        to = "b"
        udp = {{}}
        source.cbr = {{ rate = "200Mbit/s", size = "1000B" }}"#
    );
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    let mut to = |time: Time| while !run.advance(time).unwrap() {};
    let full = Time::ZERO + Dur::from_us(100 * n as u64);
    to(full);
    let before = steps();
    (1..=200).for_each(|k| to(full + Dur::from_us(10 * k)));
    let cost = (steps() - before) as f64 / 200.0;
    let waiting: u32 = run.waiting(0).unwrap().iter().map(|w| w.1).sum();
    assert!(queue != "droptail" || waiting as usize > n / 2, "{waiting} of {n} wait");
    cost
}

/// Steps of a short call of `Simulation::advance` and of reading the queue afterwards, with `n` flows.
fn reading_a_queue(n: usize) -> f64 {
    let text = format!(
        "duration = \"60s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\nqueue = \"fq_codel\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {n}\nudp = {{}}\nsource.poisson = {{ rate = \"{}kbit/s\", size = \"1000B\" }}\n",
        200_000 / n
    );
    let scenario = resolve(&text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    let mut read = |k: u64| {
        while !run.advance(Time::ZERO + Dur::from_us(100_000 + 170 * k)).unwrap() {}
        run.queue(0)
    };
    let before = steps();
    let first = read(0);
    assert!((1..=200).map(read).filter(|row| *row != first).count() > 150);
    (steps() - before) as f64 / 200.0
}

#[test]
fn reads_do_not_grow_with_flows() {
    assert_costs_logarithmic("reading a queue", 20, reading_a_queue);
}

#[test]
fn short_advances_do_not_grow_with_what_waits() {
    for queue in ["droptail", "red", "fq_codel"] {
        assert_costs_logarithmic(&format!("advance, {queue}"), 250, |n| short_advance(n, queue));
    }
}

/// Steps of a whole run for each packet that is sent or crosses the link.
fn whole_run(text: &str) -> f64 {
    let scenario = resolve(text, "f.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut world = world::<Wheel<u64>>(&scenario, 1).unwrap_or_else(|e| panic!("{e}"));
    let (before, end) = (steps(), Time::ZERO + scenario.duration);
    // Controls act only with an observer.
    let there =
        if scenario.expanded.controls.is_empty() { world.advance(end, u64::MAX, &mut ()) } else { world.advance(end, u64::MAX, &mut Idle) };
    let sent: u64 = world.flows().iter().map(|f| f.counters.sent_pkts).sum();
    assert!(there && sent > 300, "{sent} packets\n{text}");
    (steps() - before) as f64 / (sent + world.packet_hops()) as f64
}

struct Idle;
impl Observer for Idle {}

/// `n` flows of a kind over a link that has the same rate for each.
fn flows(n: usize, seconds: u32, flow: &str) -> String {
    format!(
        "duration = \"{seconds}s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"{}kbit/s\"\ndelay = \"10ms\"\n\
         queue.droptail.limit = \"{}p\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {n}\n{flow}\n",
        200 * n,
        4 * n
    )
}

#[test]
fn sources_do_not_grow_with_flows() {
    for source in SourceSpec::NAMES.iter().map(|n| n.0) {
        let parameters = match source {
            "replay" => "{ file = \"data:,0 500 528 1000000 500 528 9000000 100 128\", repeat = true }",
            "web" => "{ reading = \"100ms\" }",
            _ => "{}",
        };
        let carries = SourceSpec::all().iter().any(|s| s.name() == source && s.carried().is_some());
        for transport in ["udp = {}", "tcp.preset = \"linux\""].into_iter().take(if carries { 1 } else { 2 }) {
            let flow = format!("{transport}\nsource.{source} = {parameters}\nspread = \"1s\"");
            assert_costs_logarithmic(&format!("{source} with {transport}"), 20, |n| whole_run(&flows(n, 4, &flow)));
        }
    }
}

/// A path that holds `n` packets and a buffer of as many: slow start ends with a burst of losses.
#[test]
fn congestion_controls_do_not_grow_with_the_window() {
    for cc in CcParams::ALL {
        for preset in ["rfc", "linux", "ns2"] {
            let run = |n: usize| {
                whole_run(&format!(
                    "duration = \"6s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"{}kbit/s\"\ndelay = \"50ms\"\n\
                     queue.droptail.limit = \"{n}p\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n\
                     tcp = {{ preset = \"{preset}\", cc = \"{}\", receive_window = \"16MiB\" }}\n",
                    120 * n,
                    cc.name
                ))
            };
            assert_costs_logarithmic(&format!("{} with the preset {preset}", cc.name), 150, run);
        }
    }
}

#[test]
fn controls_do_not_grow_with_flows() {
    for control in ControlSpec::NAMES.iter().map(|n| n.0) {
        let flow = format!("class = 2\ntcp = {{}}\nsource.file.size = \"30kB\"\nspread = \"4s\"\n[control.{control}]\n");
        assert_costs_logarithmic(control, 20, |n| whole_run(&flows(n, 20, &flow)));
    }
}

/// Packets in flight, and flows, on a link with each impairment.
#[test]
fn impairments_do_not_grow_with_packets_or_flows() {
    for &name in Impairments::NAMES {
        let values: &[&str] = match name {
            "loss" => &[
                "{ share = 0.02, correlation = 0.3 }",
                "{ gilbert_elliott = { p = 0.01, r = 0.3 } }",
                "{ four_states = { p13 = 0.01, p31 = 0.3 } }",
                "{ every = 50 }",
                "{ list = [1, 50, 300, 20000] }",
            ],
            "duplicate" => &["0.02"],
            "reorder" => &["{ share = 0.1, delay = \"20ms\" }"],
            "jitter" => &["\"40ms\"", "{ width = \"10ms\", distribution = \"pareto\", keep_order = true, correlation = 0.5 }"],
            "corrupt" => &["0.02"],
            "slot" => &[
                "{ min = \"1ms\", max = \"5ms\", packets = 20 }",
                "{ delay = \"3ms\", jitter = \"1ms\", distribution = \"normal\", bytes = \"20kB\" }",
            ],
            "remark" => &["{ ecn = \"bleach\" }"],
            "nat" => &["\"30s\""],
            "black_hole" => &["\"1400B\""],
            // From 100 to 140 ms and back, with 2 % losses.
            "profile" => &["\"data:,6 0 100000000000 20000000 500000000000 140000000000 20000000 1000000000000 100000000000 0\""],
            other => panic!("write a value of `{other}` that makes it work"),
        };
        let delay = if name == "profile" { "" } else { "delay = \"100ms\"\n" };
        for value in values {
            let run = |packets: usize, flows: usize| {
                whole_run(&format!(
                    "duration = \"2s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"{}kbit/s\"\n{delay}{name} = {value}\n\
                     [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {flows}\nudp = {{}}\nsource.poisson.rate = \"{}kbit/s\"\n",
                    packets * 100,
                    (packets * 80).div_ceil(flows),
                ))
            };
            assert_costs_logarithmic(&format!("{name} = {value}, packets"), 250, |n| run(n, 10));
            assert_costs_logarithmic(&format!("{name} = {value}, flows"), 60, |n| run(1000, n));
        }
    }
}
