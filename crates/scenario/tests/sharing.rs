//! Shares of different congestion controls on a common link, where the sources state which one yields.

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};

/// Goodput of each flow in Mbit/s over 10 Mbit/s and 44 ms, after the first 50 s, with a queue of 100 packets. Each flow is its TCP table.
fn shares(flows: &[&str], seconds: u32) -> Vec<f64> {
    let mut text = format!(
        "duration = \"{seconds}s\"\nwarmup = \"50s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"22ms\"\nqueue.droptail = {{ limit = \"100p\" }}\n"
    );
    for (i, tcp) in flows.iter().enumerate() {
        let start = 100 * i;
        text +=
            &format!("[flows.f{i}]\nfrom = \"a\"\nto = \"b\"\nstart = \"{start}ms\"\ntcp = {{ {tcp}, mss = \"1000B\", ack_every = 1 }}\n");
    }
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = run_all(&r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
    let goodput = &out[0].flows.numbers.iter().find(|c| c.0 == "goodput").unwrap().1;
    goodput.iter().map(|g| g * 1e-6).collect()
}

/// RFC 6817 section 1: LEDBAT yields to TCP flows that fill the queue, and uses an otherwise idle link.
#[test]
fn ledbat_yields_to_reno() {
    let ledbat = "cc = { ledbat = { target = \"25ms\" } }, timestamps = true";
    let alone = shares(&[ledbat], 150);
    assert!(alone[0] > 9.0, "{alone:?}");
    let both = shares(&[ledbat, "cc = \"sack\""], 150);
    assert!(both[0] < 0.05 * both[1] && both[1] > 8.5, "{both:?}");
}

/// Vegas flows settle anywhere between alpha and beta, and later ones take the queue of earlier ones for path delay: none starves, none is exactly
/// fair. Against Reno, which fills the queue, they get far less than half (J. Mo et al., "Analysis and Comparison of TCP Reno and Vegas", IEEE INFOCOM 1999).
#[test]
fn vegas_among_its_own_and_beside_reno() {
    let own = shares(&["cc = \"vegas\""; 4], 200);
    let (sum, squares) = own.iter().fold((0.0, 0.0), |(s, q), g| (s + g, q + g * g));
    assert!(sum * sum / (4.0 * squares) > 0.8 && sum > 9.4, "{own:?}");
    let mixed = shares(&["cc = \"vegas\"", "cc = \"reno\""], 200);
    assert!(mixed[0] < 0.3 * mixed[1], "{mixed:?}");
}

/// Five flows of ns-2.35's Vegas with different delays and starts, for 100 s through 5 Mbit/s and queues of 6, 8 and 10 packets: packets sent and lost. ns-2's recovery
/// starves some of them.
#[test]
fn five_vegas_of_ns2() {
    let room = "queue.droptail = { limit = \"50p\", admit = \"under\" }";
    for (limit, sent, lost) in [(6, 63_328, 935), (8, 62_485, 95), (10, 63_255, 848)] {
        let mut text = format!(
            "duration = \"100s\"\n[topology.dumbbell]\npairs = 10\ndelays = [{}]\n[topology.dumbbell.access]\nrate = \"100Mbit/s\"\ndelay = \"2ms\"\n{room}\n\
             [topology.dumbbell.bottleneck]\nrate = \"5Mbit/s\"\ndelay = \"10ms\"\nqueue.droptail = {{ limit = \"{limit}p\", admit = \"under\" }}\nreverse.{room}\n",
            (0..10).map(|i| format!("\"{}ns\"", 2_000_000 + (37 * i * i + 171 * i) * 100)).collect::<Vec<_>>().join(", ")
        );
        for i in 0..5 {
            let start = 1000 + 13 * i;
            text += &format!(
                "[flows.f{i}]\nfrom = \"s{i}\"\nto = \"d{i}\"\nstart = \"{start}00us\"\nsource = \"bulk\"\ntcp = {{ preset = \"ns2\", cc = \"vegas\" }}\n"
            );
        }
        let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
        let out = run_all(&r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap();
        let sum = |name| out[0].flows.numbers.iter().find(|c| c.0 == name).unwrap().1.iter().sum::<f64>();
        assert_eq!((sum("packets_sent"), sum("packets_lost")), (f64::from(sent), f64::from(lost)), "{limit} packets");
    }
}
