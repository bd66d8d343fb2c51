//! Structs of `fairlane_queue.h`, and the reader of a library's tables.

use crate::table::{array, begins, holds, named, schema_of, text};
use fairlane_units::{Len, format_of, parse_dur, parse_len, parse_rate};
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

/// Functions of a discipline; a null pointer reads as `None`.
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

// The header asserts the same sizes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<Param>() == 40
        && size_of::<ValueC>() == 24
        && size_of::<SiteC>() == 32
        && size_of::<PacketC>() == 24
        && size_of::<CxC>() == 64
        && size_of::<Table>() == 128
);

/// A declared parameter.
struct Declared {
    name: String,
    doc: String,
    default: Value,
    /// Range of a number; infinite for other types.
    range: (f64, f64),
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
        let one = |p: &Declared| {
            let mut schema = json!({ "type": "number", "description": p.doc, "default": p.default });
            if let Some(format) = p.default.as_str().and_then(format_of) {
                (schema["type"], schema["format"]) = ("string".into(), format.into());
            }
            schema
        };
        schema_of(self.params.iter().map(|p| (p.name.clone(), one(p), p.range.0, p.range.1)))
    }

    /// Values of the parameters, in the order declared.
    pub(super) fn values(&self, params: &Map<String, Value>) -> Vec<ValueC> {
        self.params.iter().map(|p| value(params.get(&p.name).unwrap_or(&p.default))).collect()
    }
}

/// Converts a value that has passed the schema.
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
    // SAFETY: the table is at least as long as ours, by its own size field.
    let t = unsafe { ptr::read(at) };
    let name = named(t.name, t.state_size)?;
    let needed = [("enqueue", t.calls.enqueue.is_some()), ("dequeue", t.calls.dequeue.is_some())];
    holds(&name, &needed, t.flags, REORDERS, VERSION)?;
    let named = if t.calls.gauge.is_some() { t.gauges } else { ptr::null() };
    let gauges = array(&name, ("gauge", "gauges or gauge"), (named, t.gauge_count), |i, g| {
        Some(text(g)).filter(|g| !g.is_empty()).ok_or_else(|| format!("gauge {i} has no name"))
    })?;
    let params = array(&name, ("param", "params"), (t.params, t.param_count), |i, p: Param| {
        let (of, written) = (text(p.name), text(p.value));
        let number = written.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let free = number.is_none() || p.min == 0.0 && p.max == 0.0;
        let range = if free { (f64::NEG_INFINITY, f64::INFINITY) } else { (p.min, p.max) };
        if of.is_empty() || !number.map_or(format_of(&written).is_some(), |x| range.0 <= x && x <= range.1) {
            return Err(format!(
                "parameter {i} needs a name, and a default that is a number between min and max or a quantity such as \"50p\": \"{written}\""
            ));
        }
        Ok(Declared { name: of, doc: text(p.doc), default: number.map_or_else(|| written.into(), Value::from), range })
    })?;
    // Names of gauges are used as long as the process lives, and so does the library.
    let gauges = gauges.into_iter().map(|g| &*g.leak()).collect();
    let reorders = t.flags & REORDERS != 0;
    Ok(Read { name, doc: text(t.doc), reorders, state_size: t.state_size, gauges, calls: t.calls, params })
}
