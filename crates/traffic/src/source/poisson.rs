//! Poisson arrivals: the source of queueing theory.

use super::{Source, Span};
use crate::udp::MAX_DATAGRAM;
use fairlane_engine::Stream;
use fairlane_net::{App, AppCx, FlowId};
use fairlane_units::{Bytes, Dur, Rate, Time};

fairlane_units::params! {
    /// How long the packets of a source are.
    pub enum Sizes {
        /// All of one length: before a link this is M/D/1.
        #[default]
        Fixed,
        /// Exponentially distributed, rounded to bytes, 1 to 65,507: before a link this is M/M/1.
        Exponential,
    }

    /// Poisson writes packets at exponentially distributed intervals (Kleinrock, Queueing Systems volume 1, section 2.4).
    pub struct PoissonParams {
        /// Mean rate of the data, headers not counted; packets come at `rate` / `size`.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
        pub rate: Rate = Rate::from_mbps(1),
        /// Mean size of a packet, headers not counted.
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub size: Bytes = Bytes(1000),
        /// Distribution of the sizes.
        pub sizes: Sizes = Sizes::Fixed,
    }
}

impl Source for PoissonParams {
    type App = Poisson;

    fn at(&self, rate: Rate, header: u64) -> Option<Self> {
        Some(Self { rate: super::of_data(rate, self.size, header), ..self.clone() })
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Poisson {
        let size = self.size.get().max(1);
        let mean_gap = Rate::from_bps(self.rate.as_bps().max(1)).tx_time(size);
        Poisson { span: Span::new(flow, start, stop), size, sizes: self.sizes, mean_gap, started: false }
    }
}

/// A running Poisson source.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    span: Span,
    size: u64,
    sizes: Sizes,
    mean_gap: Dur,
    started: bool,
}

/// Steps of the exponential size draw per byte.
const STEPS: u64 = 1 << 20;

impl Poisson {
    fn draw_size(&self, rng: &mut Stream) -> u64 {
        match self.sizes {
            Sizes::Fixed => self.size,
            Sizes::Exponential => {
                let x = rng.exponential(Dur::from_ps(self.size * STEPS)).as_ps();
                ((x + STEPS / 2) / STEPS).clamp(1, MAX_DATAGRAM)
            }
        }
    }
}

impl App for Poisson {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        // The process begins at the start; its first packet comes one gap later.
        if self.started {
            let size = self.draw_size(cx.rng);
            cx.write(self.span.flow, size, false);
        }
        self.started = true;
        let gap = cx.rng.exponential(self.mean_gap).max(Dur::from_ps(1));
        cx.wake_at((cx.now + gap).min(self.span.stop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::harness::{run, writes};

    fn log(sizes: Sizes, seconds: u64) -> Vec<(Time, u64)> {
        let p = PoissonParams { rate: Rate::from_mbps(8), size: Bytes(1000), sizes };
        writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), 11, Time::ZERO + Dur::from_secs(seconds)))
    }

    /// Gaps are exponential with mean size / rate = 1 ms: their distribution function at 0.1, 0.7 and 2 means.
    #[test]
    fn gaps_follow_the_formula() {
        let w = log(Sizes::Fixed, 200);
        let gaps: Vec<f64> = w.windows(2).map(|g| (g[1].0 - g[0].0).as_secs_f64() * 1e3).collect();
        let n = gaps.len() as f64;
        for x in [0.1, 0.7, 2.0_f64] {
            let want = 1.0 - (-x).exp();
            let got = gaps.iter().filter(|&&g| g <= x).count() as f64 / n;
            assert!((got - want).abs() < 4.0 * (want * (1.0 - want) / n).sqrt(), "{x}: {got} {want}");
        }
        assert!(w.iter().all(|p| p.1 == 1000));
    }

    /// Counts in windows of 10 ms have mean and variance 10.
    #[test]
    fn counts_have_the_variance_of_their_mean() {
        let w = log(Sizes::Fixed, 200);
        let mut counts = vec![0.0_f64; 20_000];
        w.iter().for_each(|p| counts[(p.0.as_ps() / Dur::from_ms(10).as_ps()).min(19_999) as usize] += 1.0);
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let var = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 10.0).abs() < 0.1 && (var - 10.0).abs() < 0.5, "{mean} {var}");
    }

    #[test]
    fn exponential_sizes_have_their_moments() {
        let w = log(Sizes::Exponential, 200);
        let n = w.len() as f64;
        let mean = w.iter().map(|p| p.1 as f64).sum::<f64>() / n;
        let square = w.iter().map(|p| (p.1 * p.1) as f64).sum::<f64>() / n;
        assert!((mean / 1000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((square / 2e6 - 1.0).abs() < 0.03, "{square}");
    }

    #[test]
    fn nothing_after_the_stop() {
        let stop = Time::ZERO + Dur::from_ms(50);
        let log = run(&mut PoissonParams::default().build(FlowId(0), Time::ZERO, Some(stop)), 1, stop + Dur::from_secs(1));
        assert!(log.iter().all(|l| l.0 <= stop) && writes(&log).iter().all(|w| w.0 < stop));
        assert_eq!(log.last().unwrap().0, stop);
    }
}
