//! Packet for packet as ns-2: the segments and times of each variant, over links that drop given packets.

use crate::pair::{Fate, Hop, Pair, params};
use fairlane_units::{Dur, Rate, Time};
use serde_json::json;

struct Case {
    cc: String,
    window: String,
    drops: [Vec<u64>; 2],
    /// Microseconds and packet number.
    sent: Vec<(i64, i64)>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("data/ns2_losses.txt").lines().filter(|l| !l.starts_with('#')) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let numbers = || words.iter().map(|w| w.parse().unwrap()).collect();
        if key == "case" {
            cases.push(Case { cc: words[0].into(), window: format!("{}p", words[1]), drops: [vec![], vec![]], sent: vec![] });
            continue;
        }
        let case = cases.last_mut().unwrap();
        match key {
            "forward" => case.drops[0] = numbers(),
            "back" => case.drops[1] = numbers(),
            _ => {
                for word in words {
                    let (t, n) = word.split_once(':').unwrap();
                    let (t0, n0) = case.sent.last().copied().unwrap_or((0, -1));
                    case.sent.push((t0 + t.parse::<i64>().unwrap(), n0 + n.parse::<i64>().unwrap()));
                }
            }
        }
    }
    cases
}

#[test]
fn as_ns2_over_given_losses() {
    let cases = cases();
    assert_eq!(cases.len(), 21);
    for case in cases {
        let mut words = case.cc.split('+');
        let mut p = json!({ "preset": "ns2", "cc": words.next(), "window": case.window });
        for option in words {
            p[format!("fack_{option}")] = json!(true);
        }
        let p = params(p);
        // Vegas of ns-2 begins with data.
        let syn = i64::from(case.cc != "vegas");
        let link = || vec![Hop::new(Rate::from_mbps(2), Dur::from_ms(20), usize::MAX)];
        let mut pair = Pair::new(&p, link(), link());
        for (dir, drops) in case.drops.into_iter().enumerate() {
            pair.script[dir] = Box::new(move |n, _| if drops.contains(&n) { Fate::Drop } else { Fate::Pass });
        }
        pair.start_endless();
        pair.run_until(Time::ZERO + Dur::from_secs(12));
        let ours = pair.log.iter().filter(|l| l.1 == 0).map(|l| {
            let number = if l.2.payload == 0 { 0 } else { (l.2.seq as i64 - 1) / 1000 + syn };
            (l.0.as_ps() as f64 / 1e6, number)
        });
        let mut n = 0;
        for ((t, number), (t2, number2)) in ours.zip(&case.sent) {
            assert!(
                (t - *t2 as f64).abs() < 2.0 && number == *number2,
                "{} {}: segment {n}: {t} {number}, ns-2 {t2} {number2}",
                case.cc,
                case.window
            );
            n += 1;
        }
        assert_eq!(n, case.sent.len(), "{} {}", case.cc, case.window);
    }
}
