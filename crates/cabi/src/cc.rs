//! A library's congestion control as a [`CongestionControl`].

use crate::memory::State;
use crate::running::{Code, running};
use crate::table::{AckC, Config, EventC, LostC, NONE, RateC, Read, RecoveryC, flags};
use fairlane_net::Ecn;
use fairlane_scenario::{Fault, fail};
use fairlane_tcp::cc::{
    AckSample, CcContext, CcPlugin, CongestionControl, CongestionEvent, CongestionKind, CustomCc, LostSample, RateSample, RecoveryExit,
    Wants,
};
use fairlane_tcp::{CcConfig, EcnMode, LossBasis, Scheme};
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Map, Value};
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1000;

fn ns(t: Time) -> u64 {
    t.as_ps() / PS_PER_NS
}

fn span(d: Dur) -> u64 {
    d.as_ps() / PS_PER_NS
}

/// A congestion control in a shared library, as a plug-in.
pub(crate) struct Library {
    algorithm: Arc<Read>,
    code: Code,
}

impl Library {
    /// Creates a plug-in for an algorithm of the library; `shown` is its name in messages.
    pub(crate) fn new(algorithm: Read, shown: &str) -> Self {
        let code = Code::named(&format!("congestion control `{}` of {shown}", algorithm.name));
        Self { algorithm: Arc::new(algorithm), code }
    }

    fn make(&self, params: &Map<String, Value>, context: &CcContext<'_>) -> Result<Foreign, String> {
        let a = &self.algorithm;
        let values: Vec<f64> = a.params.iter().map(|p| params.get(&p.name).and_then(Value::as_f64).unwrap_or(p.value)).collect();
        let rules = context.config.window_rules();
        // A name that contains a 0 cannot be passed to C.
        let flow = CString::new(context.flow).unwrap_or_default();
        let config = Config {
            mss: rules.mss,
            byte_counting: rules.byte_counting.unwrap_or(0),
            cwnd_validation: rules.cwnd_validation.into(),
            loss_basis: match rules.loss_basis {
                // The event's flight follows the loss basis.
                LossBasis::Flight | LossBasis::Pipe => 0,
                LossBasis::Cwnd => 1,
                LossBasis::Smaller => 2,
            },
            initial_ssthresh: rules.initial_ssthresh,
            send_window: rules.cap,
            seed: context.stream().next_u64(),
            flow: flow.as_ptr(),
        };
        let state = State::begun(a.state_size, (a.calls.clone, a.calls.free), self.code, |state| {
            // SAFETY: the state has the size the library asked for; the other two pointers live through the call.
            a.calls.init.map_or(ptr::null(), |init| unsafe { init(state, &raw const config, values.as_ptr()) })
        })?;
        let mss = u64::from(rules.mss);
        Ok(Foreign {
            state,
            algorithm: Arc::clone(a),
            code: self.code,
            flow: context.flow.into(),
            mss,
            cwnd: mss,
            ssthresh: rules.initial_ssthresh,
            rate: None,
            failed: false,
        })
    }
}

impl CcPlugin for Library {
    fn check(&self, params: &Map<String, Value>, config: &CcConfig) -> Result<(), String> {
        self.make(params, &CcContext::of(config)).map(drop)
    }
    fn build(&self, params: &Map<String, Value>, context: &CcContext<'_>) -> Box<dyn CustomCc> {
        match self.make(params, context) {
            Ok(cc) => Box::new(cc),
            Err(m) => {
                let message = format!("congestion control `{}` of flow `{}`: init: {m}", self.algorithm.name, context.flow);
                fail(Fault { what: "congestion control", time: Time::ZERO, message, interrupted: false });
                let mss = u64::from(context.config.mss());
                let a = &self.algorithm;
                let state = State::zeroed(a.state_size, None, None, self.code);
                Box::new(Foreign {
                    state,
                    algorithm: Arc::clone(a),
                    code: self.code,
                    flow: context.flow.into(),
                    mss,
                    cwnd: mss,
                    ssthresh: u64::MAX,
                    rate: None,
                    failed: true,
                })
            }
        }
    }
    fn scheme(&self) -> Scheme {
        self.algorithm.scheme
    }
    fn ecn(&self) -> EcnMode {
        self.algorithm.ecn
    }
}

/// A flow's congestion control in a library.
#[derive(Clone)]
struct Foreign {
    state: State,
    algorithm: Arc<Read>,
    code: Code,
    flow: Arc<str>,
    mss: u64,
    /// Window after the last call.
    cwnd: u64,
    ssthresh: u64,
    rate: Option<Rate>,
    failed: bool,
}

impl Foreign {
    /// Makes a call, then reads the window. After a failure there are no further calls.
    fn call(&mut self, now: Time, what: &str, f: impl FnOnce(*mut c_void)) {
        if self.failed {
            return;
        }
        let _running = running(self.code);
        f(self.state.at());
        let (calls, view) = (self.algorithm.calls, self.state.view());
        // SAFETY: these functions take a state that went through init.
        let (cwnd, ssthresh, rate) = unsafe {
            (calls.cwnd.map_or(self.mss, |f| f(view)), calls.ssthresh.map_or(NONE, |f| f(view)), calls.pacing_rate.map_or(0, |f| f(view)))
        };
        if cwnd < self.mss {
            self.failed = true;
            let message = format!(
                "congestion control `{}` of flow `{}`: cwnd() is {cwnd} after {what}, less than a segment of {} bytes",
                self.algorithm.name, self.flow, self.mss
            );
            fail(Fault { what: "congestion control", time: now, message, interrupted: false });
            self.cwnd = self.mss;
            return;
        }
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.rate = (rate != 0).then(|| Rate::from_bps(rate));
    }
}

fn rate_c(r: &RateSample) -> RateC {
    RateC {
        delivered: r.delivered,
        interval_ns: span(r.interval),
        rate: r.rate.as_bps(),
        prior_delivered: r.prior_delivered,
        tx_in_flight: r.tx_in_flight,
        lost: r.lost,
        delivered_ce: r.delivered_ce,
        newly_delivered: r.newly_delivered,
        newly_lost: r.newly_lost,
        app_limited: r.app_limited.into(),
        reserved: 0,
    }
}

impl CongestionControl for Foreign {
    fn on_established(&mut self, now: Time, window: u64) {
        let f = self.algorithm.calls.on_established;
        // SAFETY, here and below: the state went through init, and all pointers live through the call.
        self.call(now, "on_established", |s| f.into_iter().for_each(|f| unsafe { f(s, ns(now), window) }));
    }

    fn on_ack(&mut self, s: &AckSample) {
        let rate = s.rate.as_ref().map(rate_c);
        // The third bit is reserved.
        let bits = [s.cwnd_limited, s.app_limited, false, s.in_recovery, s.may_grow];
        let ack = AckC {
            now_ns: ns(s.now),
            acked: s.acked,
            sacked: s.sacked,
            in_flight: s.in_flight,
            delivered: s.delivered,
            lost: s.lost,
            ce_bytes: s.ce_bytes,
            round: s.round,
            rtt_ns: s.rtt.map_or(NONE, span),
            srtt_ns: if s.srtt == Dur::ZERO { NONE } else { span(s.srtt) },
            min_rtt_ns: if s.min_rtt == Dur::MAX { NONE } else { span(s.min_rtt) },
            one_way_ns: s.one_way.map_or(NONE, span),
            rate: rate.as_ref().map_or(ptr::null(), ptr::from_ref),
            flags: bits.iter().enumerate().map(|(i, &b)| u32::from(b) << i).sum(),
            reserved: 0,
        };
        let f = self.algorithm.calls.on_ack;
        self.call(s.now, "on_ack", |s| f.into_iter().for_each(|f| unsafe { f(s, &raw const ack) }));
    }

    fn on_congestion(&mut self, e: &CongestionEvent) {
        let kind = match e.kind {
            CongestionKind::FastRetransmit => 0,
            CongestionKind::FastRetransmitRestart => 1,
            CongestionKind::Timeout { .. } => 2,
            CongestionKind::EcnEcho => 3,
        };
        let repeated = u32::from(e.kind == CongestionKind::Timeout { first: false });
        let event = EventC { now_ns: ns(e.now), flight: e.flight, kind, repeated };
        let f = self.algorithm.calls.on_congestion;
        self.call(e.now, "on_congestion", |s| f.into_iter().for_each(|f| unsafe { f(s, &raw const event) }));
    }

    fn on_recovery_exit(&mut self, e: &RecoveryExit) {
        let exit = RecoveryC { now_ns: ns(e.now), bound: e.bound, deflated: e.deflated, to_ssthresh: e.to_ssthresh.into(), reserved: 0 };
        let f = self.algorithm.calls.on_recovery_exit;
        self.call(e.now, "on_recovery_exit", |s| f.into_iter().for_each(|f| unsafe { f(s, &raw const exit) }));
    }

    fn on_idle_restart(&mut self, now: Time, window: u64) {
        let f = self.algorithm.calls.on_idle_restart;
        self.call(now, "on_idle_restart", |s| f.into_iter().for_each(|f| unsafe { f(s, ns(now), window) }));
    }

    fn on_syn_loss(&mut self, ssthresh: u64) {
        // Before the connection opens there is no window to check.
        if let (Some(f), false) = (self.algorithm.calls.on_syn_loss, self.failed) {
            let _running = running(self.code);
            unsafe { f(self.state.at(), ssthresh) };
        }
    }

    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        let f = self.algorithm.calls.on_sent;
        self.call(now, "on_sent", |s| f.into_iter().for_each(|f| unsafe { f(s, ns(now), bytes, in_flight) }));
    }

    fn on_lost(&mut self, l: &LostSample) {
        let lost = LostC {
            now_ns: ns(l.now),
            bytes: l.bytes,
            tx_in_flight: l.tx_in_flight,
            lost: l.lost,
            app_limited: l.app_limited.into(),
            reserved: 0,
        };
        let f = self.algorithm.calls.on_lost;
        self.call(l.now, "on_lost", |s| f.into_iter().for_each(|f| unsafe { f(s, &raw const lost) }));
    }

    fn settle(&mut self) {
        if let (Some(f), false) = (self.algorithm.calls.settle, self.failed) {
            let _running = running(self.code);
            unsafe { f(self.state.at()) };
        }
    }

    fn undo(&mut self) {
        let f = self.algorithm.calls.undo;
        self.call(Time::ZERO, "undo", |s| f.into_iter().for_each(|f| unsafe { f(s) }));
    }

    fn wants(&self) -> Wants {
        let has = |bit| self.algorithm.flags & bit != 0;
        Wants {
            rate: has(flags::RATE),
            every_ack: has(flags::EVERY_ACK),
            pacing: has(flags::PACING),
            ect: if has(flags::ECT1) { Ecn::Ect1 } else { Ecn::NotEct },
            owns_recovery: has(flags::OWNS_RECOVERY),
            ..Wants::default()
        }
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
}
