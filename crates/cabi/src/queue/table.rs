//! The structs of `fairlane_queue.h`, and reading the tables of a library.

use crate::table::{MANY, begins, named, text};
use fairlane_units::{Len, parse_dur, parse_len, parse_rate};
use serde_json::{Map, Value, json};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// FAIRLANE_QUEUE_VERSION.
const VERSION: u32 = 1;
/// FAIRLANE_QUEUE_NONE.
pub(super) const NONE: u32 = u32::MAX;
/// FAIRLANE_QUEUE_NEVER.
pub(super) const NEVER: u64 = u64::MAX;
/// FAIRLANE_QUEUE_REORDERS.
const REORDERS: u32 = 1;

/// Bits of `fairlane_queue_packet.bits`.
pub(super) mod bits {
    pub(crate) const UDP: u8 = 1;
    pub(crate) const DATA: u8 = 2;
    pub(crate) const BACK: u8 = 4;
}

/// FAIRLANE_QUEUE_NUMBER and the other units of a parameter.
mod unit {
    pub(super) const NUMBER: u32 = 0;
    pub(super) const PACKETS: u32 = 1;
    pub(super) const BYTES: u32 = 2;
    pub(super) const TIME: u32 = 3;
    pub(super) const RATE: u32 = 4;
}

#[repr(C)]
struct Param {
    name: *const c_char,
    doc: *const c_char,
    value: *const c_char,
    min: f64,
    max: f64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ValueC {
    number: f64,
    whole: u64,
    unit: u32,
    reserved: u32,
}

#[repr(C)]
pub(super) struct SiteC {
    pub(super) rate: u64,
    pub(super) delay_ps: u64,
    pub(super) flows: *const *const c_char,
    pub(super) flow_count: u32,
    pub(super) reserved: u32,
}

#[repr(C)]
pub(super) struct PacketC {
    pub(super) arrived_ps: u64,
    pub(super) id: u32,
    pub(super) length: u32,
    pub(super) flow: u32,
    pub(super) dscp: u8,
    pub(super) ecn: u8,
    pub(super) bits: u8,
    pub(super) reserved: u8,
}

#[repr(C)]
pub(super) struct CxC {
    pub(super) now_ps: u64,
    pub(super) bytes: u64,
    pub(super) packets: u32,
    pub(super) reserved: u32,
    pub(super) host: *mut c_void,
    pub(super) drop: unsafe extern "C" fn(*mut CxC, u32, u32),
    pub(super) mark: unsafe extern "C" fn(*mut CxC, u32) -> c_int,
    pub(super) look: unsafe extern "C" fn(*mut CxC, u32, *mut PacketC),
    pub(super) random: unsafe extern "C" fn(*mut CxC) -> f64,
}

/// The functions of a discipline; a null pointer reads as `None`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Calls {
    pub(super) init: Option<unsafe extern "C" fn(*mut c_void, *const SiteC, *const ValueC) -> *const c_char>,
    pub(super) clone: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    pub(super) free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) enqueue: Option<unsafe extern "C" fn(*mut c_void, *const PacketC, *mut CxC)>,
    pub(super) dequeue: Option<unsafe extern "C" fn(*mut c_void, *mut CxC) -> u32>,
    pub(super) ready: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub(super) timer: Option<unsafe extern "C" fn(*mut c_void, *mut CxC) -> u64>,
    pub(super) gauge: Option<unsafe extern "C" fn(*const c_void, u32) -> f64>,
}

#[repr(C)]
pub(crate) struct Table {
    version: u32,
    size: u32,
    name: *const c_char,
    doc: *const c_char,
    params: *const Param,
    gauges: *const *const c_char,
    param_count: u32,
    gauge_count: u32,
    flags: u32,
    reserved: u32,
    state_size: usize,
    calls: Calls,
}

// The header says the same of its side.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<Param>() == 40
        && size_of::<ValueC>() == 24
        && size_of::<SiteC>() == 32
        && size_of::<PacketC>() == 24
        && size_of::<CxC>() == 64
        && size_of::<Table>() == 128
);

/// A parameter, as the table declares it.
struct Declared {
    name: String,
    doc: String,
    default: Value,
    /// Of a number.
    range: Option<(f64, f64)>,
}

/// A discipline of a library, read and checked.
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(super) reorders: bool,
    pub(super) state_size: usize,
    pub(super) gauges: Vec<&'static str>,
    pub(super) calls: Calls,
    params: Vec<Declared>,
}

impl Read {
    /// JSON Schema of its parameters.
    pub(crate) fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .params
            .iter()
            .map(|p| {
                let mut schema = json!({ "description": p.doc, "default": p.default });
                match p.default.as_str() {
                    Some(text) => (schema["type"], schema["format"]) = ("string".into(), format_of(text).into()),
                    None => schema["type"] = "number".into(),
                }
                for (key, bound) in p.range.into_iter().flat_map(|(low, high)| [("minimum", low), ("maximum", high)]) {
                    if bound.is_finite() {
                        schema[key] = bound.into();
                    }
                }
                (p.name.clone(), schema)
            })
            .collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    /// What was written in a scenario, in the order declared.
    pub(super) fn values(&self, params: &Map<String, Value>) -> Vec<ValueC> {
        self.params.iter().map(|p| value(params.get(&p.name).unwrap_or(&p.default))).collect()
    }
}

/// Of what kind a quantity is; empty if it is none.
fn format_of(text: &str) -> &'static str {
    if parse_rate(text).is_ok() {
        "fl-rate"
    } else if parse_dur(text).is_ok() {
        "fl-dur"
    } else if parse_len(text).is_ok() {
        "fl-len"
    } else {
        ""
    }
}

/// A value that has passed the schema.
fn value(written: &Value) -> ValueC {
    let whole = |whole: u64, unit: u32| ValueC { number: whole as f64, whole, unit, reserved: 0 };
    let Some(text) = written.as_str() else {
        return ValueC { number: written.as_f64().unwrap_or(0.0), whole: 0, unit: unit::NUMBER, reserved: 0 };
    };
    match (parse_rate(text), parse_dur(text), parse_len(text)) {
        (Ok(r), ..) => whole(r.as_bps(), unit::RATE),
        (_, Ok(d), _) => whole(d.as_ps(), unit::TIME),
        (.., Ok(Len::Bytes(n))) => whole(n, unit::BYTES),
        (.., Ok(Len::Packets(n))) => whole(n, unit::PACKETS),
        _ => whole(0, unit::NUMBER),
    }
}

/// Reads and checks a table.
pub(crate) fn read(at: *const Table) -> Result<Read, String> {
    begins(at, VERSION, "fairlane_queue.h", "fairlane_queue")?;
    // SAFETY: the table has at least the bytes of ours, as it says itself.
    let t = unsafe { ptr::read(at) };
    let name = named(t.name, t.state_size)?;
    let needed = [("enqueue", t.calls.enqueue.is_some()), ("dequeue", t.calls.dequeue.is_some())];
    let missing: Vec<&str> = needed.iter().filter(|n| !n.1).map(|n| n.0).collect();
    if !missing.is_empty() {
        return Err(format!("`{name}` has no {}: these must be there", missing.join(", no ")));
    }
    if t.flags & !REORDERS != 0 {
        return Err(format!("`{name}`: flags has bits that version {VERSION} does not know: {:#x}", t.flags & !REORDERS));
    }
    if t.param_count > MANY || (t.param_count != 0 && t.params.is_null()) {
        return Err(format!("`{name}`: param_count is {}, but params is NULL or that is more than {MANY}", t.param_count));
    }
    if t.gauge_count > MANY || (t.gauge_count != 0 && (t.gauges.is_null() || t.calls.gauge.is_none())) {
        return Err(format!("`{name}`: gauge_count is {}, but gauges or gauge is NULL or that is more than {MANY}", t.gauge_count));
    }
    // SAFETY: the table says that there are so many.
    let gauges: Vec<String> = (0..t.gauge_count as usize).map(|i| text(unsafe { ptr::read(t.gauges.add(i)) })).collect();
    if let Some(i) = gauges.iter().position(String::is_empty) {
        return Err(format!("`{name}`: gauge {i} has no name"));
    }
    let mut params = Vec::new();
    for i in 0..t.param_count as usize {
        // SAFETY: the table says that there are so many.
        let p = unsafe { ptr::read(t.params.add(i)) };
        let (of, written) = (text(p.name), text(p.value));
        let number = written.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let range = number.map(|_| if p.min == 0.0 && p.max == 0.0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (p.min, p.max) });
        let inside = |x: f64| range.is_some_and(|(low, high)| low <= x && x <= high);
        if of.is_empty() || !number.map_or(!format_of(&written).is_empty(), inside) {
            return Err(format!(
                "`{name}`: parameter {i} needs a name, and a default that is a number between min and max or a quantity such as \"50p\": \"{written}\""
            ));
        }
        let default = number.map_or_else(|| written.clone().into(), Value::from);
        params.push(Declared { name: of, doc: text(p.doc), default, range });
    }
    // Names of gauges are asked for as long as the process lives, and so does the library.
    let gauges = gauges.into_iter().map(|g| &*g.leak()).collect();
    let reorders = t.flags & REORDERS != 0;
    Ok(Read { name, doc: text(t.doc), reorders, state_size: t.state_size, gauges, calls: t.calls, params })
}
