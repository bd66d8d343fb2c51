//! Flow controls at the source, observed from outside: order of sending, conservation, and parameters in files.

use fairlane_engine::QuadHeap;
use fairlane_net::{Class, Observer, SendEvent, TurnEvent};
use fairlane_scenario::{Format, Options, Progress, Resolved, RunOutput, resolve, run_all, world};
use fairlane_units::{Dur, Time};

fn read(text: &str) -> Resolved {
    resolve(text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> RunOutput {
    let options = Options { seeds: vec![1], threads: 1, ..Options::default() };
    run_all(&read(text), &options, &Progress::default()).unwrap().remove(0)
}

fn column<'a>(r: &'a RunOutput, name: &str) -> &'a [f64] {
    &r.flows.numbers.iter().find(|c| c.0 == name).unwrap().1
}

const NETWORK: &str = "duration = \"200s\"\n[topology.dumbbell]\npairs = 2\naccess = { rate = \"10Mbit/s\", delay = \"5ms\" }\n\
    bottleneck = { rate = \"2Mbit/s\", delay = \"10ms\", queue.droptail.limit = \"20p\" }\n";

/// Five TCP flows with different algorithms and a CBR at each source.
fn mixed(control: &str) -> String {
    let mut text = NETWORK.to_owned();
    for (i, tcp) in
        ["\"newreno\"", "\"cubic\"", "{ preset = \"linux\", cc = \"cubic\" }", "\"vegas\"", "{ cc = \"bbr\" }"].iter().enumerate()
    {
        text += &format!(
            "[flows.t{i}]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = 2\nclass = {}\ntcp = {tcp}\nsource.file.size = \"400kB\"\n",
            1 + i
        );
    }
    text +=
        "[flows.u]\nfrom = \"s{i}\"\nto = \"d{i}\"\ncount = 2\nclass = 6\nudp = {}\nsource.cbr.rate = \"3Mbit/s\"\namount = \"400kB\"\n";
    text + control
}

/// Open flows, and the time of each transmission.
#[derive(Default)]
struct Watch {
    open: Vec<bool>,
    turns: u64,
    most: usize,
    wrong: Vec<(Time, u32)>,
    classes: Vec<Option<Class>>,
    node: Vec<usize>,
}

impl Observer for Watch {
    fn on_turn(&mut self, e: &TurnEvent) {
        self.turns += u64::from(e.open);
        self.open[e.flow.0 as usize] = e.open;
        for node in 0..2 {
            let open = (0..self.open.len()).filter(|&f| self.node[f] == node && self.open[f]).count();
            self.most = self.most.max(open);
        }
    }
    fn on_send(&mut self, e: &SendEvent) {
        let f = e.pkt.flow.0 as usize;
        if !e.endpoint.receives() {
            self.classes[f] = Some(e.pkt.class);
            if !self.open[f] && e.seg.end() > e.seg.seq {
                self.wrong.push((e.time, e.pkt.flow.0));
            }
        }
    }
}

/// With time slots at most one flow of a source is open; a closed flow sends no SYN, data or FIN; every flow completes.
#[test]
fn one_flow_of_a_source_sends_at_a_time() {
    for slot in ["1ms", "20ms", "100ms"] {
        let r = read(&mixed(&format!("[control.time_slots]\nslot = \"{slot}\"\n")));
        let mut w = world::<QuadHeap<u64>>(&r, 1).unwrap();
        let n = w.flows().len();
        // Linux closes with a FIN: packets after the last acknowledgment of data belong to a completed flow.
        let mut watch = Watch { open: vec![false; n], classes: vec![None; n], node: (0..n).map(|f| f % 2).collect(), ..Watch::default() };
        w.advance(Time::ZERO + Dur::from_secs(200), u64::MAX, &mut watch);
        let wrong: Vec<_> = watch.wrong.iter().filter(|(t, f)| *t <= w.flows()[*f as usize].completed).collect();
        assert!(wrong.is_empty(), "{slot}: {wrong:?}");
        assert_eq!(watch.most, 1);
        assert!(watch.turns > n as u64);
        let unfinished: Vec<&str> = w.flows().iter().filter(|f| f.completed == Time::MAX).map(|f| &*f.name).collect();
        assert!(slot == "1ms" || unfinished.is_empty(), "{slot}: {unfinished:?}");
        // The priority is in the DS field.
        let classes: Vec<u8> = watch.classes.iter().map(|c| c.unwrap().0).collect();
        assert_eq!(classes, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }
}

/// A CBR source of 100 packets per second that is open half of the time sends half as many per second, and equally many in total: its clock stands still,
/// and with it the end set by `stop`.
#[test]
fn a_closed_application_stands_still() {
    let text = "duration = \"100s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\n[flows.u]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n\
        class = 1\nudp = {}\nstart = \"1s\"\nstop = \"31s\"\nsource.cbr = { rate = \"800kbit/s\", size = \"1000B\" }\n";
    let free = run(text);
    let held = run(&format!("{text}[control.time_slots]\nslots = [10, 1, 1, 1, 1, 1]\nslot = \"73ms\"\n"));
    assert_eq!(column(&free, "packets_sent"), [3000.0, 3000.0]);
    assert_eq!(column(&held, "packets_sent"), [3000.0, 3000.0]);
    // Each has 30 s of its own time, one after the other; the second has the rest for itself.
    let open = column(&held, "open_time");
    assert!(open.iter().all(|t| (t - 30.0).abs() < 1.0), "{open:?}");
    assert!(column(&free, "open_time").iter().all(|t| t.is_nan()));
    assert_eq!(column(&free, "turns"), [0.0, 0.0]);
}

/// The series show the share of each step in which a flow was open: at one source they add up to one while flows remain.
#[test]
fn series_show_who_is_open() {
    let r = run(&mixed("[control.time_slots]\nslot = \"10ms\"\n").replacen('\n', "\nsample = \"500ms\"\n", 1));
    let series = r.flow_series.unwrap().table();
    let of = |name: &str| &series.numbers.iter().find(|c| c.0 == name).unwrap().1;
    let (time, open) = (of("time"), of("open"));
    for step in 1..=10 {
        let t = f64::from(step) * 0.5;
        let sum: f64 = (0..time.len()).filter(|&i| time[i] == t && series.text[0].1[i].ends_with(".0")).map(|i| open[i]).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{t}: {sum}");
    }
    assert!(!run(&mixed("").replacen('\n', "\nsample = \"500ms\"\n", 1)).flow_series.unwrap().names().contains(&"open"));
}

/// Without a control nothing changes; with one a run is repeatable.
#[test]
fn governed_runs_repeat() {
    let text = mixed("[control.congestion_signal]\nnodes = [\"s0\"]\n[control.time_slots]\nnodes = [\"s1\"]\n");
    let (a, b) = (run(&text), run(&text));
    assert_eq!(a.fingerprint, b.fingerprint);
    assert_ne!(a.fingerprint, run(&mixed("")).fingerprint);
    assert_eq!(column(&a, "completion_time").iter().filter(|t| t.is_nan()).count(), 0);
    // A resolved scenario gives the same run.
    let again = Resolved::from_json(&read(&text).to_json_expanded().to_string()).unwrap();
    assert_eq!(again.expanded.controls, read(&text).expanded.controls);
    assert_eq!(
        again.expanded.controls.iter().map(|c| (c.kind, &*c.node, c.flows.len())).collect::<Vec<_>>(),
        [("time_slots", "s1", 6), ("congestion_signal", "s0", 6)]
    );
}

/// An amount ends any source over any transport: the receiver has it, and the source writes no more.
#[test]
fn a_transfer_ends_at_its_amount() {
    let text = format!(
        "{NETWORK}[flows.cbr]\nfrom = \"s0\"\nto = \"d0\"\nudp = {{}}\nsource.cbr.rate = \"4Mbit/s\"\namount = \"1MB\"\n\
         [flows.bulk]\nfrom = \"s1\"\nto = \"d1\"\ntcp = \"newreno\"\nstart = \"20s\"\namount = \"1MB\"\n\
         [flows.slow]\nfrom = \"s1\"\nto = \"d1\"\ntcp = \"newreno\"\nstart = \"50s\"\nsource.cbr.rate = \"400kbit/s\"\namount = \"1MB\"\n"
    );
    let r = run(&text);
    let (time, sent, got) = (column(&r, "completion_time"), column(&r, "packets_sent"), column(&r, "goodput"));
    // 1 MB in packets of 1028 bytes on 2 Mbit/s; at twice the rate half of the packets are lost.
    assert!((time[0] - 4.11).abs() < 0.1 && (sent[0] - 2060.0).abs() < 40.0, "{time:?} {sent:?}");
    assert!((time[1] - 4.4).abs() < 0.5 && (time[2] - 20.0).abs() < 0.2, "{time:?}");
    // Slightly more than the amount arrives: packets in flight.
    assert!(got.iter().all(|g| (1e6..1.06e6).contains(&(g * 200.0 / 8.0))), "{got:?}");
    assert!(resolve(&text.replace("\"1MB\"", "\"0B\""), "x", Format::Toml, &[]).is_err());
}

/// User mistakes: one finding each, with its place.
#[test]
fn bad_controls() {
    let good = mixed("[control.time_slots]\nnodes = [\"s0\"]\n");
    read(&good);
    for (from, to, path, message, help) in [
        ("\"s0\"]", "\"s9\"]", "control.time_slots.nodes.0", "unknown node `s9`", "did you mean"),
        ("\"s0\"]", "\"r1\"]", "control.time_slots.nodes.0", "no flow starts at node `r1`", "did you mean"),
        ("\"s0\"]\n", "\"s0\"]\nflows = [\"u\", \"t9\"]\n", "control.time_slots.flows.1", "unknown flow `t9`", "did you mean"),
        ("\"s0\"]\n", "\"s0\"]\nflows = [\"u.1\"]\n", "control.time_slots.flows.0", "flow `u.1` does not start at s0", "nodes"),
        (
            "\"s0\"]\n",
            "\"s0\"]\n[control.congestion_signal]\nflows = [\"u\"]\n",
            "control.congestion_signal.flows",
            "flow `u.0` is governed twice: by time_slots and by congestion_signal",
            "each control",
        ),
        (
            "[control.time_slots]\nnodes = [\"s0\"]\n",
            "[[control.time_slots]]\nnodes = [\"s0\"]\n[[control.time_slots]]\n",
            "control.time_slots.1.nodes",
            "governed twice",
            "each control",
        ),
        (
            "class = 1\n",
            "class = 9\n",
            "flows.t0.class",
            "flow `t0.0` has class 9, but time_slots wants a priority from 1 (best) to 6",
            "class = 1",
        ),
        ("class = 1\n", "", "flows.t0.class", "flow `t0.0` has class 0", "class = 1"),
        ("class = 1\n", "class = [1, 64]\n", "flows.t0.class.1", "64 is out of range", "0 to 63"),
        ("class = 1\n", "class = \"best\"\n", "flows.t0.class", "unknown value \"best\"", "a name such as \"ef\""),
        ("time_slots", "time_slot", "control.time_slot", "unknown key `time_slot`", "did you mean `time_slots`?"),
        ("\"s0\"]\n", "\"s0\"]\nslots = [1, 2]\n", "control.time_slots.slots", "2 numbers of slots for the 6 priorities", ""),
        ("\"s0\"]\n", "\"s0\"]\nslots = [0, 1, 1, 1, 1, 1]\n", "control.time_slots.slots.0", "0 is out of range", "1 to 100000"),
        ("\"s0\"]\n", "\"s0\"]\nslot = \"0s\"\n", "control.time_slots.slot", "zero is not allowed", ""),
        ("\"s0\"]\n", "\"s0\"]\naging = \"0s\"\n", "control.time_slots.aging", "zero is not allowed", ""),
        ("\"s0\"]\n", "\"s0\"]\norder = \"random\"\n", "control.time_slots.order", "unknown value \"random\"", "file"),
    ] {
        let text = good.replacen(from, to, 1);
        let found = resolve(&text, "x.toml", Format::Toml, &[]).expect_err(path).list;
        let all: Vec<_> = found.iter().map(|d| (&*d.path, &*d.message, &*d.help)).collect();
        assert_eq!(found.len(), 1, "{path}: {all:?}");
        assert!(all[0].0 == path && all[0].1.contains(message) && all[0].2.contains(help), "{path}: {all:?}");
        assert!(found[0].line.is_some());
    }
}

/// `--set` changes the parameters, `off` removes a default.
#[test]
fn options_reach_controls() {
    let set = |text: &str, path: &str, value: &str| {
        let sets = [(path.to_owned(), value.to_owned())];
        resolve(text, "x", Format::Toml, &sets).unwrap().to_json()["control"].clone()
    };
    let one = mixed("[control.time_slots]\nnodes = [\"s0\"]\n");
    assert_eq!(set(&one, "control.time_slots.slot", "7ms")["time_slots"][0]["slot"], "7ms");
    let list = mixed("[[control.congestion_signal]]\nnodes = [\"s0\"]\n");
    assert!(set(&list, "control.congestion_signal.0.clear", "off")["congestion_signal"][0]["clear"].is_null());
}
