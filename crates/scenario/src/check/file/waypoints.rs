//! Path of a station: seconds, and metres to the east and to the north on each line.

use super::lines;
use fairlane_units::PS_PER_SEC;
use fairlane_units::{Dur, Time};
use fairlane_wireless::mobility::{Place, Track};

/// Largest coordinate in metres.
const FARTHEST: f64 = 1e9;
/// Largest time in seconds (1000 hours).
const LATEST: f64 = 3.6e6;

/// Parses three numbers per waypoint: picoseconds, and millimetres in two's complement. Words in the first line are column headings.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let mut values = Vec::new();
    for (i, line) in lines(bytes)? {
        let words: Vec<&str> = line.split([',', ';', ' ', '\t']).filter(|w| !w.is_empty()).collect();
        let numbers: Vec<f64> = words.iter().filter_map(|w| w.parse().ok()).collect();
        if values.is_empty() && i == 1 && numbers.is_empty() {
            continue;
        }
        let &[t, x, y] = &numbers[..] else {
            return Err(format!("line {i}: expected seconds, x and y in metres, found `{}`", line.escape_debug()));
        };
        if words.len() != 3 || !(0.0..=LATEST).contains(&t) || !(x.abs() <= FARTHEST && y.abs() <= FARTHEST) {
            return Err(format!("line {i}: `{}` is not a time from 0 to {LATEST} s with two coordinates", line.escape_debug()));
        }
        let place = Place::from_metres(x, y);
        values.extend([(libm::round(t * 1e9) as u64).saturating_mul(PS_PER_SEC / 1_000_000_000), place.x as u64, place.y as u64]);
    }
    Ok(values)
}

/// Checks that the waypoints form a path.
pub(super) fn check(values: &[u64]) -> Result<(), String> {
    Track::new(points(values).ok_or("a waypoint must have three numbers")?).map(|_| ()).map_err(|e| e.to_string())
}

/// Decodes waypoints.
pub(crate) fn points(values: &[u64]) -> Option<Vec<(Time, Place)>> {
    let point = |w: &[u64]| (Time::ZERO + Dur::from_ps(w[0]), Place { x: w[1] as i64, y: w[2] as i64 });
    values.len().is_multiple_of(3).then(|| values.chunks_exact(3).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_waypoints() {
        let text = b"time, x, y\n0, 0, -1.5 # here\n\n2.5 10 0\n";
        let values = read(text).unwrap();
        assert_eq!(values, [0, 0, (-1500_i64) as u64, 2_500_000_000_000, 10_000, 0]);
        assert!(check(&values).is_ok());
        assert_eq!(check(&read(b"1,0,0\n1,5,5\n").unwrap()), Err("waypoint 1 is not later than the one before it".to_owned()));
        for bad in ["0,1\n", "0,a,1\n", "-1,0,0\n", "0,nan,0\n", "0,inf,0\n", "1e9,0,0\n", "0,0,0,0\n", "0,0,0,x\n", "0,1e12,0\n"] {
            assert!(read(bad.as_bytes()).is_err_and(|e| e.starts_with("line 1")), "{bad}");
        }
    }
}
