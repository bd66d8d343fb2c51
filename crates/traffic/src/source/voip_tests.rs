use super::*;
use crate::source::harness::{run, writes};
use fairlane_net::Action;

fn secs(s: u64) -> Time {
    Time::ZERO + Dur::from_secs(s)
}

fn params(text: &str) -> VoipParams {
    serde_json::from_str(text).unwrap()
}

fn log(p: &VoipParams, seed: u64, until: u64) -> Vec<(Time, u64)> {
    writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(until)))
}

/// RFC 3551: bytes of speech in a packet, 12 of RTP before them, and the rate of the speech alone.
#[test]
fn packets_and_rates_of_the_codecs() {
    for (text, bytes, packets, kbps) in [
        (r#"{"codec":"g711","vad":false}"#, 160 + 12, 50, 64.0),
        (r#"{"codec":"g711","vad":false,"interval":"30ms"}"#, 240 + 12, 33, 64.0),
        (r#"{"codec":"g729","vad":false}"#, 20 + 12, 50, 8.0),
        (r#"{"codec":"g729","vad":false,"interval":"60ms"}"#, 60 + 12, 16, 8.0),
        (r#"{"codec":"g723_1_high","vad":false}"#, 24 + 12, 33, 6.4),
        (r#"{"codec":"g723_1_low","vad":false,"header":"0B"}"#, 20, 33, 16.0 / 3.0),
    ] {
        let p = params(text);
        assert_eq!(p.check(Proto::Udp), Ok(()));
        let w = log(&p, 1, 1);
        assert!(w.len() == packets && w.iter().all(|x| x.1 == bytes), "{text}: {} of {}", w.len(), w[0].1);
        let w = log(&p, 1, 300);
        let speech: u64 = w.iter().map(|x| x.1 - p.header.get()).sum();
        assert!((speech as f64 * 8.0 / 300.0 / 1e3 - kbps).abs() < 1e-9, "{text}: {}", speech as f64 * 8.0 / 300.0);
    }
    // The first packet is full one interval after the start; with the headers of UDP and IPv4 a call of G.711 is 80 kbit/s.
    assert_eq!(log(&params(r#"{"vad":false}"#), 1, 1)[0].0, Time::ZERO + Dur::from_ms(20));
    assert_eq!((160 + 12 + 28) * 8 * 50, 80_000);
}

/// ITU-T P.59: 1.004 / (1.004 + 1.587) = 38.75 % activity; Brady: 0.352 / (0.352 + 0.650) = 35.1 %.
#[test]
fn activity_is_that_of_the_recommendation() {
    for (text, share) in [("{}", 0.3875), (r#"{"talk":"352ms","silence":"650ms"}"#, 0.3513)] {
        let w = log(&params(text), 4, 20_000);
        let got = w.len() as f64 / (20_000.0 * 50.0);
        assert!((got - share).abs() < 0.01, "{text}: {got}");
    }
}

/// A chain of two states, looked at every 20 ms: someone who talks still does, or again, with a + (1 - a) e^(-t (1/talk + 1/silence)), a being the activity.
/// A run of packets has 1 / (1 - that) in the mean. Silences likewise.
#[test]
fn spurts_have_their_means() {
    let w = log(&params("{}"), 4, 50_000);
    let places: Vec<u64> = w.iter().map(|x| x.0.as_ps() / Dur::from_ms(20).as_ps()).collect();
    let silences: Vec<u64> = places.windows(2).map(|g| g[1] - g[0] - 1).filter(|&n| n > 0).collect();
    let n = silences.len() as f64;
    let (spurt, silence) = (places.len() as f64 / n, silences.iter().sum::<u64>() as f64 / n);
    let a = 1.004 / 2.591;
    let fade = (-0.02 * (1.0 / 1.004 + 1.0 / 1.587_f64)).exp();
    let (want_spurt, want_silence) = (1.0 / ((1.0 - a) * (1.0 - fade)), 1.0 / (a * (1.0 - fade)));
    // 1.02 s and 1.61 s: what is shorter than a packet is not seen.
    assert!((want_spurt * 0.02 - 1.004).abs() < 0.02 && (want_silence * 0.02 - 1.587).abs() < 0.03);
    assert!((spurt / want_spurt - 1.0).abs() < 4.0 / n.sqrt(), "{spurt} {want_spurt}");
    assert!((silence / want_silence - 1.0).abs() < 4.0 / n.sqrt(), "{silence} {want_silence}");
    // Exponential: e^-1 of the silences exceed their mean.
    let longer = silences.iter().filter(|&&s| s as f64 > want_silence).count() as f64 / n;
    assert!((longer - (-1.0_f64).exp()).abs() < 0.015, "{longer}");
}

#[test]
fn seeds_reproduce_and_nothing_comes_after_the_stop() {
    let p = params(r#"{"talk":"50ms","silence":"50ms"}"#);
    assert_eq!(log(&p, 7, 5), log(&p, 7, 5));
    assert_ne!(log(&p, 7, 5), log(&p, 8, 5));
    let all = run(&mut p.build(FlowId(0), secs(1), Some(secs(2))), 7, secs(5));
    assert!(all.len() > 10 && writes(&all).iter().all(|w| w.0 > secs(1) && w.0 < secs(2)));
    assert_eq!(all.last().map(|l| (l.0, l.2)), Some((secs(2), Action::Stop)));
}

#[test]
fn packets_hold_whole_frames() {
    let field = |text: &str| params(text).check(Proto::Udp).map_err(|p| p.field);
    assert_eq!(field(r#"{"codec":"g729","interval":"25ms"}"#), Err("interval".to_owned()));
    assert_eq!(field(r#"{"codec":"g723_1_high","interval":"20ms"}"#), Err("interval".to_owned()));
    assert_eq!(field(r#"{"codec":"g711","interval":"25ms"}"#), Ok(()));
}
