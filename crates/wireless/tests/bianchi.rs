//! Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000: the model solved here, compared with stations that
//! keep its assumptions: no limit of attempts, all hear all, colliders and bystanders count down again at the same time.

mod lab;

use fairlane_units::Dur;
use fairlane_wireless::*;
use lab::*;

/// Equations (7) and (9): the chance that a station sends in a slot, and that it then collides.
fn sends_and_collides(n: i32, w: f64, stages: i32) -> (f64, f64) {
    let tau = |p: f64| 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(stages)));
    let (mut low, mut high) = (0.0, 0.999_999);
    for _ in 0..200 {
        let p = f64::midpoint(low, high);
        if p < 1.0 - (1.0 - tau(p)).powi(n - 1) { low = p } else { high = p }
    }
    (tau(low), low)
}

/// Equations (10) to (13) and (14) or (17): Mbit/s of payload, and the chance of a collision.
fn model(n: i32, dcf: &Dcf, rts: bool, after: Dur) -> (f64, f64) {
    let stages = ((dcf.cw_max + 1) / (dcf.cw_min + 1)).ilog2() as i32;
    let (tau, p) = sends_and_collides(n, f64::from(dcf.cw_min + 1), stages);
    let us = |d: Dur| d.as_secs_f64() * 1e6;
    let (sifs, data, ack) = (us(dcf.sifs), us(dcf.data.airtime(FRAME)), us(dcf.ack.airtime(14)));
    let behind = if rts { us(dcf.rts.airtime(20)) + sifs + us(dcf.cts.airtime(14)) + sifs } else { 0.0 };
    let good = behind + data + sifs + ack + us(dcf.difs);
    let lost = if rts { us(dcf.rts.airtime(20)) } else { data } + us(after);
    let some = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1) / some;
    (one * some * 8000.0 / ((1.0 - some) * us(dcf.slot) + some * (one * good + (1.0 - one) * lost)), p)
}

fn assumptions(dcf: Dcf, rts: bool) -> Dcf {
    let rts_threshold = if rts { 0 } else { u32::MAX };
    Dcf { after_timeout: AfterTimeout::Known, short_retries: u32::MAX, long_retries: u32::MAX, rts_threshold, ..dcf }
}

fn measured(n: u32, dcf: Dcf) -> (f64, f64) {
    let paths: Vec<[u32; 2]> = (1..=n).map(|i| [i, 0]).collect();
    let paths: Vec<&[u32]> = paths.iter().map(|p| &p[..]).collect();
    let lab = Lab::new(dcf, &ns3(-82.0, -82.0), together(n + 1, |_, _| true), &paths, 3).measure(Dur::from_ms(500), Dur::from_secs(40));
    (lab.goodput(), lab.failure_rate())
}

#[test]
fn saturation_is_that_of_the_model() {
    for rts in [false, true] {
        for n in [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50] {
            let dcf = assumptions(b11(), rts);
            let (goodput, p) = measured(n, dcf.clone());
            let (said, said_p) = model(n as i32, &dcf, rts, dcf.difs);
            near(&format!("{n} stations, {}, Bianchi's model", title(&dcf)), goodput, said, 0.005);
            assert!((p - said_p).abs() < 0.01, "{n} stations, rts {rts}: p {p:.4}, the model says {said_p:.4}");
        }
    }
}

/// Seven attempts for a packet, as stations have them: the model of Wu et al. (INFOCOM 2002), solved in the reference data.
#[test]
fn seven_attempts_are_those_of_the_model_with_a_limit() {
    for (n, goodput, said_p) in [(5, 5.27365, 0.1781), (20, 4.76129, 0.401877), (50, 4.23741, 0.546182)] {
        let dcf = Dcf { short_retries: 7, ..assumptions(b11(), false) };
        let (ours, p) = measured(n, dcf.clone());
        near(&format!("{n} stations, {}, 7 attempts, the model of Wu et al.", title(&dcf)), ours, goodput, 0.01);
        assert!((p - said_p).abs() < 0.01, "{n} stations: p {p:.4}, the model says {said_p:.4}");
    }
}

/// The model's fixed point as the reference data have it, for 5, 20 and 50 stations.
#[test]
fn the_model_is_solved() {
    for (n, basic, behind_rts, p) in [(5, 5.27366, 3.75925, 0.178083), (20, 4.77089, 3.6943, 0.398775), (50, 4.29458, 3.58378, 0.53236)] {
        let dcf = b11();
        assert!((model(n, &dcf, false, dcf.difs).0 - basic).abs() < 0.005);
        assert!((model(n, &dcf, true, dcf.difs).0 - behind_rts).abs() < 0.005);
        assert!((model(n, &dcf, true, dcf.difs).1 - p).abs() < 1e-5);
    }
}
