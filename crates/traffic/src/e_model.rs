//! Quality of a telephone call: the E-model of ITU-T G.107 (06/2015), for two telephones that differ from its default values only in their codec, their
//! delay and their loss.
//!
//! R = Ro - Is - Id - Ie,eff + A. All parameters but these have the defaults of Table 2 of G.107, so Ro and Is are constants: R = 93.2 without any delay or loss.
//! The mean one-way delay T, the round trip Tr = 2 T and the absolute delay Ta = T are one number: the delay from mouth to ear in an all-digital call.
//! Loss is random (burst ratio 1), and the advantage factor A is 0.

use fairlane_units::{Dur, PS_PER_SEC};

/// Ro, the basic signal-to-noise ratio (clause 7.2), at the default values.
const RO: f64 = 94.768_8;
/// Is, the impairments that occur with the voice signal (clause 7.3), at the default values.
const IS: f64 = 1.413_6;
/// TELR, the talker echo loudness rating in dB (Table 2).
const TELR: f64 = 65.0;
/// WEPL, the weighted echo path loss in dB (Table 2).
const WEPL: f64 = 110.0;
/// mT, the minimal perceivable delay in ms, at the default delay sensitivity (Table 1, clause 7.4).
const PERCEIVABLE: f64 = 100.0;
/// Largest transmission rating, and the MOS of any above.
const MOST: f64 = 100.0;
/// MOS at a rating of 100 or more (Annex B).
const BEST: f64 = 4.5;

/// Impairment of speech by a codec (ITU-T G.113 Appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairment {
    /// Ie, the equipment impairment factor.
    pub ie: f64,
    /// Bpl, the packet-loss robustness factor.
    pub bpl: f64,
}

/// A call as its listener has it, besides what the network does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Impairment by the codec; none if no recommendation has its values.
    pub impairment: Option<Impairment>,
    /// Delay before a packet is sent: the speech in it, and the codec's look-ahead.
    pub before: Dur,
    /// Shortest and longest delay of the de-jitter buffer, over the shortest delay of the network.
    pub buffer: [Dur; 2],
}

/// Id, the impairment by the delay from mouth to ear (clause 7.4).
pub fn delay_impairment(delay: Dur) -> f64 {
    let t = delay.as_ps() as f64 * 1e3 / PS_PER_SEC as f64;
    talker_echo(t) + listener_echo(t) + absolute_delay(t)
}

/// Mean of x and the hypotenuse of x and 2 `soft`: the smooth steps of the model.
fn soft_step(x: f64, soft: f64) -> f64 {
    x / 2.0 + (x * x / 4.0 + soft).sqrt()
}

/// Idte, the impairment by talker echo, for a sidetone masking rating from 9 to 20 dB.
fn talker_echo(t: f64) -> f64 {
    if t < 1.0 {
        return 0.0;
    }
    let terv = TELR - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (terv - 14.0);
    // Roe = -1.5 (No - RLR) is Ro at the default values.
    let roe = NO_LESS_RLR * -1.5;
    (soft_step(roe - re, 100.0) - 1.0) * (1.0 - libm::exp(-t))
}

/// No - RLR, the noise floor at the 0 dBr point less the receive loudness rating, in dBm0p, at the default values.
const NO_LESS_RLR: f64 = -63.179_2;

/// Idle, the impairment by listener echo.
fn listener_echo(t: f64) -> f64 {
    let rle = 10.5 * (WEPL + 7.0) / libm::pow(2.0 * t + 1.0, 0.25);
    soft_step(RO - rle, 169.0)
}

/// Idd, the impairment by the absolute delay.
fn absolute_delay(t: f64) -> f64 {
    if t <= PERCEIVABLE {
        return 0.0;
    }
    let x = libm::log2(t / PERCEIVABLE);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Transmission rating R, from 0 to 100, at a delay from mouth to ear and a share of packets lost or late (clause 7.1, clause 7.5 with random loss).
pub fn rating(delay: Dur, loss: f64, codec: Impairment) -> f64 {
    let percent = loss * 100.0;
    let equipment = codec.ie + (95.0 - codec.ie) * percent / (percent + codec.bpl);
    (RO - IS - delay_impairment(delay) - equipment).clamp(0.0, MOST)
}

/// Mean opinion score in a conversation, MOS-CQE, of a rating (Annex B), never below 1: the cubic is, for R < 6.5.
pub fn mos(r: f64) -> f64 {
    if r >= MOST {
        return BEST;
    }
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

#[cfg(test)]
#[path = "e_model_tests.rs"]
mod tests;
