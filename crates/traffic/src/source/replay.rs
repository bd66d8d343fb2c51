//! Replay: packets at the times of a recording.

use super::{Source, Span};
use crate::udp::MAX_DATAGRAM;
use fairlane_net::{App, AppCx, FlowId, Problem, Proto};
use fairlane_units::{Bytes, DataFile, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which length of a recorded packet is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recorded {
    /// Payload behind its TCP or UDP header; packets without any, such as pure acknowledgments, are left out.
    #[default]
    Payload,
    /// The whole IP packet.
    Packet,
}

/// Replay writes what a recording has, when it has it: each packet of the file becomes a datagram over UDP, a write over TCP (as tcpreplay does with
/// packets, here with sizes and times alone).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayParams {
    /// A capture (pcap or pcapng), or a text file with the seconds and the size of a packet on each line. The first packet is sent at the start of the flow.
    #[schemars(extend("x-reads" = "packets"))]
    pub file: DataFile,
    /// Factor of all times: 2 halves the speed. With 1 times are those of the file, to the nanosecond.
    #[serde(default = "one")]
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub scale: f64,
    /// True if the recording repeats after its last packet, one mean gap later.
    #[serde(default)]
    pub repeat: bool,
    /// Which length of a packet is written.
    #[serde(default)]
    pub sizes: Recorded,
    /// Size of every write, headers not counted. Unset: as recorded.
    #[serde(default)]
    #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
    pub size: Option<Bytes>,
}

fn one() -> f64 {
    1.0
}

impl Default for ReplayParams {
    /// Two packets a second apart, so that there is something to send.
    fn default() -> Self {
        let file = DataFile::from(vec![0, 1000, 1000, 1_000_000_000, 1000, 1000]);
        Self { file, scale: 1.0, repeat: false, sizes: Recorded::Payload, size: None }
    }
}

/// Numbers of a packet in the file's list: nanoseconds, payload, length of the IP packet.
const ENTRIES: usize = 3;

impl ReplayParams {
    fn write(&self, payload: u64, packet: u64) -> u64 {
        let recorded = if self.sizes == Recorded::Payload { payload } else { packet };
        match self.size {
            Some(fixed) if recorded > 0 => fixed.get(),
            _ => recorded,
        }
    }

    /// Picoseconds since the start, and sizes, of all that is written.
    fn writes(&self) -> Vec<(u64, u64)> {
        let entry = |p: &[u64]| (p[0], self.write(p[1], p[2]));
        let mut all: Vec<(u64, u64)> = self.file.values().chunks_exact(ENTRIES).map(entry).filter(|w| w.1 > 0).collect();
        let first = all.first().map_or(0, |w| w.0);
        for w in &mut all {
            let ps = Dur::from_ns(w.0 - first).as_ps();
            // The product of a whole number below 2^53 and 1 is that number; beyond 2.5 hours only without a factor.
            w.0 = if self.scale == 1.0 { ps } else { (ps as f64 * self.scale + 0.5) as u64 };
        }
        all
    }
}

/// One round and one mean gap; zero if all packets come at once.
fn period(writes: &[(u64, u64)]) -> u64 {
    match (writes.last(), writes.len() as u64) {
        (Some(&(last, _)), n @ 2..) => last + last / (n - 1),
        _ => 0,
    }
}

impl Source for ReplayParams {
    type App = Replay;

    fn check(&self, over: Proto) -> Result<(), Problem> {
        let writes = self.writes();
        if writes.is_empty() {
            return Err(Problem::new("file", "none of the recorded packets has a payload; sizes = \"packet\" takes the whole length"));
        }
        if self.repeat && period(&writes) == 0 {
            return Err(Problem::new("repeat", "all recorded packets come at one instant: to repeat them would take no time"));
        }
        if let Some(i) = writes.iter().position(|w| over == Proto::Udp && w.1 > MAX_DATAGRAM) {
            return Err(Problem::new("file", format!("packet {} has {} bytes, a datagram has {MAX_DATAGRAM} at most", i + 1, writes[i].1)));
        }
        Ok(())
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Replay {
        let writes = self.writes();
        let period = if self.repeat { period(&writes) } else { 0 };
        Replay { span: Span::new(flow, start, stop), writes: writes.into(), period, round: start, next: 0 }
    }
}

/// A running replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    span: Span,
    writes: Arc<[(u64, u64)]>,
    /// Zero: once.
    period: u64,
    /// When this round began.
    round: Time,
    next: usize,
}

impl App for Replay {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        let over = loop {
            let Some(&(at, size)) = self.writes.get(self.next) else {
                if self.period == 0 {
                    break self.span.stop;
                }
                self.round += Dur::from_ps(self.period);
                self.next = 0;
                continue;
            };
            let at = self.round + Dur::from_ps(at);
            if at > cx.now {
                break at.min(self.span.stop);
            }
            self.next += 1;
            // Of a recording that ends, the last write closes the flow.
            let last = self.period == 0 && self.next == self.writes.len();
            cx.write(self.span.flow, size, last);
        };
        cx.wake_at(over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::harness::{run, writes};
    use fairlane_net::Action;

    fn params(json: &str) -> ReplayParams {
        serde_json::from_str(json).unwrap()
    }

    fn at(p: &ReplayParams, until_ms: u64) -> Vec<(u64, u64)> {
        let mut app = p.build(FlowId(0), Time::ZERO + Dur::from_ms(5), None);
        let log = writes(&run(&mut app, 1, Time::ZERO + Dur::from_ms(until_ms)));
        log.into_iter().map(|(t, n)| (t.since(Time::ZERO).as_ps() / 1000, n)).collect()
    }

    /// Each at the start of the flow plus its own time, to the nanosecond; what comes at once goes at once; an empty packet is left out.
    #[test]
    fn times_and_sizes_are_those_of_the_file() {
        let p = params(r#"{"file":"data:,0 100 128 1 7 35 1 8 36 900 0 40 123456789 9 37"}"#);
        let want = [(5_000_000, 100), (5_000_001, 7), (5_000_001, 8), (128_456_789, 9)];
        assert_eq!(at(&p, 1000), want);
        let mut app = p.build(FlowId(0), Time::ZERO, None);
        let log = run(&mut app, 1, Time::ZERO + Dur::from_secs(1));
        assert!(matches!(log.last().unwrap().2, Action::Write { fin: true, .. }), "the flow closes");
    }

    #[test]
    fn a_recording_that_begins_with_empty_packets_begins_with_the_first_that_is_not() {
        let p = params(r#"{"file":"data:,0 0 40 5000 6 46 7000 6 46"}"#);
        assert_eq!(at(&p, 1000), [(5_000_000, 6), (5_002_000, 6)]);
    }

    #[test]
    fn sizes_of_packets_or_all_alike() {
        let file = r#""file":"data:,0 100 128 10 0 40""#;
        assert_eq!(at(&params(&format!(r#"{{{file},"sizes":"packet"}}"#)), 9), [(5_000_000, 128), (5_000_010, 40)]);
        assert_eq!(at(&params(&format!(r#"{{{file},"sizes":"packet","size":"10B"}}"#)), 9), [(5_000_000, 10), (5_000_010, 10)]);
        assert_eq!(at(&params(&format!(r#"{{{file},"size":"10B"}}"#)), 9), [(5_000_000, 10)]);
    }

    /// Three packets in 2 ms: a mean gap of 1 ms, so the next round begins at 3 ms. At a scale of 2 all is twice as long.
    #[test]
    fn repeats_a_mean_gap_after_the_last() {
        let file = r#""file":"data:,0 1 1 500000 2 2 2000000 3 3","repeat":true"#;
        let us = |p: &str, until| at(&params(p), until).into_iter().map(|w| w.0 / 1000).collect::<Vec<_>>();
        assert_eq!(us(&format!("{{{file}}}"), 12), [5000, 5500, 7000, 8000, 8500, 10_000, 11_000, 11_500]);
        assert_eq!(us(&format!(r#"{{{file},"scale":2}}"#), 12), [5000, 6000, 9000, 11_000, 12_000]);
    }

    #[test]
    fn what_cannot_be_replayed_is_told() {
        let problem = |json: &str, over| params(json).check(over).map_err(|p| (p.field.to_string(), p.message.to_string()));
        let told = |json: &str, over| problem(json, over).unwrap_err();
        assert_eq!(told(r#"{"file":"data:,0 0 40"}"#, Proto::Tcp).0, "file");
        assert_eq!(told(r#"{"file":"data:,0 9 40 0 9 40","repeat":true}"#, Proto::Tcp).0, "repeat");
        let large = r#"{"file":"data:,0 70000 70000"}"#;
        assert!(told(large, Proto::Udp).1.contains("70000") && problem(large, Proto::Tcp).is_ok());
    }

    #[test]
    fn stops_in_the_middle() {
        let p = params(r#"{"file":"data:,0 1 1 500000 2 2 2000000 3 3"}"#);
        let stop = Time::ZERO + Dur::from_ms(1);
        let log = run(&mut p.build(FlowId(0), Time::ZERO, Some(stop)), 1, Time::ZERO + Dur::from_ms(9));
        assert_eq!((writes(&log).len(), log.last().unwrap().2), (2, Action::Stop));
    }
}
