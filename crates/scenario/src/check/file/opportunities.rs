//! Link traces in mahimahi's format (Netravali et al. 2015): one millisecond per line, in order. At each the link can carry one
//! full-size packet; several packets in one millisecond take several lines. The trace restarts at its last time.

/// Longest run; a later opportunity would never be used.
const LATEST_MS: u64 = 1000 * 3600 * 1000;

pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    super::numbers(bytes)
}

pub(super) fn check(trace: &[u64]) -> Result<(), String> {
    if let Some(i) = trace.windows(2).position(|w| w[1] < w[0]) {
        return Err(format!("opportunity {} at {} ms comes after one at {} ms: a trace must be in order", i + 2, trace[i + 1], trace[i]));
    }
    match trace.last() {
        Some(0) => Err("its last opportunity is at 0 ms, so the trace would restart for ever".to_owned()),
        Some(&last) if last > LATEST_MS => Err(format!("its last opportunity is at {last} ms, after the longest run (1000h)")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_in_order_and_take_time() {
        for (trace, what) in
            [(&[5, 3][..], "opportunity 2 at 3 ms comes after one at 5 ms"), (&[0, 0], "at 0 ms"), (&[LATEST_MS + 1], "longest run")]
        {
            let e = check(trace).unwrap_err();
            assert!(e.contains(what), "{e}");
        }
        assert_eq!(check(&read(b"# a trace\n0\n3\n3\n8\n").unwrap()), Ok(()));
    }
}
