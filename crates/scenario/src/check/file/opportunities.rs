//! Traces of links as mahimahi has them (Netravali et al. 2015): a millisecond on each line, in order, at each of which the link can carry a
//! packet of full size; several in one millisecond are several lines. The trace begins anew at its last time.

/// The longest run: a later opportunity would never come.
const LATEST_MS: u64 = 1000 * 3600 * 1000;

pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    super::numbers(bytes)
}

pub(super) fn check(trace: &[u64]) -> Result<(), String> {
    if let Some(i) = trace.windows(2).position(|w| w[1] < w[0]) {
        return Err(format!("opportunity {} at {} ms comes after one at {} ms: a trace is in order", i + 2, trace[i + 1], trace[i]));
    }
    match trace.last() {
        Some(0) => Err("its last opportunity is at 0 ms, where the trace would begin anew without end".to_owned()),
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
