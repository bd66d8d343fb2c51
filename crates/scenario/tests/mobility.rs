//! Moving stations: loss of contact, adaptation of rates and routes, and the invariants of static stations.

use crate::common::{read, run};
use fairlane_engine::{QuadHeap, Wheel};
use fairlane_net::{Observer, Qdisc, ReceiveEvent, World};
use fairlane_scenario::{BuiltIn, Format, Options, Progress, resolve, run_all, run_with, world};
use fairlane_units::{Dur, Time};

/// A datagram per millisecond, sent without delay.
const STEADY: &str = "udp = {}\nsource.cbr = { rate = \"800kbit/s\", size = \"100B\" }\n";

/// Arrival times at the receivers of flows, in microseconds.
#[derive(Default)]
struct Arrivals(Vec<u64>);

impl Observer for Arrivals {
    fn on_receive(&mut self, e: &ReceiveEvent) {
        if e.pkt.data && e.endpoint.receives() {
            self.0.push(e.time.since(Time::ZERO).as_ps() / 1_000_000);
        }
    }
}

fn arrivals(text: &str, seconds: u64) -> Vec<u64> {
    let mut w: World<BuiltIn, QuadHeap> = world(&read(text), 3).unwrap();
    let mut seen = Arrivals::default();
    w.advance(Time::ZERO + Dur::from_secs(seconds), u64::MAX, &mut seen);
    seen.0
}

/// `b` is 60 m from `a` up to 2 s, moves away at 10 m/s, and back from 8 s on: it is out of a range of 100 m from 6 s to 10 s.
fn walker(more: &str) -> String {
    format!(
        "duration = \"14s\"\n[wireless.air]\n{more}\npropagation.fixed_range.range_m = 100\nnodes = {{ a = [0, 0], b = [60, 0] }}\n\
         [[wireless.air.walks.b.points]]\nat = \"2s\"\nplace = [60, 0]\n[[wireless.air.walks.b.points]]\nat = \"8s\"\nplace = [120, 0]\n\
         [[wireless.air.walks.b.points]]\nat = \"14s\"\nplace = {{ x = 60, y = 0 }}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{STEADY}"
    )
}

/// With steps of 100 ms the last position in range is that of 6.0 s, the first outside that of 6.1 s, and the first inside again that of 10.0 s.
#[test]
fn who_walks_out_of_range_hears_nothing_until_it_is_back() {
    for (step, out, back) in [("100ms", 6_100_000, 10_000_000), ("10ms", 6_010_000, 10_000_000), ("1s", 7_000_000, 10_000_000)] {
        let got = arrivals(&walker(&format!("position_step = \"{step}\"\nroutes = \"static\"\nqueue.droptail.limit = \"2p\"")), 14);
        let (k, gap) = got.windows(2).map(|w| w[1] - w[0]).enumerate().max_by_key(|&(_, gap)| gap).unwrap();
        assert!(gap > 2_000_000, "{step}: {gap}");
        assert!((out - 2_000..=out + 2_000).contains(&got[k]), "{step}: last at {} us", got[k]);
        // Packets sent meanwhile are dropped after the retry limit; the next one heard was in flight, with a larger window.
        assert!((back..back + 60_000).contains(&got[k + 1]), "{step}: again at {} us", got[k + 1]);
        let before = got.iter().filter(|&&t| t < 6_000_000).count();
        assert!((5_990..6_010).contains(&before), "{before}");
    }
}

/// Packets from `a` reach `b` directly, then over `r`, which is 80 m from both: the direct hop ends at 6.0 s, routes are recomputed at 7 s and used after the route delay.
#[test]
fn routes_follow_after_their_delay_or_stay_as_they_are() {
    let with = |more: &str| {
        let text = walker(more).replace("nodes = { a = [0, 0], b = [60, 0] }", "nodes = { a = [0, 0], b = [60, 0], r = [60, 30] }");
        arrivals(&text, 14)
    };
    for (delay, again) in [("0s", 7_000_000), ("1500ms", 8_500_000)] {
        let got = with(&format!("route_delay = \"{delay}\"\nqueue.droptail.limit = \"2p\""));
        let (k, gap) = got.windows(2).map(|w| w[1] - w[0]).enumerate().max_by_key(|&(_, gap)| gap).unwrap();
        assert!(gap > 500_000 && got[k] < 6_110_000, "{delay}: {gap} after {}", got[k]);
        // A packet without a route is dropped first.
        assert!((again..again + 150_000).contains(&got[k + 1]), "{delay}: again at {} us", got[k + 1]);
        assert!(*got.last().unwrap() > 13_990_000, "and back to the direct hop");
    }
    let never = with("routes = \"static\"");
    assert!(never.windows(2).any(|w| w[1] - w[0] > 3_800_000));
}

/// A ferry carries packets where no path of two hops exists at the start: the flow gets the first route that appears.
#[test]
fn a_flow_without_a_way_at_the_start_waits_for_one() {
    let text = format!(
        "duration = \"20s\"\n[wireless.air]\npropagation.fixed_range.range_m = 100\nroute_delay = \"0s\"\nnodes = {{ a = [0, 0], b = [150, 0], r = [-90, 0] }}\n\
         [[wireless.air.walks.r.points]]\nat = \"15s\"\nplace = [60, 0]\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{STEADY}"
    );
    let got = arrivals(&text, 20);
    // At 10 m/s the ferry is within 100 m of b, at 50 m, after 14 s.
    assert!((14_000_000..14_200_000).contains(&got[0]), "{}", got[0]);
    let alone = text.replace("place = [60, 0]", "place = [-20, 0]");
    let told = resolve(&alone, "x.toml", Format::Toml, &[]).unwrap_err().to_string();
    assert!(told.contains("no frame of another station reaches `b`"), "{told}");
}

/// An adaptive rate falls as a station moves away, and the goodput is near that of a static station at the same distance.
#[test]
fn rates_follow_a_walk() {
    let text = |nodes: &str, more: &str| {
        format!(
            "duration = \"60s\"\n[wireless.air]\nerrors = \"rates\"\nthreshold_db = 0\nrate_control = \"arf\"\n{nodes}\n{more}[flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\nsource.cbr = {{ rate = \"8Mbit/s\", size = \"1000B\" }}\n"
        )
    };
    let walk =
        "[[wireless.air.walks.b.points]]\nat = \"0s\"\nplace = [20, 0]\n[[wireless.air.walks.b.points]]\nat = \"60s\"\nplace = [140, 0]\n";
    let got = arrivals(&text("nodes = { a = [0, 0] }", walk), 60);
    let second = |s: u64| got.iter().filter(|&&t| t / 1_000_000 == s).count() as f64;
    let mut last = f64::MAX;
    for s in [1, 30, 58] {
        let metres = 20 + 2 * s + 1;
        let rest = arrivals(&text(&format!("nodes = {{ a = [0, 0], b = [{metres}, 0] }}"), ""), 8);
        let there = rest.iter().filter(|&&t| t >= 2_000_000).count() as f64 / 6.0;
        assert!((second(s) / there - 1.0).abs() < 0.12, "{metres} m: {} walking, {there} at rest", second(s));
        assert!(second(s) <= 1.02 * last);
        last = second(s);
    }
    assert!(last < 0.6 * second(1), "{last} {}", second(1));
}

fn wanderers(own: u32, run: u32, count: u32) -> String {
    format!(
        "duration = \"30s\"\nseed = {run}\n[wireless.air]\npropagation.fixed_range.range_m = 120\nroute_delay = \"200ms\"\n\
         grid = {{ rows = 3, columns = {count}, spacing_m = 60 }}\n\
         [wireless.air.random_waypoint]\nwidth_m = 180\nheight_m = 120\nslowest_mps = 5\nfastest_mps = 20\npause = \"500ms\"\nseed = {own}\n\
         [flows.t]\nfrom = \"n0\"\nto = \"n11\"\ntcp = \"newreno\"\n[flows.u]\nfrom = \"n3\"\nto = \"n8\"\n{STEADY}"
    )
}

/// Random paths depend on their own seed and the station's name only.
#[test]
fn random_walks_follow_their_own_seed() {
    let ways = |own, run, count| {
        let ways = read(&wanderers(own, run, count)).expanded.channels.remove(0).ways;
        ways.into_iter().filter(|w| w.node == "n3").map(|w| w.points).next().unwrap()
    };
    assert_eq!(ways(1, 1, 4), ways(1, 2, 4));
    assert_ne!(ways(1, 1, 4), ways(2, 1, 4));
    let (few, more) = (ways(1, 1, 4), ways(1, 1, 5));
    assert_eq!(few[1..few.len() - 1], more[1..few.len() - 1], "its place is its own, however many others there are");
}

#[test]
fn a_run_with_walks_is_the_same_with_every_event_queue_and_watched_or_not() {
    let text = wanderers(1, 1, 4);
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
    assert!(run(&text).flows.numbers.iter().find(|c| c.0 == "goodput").unwrap().1.iter().all(|&g| g > 50e3));
}

/// Packets are conserved at every step while stations move and routes change, and a branch has the same future.
#[test]
fn nothing_is_lost_from_sight_on_the_way() {
    #[derive(Default)]
    struct Count(usize, usize);
    impl Observer for Count {
        fn on_send(&mut self, _: &fairlane_net::SendEvent) {
            self.0 += 1;
        }
        fn on_receive(&mut self, _: &ReceiveEvent) {
            self.1 += 1;
        }
        fn on_drop(&mut self, _: &fairlane_net::DropEvent) {
            self.1 += 1;
        }
    }
    let mut w: World<BuiltIn, QuadHeap> = world(&read(&wanderers(1, 1, 4)), 5).unwrap();
    assert!(w.route_starts().len() > 12, "routes change: {}", w.route_starts().len());
    let mut count = Count::default();
    for step in 1..2_000 {
        w.advance(Time::ZERO + Dur::from_us(12_345) * step, u64::MAX, &mut count);
        let held: usize = w.ports().iter().map(|p| p.qdisc().backlog().pkts as usize + p.in_flight()).sum();
        assert_eq!(held, w.packets_alive());
        assert_eq!(count.0, count.1 + held);
    }
    let mut branch = w.clone();
    let end = w.now() + Dur::from_secs(4);
    w.advance(end, u64::MAX, &mut ());
    branch.advance(end, u64::MAX, &mut count);
    assert_eq!(w.fingerprint(), branch.fingerprint());
}

/// A resolved scenario is complete: it contains the path from the file.
#[test]
fn a_walk_may_be_a_file() {
    let folder = std::env::temp_dir().join(format!("fairlane-walk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("b.csv"), "time,x,y\n2, 60, 0\n8, 120, 0\n14, 60, 0\n").unwrap();
    let points = walker("");
    let (head, tail) = (points.find("[[wireless").unwrap(), points.find("[flows").unwrap());
    let text = format!("{}[wireless.air.walks.b]\nfile = \"b.csv\"\n{}", &points[..head], &points[tail..]);
    let read = |t: &str| resolve(t, folder.join("x.toml").to_str().unwrap(), Format::Toml, &[]);
    let (of_file, of_table) = (read(&text).unwrap(), read(&points).unwrap());
    assert_eq!(of_file.expanded, of_table.expanded);
    let again = fairlane_scenario::Resolved::from_json(&of_file.to_json().to_string()).unwrap();
    assert_eq!(again.expanded, of_file.expanded);
    for (lines, why) in [
        ("2 60\n", "expected seconds, x and y"),
        ("2,0,0\n2,1,1\n", "not later"),
        ("", "contains no values"),
        ("x\n1,1,nan\n", "not a time from 0"),
    ] {
        std::fs::write(folder.join("b.csv"), lines).unwrap();
        let told = read(&text).unwrap_err().to_string();
        assert!(told.contains(why) && told.contains("b.csv"), "{told}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The mobility file with one replacement gives this message and hint, at this place.
#[test]
fn what_is_wrong_with_a_walk_is_named_before_the_run() {
    let random = "[wireless.air.random_waypoint]\n";
    let cases = [
        (walker("").replace("at = \"8s\"", "at = \"2s\""), "waypoint 2 of `b` is not later", "order of time", ":10:"),
        (
            walker("").replace("[60, 0]", "[600, 0]").replace("[120, 0]", "[700, 0]").replace("x = 60", "x = 600"),
            "no frame of another station reaches `a` (nor 1 others)",
            "closer",
            ":",
        ),
        (
            walker("").replace("at = \"2s\"", "at = \"0s\"").replace(
                "place = [60, 0]\n[[wireless.air.walks.b.points]]\nat = \"8s\"",
                "place = [61, 0]\n[[wireless.air.walks.b.points]]\nat = \"8s\"",
            ),
            "begins at [61.0, 0.0]",
            "one of the two",
            ":",
        ),
        (walker("position_step = \"0s\""), "0s", "1ms", ":3:"),
        (walker("position_step = \"-1s\""), "-1s", "", ":3:"),
        (walker("route_step = \"1ms\"").replace("14s", "500s"), "recomputed 500000 times", "at least \"5", ":3:"),
        (walker("walks.a = {}"), "has no points", "file = ", ":3:"),
        (walker("routes = \"dynamic\""), "dynamic", "follow", ":3:"),
        (walker("").replace("[flows.f]", &format!("{random}slowest_mps = 0\n[flows.f]")), "out of range", "0.01", ":"),
        (
            walker("").replace("[flows.f]", &format!("{random}slowest_mps = 9\nfastest_mps = 2\n[flows.f]")),
            "below the lowest",
            "exchange",
            ":",
        ),
        (walker("").replace("[flows.f]", &format!("{random}stations = [\"a\", \"x\"]\n[flows.f]")), "no station `x`", "its stations", ":"),
        (walker("").replace("[flows.f]", &format!("{random}stations = [\"b\"]\n[flows.f]")), "walk of its own", "leave it out", ":"),
        (walker("").replace("[flows.f]", &format!("{random}width_m = -3\n[flows.f]")), "negative", "0.1", ":"),
        (
            walker("")
                .replace("duration = \"14s\"", "duration = \"1000h\"")
                .replace("[flows.f]", &format!("{random}width_m = 1\nheight_m = 1\n[flows.f]")),
            "more than 1000000 waypoints",
            "lower speeds",
            ":",
        ),
        (walker("").replace("[120, 0]", "[120000, 0]").replace("range_m = 100", "range_m = 100000"), "more than SIFS", "closer", ":"),
        (walker("").replace("place = [120, 0]", "place = [nan, 0]"), "nan", "", ":"),
        (walker("").replace("place = [120, 0]", "place = { x = 1 }"), "`y` is missing", "[x, y]", ":"),
        (walker("").replace("place = [120, 0]", "place = { x = 1, z = 2 }"), "expected a list", "[x, y]", ":"),
        (walker("").replace("duration =", "routing = \"ecmp_packets\"\nduration ="), "per packet", "routes = \"static\"", ":1:"),
        (
            walker("").replace("duration =", "reroute = \"1s\"\nduration =")
                + "\n[links.wire]\nfrom = \"a\"\nto = \"c\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\ndown = [{ at = \"1s\" }]\n",
            "links that fail",
            "remove one of them",
            ":1:",
        ),
    ];
    for (text, message, help, place) in cases {
        let told = resolve(&text, "x.toml", Format::Toml, &[]).expect_err(&text).to_string();
        assert!(told.contains(message) && told.to_lowercase().contains(help) && told.contains(&format!("x.toml{place}")), "{told}\n{text}");
    }
}
