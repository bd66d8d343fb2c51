//! ECN through a whole run: queues that can mark do so, where the sender is capable, and drop nothing then.

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};

/// Marks and early drops at the link, for a flow of 12 Mbit/s through 10 Mbit/s.
fn marks_and_drops(queue: &str, ecn: &str) -> (f64, f64) {
    let text = format!(
        "duration = \"5s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\nqueue.{queue}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{ ecn = \"{ecn}\" }}\nsource.cbr = {{ rate = \"10.5Mbit/s\", size = \"1000B\" }}\n"
    );
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&r, &Options { seeds: vec![1], threads: 1, hop_probe: false }, &Progress::default()).unwrap();
    let find = |name: &str| out[0].links.numbers.iter().find(|c| c.0 == name).unwrap().1[0];
    (find("marks"), find("drops_early") + find("drops_head"))
}

#[test]
fn capable_packets_are_marked_and_others_dropped() {
    // Buffers hold all of the surplus: nothing is lost for want of room, and no probability reaches 1.
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

/// RFC 9332: packets with ECT(1) go to the low-latency queue, whose native marking starts at 1 ms; those with ECT(0) do not.
#[test]
fn dualpi2_marks_the_scalable_service() {
    let (scalable, _) = marks_and_drops("dualpi2 = {}", "ect1");
    let (classic, _) = marks_and_drops("dualpi2 = {}", "ect0");
    assert!(scalable > 3.0 * classic.max(10.0), "{scalable} marks against {classic}");
}
