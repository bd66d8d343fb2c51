//! Source-based control in the environments of C. Yang and C.-H. Fu, 2001: two sources with 100 flows of 1 MB each over a shared 1 Mbit/s link.
//!
//! Unstated parameters follow from the paper's numbers: MB = 10^6 bytes, packets of 1000 bytes without headers, 50 ms per link, Tahoe of
//! ns-2.1b5 with a window of 20, CBR of 2 Mbit/s with jitter, starts within 0.5 s, UDP that sends until the receiver has 1 MB.

use fairlane_scenario::{Format, Options, Progress, RunOutput, resolve, run_all};

/// Two sources, each with `tcp` TCP and `udp` UDP flows, under these controls.
fn scenario(tcp: u32, udp: u32, control: &str) -> String {
    let group = |name: &str, s: u32, count: u32, rest: &str| {
        if count == 0 {
            return String::new();
        }
        format!("[flows.{name}{s}]\nfrom = \"s{s}\"\nto = \"d{s}\"\ncount = {count}\nspread = \"0.5s\"\n{rest}\n")
    };
    let mut text = "duration = \"4000s\"\n[topology.dumbbell]\npairs = 2\naccess = { rate = \"10Mbit/s\", delay = \"50ms\", queue.droptail.limit = \"10000p\" }\n\
        bottleneck = { rate = \"1Mbit/s\", delay = \"50ms\", queue.droptail.limit = \"50p\" }\n"
        .to_owned();
    for s in 0..2 {
        text += &group("tcp", s, tcp, &format!("class = [1, 2, 3, 4]\nsource.file.size = \"1MB\"\n{TAHOE}"));
        text += &group(
            "udp",
            s,
            udp,
            "class = [3, 4]\namount = \"1MB\"\nudp.header = \"0B\"\nsource.cbr = { rate = \"2Mbit/s\", size = \"1000B\", jitter = 1.0 }",
        );
    }
    text + control
}

/// The TCP agent of ns-2.1b5.
const TAHOE: &str = "tcp = { cc = \"tahoe\", preset = \"ns2\", handshake = false, data_header = \"0B\", initial_window = \"1p\", rto_initial = \"6s\", \
    rto_max = \"64s\", rto_granularity = \"100ms\", limited_transmit = false }";

fn run(text: &str) -> RunOutput {
    let resolved = resolve(text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { seeds: vec![1], threads: 1, ..Options::default() };
    run_all(&resolved, &options, &Progress::default()).unwrap().remove(0)
}

fn column<'a>(r: &'a RunOutput, name: &str) -> &'a [f64] {
    &r.flows.numbers.iter().find(|c| c.0 == name).unwrap().1
}

/// Mean of the completion times of one class of one source; NaN for a class without members.
fn class_mean(r: &RunOutput, group: &str, class: u32) -> f64 {
    let first = if group.starts_with("tcp") { 1 } else { 3 };
    let classes = if group.starts_with("tcp") { 4 } else { 2 };
    let names = &r.flows.text[0].1;
    let time = column(r, "completion_time");
    let of: Vec<f64> = (0..names.len())
        .filter(|&i| match names[i].split_once('.') {
            Some((g, n)) => g == group && n.parse::<u32>().unwrap() % classes + first == class,
            None => names[i] == group && class == first,
        })
        .map(|i| time[i])
        .collect();
    of.iter().sum::<f64>() / of.len() as f64
}

const CLASSES: [(&str, u32); 6] = [("tcp", 1), ("tcp", 2), ("tcp", 3), ("tcp", 4), ("udp", 3), ("udp", 4)];

/// Class means of both sources for these numbers of TCP flows among 100: for each source and class the mean over the ratios.
fn over_ratios(tcp_flows: impl Iterator<Item = u32>, build: impl Fn(u32) -> String) -> Vec<[f64; 6]> {
    let runs: Vec<RunOutput> = tcp_flows.map(|n| run(&build(n))).collect();
    let mean = |s: usize, (group, class): (&str, u32)| {
        let means: Vec<f64> = runs.iter().map(|r| class_mean(r, &format!("{group}{s}"), class)).filter(|m| !m.is_nan()).collect();
        means.iter().sum::<f64>() / means.len() as f64
    };
    (0..2).map(|s| CLASSES.map(|c| mean(s, c))).collect()
}

fn total(r: &RunOutput, name: &str) -> f64 {
    column(r, name).iter().sum()
}

fn near(got: f64, want: f64, part: f64) -> bool {
    (got / want - 1.0).abs() <= part
}

/// k UDP flows of 1 MB alone on 1 Mbit/s complete after 8 k seconds: one after the other, and on average 80 s over k = 1 to 19. An open-loop sender would
/// end after 4 s, with little more than losses.
#[test]
fn udp_takes_eight_seconds_a_flow() {
    let mut all = 0.0;
    for k in 1..=19 {
        let text = scenario(0, k, "");
        let (alone, _) = text.split_once("[flows.udp1]").unwrap();
        let r = run(alone);
        let times = column(&r, "completion_time");
        let mean = times.iter().sum::<f64>() / f64::from(k);
        assert!(near(mean, 8.0 * f64::from(k), 0.02), "{k}: {mean}");
        all += mean / 19.0;
    }
    assert!(near(all, 80.0, 0.02), "{all}");
}

/// Class means of ts/ts with FCFS over the 19 ratios: within 5 % of the fluid model (0.5 Mbit/s per source, slot 0.1 s, 1 s lost in each turn of TCP)
/// and of the published table, at both sources. All flows start together; with starts spread over 0.5 s the rounds of the two sources drift apart, see
/// `docs/validation/yang2001.md`.
#[test]
fn time_slots_give_the_class_means_of_the_paper() {
    let together = |n| scenario(n, 100 - n, "[control.time_slots]\n").replace("spread = \"0.5s\"\n", "");
    let model = [448.3, 1106.9, 1428.7, 1895.2, 1548.3, 1804.8];
    let printed = [450.42, 1114.75, 1447.57, 1910.88, 1533.65, 1719.07];
    for means in over_ratios(81..100, together) {
        for k in 0..6 {
            assert!(near(means[k], model[k], 0.05), "{:?} against the model: {means:?}", CLASSES[k]);
            assert!(near(means[k], printed[k], 0.05), "{:?} against the paper: {means:?}", CLASSES[k]);
        }
    }
}

/// Congestion-signal control is nearly strict priority: class means lie between those of flows one after the other and of equal shares within a class,
/// which strict priority would give, or within 3 % of them; the order is that of the priorities.
#[test]
fn a_congestion_signal_gives_nearly_strict_priority() {
    let bounds = [(187.0, 366.0), (551.0, 728.0), (996.0, 1171.0), (1427.0, 1600.0), (775.0, 1171.0), (1212.0, 1600.0)];
    for means in over_ratios(81..100, |n| scenario(n, 100 - n, "[control.congestion_signal]\n")) {
        for k in 0..6 {
            assert!(bounds[k].0 * 0.97 <= means[k] && means[k] <= bounds[k].1 * 1.03, "{:?}: {means:?}", CLASSES[k]);
        }
        assert!(means[0] < means[1] && means[1] < means[2] && means[2] < means[3] && means[4] < means[5], "{means:?}");
    }
}

fn tcp_means(control: &str) -> Vec<f64> {
    let r = run(&scenario(90, 10, control));
    (1..=4).map(|c| class_mean(&r, "tcp0", c)).collect()
}

/// Claim Y35: a short aging time removes the differences between classes. Without control TCP4 takes as long as TCP1, too.
#[test]
fn short_aging_removes_the_differences() {
    for (kind, more, least) in [("time_slots", "", 4.0), ("congestion_signal", "clear = \"off\"\n", 4.0)] {
        let ratio = |aging: &str| {
            let m = tcp_means(&format!("[control.{kind}]\n{more}{aging}"));
            m[3] / m[0]
        };
        assert!(ratio("") > least, "{kind}");
        assert!(ratio("aging = \"10s\"\n") < 1.25, "{kind}");
    }
}

/// A best class that never ends starves the others for ever; with aging they take turns.
#[test]
fn aging_prevents_starvation() {
    let of = |aging: &str| {
        let text = scenario(4, 0, "[control.congestion_signal]\nnodes = [\"s0\"]\nclear = \"off\"\n")
            .replace("4000s", "600s")
            .replace("source.file.size = \"1MB\"", "");
        column(&run(&(text + aging)), "goodput")[..4].to_vec()
    };
    let (without, with) = (of(""), of("aging = \"60s\"\n"));
    // All flows send for a few seconds before the first loss.
    assert!(without[1..].iter().all(|g| *g < 0.03 * without[0]), "{without:?}");
    assert!(with.iter().all(|g| *g > 0.2 * with[0]), "{with:?}");
}

/// Claim Y36: a turn shorter than the round-trip time hurts TCP. A flow that receives the acknowledgments of its last turn sends one segment per turn; one that
/// misses them times out repeatedly, and sends nothing but retransmissions. Turns of any length (one flow after the other) remove the differences.
#[test]
fn turns_that_are_too_short_or_too_long() {
    let of = |more: &str| run(&scenario(90, 10, &format!("[control.time_slots]\n{more}")).replace("4000s", "1500s"));
    let goodput = |r: &RunOutput| total(r, "goodput");
    let (usual, short) = (of(""), of("slot = \"1ms\""));
    assert!(goodput(&short) < 0.5 * goodput(&usual), "{} {}", goodput(&short), goodput(&usual));
    let deaf = of("slot = \"1ms\"\nacks = \"ignored\"\n");
    let sent: f64 = column(&deaf, "packets_sent").iter().zip(&deaf.flows.text[3].1).filter(|(_, t)| *t == "tcp").map(|(n, _)| n).sum();
    assert!(total(&deaf, "timeouts") > 20.0 * 180.0 && total(&deaf, "retransmits") > 0.9 * sent, "{sent} {}", total(&deaf, "timeouts"));
    let (usual, huge) = (tcp_means("[control.time_slots]\n"), tcp_means("[control.time_slots]\nslot = \"10s\"\n"));
    assert!(usual[3] / usual[0] > 4.0 && near(huge[3], huge[0], 0.1), "{usual:?} {huge:?}");
}
