//! `TcpEndpoint`: one end of a TCP connection, driven from Python. Times are picoseconds.

use crate::error;
use fairlane_net::{Block, Class, Cookie, Cx, Ecn, Endpoint, FastOpen, Out, Segment, TimerId, Timers, flag};
use fairlane_scenario::{RunError, take_fault};
use fairlane_tcp::{AnyCc, Tcp, TcpConfig, resolve_params};
use fairlane_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sequence number, acknowledgment, payload, flags, window, SACK blocks, timestamps, ECN, retransmission, length on the wire, Fast Open option.
type Wire = (u64, u64, u16, u16, u32, Vec<(u64, u64)>, Option<(u32, u32)>, u8, bool, u32, Option<Option34>);

/// A Fast Open option: the cookie, empty in a request, and true for the experimental form.
type Option34 = (Vec<u8>, bool);

/// Header bit that AccECN adds (AE, RFC 9768 section 3.1) to those of [`fairlane_net::flag`].
const AE: u16 = 0x100;

/// Limit of sequence numbers from Python, so that no sum overflows.
const SEQ_LIMIT: u64 = 1 << 62;

/// One end of a TCP connection; `fairlane.tcp.Endpoint` is its user-friendly form.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct TcpEndpoint {
    /// Plug-in algorithms can be moved between threads but not shared: the lock makes sharing possible.
    inner: Mutex<Inner>,
}

struct Inner {
    end: Tcp<AnyCc>,
    timers: Timers,
    delivered: u64,
    finished: bool,
}

impl TcpEndpoint {
    /// Makes one call and collects the segments to send.
    fn call(&self, py: Python<'_>, now: u64, f: impl FnOnce(&mut Tcp<AnyCc>, &mut Cx<'_>)) -> PyResult<Vec<Wire>> {
        let (mut inner, mut out) = (self.inner(), Vec::new());
        let inner = &mut *inner;
        let mut cx = Cx::new(Time::from_ps(now), &mut out, &mut inner.timers);
        f(&mut inner.end, &mut cx);
        inner.delivered += cx.delivered;
        inner.finished |= cx.finished;
        faultless(py)?;
        Ok(out.iter().map(to_wire).collect())
    }
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TcpEndpoint {
    #[new]
    fn new(py: Python<'_>, params: &str, passive: bool) -> PyResult<Self> {
        let params = serde_json::from_str(params).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let pair = resolve_params(params).and_then(|p| Tcp::pair(&p, Class::default()));
        let (active, other) = pair.map_err(|e| error::params(py, &e))?;
        faultless(py)?;
        let end = if passive { other } else { active };
        Ok(Self { inner: Mutex::new(Inner { end, timers: Timers::default(), delivered: 0, finished: false }) })
    }
    /// Applies the parameters negotiated by a handshake; returns false if it is too late.
    fn renegotiate(&self, py: Python<'_>, params: &str) -> PyResult<bool> {
        let params = serde_json::from_str(params).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let cfg = resolve_params(params).and_then(|p| Ok((TcpConfig::new(&p, Class::default())?, p)));
        let (cfg, params) = cfg.map_err(|e| error::params(py, &e))?;
        let cc = params.cc.build(cfg.congestion());
        Ok(self.inner().end.renegotiate(cfg, cc))
    }
    /// Keeps this end open after the peer's FIN.
    fn keep_open(&self) {
        self.inner().end.keep_open();
    }
    /// Ends the quick acknowledgments of the start.
    fn delay_acks(&self) {
        self.inner().end.delay_acks();
    }
    /// Holds back all segments to send, or releases them; arriving segments are processed as usual.
    fn hold(&self, py: Python<'_>, now: u64, held: bool) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| {
            if held {
                end.block();
            } else {
                end.hold(false, cx);
            }
        })
    }
    /// Sets the Fast Open cookie of a client, whose SYN carries at most `limit` bytes, or of a server, which requires it.
    #[pyo3(signature = (option, limit=None))]
    fn set_cookie(&self, option: Option<Option34>, limit: Option<u32>) -> PyResult<()> {
        let mut inner = self.inner();
        if let Some(option) = &option {
            inner.end.set_cookie(cookie(option)?);
        }
        if let Some(limit) = limit {
            inner.end.limit_syn_data(limit);
        }
        Ok(())
    }
    /// Sends the SYN again at once without data, because it was too long for the path.
    fn shorten_syn(&self, py: Python<'_>, now: u64) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| end.shorten_syn(cx))
    }
    /// Fast Open cookie received with the answer to the SYN.
    #[getter]
    fn cookie(&self) -> Option<Option34> {
        self.inner().end.new_cookie().map(option34)
    }
    /// Connects, or listens.
    fn start(&self, py: Python<'_>, now: u64) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| end.start(cx))
    }
    /// Processes an arriving segment.
    fn receive(&self, py: Python<'_>, now: u64, segment: Wire) -> PyResult<Vec<Wire>> {
        let segment = from_wire(&segment)?;
        self.call(py, now, |end, cx| end.on_packet(&segment, cx))
    }
    /// Runs expired timers.
    fn advance(&self, py: Python<'_>, now: u64) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| {
            while let Some(id) = cx.timers.take_due(cx.now) {
                end.on_timer(id, cx);
            }
        })
    }
    /// Writes application data.
    fn write(&self, py: Python<'_>, now: u64, bytes: u64, fin: bool) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| end.on_write(bytes.min(fairlane_net::ENDLESS), fin, cx))
    }
    /// Sends data that waits for a full burst.
    fn push(&self, py: Python<'_>, now: u64) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| end.push(cx))
    }
    /// Stops the application.
    fn stop(&self, py: Python<'_>, now: u64) -> PyResult<Vec<Wire>> {
        self.call(py, now, |end, cx| end.on_stop(cx))
    }
    /// Pending timers, by name.
    fn deadlines(&self) -> Vec<(&'static str, u64)> {
        let name = |id| match id {
            TimerId::Rto => "rto",
            TimerId::DelAck => "delack",
            TimerId::Pace => "pace",
            TimerId::Probe => "probe",
        };
        let timers = self.inner().timers;
        TimerId::ALL.into_iter().filter_map(|id| Some((name(id), timers.get(id)?.as_ps()))).collect()
    }
    /// Payload bytes handed to the application.
    #[getter]
    fn delivered(&self) -> u64 {
        self.inner().delivered
    }
    /// True if all written data is acknowledged.
    #[getter]
    fn finished(&self) -> bool {
        self.inner().finished
    }
    /// Counters and state; durations in seconds, an infinite threshold as `inf`.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner();
        let (v, out) = (inner.end.view(), PyDict::new(py));
        let counts = [
            ("data_segments", v.data_segments),
            ("retransmits", v.retransmits),
            ("data_bytes", v.data_bytes),
            ("retransmit_bytes", v.retransmit_bytes),
            ("timeouts", v.timeouts),
            ("fast_recoveries", v.fast_recoveries),
            ("cwnd_cuts", v.cwnd_cuts),
            ("dsacks", v.dsacks),
            ("ecn_cuts", v.ecn_cuts),
            ("ce_delivered", v.ce_delivered),
            ("ce_received", v.ce_received),
            ("acks", v.acks),
            ("acked", v.acked),
            ("cwnd", v.cwnd),
            ("in_flight", v.in_flight),
            ("mss", u64::from(v.mss)),
        ];
        for (name, value) in counts {
            out.set_item(name, value)?;
        }
        match v.ssthresh {
            u64::MAX => out.set_item("ssthresh", f64::INFINITY)?,
            bytes => out.set_item("ssthresh", bytes)?,
        }
        for (name, value) in [("srtt", v.srtt), ("rttvar", v.rttvar), ("rto", v.rto)] {
            out.set_item(name, value.as_secs_f64())?;
        }
        let i = inner.end.info();
        let segments = [
            ("unacked", i.unacked),
            ("sacked", i.sacked),
            ("lost", i.lost),
            ("retrans", i.retrans),
            ("backoff", i.backoff),
            ("in_a_row", i.retransmits),
            ("reordering", i.reordering),
            ("reord_seen", i.reorderings),
            ("probes", i.probes),
        ];
        for (name, value) in segments.into_iter().chain([("ca_state", i.ca_state as u32)]) {
            out.set_item(name, value)?;
        }
        if let Some(n) = i.delivered {
            out.set_item("delivered", n)?;
        }
        if let Some(least) = i.min_rtt {
            out.set_item("min_rtt", least.as_secs_f64())?;
        }
        let end = &inner.end;
        out.set_item("syn_data", end.syn_data())?;
        for (name, value) in [("early", end.is_early()), ("syn_data_acked", end.syn_data_acked())] {
            out.set_item(name, value)?;
        }
        out.set_item("state", i.state)?;
        out.set_item("ended", format!("{:?}", i.ended).to_lowercase())?;
        for (name, value) in [("established", i.established), ("peer_closed", i.peer_closed), ("fin_sent", i.fin_sent)] {
            out.set_item(name, value)?;
        }
        out.set_item("ts_recent", i.ts_recent)?;
        for (name, value) in [("window", i.window), ("una", i.una), ("nxt", i.nxt), ("rcv_nxt", i.rcv_nxt)] {
            out.set_item(name, value)?;
        }
        Ok(out)
    }
}

/// Raises the fault of the caller's own congestion control.
fn faultless(py: Python<'_>) -> PyResult<()> {
    take_fault().map_or(Ok(()), |fault| Err(error::run(py, &RunError::Plugin(fault))))
}

fn to_wire(out: &Out) -> Wire {
    let s = &out.seg;
    let sack = (0..s.sack_len()).map(|i| (s.sack(i).start, s.sack(i).end)).collect();
    let flags = u16::from(s.flags) | if s.ace() & 0b100 != 0 { AE } else { 0 };
    let fast_open = s.fast_open().map(option34);
    (s.seq, s.ack, s.payload, flags, s.wnd, sack, s.timestamps(), s.ecn() as u8, s.retransmission(), out.len, fast_open)
}

fn option34(o: FastOpen) -> Option34 {
    (o.cookie.as_slice().to_vec(), o.experimental)
}

fn cookie((bytes, experimental): &Option34) -> PyResult<FastOpen> {
    let cookie = Cookie::new(bytes);
    let said = || PyValueError::new_err("a Fast Open cookie has 4 to 16 bytes, an even number (RFC 7413 section 4.1.1)");
    Ok(FastOpen { cookie: cookie.ok_or_else(said)?, experimental: *experimental })
}

fn from_wire(wire: &Wire) -> PyResult<Segment> {
    let (seq, ack, payload, flags, wnd, sack, timestamps, ecn, again, _, fast_open) = wire;
    if *seq >= SEQ_LIMIT || *ack >= SEQ_LIMIT {
        return Err(PyValueError::new_err("a sequence number must be below 2^62"));
    }
    if *flags > 0xff | AE {
        return Err(PyValueError::new_err("the header bits must be those of Flag"));
    }
    let mut s = Segment::new(*seq, *ack, *flags as u8, *payload);
    s.set_ace((*flags >> 6) as u8);
    s.wnd = *wnd;
    s.set_ecn(match ecn {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => return Err(PyValueError::new_err("the ECN field must be 0 to 3")),
    });
    if let Some((value, echo)) = timestamps {
        s.set_timestamps(*value, *echo);
    }
    for &(start, end) in sack {
        let near = |edge: u64| edge.abs_diff(*ack) <= i32::MAX as u64;
        if start >= end || !near(start) || !near(end) {
            return Err(PyValueError::new_err("a SACK block must be (start, end) with start < end, within 2^31 of the acknowledgment"));
        }
        if !s.add_sack(Block { start, end }) {
            return Err(PyValueError::new_err("at most four SACK blocks fit, three with timestamps (RFC 2018 section 3)"));
        }
    }
    if let Some(option) = fast_open
        && s.has(flag::SYN)
    {
        s.set_fast_open(cookie(option)?);
    }
    if *again {
        s.set_retransmission();
    }
    Ok(s)
}
