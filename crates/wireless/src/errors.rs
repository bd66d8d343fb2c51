//! How likely bits are received well, by rate and by the ratio of signal to interference and noise.
//!
//! - DSSS and CCK spread a bit over 22 MHz: 1 Mbit/s is DBPSK, e^-x / 2; 2 Mbit/s is DQPSK in the approximation of Pursley and Taipale (1987); 5.5 and 11 Mbit/s
//!   are biorthogonal symbols (Proakis, Digital Communications, section 5.2), of which 11 Mbit/s sends two in parallel.
//! - OFDM: Gray-coded BPSK, QPSK, 16-QAM and 64-QAM of equal carriers, and the union bound for hard decisions with the convolutional code of K = 7, whose weights
//!   are those of Haccoun and Begin (1989) for rates 1/2, 2/3 and 3/4. It is the model of Miller (NIST, 2003) that ns-3 calls by his institute's name.

use crate::phy::{Tone, Wave};
use std::sync::OnceLock;

/// Model that decides if a frame is received well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Errors {
    /// The threshold [`crate::AirConfig::decode_db`], the same for all rates: nothing is left to chance.
    #[default]
    Threshold,
    /// Chance, by the error rate of its header and of its own rate, for each part of the frame with the interference of that part.
    Rates,
}

const LOWEST_DB: f64 = -10.0;
const STEPS_PER_DB: f64 = 20.0;
const STEPS: usize = 900;
/// DSSS, then OFDM.
const RATES: [u32; 12] = [1_000, 2_000, 5_500, 11_000, 6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];

/// The logarithm of a bit's chance at each step of the ratio, for each rate that was ever asked for.
static CURVES: [OnceLock<Vec<f64>>; RATES.len()] = [const { OnceLock::new() }; RATES.len()];

fn row(tone: Tone) -> usize {
    let ofdm = matches!(tone.wave, Wave::Ofdm | Wave::ErpOfdm);
    let first = if ofdm { 4 } else { 0 };
    RATES[first..].iter().position(|&r| r == tone.kbps).map_or(first, |k| first + k)
}

/// The logarithm of the chance that one bit is received well at a ratio of `sinr_db`.
pub fn log_chance(tone: Tone, sinr_db: f64) -> f64 {
    let rate = row(tone);
    let curve = CURVES[rate].get_or_init(|| (0..STEPS).map(|i| exact(rate, LOWEST_DB + i as f64 / STEPS_PER_DB)).collect());
    let at = ((sinr_db - LOWEST_DB) * STEPS_PER_DB).clamp(0.0, (STEPS - 1) as f64);
    let i = (at as usize).min(STEPS - 2);
    let part = at - i as f64;
    curve[i] * (1.0 - part) + curve[i + 1] * part
}

/// The chance that `bits` are all received well.
pub fn chance(tone: Tone, sinr_db: f64, bits: u64) -> f64 {
    libm::exp(log_chance(tone, sinr_db) * bits as f64)
}

fn exact(rate: usize, sinr_db: f64) -> f64 {
    let sinr = libm::pow(10.0, sinr_db / 10.0);
    let wrong = |ber: f64| libm::log1p(-ber.min(0.5));
    match rate {
        0 => wrong(0.5 * libm::exp(-22.0 * sinr)),
        1 => {
            let (x, root) = (11.0 * sinr, std::f64::consts::SQRT_2);
            wrong((root + 1.0) / libm::sqrt(8.0 * std::f64::consts::PI * root) / libm::sqrt(x) * libm::exp(-(2.0 - root) * x))
        }
        2 => biorthogonal(8.0 * sinr) / 4.0,
        3 => biorthogonal(4.0 * sinr) * 2.0 / 8.0,
        _ => wrong(ofdm(rate - 4, sinr)),
    }
}

/// The logarithm of the chance that one of 16 biorthogonal symbols with this ratio of energy to noise is received well, by Simpson's rule.
fn biorthogonal(energy: f64) -> f64 {
    const N: usize = 120;
    let beta = libm::sqrt(2.0 * energy);
    let (from, to) = ((-beta).max(-9.0), 9.0);
    let step = (to - from) / N as f64;
    let f = |x: f64| {
        let within = libm::erf((x + beta) / std::f64::consts::SQRT_2);
        let cube = within * within * within;
        cube * cube * within * libm::exp(-x * x / 2.0)
    };
    let inner: f64 = (1..N).map(|i| f(from + step * i as f64) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    let right = (f(from) + f(to) + inner) * step / 3.0 / libm::sqrt(2.0 * std::f64::consts::PI);
    libm::log(right.clamp(1e-9, 1.0))
}

/// Least distance of the code, and how many wrong bits there are at it and beyond.
const HALF: (i32, f64, &[f64]) = (
    10,
    1.0,
    &[
        36.0,
        0.0,
        211.0,
        0.0,
        1_404.0,
        0.0,
        11_633.0,
        0.0,
        77_433.0,
        0.0,
        502_690.0,
        0.0,
        3_322_763.0,
        0.0,
        21_292_910.0,
        0.0,
        134_365_911.0,
    ],
);
const TWO_THIRDS: (i32, f64, &[f64]) =
    (6, 2.0, &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0]);
const THREE_QUARTERS: (i32, f64, &[f64]) =
    (5, 3.0, &[42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0]);

/// The share of wrong bits of the OFDM rate `k`, counted from 6 Mbit/s.
fn ofdm(k: usize, sinr: f64) -> f64 {
    let tail = |share: f64, divisor: f64| share * 0.5 * libm::erfc(libm::sqrt(sinr / divisor));
    let raw = match k {
        0 | 1 => tail(1.0, 1.0),
        2 | 3 => tail(1.0, 2.0),
        4 | 5 => tail(0.75, 10.0),
        _ => tail(7.0 / 12.0, 42.0),
    };
    let (least, inputs, weights) = match k {
        0 | 2 | 4 => HALF,
        6 => TWO_THIRDS,
        _ => THREE_QUARTERS,
    };
    let d = libm::sqrt(4.0 * raw * (1.0 - raw));
    let sum: f64 = weights.iter().rev().fold(0.0, |sum, w| sum * d + w);
    sum * libm::pow(d, f64::from(least)) / (2.0 * inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(kbps: u32) -> Tone {
        let wave = if Wave::Ofdm.rates().contains(&kbps) { Wave::Ofdm } else { Wave::DsssLong };
        Tone::new(wave, kbps).unwrap()
    }

    /// The chance that 1064 bytes are lost, as ns-3.37 has it (NistErrorRateModel and DsssErrorRateModel with GSL).
    #[test]
    fn error_rates_are_those_of_ns3() {
        let table = [
            (1_000, [(-4.5, 0.823381), (-3.5, 0.205235), (-2.0, 0.00397803)]),
            (2_000, [(0.0, 0.80857), (1.0, 0.242541), (2.5, 0.00819476)]),
            (5_500, [(2.5, 0.886857), (3.5, 0.278817), (5.0, 0.00718226)]),
            (11_000, [(5.5, 0.89108), (6.5, 0.284016), (8.0, 0.00740691)]),
            (6_000, [(3.0, 0.875017), (4.0, 0.0628049), (5.0, 0.00132718)]),
            (9_000, [(6.0, 0.711037), (7.0, 0.0444537), (8.0, 0.00111805)]),
            (12_000, [(6.0, 0.884005), (7.0, 0.0651026), (8.0, 0.00138605)]),
            (18_000, [(9.0, 0.723056), (10.0, 0.046018), (11.0, 0.00116528)]),
            (24_000, [(12.5, 0.825135), (13.5, 0.073398), (14.5, 0.00224671)]),
            (36_000, [(15.5, 0.904715), (16.5, 0.101114), (17.5, 0.00359273)]),
            (48_000, [(20.5, 0.65365), (21.5, 0.0459329), (22.5, 0.00146953)]),
            (54_000, [(21.5, 0.867774), (22.5, 0.102242), (24.0, 0.000690695)]),
        ];
        for (kbps, points) in table {
            for (db, theirs) in points {
                let ours = 1.0 - chance(tone(kbps), db, 8512);
                assert!((ours / theirs - 1.0).abs() < 0.005, "{kbps} at {db} dB: {ours}, not {theirs}");
            }
        }
    }

    /// Between two steps of a curve it is straight; what that changes is far below what the formulas are worth.
    #[test]
    fn curves_are_what_they_stand_for() {
        for (rate, &kbps) in RATES.iter().enumerate() {
            for i in 0..800 {
                let db = LOWEST_DB + (f64::from(i) + 0.5) / STEPS_PER_DB;
                let (table, formula) = (log_chance(tone(kbps), db), exact(rate, db));
                // Where every tenth bit is wrong no frame passes.
                if formula > -0.1 {
                    assert!((table - formula).abs() <= 0.02 * formula.abs() + 1e-15, "{kbps} at {db}: {table}, not {formula}");
                }
                assert!(table <= 0.0 && table >= log_chance(tone(kbps), db - 1.0) - 1e-12, "{kbps} at {db}: {table}");
            }
        }
    }
}
