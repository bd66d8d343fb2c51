//! A class behind a shaper leaves the link idle; packets of the other classes are then sent at once, and not before they arrive.

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};

/// Number of the metric of flow `flow`, in the order of the file.
fn metrics(queue: &str, names: &[&str]) -> Vec<f64> {
    let text = format!(
        "duration = \"20s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"10ms\"\n{queue}\n\
         [flows.slow]\nfrom = \"a\"\nto = \"b\"\nudp = {{ header = \"0B\" }}\nsource.cbr = {{ rate = \"2Mbit/s\", size = \"1000B\" }}\n\
         [flows.call]\nfrom = \"a\"\nto = \"b\"\nstart = \"5.3ms\"\nudp = {{ header = \"0B\" }}\nsource.cbr = {{ rate = \"64kbit/s\", size = \"200B\" }}\n"
    );
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    let find = |name: &str| out[0].flows.numbers.iter().find(|c| c.0 == name).unwrap().1[1];
    names.iter().map(|n| find(n)).collect()
}

#[test]
fn nothing_leaves_before_it_came() {
    let shaped = "queue.tbf = { rate = \"100kbit/s\", burst = \"1000B\" }";
    for queue in [
        format!("queue.prio.classes = [{{ match = \"flow:slow\", {shaped} }}, {{ match = \"flow:call\" }}]"),
        format!("queue.rr.classes = [{{ match = \"flow:slow\", {shaped} }}, {{ match = \"flow:call\" }}]"),
        format!("queue.wrr = {{ classes = [{{ match = \"flow:slow\", {shaped} }}, {{ match = \"flow:call\" }}], count = \"bytes\" }}"),
        format!("queue.wfq.classes = [{{ match = \"flow:slow\", {shaped} }}, {{ match = \"flow:call\" }}]"),
        format!("queue.wf2q.classes = [{{ match = \"flow:slow\", {shaped} }}, {{ match = \"flow:call\" }}]"),
    ] {
        // 200 bytes take 0.2 ms, and 10 ms of propagation; one packet of 1 ms may be in transmission.
        let found = metrics(&queue, &["delay_mean", "delay_p50", "delay_max", "packets_received"]);
        let [mean, p50, max, received] = found[..] else { panic!() };
        assert!(mean >= 0.0102 - 1e-9 && p50 >= 0.0102 * 63.0 / 64.0 && max <= 0.0112 + 1e-9, "{queue}: {found:?}");
        // 40 packets per second from 5.3 ms on, minus the one in flight at the end.
        assert!((798.0..=800.0).contains(&received), "{queue}: {found:?}");
    }
}
