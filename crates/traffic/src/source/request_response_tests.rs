use super::*;
use fairlane_engine::Stream;
use fairlane_net::Action;

/// Returns the writes of a call of `app` at `now`, and its next wake-up.
fn call(app: &mut RequestResponse, now: Time, f: impl FnOnce(&mut RequestResponse, &mut AppCx<'_>)) -> (Vec<(EpId, Action)>, Time) {
    let (mut rng, mut actions, mut wake) = (Stream::new(1, "app", "test", "traffic"), vec![], Time::MAX);
    f(app, &mut AppCx { now, rng: &mut rng, actions: &mut actions, wake: &mut wake, newest: None });
    (actions, wake)
}

const FLOW: FlowId = FlowId(3);
const SERVER: EpId = EpId::sender(FLOW);
const CLIENT: EpId = EpId::receiver(FLOW);

fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_ms(n)
}

fn write(at: EpId, bytes: u64, fin: bool) -> (EpId, Action) {
    (at, Action::Write { bytes, fin })
}

fn params(json: &str) -> RequestResponseParams {
    serde_json::from_str(json).unwrap()
}

/// Request, answer, thought, request; behind the last answer both ends close.
#[test]
fn one_round_after_the_other() {
    let p = params(r#"{"request":"100B","response":"5kB","think":"30ms","think_times":"fixed","requests":2}"#);
    let mut app = p.build(FLOW, ms(1), None);
    assert_eq!(call(&mut app, ms(1), |a, cx| a.on_wake(cx)), (vec![write(CLIENT, 100, false)], Time::MAX));
    // Part of a request is no request.
    assert_eq!(call(&mut app, ms(2), |a, cx| a.on_delivered(SERVER, 60, cx)).0, []);
    assert_eq!(call(&mut app, ms(3), |a, cx| a.on_delivered(SERVER, 40, cx)).0, [write(SERVER, 5000, false)]);
    assert_eq!(call(&mut app, ms(4), |a, cx| a.on_delivered(CLIENT, 4999, cx)).0, []);
    let done = (SERVER, Action::Done { since: ms(1) });
    assert_eq!(call(&mut app, ms(5), |a, cx| a.on_delivered(CLIENT, 1, cx)), (vec![done], ms(35)));
    assert_eq!(call(&mut app, ms(35), |a, cx| a.on_wake(cx)).0, [write(CLIENT, 100, false)]);
    assert_eq!(call(&mut app, ms(36), |a, cx| a.on_delivered(SERVER, 100, cx)).0, [write(SERVER, 5000, true)]);
    let done = (SERVER, Action::Done { since: ms(35) });
    assert_eq!(call(&mut app, ms(37), |a, cx| a.on_delivered(CLIENT, 5000, cx)), (vec![done, write(CLIENT, 0, true)], Time::MAX));
}

/// With a timeout what is missing is asked for again; a second copy of a request has its answer already.
#[test]
fn what_is_missing_is_asked_for_again() {
    let p = params(r#"{"request":"100B","response":"5kB","think":"30ms","think_times":"fixed","timeout":"1s"}"#);
    let mut app = p.build(FLOW, ms(0), None);
    assert_eq!(call(&mut app, ms(0), |a, cx| a.on_wake(cx)), (vec![write(CLIENT, 100, false)], ms(1000)));
    assert_eq!(call(&mut app, ms(10), |a, cx| a.on_delivered(SERVER, 100, cx)).0, [write(SERVER, 5000, false)]);
    assert_eq!(call(&mut app, ms(20), |a, cx| a.on_delivered(CLIENT, 3000, cx)), (vec![], ms(1000)));
    assert_eq!(call(&mut app, ms(1000), |a, cx| a.on_wake(cx)), (vec![write(CLIENT, 100, false)], ms(2000)));
    assert_eq!(call(&mut app, ms(1010), |a, cx| a.on_delivered(SERVER, 100, cx)).0, [write(SERVER, 2000, false)]);
    assert_eq!(call(&mut app, ms(1011), |a, cx| a.on_delivered(SERVER, 100, cx)).0, []);
    let done = (SERVER, Action::Done { since: ms(0) });
    assert_eq!(call(&mut app, ms(1020), |a, cx| a.on_delivered(CLIENT, 2000, cx)), (vec![done], ms(1050)));
    // Unrequested bytes change nothing.
    assert_eq!(call(&mut app, ms(1030), |a, cx| a.on_delivered(CLIENT, 2000, cx)).0, []);
}

/// Requests in the loop are asked at once, answered in order, and each customer thinks for himself.
#[test]
fn pipelined_requests() {
    let p = params(r#"{"request":"100B","response":"1kB","think":"30ms","think_times":"fixed","outstanding":3}"#);
    let mut app = p.build(FLOW, ms(0), Some(ms(500)));
    assert_eq!(call(&mut app, ms(0), |a, cx| a.on_wake(cx)), (vec![write(CLIENT, 100, false); 3], ms(500)));
    assert_eq!(call(&mut app, ms(10), |a, cx| a.on_delivered(SERVER, 300, cx)).0, [write(SERVER, 1000, false); 3]);
    let done = (SERVER, Action::Done { since: ms(0) });
    assert_eq!(call(&mut app, ms(20), |a, cx| a.on_delivered(CLIENT, 1500, cx)), (vec![done], ms(50)));
    assert_eq!(call(&mut app, ms(30), |a, cx| a.on_delivered(CLIENT, 1500, cx)), (vec![done; 2], ms(50)));
    assert_eq!(call(&mut app, ms(50), |a, cx| a.on_wake(cx)), (vec![write(CLIENT, 100, false)], ms(60)));
    // The stop ends both ends, and nothing is asked after it.
    assert_eq!(call(&mut app, ms(500), |a, cx| a.on_wake(cx)), (vec![(SERVER, Action::Stop), (CLIENT, Action::Stop)], Time::MAX));
    assert_eq!(call(&mut app, ms(501), |a, cx| a.on_delivered(CLIENT, 1000, cx)), (vec![], Time::MAX));
}

#[test]
fn fewer_requests_than_outstanding() {
    let p = params(r#"{"requests":2,"outstanding":3}"#);
    assert_eq!(p.check(Proto::Tcp).unwrap_err().field, "requests");
}
