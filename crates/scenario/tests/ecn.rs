//! ECN in whole runs: queues that can mark do so for ECN-capable senders, and then drop nothing.

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};

/// Marks and early drops at the link, for a flow of 12 Mbit/s through 10 Mbit/s.
fn marks_and_drops(queue: &str, ecn: &str) -> (f64, f64) {
    let text = format!(
        "duration = \"5s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\nqueue.{queue}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{ ecn = \"{ecn}\" }}\nsource.cbr = {{ rate = \"10.5Mbit/s\", size = \"1000B\" }}\n"
    );
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    let find = |name: &str| out[0].links.numbers.iter().find(|c| c.0 == name).unwrap().1[0];
    (find("marks"), find("drops_early") + find("drops_head"))
}

#[test]
fn capable_packets_are_marked_and_others_dropped() {
    // Buffers hold the whole surplus: no tail drops, and no probability reaches 1.
    for queue in [
        "red = { min = \"5p\", max = \"5000p\", limit = \"9000p\", ecn = true }",
        "codel = { limit = \"9000p\", ecn = true }",
        "pi = { limit = \"9000p\", ecn = true }",
    ] {
        for ecn in ["ect0", "ect1"] {
            let (marks, drops) = marks_and_drops(queue, ecn);
            assert!(marks > 10.0 && drops == 0.0, "{queue} {ecn}: {marks} marks, {drops} drops");
        }
        let (marks, drops) = marks_and_drops(queue, "not_ect");
        assert!(marks == 0.0 && drops > 10.0, "{queue}: {marks} marks, {drops} drops");
    }
}

/// RFC 9332: ECT(1) packets go to the low-latency queue, whose native marking starts at 1 ms; ECT(0) packets do not.
#[test]
fn dualpi2_marks_the_scalable_service() {
    let (scalable, _) = marks_and_drops("dualpi2 = {}", "ect1");
    let (classic, _) = marks_and_drops("dualpi2 = {}", "ect0");
    assert!(scalable > 3.0 * classic.max(10.0), "{scalable} marks against {classic}");
}

/// Values of each flow and link of a dumbbell with one link, 40 Mbit/s and 5 ms, and flows with these TCP settings.
fn compete(queue: &str, kinds: &[&str]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut text = format!(
        "duration = \"30s\"\nwarmup = \"10s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"40Mbit/s\"\ndelay = \"5ms\"\nqueue.{queue}\n"
    );
    for (i, tcp) in kinds.iter().enumerate() {
        text += &format!("[flows.f{i}]\nfrom = \"a\"\nto = \"b\"\nstart = \"{i}00ms\"\ntcp = {tcp}\n");
    }
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    let column = |name: &str| out[0].flows.numbers.iter().find(|c| c.0 == name).unwrap().1.clone();
    let link = |name: &str| out[0].links.numbers.iter().find(|c| c.0 == name).unwrap().1[0];
    let flows = ["goodput", "delay_mean", "retransmits", "ecn_cuts", "cwnd_cuts"].map(column).to_vec();
    (flows, ["utilisation", "drops", "marks", "queue_mean"].map(link).to_vec())
}

/// RFC 9332 section 1 and draft-briscoe-iccrg-prague-congestion-control-04: over DualPI2 a Prague flow has about 1 ms of queueing delay while a competing CUBIC flow
/// has PI2's 15 ms, and the coupling gives both about the same rate.
#[test]
fn prague_beside_cubic_in_dualpi2() {
    let (flows, link) = compete("dualpi2 = {}", &["\"prague\"", "{ cc = \"cubic\", ecn = \"classic\" }"]);
    let queue: Vec<f64> = flows[1].iter().map(|d| (d - 0.0053) * 1e3).collect();
    assert!(queue[0] < 1.5 && queue[1] > 8.0, "{queue:?} ms");
    let ratio = flows[0][0] / flows[0][1];
    assert!((0.4..2.5).contains(&ratio), "{ratio}");
    assert!(link[0] > 0.97, "{link:?}");
    assert_eq!(flows[2], [0.0, 0.0]);
}

/// RFC 3168 section 5: with RED marking, ECN flows lose nothing and keep their rate; flows without ECN retransmit.
#[test]
fn ecn_flows_lose_nothing_where_red_marks() {
    let red = "red = { min = \"20p\", max = \"100p\", limit = \"1000p\", ecn = true }";
    let kinds = |ecn: &str| [1, 2, 3, 4].map(|_| format!("{{ cc = \"sack\", ecn = \"{ecn}\" }}"));
    let run = |ecn: &str| compete(red, &kinds(ecn).each_ref().map(String::as_str));
    let ((with, link), (without, _)) = (run("classic"), run("off"));
    assert!(link[0] > 0.95 && link[2] > 20.0 && link[1] == 0.0, "{link:?}");
    assert_eq!((&with[2], &with[3]), (&vec![0.0; 4], &with[4]));
    assert!(without[2].iter().all(|&r| r > 0.0) && without[3] == [0.0; 4]);
}

/// Alizadeh et al. 2010: with a step of 20 packets DCTCP fills the link with a queue of about 20; Reno with ECN leaves it idle after each halving, because a
/// round-trip time holds more than that.
#[test]
fn dctcp_keeps_a_short_queue_and_the_link_busy() {
    let (_, dctcp) = compete("red = { preset = \"dctcp\" }", &["\"dctcp\"", "\"dctcp\""]);
    let (_, reno) = compete("red = { preset = \"dctcp\", min = \"3p\", max = \"3p\" }", &["{ cc = \"sack\", ecn = \"classic\" }"]);
    let (_, shallow) = compete("red = { preset = \"dctcp\", min = \"3p\", max = \"3p\" }", &["\"dctcp\""]);
    assert!(dctcp[0] > 0.99 && (10.0..23.0).contains(&dctcp[3]) && dctcp[1] == 0.0, "{dctcp:?}");
    assert!(shallow[0] > reno[0] + 0.05, "{shallow:?} {reno:?}");
}
