//! A constant window and rate, and a record of all calls.
#![allow(dead_code, unreachable_pub)]

use super::{Hop, Pair, params};
use fairlane_net::Class;
use fairlane_tcp::cc::{AckSample, CongestionControl, CongestionEvent, LostSample, RecoveryExit, Wants};
use fairlane_tcp::{Tcp, TcpConfig};
use fairlane_units::{Rate, Time};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Fixed {
    pub window: u64,
    pub rate: Option<Rate>,
    pub acks: Vec<AckSample>,
    pub lost: Vec<LostSample>,
}

impl CongestionControl for Fixed {
    fn on_established(&mut self, _: Time, _: u64) {}
    fn on_ack(&mut self, s: &AckSample) {
        self.acks.push(*s);
    }
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}
    fn on_idle_restart(&mut self, _: Time, _: u64) {}
    fn on_lost(&mut self, l: &LostSample) {
        self.lost.push(*l);
    }
    fn wants(&self) -> Wants {
        Wants { rate: true, every_ack: true, pacing: self.rate.is_some(), ..Wants::default() }
    }
    fn cwnd(&self) -> u64 {
        self.window
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
}

/// Two such ends with these parameters of TCP.
pub fn fixed(tcp: Value, window: u64, rate: Option<Rate>, forward: Vec<Hop>, back: Vec<Hop>) -> Pair<Fixed> {
    let cfg = TcpConfig::new(&params(tcp), Class(0)).unwrap();
    let cc = Fixed { window, rate, acks: Vec::new(), lost: Vec::new() };
    Pair::of(Tcp::active(cfg.clone(), cc.clone()), Tcp::passive(cfg, cc), forward, back)
}
