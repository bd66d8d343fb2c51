//! Ratios of counters: both cover the same packets, so a share is valid whatever was in flight at the end of the warm-up.

use crate::common::{cell, run};
use fairlane_scenario::RunOutput;

/// Metric of the link with this name.
fn link(out: &RunOutput, name: &str, metric: &str) -> f64 {
    let names = &out.links.text.iter().find(|c| c.0 == "name").unwrap().1;
    let i = names.iter().position(|n| n == name).unwrap_or_else(|| panic!("{names:?}"));
    out.links.numbers.iter().find(|c| c.0 == metric).unwrap().1[i]
}

fn network(out: &RunOutput, metric: &str) -> f64 {
    out.network.numbers.iter().find(|c| c.0 == metric).unwrap().1[0]
}

/// A packet of 1000 bytes every 10 ms over 500 ms; the link is down from just after the end of the warm-up, at 1 s, to 1.1 s.
fn stream(duration: &str, link: &str) -> RunOutput {
    run(&format!(
        "duration = \"{duration}\"\nwarmup = \"1s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"100Mbit/s\"\ndelay = \"500ms\"\nreverse.down = []\n{link}\n\
         [flows.u]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nsource.cbr = {{ rate = \"800kbit/s\", size = \"972B\" }}\n"
    ))
}

/// RFC 7680 section 2.4: loss of a packet is 0 or 1, so a packet loss ratio lies between them. When the link fails 50 packets are in flight, then 10 find it down; those sent
/// from 1.1 s on arrive from 1.6 s on.
#[test]
fn loss_counts_packets_whose_fate_was_decided_in_the_span() {
    let down = "down = [{ at = \"1.001s\", until = \"1.1s\" }]";
    let short = stream("1.3s", down);
    let (sent, lost) = (cell(&short, "packets_sent", 0), cell(&short, "packets_lost", 0));
    assert!((29.0..=31.0).contains(&sent) && (58.0..=63.0).contains(&lost), "{sent} {lost}");
    let received = cell(&short, "packets_received", 0);
    assert!(received <= 1.0);
    assert_eq!((cell(&short, "loss", 0), network(&short, "loss")), (lost / (lost + received), lost / (lost + received)));
    let long = stream("1.8s", down);
    let (lost, received) = (cell(&long, "packets_lost", 0), cell(&long, "packets_received", 0));
    assert!((19.0..=22.0).contains(&received), "{received}");
    assert_eq!(cell(&long, "loss", 0), lost / (lost + received));
    assert_eq!(network(&long, "loss"), lost / (lost + received));
    // The queue, which is always empty, dropped 10 and sent the others.
    assert_eq!(link(&long, "l", "loss"), link(&long, "l", "drops") / (link(&long, "l", "drops") + link(&long, "l", "departures")));
}

/// Packets queued when the link failed had arrived before the warm-up ended; hardly any arrive after it.
#[test]
fn a_queue_that_drops_what_it_held_loses_all_of_it() {
    let out = run(
        "duration = \"2s\"\nwarmup = \"1s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\nqueue.droptail.limit = \"1000p\"\n\
         reverse.down = []\ndown = [{ at = \"1.001s\", until = \"2s\" }]\n\
         [flows.u]\nfrom = \"a\"\nto = \"b\"\nstop = \"1s\"\nudp = {}\nsource.cbr = { rate = \"2Mbit/s\", size = \"972B\" }\n",
    );
    let (drops, arrivals, departures) = (link(&out, "l", "drops"), link(&out, "l", "arrivals"), link(&out, "l", "departures"));
    assert!(drops > 100.0 && arrivals <= 1.0, "{drops} {arrivals}");
    assert_eq!(link(&out, "l", "loss"), drops / (drops + departures));
    assert!((0.98..=1.0).contains(&cell(&out, "loss", 0)), "{}", cell(&out, "loss", 0));
}

/// One packet enters, two leave the first link and are lost on the second.
#[test]
fn copies_that_are_lost_are_no_more_than_all() {
    let line = |name: &str, from: &str, to: &str, more: &str| {
        format!("[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\n{more}\n")
    };
    let flow = "[flows.u]\nfrom = \"a\"\nto = \"c\"\nudp = {}\nsource.cbr = { rate = \"800kbit/s\", size = \"972B\" }\n";
    let text = format!("duration = \"2s\"\n{}{}{flow}", line("l", "a", "b", "duplicate = 1.0"), line("m", "b", "c", "loss = 1.0"));
    let out = run(&text);
    assert!(cell(&out, "packets_lost", 0) >= 2.0 * cell(&out, "packets_sent", 0) - 4.0);
    assert_eq!((cell(&out, "loss", 0), network(&out, "loss")), (1.0, 1.0));
}

/// A flow whose packets have left a link is affected by its loss events, so each event there affects all flows of the link.
#[test]
fn losses_hit_flows_that_took_the_link_in_the_span() {
    let line = |name: &str, from: &str, to: &str, more: &str| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"5Mbit/s\"\ndelay = \"5ms\"\nqueue.droptail.limit = \"20p\"\n{more}\n"
        )
    };
    let text = format!(
        "duration = \"20s\"\nwarmup = \"2s\"\nreroute = \"0s\"\n{}{}{}{}[flows.t]\nfrom = \"a\"\nto = \"c\"\ntcp = \"newreno\"\n",
        line("near", "a", "b", "down = [{ at = \"10s\", until = \"30s\" }]").replace("5Mbit/s", "20Mbit/s"),
        line("on", "b", "c", ""),
        line("far", "a", "d", "").replace("5ms", "6ms").replace("5Mbit/s", "20Mbit/s"),
        line("last", "d", "c", "down = [{ at = \"1s\", until = \"9s\" }]"),
    );
    let out = run(&text);
    assert!(link(&out, "on", "loss_events") > 0.0 && link(&out, "last", "loss_events") > 0.0);
    assert_eq!((link(&out, "on", "loss_synchronisation"), link(&out, "last", "loss_synchronisation")), (1.0, 1.0));
}

/// A transmission ends at a whole picosecond, and a packet has a whole number of bits: the carried amount never decreases, and all samples add up to it.
#[test]
fn what_a_link_carries_never_falls() {
    for rate in ["33.3Mbit/s", "9.999999Mbit/s", "1.234567Gbit/s"] {
        let text = format!(
            "duration = \"1s\"\nwarmup = \"300ms\"\nsample = \"10ms\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\ndelay = \"1ms\"\nloss = 0.1\n\
             [flows.u]\nfrom = \"a\"\nto = \"b\"\ncount = 3\nudp = {{}}\nsource.cbr = {{ rate = \"3Mbit/s\" }}\n"
        );
        let out = run(&text);
        let series = out.link_series.as_ref().unwrap().table();
        let column = |name: &str| series.numbers.iter().find(|c| c.0 == name).unwrap().1.clone();
        let (time, rate, drops) = (column("time"), column("throughput"), column("drops"));
        assert!(rate.iter().all(|x| *x >= 0.0), "{:?}", rate.iter().find(|x| **x < 0.0));
        let links = series.text[0].1.iter();
        let of_l: Vec<usize> = links.enumerate().filter(|(i, n)| *n == "l" && time[*i] > 0.3 + 1e-9).map(|(i, _)| i).collect();
        let carried: f64 = of_l.iter().map(|&i| rate[i] * 0.01).sum();
        assert!((carried - link(&out, "l", "throughput") * 0.7).abs() < 1e-3, "{carried}");
        // Losses of the link are not losses of its queue.
        assert_eq!((of_l.iter().map(|&i| drops[i]).sum::<f64>(), link(&out, "l", "drops")), (0.0, 0.0));
        assert!(link(&out, "l", "lost") > 10.0);
    }
}

fn of_flows(out: &RunOutput, metric: &str) -> Vec<f64> {
    out.flows.numbers.iter().find(|c| c.0 == metric).unwrap().1.clone()
}

/// Two parallel dumbbells, one ten times as fast; each has the same flows. `order`: order of the flow declarations.
fn two_bottlenecks(order: &[&str]) -> RunOutput {
    let line = |name: &str, from: &str, to: &str, rate: &str| {
        format!("[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"1ms\"\n")
    };
    let flow = |name: &str| {
        let (from, to, rate) = match name {
            "s1" | "s2" => ("a", "c", "1Mbit/s"),
            "s3" => ("c", "a", "500kbit/s"),
            _ => ("d", "f", "9Mbit/s"),
        };
        format!("[flows.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nudp = {{}}\nsource.cbr = {{ rate = \"{rate}\" }}\n")
    };
    let links =
        [("x", "a", "b", "100Mbit/s"), ("slow", "b", "c", "2.2Mbit/s"), ("y", "d", "e", "100Mbit/s"), ("fast", "e", "f", "20Mbit/s")];
    let links: String = links.iter().map(|(name, from, to, rate)| line(name, from, to, rate)).collect();
    run(&format!("duration = \"5s\"\nwarmup = \"1s\"\n{links}{}", order.iter().map(|name| flow(name)).collect::<String>()))
}

/// Flows over different links, or in different directions of one, do not compete: equal shares at each bottleneck are fair. Over all goodputs the index would be 0.6.
#[test]
fn flows_of_different_bottlenecks_and_directions_are_not_compared() {
    let out = two_bottlenecks(&["s1", "s2", "s3", "f1", "f2"]);
    let shares = of_flows(&out, "share");
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.01), "{shares:?}");
    assert!(network(&out, "jain") > 0.9999 && network(&out, "worst_share") > 0.99, "{}", network(&out, "jain"));
    let at = |metric: &str| ["slow", "slow.reverse", "fast", "x", "fast.reverse"].map(|name| link(&out, name, metric));
    assert_eq!(at("bottleneck_flows"), [2.0, 1.0, 2.0, 0.0, 0.0]);
    let jain = at("jain");
    assert!(jain[..3].iter().all(|j| *j > 0.9999) && jain[3..].iter().all(|j| j.is_nan()), "{jain:?}");
    let fair = of_flows(&out, "fair_share");
    assert!(fair[0] == fair[1] && fair[3] == fair[4] && (fair[3] / fair[0] - 9.0).abs() < 0.1, "{fair:?}");
}

/// The order of declaration has no effect.
#[test]
fn bottlenecks_do_not_depend_on_the_order_of_flows() {
    let (one, other) = (two_bottlenecks(&["s1", "s2", "s3", "f1", "f2"]), two_bottlenecks(&["f2", "s3", "f1", "s2", "s1"]));
    for metric in ["bottleneck_flows", "jain"] {
        for name in ["slow", "slow.reverse", "fast", "x", "y"] {
            let (a, b) = (link(&one, name, metric), link(&other, name, metric));
            assert!((a - b).abs() < 1e-3 || (a.is_nan() && b.is_nan()), "{metric} of {name}: {a} {b}");
        }
    }
}

/// With one bottleneck the index is that of all goodputs (Jain, Chiu and Hawe 1984), including starved flows: behind access links as fast as the bottleneck a starved flow competes, too.
#[test]
fn one_bottleneck_has_the_index_of_all_goodputs() {
    let out = run(
        "duration = \"5s\"\nwarmup = \"1s\"\n[topology.dumbbell]\npairs = 3\nbottleneck = { rate = \"10Mbit/s\", delay = \"5ms\", queue.droptail.limit = \"5p\" }\n\
         access = { rate = \"10Mbit/s\", delay = \"1ms\" }\n\
         [flows.u]\nfrom = \"s{i}\"\nto = \"d{i}\"\ncount = 2\nudp = {}\nsource.cbr = { rate = \"9.9Mbit/s\" }\n[flows.t]\nfrom = \"s2\"\nto = \"d2\"\ntcp = \"newreno\"\n",
    );
    let x = of_flows(&out, "goodput");
    let index = x.iter().sum::<f64>().powi(2) / (3.0 * x.iter().map(|v| v * v).sum::<f64>());
    assert!((network(&out, "jain") - index).abs() < 1e-12 && (link(&out, "bottleneck", "jain") - index).abs() < 1e-12, "{x:?}");
    assert_eq!(link(&out, "bottleneck", "bottleneck_flows"), 3.0);
    let mean = x.iter().sum::<f64>() / 3.0;
    assert!(of_flows(&out, "share").iter().zip(&x).all(|(share, x)| (share - x / mean).abs() < 1e-12));
}

/// A flow limited by its own access link is not compared with flows behind a link that it hardly uses.
#[test]
fn a_slow_access_link_is_a_bottleneck_of_its_own() {
    let out = run(
        "duration = \"20s\"\nwarmup = \"5s\"\n[topology.dumbbell]\npairs = 3\nbottleneck = { rate = \"10Mbit/s\", delay = \"5ms\" }\naccess = { rate = \"100Mbit/s\", delay = \"1ms\" }\n\
         rates = [\"1Mbit/s\", \"100Mbit/s\", \"100Mbit/s\"]\n[flows.t]\nfrom = \"s{i}\"\nto = \"d{i}\"\ncount = 3\ntcp = \"newreno\"\n",
    );
    let (names, count) = (&out.links.text[0].1, out.links.numbers.iter().find(|c| c.0 == "bottleneck_flows").unwrap());
    let found: Vec<(&str, f64)> = names.iter().map(|n| &**n).zip(count.1.iter().copied()).filter(|(_, n)| *n > 0.0).collect();
    assert_eq!(found.iter().map(|f| f.1).sum::<f64>(), 3.0);
    assert_eq!(link(&out, "bottleneck", "bottleneck_flows"), 2.0, "{found:?}");
    assert_eq!(of_flows(&out, "share")[0], 1.0);
}

/// Two links in series leave a flow the same rate: the name decides, in any order.
#[test]
fn equal_links_are_told_apart_by_their_names() {
    let line = |name: &str, from: &str, to: &str| {
        format!("[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\n")
    };
    let flow = "[flows.u]\nfrom = \"a\"\nto = \"c\"\ncount = 2\nudp = {}\nsource.cbr = { rate = \"3Mbit/s\" }\n";
    let lines = [line("second", "a", "b"), line("first", "b", "c")];
    for links in [lines.concat(), lines.iter().rev().cloned().collect()] {
        let out = run(&format!("duration = \"2s\"\n{links}{flow}"));
        assert_eq!((link(&out, "first", "bottleneck_flows"), link(&out, "second", "bottleneck_flows")), (2.0, 0.0));
    }
}

/// Stations of a channel share the medium in both directions: they have one bottleneck, and a faster wire behind it is the bottleneck of none.
#[test]
fn a_channel_is_one_bottleneck() {
    let out = run(
        "duration = \"4s\"\nwarmup = \"1s\"\n[wireless.air]\nstandard = \"802.11b\"\nrate = \"11Mbit/s\"\naccess_point = \"ap\"\nnodes.ap = [0, 0]\nring = { count = 3, radius_m = 1 }\n\
         [links.wire]\nfrom = \"ap\"\nto = \"far\"\nrate = \"9Mbit/s\"\ndelay = \"1ms\"\n\
         [flows.up]\nfrom = \"n{i}\"\nto = \"far\"\ncount = 2\nudp = {}\nsource.cbr = { rate = \"8Mbit/s\", size = \"1000B\" }\n\
         [flows.down]\nfrom = \"far\"\nto = \"n2\"\nudp = {}\nsource.cbr = { rate = \"8Mbit/s\", size = \"1000B\" }\n",
    );
    let (names, count) = (&out.links.text[0].1, &out.links.numbers.iter().find(|c| c.0 == "bottleneck_flows").unwrap().1);
    for (name, n) in names.iter().zip(count) {
        assert_eq!(*n, if name.starts_with("wire") { 0.0 } else { 3.0 }, "{name}");
    }
    let x = of_flows(&out, "goodput");
    let index = x.iter().sum::<f64>().powi(2) / (3.0 * x.iter().map(|v| v * v).sum::<f64>());
    assert!((network(&out, "jain") - index).abs() < 1e-12, "{x:?}");
}
