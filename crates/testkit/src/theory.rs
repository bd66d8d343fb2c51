//! Queueing formulas to compare runs with (Kleinrock, Queueing Systems volume 1, chapters 3 and 5).
//!
//! `rho` is the offered load: arrival rate times mean service time. "Waiting" excludes the packet in service.

/// M/M/1: mean number waiting, rho^2 / (1 - rho).
pub fn mm1_waiting(rho: f64) -> f64 {
    rho * rho / (1.0 - rho)
}

/// M/M/1: mean time before service begins, in mean service times.
pub fn mm1_wait(rho: f64) -> f64 {
    rho / (1.0 - rho)
}

/// M/G/1 (Pollaczek and Khinchine): mean number waiting; `cv2` is the squared coefficient of variation of the service time.
pub fn mg1_waiting(rho: f64, cv2: f64) -> f64 {
    rho * rho * (1.0 + cv2) / (2.0 * (1.0 - rho))
}

/// M/D/1: mean number waiting.
pub fn md1_waiting(rho: f64) -> f64 {
    mg1_waiting(rho, 0.0)
}

/// M/D/1: mean time before service begins, in service times.
pub fn md1_wait(rho: f64) -> f64 {
    rho / (2.0 * (1.0 - rho))
}

/// M/M/1/K: probability of `n` packets in the system, of which one in service, when at most `k` may be.
pub fn mm1k_state(rho: f64, k: u32, n: u32) -> f64 {
    let sum: f64 = (0..=k).map(|i| rho.powi(i as i32)).sum();
    if n > k { 0.0 } else { rho.powi(n as i32) / sum }
}

/// M/M/1/K: share of arrivals that are lost.
pub fn mm1k_loss(rho: f64, k: u32) -> f64 {
    mm1k_state(rho, k, k)
}

/// M/M/1/K: mean number waiting.
pub fn mm1k_waiting(rho: f64, k: u32) -> f64 {
    (2..=k).map(|n| f64::from(n - 1) * mm1k_state(rho, k, n)).sum()
}

/// M/M/1/K: mean time before service begins of the packets that are admitted, in mean service times (Little's law).
pub fn mm1k_wait(rho: f64, k: u32) -> f64 {
    mm1k_waiting(rho, k) / (rho * (1.0 - mm1k_loss(rho, k)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn known_values() {
        close(mm1_waiting(0.5), 0.5);
        close(mm1_waiting(0.8), 3.2);
        close(md1_waiting(0.8), 1.6);
        close(mg1_waiting(0.8, 1.0), mm1_waiting(0.8));
        // Little's law: number waiting = rate * wait, the rate being rho a service time.
        close(mm1_waiting(0.7), 0.7 * mm1_wait(0.7));
        close(md1_waiting(0.7), 0.7 * md1_wait(0.7));
    }

    #[test]
    fn finite_room() {
        // rho = 1: all k + 1 states are equally likely.
        close(mm1k_loss(1.0, 4), 0.2);
        close(mm1k_waiting(1.0, 4), (1.0 + 2.0 + 3.0) / 5.0);
        // Much room at low load is M/M/1.
        close(mm1k_waiting(0.5, 200), mm1_waiting(0.5));
        close(mm1k_wait(0.5, 200), mm1_wait(0.5));
        close((0..=7).map(|n| mm1k_state(0.9, 7, n)).sum(), 1.0);
    }
}
