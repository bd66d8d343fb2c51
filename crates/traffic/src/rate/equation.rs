//! TCP's throughput equation (RFC 5348 section 3.1), and its inverse (section 6.3.1).

/// Packets acknowledged by one TCP acknowledgment, b: 1 is the value section 3.1 sets.
const B: f64 = 1.0;
/// TCP's retransmission timeout in round trips: t_RTO = 4 R (section 3.1).
const T_RTO: f64 = 4.0;
/// Halvings of the interval in which the inverse is sought: more than the bits of a number, so the answer is exact to rounding. Section 6.3.1 asks for 5 %.
const HALVINGS: u32 = 60;

/// The denominator of the equation for a round trip of 1: R f(p) is the mean time between two packets.
fn f(p: f64) -> f64 {
    (2.0 * B * p / 3.0).sqrt() + T_RTO * (3.0 * (3.0 * B * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p))
}

/// Bytes a second that TCP would send with packets of `s` bytes, a round trip of `r` seconds and a loss event rate `p`.
pub(super) fn throughput(s: f64, r: f64, p: f64) -> f64 {
    s / (r * f(p))
}

/// The loss event rate at which TCP would send `x` bytes a second; 1 for any rate below what the equation gives there.
pub(super) fn loss_rate(s: f64, r: f64, x: f64) -> f64 {
    inverse(s / (r * x))
}

/// The p with f(p) = `wanted`.
pub(super) fn inverse(wanted: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if f(middle) < wanted { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: sqrt(2p/3) and 12 sqrt(3p/8) p (1 + 32 p^2).
    #[test]
    fn section_3_1_worked_numbers() {
        // p = 0.01: sqrt(1/150) = 0.0816497; 12 * sqrt(0.00375) * 0.01 * 1.0032 = 12 * 0.0612372 * 0.010032 = 0.0073720. 1000 B, 100 ms: 112,330 B/s.
        let x = throughput(1000.0, 0.1, 0.01);
        assert!((x - 112_330.0).abs() < 5.0, "{x}");
        // p = 0.0001: 0.00816497 + 12 * 0.00612372 * 0.0001 * 1.00000032 = 0.00817231: 122.36 packets a round trip.
        let x = throughput(1.0, 1.0, 0.0001);
        assert!((x - 122.364).abs() < 0.01, "{x}");
        // p = 0.1: 0.258199 + 12 * 0.193649 * 0.1 * 1.32 = 0.258199 + 0.306740 = 0.564939: 1.7701 packets a round trip.
        let x = throughput(1.0, 1.0, 0.1);
        assert!((x - 1.770_10).abs() < 0.0001, "{x}");
        // p = 1: 0.816497 + 12 * 0.612372 * 33 = 243.316: a packet in 243 round trips.
        let x = throughput(1.0, 1.0, 1.0);
        assert!((1.0 / x - 243.316).abs() < 0.001, "{x}");
    }

    #[test]
    fn the_inverse_gives_the_rate_back() {
        for p in [1e-8, 1e-4, 0.003, 0.01, 0.2, 0.9] {
            let found = loss_rate(1460.0, 0.07, throughput(1460.0, 0.07, p));
            assert!((found / p - 1.0).abs() < 1e-9, "{p} {found}");
        }
        // Section 6.3.1: half a packet a round trip is a loss event rate of 20.64 %.
        assert!((inverse(2.0) - 0.2064).abs() < 0.0001, "{}", inverse(2.0));
        assert_eq!(loss_rate(1000.0, 0.1, 0.0), 1.0);
        assert!(loss_rate(1000.0, 0.1, f64::INFINITY) < 1e-15);
    }
}
