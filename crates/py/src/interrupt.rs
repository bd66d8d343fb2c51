//! Interrupts Python plug-ins that do not return: their thread gets a `KeyboardInterrupt`, which Ctrl-C raises in the main thread only.

use fairlane_scenario::run_number;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A thread that calls plug-ins. All fields change under the interpreter's lock only.
struct Seat {
    /// Python's identifier of the thread, and the same as C's `unsigned long`.
    thread: u64,
    number: Py<PyAny>,
    /// Set of runs that the thread executes.
    runs: AtomicU64,
    /// Depth of nested plug-in calls.
    depth: AtomicU32,
    /// True if an exception was sent to the thread.
    struck: AtomicBool,
}

static SEATS: Mutex<Vec<Weak<Seat>>> = Mutex::new(Vec::new());

thread_local! {
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
}

/// `PyThreadState_SetAsyncExc`, and its exception argument.
static SEND: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

fn send(py: Python<'_>) -> PyResult<&(Py<PyAny>, Py<PyAny>)> {
    SEND.get_or_try_init(py, || {
        let ctypes = py.import("ctypes")?;
        let function = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
        let exception = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
        Ok((function.unbind(), exception.unbind()))
    })
}

fn make(py: Python<'_>) -> PyResult<Arc<Seat>> {
    let thread: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
    let number = py.import("ctypes")?.getattr("c_ulong")?.call1((thread,))?.unbind();
    send(py)?;
    let (runs, depth, struck) = (AtomicU64::new(0), AtomicU32::new(0), AtomicBool::new(false));
    let seat = Arc::new(Seat { thread, number, runs, depth, struck });
    let mut seats = SEATS.lock().unwrap_or_else(PoisonError::into_inner);
    seats.retain(|s| s.strong_count() > 0);
    seats.push(Arc::downgrade(&seat));
    Ok(seat)
}

/// Calls the code of a plug-in.
pub(crate) fn plugged<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    Python::attach(|py| {
        SEAT.with(|cell| {
            if cell.get().is_none() {
                // Without a seat the code cannot be interrupted, but is still called.
                make(py).map_or_else(drop, |seat| drop(cell.set(seat)));
            }
            let Some(seat) = cell.get() else { return f(py) };
            seat.runs.store(run_number(), Ordering::Relaxed);
            seat.depth.fetch_add(1, Ordering::Relaxed);
            let answer = f(py);
            if seat.depth.fetch_sub(1, Ordering::Relaxed) == 1 && seat.struck.swap(false, Ordering::Relaxed) {
                spare(py, seat);
            }
            answer
        })
    })
}

/// True if the code was interrupted (Ctrl-C).
pub(crate) fn stopped(py: Python<'_>, e: &PyErr) -> bool {
    e.is_instance_of::<PyKeyboardInterrupt>(py)
}

/// Raises Ctrl-C again later, if it arrived in code whose failure has no consequence. An exception sent by `strike` is not repeated.
pub(crate) fn put_off(py: Python<'_>, e: &PyErr) {
    let sent = SEAT.with(|cell| cell.get().is_some_and(|s| s.struck.load(Ordering::Relaxed)));
    if stopped(py, e) && !sent {
        // Raises the signal in the main thread; there is no other way from here.
        let _ = py.import("_thread").and_then(|m| m.call_method0("interrupt_main"));
    }
}

/// Withdraws an exception that came too late. Calls C only, because other code would receive it.
#[cold]
fn spare(py: Python<'_>, seat: &Seat) {
    if let Ok((function, _)) = send(py) {
        // A failure here has consumed the exception.
        let _ = function.call1(py, (&seat.number, py.None()));
    }
}

/// Interrupts plug-ins that other threads are calling; returns their number.
fn strike(py: Python<'_>, whom: impl Fn(&Seat) -> bool) -> usize {
    let seats: Vec<Arc<Seat>> = {
        let seats = SEATS.lock().unwrap_or_else(PoisonError::into_inner);
        seats.iter().filter_map(Weak::upgrade).collect()
    };
    let Ok((function, exception)) = send(py) else { return 0 };
    let own = SEAT.with(|cell| cell.get().map(|s| s.thread));
    let met = seats.iter().filter(|s| Some(s.thread) != own && s.depth.load(Ordering::Relaxed) > 0 && whom(s));
    met.filter(|s| {
        s.struck.store(true, Ordering::Relaxed);
        function.call1(py, (&s.number, exception)).is_ok()
    })
    .count()
}

/// Interrupts the plug-ins of a set of runs.
pub(crate) fn interrupt_runs(py: Python<'_>, number: u64) -> usize {
    strike(py, |s| s.runs.load(Ordering::Relaxed) == number)
}

/// Raises KeyboardInterrupt in plug-ins that these threads are calling, given by `threading.get_ident`. Returns their number.
#[pyfunction]
pub(crate) fn interrupt(py: Python<'_>, threads: Vec<u64>) -> usize {
    strike(py, |s| threads.contains(&s.thread))
}
