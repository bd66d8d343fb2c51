//! Data both ways over one connection: each half does its own, and neither disturbs the other.

use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{ENDLESS, Endpoint, Segment, flag};
use fairlane_tcp::TcpParams;
use fairlane_units::{Dur, Rate, Time};
use serde_json::json;

const PRESETS: [&str; 3] = ["rfc", "ns2", "linux"];

fn with(preset: &str, cc: &str) -> TcpParams {
    params(json!({ "preset": preset, "cc": cc, "window": "1000p" }))
}

/// Drops the n-th segments with data of direction `dir`, counted from 0.
fn drop_data(p: &mut Pair, dir: usize, list: &'static [u64]) {
    let mut n = 0;
    p.script[dir] = Box::new(move |_, s: &Segment| {
        if s.payload == 0 {
            return Fate::Pass;
        }
        n += 1;
        if list.contains(&(n - 1)) { Fate::Drop } else { Fate::Pass }
    });
}

/// RFC 1122 section 4.2.3.2: what is sent anyway carries the acknowledgment. Both directions fill their link, and hardly any acknowledgment travels alone.
#[test]
fn both_directions_at_full_rate_with_acknowledgments_on_board() {
    let p = params(json!({ "cc": "sack", "receive_window": "60000B" }));
    let hop = || Hop::new(Rate::from_mbps(10), Dur::from_ms(10), 200);
    let mut pair = Pair::new(&p, vec![hop()], vec![hop()]);
    pair.start_endless();
    pair.write(1, ENDLESS, false);
    pair.run(Dur::from_secs(10));
    for dir in 0..2 {
        let goodput = pair.delivered[1 - dir] as f64 * 8.0 / 10.0;
        assert!(goodput > 0.93 * 10e6 * 1460.0 / 1500.0, "{goodput}");
        let (with, without) =
            pair.log.iter().filter(|l| l.1 == dir).fold((0, 0), |(w, o), l| if l.2.payload > 0 { (w + 1, o) } else { (w, o + 1) });
        assert!(without * 10 < with, "direction {dir}: {without} pure acknowledgments, {with} with data");
    }
    // One way every second segment has one.
    let mut one = Pair::new(&p, vec![hop()], vec![hop()]);
    one.start_endless();
    one.run(Dur::from_secs(10));
    let data = one.log.iter().filter(|l| l.2.payload > 0).count();
    assert!((one.log.iter().filter(|l| l.1 == 1).count() as f64 / data as f64 - 0.5).abs() < 0.05);
}

/// A segment lost on the way back is the receiver's to repair: it retransmits it once, without a timeout, and the other direction neither retransmits nor
/// slows down.
#[test]
fn what_is_lost_one_way_is_repaired_there_alone() {
    for preset in PRESETS {
        for cc in ["newreno", "sack", "cubic"] {
            for dir in [0, 1] {
                let p = with(preset, cc);
                let hop = || Hop::new(Rate::from_mbps(10), Dur::from_ms(20), 1000);
                let mut pair = Pair::new(&p, vec![hop()], vec![hop()]);
                drop_data(&mut pair, dir, &[40]);
                pair.start();
                pair.write(0, 300_000, false);
                pair.write(1, 300_000, false);
                pair.run(Dur::from_secs(10));
                assert_eq!(pair.delivered, [300_000; 2], "{preset} {cc} {dir}");
                let (lossy, other) = (pair.ends[dir].view(), pair.ends[1 - dir].view());
                assert_eq!((lossy.retransmits, lossy.timeouts, lossy.fast_recoveries), (1, 0, 1), "{preset} {cc} {dir}");
                assert_eq!((other.retransmits, other.cwnd_cuts), (0, 0), "{preset} {cc} {dir}");
            }
        }
    }
}

/// RFC 5681 section 2: a duplicate acknowledgment carries no data. With data on its way back, the acknowledgment that tells of a hole still travels alone, and before
/// the data: behind it, it would repeat a number that the data has told.
#[test]
fn data_beside_a_hole_makes_no_false_duplicates() {
    let p = params(
        json!({ "cc": "newreno", "mss": "1000B", "ack_every": 50, "ack_delay": "500ms", "initial_window": "20p", "limited_transmit": false }),
    );
    let mut pair = Pair::delayed(&p, Dur::from_ms(50));
    drop_data(&mut pair, 0, &[5, 10]);
    pair.start();
    pair.write(0, 20_000, false);
    pair.run_until(Time::ZERO + Dur::from_ms(145));
    pair.write(1, 100_000, false);
    pair.run(Dur::from_secs(5));
    assert_eq!(pair.delivered, [100_000, 20_000]);
    let v = pair.ends[0].view();
    assert_eq!((v.retransmits, v.fast_recoveries), (2, 1));
    // The retransmission of the first also acknowledges what came back meanwhile, so that data may follow at once.
    assert!(pair.log.iter().any(|l| l.1 == 1 && l.2.payload > 0 && l.0 == Time::ZERO + Dur::from_ms(250)));
    let back: Vec<&Segment> = pair.log.iter().filter(|l| l.1 == 1 && !l.2.has(flag::SYN)).map(|l| &l.2).collect();
    let first_with_data = back.windows(2).filter(|w| w[1].payload > 0 && w[1].ack > w[0].ack && w[1].ack < 20_001);
    assert_eq!(first_with_data.count(), 0, "a new number below a hole goes without data first");
}

/// RFC 3168: marks on what the receiver sends are the receiver's affair.
#[test]
fn marks_slow_down_the_end_that_sent() {
    let p = params(json!({ "cc": "newreno", "ecn": "classic", "window": "1000p" }));
    for dir in [0, 1] {
        let mut pair = Pair::delayed(&p, Dur::from_ms(20));
        let mut n = 0;
        pair.script[dir] = Box::new(move |_, s: &Segment| {
            n += u64::from(s.payload > 0);
            if n == 30 && s.payload > 0 { Fate::Mark } else { Fate::Pass }
        });
        pair.start();
        pair.write(0, 300_000, false);
        pair.write(1, 300_000, false);
        pair.run(Dur::from_secs(10));
        let (marked, other) = (pair.ends[dir].view(), pair.ends[1 - dir].view());
        assert_eq!((marked.ecn_cuts, other.ecn_cuts, other.cwnd_cuts), (1, 0, 0), "{dir}");
    }
}

/// RFC 9293 section 3.6: an end that closed still receives. With an application of its own at each end the other continues until it closes too.
#[test]
fn a_half_closed_connection_goes_on() {
    for preset in ["rfc", "linux"] {
        let mut pair = Pair::delayed(&with(preset, "sack"), Dur::from_ms(10));
        pair.ends.iter_mut().for_each(|e| e.keep_open());
        pair.start();
        pair.write(1, 3000, true);
        pair.run(Dur::from_secs(1));
        pair.write(0, 50_000, false);
        pair.run(Dur::from_secs(1));
        pair.write(0, 50_000, true);
        pair.run(Dur::from_secs(5));
        assert_eq!(pair.delivered, [3000, 100_000], "{preset}");
        assert!(pair.finished.iter().all(Option::is_some) && !pair.alive(), "{preset}");
        // Without one it closes as soon as the other has.
        let mut shut = Pair::delayed(&with(preset, "sack"), Dur::from_ms(10));
        shut.start();
        shut.write(1, 3000, true);
        shut.run(Dur::from_secs(1));
        shut.write(0, 50_000, false);
        shut.run(Dur::from_secs(5));
        assert_eq!(shut.delivered, [3000, 0], "{preset}");
    }
}
