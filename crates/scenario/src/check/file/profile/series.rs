//! Round trips that programs measured: JSON of irtt 0.9 (irtt-client(1), "JSON format"), and the output of ping of iputils and of BSD.

use super::{SECONDS, Samples, number};
use serde_json::Value as Json;

/// Nanoseconds in picoseconds.
const NS: i128 = 1000;

pub(super) fn irtt(text: &str) -> Result<Vec<u64>, String> {
    let all: Json = serde_json::from_str(text).map_err(|e| format!("its JSON is damaged: {e}"))?;
    let Some(trips) = all.get("round_trips").and_then(Json::as_array) else {
        return Err("it is JSON without `round_trips`, which irtt writes".to_owned());
    };
    let mut rows = Vec::new();
    for (i, trip) in trips.iter().enumerate() {
        let sent = trip.pointer("/timestamps/client/send/monotonic").or_else(|| trip.pointer("/timestamps/client/send/wall"));
        let Some(sent) = sent.and_then(Json::as_i64) else { return Err(format!("round trip {i} has no time of its sending")) };
        let rtt = trip.pointer("/delay/rtt").and_then(Json::as_i64);
        let lost = trip.get("lost").and_then(Json::as_str).is_some_and(|lost| lost != "false");
        rows.push((i + 1, i128::from(sent) * NS, rtt.filter(|_| !lost).map(|rtt| i128::from(rtt) * NS / 2)));
    }
    if rows.is_empty() { Ok(Vec::new()) } else { Samples { rows }.list() }
}

/// Number behind `key`, up to the next space.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = &text[text.find(key)? + key.len()..];
    Some(rest.split([' ', ':']).next().unwrap_or(rest))
}

/// Sequence number of a line about an echo request.
fn number_of(text: &str) -> Option<i128> {
    ["icmp_seq=", "icmp_seq "].iter().find_map(|key| after(text, key)).and_then(|n| n.parse().ok())
}

pub(super) fn is_ping(lines: &[(usize, &str)]) -> bool {
    lines.iter().take(20).any(|(_, l)| l.starts_with("PING ") || (l.contains("icmp_seq=") && l.contains("time=")))
}

/// Picoseconds between two requests, from the summary: `10 packets transmitted, ..., time 9012ms`. A second without it.
fn interval(lines: &[(usize, &str)]) -> i128 {
    let second = 10_i128.pow(SECONDS as u32);
    let summary = lines.iter().find(|(_, l)| l.contains(" packets transmitted"));
    let of = summary.and_then(|(_, l)| {
        let sent: i128 = l.split(' ').next()?.parse().ok()?;
        let time = number(after(l, ", time ")?.strip_suffix("ms")?, SECONDS - 3, 0).ok()?;
        (sent > 1).then(|| time / (sent - 1))
    });
    of.filter(|&gap| gap > 0).unwrap_or(second)
}

pub(super) fn ping(lines: &[(usize, &str)]) -> Result<Vec<u64>, String> {
    let gap = interval(lines);
    // Line, number, time if stamped, RTT.
    let mut seen: Vec<(usize, i128, Option<i128>, i128)> = Vec::new();
    for &(line, text) in lines {
        let (Some(sequence), Some(time)) = (number_of(text), after(text, "time=")) else { continue };
        let stamp = text.strip_prefix('[').and_then(|t| t.split_once(']')).map(|(stamp, _)| number(stamp, SECONDS, line)).transpose()?;
        let rtt = number(time.trim_end_matches("ms"), SECONDS - 3, line)?;
        // A number that goes back is a duplicate, a late answer, or has wrapped.
        let wrapped = seen.last().map_or(0, |&(_, last, ..)| {
            let behind = last - sequence;
            if behind > 32_768 { (behind + 32_768) / 65_536 * 65_536 } else { 0 }
        });
        if seen.last().is_none_or(|&(_, last, ..)| sequence + wrapped > last) {
            // A stamp is the time of the answer.
            seen.push((line, sequence + wrapped, stamp.map(|s| s - rtt), rtt));
        }
    }
    let mut rows = Vec::new();
    for (i, &(line, sequence, stamp, rtt)) in seen.iter().enumerate() {
        if i > 0 {
            let (_, before, earlier, _) = seen[i - 1];
            // Requests without an answer lie evenly between those with one.
            let missing = sequence - before - 1;
            if missing > 100_000 {
                return Err(format!("line {line}: {missing} numbers are missing"));
            }
            for k in 1..=missing {
                let time = match (earlier, stamp) {
                    (Some(a), Some(b)) => a + (b - a) * k / (missing + 1),
                    _ => (before + k) * gap,
                };
                rows.push((line, time, None));
            }
        }
        rows.push((line, stamp.unwrap_or(sequence * gap), Some(rtt / 2)));
    }
    if rows.is_empty() { Err("no line of ping has a round-trip time".to_owned()) } else { Samples { rows }.list() }
}
