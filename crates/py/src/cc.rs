//! Congestion controls written in Python: calls from the simulator, and views of its values.

use crate::error;
use crate::interrupt::{plugged, put_off, stopped};
use crate::queue::keep_thread_state;
use fairlane_cabi::{Code, Wanted, running, watch};
use fairlane_engine::Stream;
use fairlane_net::Ecn;
use fairlane_scenario::{Fault, fail};
use fairlane_tcp::cc::{self, CcContext, CcPlugin, CongestionControl, CongestionKind, CustomCc, Wants, register_cc_plugin};
use fairlane_tcp::{CcConfig, EcnMode, LossBasis, Scheme};
use fairlane_units::{Dur, Rate, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest accepted window or threshold in bytes; also the largest integer up to which all are floats.
const LARGEST: f64 = (1_u64 << 53) as f64;

/// Defines a frozen view of a Rust value, with attributes computed on access.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident of $inner:ty { $($(#[$fdoc:meta])* $field:ident: $type:ty = $get:expr;)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "fairlane._core")]
        pub(crate) struct $name($inner);

        #[pymethods]
        impl $name {
            $($(#[$fdoc])* #[getter] fn $field(&self) -> $type {
                let get: fn(&$inner) -> $type = $get;
                get(&self.0)
            })*
            fn __repr__(&self) -> String {
                format!("{:?}", self.0)
            }
        }
    };
}

view! {
    /// An acknowledgment of new data: times in seconds, sizes in bytes.
    AckSample of cc::AckSample {
        /// Time of arrival.
        now: f64 = |s| s.now.as_secs_f64();
        /// Payload newly acknowledged, cumulatively.
        acked: u64 = |s| s.acked;
        /// Payload newly covered by SACK blocks.
        sacked: u64 = |s| s.sacked;
        /// Bytes in flight afterwards.
        in_flight: u64 = |s| s.in_flight;
        /// Bytes acknowledged or SACKed since the flow began.
        delivered: u64 = |s| s.delivered;
        /// Measured round-trip time, or None.
        rtt: Option<f64> = |s| s.rtt.map(Dur::as_secs_f64);
        /// Smoothed round-trip time, or None before the first measurement.
        srtt: Option<f64> = |s| (s.srtt != Dur::ZERO).then(|| s.srtt.as_secs_f64());
        /// Smallest round-trip time seen, or None before the first.
        min_rtt: Option<f64> = |s| (s.min_rtt != Dur::MAX).then(|| s.min_rtt.as_secs_f64());
        /// One-way delay of the data, from timestamps (RFC 6817 section 4.1), or None without them.
        one_way: Option<f64> = |s| s.one_way.map(Dur::as_secs_f64);
        /// Rate sample, if the class `wants_rate` and something was delivered; else None.
        rate: Option<RateSample> = |s| s.rate.map(RateSample);
        /// Bytes deemed lost since the flow began, if the class `wants_rate`.
        lost: u64 = |s| s.lost;
        /// Round trips since the flow began.
        round: u64 = |s| s.round;
        /// True if the window limited the sender (RFC 7661 section 4.3).
        cwnd_limited: bool = |s| s.cwnd_limited;
        /// True if the sender ran out of data.
        app_limited: bool = |s| s.app_limited;
        /// Newly delivered bytes that were reported as CE-marked.
        ce_bytes: u64 = |s| s.ce_bytes;
        /// True during loss recovery.
        in_recovery: bool = |s| s.in_recovery;
        /// True if the window may grow: not in fast recovery.
        may_grow: bool = |s| s.may_grow;
    }
}

view! {
    /// Delivery rate over the time it took to deliver the data in flight (draft-ietf-ccwg-bbr section 4.1).
    RateSample of cc::RateSample {
        /// Bytes delivered over the interval.
        delivered: u64 = |s| s.delivered;
        /// The longer of the send and acknowledgment intervals, in seconds.
        interval: f64 = |s| s.interval.as_secs_f64();
        /// Delivered bytes per interval in bit/s; 0 if the interval was too short.
        rate: f64 = |s| s.rate.as_bps() as f64;
        /// Bytes delivered before the newest delivered segment was sent.
        prior_delivered: u64 = |s| s.prior_delivered;
        /// Bytes in flight when that segment was sent, including itself.
        tx_in_flight: u64 = |s| s.tx_in_flight;
        /// Bytes deemed lost since that segment was sent.
        lost: u64 = |s| s.lost;
        /// Bytes delivered with CE marks since that segment was sent.
        delivered_ce: u64 = |s| s.delivered_ce;
        /// True if the sender had run out of data when that segment was sent.
        app_limited: bool = |s| s.app_limited;
        /// Bytes delivered by this acknowledgment.
        newly_delivered: u64 = |s| s.newly_delivered;
        /// Bytes deemed lost by this acknowledgment.
        newly_lost: u64 = |s| s.newly_lost;
    }
}

view! {
    /// A congestion event.
    CongestionEvent of cc::CongestionEvent {
        /// `fast_retransmit`, `restart`, `timeout` or `ecn`.
        kind: &'static str = |e| match e.kind {
            CongestionKind::FastRetransmit => "fast_retransmit",
            CongestionKind::FastRetransmitRestart => "restart",
            CongestionKind::Timeout { .. } => "timeout",
            CongestionKind::EcnEcho => "ecn",
        };
        /// True for another timeout of the same segment, for which RFC 5681 section 3.1 holds `ssthresh`.
        repeated: bool = |e| e.kind == CongestionKind::Timeout { first: false };
        /// Time in seconds.
        now: f64 = |e| e.now.as_secs_f64();
        /// Bytes in flight, without those of limited transmit (RFC 5681 equation 4).
        flight: u64 = |e| e.flight;
    }
}

view! {
    /// End of fast recovery.
    RecoveryExit of cc::RecoveryExit {
        /// Time in seconds.
        now: f64 = |e| e.now.as_secs_f64();
        /// Upper bound of the window now, in bytes (RFC 6582 section 3.2 step 3); infinite for none.
        bound: f64 = |e| bytes(e.bound);
        /// Bytes that partial acknowledgments take from the window.
        deflated: u64 = |e| e.deflated;
        /// True if the window is first set to `ssthresh`.
        to_ssthresh: bool = |e| e.to_ssthresh;
    }
}

view! {
    /// A segment deemed lost.
    LostSample of cc::LostSample {
        /// Time in seconds.
        now: f64 = |l| l.now.as_secs_f64();
        /// Payload bytes.
        bytes: u64 = |l| l.bytes;
        /// Bytes in flight when it was sent, including itself.
        tx_in_flight: u64 = |l| l.tx_in_flight;
        /// Bytes deemed lost since, including itself.
        lost: u64 = |l| l.lost;
        /// True if the sender had run out of data when it was sent.
        app_limited: bool = |l| l.app_limited;
    }
}

/// Bytes as a Python float: `u64::MAX` is infinite.
fn bytes(n: u64) -> f64 {
    if n == u64::MAX { f64::INFINITY } else { n as f64 }
}

/// Random numbers of a flow's congestion control.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct Random(Mutex<Stream>);

#[pymethods]
impl Random {
    /// Uniform in [0, 1).
    fn random(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).uniform()
    }
    fn __deepcopy__(&self, _memo: Py<PyAny>) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

/// Properties of a class.
struct Class {
    name: Box<str>,
    code: Code,
    factory: Py<PyAny>,
    scheme: Scheme,
    ecn: EcnMode,
    wants: Wants,
    has_rate: bool,
}

/// An instance of a Python class as a congestion control.
struct PyCc {
    class: Arc<Class>,
    flow: Arc<str>,
    object: Option<Py<PyAny>>,
    mss: u64,
    /// Window after the last call.
    cwnd: u64,
    ssthresh: u64,
    rate: Option<Rate>,
    /// Time of the last call that had one.
    now: Time,
    failed: bool,
}

impl Clone for PyCc {
    fn clone(&self) -> Self {
        let mut new = Self { class: Arc::clone(&self.class), flow: Arc::clone(&self.flow), object: None, ..*self };
        let Some(object) = &self.object else { return new };
        plugged(|py| match py.import("copy").and_then(|m| m.getattr("deepcopy")?.call1((object,))) {
            Ok(copy) => new.object = Some(copy.unbind()),
            Err(e) => new.fault("it cannot be copied with the network it is in", &error::traceback(py, &e), stopped(py, &e)),
        });
        new
    }
}

impl PyCc {
    fn fault(&mut self, what: &str, text: &str, interrupted: bool) {
        self.failed = true;
        let message = format!("congestion control `{}` of flow `{}`: {what}\n{text}", self.class.name, self.flow);
        fail(Fault { what: "congestion control", time: self.now, message: message.trim_end().to_owned(), interrupted });
    }

    /// Calls a method, then reads the result. After a failure there are no further calls, and the window is one segment.
    fn call(&mut self, now: Option<Time>, method: &str, f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>) {
        if self.failed {
            return;
        }
        self.now = now.unwrap_or(self.now);
        plugged(|py| {
            let Some(object) = self.object.as_ref().map(|o| o.clone_ref(py)) else { return };
            let object = object.bind(py);
            let _running = running(self.class.code);
            match f(py, object).and_then(|()| self.read(py, object)) {
                Ok(None) => {}
                Ok(Some(wrong)) => self.fault(&format!("after {method}"), &wrong, false),
                Err(e) => self.fault(method, &error::traceback(py, &e), stopped(py, &e)),
            }
            if self.failed {
                (self.cwnd, self.rate) = (self.mss, None);
            }
        });
    }

    /// Reads window, threshold and rate; returns a message if one is invalid.
    fn read(&mut self, py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let cwnd: f64 = object.getattr(intern!(py, "cwnd"))?.extract()?;
        let ssthresh: f64 = object.getattr(intern!(py, "ssthresh"))?.extract()?;
        if cwnd.is_nan() || cwnd < self.mss as f64 || cwnd > LARGEST {
            let why =
                if cwnd < self.mss as f64 { format!("less than a segment of {} bytes", self.mss) } else { "not a number of bytes".into() };
            return Ok(Some(format!("self.cwnd is {cwnd}, {why}")));
        }
        if ssthresh.is_nan() || ssthresh < 0.0 {
            return Ok(Some(format!("self.ssthresh is {ssthresh}, not a number of bytes")));
        }
        self.cwnd = cwnd as u64;
        self.ssthresh = if ssthresh > LARGEST { u64::MAX } else { ssthresh as u64 };
        if self.class.has_rate {
            let rate: Option<f64> = object.call_method0(intern!(py, "pacing_rate"))?.extract()?;
            self.rate = match rate {
                Some(r) if !(1.0..=LARGEST).contains(&r) => return Ok(Some(format!("pacing_rate() is {r}, not a rate in bit/s"))),
                r => r.map(|r| Rate::from_bps(r as u64)),
            };
        }
        Ok(None)
    }
}

impl CongestionControl for PyCc {
    fn on_established(&mut self, now: Time, window: u64) {
        self.call(Some(now), "on_established", |py, o| {
            o.call_method1(intern!(py, "on_established"), (now.as_secs_f64(), window)).map(drop)
        });
    }
    fn on_ack(&mut self, s: &cc::AckSample) {
        self.call(Some(s.now), "on_ack", |py, o| o.call_method1(intern!(py, "on_ack"), (AckSample(*s),)).map(drop));
    }
    fn on_congestion(&mut self, e: &cc::CongestionEvent) {
        self.call(Some(e.now), "on_congestion", |py, o| o.call_method1(intern!(py, "_congestion"), (CongestionEvent(*e),)).map(drop));
    }
    fn on_recovery_exit(&mut self, e: &cc::RecoveryExit) {
        self.call(Some(e.now), "on_recovery_exit", |py, o| o.call_method1(intern!(py, "on_recovery_exit"), (RecoveryExit(*e),)).map(drop));
    }
    fn on_idle_restart(&mut self, now: Time, window: u64) {
        self.call(Some(now), "on_idle_restart", |py, o| {
            o.call_method1(intern!(py, "on_idle_restart"), (now.as_secs_f64(), window)).map(drop)
        });
    }
    fn on_syn_loss(&mut self, ssthresh: u64) {
        self.call(None, "on_syn_loss", |py, o| o.call_method1(intern!(py, "on_syn_loss"), (bytes(ssthresh),)).map(drop));
    }
    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        self.call(Some(now), "on_sent", |py, o| o.call_method1(intern!(py, "on_sent"), (now.as_secs_f64(), bytes, in_flight)).map(drop));
    }
    fn on_lost(&mut self, l: &cc::LostSample) {
        self.call(Some(l.now), "on_lost", |py, o| o.call_method1(intern!(py, "on_lost"), (LostSample(*l),)).map(drop));
    }
    fn settle(&mut self) {
        self.call(None, "settle", |py, o| o.call_method0(intern!(py, "settle")).map(drop));
    }
    fn undo(&mut self) {
        self.call(None, "undo", |py, o| o.call_method0(intern!(py, "undo")).map(drop));
    }
    fn wants(&self) -> Wants {
        self.class.wants
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

/// A Python class that makes congestion controls.
struct PyPlugin(Arc<Class>);

impl PyPlugin {
    fn make<'py>(&self, py: Python<'py>, params: &Map<String, Value>, context: &CcContext<'_>) -> PyResult<Bound<'py, PyAny>> {
        let rules = context.config.window_rules();
        let tcp = PyDict::new(py);
        tcp.set_item("flow", context.flow)?;
        tcp.set_item("mss", rules.mss)?;
        tcp.set_item("initial_ssthresh", bytes(rules.initial_ssthresh))?;
        tcp.set_item("window", bytes(rules.cap))?;
        tcp.set_item("byte_counting", rules.byte_counting)?;
        tcp.set_item("cwnd_validation", rules.cwnd_validation)?;
        let basis = match rules.loss_basis {
            LossBasis::Flight | LossBasis::Pipe => "flight",
            LossBasis::Cwnd => "cwnd",
            LossBasis::Smaller => "smaller",
        };
        tcp.set_item("loss_basis", basis)?;
        tcp.set_item("whole_segments", rules.whole_segments)?;
        tcp.set_item("timeout_cuts_again", rules.timeout_cuts_again)?;
        let random = Py::new(py, Random(Mutex::new(context.stream())))?;
        let _running = running(self.0.code);
        self.0.factory.bind(py).call1((Value::Object(params.clone()).to_string(), tcp, random))
    }
}

impl CcPlugin for PyPlugin {
    fn check(&self, params: &Map<String, Value>, config: &CcConfig) -> Result<(), String> {
        // Creating an instance is the check: `start` may refuse inconsistent parameters.
        plugged(|py| match self.make(py, params, &CcContext::of(config)) {
            Err(e) if e.is_instance_of::<PyValueError>(py) => Err(e.value(py).to_string()),
            Err(e) => {
                put_off(py, &e);
                Ok(())
            }
            Ok(_) => Ok(()),
        })
    }

    fn build(&self, params: &Map<String, Value>, context: &CcContext<'_>) -> Box<dyn CustomCc> {
        let rules = context.config.window_rules();
        let mss = u64::from(rules.mss);
        plugged(|py| {
            let (class, flow) = (Arc::clone(&self.0), context.flow.into());
            let (ssthresh, now) = (rules.initial_ssthresh, Time::ZERO);
            let mut new = PyCc { class, flow, object: None, mss, cwnd: mss, ssthresh, rate: None, now, failed: false };
            match self.make(py, params, context) {
                Ok(object) => new.object = Some(object.unbind()),
                Err(e) => new.fault("start", &error::traceback(py, &e), stopped(py, &e)),
            }
            new.call(None, "start", |_, _| Ok(()));
            Box::new(new) as Box<dyn CustomCc>
        })
    }

    fn scheme(&self) -> Scheme {
        self.0.scheme
    }
    fn ecn(&self) -> EcnMode {
        self.0.ecn
    }
}

/// Reads the attribute `field` of a class as a choice of a TCP parameter.
fn choice<T: serde::de::DeserializeOwned>(class: &Bound<'_, PyType>, field: &str) -> PyResult<T> {
    let word: String = class.getattr(field)?.extract()?;
    serde_json::from_value(word.clone().into()).map_err(|_| PyValueError::new_err(format!("unknown {field} {word:?}")))
}

/// Registers a congestion control written in Python: its name, one sentence, the JSON Schema of its parameters, and
/// `factory(params as JSON, TCP's window settings, random numbers)`, which returns an instance of `fairlane.CongestionControl`.
#[pyfunction]
pub(crate) fn register_cc(
    py: Python<'_>,
    name: &str,
    doc: &str,
    schema: &str,
    factory: Py<PyAny>,
    class: Bound<'_, PyType>,
) -> PyResult<()> {
    keep_thread_state();
    watch();
    let schema: Value = serde_json::from_str(schema).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let base = py.import("fairlane.own.cc")?.getattr("CongestionControl")?;
    let flag = |field: &str| class.getattr(field)?.is_truthy();
    let known = Class {
        name: name.into(),
        code: Code::named(&format!("congestion control `{name}`")),
        factory,
        scheme: choice(&class, "recovery")?,
        ecn: choice(&class, "ecn")?,
        wants: Wants {
            rate: flag("wants_rate")?,
            every_ack: flag("wants_every_ack")?,
            owns_recovery: flag("owns_recovery")?,
            pacing: flag("pacing")?,
            ect: if flag("ect1")? { Ecn::Ect1 } else { Ecn::NotEct },
            ..Wants::default()
        },
        has_rate: !class.getattr("pacing_rate")?.is(&base.getattr("pacing_rate")?),
    };
    register_cc_plugin(name, doc, schema, Arc::new(PyPlugin(Arc::new(known)))).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Loads a shared library and registers its `cc`, `queues`, `stacks` or `any` (`fairlane_cc.h`, `fairlane_queue.h`, `fairlane_stack.h`); returns the names.
#[pyfunction]
pub(crate) fn load_library(path: &str, wanted: &str) -> PyResult<Vec<String>> {
    let wanted = match wanted {
        "cc" => Wanted::Cc,
        "queues" => Wanted::Queues,
        "stacks" => Wanted::Stacks,
        _ => Wanted::Any,
    };
    fairlane_cabi::load(Path::new(path), wanted).map_err(|e| PyValueError::new_err(e.to_string()))
}
