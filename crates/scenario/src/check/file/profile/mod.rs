//! Profiles of links: rate, delay and loss over time, as a list for `fairlane_net::Profile`.
//!
//! The first characters determine the format:
//!
//! - CSV with a header (`table.rs`), also the log of ERRANT (M. Trevisan et al., ERRANT: realistic emulation of radio access networks, Computer Networks 176,
//!   2020; columns of its program's option `-l`);
//! - nanoseconds and RTT in nanoseconds on each line: `networkx_rtt_*.txt` of Hypatia (S. Kassing et al., IMC 2020), where an RTT of 0 is no path;
//! - `cycle$path$nodes$delays$sum` on each line, once a second: paths of LeoEM (X. Cao and X. Zhang, SaTCP, INFOCOM 2023), where a line without a sum is no path;
//! - JSON of irtt 0.9, and the output of ping (`series.rs`).
//!
//! Half of a round trip is the delay: the other direction of a link inherits the profile. Where there is no path, or no answer came, all packets are lost.

mod decimal;
mod series;
mod table;

use fairlane_net::{LINEAR, Profile, Value};

/// Shipped profiles: name, file, and whether delay and loss change linearly. `profiles/make.py` generates them.
const NAMED: [(&str, &str, bool); 3] = [
    ("leo", include_str!("../profiles/leo.csv"), true),
    ("5g_drive", include_str!("../profiles/5g_drive.csv"), false),
    ("cable", include_str!("../profiles/cable.csv"), true),
];

/// Reads the shipped profile of this name.
pub(super) fn named(name: &str) -> Option<Result<Vec<u64>, String>> {
    let (_, text, linear) = NAMED.iter().find(|(n, ..)| *n == name)?;
    Some(read(text.as_bytes()).map(|mut list| {
        list[0] |= if *linear { LINEAR } else { 0 };
        list
    }))
}

pub(super) fn check(list: &[u64]) -> Result<(), String> {
    Profile::check(list)
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text file".to_owned())?;
    if text.trim_start().starts_with('{') {
        return series::irtt(text);
    }
    let lines: Vec<(usize, &str)> = super::lines(bytes)?.collect();
    let Some(&(_, first)) = lines.first() else { return Ok(Vec::new()) };
    if first.contains('$') {
        return leoem(&lines);
    }
    if series::is_ping(&lines) {
        return series::ping(&lines);
    }
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        return hypatia(&lines);
    }
    table::read(&lines)
}

/// A value in the unit of a list, from its decimal number and the power of ten of its unit.
fn number(text: &str, power: i32, line: usize) -> Result<i128, String> {
    decimal::scaled(text.trim(), power).ok_or_else(|| format!("line {line}: `{}` is not a number", text.trim().escape_debug()))
}

/// Powers of ten: seconds in picoseconds, shares in 10^-9.
const SECONDS: i32 = 12;
const SHARE: i32 = 9;
const ALL: u64 = 1_000_000_000;

/// Samples of a delay, with those that were lost.
struct Samples {
    /// Time and delay in picoseconds; no delay: lost.
    rows: Vec<(usize, i128, Option<i128>)>,
}

impl Samples {
    /// Rows of delay and loss. A lost sample keeps the delay of the one before; the last one holds for the mean time between two.
    fn list(mut self) -> Result<Vec<u64>, String> {
        let lossy = self.rows.iter().any(|r| r.2.is_none());
        let Some(first) = self.rows.iter().find_map(|r| r.2) else { return Err("it has no delay".to_owned()) };
        let (start, last) = (self.rows[0].1, self.rows[self.rows.len() - 1]);
        let gaps = self.rows.len() as i128 - 1;
        if gaps > 0 {
            self.rows.push((last.0, last.1 + (last.1 - start) / gaps, last.2));
        }
        let mut rows = Rows::new(if lossy { Value::Delay as u64 | Value::Loss as u64 } else { Value::Delay as u64 });
        let mut delay = first;
        for (line, time, sample) in self.rows {
            delay = sample.unwrap_or(delay);
            let loss = if sample.is_none() { ALL } else { 0 };
            let values = [delay, loss.into()];
            rows.add(line, time - start, &values[..if lossy { 2 } else { 1 }])?;
        }
        Ok(rows.list)
    }
}

/// Rows of a list.
struct Rows {
    list: Vec<u64>,
    last: Option<i128>,
}

impl Rows {
    fn new(bits: u64) -> Self {
        Self { list: vec![bits], last: None }
    }

    fn add(&mut self, line: usize, time: i128, values: &[i128]) -> Result<(), String> {
        if self.last.is_some_and(|last| time <= last) {
            return Err(format!("line {line} is not later than the one before"));
        }
        self.last = Some(time);
        for &x in std::iter::once(&time).chain(values) {
            self.list.push(u64::try_from(x).map_err(|_| format!("line {line}: a value is negative, or too large"))?);
        }
        Ok(())
    }
}

fn hypatia(lines: &[(usize, &str)]) -> Result<Vec<u64>, String> {
    let mut rows = Vec::new();
    for &(line, text) in lines {
        let Some((time, rtt)) = text.split_once(',') else {
            return Err(format!(
                "line {line}: `{}` is neither a header, such as time_s,rate_mbps,delay_ms,loss, nor nanoseconds and an RTT",
                text.escape_debug()
            ));
        };
        let (time, rtt) = (number(time, SECONDS - 9, line)?, number(rtt, SECONDS - 9, line)?);
        rows.push((line, time, (rtt > 0).then_some(rtt / 2)));
    }
    Samples { rows }.list()
}

fn leoem(lines: &[(usize, &str)]) -> Result<Vec<u64>, String> {
    let mut rows = Vec::new();
    for &(line, text) in lines {
        let fields: Vec<&str> = text.split('$').collect();
        let delay = fields.get(4).map(|sum| number(sum, SECONDS, line)).transpose()?;
        rows.push((line, number(fields[0], SECONDS, line)?, delay));
    }
    Samples { rows }.list()
}

#[cfg(test)]
#[path = "../profile_tests.rs"]
mod tests;
