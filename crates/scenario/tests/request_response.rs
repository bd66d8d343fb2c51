//! Request-response sources over both transports, against arithmetic.

use crate::common::{column, run, run_seed};

/// A client at `b` and a server at `a`, `one_way` apart; 10 Mbit/s links without losses.
fn pair(transport: &str, source: &str, more: &str) -> String {
    format!(
        "duration = \"20s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"20ms\"\nqueue.droptail = {{ limit = \"10000p\" }}\n{more}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\n{transport}\n{source}\n"
    )
}

/// Transmission time in seconds of `bytes` at 10 Mbit/s.
fn tx(bytes: f64) -> f64 {
    bytes * 8.0 / 10e6
}

const DELAY: f64 = 0.020;

fn close(got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
}

/// Over UDP: the path of the request and of the answer, whose datagrams follow one another without gaps.
#[test]
fn response_time_over_udp() {
    for (response, datagrams) in [(512.0, 1.0), (10_000.0, 7.0), (100_000.0, 68.0)] {
        let text = pair(
            "udp = {}",
            &format!("source.request_response = {{ response = \"{response}B\", request = \"60B\", think = \"10ms\" }}"),
            "",
        );
        let out = run(&text);
        let want = DELAY + tx(60.0 + 28.0) + DELAY + tx(response + 28.0 * datagrams);
        close(column(&out, "transaction_time_mean"), want);
        let n = column(&out, "transactions");
        // Mean think time 10 ms: N = T / (R + Z), for exponential Z with its deviation.
        let cycles = 20.0 / (want + 0.01);
        assert!((n - cycles).abs() < 4.0 * cycles.sqrt() * 0.01 / (want + 0.01) + 1.0, "{n} {cycles}");
        close(column(&out, "goodput"), (n * response + column(&out, "goodput") * 20.0 / 8.0 % response) * 8.0 / 20.0);
    }
}

/// Over TCP with an initial window of w segments that doubles each round-trip time (RFC 5681 section 3.1, every segment acknowledged): an answer of n segments
/// takes the request's path, as many round-trip times as windows are full before the last, and the transmission of the last window. The first answer waits for the
/// handshake, which the client starts: one round-trip time more.
#[test]
fn response_time_over_tcp_is_slow_starts() {
    let mss = 1460.0;
    for (segments, window, rounds, last) in
        [(1.0, 4, 0.0, 1.0), (4.0, 4, 0.0, 4.0), (12.0, 4, 1.0, 8.0), (20.0, 4, 2.0, 8.0), (10.0, 10, 0.0, 10.0)]
    {
        let tcp = format!("tcp = {{ cc = \"newreno\", initial_window = \"{window}p\", ack_every = 1, idle_restart = \"off\" }}");
        let source = format!("source.request_response = {{ response = \"{}B\", request = \"100B\", requests = 1 }}", segments * mss - 1.0);
        let out = run(&pair(&tcp, &source, ""));
        let handshake = 2.0 * DELAY + tx(52.0) + tx(52.0);
        // The client's acknowledgment of the SYN-ACK precedes its request, the server's of the request precedes its answer.
        let request = DELAY + tx(40.0) + tx(140.0) + tx(40.0);
        let round = 2.0 * DELAY + tx(1500.0) + tx(40.0);
        // One byte less than a full window leaves room for the FIN.
        let answer = rounds * round + DELAY + last * tx(1500.0) - tx(1.0);
        close(column(&out, "transaction_time_mean"), handshake + request + answer);
        assert_eq!(column(&out, "transactions"), 1.0);
        // The flow closes after its last answer: its lifetime is that of the transaction.
        close(column(&out, "completion_time"), handshake + request + answer);
    }
}

/// Law of interactive systems (Denning and Buzen 1978): N requests in the loop, X = N / (R + Z), for any R. The ends of the run cut off
/// at most one cycle of each request.
#[test]
fn throughput_of_a_closed_loop() {
    for transport in ["tcp = { cc = \"cubic\", ack_every = 1 }", "udp = {}"] {
        for (n, think) in [(1, "fixed"), (8, "exponential"), (40, "exponential")] {
            let source = format!(
                "source.request_response = {{ response = \"20kB\", sizes = \"exponential\", think = \"50ms\", think_times = \"{think}\", outstanding = {n} }}"
            );
            let out = run(&pair(transport, &source, ""));
            let (x, r) = (column(&out, "transactions") / 20.0, column(&out, "transaction_time_mean"));
            let law = f64::from(n) / (r + 0.05);
            let edge = f64::from(n) / 20.0 + 4.0 * (x / 20.0).sqrt() * 0.5;
            assert!((x - law).abs() < edge.max(0.01 * law), "{transport} {n}: {x} {law}");
        }
    }
    // With enough requests the link is full, and R follows: R = N / X - Z.
    let source = "source.request_response = { response = \"20kB\", think = \"50ms\", outstanding = 40 }";
    let out = run(&pair("tcp = { cc = \"cubic\" }", source, ""));
    assert!(column(&out, "goodput") > 9.0e6, "{}", column(&out, "goodput"));
}

/// Losses in either direction: TCP repairs them, the UDP client asks again. No transaction takes longer than its timeouts.
#[test]
fn what_is_lost_is_asked_for_again() {
    let source = |timeout: &str| format!("source.request_response = {{ response = \"4kB\", think = \"10ms\"{timeout} }}");
    for (transport, timeout) in [("udp = {}", ", timeout = \"200ms\""), ("tcp = \"sack\"", "")] {
        let lossless = run(&pair(transport, &source(timeout), ""));
        for more in ["loss = 0.05", "reverse = { loss = 0.05 }"] {
            let out = run(&pair(transport, &source(timeout), more));
            let (n, all) = (column(&out, "transactions"), column(&lossless, "transactions"));
            assert!(n > 0.1 * all && n < all, "{transport} {more}: {n} of {all}");
            assert!(column(&out, "transaction_time_p50") < 1.5 * column(&lossless, "transaction_time_p50"));
            assert!(column(&out, "transaction_time_p99") > 0.2, "{transport} {more}");
        }
    }
}

/// Default timeout: 5 s over UDP and none over TCP, as in the resolved scenario.
#[test]
fn timeouts_by_transport() {
    for (transport, want) in [("udp = {}", serde_json::json!("5s")), ("tcp = {}", serde_json::Value::Null)] {
        for source in ["request_response", "web"] {
            let r = crate::common::read(&pair(transport, &format!("source = \"{source}\""), ""));
            assert_eq!(r.to_json()["flows"]["f"]["source"][source]["timeout"], want, "{transport} {source}");
        }
    }
}

/// Page of RFC 7928, 700 kB at 10 Mbit/s: 480 segments after a slow start from 10. The link is full once the window holds the round-trip time of 41 ms,
/// which is 34 segments: 10, 20, 40 leave it idle for two rounds, and never again.
#[test]
fn page_load_time_on_an_idle_link() {
    let tcp = "tcp = { cc = \"newreno\", initial_window = \"10p\", ack_every = 1, idle_restart = \"off\" }";
    let out = run(&pair(tcp, "source.web = { model = \"rfc7928\", pages = 1 }", ""));
    let (segments, rest) = (700_000_f64.div_euclid(1460.0), 700_000_f64.rem_euclid(1460.0));
    let round = 2.0 * DELAY + tx(1500.0) + tx(40.0);
    let handshake = 2.0 * DELAY + tx(52.0) + tx(52.0);
    let request = DELAY + tx(40.0) + tx(390.0) + tx(40.0);
    // The first two windows, 10 and 20, are sent before their first acknowledgments arrive.
    let want = handshake + request + 2.0 * round + DELAY + (segments - 30.0) * tx(1500.0) + tx(rest + 40.0);
    close(column(&out, "transaction_time_mean"), want);
}

/// Main object, parsing, embedded objects: each object of one segment takes one round-trip time, one after another, or about one for all if
/// they are pipelined.
#[test]
fn embedded_objects_in_turn_and_pipelined() {
    let source = |pipelined| {
        format!(
            "source.web = {{ main_std = \"0B\", main_mean = \"1460B\", object_mean = \"1460B\", object_std = \"0B\", objects_least = 2, objects_most = 12, objects_shape = 0.1, \
             parsing = \"0s\", reading = \"1s\", pipelined = {pipelined} }}"
        )
    };
    let tcp = "tcp = { cc = \"newreno\", initial_window = \"20p\", ack_every = 1, idle_restart = \"off\" }";
    let (turn, piped) = (run(&pair(tcp, &source(false), "")), run(&pair(tcp, &source(true), "")));
    let once = 2.0 * DELAY + tx(390.0) + tx(1500.0);
    // Shape 0.1: three quarters of all draws exceed 12, so nearly every page has 10 objects. The median page takes 11 round-trip times, or 2 and the transmission of
    // 10 requests or answers, whichever is longer.
    let p50 = column(&turn, "transaction_time_p50");
    assert!((p50 / (11.0 * once) - 1.0).abs() < 0.02, "{p50} {once}");
    let p50 = column(&piped, "transaction_time_p50");
    assert!((p50 / (2.0 * once + 9.0 * tx(1500.0)) - 1.0).abs() < 0.02, "{p50}");
}

#[test]
fn seeds_decide_and_repeat() {
    for (transport, source) in [
        ("tcp = {}", "web = { reading = \"100ms\" }"),
        ("udp = {}", "web = { reading = \"100ms\" }"),
        ("udp = {}", "request_response = {}"),
    ] {
        let text = pair(transport, &format!("source.{source}"), "");
        let f = |seed| run_seed(&text, seed).fingerprint;
        assert_eq!(f(1), f(1));
        assert_ne!(f(1), f(2));
    }
}
