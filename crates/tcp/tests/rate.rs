//! Rate samples compared with the known rate of the path (draft-ietf-ccwg-bbr-06 section 4.1).

use crate::helpers::ms;
use crate::pair::fixed::{Fixed, fixed};
use crate::pair::{Fate, Hop, Pair};
use fairlane_net::ENDLESS;
use fairlane_units::{Dur, Rate, Time};
use serde_json::json;

const MSS: u64 = 1460;

/// 10 Mbit/s in a loop of 40 ms: 33 packets.
fn path(window: u64, ack_every: u32) -> Pair<Fixed> {
    let tcp = json!({ "recovery": "sack", "ack_every": ack_every });
    let mut p = fixed(tcp, window * MSS, None, vec![Hop::new(Rate::from_mbps(10), ms(20), 1000)], vec![Hop::delay(ms(20))]);
    p.keep_log = false;
    p.start();
    p
}

/// Rates of the samples from one time on, as a share of 10 Mbit/s less headers.
fn shares(p: &Pair<Fixed>, from: u64) -> Vec<f64> {
    let full = 10e6 * MSS as f64 / 1500.0;
    let late = p.ends[0].cc().acks.iter().filter(|s| s.now >= Time::ZERO + ms(from));
    late.filter_map(|s| s.rate).map(|r| r.rate.as_bps() as f64 / full).collect()
}

/// Section 4.1.1.1: in the steady state each sample is the rate of the bottleneck, with and without delayed acknowledgments.
#[test]
fn draft_4_1_1_steady_state_is_the_bottleneck() {
    for ack_every in [1, 2, 4] {
        let mut p = path(60, ack_every);
        p.write(0, ENDLESS, false);
        p.run(ms(4000));
        let all = shares(&p, 1000);
        assert!(all.len() > 500, "{}", all.len());
        for share in all {
            assert!((share - 1.0).abs() < 0.01, "every {ack_every}: {share}");
        }
    }
}

/// A window below the BDP: the window over the round-trip time.
#[test]
fn draft_4_1_1_window_limited() {
    let mut p = path(10, 1);
    p.write(0, ENDLESS, false);
    p.run(ms(4000));
    let rtt = 0.04 + 1500.0 * 8.0 / 10e6;
    let expected = 10.0 * 1500.0 * 8.0 / rtt / 10e6;
    for share in shares(&p, 1000) {
        // At most: ten segments in a round trip; over the interval of a part of a round it can only be more while they are sent back to back.
        assert!((share / expected - 1.0).abs() < 0.02, "{share} {expected}");
    }
    assert!(p.ends[0].cc().acks.iter().filter_map(|s| s.rate).all(|r| !r.app_limited));
}

/// Section 4.1.1.4: acknowledgments that were held up and come at once do not make the path look faster, as the rate of sending bounds it.
#[test]
fn draft_4_1_1_4_compressed_acknowledgments() {
    // Paced at the rate of the path, as BBR does; acknowledgments wait for the next multiple of 15 ms.
    let rate = Rate::from_bps(9_733_333);
    let hop = Hop::new(Rate::from_mbps(10), ms(20), 1000);
    let tcp = json!({ "recovery": "sack", "ack_every": 1 });
    let mut p = fixed(tcp, 100 * MSS, Some(rate), vec![hop], vec![Hop::delay(ms(20))]);
    p.keep_log = false;
    let beat = ms(15).as_ps();
    p.script[1] = Box::new(move |_, s| Fate::Late(Dur::from_ps((beat - s.sent.as_ps() % beat) % beat)));
    p.start_endless();
    p.run(ms(4000));
    let all = shares(&p, 1000);
    assert!(all.iter().all(|&s| s < 1.01), "{:?}", all.iter().fold(0.0_f64, |m, &s| m.max(s)));
    assert!(all.iter().any(|&s| s > 0.97));
}

/// Section 4.1.2.4: samples of what was sent while data ran short are marked, until all of it is delivered.
#[test]
fn draft_4_1_2_4_application_limited() {
    let mut p = path(60, 1);
    p.write(0, 200 * MSS, false);
    p.run(ms(1500));
    // At least the first window was not.
    let acks = &p.ends[0].cc().acks;
    let flags = |from: usize, p: &Pair<Fixed>| -> Vec<bool> {
        p.ends[0].cc().acks[from..].iter().filter_map(|s| s.rate).map(|r| r.app_limited).collect()
    };
    assert!(!acks[..60].iter().filter_map(|s| s.rate).any(|r| r.app_limited));
    for _ in 0..5 {
        let from = p.ends[0].cc().acks.len();
        p.write(0, 5 * MSS, false);
        p.run(ms(100));
        assert_eq!(flags(from, &p), [true; 5]);
    }
    // With data enough the mark goes once what was sent before is delivered.
    let from = p.ends[0].cc().acks.len();
    p.write(0, ENDLESS, false);
    p.run(ms(500));
    let all = flags(from, &p);
    assert!(all[0] && !all[all.len() - 1]);
    assert!(all.iter().filter(|&&f| f).count() <= 60, "at most one window: {}", all.iter().filter(|&&f| f).count());
}

/// Section 4.1.2.4: it is not the application while the window is full, even if nothing is left to send.
#[test]
fn draft_4_1_2_4_full_window_is_not_the_application() {
    let mut p = path(10, 1);
    p.write(0, 10 * MSS, false);
    p.run(ms(300));
    let flags: Vec<bool> = p.ends[0].cc().acks.iter().filter_map(|s| s.rate).map(|r| r.app_limited).collect();
    assert_eq!(flags, [false; 10]);
}

/// Section 4.1.2.3: every byte is delivered once, whether acknowledged in order, SACKed, or sent again; every loss is reported once.
#[test]
fn draft_4_1_2_3_delivered_and_lost_add_up() {
    let mut p = path(40, 1);
    p.drop_data(&[100, 103, 104, 105, 300]);
    p.write(0, 1000 * MSS, true);
    p.run(ms(5000));
    let cc = p.ends[0].cc();
    let rates: Vec<_> = cc.acks.iter().filter_map(|s| s.rate).collect();
    assert_eq!(rates.iter().map(|r| r.newly_delivered).sum::<u64>(), 1000 * MSS);
    assert_eq!(rates.iter().map(|r| r.newly_lost).sum::<u64>(), 5 * MSS);
    assert_eq!(cc.lost.iter().map(|l| l.bytes).sum::<u64>(), 5 * MSS);
    assert_eq!(cc.acks.last().map(|s| s.lost), Some(5 * MSS));
    assert!(cc.lost.iter().all(|l| l.tx_in_flight == 40 * MSS && l.lost >= MSS), "{:?}", cc.lost);
    // Losses leave no trace in the rate: it is never above that of the path.
    assert!(shares(&p, 100).iter().all(|&s| s < 1.01));
}

/// After a timeout SACK information may be forgotten (RFC 2018 section 8); data delivered stays delivered.
#[test]
fn draft_4_1_2_3_timeouts() {
    for memory in ["keep", "timeout"] {
        let tcp = json!({ "recovery": "sack", "ack_every": 1, "sack_memory": memory });
        let mut p = fixed(tcp, 40 * MSS, None, vec![Hop::new(Rate::from_mbps(10), ms(20), 1000)], vec![Hop::delay(ms(20))]);
        p.keep_log = false;
        // The retransmission is lost as well: only the timer helps.
        let mut seen = 0;
        p.script[0] = Box::new(move |_, s| {
            let hit = s.seq == 1 + 100 * MSS && seen < 2;
            seen += u32::from(hit);
            if hit { Fate::Drop } else { Fate::Pass }
        });
        p.start();
        p.write(0, 500 * MSS, false);
        p.run(ms(8000));
        assert_eq!(p.delivered[1], 500 * MSS, "{memory}");
        let cc = p.ends[0].cc();
        let delivered: u64 = cc.acks.iter().filter_map(|s| s.rate).map(|r| r.newly_delivered).sum();
        assert_eq!(delivered, 500 * MSS, "{memory}");
        assert!(cc.lost.len() >= 2, "{memory}: {}", cc.lost.len());
        assert!(shares(&p, 0).iter().all(|&s| s < 1.01), "{memory}");
    }
}
