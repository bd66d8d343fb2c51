//! quinn over a path with a delay, and losses that a test chooses.

#![cfg(feature = "quinn")]

use fairlane_net::{Cx, ENDLESS, Ecn, Endpoint, Limit, Timers, Usage};
use fairlane_stacks::{Implementation, QuicParams, QuicVersion, QuinnCc, QuinnParams, Stack, StackState, Transmit};
use fairlane_units::{Dur, Time};
use pair::{FAULTS, Pair, STREAMS, ms, same_bytes};

mod pair;

fn with(change: impl FnOnce(&mut QuicParams)) -> QuinnParams {
    let mut params = QuinnParams::default();
    change(&mut params.quic);
    params
}

/// RFC 9001: a full handshake takes one round trip; the certificate, keys and random numbers follow from the seed, so every byte is the same again.
#[test]
fn a_file_arrives_and_the_same_seed_is_the_same_bytes() {
    same_bytes(|seed| {
        let mut p = Pair::of(&QuinnParams::default(), seed, STREAMS);
        p.write(200_000, true);
        p.run(ms(39));
        assert_eq!((p.connection(), p.ends[0].limit(&p.timers[0])), ("handshake", Limit::Handshake));
        p.run(ms(41));
        assert_eq!(p.connection(), "established");
        p.run(Dur::from_secs(5));
        assert_eq!(p.delivered, [0, 200_000]);
        // Closed after the last acknowledgment, and nothing is to come once the closing state is over (RFC 9000 section 10.2).
        p.run(Dur::from_secs(60));
        assert!(p.timers.iter().all(|t| t.next() == Time::MAX), "timers are left: {:?}", p.timers);
        assert_eq!((p.ends[0].failure(), p.ends[1].failure()), (None, None));
        p.print
    });
}

/// RFC 9002 section 6.2.2: the first probe timeout is three times the initial round-trip time, 999 ms.
#[test]
fn the_first_packet_is_repeated_after_a_probe_timeout() {
    let mut p = Pair::of(&QuinnParams::default(), 1, STREAMS);
    p.flying.clear();
    p.write(1000, true);
    p.run(ms(998));
    assert_eq!(p.sent[0], 1);
    p.run(ms(1000));
    assert!(p.sent[0] >= 2);
    p.run(Dur::from_secs(3));
    assert_eq!(p.delivered[1], 1000);
}

#[test]
fn lost_packets_are_repaired_and_reduce_the_window() {
    for cc in [QuinnCc::Cubic, QuinnCc::Newreno] {
        let mut p = Pair::of(&QuinnParams { cc, ..QuinnParams::default() }, 1, STREAMS);
        p.lost = |end, n| end == 0 && n % 100 == 99;
        p.write(1_000_000, true);
        p.run(Dur::from_secs(30));
        let view = p.ends[0].view();
        assert_eq!(p.delivered[1], 1_000_000);
        assert!(view.retransmits >= 7 && view.cwnd_cuts >= 3 && view.ecn_cuts == 0, "{view:?}");
        // Round trip of the path, and at most the delay of acknowledgments (25 ms) more.
        assert!(view.srtt >= ms(40) && view.srtt < ms(66), "{:?}", view.srtt);
    }
}

/// RFC 9000 section 13.4: marks are counted, echoed, and answered like a loss; without ECN no packet is capable.
#[test]
fn marks_reach_the_stack_and_reduce_the_window() {
    let run = |ecn| {
        let mut p = Pair::of(&with(|q| q.ecn = ecn), 1, STREAMS);
        p.marks_from = 60;
        p.write(200_000, true);
        p.run(Dur::from_secs(20));
        assert_eq!(p.delivered[1], 200_000);
        (p.ends[0].view().ecn_cuts, p.ends[1].view().ce_received)
    };
    let (cuts, marked) = run(true);
    assert!(cuts >= 2 && marked > 80, "{cuts} {marked}");
    assert_eq!(run(false), (0, 0));
}

/// RFC 9000 section 10.1: without an answer the connection ends; with all data delivered that is no failure.
#[test]
fn an_idle_timeout_is_a_failure_only_if_data_are_lost() {
    let params = with(|q| q.idle_timeout = Dur::from_secs(2));
    let mut dead = Pair::of(&params, 1, STREAMS);
    dead.lost = |end, _| end == 1;
    dead.flying.clear();
    dead.write(1000, true);
    dead.run(Dur::from_secs(30));
    assert_eq!(dead.ends[0].failure().as_deref(), Some("timed out"));
    assert_eq!((dead.delivered[1], dead.connection()), (0, "closed"));
    let mut idle = Pair::of(&params, 1, STREAMS);
    idle.write(1000, false);
    idle.run(Dur::from_secs(30));
    assert_eq!((idle.delivered[1], idle.ends[0].failure()), (1000, None));
    // The application writes again: now data are lost.
    idle.write(1000, false);
    idle.run(Dur::from_secs(60));
    assert_eq!((idle.delivered[1], idle.ends[0].failure().as_deref()), (1000, Some("timed out")));
}

/// RFC 9000 section 6: the server answers with the versions that it knows, and the client gives up.
#[test]
fn a_version_that_the_server_does_not_know_fails() {
    let params = with(|q| q.server_version = Some(QuicVersion::Draft29));
    let mut p = Pair::of(&params, 1, STREAMS);
    p.write(1000, true);
    p.run(Dur::from_secs(30));
    assert_eq!(p.ends[0].failure().as_deref(), Some("peer doesn't implement any supported version"));
    assert_eq!((p.sent, p.delivered[1]), ([1, 1], 0));
    let mut both = Pair::of(&with(|q| q.version = QuicVersion::Draft29), 1, STREAMS);
    both.write(1000, true);
    both.run(Dur::from_secs(3));
    assert_eq!(both.delivered[1], 1000);
}

/// RFC 9221: packets of the application are datagrams, which are numbered for the receiver and not repeated.
#[test]
fn packets_of_the_application_are_datagrams() {
    let mut p = Pair::of(&QuinnParams::default(), 1, Usage::default());
    p.run(ms(100));
    let before = p.ends[0].view().data_segments;
    for i in 0..50 {
        p.lost = if i == 20 { |end, _| end == 0 } else { |_, _| false };
        p.write(160, false);
        p.run(ms(120 + 20 * i));
    }
    p.run(Dur::from_secs(2));
    assert_eq!((p.ends[0].view().data_segments - before, p.delivered[1]), (50, 49 * 160));
    // One that does not fit is sent as several.
    p.write(5000, false);
    p.run(Dur::from_secs(3));
    assert_eq!(p.delivered[1], 49 * 160 + 5000);
}

/// The receiver opens the connection and asks, the sender answers.
#[test]
fn both_ends_send_in_a_dialogue() {
    let mut p = Pair::of(&QuinnParams::default(), 1, Usage { dialogue: true, amounts: true });
    p.call(1, |e, cx| e.on_write(300, false, cx));
    p.run(ms(61));
    assert_eq!(p.delivered, [300, 0]);
    p.write(50_000, false);
    p.run(Dur::from_secs(2));
    assert_eq!(p.delivered, [300, 50_000]);
}

#[test]
fn a_stopped_flow_sends_no_more() {
    let mut p = Pair::of(&QuinnParams::default(), 1, STREAMS);
    p.write(ENDLESS, false);
    p.lost = |end, n| end == 0 && n % 50 == 0;
    p.run(Dur::from_secs(1));
    let at = p.delivered[1];
    assert!(at > 100_000);
    p.call(0, |e, cx| e.on_stop(cx));
    p.run(Dur::from_secs(2));
    let sent = p.ends[0].view().data_segments;
    p.run(Dur::from_secs(4));
    assert_eq!(p.ends[0].view().data_segments, sent);
}

/// The log of the stack itself is empty unless it is asked for.
#[test]
fn the_stack_writes_its_own_log_and_its_secrets() {
    let mut p = Pair::with((1, STREAMS), |seat| {
        seat.datagrams.want_logs();
        QuinnParams::default().build(seat)
    });
    p.write(10_000, true);
    p.run(Dur::from_secs(2));
    let log = String::from_utf8(p.ends[0].datagrams().take_log(false)).unwrap();
    assert!(log.contains("packet_sent") && log.contains("\"qlog_version\""), "{}", &log[..200.min(log.len())]);
    let keys = p.ends[0].datagrams().keys_from(0);
    for label in ["CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 ", "CLIENT_TRAFFIC_SECRET_0 "] {
        assert!(keys.contains(label), "{keys}");
    }
    let mut quiet = Pair::of(&QuinnParams::default(), 1, STREAMS);
    quiet.write(10_000, true);
    quiet.run(Dur::from_secs(2));
    assert!(quiet.ends[0].datagrams().take_log(false).is_empty());
    assert_eq!(quiet.print, p.print);
}

struct Panics(Box<dyn Stack>);

impl Stack for Panics {
    fn connect(&mut self, now: Time) {
        self.0.connect(now);
    }
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        assert!(now < Time::ZERO + ms(50), "it does not like the time");
        self.0.handle(now, datagram, ecn);
    }
    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        self.0.poll_transmit(now, into)
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        self.0.poll_timeout()
    }
    fn on_timeout(&mut self, now: Time) {
        self.0.on_timeout(now);
    }
    fn write(&mut self, now: Time, bytes: u64, fin: bool) {
        self.0.write(now, bytes, fin);
    }
    fn stop(&mut self, now: Time) {
        self.0.stop(now);
    }
    fn delivered(&mut self) -> u64 {
        self.0.delivered()
    }
    fn state(&self) -> StackState {
        self.0.state()
    }
}

#[test]
fn a_panic_of_a_stack_is_a_fault_with_flow_time_and_packet() {
    let mut p = Pair::with((1, STREAMS), |seat| {
        let stack = QuinnParams::default().build(seat)?.unwrap();
        Ok(Some(if seat.opens { stack } else { Box::new(Panics(stack)) }))
    });
    p.write(100_000, true);
    p.run(ms(300));
    let faults = FAULTS.take();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].time, Time::ZERO + ms(60));
    let text = &faults[0].message;
    assert!(
        text.starts_with("flow `app`, receiver, after packet ") && text.ends_with("stack tested panicked: it does not like the time"),
        "{text}"
    );
    // A clone has no connection.
    let mut copy = p.ends[0].clone();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    copy.on_write(1, false, &mut Cx::new(p.now, &mut out, &mut timers));
    assert!(FAULTS.take()[0].message.contains("cannot be branched"));
}

/// noq has the interface of quinn, and other congestion controls.
#[cfg(feature = "noq")]
#[test]
fn noq_repairs_losses_and_is_the_same_again() {
    use fairlane_stacks::{NoqCc, NoqParams};
    for cc in [NoqCc::Cubic, NoqCc::Newreno] {
        let run = || {
            let params = NoqParams { cc, ..NoqParams::default() };
            let mut p = Pair::with((1, STREAMS), |seat| params.build(seat));
            p.lost = |end, n| end == 0 && n % 100 == 99;
            p.write(1_000_000, true);
            p.run(Dur::from_secs(30));
            let view = p.ends[0].view();
            assert_eq!(p.delivered[1], 1_000_000);
            assert!(view.retransmits >= 7 && view.cwnd_cuts >= 3 && view.acked > 900_000, "{view:?}");
            assert!(view.srtt >= ms(40) && view.srtt < ms(66), "{:?}", view.srtt);
            p.print
        };
        assert_eq!(run(), run());
    }
}

/// BBR of quinn and BBRv3 of noq draw from the system's random numbers, which are those of the seed in this build.
#[cfg(all(feature = "noq", getrandom_backend = "custom"))]
#[test]
fn bbr_is_the_same_again_with_random_numbers_of_the_seed() {
    use fairlane_stacks::{NoqCc, NoqParams};
    fn run<P: Implementation>(params: &P, seed: u64) -> u64 {
        assert!(params.check().is_ok());
        let mut p = Pair::of(params, seed, STREAMS);
        p.lost = |end, n| end == 0 && n % 100 == 99;
        p.write(2_000_000, true);
        p.run(Dur::from_secs(30));
        assert_eq!(p.delivered[1], 2_000_000);
        p.print
    }
    let quinn = QuinnParams { cc: QuinnCc::Bbr, ..QuinnParams::default() };
    let noq = NoqParams { cc: NoqCc::Bbr3, ..NoqParams::default() };
    let first = (run(&quinn, 1), run(&noq, 1));
    assert_ne!(first, (run(&quinn, 2), run(&noq, 2)));
    assert_eq!(first, (run(&quinn, 1), run(&noq, 1)));
    let other = std::thread::spawn(move || (run(&quinn, 1), run(&noq, 1))).join().unwrap();
    assert_eq!(first, other);
}

/// Other builds refuse them in one line.
#[cfg(not(getrandom_backend = "custom"))]
#[test]
fn bbr_needs_random_numbers_of_the_seed() {
    let quinn = QuinnParams { cc: QuinnCc::Bbr, ..QuinnParams::default() };
    assert!(quinn.check().is_err_and(|e| e.message.contains("getrandom_backend")));
}
