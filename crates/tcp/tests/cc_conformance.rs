//! Rules for every congestion control: a window of at least one segment and a threshold of two, finite, no growth on congestion, no loss by an undo, the same answers from a
//! copy. Each registered algorithm is tested with its defaults, with every preset, and with parameters drawn from the declared ranges.

#[path = "conformance/parameters.rs"]
mod parameters;

use fairlane_net::Class;
use fairlane_tcp::cc::{AckSample, CongestionEvent, CongestionKind, LostSample, MarkSample, RateSample, RecoveryExit};
use fairlane_tcp::{AnyCc, CcParams, CongestionControl, ParamsError, TcpConfig, presets, resolve_params};
use fairlane_testkit::cases;
use fairlane_units::{Dur, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const MSS: u64 = 1000;

/// An event that a sender passes to its algorithm.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// An acknowledgment of `segments`, after `gap` us, of a round trip of `rtt` us.
    Ack {
        segments: u64,
        gap: u64,
        rtt: u64,
        limited: bool,
        recovery: bool,
        marked: bool,
    },
    /// A loss found by duplicates, of `flight` segments.
    Loss {
        flight: u64,
        restart: bool,
    },
    /// The timer went off.
    Timeout {
        flight: u64,
        first: bool,
    },
    /// An ECN echo.
    Mark {
        flight: u64,
    },
    /// No transmission for that many ms.
    Idle(u64),
    /// The end of fast recovery.
    Exit {
        to_ssthresh: bool,
        deflated: u64,
    },
    Settle,
    Undo,
}

fn operation() -> impl Strategy<Value = Operation> {
    let ack = (1..5_u64, 0..20_000_u64, 1_000..300_000_u64, any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    prop_oneof![
        30 => ack.prop_map(|(segments, gap, rtt, limited, recovery, marked)| Operation::Ack { segments, gap, rtt, limited, recovery, marked }),
        2 => (0..400_u64, prop::bool::weighted(0.2)).prop_map(|(flight, restart)| Operation::Loss { flight, restart }),
        1 => (0..400_u64, any::<bool>()).prop_map(|(flight, first)| Operation::Timeout { flight, first }),
        1 => (0..400_u64).prop_map(|flight| Operation::Mark { flight }),
        1 => (1..100_000_u64).prop_map(Operation::Idle),
        1 => (any::<bool>(), 0..50_u64).prop_map(|(to_ssthresh, deflated)| Operation::Exit { to_ssthresh, deflated }),
        1 => Just(Operation::Settle),
        1 => Just(Operation::Undo),
    ]
}

/// The algorithm and the sender that it thinks it has.
#[derive(Clone)]
struct Bench {
    cc: AnyCc,
    now: Time,
    delivered: u64,
    lost: u64,
    round: u64,
    min_rtt: Dur,
    srtt: Dur,
    recovering: bool,
}

impl Bench {
    /// With the parameters of TCP that `cc` and `preset` stand for.
    fn new(cc: &Value, preset: &str) -> Result<Self, ParamsError> {
        let p = resolve_params(json!({ "cc": cc, "preset": preset, "mss": "1000B", "timestamps": true }))?;
        let config = TcpConfig::new(&p, Class(0))?;
        let mut cc = p.cc.build(config.congestion());
        cc.seed(7);
        cc.on_first_rtt(Time::ZERO + Dur::from_ms(50), Dur::from_ms(50));
        cc.on_established(Time::ZERO + Dur::from_ms(50), 10 * MSS);
        let now = Time::ZERO + Dur::from_ms(50);
        Ok(Self { cc, now, delivered: 0, lost: 0, round: 0, min_rtt: Dur::MAX, srtt: Dur::ZERO, recovering: false })
    }

    fn congestion(&mut self, kind: CongestionKind, flight: u64) -> Result<(), String> {
        let before = self.cc.cwnd();
        self.cc.on_congestion(&CongestionEvent { kind, now: self.now, flight: flight * MSS });
        self.recovering = kind == CongestionKind::FastRetransmit;
        // RFC 5681 section 3.1 lets nothing grow on a loss. A flight above the window is that of a sender with inflation.
        let bound = before.max(flight * MSS).max(2 * MSS);
        if self.cc.cwnd() > bound {
            return Err(format!("{kind:?} raised the window from {before} to {}", self.cc.cwnd()));
        }
        Ok(())
    }

    fn step(&mut self, op: Operation) -> Result<(), String> {
        let wants = self.cc.wants();
        match op {
            Operation::Ack { segments, gap, rtt, limited, recovery, marked } => {
                self.now += Dur::from_us(gap);
                let (rtt, acked) = (Dur::from_us(rtt), segments * MSS);
                self.min_rtt = self.min_rtt.min(rtt);
                self.srtt = if self.srtt == Dur::ZERO { rtt } else { Dur::from_ps(self.srtt.as_ps() / 8 * 7 + rtt.as_ps() / 8) };
                self.delivered += acked;
                self.round += u64::from(gap > 10_000);
                let in_flight = self.cc.cwnd().min(1 << 40);
                let ce = if marked { acked } else { 0 };
                if wants.rate || wants.every_ack {
                    self.cc.on_sent(self.now, MSS, in_flight);
                }
                if wants.grades_marks {
                    let m = MarkSample { now: self.now, delivered: acked, ce, ack: self.delivered, next: self.delivered + in_flight };
                    self.cc.on_marks(&m);
                }
                let delivered = in_flight.max(acked).min(self.delivered);
                let rate = Rate::from_bps((delivered as u128 * 8_000_000_000_000 / u128::from(rtt.as_ps())) as u64);
                let sample = RateSample {
                    delivered,
                    interval: rtt,
                    rate,
                    prior_delivered: self.delivered - delivered,
                    tx_in_flight: in_flight,
                    delivered_ce: ce,
                    app_limited: !limited,
                    newly_delivered: acked,
                    ..RateSample::default()
                };
                if !recovery || wants.rate || wants.every_ack {
                    self.cc.on_ack(&AckSample {
                        now: self.now,
                        acked,
                        in_flight,
                        delivered: self.delivered,
                        rtt: Some(rtt),
                        srtt: self.srtt,
                        min_rtt: self.min_rtt,
                        rate: wants.rate.then_some(sample),
                        lost: self.lost,
                        round: self.round,
                        cwnd_limited: limited,
                        app_limited: !limited,
                        ce_bytes: ce,
                        in_recovery: recovery,
                        may_grow: !recovery,
                        ..AckSample::default()
                    });
                }
            }
            Operation::Loss { flight, restart } => {
                if wants.rate {
                    self.lost += MSS;
                    self.cc.on_lost(&LostSample { now: self.now, bytes: MSS, tx_in_flight: flight * MSS, lost: MSS, app_limited: false });
                }
                self.cc.fine_clock().into_iter().for_each(|c| c.on_hole(self.now, false));
                let kind = if restart { CongestionKind::FastRetransmitRestart } else { CongestionKind::FastRetransmit };
                self.congestion(kind, flight)?;
            }
            Operation::Timeout { flight, first } => self.congestion(CongestionKind::Timeout { first }, flight)?,
            Operation::Mark { flight } => self.congestion(CongestionKind::EcnEcho, flight)?,
            Operation::Idle(ms) => {
                self.now += Dur::from_ms(ms);
                let before = self.cc.cwnd();
                self.cc.on_idle_restart(self.now, 10 * MSS);
                if self.cc.cwnd() > before.max(10 * MSS) {
                    return Err(format!("idleness raised the window from {before} to {}", self.cc.cwnd()));
                }
            }
            // Only what began ends.
            Operation::Exit { .. } if !self.recovering => {}
            Operation::Exit { to_ssthresh, deflated } => {
                self.recovering = false;
                self.cc.on_recovery_exit(&RecoveryExit { now: self.now, bound: u64::MAX, deflated: deflated * MSS, to_ssthresh });
            }
            Operation::Settle => self.cc.settle(),
            Operation::Undo => {
                // RFC 4015 section 3: what is taken back is a reduction.
                let before = (self.cc.cwnd(), self.cc.ssthresh());
                self.recovering = false;
                self.cc.undo();
                if self.cc.cwnd() < before.0 || self.cc.ssthresh() < before.1 {
                    return Err(format!("undo lowered {before:?} to {} and {}", self.cc.cwnd(), self.cc.ssthresh()));
                }
            }
        }
        let (cwnd, ssthresh) = (self.cc.cwnd(), self.cc.ssthresh());
        if !(MSS..1 << 50).contains(&cwnd) || ssthresh < 2 * MSS {
            return Err(format!("cwnd {cwnd} ssthresh {ssthresh}"));
        }
        if self.cc.allows(cwnd + 1) || !self.cc.allows(cwnd) {
            return Err(format!("allows is not cwnd: {cwnd}"));
        }
        if self.cc.pacing_rate().is_some_and(|r| r.as_bps() == 0) {
            return Err("a pacing rate of 0 sends nothing ever".into());
        }
        let mut odd = None;
        self.cc.gauges(&mut |name, value| {
            if value.is_nan() {
                odd = Some(name);
            }
        });
        odd.map_or(Ok(()), |name| Err(format!("{name} is not a number")))
    }
}

/// One life of the algorithm, and that of a copy made halfway, which has the same future.
fn lives(mut bench: Bench, ops: &[Operation]) -> Result<(), String> {
    let half = ops.len() / 2;
    let run = |bench: &mut Bench, from: usize, to: usize| {
        (from..to).try_for_each(|n| bench.step(ops[n]).map_err(|e| format!("at {n}, {:?}: {e}", ops[n])))
    };
    run(&mut bench, 0, half)?;
    let mut copy = bench.clone();
    run(&mut bench, half, ops.len())?;
    run(&mut copy, half, ops.len())?;
    let seen = |b: &Bench| (b.cc.cwnd(), b.cc.ssthresh());
    if seen(&bench) == seen(&copy) { Ok(()) } else { Err(format!("a copy differs: {:?} {:?}", seen(&bench), seen(&copy))) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// With the defaults of every preset; those of `rfc` are the algorithm's own.
    #[test]
    fn every_algorithm_keeps_its_window(ops in prop::collection::vec(operation(), 1..300)) {
        for info in CcParams::ALL {
            for preset in presets() {
                let bench = Bench::new(&json!(info.name), &preset.name).unwrap();
                lives(bench, &ops).map_err(|e| TestCaseError::fail(format!("{} with preset {}: {e}", info.name, preset.name)))?;
            }
        }
    }

    /// All values within the declared ranges. Values that the check refuses with a message are skipped.
    #[test]
    fn every_algorithm_keeps_its_window_over_its_ranges(
        ops in prop::collection::vec(operation(), 1..150),
        picks in prop::collection::vec(0.0..1.0_f64, 64),
        preset in 0..4_usize,
    ) {
        for info in CcParams::ALL {
            let (params, preset) = (parameters::params(&(info.schema)().to_value(), &picks), &presets()[preset].name);
            let cc = if params.is_empty() { json!(info.name) } else { json!({ info.name: params }) };
            if let Ok(bench) = Bench::new(&cc, preset) {
                lives(bench, &ops).map_err(|e| TestCaseError::fail(format!("{cc} with preset {preset}: {e}")))?;
            }
        }
    }
}

/// RFC 5681 equation 4 bounds the threshold from above. Where a recovery has let several windows out, what is not acknowledged is several windows, and the greater
/// part of that, which is what Scalable TCP leaves, would be more than the window that brought the loss.
#[test]
fn no_loss_raises_the_window_however_much_is_in_flight() {
    for info in CcParams::ALL {
        for basis in ["flight", "cwnd", "smaller", "pipe"] {
            let p = resolve_params(json!({ "cc": info.name, "recovery": "sack", "loss_basis": basis, "mss": "1000B" })).unwrap();
            let config = TcpConfig::new(&p, Class(0)).unwrap();
            for kind in [CongestionKind::FastRetransmit, CongestionKind::EcnEcho, CongestionKind::Timeout { first: true }] {
                let mut cc = p.cc.build(config.congestion());
                cc.on_established(Time::ZERO, 60 * MSS);
                let before = cc.cwnd();
                cc.on_congestion(&CongestionEvent { kind, now: Time::ZERO + Dur::from_secs(1), flight: 10 * before });
                assert!(cc.cwnd() <= before, "{} {basis} {kind:?}: {before} to {}", info.name, cc.cwnd());
                assert!(
                    cc.ssthresh() == u64::MAX || cc.ssthresh() <= before,
                    "{} {basis} {kind:?}: threshold {}",
                    info.name,
                    cc.ssthresh()
                );
            }
        }
    }
}

/// RFC 5681 equation 4 leaves a threshold of two segments, whatever is in flight: after a timeout of an empty flight and marks on each
/// window, and where the delay alone ends slow start at a window of one segment (LEDBAT with its smallest window set to 1).
#[test]
fn no_threshold_is_below_two_segments() {
    let algorithms =
        CcParams::ALL.iter().map(|info| json!(info.name)).chain([json!({ "ledbat": { "min_window": 1.0, "slow_start": true } })]);
    for cc in algorithms {
        for kind in [Operation::Loss { flight: 0, restart: false }, Operation::Timeout { flight: 0, first: true }] {
            let mut bench = Bench::new(&cc, "modern").unwrap();
            let ack = |ms: u64| Operation::Ack { segments: 1, gap: 30_000, rtt: ms * 1000, limited: true, recovery: false, marked: true };
            bench.step(ack(10)).unwrap();
            bench.step(kind).unwrap();
            for ms in [10, 10, 10, 290, 290, 290, 290, 290] {
                for op in [ack(ms), Operation::Mark { flight: 1 }] {
                    bench.step(op).unwrap_or_else(|e| panic!("{cc} after {kind:?}, {op:?}: {e}"));
                }
            }
        }
    }
}

/// The draws reach each parameter of each algorithm, and nearly all of them are accepted: the test above is not empty.
#[test]
fn draws_reach_every_parameter() {
    let (mut made, mut refused) = (0, 0);
    for info in CcParams::ALL {
        let schema = (info.schema)().to_value();
        let declared = schema["properties"].as_object().map_or(0, |p| p.len());
        let mut reached = std::collections::BTreeSet::new();
        for k in 0..200_u32 {
            let picks: Vec<f64> = (0..64).map(|i| f64::from((k * 7919 + i * 104_729 + k * i * 31) % 1000) / 1000.0).collect();
            let params = parameters::params(&schema, &picks);
            reached.extend(params.keys().cloned());
            let cc = json!({ info.name: params });
            *(if Bench::new(&cc, "rfc").is_ok() { &mut made } else { &mut refused }) += 1;
        }
        assert_eq!(reached.len(), declared, "{}: {reached:?}", info.name);
    }
    assert!(refused * 5 < made, "{refused} of {} draws are refused", refused + made);
}
