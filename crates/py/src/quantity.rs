//! Quantities in parameters of plug-ins.

use fairlane_units::{Len, ParseError, format_of, parse_bytes, parse_dur, parse_len, parse_rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Kind of a quantity: `rate`, `dur` or `len`; None if the text is not a quantity.
#[pyfunction]
pub(crate) fn quantity_kind(text: &str) -> Option<&'static str> {
    format_of(text).map(|format| format.trim_start_matches("fl-"))
}

/// Value of a quantity: rates in bit/s, durations in seconds, sizes in bytes, lengths in packets (second value true) or bytes.
#[pyfunction]
pub(crate) fn quantity(kind: &str, text: &str) -> PyResult<(f64, bool)> {
    let bad = |e: ParseError| PyValueError::new_err(e.to_string());
    match kind {
        "rate" => parse_rate(text).map(|r| (r.as_bps() as f64, false)).map_err(bad),
        "dur" => parse_dur(text).map(|d| (d.as_secs_f64(), false)).map_err(bad),
        "bytes" => parse_bytes(text).map(|b| (b.get() as f64, false)).map_err(bad),
        "len" => match parse_len(text).map_err(bad)? {
            Len::Packets(n) => Ok((n as f64, true)),
            Len::Bytes(n) => Ok((n as f64, false)),
        },
        _ => Err(PyValueError::new_err(format!("unknown kind of quantity {kind:?}"))),
    }
}
