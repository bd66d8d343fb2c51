//! Clock of processor time.

use std::time::Instant;

/// CPU time of the calling thread if the platform provides it, else wall time.
pub(crate) struct CpuClock {
    cpu: Option<cpu_time::ThreadTime>,
    wall: Instant,
}

impl CpuClock {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_time::ThreadTime::try_now().ok(), wall: Instant::now() }
    }
    pub(crate) fn seconds(&self) -> f64 {
        match &self.cpu {
            Some(t) => t.elapsed().as_secs_f64(),
            None => self.wall.elapsed().as_secs_f64(),
        }
    }
}
