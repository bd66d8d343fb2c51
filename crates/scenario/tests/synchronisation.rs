//! Global synchronisation in losses: `loss_events` and `loss_synchronisation` of a link.

use crate::common::{cell, run};

/// Flows with this congestion control over 10 Mbit/s; their round-trip times differ a little.
fn network(flows: usize, queue: &str) -> String {
    let mut text = format!(
        "duration = \"120s\"\nwarmup = \"20s\"\n[topology.dumbbell]\npairs = {flows}\nbottleneck = {{ rate = \"10Mbit/s\", delay = \"10ms\", queue.{queue} }}\naccess = {{ rate = \"100Mbit/s\", delay = \"1ms\" }}\n"
    );
    for i in 0..flows {
        text += &format!(
            "[flows.f{i}]\nfrom = \"s{i}\"\nto = \"d{i}\"\nstart = \"{}ms\"\ntcp = {{ cc = \"newreno\", mss = \"1000B\" }}\n",
            37 * i
        );
    }
    text
}

/// Metric of the bottleneck.
fn at_bottleneck(text: &str, metric: &str) -> f64 {
    let out = run(text);
    let names = &out.links.text.iter().find(|c| c.0 == "name").unwrap().1;
    let i = names.iter().position(|n| n == "bottleneck").unwrap_or_else(|| panic!("{names:?}"));
    out.links.numbers.iter().find(|c| c.0 == metric).unwrap().1[i]
}

/// A single flow is affected by every event, with any queue; a link without losses has no events and no share.
#[test]
fn one_flow_is_all_there_are() {
    let text = network(1, "droptail = { limit = \"30p\" }");
    assert_eq!(at_bottleneck(&text, "loss_synchronisation"), 1.0);
    let events = at_bottleneck(&text, "loss_events");
    let cuts = cell(&run(&text), "cwnd_cuts", 0);
    assert!(events > 10.0 && (events - cuts).abs() <= 2.0, "a Reno flow halves its window once an event: {events} {cuts}");
    let idle = network(1, "droptail = { limit = \"10000p\" }").replace("mss", "window = \"10p\", mss");
    assert_eq!(at_bottleneck(&idle, "loss_events"), 0.0);
    assert!(at_bottleneck(&idle, "loss_synchronisation").is_nan());
}

/// Floyd and Jacobson 1993, section 1: a full DropTail queue makes many flows halve their windows together; RED drops one packet at a time.
#[test]
fn red_hits_fewer_flows_at_a_time_than_droptail() {
    let tail = at_bottleneck(&network(10, "droptail = { limit = \"60p\" }"), "loss_synchronisation");
    let red = at_bottleneck(
        &network(10, "red = { limit = \"200p\", min = \"10p\", max = \"100p\", max_p = 0.1, w_q = 0.002 }"),
        "loss_synchronisation",
    );
    assert!((0.1..0.3).contains(&red) && tail > 1.5 * red && tail < 1.0, "{tail} {red}");
}
