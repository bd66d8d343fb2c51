//! Quality for people: calls by the E-model, and the play-out of videos.

use crate::common::{cell, column, run};

/// Flows from `a` to `b` over a link of 10 ms each way with this queue.
fn link(rate: &str, queue: &str, flows: &str) -> String {
    format!(
        "duration = \"40s\"\nwarmup = \"5s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\ndelay = \"10ms\"\nqueue.{queue}\n{flows}"
    )
}

fn flow(name: &str, transport: &str, source: &str) -> String {
    format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\n{transport}\n{source}\n")
}

const ROOM: &str = "droptail = { limit = \"1000p\" }";

/// 20 ms of speech, 10 ms of propagation, 0.16 ms of transmission (200 bytes at 10 Mbit/s) and 20 ms of buffer; at 50 ms Id is 1.3, so R = 91.9.
#[test]
fn a_call_on_an_idle_link() {
    for (codec, delay, rating, mos) in [("g711", 0.05016, 91.9, 4.38), ("g729", 0.05505, 80.7, 4.05)] {
        let out = run(&link("10Mbit/s", ROOM, &flow("call", "udp = {}", &format!("source.voip.codec = \"{codec}\""))));
        assert!((column(&out, "mouth_to_ear_delay") - delay).abs() < 0.0002, "{codec}: {}", column(&out, "mouth_to_ear_delay"));
        assert!((column(&out, "r_factor") - rating).abs() < 0.2, "{codec}: {}", column(&out, "r_factor"));
        assert!((column(&out, "mos") - mos).abs() < 0.01, "{codec}: {}", column(&out, "mos"));
        assert_eq!((column(&out, "discard_rate"), column(&out, "startup_delay").is_nan()), (0.0, true));
    }
}

/// Random loss of 5 % alone: Ie,eff = 95 * 5 / (5 + 25.1) = 15.8 with G.711. Twenty thousand packets have it within a tenth.
#[test]
fn a_call_over_a_lossy_link() {
    let out = run(&link(
        "10Mbit/s",
        &format!("{ROOM}\nloss = 0.05"),
        &flow("call", "udp = {}", "source.voip = { vad = false, interval = \"2ms\" }"),
    ));
    let loss = column(&out, "loss") * 100.0;
    assert!((loss - 5.0).abs() < 0.5, "{loss}");
    let without =
        column(&run(&link("10Mbit/s", ROOM, &flow("call", "udp = {}", "source.voip = { vad = false, interval = \"2ms\" }"))), "r_factor");
    let got = column(&out, "r_factor");
    assert!((without - got - 95.0 * loss / (loss + 25.1)).abs() < 1e-9, "{without} {got}");
}

/// A bulk transfer fills a large tail-drop queue, and a call waits in it; FQ-CoDel gives the call its own queue.
#[test]
fn a_call_under_bufferbloat() {
    let both = flow("call", "udp = {}", "source.voip = {}") + &flow("bulk", "tcp = \"cubic\"", "");
    let [bloated, fair] = ["droptail = { limit = \"300p\" }", "fq_codel = {}"].map(|queue| run(&link("5Mbit/s", queue, &both)));
    let mos = |out| cell(out, "mos", 0);
    assert!(mos(&fair) > 4.3 && mos(&bloated) < 3.0 && mos(&bloated) >= 1.0, "{} {}", mos(&fair), mos(&bloated));
    // The buffer adds at most 200 ms to the shortest delay, too little for most packets.
    assert!(cell(&bloated, "mouth_to_ear_delay", 0) > 0.15 && cell(&bloated, "discard_rate", 0) > 0.5);
    assert!(cell(&fair, "mouth_to_ear_delay", 0) < 0.06 && cell(&fair, "discard_rate", 0) < 0.01);
    // The transfer is no call.
    assert!(cell(&fair, "mos", 1).is_nan() && cell(&fair, "rebufferings", 1).is_nan());
}

/// Codecs without values, speech over TCP and over a carrier have no rating, and a video without a player or over a carrier no stalls.
#[test]
fn what_has_no_rating() {
    for (transport, source) in [
        ("udp = {}", "source.voip.codec = \"opus\""),
        ("udp = {}", "source.voip.codec = \"g723_1_low\""),
        ("tcp = \"cubic\"", "source.voip = {}"),
        ("udp = {}", "source.tfrc.source.voip = {}"),
        ("udp = {}", "source.video = {}"),
        ("udp = {}", "source.tfrc.source.video = { buffer_to_start = \"1s\" }"),
    ] {
        let out = run(&link("10Mbit/s", ROOM, &flow("f", transport, source)));
        assert!(column(&out, "goodput") > 0.0, "{source}");
        for name in ["mos", "r_factor", "mouth_to_ear_delay", "discard_rate", "startup_delay", "rebufferings", "play_time"] {
            assert!(column(&out, name).is_nan(), "{source}: {name}");
        }
    }
}

/// Frames of 4000 bytes every 40 ms, which are 800 kbit/s.
const VIDEO: &str =
    "source.video = { gop = \"P\", p_size = \"4kB\", cv = 0.0, first = 0, buffer_to_start = \"1s\", buffer_to_resume = \"2s\" }";

/// The 25th frame is sent at 960 ms: four datagrams of 1028 bytes take 3.2896 ms at 10 Mbit/s, and 10 ms to arrive. Nothing stalls after that.
#[test]
fn a_video_on_an_idle_link() {
    for transport in ["udp = {}", "tcp = \"cubic\""] {
        let out = run(&link("10Mbit/s", ROOM, &flow("v", transport, VIDEO)));
        let startup = column(&out, "startup_delay");
        // TCP shakes hands first, which delays the first frames alone; its headers are 12 bytes longer than UDP's.
        assert!((startup - 0.973_289_6).abs() < if transport.starts_with("udp") { 1e-9 } else { 2e-4 }, "{transport}: {startup}");
        assert_eq!((column(&out, "rebufferings"), column(&out, "rebuffering_time")), (0.0, 0.0), "{transport}");
        assert!((column(&out, "play_time") - 35.0).abs() < 1e-9 && column(&out, "mos").is_nan());
    }
}

/// Over a path of 400 kbit/s half of the video arrives in time over TCP: it stalls about half of the time. Over UDP half is lost, and nothing is waited for.
#[test]
fn a_video_faster_than_its_path_stalls() {
    let out = run(&link("400kbit/s", "droptail = { limit = \"20p\" }", &flow("v", "tcp = \"cubic\"", VIDEO)));
    let share = column(&out, "rebuffering_ratio");
    assert!((share - 0.5).abs() < 0.1, "{share}");
    // 2 s of video take about 4 s to arrive, and play for 4 s with what arrives meanwhile.
    assert!((column(&out, "rebufferings") - 35.0 / 8.0).abs() < 2.0, "{}", column(&out, "rebufferings"));
    // What is played has arrived.
    assert!(column(&out, "play_time") * 800e3 <= column(&out, "goodput") * 35.0 + 2.0 * 800e3);
    let out = run(&link("400kbit/s", "droptail = { limit = \"20p\" }", &flow("v", "udp = {}", VIDEO)));
    assert!(column(&out, "loss") > 0.4 && column(&out, "rebufferings") == 0.0, "{}", column(&out, "rebufferings"));
}

/// Play-out and stalls fill the time from the end of the warm-up, or the begin of play-out, to the end, at any rate and over both transports.
#[test]
fn stalls_and_play_out_fill_the_time() {
    for (transport, rate, stop) in [
        ("tcp = \"cubic\"", "300kbit/s", ""),
        ("tcp = \"cubic\"", "700kbit/s", ""),
        ("tcp = \"cubic\"", "790kbit/s", "stop = \"30s\""),
        ("udp = {}", "500kbit/s", "stop = \"30s\""),
        ("udp = {}", "900kbit/s", ""),
    ] {
        let out = run(&link(rate, "droptail = { limit = \"50p\" }", &flow("v", &format!("{transport}\n{stop}"), VIDEO)));
        let end = if stop.is_empty() { 40.0 } else { 30.0 };
        let span = end - column(&out, "startup_delay").max(5.0);
        let (stalled, played) = (column(&out, "rebuffering_time"), column(&out, "play_time"));
        assert!((stalled + played - span).abs() < 1e-9, "{transport} {rate}: {stalled} + {played} = {span}");
        assert!(played > 0.0 && (column(&out, "rebuffering_ratio") - stalled / span).abs() < 1e-12);
        assert_eq!(stalled > 0.0, column(&out, "rebufferings") > 0.0, "{transport} {rate}");
    }
}

/// A group has the mean of its calls and the sum of the stalls of its videos.
#[test]
fn groups_pool_quality() {
    let flows = flow("call", "udp = {}\ncount = 3", "source.voip = {}") + &flow("v", "tcp = \"cubic\"\ncount = 2", VIDEO);
    let text = link("900kbit/s", "droptail = { limit = \"40p\" }", &flows);
    let (each, pooled) = (run(&text), run(&format!("report = \"groups\"\n{text}")));
    let own = |name: &str, of: std::ops::Range<usize>| -> Vec<f64> { of.map(|i| cell(&each, name, i)).collect() };
    let of = |name: &str, group: usize| pooled.groups.numbers.iter().find(|c| c.0 == name).unwrap().1[group];
    assert!((of("mos", 0) - own("mos", 0..3).iter().sum::<f64>() / 3.0).abs() < 1e-12);
    assert!((of("startup_delay", 1) - own("startup_delay", 3..5).iter().sum::<f64>() / 2.0).abs() < 1e-12);
    for name in ["rebufferings", "rebuffering_time", "play_time"] {
        assert!((of(name, 1) - own(name, 3..5).iter().sum::<f64>()).abs() < 1e-9, "{name}");
    }
    assert!(of("mos", 1).is_nan() && of("play_time", 0).is_nan());
}
