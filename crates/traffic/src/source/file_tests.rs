use super::*;
use crate::source::harness::{run, writes};
use crate::source::measure::mean;
use fairlane_engine::Stream;
use fairlane_net::Action;

fn params(text: &str) -> FileParams {
    serde_json::from_str(text).unwrap()
}

fn secs(s: u64) -> Time {
    Time::ZERO + Dur::from_secs(s)
}

#[test]
fn writes_its_size_and_closes() {
    let p = params(r#"{"size":"64KiB"}"#);
    let mut app = p.build(FlowId(0), Time::from_ps(7), None);
    assert!(!app.listens());
    let log = run(&mut app, 1, Time::from_ps(1000));
    assert_eq!(log, [(Time::from_ps(7), EpId::sender(FlowId(0)), Action::Write { bytes: 65_536, fin: true })]);
}

#[test]
fn one_file_of_a_drawn_size() {
    let p = params(r#"{"size":"10kB","sizes":"exponential"}"#);
    let sizes: Vec<f64> = (0..4000)
        .map(|seed| {
            let log = run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(1));
            let Action::Write { bytes, fin: true } = log[0].2 else { panic!("{log:?}") };
            assert_eq!(log.len(), 1);
            bytes as f64
        })
        .collect();
    assert!((mean(&sizes) / 1e4 - 1.0).abs() < 4.0 / 4000.0_f64.sqrt(), "{}", mean(&sizes));
}

/// The offered rate is the one asked for, whatever the law of the sizes, and gaps are exponential.
#[test]
fn arrivals_offer_their_rate() {
    for sizes in ["fixed", "exponential", "lognormal", "pareto"] {
        let p = params(&format!(r#"{{"size":"10kB","sizes":"{sizes}","shape":2.5,"rate":"8Mbit/s"}}"#));
        let log = run(&mut p.build(FlowId(0), Time::ZERO, None), 3, secs(1000));
        assert!(log.iter().all(|l| matches!(l.2, Action::Write { fin: false, .. })));
        let w = writes(&log);
        let rate = w.iter().map(|x| x.1 as f64 * 8.0).sum::<f64>() / 1000.0;
        assert!((rate / 8e6 - 1.0).abs() < 0.02, "{sizes}: {rate}");
        let longer = w.windows(2).filter(|g| g[1].0 - g[0].0 > Dur::from_ms(10)).count() as f64 / w.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.006, "{sizes}: {longer}");
    }
}

/// Bytes delivered, told to the source; what it did.
fn deliver(app: &mut File, bytes: u64, now: Time) -> (Vec<Action>, Time) {
    let (mut rng, mut actions, mut wake) = (Stream::new(1, "", "", ""), vec![], Time::ZERO);
    app.on_delivered(
        EpId::receiver(FlowId(0)),
        bytes,
        &mut AppCx { now, rng: &mut rng, actions: &mut actions, wake: &mut wake, newest: None },
    );
    (actions.into_iter().map(|a| a.1).collect(), wake)
}

/// A transfer is done with its last byte, and its time counts from its arrival, also where it waited behind others.
#[test]
fn transfers_are_done_in_order() {
    let mut app = params(r#"{"size":"1000B","rate":"8kbit/s"}"#).build(FlowId(0), Time::ZERO, None);
    assert!(app.listens());
    let w = writes(&run(&mut app, 1, secs(10)));
    assert!(w.len() > 3);
    let done = |i: usize| Action::Done { since: w[i].0 };
    assert_eq!(deliver(&mut app, 999, secs(20)).0, []);
    assert_eq!(deliver(&mut app, 1, secs(21)).0, [done(0)]);
    assert_eq!(deliver(&mut app, 2500, secs(22)).0, [done(1), done(2)]);
}

/// A closed loop: nothing is sent until the last transfer is over, then after a pause with the mean asked for.
#[test]
fn pauses_begin_when_a_transfer_ends() {
    let mut app = params(r#"{"size":"1000B","gap":"2s"}"#).build(FlowId(0), Time::ZERO, None);
    assert_eq!(writes(&run(&mut app, 1, secs(100))).len(), 1);
    let (actions, wake) = deliver(&mut app, 1000, secs(200));
    assert!(matches!(actions[..], [Action::Done { .. }]) && wake > secs(200));
    // The first pause is drawn too: members do not begin together.
    let firsts: Vec<f64> = (0..2000)
        .map(|seed| {
            let log = writes(&run(&mut params(r#"{"gap":"2s"}"#).build(FlowId(0), Time::ZERO, None), seed, secs(100)));
            log[0].0.as_secs_f64()
        })
        .collect();
    assert!((mean(&firsts) - 2.0).abs() < 0.2, "{}", mean(&firsts));
}

#[test]
fn a_stop_ends_the_transfers() {
    for text in [r#"{"rate":"80Mbit/s","size":"1kB"}"#, r#"{"gap":"1us"}"#] {
        let mut app = params(text).build(FlowId(0), secs(1), Some(secs(2)));
        let log = run(&mut app, 1, secs(5));
        assert!(writes(&log).iter().all(|w| w.0 < secs(2)));
        assert_eq!(log.last().map(|l| (l.0, l.2)), Some((secs(2), Action::Stop)));
        assert!(deliver(&mut app, 1 << 40, secs(3)).1 == Time::ZERO, "no wake-up after the stop");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let field = |text: &str, over| params(text).check(over).map_err(|p| p.field);
    assert_eq!(field(r#"{"rate":"1Mbit/s","gap":"1s"}"#, Proto::Tcp), Err("gap".to_owned()));
    assert_eq!(field(r#"{"rate":"1Mbit/s"}"#, Proto::Udp), Err("rate".to_owned()));
    assert_eq!(field(r#"{"rate":"1Mbit/s"}"#, Proto::Tcp), Ok(()));
    assert_eq!(field("{}", Proto::Udp), Ok(()));
}
