//! Wireless channels in whole scenarios: against ns-3.37, against each other, and against the laws of links.

use crate::common::{read, run, run_seed};
use fairlane_engine::{QuadHeap, Wheel};
use fairlane_net::{Observer, World};
use fairlane_scenario::{BuiltIn, Format, Options, Progress, RunOutput, resolve, run_all, run_with, world};
use fairlane_units::{Dur, Time};

/// Rules and thresholds of ns-3.37, control frames at 1 Mbit/s, as in `crates/wireless/tests/reference.rs`.
const NS3: &str = r#"
standard = "802.11b"
rate = "11Mbit/s"
control_rate = "1Mbit/s"
after_timeout = "difs"
immediate_access = false
queue.droptail.limit = "50p"
"#;

/// Datagrams of 1000 bytes faster than the channel.
const SATURATED: &str = "udp = {}\nsource.cbr = { rate = \"8Mbit/s\", size = \"1000B\" }\n";

fn cell(out: &RunOutput, link: &str, column: &str) -> f64 {
    let row = out.links.text[0].1.iter().position(|n| n == link).unwrap_or_else(|| panic!("no link {link}"));
    out.links.numbers.iter().find(|c| c.0 == column).unwrap_or_else(|| panic!("no column {column}")).1[row]
}

fn goodput(out: &RunOutput) -> f64 {
    out.network.numbers.iter().find(|c| c.0 == "goodput").unwrap().1[0] / 1e6
}

fn near(what: &str, ours: f64, theirs: f64, within: f64) {
    assert!((ours / theirs - 1.0).abs() <= within, "{what}: {ours:.4}, not within {:.0} % of {theirs}", within * 100.0);
}

/// `n` saturated stations around a receiver.
fn saturated(n: u32, more: &str) -> String {
    format!(
        "duration = \"12s\"\nwarmup = \"1s\"\n[wireless.air]{NS3}{more}\naccess_point = \"ap\"\nnodes.ap = [0, 0]\nring = {{ count = {n}, radius_m = 1 }}\n\
         [flows.f]\nfrom = \"n{{i}}\"\nto = \"ap\"\ncount = {n}\n{SATURATED}"
    )
}

#[test]
fn saturation_is_that_of_ns3() {
    for (n, theirs) in [(1, 4.8752), (5, 5.22368), (20, 4.72693)] {
        near(&format!("{n} stations"), goodput(&run(&saturated(n, ""))), theirs, 0.02);
    }
    let out = run(&saturated(5, "rts_threshold = \"1B\""));
    near("RTS", goodput(&out), 3.72672, 0.02);
    assert!(cell(&out, "n0-air", "rts_sent") > cell(&out, "n0-air", "attempts"));
}

/// Hidden stations on both sides of a receiver, with and without RTS: ns-3 has 3.40 and 3.17 Mbit/s.
#[test]
fn hidden_stations_are_those_of_ns3() {
    let hidden = |more: &str| {
        format!(
            "duration = \"40s\"\nwarmup = \"1s\"\n[wireless.air]{NS3}{more}\npropagation.fixed_range.range_m = 250\nsensitivity_dbm = -82\ncca_dbm = -82\npower_dbm = -50\n\
             nodes = {{ a = [0, 0], r = [200, 0], b = [400, 0] }}\n[flows.a]\nfrom = \"a\"\nto = \"r\"\n{SATURATED}[flows.b]\nfrom = \"b\"\nto = \"r\"\n{SATURATED}"
        )
    };
    let (plain, rts) = (run(&hidden("")), run(&hidden("rts_threshold = \"1B\"")));
    near("hidden", goodput(&plain), 3.40427, 0.05);
    near("hidden behind RTS", goodput(&rts), 3.16987, 0.05);
    let collided =
        |out: &RunOutput| cell(out, "a-air", "frames_collided") / (cell(out, "a-air", "attempts") + cell(out, "a-air", "rts_sent"));
    assert!(collided(&plain) > 0.2, "without RTS data collide: {}", collided(&plain));
    assert!(cell(&rts, "a-air", "given_up") < cell(&plain, "a-air", "given_up") / 2.0 + 1.0);
}

/// A chain over two-ray ground as in ns-2, whose stations sense their neighbours' neighbours.
fn chain(hops: u32) -> String {
    format!(
        "duration = \"22s\"\nwarmup = \"2s\"\n[wireless.air]{NS3}overlaid_unsensed = true\npropagation.two_ray = {{ frequency_ghz = 0.914, height_m = 1.5 }}\npower_dbm = 24.5\n\
         sensitivity_dbm = -64.37\ncca_dbm = -78.07\nfloor_dbm = -101\ngrid = {{ columns = {}, spacing_m = 200 }}\n[flows.f]\nfrom = \"n0\"\nto = \"n{hops}\"\n{SATURATED}",
        hops + 1
    )
}

#[test]
fn chains_are_those_of_ns3() {
    for (hops, theirs) in [(1, 4.87013), (2, 2.66107), (4, 1.39307), (8, 1.17733)] {
        near(&format!("{hops} hops"), goodput(&run(&chain(hops))), theirs, 0.08);
    }
}

/// A computer behind an access point behind a wire, in both directions.
const HOUSE: &str = r#"
duration = "6s"
warmup = "1s"
sample = "100ms"
[links.line]
from = "ap"
to = "server"
rate = "20Mbit/s"
delay = "10ms"
[wireless.air]
access_point = "ap"
nodes = { ap = [0, 0], a = [5, 0], b = [0, 8] }
queues.ap = "fq_codel"
[flows.down]
from = "server"
to = "a"
tcp = "cubic"
[flows.up]
from = "b"
to = "server"
tcp = "newreno"
[flows.across]
from = "a"
to = "b"
udp = {}
source.poisson.rate = "200kbit/s"
"#;

#[test]
fn wired_and_wireless_interfaces_stand_side_by_side() {
    let out = run(HOUSE);
    for i in 0..3 {
        assert!(crate::common::cell(&out, "goodput", i) > 100e3, "flow {i}: {out:?}");
    }
    // Packets between two stations go through the access point.
    assert!(cell(&out, "ap-air", "departures") > cell(&out, "line.reverse", "departures"));
    assert!(cell(&out, "line", "airtime").is_nan() && cell(&out, "ap-air", "airtime") > 0.2);
    let shares: f64 = ["ap", "a", "b"].iter().map(|n| cell(&out, &format!("{n}-air"), "airtime")).sum();
    let busy = cell(&out, "ap-air", "medium_busy");
    assert!(shares < 1.05 && busy <= 1.0 && busy > 0.9 * shares, "{shares} {busy}");
}

#[test]
fn a_run_is_the_same_with_every_event_queue_and_watched_or_not() {
    for text in [HOUSE.to_owned(), chain(4), saturated(20, "")] {
        let r = read(&text);
        let options = Options { seeds: vec![3], hop_probe: true, ..Options::default() };
        let observed = run_all(&r, &options, &Progress::default());
        let prints = [
            run_with::<QuadHeap>(&r, 3, &Progress::default()),
            run_with::<Wheel>(&r, 3, &Progress::default()),
            observed.map(|mut runs| runs.swap_remove(0)),
        ]
        .map(|out| out.unwrap().fingerprint);
        assert!(prints.iter().all(|&p| p == prints[0]), "{prints:x?}");
        assert_ne!(prints[0], run_seed(&text, 4).fingerprint);
    }
}

/// Checks that every packet is accounted for.
#[derive(Default)]
struct Count {
    sent: usize,
    received: usize,
    dropped: usize,
}
impl Observer for Count {
    fn on_send(&mut self, _: &fairlane_net::SendEvent) {
        self.sent += 1;
    }
    fn on_receive(&mut self, _: &fairlane_net::ReceiveEvent) {
        self.received += 1;
    }
    fn on_drop(&mut self, _: &fairlane_net::DropEvent) {
        self.dropped += 1;
    }
}

#[test]
fn no_packet_is_lost_from_sight_and_a_branch_goes_the_same_way() {
    for text in [HOUSE.to_owned(), chain(5), saturated(10, "short_retries = 2\n")] {
        let mut w: World<BuiltIn, QuadHeap> = world(&read(&text), 5).unwrap();
        let mut count = Count::default();
        for step in 1..400 {
            w.advance(Time::ZERO + Dur::from_us(4567) * step, u64::MAX, &mut count);
            let held: usize = w.ports().iter().map(|p| fairlane_net::Qdisc::backlog(p.qdisc()).pkts as usize + p.in_flight()).sum();
            assert_eq!(held, w.packets_alive());
            assert_eq!(count.sent, count.received + count.dropped + held);
        }
        assert!(count.received > 100);
        let mut branch = w.clone();
        let end = w.now() + Dur::from_secs(1);
        w.advance(end, u64::MAX, &mut ());
        branch.advance(end, u64::MAX, &mut count);
        assert_eq!(w.fingerprint(), branch.fingerprint());
    }
}

/// The goodput falls with the distance; beyond the range of the highest rate, adaptive rates still deliver.
#[test]
fn rates_that_are_chosen_follow_the_distance() {
    let at = |metres: u32, rates: &str| {
        let text = format!(
            "duration = \"8s\"\nwarmup = \"1s\"\n[wireless.air]\nerrors = \"rates\"\nthreshold_db = 0\n{rates}\nnodes = {{ a = [0, 0], b = [{metres}, 0] }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n{SATURATED}"
        );
        goodput(&run(&text))
    };
    for control in ["rate_control = \"arf\"", "rate_control = \"minstrel\""] {
        let (near, far) = (at(20, control), at(140, control));
        assert!(near > 0.9 * at(20, "") && far < 0.75 * near && far > 2.0 && at(140, "") == 0.0, "{control}: {near} {far}");
    }
}

/// The queue of a station may be any discipline, including shapers and queues with timers.
#[test]
fn shapers_and_timers_work_before_a_station() {
    let with = |queue: &str| {
        let text = chain(2).replace("queue.droptail.limit = \"50p\"", queue);
        goodput(&run(&text))
    };
    let shaped = with("queue.tbf = { rate = \"500kbit/s\", burst = \"4000B\", limit = \"50p\" }");
    near("a shaper of 500 kbit/s, 28 bytes of headers each 1028", shaped, 0.5 * 1000.0 / 1028.0, 0.02);
    for queue in ["pie", "red", "codel", "drr", "fq_codel", "avq", "rem", "pi"] {
        let got = with(&format!("queue = \"{queue}\""));
        assert!(got > 1.5, "{queue}: {got}");
    }
}

/// Counters restart at the end of the warm-up, also during frames: shares of time stay below one.
#[test]
fn shares_of_time_are_of_the_measured_span() {
    for warmup in ["1us", "777777us", "1234567us", "1999999us"] {
        let text = saturated(3, "").replace("warmup = \"1s\"", &format!("warmup = \"{warmup}\"")).replace("12s", "2s");
        let out = run(&text);
        let busy = cell(&out, "ap-air", "medium_busy");
        assert!((0.0..=1.0).contains(&busy), "{warmup}: {busy}");
        let shares: f64 = ["n0", "n1", "n2", "ap"].iter().map(|n| cell(&out, &format!("{n}-air"), "airtime")).sum();
        assert!(shares >= busy - 1e-9, "{warmup}: {shares} {busy}");
    }
}

/// The wireless file with one replaced line gives this message and hint, at this place.
#[test]
fn what_is_wrong_is_named_before_the_run() {
    let good =
        "duration = \"5s\"\n[wireless.air]\nnodes = { a = [0, 0], b = [30, 0] }\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n";
    assert!(resolve(good, "x.toml", Format::Toml, &[]).is_ok());
    let cases = [
        ("b = [30, 0]", "b = [0, 0]", "at the same position", "move one by a metre", ":3:"),
        ("b = [30, 0]", "b = [900, 0]", "no frame of another station reaches", "the range is", ":3:"),
        ("b = [30, 0]", "b = [30]", "expected a list of 2", "[x, y]", ":3:"),
        ("b = [30, 0]", "b = [30, 0, 1]", "expected a list of 2", "[x, y]", ":3:"),
        ("[wireless.air]", "[wireless.air]\nrate = \"3Mbit/s\"", "802.11b has no rate of 3Mbit/s", "\"11Mbit/s\"", ":3:"),
        ("[wireless.air]", "[wireless.air]\ncontrol_rate = \"54Mbit/s\"", "no rate of 54Mbit/s", "\"1Mbit/s\"", ":3:"),
        ("[wireless.air]", "[wireless.air]\nstandard = \"802.11x\"", "unknown value \"802.11x\"", "802.11", ":3:"),
        ("[wireless.air]", "[wireless.air]\ncw_min = 30", "30 is not one less than a power of two", "15 or 31", ":3:"),
        ("[wireless.air]", "[wireless.air]\ncw_min = 2047", "above the largest", "", ":3:"),
        ("[wireless.air]", "[wireless.air]\ngrid = { spacing_m = -5 }", "negative", "0.1", ":3:"),
        ("[wireless.air]", "[wireless.air]\ngrid = { name = \"x\" }", "cannot all be named `x`", "{i}", ":3:"),
        ("[wireless.air]", "[wireless.air]\ngrid = { rows = 1000, columns = 1000 }", "1000002 stations", "the limit", ":"),
        ("[wireless.air]", "[wireless.air]\naccess_point = \"c\"", "no station `c`", "", ":3:"),
        ("[wireless.air]", "[wireless.air]\nqueues.c = \"red\"", "no station `c`", "", ":3:"),
        ("[wireless.air]", "[wireless.air]\nqueue.droptail.limit = \"0p\"", "holds nothing", "", ":3:"),
        ("[wireless.air]", "[wireless.air]\npropagation = \"fresnel\"", "unknown propagation \"fresnel\"", "free_space", ":3:"),
        ("[wireless.air]", "[wireless.a]", "both a node and a channel", "another name", ":2:"),
        ("{ a = [0, 0], b = [30, 0] }", "{ a = [0, 0] }", "has 1 of the two or more stations", "grid", ":"),
        ("[wireless.air]", "[wireless.air]\npropagation.fixed_range.range_m = 100000\nnodes.c = [9000, 0]", "duplicate", "", ":"),
    ];
    for (from, to, message, help, place) in cases {
        let text = good.replace(from, to);
        let told = resolve(&text, "x.toml", Format::Toml, &[]).expect_err(&text).to_string();
        assert!(told.contains(message) && told.contains(help) && told.contains(&format!("x.toml{place}")), "{told}\n{text}");
    }
    let far = good
        .replace("nodes = { a = [0, 0], b = [30, 0] }", "nodes = { a = [0, 0], b = [9000, 0] }\npropagation.fixed_range.range_m = 10000");
    let told = resolve(&far, "x.toml", Format::Toml, &[]).expect_err("further than SIFS").to_string();
    assert!(told.contains("more than SIFS"), "{told}");
}

/// A queue written at the interface is that of the station, as if written under the channel.
#[test]
fn an_interface_is_refined_as_other_links_are() {
    let set = |path: &str, value: &str| resolve(HOUSE, "x.toml", Format::Toml, &[(path.to_owned(), value.to_owned())]);
    let there = set("links.a-air.queue.red.limit", "40p").unwrap();
    assert_eq!(there, set("wireless.air.queues.a.red.limit", "40p").unwrap());
    assert!(!there.scenario.links.contains_key("a-air"));
    let of_ap = set("links.ap-air.queue", "codel").unwrap();
    assert_eq!(of_ap.link_directions().iter().find(|l| l.name == "ap-air").unwrap().wire.queue.name(), "codel");
    let told = set("links.a-air.rate", "1Mbit/s").unwrap_err().to_string();
    assert!(told.contains("interface of a wireless station") && told.contains("only its queue"), "{told}");
    assert!(set("links.c-air.queue", "codel").is_err(), "no station of this name");
}

/// A station is drawn at its position, unless the scenario sets another.
#[test]
fn a_station_may_be_drawn_elsewhere() {
    let drawn = |more: &str| read(&format!("{HOUSE}{more}")).expanded.places()["b"];
    assert_eq!((drawn("").x, drawn("").y), (0.0, 8.0));
    assert_eq!(drawn("[positions.b]\nx = 3\ny = 4\n").x, 3.0);
}

/// Random positions change with their own seed, and not with the seed of the run.
#[test]
fn places_follow_their_own_seed() {
    let field = |run: u32, places: u32| {
        let text = format!(
            "duration = \"5s\"\nseed = {run}\n[wireless.air.scatter]\ncount = 20\nwidth_m = 50\nheight_m = 50\nseed = {places}\n\
             [flows.f]\nfrom = \"n0\"\nto = \"n19\"\ntcp = \"reno\"\n"
        );
        read(&text).expanded.channels[0].stations.clone()
    };
    assert_eq!(field(1, 1), field(2, 1));
    assert_ne!(field(1, 1), field(1, 2));
    assert!(field(1, 1).iter().all(|s| s.at.iter().all(|x| (0.0..50.0).contains(x))));
}

/// ModRED between its thresholds advertises a window of one segment to the senders, also on acknowledgments over the air, and only while configured.
#[test]
fn windows_are_lowered_over_the_air() {
    #[derive(Default)]
    struct Windows(Vec<u32>);
    impl Observer for Windows {
        fn on_receive(&mut self, e: &fairlane_net::ReceiveEvent) {
            if !e.endpoint.receives() && e.pkt.back && !e.seg.has(fairlane_net::flag::SYN) {
                self.0.push(e.seg.wnd);
            }
        }
    }
    let windows = |queue: &str| {
        let text = format!(
            "duration = \"9s\"\n[wireless.air]\nnodes = {{ a = [0, 0], b = [20, 0] }}\nqueues.a{queue}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = {{ cc = \"newreno\", mss = \"1000B\" }}\ncount = 6\n"
        );
        let mut w: World<BuiltIn, QuadHeap> = world(&read(&text), 3).unwrap();
        let mut seen = Windows::default();
        w.advance(Time::ZERO + Dur::from_secs(9), u64::MAX, &mut seen);
        seen.0
    };
    let always = windows(".modred = { min = \"1p\", out_max = \"90p\", in_max = \"95p\", w_q = 0.5, window = \"1000B\" }");
    let cut = always.iter().filter(|&&w| w == 1000).count();
    assert!(cut > always.len() / 2 && cut < always.len(), "{cut} of {}", always.len());
    let never = windows(" = \"red\"");
    assert!(never.len() > 200 && never.iter().all(|&w| w > 1000), "{} {:?}", never.len(), never.iter().min());
}

/// Two access points on one channel: each station associates with the nearest one or the configured one, and cells that do not hear one another disturb stations in between.
#[test]
fn cells_share_the_air() {
    let cells = |more: &str| {
        format!(
            "duration = \"6s\"\nwarmup = \"1s\"\n[wireless.air]\nstandard = \"802.11b\"\nrate = \"11Mbit/s\"\npropagation.fixed_range.range_m = 100\n\
             access_points = [\"w\", \"e\"]\nnodes = {{ w = [0, 0], a = [20, 0], m = [80, 0], b = [140, 0], e = [160, 0] }}\n{more}\n\
             [links.l]\nfrom = \"w\"\nto = \"s\"\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n[links.r]\nfrom = \"e\"\nto = \"s\"\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n\
             [flows.a]\nfrom = \"a\"\nto = \"s\"\n{SATURATED}[flows.b]\nfrom = \"b\"\nto = \"s\"\n{SATURATED}[flows.m]\nfrom = \"m\"\nto = \"s\"\n{SATURATED}"
        )
    };
    let belongs = |more: &str| {
        let c = read(&cells(more)).expanded.channels.remove(0);
        let name = |i: u32| c.stations[i as usize].node.clone();
        let of = |n: &str| c.hops.iter().filter(|&&(i, _)| name(i) == n).map(|&(_, j)| name(j)).collect::<Vec<_>>().join(" ");
        ["a", "m", "b"].map(of)
    };
    assert_eq!(belongs(""), ["w", "w", "e"], "of equals the first");
    assert_eq!(belongs("association.m = \"e\""), ["w", "e", "e"]);
    let flow = |out: &RunOutput, i: usize| crate::common::cell(out, "goodput", i);
    let both = run(&cells(""));
    let alone = run(&cells("").replace("[flows.b]", "[flows.x]").replace("from = \"b\"", "from = \"m\"\nstart = \"5.9s\""));
    // The far access point does not hear a, and yet m, which hears both, gets less with both.
    assert!(flow(&both, 1) > 1e6 && flow(&both, 2) < 0.8 * flow(&alone, 2), "{both:?}");
    assert!(cell(&both, "m-air", "frames_collided") + cell(&both, "m-air", "given_up") > 0.0);
    for (more, message, help) in [
        ("access_point = \"w\"", "access_points is set, too", "all of them"),
        ("association.m = \"x\"", "no station `x`", "its stations"),
        ("association.m = \"a\"", "`a` is not an access point", ""),
        ("association.w = \"e\"", "is an access point itself", "associated with none"),
        ("association.a = \"e\"", "no frame of another station reaches `a`", "closer"),
    ] {
        let told = resolve(&cells(more), "x.toml", Format::Toml, &[]).unwrap_err().to_string();
        assert!(told.contains(message) && told.contains(help), "{more}: {told}");
    }
    let told = resolve(&cells("").replace("[\"w\", \"e\"]", "[\"w\", \"e\", \"w\"]"), "x.toml", Format::Toml, &[]).unwrap_err().to_string();
    assert!(told.contains("named twice"), "{told}");
}

/// A position is a list or a table anywhere; the output is a list.
#[test]
fn places_have_one_form() {
    let text = |a: &str, b: &str| {
        format!(
            "duration = \"5s\"\n[wireless.air]\nnodes = {{ a = {a}, b = [30, 0] }}\n[positions]\nb = {b}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n"
        )
    };
    let plain = read(&text("[1, 2]", "[3, 4]"));
    assert_eq!(plain, read(&text("{ x = 1, y = 2 }", "{ y = 4, x = 3 }")));
    assert_eq!(plain.to_json()["positions"]["b"], serde_json::json!([3.0, 4.0]));
    assert_eq!(plain.to_json()["wireless"]["air"]["nodes"]["a"], serde_json::json!([1.0, 2.0]));
    let list = "expected a list";
    for (wrong, message) in [
        ("{ x = 1 }", "`y` is missing"),
        ("{ y = 1 }", "`x` is missing"),
        ("{ x = 1, y = 2, z = 3 }", list),
        ("{ x = 1, z = 3 }", list),
        ("[1]", list),
        ("7", list),
        ("\"1, 2\"", list),
    ] {
        let told = resolve(&text("[1, 2]", wrong), "x.toml", Format::Toml, &[]).unwrap_err().to_string();
        assert!(told.contains(message) && told.contains("[x, y]") && told.contains("x.toml:5:"), "{told}");
    }
}
