//! An endless transfer through one bottleneck, with observations during the run.

use super::{Fate, Hop, Pair, params};
use fairlane_net::ENDLESS;
use fairlane_tcp::CongestionControl;
use fairlane_units::{Dur, Rate, Time};
use serde_json::Value;

/// A bottleneck of `mbps` in a loop of `rtt` ms with room for `limit` packets.
pub fn path(tcp: Value, mbps: u64, rtt: u64, limit: usize) -> Pair {
    let half = Dur::from_us(rtt * 500);
    let mut p = Pair::new(&params(tcp), vec![Hop::new(Rate::from_mbps(mbps), half, limit)], vec![Hop::delay(half)]);
    p.keep_log = false;
    p.start();
    p.write(0, ENDLESS, false);
    p
}

pub fn secs(n: u64) -> Time {
    Time::ZERO + Dur::from_secs(n)
}

/// Value of an internal variable of the sender's congestion control; NaN if there is none of this name.
pub fn gauge(p: &Pair, name: &str) -> f64 {
    let mut found = f64::NAN;
    p.ends[0].cc().gauges(&mut |n, v| {
        if n == name {
            found = v;
        }
    });
    found
}

/// Times at which a gauge changes, with its new value.
pub fn changes(p: &mut Pair, name: &str, until: Time) -> Vec<(Time, f64)> {
    let mut all = vec![(p.now, gauge(p, name))];
    while p.now < until && p.step() {
        let v = gauge(p, name);
        if all.last().is_some_and(|l| l.1 != v) {
            all.push((p.now, v));
        }
    }
    all
}

/// Goodput in Mbit/s between two times in seconds.
pub fn goodput(p: &mut Pair, from: u64, to: u64) -> f64 {
    p.run_until(secs(from));
    let before = p.delivered[1];
    p.run_until(secs(to));
    (p.delivered[1] - before) as f64 * 8.0 / (to - from) as f64 / 1e6
}

/// Drops each segment with data with this chance, from a fixed sequence; no retransmission, as a loss of one costs a timeout without RACK.
pub fn lossy(p: &mut Pair, chance: f64) {
    let mut stream = fairlane_engine::Stream::new(1, "test", "", "loss");
    p.script[0] =
        Box::new(move |_, s| if s.payload > 0 && !s.retransmission() && stream.uniform() < chance { Fate::Drop } else { Fate::Pass });
}
