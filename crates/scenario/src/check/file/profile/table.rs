//! CSV files whose header names columns with their units: `time_s,rate_mbps,delay_ms,loss` or `time (s); delay (ms); loss (%)`.

use super::{Rows, SECONDS, SHARE, number};
use fairlane_net::Value;

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    /// Time for which a row holds.
    Duration,
    Rate,
    Upload,
    Delay,
    /// Round-trip time: its half is the delay.
    Rtt,
    Loss,
}

/// Words of columns. Other columns are ignored.
const WORDS: [(Kind, &[&str]); 7] = [
    (Kind::Time, &["time", "timestamp", "t"]),
    (Kind::Duration, &["duration"]),
    (Kind::Upload, &["upload", "uplink", "up"]),
    (Kind::Rate, &["rate", "bandwidth", "bw", "throughput", "capacity", "download", "downlink", "down", "bitrate"]),
    (Kind::Rtt, &["rtt"]),
    (Kind::Delay, &["delay", "latency", "owd"]),
    (Kind::Loss, &["loss", "plr"]),
];
/// Words of columns that are statistics of another.
const OTHER: [&str; 9] = ["stdev", "std", "stddev", "min", "max", "jitter", "p99", "var", "quality"];
/// Units with their powers of ten: of times, of rates, of losses.
const TIMES: [(&str, i32); 7] = [("s", 0), ("sec", 0), ("seconds", 0), ("ms", -3), ("us", -6), ("\u{b5}s", -6), ("ns", -9)];
const RATES: [(&str, i32); 12] = [
    ("bit/s", 0),
    ("bps", 0),
    ("kbit/s", 3),
    ("kbps", 3),
    ("kbit", 3),
    ("mbit/s", 6),
    ("mbps", 6),
    ("mbit", 6),
    ("gbit/s", 9),
    ("gbps", 9),
    ("gbit", 9),
    ("bits/s", 0),
];
const LOSSES: [(&str, i32); 4] = [("%", -2), ("percent", -2), ("pct", -2), ("share", 0)];
/// Header of ERRANT's log, whose units are seconds, kbit/s, milliseconds and percent.
const ERRANT: &str = "time,operator,country,technology,quality,download,upload,rtt,loss";
const ERRANT_UNITS: [&str; 9] = ["s", "", "", "", "", "kbps", "kbps", "ms", "%"];

struct Column {
    kind: Kind,
    /// Power of ten of its unit, in units of a list.
    power: i32,
    at: usize,
}

/// Column of a name, if it is of interest; the error says what is missing.
fn column(at: usize, name: &str, unit: Option<&str>) -> Result<Option<Column>, String> {
    let lower = name.trim().to_lowercase();
    let mut words: Vec<&str> = lower.split(['_', ' ', '(', ')', '[', ']', '-']).filter(|w| !w.is_empty()).collect();
    words.extend(unit);
    if words.iter().any(|w| OTHER.contains(w)) {
        return Ok(None);
    }
    let Some(&(kind, _)) = WORDS.iter().find(|(_, all)| all.iter().any(|w| words.contains(w))) else { return Ok(None) };
    let (units, base, example): (&[(&str, i32)], i32, &str) = match kind {
        Kind::Time | Kind::Duration => (&TIMES, SECONDS, "s"),
        Kind::Delay | Kind::Rtt => (&TIMES, SECONDS, "ms"),
        Kind::Rate | Kind::Upload => (&RATES, 0, "mbps"),
        Kind::Loss => (&LOSSES, SHARE, "percent"),
    };
    let power = units.iter().find(|(unit, _)| words.contains(unit)).map(|(_, power)| power + base);
    // A loss without a unit is a share.
    let power = power.or((kind == Kind::Loss).then_some(base));
    let name = name.trim().escape_debug();
    power
        .map(|power| Some(Column { kind, power, at }))
        .ok_or_else(|| format!("the column `{name}` has no known unit: write `{name}_{example}`"))
}

fn split(line: &str) -> Vec<&str> {
    line.split([',', ';', '\t']).map(|w| w.trim().trim_matches('"')).collect()
}

pub(super) fn read(lines: &[(usize, &str)]) -> Result<Vec<u64>, String> {
    let Some((&(line, header), rows)) = lines.split_first() else { return Ok(Vec::new()) };
    let names = split(header);
    let errant = header.replace(' ', "") == ERRANT;
    let mut columns: Vec<Column> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let unit = errant.then(|| ERRANT_UNITS[at]);
        let Some(new) = column(at, name, unit).map_err(|why| format!("line {line}: {why}"))? else { continue };
        if let Some(old) = columns.iter().find(|c| c.kind == new.kind) {
            let (a, b) = (names[old.at].escape_debug(), name.escape_debug());
            return Err(format!("line {line}: the columns `{a}` and `{b}` are the same value: remove one"));
        }
        columns.push(new);
    }
    let of = |kind: Kind| columns.iter().find(|c| c.kind == kind);
    let (Some(clock), false) = (of(Kind::Time).or(of(Kind::Duration)), of(Kind::Time).is_some() && of(Kind::Duration).is_some()) else {
        return Err(format!("line {line}: one column must be the time: write a header such as time_s,rate_mbps,delay_ms,loss"));
    };
    let delay = of(Kind::Delay).map(|c| (c, 1)).or(of(Kind::Rtt).map(|c| (c, 2)));
    let values: Vec<(Value, &Column, i128)> = [
        of(Kind::Rate).map(|c| (Value::Rate, c, 1)),
        delay.map(|(c, parts)| (Value::Delay, c, parts)),
        of(Kind::Loss).map(|c| (Value::Loss, c, 1)),
        of(Kind::Upload).map(|c| (Value::Upload, c, 1)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if values.is_empty() {
        return Err(format!("line {line}: no column is a rate, a delay or a loss: write a header such as time_s,rate_mbps,delay_ms,loss"));
    }
    let mut out = Rows::new(values.iter().map(|(v, ..)| *v as u64).sum());
    let (mut now, mut start, mut last) = (0, None, (0, Vec::new()));
    for &(line, text) in rows {
        let fields = split(text);
        if fields.len() != names.len() {
            return Err(format!("line {line} has {} columns, and the header {}", fields.len(), names.len()));
        }
        let clocked = number(fields[clock.at], clock.power, line)?;
        let time = if clock.kind == Kind::Duration { now } else { clocked - *start.get_or_insert(clocked) };
        now += clocked;
        let row: Vec<i128> =
            values.iter().map(|(_, c, parts)| number(fields[c.at], c.power, line).map(|x| x / parts)).collect::<Result<_, _>>()?;
        out.add(line, time, &row)?;
        last = (line, row);
    }
    if clock.kind == Kind::Duration && !rows.is_empty() {
        // The last row holds for its duration.
        out.add(last.0, now, &last.1)?;
    }
    Ok(if rows.is_empty() { Vec::new() } else { out.list })
}
