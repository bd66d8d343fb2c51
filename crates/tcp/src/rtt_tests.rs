use super::*;
use crate::{TcpConfig, resolve_params};
use fairlane_net::Class;
use serde_json::json;

/// An estimator with its parameters.
struct Estimator(RttEstimator, std::sync::Arc<TcpConfig>);

impl Estimator {
    fn sample(&mut self, sent: Time, now: Time) {
        self.0.sample(sent, now, &self.1);
    }
    fn back_off(&mut self, forget_after: u32) {
        self.0.back_off(forget_after, &self.1);
    }
    fn srtt(&self) -> Dur {
        self.0.srtt(&self.1)
    }
    fn rttvar(&self) -> Dur {
        self.0.rttvar(&self.1)
    }
    fn rto(&self) -> Dur {
        self.0.rto()
    }
    fn min(&self) -> Dur {
        self.0.min()
    }
}

/// Under the preset `rfc`, unless `p` names another one.
fn estimator(mut p: serde_json::Value) -> Estimator {
    p.as_object_mut().unwrap().entry("preset").or_insert("rfc".into());
    let c = TcpConfig::new(&resolve_params(p).unwrap(), Class(0)).unwrap();
    Estimator(RttEstimator::new(&c), c)
}

fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_ms(n)
}

/// RFC 6298 sections 2.1 to 2.4.
/// Also RFC 9293 section 3.8.1.
#[test]
fn rfc6298_srtt_rttvar_rto() {
    let mut e = estimator(json!({ "rto_min": "1ms" }));
    assert_eq!(e.rto(), Dur::from_secs(1), "2.1");
    e.sample(ms(0), ms(100));
    assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Dur::from_ms(100), Dur::from_ms(50), Dur::from_ms(300)), "2.2");
    e.sample(ms(1000), ms(1180));
    // RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5; SRTT = 7/8 100 + 1/8 180 = 110; RTO = 110 + 230.
    assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Dur::from_ms(110), Dur::from_us(57_500), Dur::from_ms(340)), "2.3");
    assert_eq!(e.min(), Dur::from_ms(100));
    let mut e = estimator(json!({}));
    e.sample(ms(0), ms(100));
    assert_eq!(e.rto(), Dur::from_secs(1), "2.4: at least a second");
}

/// RFC 6298 section 2.3: the variation term is at least the clock granularity.
/// Also RFC 6298 section 4.
#[test]
fn rfc6298_granularity() {
    let mut e = estimator(json!({ "rto_min": "1us", "rto_granularity": "20ms" }));
    for i in 0..200 {
        e.sample(ms(i), ms(i + 10));
    }
    assert_eq!(e.rto(), Dur::from_ms(30));
}

/// RFC 6298 sections 5.5 and 2.5: doubling up to the maximum; a measurement ends it.
#[test]
fn rfc6298_back_off() {
    let mut e = estimator(json!({ "rto_max": "60s" }));
    let rtos: Vec<u64> = (0..8)
        .map(|_| {
            e.back_off(u32::MAX);
            e.rto().as_ps() / 1_000_000_000_000
        })
        .collect();
    assert_eq!(rtos, [2, 4, 8, 16, 32, 60, 60, 60]);
    e.sample(ms(0), ms(1000));
    assert_eq!(e.rto(), Dur::from_secs(3));
}

/// Ticks of 10 ms as in BSD: times are whole ticks, at least one, and the sums shift.
#[test]
fn coarse_clock() {
    let mut e = estimator(json!({ "preset": "ns2" }));
    assert_eq!(e.rto(), Dur::from_secs(3));
    e.sample(ms(1), ms(46));
    assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Dur::from_ms(40), Dur::from_ms(20), Dur::from_ms(200)));
    e.sample(ms(100), ms(101));
    assert_eq!(e.srtt(), Dur::from_ps(36_250_000_000), "4 - 4/8 + 1/8 ticks");
    // After four timeouts the next measurement starts afresh.
    for _ in 0..4 {
        e.back_off(4);
    }
    e.sample(ms(0), ms(500));
    assert_eq!((e.srtt(), e.rttvar()), (Dur::from_ms(500), Dur::from_ms(250)));
}

/// ns-2 `rfc2988_`: true bounds the RTO before back-off, as RFC 6298 sections 2.4 and 5.5 do; false the backed off one. The pauses between the retransmissions
/// of ns-2.35 after round trips of 50 ms and ticks of 10 ms, the link dead from then on.
#[test]
fn ns2_rfc2988_both_ways() {
    let timeouts = |first: bool| {
        let mut e = estimator(json!({ "preset": "ns2", "rto_min_first": first }));
        for _ in 0..40 {
            e.sample(Time::ZERO, Time::ZERO + Dur::from_ms(50));
        }
        let mut all = vec![e.rto()];
        for _ in 0..4 {
            e.back_off(u32::MAX);
            all.push(e.rto());
        }
        all.into_iter().map(|d| d.as_ps() / Dur::from_ms(1).as_ps()).collect::<Vec<_>>()
    };
    assert_eq!(timeouts(true), [200, 400, 800, 1600, 3200]);
    assert_eq!(timeouts(false), [200, 200, 320, 640, 1280]);
}
