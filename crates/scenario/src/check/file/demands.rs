//! Traffic matrices, stored as the bytes of their text.

use crate::traffic_matrix;

/// Bytes of a text that is a valid matrix.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    traffic_matrix::demands(text)?;
    Ok(bytes.iter().map(|&b| u64::from(b)).collect())
}

pub(super) fn check(values: &[u64]) -> Result<(), String> {
    traffic_matrix::demands(&text(values)).map(|_| ())
}

/// Text of a stored matrix.
pub(crate) fn text(values: &[u64]) -> String {
    String::from_utf8_lossy(&values.iter().map(|&v| u8::try_from(v).unwrap_or(b'?')).collect::<Vec<u8>>()).into_owned()
}
