//! Structs of `fairlane_cc.h`, and the reader of a library's tables, shared with `fairlane_queue.h`.

use fairlane_tcp::{EcnMode, Scheme};
use serde_json::{Map, Value, json};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr;

/// FAIRLANE_CC_VERSION.
pub(crate) const VERSION: u32 = 1;
/// FAIRLANE_CC_NONE.
pub(crate) const NONE: u64 = u64::MAX;

/// Most tables of a library, and most parameters of an algorithm: more is taken for a mistake.
const MANY: u32 = 256;
/// Largest state of a flow.
const LARGEST_STATE: usize = 1 << 30;

/// Bits of `fairlane_cc.flags`.
pub(crate) mod flags {
    pub(crate) const RATE: u32 = 1;
    pub(crate) const EVERY_ACK: u32 = 2;
    pub(crate) const PACING: u32 = 4;
    pub(crate) const ECT1: u32 = 8;
    pub(crate) const OWNS_RECOVERY: u32 = 16;
    pub(crate) const ALL: u32 = 31;
}

#[repr(C)]
pub(crate) struct Param {
    name: *const c_char,
    doc: *const c_char,
    value: f64,
    min: f64,
    max: f64,
}

#[repr(C)]
pub(crate) struct Config {
    pub(crate) mss: u32,
    pub(crate) byte_counting: u32,
    pub(crate) cwnd_validation: u32,
    pub(crate) loss_basis: u32,
    pub(crate) initial_ssthresh: u64,
    pub(crate) send_window: u64,
    pub(crate) seed: u64,
    pub(crate) flow: *const c_char,
}

#[repr(C)]
pub(crate) struct RateC {
    pub(crate) delivered: u64,
    pub(crate) interval_ns: u64,
    pub(crate) rate: u64,
    pub(crate) prior_delivered: u64,
    pub(crate) tx_in_flight: u64,
    pub(crate) lost: u64,
    pub(crate) delivered_ce: u64,
    pub(crate) newly_delivered: u64,
    pub(crate) newly_lost: u64,
    pub(crate) app_limited: u32,
    pub(crate) reserved: u32,
}

#[repr(C)]
pub(crate) struct AckC {
    pub(crate) now_ns: u64,
    pub(crate) acked: u64,
    pub(crate) sacked: u64,
    pub(crate) in_flight: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) ce_bytes: u64,
    pub(crate) round: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) srtt_ns: u64,
    pub(crate) min_rtt_ns: u64,
    pub(crate) one_way_ns: u64,
    pub(crate) rate: *const RateC,
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

#[repr(C)]
pub(crate) struct EventC {
    pub(crate) now_ns: u64,
    pub(crate) flight: u64,
    pub(crate) kind: u32,
    pub(crate) repeated: u32,
}

#[repr(C)]
pub(crate) struct RecoveryC {
    pub(crate) now_ns: u64,
    pub(crate) bound: u64,
    pub(crate) deflated: u64,
    pub(crate) to_ssthresh: u32,
    pub(crate) reserved: u32,
}

#[repr(C)]
pub(crate) struct LostC {
    pub(crate) now_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) tx_in_flight: u64,
    pub(crate) lost: u64,
    pub(crate) app_limited: u32,
    pub(crate) reserved: u32,
}

/// Functions of an algorithm; a null pointer reads as `None`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Calls {
    pub(crate) init: Option<unsafe extern "C" fn(*mut c_void, *const Config, *const f64) -> *const c_char>,
    pub(crate) clone: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    pub(crate) free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) on_established: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub(crate) on_ack: Option<unsafe extern "C" fn(*mut c_void, *const AckC)>,
    pub(crate) on_congestion: Option<unsafe extern "C" fn(*mut c_void, *const EventC)>,
    pub(crate) on_recovery_exit: Option<unsafe extern "C" fn(*mut c_void, *const RecoveryC)>,
    pub(crate) on_idle_restart: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub(crate) on_syn_loss: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    pub(crate) on_sent: Option<unsafe extern "C" fn(*mut c_void, u64, u64, u64)>,
    pub(crate) on_lost: Option<unsafe extern "C" fn(*mut c_void, *const LostC)>,
    pub(crate) settle: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) undo: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) cwnd: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub(crate) ssthresh: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub(crate) pacing_rate: Option<unsafe extern "C" fn(*const c_void) -> u64>,
}

#[repr(C)]
pub(crate) struct Table {
    version: u32,
    size: u32,
    name: *const c_char,
    doc: *const c_char,
    recovery: *const c_char,
    ecn: *const c_char,
    params: *const Param,
    param_count: u32,
    flags: u32,
    state_size: usize,
    calls: Calls,
}

// The header asserts the same sizes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<Param>() == 40
        && size_of::<Config>() == 48
        && size_of::<RateC>() == 80
        && size_of::<AckC>() == 112
        && size_of::<EventC>() == 24
        && size_of::<RecoveryC>() == 32
        && size_of::<LostC>() == 40
        && size_of::<Table>() == 192
);

/// Why a library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("plug-in file \"{0}\" not found")]
    Missing(String),
    /// The system refuses to load it.
    #[error("cannot load the shared library \"{0}\": {1}")]
    Open(String, String),
    /// It is not a fairlane library.
    #[error("\"{0}\" has no function {1}")]
    Symbol(String, &'static str),
    /// A table violates the rules of the header.
    #[error("\"{0}\": {1}")]
    Table(String, String),
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    doc: String,
    pub(crate) value: f64,
    min: f64,
    max: f64,
}

/// An algorithm of a library, read and checked.
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) scheme: Scheme,
    pub(crate) ecn: EcnMode,
    pub(crate) flags: u32,
    pub(crate) state_size: usize,
    pub(crate) params: Vec<Declared>,
    pub(crate) calls: Calls,
}

impl Declared {
    /// Name, JSON Schema, and bounds.
    pub(crate) fn with_schema(&self) -> (String, Value, f64, f64) {
        (self.name.clone(), json!({ "type": "number", "description": self.doc, "default": self.value }), self.min, self.max)
    }
}

impl Read {
    /// JSON Schema of its parameters.
    pub(crate) fn schema(&self) -> Value {
        schema_of(self.params.iter().map(Declared::with_schema))
    }
}

/// Reads and checks parameter number `i`.
pub(crate) fn declared(i: usize, p: Param) -> Result<Declared, String> {
    let p = Declared { name: text(p.name), doc: text(p.doc), value: p.value, min: p.min, max: p.max };
    if p.name.is_empty() || !p.value.is_finite() || p.value < p.min || p.value > p.max || p.min.is_nan() || p.max.is_nan() {
        return Err(format!("parameter {i} needs a name and a finite default between min and max"));
    }
    Ok(p)
}

/// Text of a library; empty for a null pointer.
pub(crate) fn text(p: *const c_char) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: the header requires strings that end in 0 and live as long as the library.
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}

/// Opens a library. It is never closed, because its code may be called as long as the process lives.
pub(crate) fn open(path: &Path, shown: &str) -> Result<&'static libloading::Library, LoadError> {
    // SAFETY: the library's initialisers run. A user who names a plug-in wants its code to run.
    let lib = unsafe { libloading::Library::new(path) }.map_err(|e| LoadError::Open(shown.to_owned(), e.to_string()))?;
    Ok(Box::leak(Box::new(lib)))
}

/// Reads every table returned by the function of this name; None if the library has no such function.
///
/// `T` is the table of that header, and `read` reads and checks one.
pub(crate) fn tables<T, R>(
    lib: &'static libloading::Library,
    shown: &str,
    symbol: &str,
    holds: &str,
    read: impl Fn(*const T) -> Result<R, String>,
) -> Result<Option<Vec<R>>, LoadError> {
    // SAFETY: the header defines the type of this symbol.
    let Ok(get) = (unsafe { lib.get::<unsafe extern "C" fn(u32) -> *const T>(symbol.as_bytes()) }) else {
        return Ok(None);
    };
    let wrong = |m: String| LoadError::Table(shown.to_owned(), m);
    let mut found = Vec::new();
    for index in 0..=MANY {
        // SAFETY: the function accepts any index.
        let table = unsafe { get(index) };
        if table.is_null() {
            break;
        }
        if index == MANY {
            return Err(wrong(format!("{symbol} never returns NULL: it must do so after at most {MANY} tables")));
        }
        found.push(read(table).map_err(|m| wrong(format!("table {index}: {m}")))?);
    }
    if found.is_empty() {
        return Err(wrong(format!("{symbol}(0) is NULL: the library has no {holds}")));
    }
    Ok(Some(found))
}

/// Checks the start of a table: its version and size.
pub(crate) fn begins<T>(at: *const T, version: u32, header: &str, kind: &str) -> Result<(), String> {
    // SAFETY: every version of a table begins with these two numbers.
    let [v, size] = unsafe { ptr::read(at.cast::<[u32; 2]>()) };
    if v != version {
        return Err(format!("it uses version {v} of {header}, this fairlane needs version {version}: compile it again"));
    }
    let least = size_of::<T>();
    if (size as usize) < least {
        return Err(format!("its size is {size}, version {version} has {least} bytes: write .size = sizeof(struct {kind})"));
    }
    Ok(())
}

/// Checks the required name and state size.
pub(crate) fn named(name: *const c_char, state_size: usize) -> Result<String, String> {
    let name = text(name);
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    if state_size == 0 || state_size > LARGEST_STATE {
        return Err(format!("`{name}`: state_size is {state_size}, it must be 1 to {LARGEST_STATE}"));
    }
    Ok(name)
}

/// Checks required functions and the known bits of `flags`.
pub(crate) fn holds(name: &str, needed: &[(&str, bool)], flags: u32, known: u32, version: u32) -> Result<(), String> {
    let missing: Vec<&str> = needed.iter().filter(|n| !n.1).map(|n| n.0).collect();
    if !missing.is_empty() {
        return Err(format!("`{name}` has no {}: these are required", missing.join(", no ")));
    }
    if flags & !known != 0 {
        return Err(format!("`{name}`: flags has bits unknown to version {version}: {:#x}", flags & !known));
    }
    Ok(())
}

/// Reads an array of a table; an error if its length is impossible. `what` is its name, `read` reads one element.
pub(crate) fn array<T, R>(
    name: &str,
    (what, fields): (&str, &str),
    (at, count): (*const T, u32),
    read: impl Fn(usize, T) -> Result<R, String>,
) -> Result<Vec<R>, String> {
    if count > MANY || (count != 0 && at.is_null()) {
        return Err(format!("`{name}`: {what}_count is {count}, but {fields} is NULL or that is more than {MANY}"));
    }
    // SAFETY: the table states this length.
    (0..count as usize).map(|i| read(i, unsafe { ptr::read(at.add(i)) }).map_err(|m| format!("`{name}`: {m}"))).collect()
}

/// JSON Schema of parameters, given by name, schema, and bounds, which are left out where infinite.
pub(crate) fn schema_of(params: impl Iterator<Item = (String, Value, f64, f64)>) -> Value {
    let properties: Map<String, Value> = params
        .map(|(name, mut schema, min, max)| {
            for (key, bound) in [("minimum", min), ("maximum", max)] {
                if bound.is_finite() {
                    schema[key] = bound.into();
                }
            }
            (name, schema)
        })
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Reads and checks a table.
pub(crate) fn read(at: *const Table) -> Result<Read, String> {
    begins(at, VERSION, "fairlane_cc.h", "fairlane_cc")?;
    // SAFETY: the table is at least as long as ours, by its own size field.
    let t = unsafe { ptr::read(at) };
    let name = named(t.name, t.state_size)?;
    let needed = [
        ("on_established", t.calls.on_established.is_some()),
        ("on_ack", t.calls.on_ack.is_some()),
        ("on_congestion", t.calls.on_congestion.is_some()),
        ("cwnd", t.calls.cwnd.is_some()),
    ];
    holds(&name, &needed, t.flags, flags::ALL, VERSION)?;
    let choice =
        |field: &str, value: String, or: &str| if value.is_empty() { (field.to_owned(), or.to_owned()) } else { (field.to_owned(), value) };
    let (field, word) = choice("recovery", text(t.recovery), "sack");
    let scheme: Scheme = serde_json::from_value(word.clone().into()).map_err(|_| format!("`{name}`: unknown {field} \"{word}\""))?;
    let (field, word) = choice("ecn", text(t.ecn), "off");
    let ecn: EcnMode = serde_json::from_value(word.clone().into()).map_err(|_| format!("`{name}`: unknown {field} \"{word}\""))?;
    let params = array(&name, ("param", "params"), (t.params, t.param_count), declared)?;
    Ok(Read { name, doc: text(t.doc), scheme, ecn, flags: t.flags, state_size: t.state_size, params, calls: t.calls })
}
