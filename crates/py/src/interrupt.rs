//! Code of plug-ins in Python that does not come back: the thread that is in it gets a `KeyboardInterrupt`, as Ctrl-C gives one to the main thread alone.

use fairlane_scenario::run_number;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A thread that calls plug-ins. All of it changes under the interpreter's lock only.
struct Seat {
    /// Python's name of the thread, and the same as C's `unsigned long`.
    thread: u64,
    number: Py<PyAny>,
    /// The set of runs that it carries out.
    runs: AtomicU64,
    /// Calls of plug-ins that it is in, one within the other.
    depth: AtomicU32,
    /// True if an exception was sent to it.
    struck: AtomicBool,
}

static SEATS: Mutex<Vec<Weak<Seat>>> = Mutex::new(Vec::new());

thread_local! {
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
}

/// `PyThreadState_SetAsyncExc`, and the exception as it takes it.
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
                // Without a seat the code cannot be interrupted, which is no reason not to call it.
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

/// True if code was to stop (Ctrl-C).
pub(crate) fn stopped(py: Python<'_>, e: &PyErr) -> bool {
    e.is_instance_of::<PyKeyboardInterrupt>(py)
}

/// Lets Ctrl-C be heard later, which came where code that is tried fails without consequence. Who has sent the exception knows of it.
pub(crate) fn put_off(py: Python<'_>, e: &PyErr) {
    let sent = SEAT.with(|cell| cell.get().is_some_and(|s| s.struck.load(Ordering::Relaxed)));
    if stopped(py, e) && !sent {
        // The main thread hears of it as of the signal; there is no other way to say so from here.
        let _ = py.import("_thread").and_then(|m| m.call_method0("interrupt_main"));
    }
}

/// Takes an exception back that came too late. Calls of C alone: any other code would get it.
#[cold]
fn spare(py: Python<'_>, seat: &Seat) {
    if let Ok((function, _)) = send(py) {
        // What fails here has taken the exception with it.
        let _ = function.call1(py, (&seat.number, py.None()));
    }
}

/// Interrupts plug-ins that are being called now on other threads; returns how many.
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

/// Raises KeyboardInterrupt in the code of plug-ins that is being called now on these threads, given as `threading.get_ident` names them. Returns how many there are.
#[pyfunction]
pub(crate) fn interrupt(py: Python<'_>, threads: Vec<u64>) -> usize {
    strike(py, |s| threads.contains(&s.thread))
}
