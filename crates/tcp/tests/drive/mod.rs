//! A congestion control alone on an ideal path: acknowledgments are spread evenly over each round trip, and losses come where a test
//! requires them.
#![allow(dead_code, unreachable_pub)]

use fairlane_net::Class;
use fairlane_tcp::cc::{AckSample, AnyCc, CongestionControl, CongestionEvent, CongestionKind, RecoveryExit};
use fairlane_tcp::{TcpConfig, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// Payload of a segment in these tests.
pub const MSS: u64 = 1000;

pub struct Drive {
    pub cc: AnyCc,
    pub now: Time,
    /// Round-trip time of the acknowledgments to come.
    pub rtt: Dur,
    pub min_rtt: Dur,
    pub round: u64,
    /// Segments that one acknowledgment covers.
    pub every: u64,
    pub app_limited: bool,
    /// Acknowledgments until the round trip ends.
    left: u64,
    pub acked: u64,
}

impl Drive {
    /// Creates the drive. `tcp` are parameters of TCP: the preset `rfc`, segments of 1000 bytes and no slow-start threshold unless set.
    pub fn new(tcp: Value, rtt: Dur) -> Self {
        let mut table = json!({ "preset": "rfc", "mss": "1000B", "initial_window": "10p" });
        for (key, value) in tcp.as_object().unwrap() {
            table[key] = value.clone();
        }
        let p = resolve_params(table).unwrap();
        let config = TcpConfig::new(&p, Class(0)).unwrap();
        let mut cc = p.cc.build(config.congestion());
        let now = Time::ZERO + Dur::from_secs(1);
        cc.on_established(now, 10 * MSS);
        Self { cc, now, rtt, min_rtt: rtt, round: 0, every: 1, app_limited: false, left: 10, acked: 0 }
    }

    /// In congestion avoidance with a window of that many segments, after a loss at it: `set` is the window before the loss.
    pub fn after_loss(tcp: Value, rtt: Dur, set: u64) -> Self {
        let mut d = Self::new(tcp, rtt);
        d.cc.on_established(d.now, set * MSS);
        d.lose();
        d
    }

    /// Window in segments.
    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd() as f64 / MSS as f64
    }

    pub fn ssthresh(&self) -> f64 {
        self.cc.ssthresh() as f64 / MSS as f64
    }

    /// One acknowledgment, its share of a round trip later.
    pub fn ack(&mut self) {
        let window = self.cwnd().max(1.0);
        self.now += Dur::from_ps((self.rtt.as_ps() as f64 * self.every as f64 / window) as u64);
        self.ack_now();
    }

    /// One acknowledgment at once.
    pub fn ack_now(&mut self) {
        self.acked += self.every;
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.left = self.left.saturating_sub(self.every);
        self.round += u64::from(self.left == 0);
        let s = AckSample {
            now: self.now,
            acked: self.every * MSS,
            in_flight: self.cc.cwnd().saturating_sub(self.every * MSS),
            delivered: self.acked * MSS,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            min_rtt: self.min_rtt,
            round: self.round,
            cwnd_limited: !self.app_limited,
            app_limited: self.app_limited,
            may_grow: true,
            ..AckSample::default()
        };
        self.cc.on_ack(&s);
        if self.left == 0 {
            self.left = self.cwnd() as u64;
        }
    }

    /// Acknowledgments of a whole round trip, which begins now.
    pub fn round_trip(&mut self) {
        let round = self.round;
        self.left = self.cwnd() as u64;
        while self.round == round {
            self.ack();
        }
    }

    /// Acknowledgments for a time.
    pub fn run(&mut self, time: Dur) {
        let end = self.now + time;
        while self.now < end {
            self.ack();
        }
    }

    pub fn event(&mut self, kind: CongestionKind) {
        let flight = self.cc.cwnd();
        self.cc.on_congestion(&CongestionEvent { kind, now: self.now, flight });
    }

    /// A loss and its repair, in no time.
    pub fn lose(&mut self) {
        self.event(CongestionKind::FastRetransmit);
        self.cc.on_recovery_exit(&RecoveryExit { now: self.now, bound: u64::MAX, deflated: 0, to_ssthresh: true });
        self.cc.settle();
        self.left = self.cwnd() as u64;
    }

    pub fn time_out(&mut self) {
        self.event(CongestionKind::Timeout { first: true });
    }

    /// A variable that the algorithm shows.
    pub fn gauge(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.cc.gauges(&mut |n, v| {
            if n == name {
                found = v;
            }
        });
        found
    }
}

/// True if `a` is within the share `part` of `b`.
pub fn near(a: f64, b: f64, part: f64) -> bool {
    (a - b).abs() <= part * b.abs()
}
