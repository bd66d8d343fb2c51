//! Queue disciplines written in Python: calls from the simulator, and the operations of a queue.

use crate::error;
use crate::interrupt::{plugged, put_off, stopped};
use fairlane_cabi::{Code, running, watch};
use fairlane_engine::Stream;
use fairlane_net::{Backlog, BuildContext, DropReason, Packet, Proto, QCx, Qdisc};
use fairlane_queue::{Capabilities, Problem};
use fairlane_scenario::{DynQdisc, Fault, QueuePlugin, QueueSpec, fail};
use fairlane_units::{PS_PER_SEC, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet in a queue, read-only; `Qdisc.mark` and `Qdisc.drop` act on it.
#[pyclass(frozen, name = "Packet", module = "fairlane._core")]
pub(crate) struct PyPacket {
    pkt: Packet,
}

#[pymethods]
impl PyPacket {
    /// Number that is unique in the network at this time.
    #[getter]
    fn id(&self) -> u32 {
        self.pkt.id.0
    }
    /// Bytes on the wire.
    #[getter]
    fn length(&self) -> u32 {
        self.pkt.len
    }
    /// Number of its flow: index in `Qdisc.flows`.
    #[getter]
    fn flow(&self) -> u32 {
        self.pkt.flow.0
    }
    /// Differentiated services code point (RFC 2474).
    #[getter]
    fn dscp(&self) -> u8 {
        self.pkt.class.0
    }
    /// ECN field when it arrived: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced (RFC 3168 section 5).
    #[getter]
    fn ecn(&self) -> u8 {
        self.pkt.ecn as u8
    }
    /// `"tcp"` or `"udp"`.
    #[getter]
    fn protocol(&self) -> &'static str {
        match self.pkt.proto {
            Proto::Tcp => "tcp",
            Proto::Udp => "udp",
        }
    }
    /// True if it carries data; false for a pure acknowledgement, SYN or FIN.
    #[getter]
    fn data(&self) -> bool {
        self.pkt.data
    }
    /// True if it travels from the flow's receiver to its sender.
    #[getter]
    fn back(&self) -> bool {
        self.pkt.back
    }
    /// Time of arrival at this queue, in seconds.
    #[getter]
    fn arrived(&self) -> f64 {
        self.pkt.at.as_secs_f64()
    }
    fn __repr__(&self) -> String {
        format!("<Packet {} of flow {}, {} B>", self.pkt.id.0, self.pkt.flow.0, self.pkt.len)
    }
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    fn __deepcopy__(slf: Py<Self>, _memo: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// Actions of a queue during a call, and its context.
#[derive(Clone)]
struct State {
    now: Time,
    rng: Stream,
    backlog: Backlog,
    drops: Vec<(u32, DropReason)>,
    marks: Vec<u32>,
}

/// The simulator's side of a `fairlane.Qdisc`.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct QueueHandle {
    state: Mutex<State>,
}

impl QueueHandle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl QueueHandle {
    #[new]
    fn new() -> Self {
        let rng = Stream::new(0, "queue", "", "plug-in");
        Self { state: Mutex::new(State { now: Time::ZERO, rng, backlog: Backlog::default(), drops: Vec::new(), marks: Vec::new() }) }
    }
    /// Simulated time in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.state().now.as_secs_f64()
    }
    /// Queued packets.
    #[getter]
    fn packets(&self) -> u32 {
        self.state().backlog.pkts
    }
    /// Queued bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.state().backlog.bytes
    }
    /// Number from the queue's own random stream, uniform in [0, 1).
    fn random(&self) -> f64 {
        self.state().rng.uniform()
    }
    /// Drops a packet that was offered or is queued.
    fn drop(&self, packet: &PyPacket, why: &str) -> PyResult<()> {
        let known = || DropReason::ALL.iter().filter(|w| w.by_queue()).map(|w| w.name());
        let Some(reason) = DropReason::ALL.into_iter().find(|w| w.by_queue() && w.name() == why) else {
            let known: Vec<_> = known().collect();
            return Err(PyValueError::new_err(format!("unknown drop reason {why:?}: write one of {}", known.join(", "))));
        };
        let mut s = self.state();
        s.drops.push((packet.pkt.id.0, reason));
        s.backlog.sub(&packet.pkt);
        Ok(())
    }
    /// Marks a packet with congestion experienced.
    fn mark(&self, packet: &PyPacket) -> PyResult<()> {
        if !packet.pkt.ecn.capable() {
            return Err(PyValueError::new_err("this packet is not ECN-capable (packet.ecn is 0): drop it instead"));
        }
        self.state().marks.push(packet.pkt.id.0);
        Ok(())
    }
    fn __deepcopy__(&self, _memo: Py<PyAny>) -> Self {
        Self { state: Mutex::new(self.state().clone()) }
    }
}

/// Packets by their arena index, which stays small.
#[derive(Clone, Default)]
struct PacketSlots(Vec<Option<Packet>>);

impl PacketSlots {
    fn insert(&mut self, p: Packet) {
        let at = p.id.0 as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(p);
    }
    fn get_mut(&mut self, id: u32) -> Option<&mut Packet> {
        self.0.get_mut(id as usize)?.as_mut()
    }
    fn remove(&mut self, id: u32) -> Option<Packet> {
        self.0.get_mut(id as usize)?.take()
    }
}

/// An instance of a Python class as a queue discipline.
struct PyQdisc {
    name: Arc<str>,
    code: Code,
    queue: Py<PyAny>,
    handle: Option<Py<QueueHandle>>,
    packets: PacketSlots,
    backlog: Backlog,
    has_timer: bool,
    has_ready: bool,
    failed: bool,
}

impl fmt::Debug for PyQdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyQdisc").field("name", &self.name).field("backlog", &self.backlog).finish_non_exhaustive()
    }
}

impl Clone for PyQdisc {
    fn clone(&self) -> Self {
        plugged(|py| {
            let copied = py.import("copy").and_then(|m| m.getattr("deepcopy")?.call1((&self.queue,)));
            let mut new = Self {
                name: Arc::clone(&self.name),
                queue: self.queue.clone_ref(py),
                handle: None,
                packets: self.packets.clone(),
                failed: self.failed,
                ..*self
            };
            match copied.and_then(|q| Ok((handle_of(&q)?, q.unbind()))) {
                Ok((handle, queue)) => (new.handle, new.queue) = (Some(handle), queue),
                Err(e) => new.fault(py, Time::ZERO, &e),
            }
            new
        })
    }
}

fn handle_of(queue: &Bound<'_, PyAny>) -> PyResult<Py<QueueHandle>> {
    Ok(queue.getattr("_handle")?.cast_into::<QueueHandle>()?.unbind())
}

/// Seconds as simulated time; negative values and NaN are errors.
fn seconds(t: f64) -> PyResult<Time> {
    let ps = t * PS_PER_SEC as f64 + 0.5;
    if ps.is_finite() && (0.0..u64::MAX as f64 / 2.0).contains(&ps) {
        Ok(Time::from_ps(ps as u64))
    } else {
        Err(PyValueError::new_err(format!("{t} is not a time in seconds")))
    }
}

impl PyQdisc {
    fn fault(&mut self, py: Python<'_>, now: Time, e: &PyErr) {
        self.failed = true;
        let text = error::traceback(py, e);
        let interrupted = stopped(py, e);
        fail(Fault { what: "queue", time: now, message: format!("queue `{}`:\n{}", self.name, text), interrupted });
    }

    /// Calls a method and carries out its actions. After a failure the queue is empty and takes no packets.
    fn call<R>(&mut self, cx: &mut QCx<'_>, f: impl FnOnce(&mut Self, Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.failed {
            return None;
        }
        plugged(|py| {
            let Some(handle) = self.handle.as_ref().map(|h| h.clone_ref(py)) else {
                self.failed = true;
                return None;
            };
            let handle = handle.get();
            {
                let mut s = handle.state();
                s.now = cx.now;
                s.rng.clone_from(cx.rng);
                s.backlog = self.backlog;
            }
            let running = running(self.code);
            let answer = f(self, py);
            drop(running);
            let (drops, marks) = {
                let mut s = handle.state();
                cx.rng.clone_from(&s.rng);
                (std::mem::take(&mut s.drops), std::mem::take(&mut s.marks))
            };
            let answer = answer.and_then(|r| {
                for id in marks {
                    let p = self.packets.get_mut(id).ok_or_else(|| PyRuntimeError::new_err(NOT_HELD))?;
                    cx.mark(p);
                }
                for (id, why) in drops {
                    let p = self.packets.remove(id).ok_or_else(|| PyRuntimeError::new_err(NOT_HELD))?;
                    self.backlog.sub(&p);
                    cx.drop(p, why);
                }
                Ok(r)
            });
            match answer {
                Ok(r) => Some(r),
                Err(e) => {
                    self.fault(py, cx.now, &e);
                    self.abandon(cx);
                    None
                }
            }
        })
    }

    /// Releases every packet, in the order of their numbers, so that counters stay consistent.
    fn abandon(&mut self, cx: &mut QCx<'_>) {
        self.backlog = Backlog::default();
        self.packets.0.drain(..).flatten().for_each(|p| cx.drop(p, DropReason::Overflow));
    }
}

const NOT_HELD: &str = "the packet is not in the queue: send or drop each packet once";

impl Qdisc for PyQdisc {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        if self.failed {
            return cx.drop(p, DropReason::Overflow);
        }
        self.packets.insert(p);
        self.backlog.add(&p);
        self.call(cx, |q, py| {
            let packet = Py::new(py, PyPacket { pkt: p })?;
            q.queue.call_method1(py, intern!(py, "enqueue"), (packet,)).map(drop)
        });
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        // Drops and marks of the call are carried out after it, so the packet to send is looked up last.
        let chosen = self.call(cx, |q, py| {
            let answer = q.queue.call_method0(py, intern!(py, "dequeue"))?;
            let answer = answer.bind(py);
            Ok(if answer.is_none() { None } else { Some(answer.cast::<PyPacket>()?.get().pkt.id.0) })
        })?;
        let now = cx.now;
        match chosen {
            Some(id) => {
                let sent = self.packets.remove(id);
                if let Some(p) = &sent {
                    self.backlog.sub(p);
                } else {
                    self.call(cx, |_, _| Err::<(), _>(PyRuntimeError::new_err(NOT_HELD)));
                }
                sent
            }
            None if self.backlog.pkts > 0 && self.ready_at().is_none_or(|t| t <= now) => {
                let n = self.backlog.pkts;
                self.call(cx, |_, _| {
                    let text =
                        format!("dequeue() returned no packet although {n} packets wait: a shaper returns its next send time in ready()");
                    Err::<(), _>(PyRuntimeError::new_err(text))
                });
                None
            }
            None => None,
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn ready_at(&self) -> Option<Time> {
        if !self.has_ready || self.failed {
            return None;
        }
        plugged(|py| {
            let _running = running(self.code);
            let answer =
                self.queue.call_method0(py, intern!(py, "ready")).and_then(|t| t.extract::<Option<f64>>(py)?.map(seconds).transpose());
            answer.unwrap_or_else(|e| {
                let (message, interrupted) = (format!("queue `{}`: ready(): {e}", self.name), stopped(py, &e));
                fail(Fault { what: "queue", time: Time::ZERO, message, interrupted });
                None
            })
        })
    }

    fn has_timer(&self) -> bool {
        self.has_timer
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let now = cx.now;
        self.call(cx, |q, py| {
            let next = q.queue.call_method0(py, intern!(py, "timer"))?.extract::<Option<f64>>(py)?.map(seconds).transpose()?;
            match next {
                Some(t) if t <= now => {
                    let text = format!("timer() returned {}, which is not later than now", t.since(Time::ZERO));
                    Err(PyValueError::new_err(text))
                }
                _ => Ok(next),
            }
        })?
    }
}

/// A Python class that makes queues.
struct PyPlugin {
    name: Arc<str>,
    code: Code,
    /// Called with the parameters as JSON, the link and the flows; returns the instance.
    factory: Py<PyAny>,
    has_timer: bool,
    has_ready: bool,
    reorders: bool,
}

impl PyPlugin {
    fn make(&self, py: Python<'_>, params: &Map<String, Value>, context: &BuildContext<'_>) -> PyResult<(Py<PyAny>, Py<QueueHandle>)> {
        let link = PyDict::new(py);
        link.set_item("rate", context.link.rate.as_bps() as f64)?;
        link.set_item("delay", context.link.delay.as_secs_f64())?;
        let flows: Vec<&str> = context.flows().iter().map(|f| f.name).collect();
        let _running = running(self.code);
        let queue = self.factory.bind(py).call1((Value::Object(params.clone()).to_string(), link, flows))?;
        Ok((queue.clone().unbind(), handle_of(&queue)?))
    }
}

impl QueuePlugin for PyPlugin {
    fn check(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Result<(), Problem> {
        // Creating an instance is the check: `start` may refuse inconsistent parameters.
        plugged(|py| match self.make(py, params, context) {
            Err(e) if e.is_instance_of::<PyValueError>(py) => Err(Problem::new("", e.value(py).to_string())),
            Err(e) => {
                put_off(py, &e);
                Ok(())
            }
            Ok(_) => Ok(()),
        })
    }

    fn build(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Box<dyn DynQdisc> {
        plugged(|py| {
            let (made, error) = match self.make(py, params, context) {
                Ok(made) => (Some(made), None),
                Err(e) => (None, Some(e)),
            };
            let (queue, handle) = made.map_or((py.None(), None), |(q, h)| (q, Some(h)));
            let (has_timer, has_ready) = (self.has_timer, self.has_ready);
            let (name, code) = (Arc::clone(&self.name), self.code);
            let (packets, backlog) = (PacketSlots::default(), Backlog::default());
            let mut q = PyQdisc { name, code, queue, handle, packets, backlog, has_timer, has_ready, failed: false };
            if let Some(e) = error {
                q.fault(py, Time::ZERO, &e);
            }
            Box::new(q)
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { shapes: self.has_ready, reorders: self.reorders, recolours: false }
    }
}

/// Keeps the interpreter's thread state during runs. Otherwise every plug-in call would create and destroy one.
pub(crate) fn keep_thread_state() {
    fairlane_scenario::around_runs(|work| Python::attach(|py| py.detach(work)));
}

/// Registers a queue written in Python: its name, one sentence, the JSON Schema of its parameters, and
/// `factory(params as JSON, link, flow names)`, which returns an instance of `fairlane.Qdisc`.
#[pyfunction]
pub(crate) fn register_queue(
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
    let base = py.import("fairlane.own.plugin")?.getattr("Qdisc")?;
    let overrides = |method: &str| -> PyResult<bool> { Ok(!class.getattr(method)?.is(&base.getattr(method)?)) };
    let plugin = PyPlugin {
        name: name.into(),
        code: Code::named(&format!("queue `{name}`")),
        factory,
        has_timer: overrides("timer")?,
        has_ready: overrides("ready")?,
        reorders: class.getattr("reorders")?.is_truthy()?,
    };
    fairlane_scenario::register_queue(name, doc, schema, Arc::new(plugin)).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Cost of one enqueue and one dequeue of a built-in queue with its defaults: nanoseconds, packets offered, packets dropped.
#[pyfunction]
#[pyo3(signature = (name, packets=1_000_000, seed=1))]
pub(crate) fn bench_queue<'py>(py: Python<'py>, name: &str, packets: u64, seed: u64) -> PyResult<Bound<'py, PyDict>> {
    let Some(spec) = QueueSpec::all().into_iter().find(|s| s.name() == name) else {
        return Err(PyValueError::new_err(format!("unknown queue {name:?}")));
    };
    let cost = py.detach(|| fairlane_scenario::bench_queue(&spec, packets, seed));
    let out = PyDict::new(py);
    out.set_item("ns", cost.ns)?;
    out.set_item("packets", cost.packets)?;
    out.set_item("drops", cost.drops)?;
    Ok(out)
}

/// Every registered queue and congestion control, as a JSON list: kind, name, doc, schema.
#[pyfunction]
pub(crate) fn plugins() -> String {
    let list = fairlane_scenario::plugins();
    let list =
        list.into_iter().map(|(kind, name, doc, schema)| serde_json::json!({ "kind": kind, "name": name, "doc": doc, "schema": schema }));
    Value::Array(list.collect()).to_string()
}
