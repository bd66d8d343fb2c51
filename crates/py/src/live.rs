//! `LiveLink`: a link of a scenario for real packets. Times are picoseconds.

use crate::resolved::Resolved;
use fairlane_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One direction of a link with its queue, for real IP packets in real time.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct LiveLink {
    /// Plug-in queues can be moved between threads but not shared: the lock makes sharing possible.
    inner: Mutex<fairlane_scenario::LiveLink>,
}

impl LiveLink {
    pub(crate) fn inner(&self) -> MutexGuard<'_, fairlane_scenario::LiveLink> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl LiveLink {
    #[new]
    #[pyo3(signature = (resolved, name, seed=1))]
    fn new(resolved: &Resolved, name: &str, seed: u64) -> PyResult<Self> {
        let forward = name.trim_end_matches(".reverse");
        for l in resolved.inner().link_directions().iter() {
            let what = match &l.wire {
                wire if l.name == name && !wire.down.is_empty() => "outages (`down`)",
                // Mappings follow the connections of both directions; a live link has one.
                wire if l.name.trim_end_matches(".reverse") == forward && wire.impairments.nat.is_some() => "a NAT (`nat`)",
                _ => continue,
            };
            return Err(PyValueError::new_err(format!("the link {name:?} has {what}, which a live link cannot have")));
        }
        match fairlane_scenario::LiveLink::new(resolved.inner(), name, seed) {
            Some(link) => Ok(Self { inner: Mutex::new(link) }),
            None => Err(PyValueError::new_err(format!("the scenario has no link {name:?}"))),
        }
    }
    /// Offers an IP packet.
    fn offer(&self, now: u64, packet: &[u8]) {
        self.inner().offer(Time::from_ps(now), packet);
    }
    /// Packets that have reached the far end, in order.
    fn take<'py>(&self, py: Python<'py>, now: u64) -> Vec<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        self.inner().take(Time::from_ps(now), |p| out.push(PyBytes::new(py, p)));
        out
    }
    /// Time of the next call of `take`; None if the link is empty.
    fn next(&self) -> Option<u64> {
        let at = self.inner().next();
        (at != Time::MAX).then(|| at.as_ps())
    }
    /// Counters: arrivals, departures, bytes, drops, marks, losses on the link and copies.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (c, out) = (self.inner().counters(), PyDict::new(py));
        let counters = [
            ("arrivals", c.arrivals),
            ("departures", c.departures),
            ("bytes", c.bytes),
            ("drops", c.drops),
            ("marks", c.marks),
            ("lost", c.lost),
            ("duplicates", c.duplicates),
        ];
        for (name, value) in counters {
            out.set_item(name, value)?;
        }
        Ok(out)
    }
    /// Mean number of queued packets between time zero and `now`.
    fn queue_mean(&self, now: u64) -> f64 {
        self.inner().queue_mean(Time::from_ps(now))
    }
}
