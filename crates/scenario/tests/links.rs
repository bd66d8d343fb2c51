//! Links with changing rates and impairments, and replayed recordings, from the scenario to the tables.

use fairlane_scenario::{CaptureRequest, Captures, Format, Options, Progress, Resolved, RunOutput, Table, resolve, run_all};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("fairlane-links-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn read_in(dir: &Path, text: &str) -> Result<Resolved, String> {
    resolve(text, &dir.join("x.toml").display().to_string(), Format::Toml, &[]).map_err(|e| e.to_string())
}

fn read(text: &str) -> Result<Resolved, String> {
    read_in(Path::new("."), text)
}

fn run(r: &Resolved) -> RunOutput {
    run_all(r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap().remove(0)
}

fn value(t: &Table, column: &str, row: &str) -> f64 {
    let i = t.text[0].1.iter().position(|n| n == row).unwrap();
    t.numbers.iter().find(|c| c.0 == column).unwrap().1[i]
}

/// A bulk flow over a link with these settings; the reverse path is plain.
fn bulk(link: &str, tcp: &str) -> String {
    format!(
        "duration = \"30s\"\nwarmup = \"5s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\ndelay = \"10ms\"\nduplex = false\n{link}\n\
         [links.back]\nfrom = \"b\"\nto = \"a\"\nrate = \"100Mbit/s\"\ndelay = \"10ms\"\nduplex = false\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = {tcp}\n"
    )
}

/// An opportunity each millisecond carries as much as 12 Mbit/s: packets of 1500 bytes, 1460 of them payload (RFC 793, RFC 791).
#[test]
fn goodput_of_tcp_is_the_capacity_of_the_trace() {
    let tcp = "{ mss = \"1460B\" }";
    // The recovery from slow start ends after seven seconds, and retransmits data that has arrived.
    let bulk = |link: &str, tcp: &str| bulk(link, tcp).replace("warmup = \"5s\"", "warmup = \"8s\"");
    let trace = run(&read(&bulk("trace = \"data:,1\"", tcp)).unwrap());
    let rate = run(&read(&bulk("rate = \"12Mbit/s\"", tcp)).unwrap());
    let (a, b) = (value(&trace.flows, "goodput", "f"), value(&rate.flows, "goodput", "f"));
    assert!((a / b - 1.0).abs() < 0.005, "{a} {b}");
    assert!((a / (12e6 * 1460.0 / 1500.0) - 1.0).abs() < 0.02, "{a}");
    assert!(value(&trace.links, "utilisation", "x") > 0.98);
    // Bursts of ten every 10 ms: the same mean.
    let bursts = format!("trace = \"data:,{}\"", ["10"; 10].join(" "));
    let c = value(&run(&read(&bulk(&bursts, tcp)).unwrap()).flows, "goodput", "f");
    assert!((c / b - 1.0).abs() < 0.02, "{c} {b}");
}

/// 1000 bytes take 1 ms at 8 Mbit/s; 80 Mbit/s keep a queue of 5 full. An accepted packet waits for the five in the queue, those in the device
/// and the rest of the one in transmission: the device adds its content to the delay and nothing to the queue, which drops as many packets fewer as the device took in.
#[test]
fn a_device_holds_packets_beyond_the_queue() {
    let run_with = |device: &str| {
        let net = format!(
            "duration = \"1s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"0s\"\n{device}\nqueue.droptail = {{ limit = \"5p\" }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{ header = \"0B\" }}\nsource.cbr = {{ rate = \"80Mbit/s\", size = \"1000B\" }}\n"
        );
        run(&read(&net).unwrap())
    };
    let plain = run_with("");
    let (drops, delay) = (value(&plain.links, "drops", "x"), value(&plain.flows, "delay_max", "f"));
    for (device, packets) in [("device = \"0p\"", 0.0), ("device = \"1p\"", 1.0), ("device = \"3p\"", 3.0), ("device = \"2500B\"", 3.0)] {
        let out = run_with(device);
        assert!((value(&out.links, "drops", "x") - (drops - packets)).abs() <= 1.0, "{device}");
        assert!((value(&out.flows, "delay_max", "f") - delay - packets * 1e-3).abs() < 0.11e-3, "{device}");
        assert_eq!(value(&out.links, "queue_max", "x"), 5.0, "{device}");
        // The link is always busy; packets in the device at the end, and the rest of the packet in transmission, are not carried yet.
        assert!((0.998..=1.0).contains(&value(&out.links, "utilisation", "x")), "{device} {}", value(&out.links, "utilisation", "x"));
        let sum = value(&out.links, "departures", "x") + value(&out.links, "drops", "x") + 5.0;
        assert!((sum - value(&out.flows, "packets_sent", "f")).abs() <= 1.0, "{device}");
    }
    for (bad, word) in [("device = 1", "has no unit"), ("device = \"1ms\"", "1ms"), ("device = \"-1p\"", "-1p")] {
        let net = format!("duration = \"1s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"0s\"\n{bad}\n");
        let error = read(&net).unwrap_err();
        assert!(error.contains("device") && error.contains(word), "{error}");
    }
}

/// 8 Mbit/s until 15 s, then 2: over the 25 s measured (8 * 10 + 2 * 15) / 25 = 4.4 Mbit/s.
#[test]
fn steps_of_the_rate_are_the_capacity() {
    let out = run(&read(&bulk("rate = \"8Mbit/s\"\nrates = [{ at = \"15s\", rate = \"2Mbit/s\" }]", "\"sack\"")).unwrap());
    let throughput = value(&out.links, "throughput", "x");
    assert!((throughput / 4.4e6 - 1.0).abs() < 0.02, "{throughput}");
    assert!((value(&out.links, "utilisation", "x") - throughput / 4.4e6).abs() < 1e-9);
}

/// A dumbbell's bottleneck and its reverse direction may follow traces; the builder's rate is then ignored.
#[test]
fn builders_links_follow_traces() {
    let dir = folder("builder");
    std::fs::write(dir.join("up"), "# ms\n2\n4\n").unwrap();
    let text = "duration = \"9s\"\n[topology.dumbbell]\nbottleneck = { trace = \"up\", reverse = { rate = \"1Mbit/s\" } }\n\
                [flows.f]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {}\n";
    let r = read_in(&dir, text).unwrap();
    let rates: Vec<String> = r.link_directions()[..2].iter().map(|l| l.wire.rate.to_string()).collect();
    assert_eq!(rates, ["6Mbit/s", "1Mbit/s"]);
    assert!(r.link_directions()[1].wire.trace.is_none());
    assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r);
    let refined = r#"[links.bottleneck]
rate = "3Mbit/s"
"#;
    let r = read_in(&dir, &format!("{text}{refined}")).unwrap();
    assert_eq!((r.link_directions()[0].wire.rate.to_string().as_str(), r.link_directions()[0].wire.trace.is_none()), ("3Mbit/s", true));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Packets that are 20 ms late look lost to SACK after three duplicates (RFC 6675) but not to RACK, which learns to wait (RFC 8985 section 6.2).
#[test]
fn reordering_hurts_sack_more_than_rack() {
    let link = "rate = \"10Mbit/s\"\nreorder = { share = 0.02, delay = \"8ms\" }";
    let tcp = |rack: bool| format!("{{ cc = \"sack\", rack = {rack} }}");
    let [sack, rack] = [false, true].map(|r| run(&read(&bulk(link, &tcp(r))).unwrap()));
    let of = |o: &RunOutput, m| value(&o.flows, m, "f");
    assert!(
        of(&sack, "retransmits") > 20.0 * of(&rack, "retransmits").max(1.0),
        "{} {}",
        of(&sack, "retransmits"),
        of(&rack, "retransmits")
    );
    assert!(of(&rack, "goodput") > 2.0 * of(&sack, "goodput"), "{} {}", of(&rack, "goodput"), of(&sack, "goodput"));
    // Later than two packets (1.2 ms each), but not than three: below three duplicates there is no retransmission.
    let mild = run(&read(&bulk("rate = \"10Mbit/s\"\nreorder = { share = 0.02, delay = \"2500us\" }", &tcp(false))).unwrap());
    assert!(value(&mild.links, "reordered", "x") > 100.0);
    assert!(of(&mild, "retransmits") * 10.0 < of(&sack, "retransmits"), "{}", of(&mild, "retransmits"));
}

/// Gilbert's chain loses packets at the rate of its formula; with bursty losses a bulk flow recovers less often, so it is faster.
#[test]
fn bursts_of_losses_cost_fewer_windows() {
    let [alone, bursts] = ["loss = 0.02", "loss.gilbert_elliott = { p = 0.0051, r = 0.25 }"]
        .map(|loss| run(&read(&bulk(&format!("rate = \"10Mbit/s\"\n{loss}"), "\"sack\"")).unwrap()));
    let share = |o: &RunOutput| value(&o.links, "lost", "x") / value(&o.links, "departures", "x");
    assert!((share(&alone) - 0.02).abs() < 0.004 && (share(&bursts) - 0.02).abs() < 0.008, "{} {}", share(&alone), share(&bursts));
    let events =
        |o: &RunOutput| (value(&o.flows, "fast_recoveries", "f") + value(&o.flows, "timeouts", "f")) / value(&o.links, "lost", "x");
    assert!(events(&bursts) < 0.6 * events(&alone), "{} {}", events(&bursts), events(&alone));
}

/// A recording over UDP arrives at its recorded times, shifted by transmission and propagation only.
#[test]
fn a_recording_is_replayed() {
    let dir = folder("replay");
    std::fs::write(dir.join("r.txt"), "10.0 1000\n10.000000001 1000\n10.25 500\n").unwrap();
    let text = "duration = \"2s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Gbit/s\"\ndelay = \"1ms\"\n\
                [flows.f]\nfrom = \"a\"\nto = \"b\"\nstart = \"100ms\"\nudp = { header = \"0B\" }\nsource.replay = { file = \"r.txt\" }\n";
    let r = read_in(&dir, text).unwrap();
    let out = run(&r);
    assert_eq!((value(&out.flows, "packets_received", "f"), value(&out.flows, "completion_time", "f")), (3.0, 0.2510005));
    // The second packet waits until the first, 1 us long, is sent.
    assert_eq!(value(&out.links, "sojourn_max", "x"), 999e-9);
    assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r);
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A simulated capture, replayed and captured again, has the same times and sizes to the nanosecond.
#[test]
fn a_capture_replayed_is_the_capture() {
    let dir = folder("round");
    let net = "duration = \"2s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"100Gbit/s\"\ndelay = \"1ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {}\n";
    let capture = |source: &str, file: &str| {
        let r = read_in(&dir, &format!("{net}{source}\n")).unwrap();
        let requests = vec![CaptureRequest { what: "x".to_owned(), files: vec![dir.join(file)] }];
        let captures = Captures { requests, ..Captures::default() };
        run_all(&r, &Options { seeds: vec![1], threads: 1, captures, ..Options::default() }, &Progress::default()).unwrap();
        let replay = read_in(&dir, &format!("{net}source.replay.file = \"{file}\"\n")).unwrap();
        replay.to_json()["flows"]["f"]["source"]["replay"]["file"].as_str().unwrap().to_owned()
    };
    let first = capture("source.poisson = { rate = \"3Mbit/s\", size = \"700B\", sizes = \"exponential\" }", "one.pcapng");
    let again = capture("source.replay.file = \"one.pcapng\"", "two.pcapng");
    assert!(first.split(' ').count() > 2000 && first == again, "{} {}", first.len(), again.len());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_does_not_fit_is_told_where_it_stands() {
    let dir = folder("wrong");
    std::fs::write(dir.join("down"), "5\n3\n").unwrap();
    std::fs::write(dir.join("late.txt"), "2 100\n1 100\n").unwrap();
    std::fs::write(dir.join("empty"), "# nothing\n").unwrap();
    for (link, message, help) in [
        ("rate = \"1Mbit/s\"\ntrace = \"data:,1\"", "either a rate or a trace", "write one of them"),
        ("", "link `x` has no `rate`", "write rate"),
        ("trace = \"down\"", "down: opportunity 2 at 3 ms comes after one at 5 ms", "a millisecond on each line"),
        ("trace = \"data:,0\"", "the data: its last opportunity is at 0 ms", ""),
        ("trace = \"empty\"", "empty contains no values", ""),
        ("trace = \"none.txt\"", "file not found", ""),
        ("trace = \"data:,1\"\nrates = [{ at = \"1s\", rate = \"1Mbit/s\" }]", "this link has a trace", ""),
        (
            "rate = \"1Mbit/s\"\nrates = [{ at = \"2s\", rate = \"1Mbit/s\" }, { at = \"1s\", rate = \"2Mbit/s\" }]",
            "change 2 at 1s does not come after the one at 2s",
            "",
        ),
        ("rate = \"1Mbit/s\"\nloss = -0.1", "-0.1 is negative", "allowed is 0 to 1"),
        ("rate = \"1Mbit/s\"\nloss = \"a bit\"", "expected", ""),
        ("rate = \"1Mbit/s\"\nloss.gilbert_elliott = { p = 0.1 }", "`r` is missing", ""),
        ("rate = \"1Mbit/s\"\nloss.gilbert_elliott = { p = 0.1, r = 1.5 }", "1.5 is out of range", ""),
        ("rate = \"1Mbit/s\"\nloss.gilbert_elliott = { p = 0.1, r = 0.5, 1-h = 1.0 }", "unknown key `1-h`", "the key is called `bad`"),
        ("rate = \"1Mbit/s\"\nloss.list = [4, 4]", "do not rise", "list each once"),
        ("rate = \"1Mbit/s\"\nloss.every = 0", "0 is out of range", ""),
        ("rate = \"1Mbit/s\"\njitter = \"11ms\"", "leaves no delay: the link's is 10ms", "at most \"10ms\""),
        ("rate = \"1Mbit/s\"\nreorder = { share = 0.1, delay = \"0s\" }", "not reordered", ""),
        ("rate = \"1Mbit/s\"\nreorder = { share = 0.1 }", "`delay` is missing", ""),
        ("profile = \"data:,3 0 1000 1 5 1000 1\"", "the profile has delays, and the link has a delay, too", "delays = false"),
        ("rate = \"1Mbit/s\"\nprofile = \"data:,1 0 1000 5 1000\"", "the profile has rates, and the link has a rate, too", "rates = false"),
        ("profile = \"data:,1 0 1000 5 1000\"\nrates = [{ at = \"1s\", rate = \"1Mbit/s\" }]", "the profile has rates", "remove the rate"),
        ("rate = \"1Mbit/s\"\nprofile = { file = \"data:,4 0 5 5 0\", upload = true }", "the profile has no column `upload`", ""),
        ("rate = \"1Mbit/s\"\nprofile = \"moon\"", "file not found", "one of leo, 5g_drive, cable"),
        ("rate = \"1Mbit/s\"\nprofile = \"down\"", "down: line 1: `5` is neither a header", ""),
    ] {
        let e = read_in(&dir, &bulk(link, "{}")).unwrap_err();
        assert!(e.contains(message) && e.contains(help), "{link}\n{e}");
        let line = e.lines().find(|l| l.contains("x.toml")).unwrap_or_default().to_owned();
        assert!(link.is_empty() || line.contains(":8:") || line.contains(":9:"), "{link}\n{e}");
    }
    let flow = |source: &str| format!("{}source.replay = {{ {source} }}\n", bulk("rate = \"1Mbit/s\"", "{}"));
    for (source, message) in [
        ("file = \"late.txt\"", "late.txt: line 2: this packet was sent 1000000000 ns before the previous one"),
        ("file = \"x.toml\"", "file not found"),
        ("scale = 2", "`file` is missing"),
        ("file = \"data:,0 5 5\", repeat = true", "replay: all recorded packets come at one instant"),
        ("file = \"data:,0 5\"", "a packet is three numbers"),
    ] {
        let e = read_in(&dir, &flow(source)).unwrap_err();
        assert!(e.contains(message), "{source}\n{e}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A packet whose transmission starts at t arrives at t + size / rate(t) + delay(end): exact, with delays in steps and on lines. Where the delay falls,
/// packets wait for those before them, or overtake them.
#[test]
fn packets_of_a_profile_arrive_by_its_rows() {
    let dir = folder("profile");
    // 1 Mbit/s and 30 ms, then 2 Mbit/s and 5 ms; it repeats after 200 ms.
    std::fs::write(dir.join("p.csv"), "time_ms,rate_mbps,delay_ms\n0,1,30\n100,2,5\n200,1,30\n").unwrap();
    // 250 bytes take 2 ms at first, 1 ms later.
    std::fs::write(dir.join("r.txt"), "0 250\n0.010 250\n0.097 250\n0.101 250\n0.150 250\n0.210 250\n").unwrap();
    let arrivals = |options: &str| -> Vec<u64> {
        let text = format!(
            "duration = \"1s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nduplex = false\nprofile = {{ file = \"p.csv\"{options} }}\n\
             [links.y]\nfrom = \"b\"\nto = \"c\"\nrate = \"10Tbit/s\"\ndelay = \"0s\"\n\
             [links.back]\nfrom = \"c\"\nto = \"a\"\nrate = \"1Gbit/s\"\ndelay = \"1ms\"\nduplex = false\n\
             [flows.f]\nfrom = \"a\"\nto = \"c\"\nudp = {{ header = \"0B\" }}\nsource.replay = {{ file = \"r.txt\" }}\n"
        );
        let r = read_in(&dir, &text).unwrap();
        assert_eq!(r.link_directions()[0].wire.delay.to_string(), "5ms");
        assert_eq!(r.link_directions()[0].wire.rate.to_string(), "1.5Mbit/s");
        assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r);
        // What arrives at b is captured there.
        let requests = vec![CaptureRequest { what: "y".to_owned(), files: vec![dir.join("y.pcapng")] }];
        let captures = Captures { requests, ..Captures::default() };
        run_all(&r, &Options { seeds: vec![1], threads: 1, captures, ..Options::default() }, &Progress::default()).unwrap();
        let list = fairlane_scenario::parse_file("packets", &std::fs::read(dir.join("y.pcapng")).unwrap()).unwrap();
        // The first packet arrives at 2 + 30 ms in each case.
        list.chunks(3).map(|p| p[0] + 32_000_000).collect()
    };
    let us = |list: &[u64]| list.iter().map(|t| t * 1000).collect::<Vec<u64>>();
    // Sent from 97 to 99 ms: 129 ms. Sent from 101 to 102 ms with 5 ms it would arrive at 107 ms.
    assert_eq!(arrivals(""), us(&[32_000, 42_000, 129_000, 129_000, 156_000, 242_000]));
    assert_eq!(arrivals(", overtaking = true"), us(&[32_000, 42_000, 107_000, 129_000, 156_000, 242_000]));
    // Without its end the last row holds: 1 Mbit/s and 30 ms.
    assert_eq!(arrivals(", repeat = false"), us(&[32_000, 42_000, 129_000, 129_000, 156_000, 242_000]));
    // 30 - 25 * 12 / 100 = 27 ms at 12 ms; 5.25 at 99 ms; 5 + 25 * 2 / 100 = 5.5 ms at 102 ms; 17.75 ms at 151 ms; 27 ms at 212 ms.
    let line = arrivals(", interpolation = \"linear\"");
    assert_eq!(
        line.iter().map(|t| t - line[0]).collect::<Vec<u64>>(),
        us(&[0, 39_000 - 31_500, 104_250 - 31_500, 107_500 - 31_500, 168_750 - 31_500, 239_000 - 31_500])
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A loss of a half in every other second loses half of the packets of these seconds and none of the others.
#[test]
fn losses_of_a_profile_come_in_their_time() {
    let text = "duration = \"10s\"\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"1ms\"\n\
                profile = \"data:,4 0 500000000 1000000000000 0 2000000000000 0\"\n\
                [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {}\nsource.cbr = { rate = \"4Mbit/s\", size = \"500B\" }\n";
    let out = run(&read(text).unwrap());
    let share = value(&out.links, "lost", "x") / value(&out.links, "departures", "x");
    assert!((share - 0.25).abs() < 0.02, "{share}");
    let none = run(&read(&text.replace("500000000 ", "0 ")).unwrap());
    assert_eq!(value(&none.links, "lost", "x"), 0.0);
}

/// Shipped profiles by name; a layer's rate or delay replaces that of a profile below it, and the other way round.
#[test]
fn profiles_and_rates_replace_one_another() {
    let dumbbell = |bottleneck: &str, refined: &str| {
        let text = format!(
            "duration = \"1s\"\n[topology.dumbbell]\nbottleneck = {{ {bottleneck} }}\n{refined}\n[flows.f]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {{}}\n"
        );
        let r = read(&text).unwrap();
        assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r);
        r.link_directions()[..2].iter().map(|l| (l.wire.varies(), l.wire.delay.to_string(), l.wire.rate.to_string())).collect::<Vec<_>>()
    };
    let leo = dumbbell("profile = \"leo\"", "");
    assert!(leo[0].0 && leo[0] == leo[1] && leo[0].1.starts_with("12."), "{leo:?}");
    let up = dumbbell("profile = \"leo\", reverse = { profile = { file = \"leo\", upload = true } }", "");
    assert!(up[0] == leo[0] && up[1].0 && up[1].2 != up[0].2, "{up:?}");
    let own = dumbbell("profile = \"leo\", reverse = { rate = \"5Mbit/s\", delay = \"7ms\" }", "");
    assert_eq!((&own[0], &own[1]), (&leo[0], &(false, "7ms".to_owned(), "5Mbit/s".to_owned())));
    let refined = dumbbell("rate = \"5Mbit/s\", delay = \"7ms\"", "[links.bottleneck]\nprofile = \"leo\"");
    assert_eq!(refined, leo);
    let part = dumbbell("delay = \"7ms\", profile = { file = \"leo\", delays = false }", "");
    assert!(part[0].0 && part[0].1 == "7ms");
}
