//! Reductions that prove a mistake: F-RTO (RFC 5682), Eifel (RFC 3522, RFC 4015), D-SACK (RFC 3708).

use crate::helpers::{ms, with};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{ENDLESS, Endpoint, Segment};
use fairlane_units::{Rate, Time};
use serde_json::{Value, json};

const MSS: u64 = 960;

/// A window of 20 segments that hardly grows, a round trip of 100 ms; segments are 5 ms apart.
fn flow(cc: &str, extra: Value) -> Pair {
    let j = with(
        json!({
            "cc": cc, "mss": format!("{MSS}B"), "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "200ms",
        }),
        &extra,
    );
    let mut p = Pair::new(&params(j), vec![Hop::new(Rate::from_bps(1_600_000), ms(45), usize::MAX)], vec![Hop::delay(ms(50))]);
    p.start();
    p
}

fn data(s: &Segment) -> u64 {
    (s.seq - 1) / MSS
}

/// Everything that leaves in `from..until` comes through at `until`, in order.
fn stall(p: &mut Pair, from: u64, until: u64) {
    let (from, until) = (Time::ZERO + ms(from), Time::ZERO + ms(until));
    p.script[0] = Box::new(move |_, s| if s.sent >= from && s.sent < until { Fate::Late(until - s.sent) } else { Fate::Pass });
}

/// Segment `n` is overtaken by those of the next `late` ms.
fn overtake(p: &mut Pair, n: u64, late: u64) {
    let mut done = false;
    p.script[0] = Box::new(move |_, s| {
        let hit = !done && s.payload != 0 && data(s) == n;
        done |= hit;
        if hit { Fate::Late(ms(late)) } else { Fate::Pass }
    });
}

struct Outcome {
    retransmits: u64,
    timeouts: u64,
    before: u64,
    cwnd: u64,
    ssthresh: (u64, u64),
    undone: u32,
}

fn outcome(mut p: Pair, before_ms: u64, end_ms: u64) -> Outcome {
    p.write(0, ENDLESS, false);
    p.run_until(Time::ZERO + ms(before_ms));
    let (before, ssthresh) = (p.ends[0].view().cwnd, p.ends[0].view().ssthresh);
    p.run_until(Time::ZERO + ms(end_ms));
    let v = p.ends[0].view();
    Outcome {
        retransmits: v.retransmits,
        timeouts: v.timeouts,
        before,
        cwnd: v.cwnd,
        ssthresh: (ssthresh, v.ssthresh),
        undone: p.ends[0].reductions_taken_back(),
    }
}

/// RFC 5682 section 1: a sudden delay lets the timer go off; a sender that does not know sends its window again from one segment.
/// With F-RTO, or with timestamps (RFC 3522), it sends one segment again and continues with the window it had (RFC 4015 section 3).
/// Also RFC 5682 sections 2.1 and 3.1.
#[test]
fn spurious_timeout() {
    for cc in ["tahoe", "reno", "newreno", "sack", "fack"] {
        let plain = {
            let mut p = flow(cc, json!({}));
            stall(&mut p, 300, 700);
            outcome(p, 350, 1200)
        };
        assert!(plain.timeouts >= 1 && plain.retransmits >= 10 && plain.ssthresh.1 < 15 * MSS, "{cc} {}", plain.retransmits);
        for j in [json!({ "frto": true }), json!({ "eifel": true, "timestamps": true })] {
            let mut p = flow(cc, j.clone());
            stall(&mut p, 300, 700);
            let o = outcome(p, 350, 1200);
            assert_eq!((o.timeouts, o.retransmits, o.undone), (1, 1, 1), "{cc} {j}");
            assert!(o.cwnd >= o.before, "{cc} {j}: {} after {}", o.cwnd, o.before);
            assert!(o.ssthresh.1 >= o.ssthresh.0, "{cc} {j}");
        }
    }
}

/// RFC 5682 section 2.1 step 2b: the first acknowledgment after the timeout brings two new segments, nothing again.
/// Also RFC 5682 section 3.1.
#[test]
fn rfc5682_two_new_segments() {
    for cc in ["newreno", "sack"] {
        let mut p = flow(cc, json!({ "frto": true }));
        // The original of the first segment is lost with all that follow it, up to the retransmission.
        let lost = Time::ZERO + ms(300);
        p.script[0] = Box::new(move |_, s| if s.sent >= lost && !s.retransmission() && data(s) < 80 { Fate::Drop } else { Fate::Pass });
        p.write(0, ENDLESS, false);
        while p.ends[0].view().timeouts == 0 {
            p.step();
        }
        let (at, nxt) = (p.now, p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0).map(|l| data(&l.2)).max().unwrap());
        p.run_until(at + ms(150));
        let sent: Vec<(u64, bool)> =
            p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0 && l.0 > at).map(|l| (data(&l.2), l.2.retransmission())).collect();
        assert_eq!(sent, [(nxt + 1, false), (nxt + 2, false)], "{cc}");
        // Step 3a: they are lost too, or acknowledged by duplicates: the loss was real, and all of it is repaired.
        p.run_until(at + ms(4000));
        let v = p.ends[0].view();
        assert_eq!(p.ends[0].reductions_taken_back(), 0, "{cc}");
        assert!(p.ends[1].view().acks > 0 && v.acked > (nxt + 2) * MSS, "{cc}: {}", v.acked);
    }
}

/// A timeout after which everything is lost is never undone.
/// Also RFC 5682 section 2.1.
#[test]
fn real_timeout() {
    for cc in ["tahoe", "reno", "newreno", "sack", "fack"] {
        for j in [json!({ "frto": true }), json!({ "eifel": true, "timestamps": true })] {
            let mut p = flow(cc, j.clone());
            let lost = (Time::ZERO + ms(300), Time::ZERO + ms(420));
            p.script[0] = Box::new(move |_, s| if s.sent >= lost.0 && s.sent < lost.1 { Fate::Drop } else { Fate::Pass });
            let o = outcome(p, 350, 3000);
            assert!(o.timeouts >= 1 && o.undone == 0 && o.ssthresh.1 < 15 * MSS, "{cc} {j}");
        }
    }
}

/// Reordering by more than three segments looks like a loss. Timestamps tell with the acknowledgment of the original (RFC 3522
/// section 3.2), D-SACK a round trip later (RFC 3708 section 2); without either the window stays halved.
#[test]
fn spurious_fast_retransmit() {
    let run = |cc: &str, j: Value, end: u64| {
        let mut p = flow(cc, j);
        overtake(&mut p, 50, 30);
        outcome(p, 250, end)
    };
    for cc in ["newreno", "sack", "fack"] {
        let o = run(cc, json!({}), 480);
        assert!(o.retransmits >= 1 && o.undone == 0, "{cc}");
        assert!(o.cwnd < o.before * 6 / 10, "{cc}");
        let o = run(cc, json!({ "eifel": true, "timestamps": true }), 480);
        assert_eq!((o.retransmits, o.timeouts, o.undone), (1, 0, 1), "{cc}");
        assert!(o.cwnd >= o.before && o.ssthresh.1 >= o.ssthresh.0, "{cc}");
    }
    for cc in ["sack", "fack"] {
        let o = run(cc, json!({ "dsack_undo": true }), 600);
        assert_eq!((o.retransmits, o.timeouts, o.undone), (1, 0, 1), "{cc}");
        assert!(o.cwnd >= o.before && o.ssthresh.1 >= o.ssthresh.0, "{cc}");
    }
}

/// RFC 3708 section 2: one D-SACK is no proof when two segments were sent again, one of them for a loss.
#[test]
fn dsack_of_one_of_two() {
    let mut p = flow("sack", json!({ "dsack_undo": true }));
    p.script[0] = Box::new(move |_, s| {
        if s.payload == 0 || s.retransmission() {
            return Fate::Pass;
        }
        match data(s) {
            50 => Fate::Late(ms(30)),
            53 => Fate::Drop,
            _ => Fate::Pass,
        }
    });
    let o = outcome(p, 250, 900);
    assert_eq!((o.retransmits, o.undone), (2, 0));
    assert!(o.cwnd < o.before * 8 / 10);
}

/// A real loss repaired by fast retransmit is not undone by any of them.
#[test]
fn real_fast_retransmit() {
    for cc in ["reno", "newreno", "sack", "fack"] {
        let selective = cc == "sack" || cc == "fack";
        let mut p = flow(cc, json!({ "frto": true, "eifel": true, "timestamps": true, "dsack_undo": selective }));
        p.drop_data(&[50]);
        let o = outcome(p, 250, 700);
        assert_eq!((o.retransmits, o.undone), (1, 0), "{cc}");
        assert!(o.cwnd < o.before * 8 / 10);
    }
}
