//! TCP Fast Open (RFC 7413) in scenarios, against arithmetic: distribution of cookies, and the saved round-trip time.

use crate::common::{cell, run};

/// Transmission time in seconds of `bytes` at 10 Mbit/s.
fn tx(bytes: f64) -> f64 {
    bytes * 8.0 / 10e6
}

const DELAY: f64 = 0.020;
/// IP and TCP header, and options of a SYN.
const HEADER: f64 = 40.0;
const SYN: f64 = 52.0;
/// A cookie of 8 bytes in its option, padded; a request for one.
const COOKIE: f64 = 12.0;
const REQUEST: f64 = 4.0;

fn close(got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
}

/// Two successive connections between `a` and `b`, `DELAY` apart.
fn twice(tcp: &str, source: &str) -> String {
    let flow = |name: &str, start: &str| {
        format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\nstart = \"{start}\"\ntcp = {{ cc = \"newreno\", {tcp} }}\n{source}\n")
    };
    format!(
        "duration = \"20s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"20ms\"\n{}{}",
        flow("first", "0s"),
        flow("later", "5s")
    )
}

fn values(text: &str, name: &str) -> [f64; 2] {
    let r = run(text);
    [cell(&r, name, 0), cell(&r, name, 1)]
}

/// RFC 7413 section 1: a file that fits into the SYN arrives after half a round-trip time instead of one and a half. The first connection pays for the cookie with
/// its bytes only.
#[test]
fn a_short_file_takes_a_round_trip_less() {
    let file = "source.file = { size = \"1000B\" }";
    let handshake = 2.0 * DELAY + 2.0 * tx(SYN);
    // The acknowledgment of the SYN-ACK precedes the data.
    let plain = handshake + tx(HEADER) + tx(HEADER + 1000.0) + DELAY;
    for got in values(&twice("fast_open = \"off\"", file), "completion_time") {
        close(got, plain);
    }
    let [first, later] = values(&twice("fast_open = \"cookie\"", file), "completion_time");
    close(first, handshake + tx(REQUEST) + tx(COOKIE) + tx(HEADER + 1000.0) + DELAY);
    close(later, tx(SYN + COOKIE + 1000.0) + DELAY);
    for got in values(&twice("fast_open = \"no_cookie\"", file), "completion_time") {
        close(got, tx(SYN + 1000.0) + DELAY);
    }
}

/// The rest follows the SYN-ACK, when an ordinary connection sends its first segment: n full segments save the part in the SYN.
#[test]
fn a_file_of_a_window_saves_what_its_syn_carries() {
    let (size, in_syn) = (10_000.0, 1420.0);
    let file = "source.file = { size = \"10000B\" }";
    let [_, later] = values(&twice("fast_open = \"cookie\"", file), "completion_time");
    let rest = size - in_syn;
    let segments = (rest / 1460.0_f64).ceil();
    close(later, 3.0 * DELAY + tx(SYN + COOKIE + in_syn) + tx(SYN) + tx(rest + HEADER * segments));
}

/// Section 4.2.2: an answer to a request in the SYN is sent before the handshake completes. The client of `request_response` is `to`.
#[test]
fn a_request_and_its_answer_take_one_round_trip() {
    let rpc = "source.request_response = { request = \"100B\", response = \"1000B\", requests = 1 }";
    let ways = |tcp: &str| values(&twice(tcp, rpc), "transaction_time_mean");
    let [first, later] = ways("fast_open = \"cookie\"");
    close(later, 2.0 * DELAY + tx(SYN + COOKIE + 100.0) + tx(SYN) + tx(HEADER + 1000.0));
    assert!(first > later + 2.0 * DELAY, "{first} {later}");
    let [plain, _] = ways("fast_open = \"off\"");
    assert!((plain - later - 2.0 * DELAY).abs() < 0.001, "{plain} {later}");
}

/// Twenty connections of a pair of nodes.
fn group(name: &str, i: u32) -> String {
    format!(
        "[flows.{name}]\nfrom = \"s{i}\"\nto = \"d{i}\"\ncount = 20\nspread = \"20s\"\ntcp = {{ preset = \"linux\", fast_open = \"cookie\" }}\n\
         source.file = {{ size = \"20kB\" }}\n"
    )
}

/// Every byte arrives once despite drops, and flows of two node pairs have cookies of their own.
#[test]
fn many_short_flows_lose_nothing() {
    for queue in ["queue.droptail = { limit = \"5p\" }", "queue = \"codel\"", "queue = \"fq_codel\""] {
        let text = format!(
            "duration = \"60s\"\n[topology.dumbbell]\npairs = 2\nbottleneck = {{ rate = \"2Mbit/s\", delay = \"20ms\", {queue}, loss = 0.05 }}\n\
             {}{}",
            group("f", 0),
            group("g", 1)
        );
        let r = run(&text);
        let open = (0..40).filter(|&i| cell(&r, "completion_time", i).is_nan()).count();
        assert_eq!(open, 0, "{queue}");
    }
}
