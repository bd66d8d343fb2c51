//! Constant bit rate: a packet every so often.

use super::pace::Pace;
use super::{Source, Span};
use fairlane_net::{App, AppCx, FlowId};
use fairlane_units::{Bytes, Dur, Rate, Time};

fairlane_units::params! {
    /// CBR writes packets of one size at a constant rate, the first at its start (ns-2's Application/Traffic/CBR).
    pub struct CbrParams {
        /// Rate of the data, headers not counted.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
        pub rate: Rate = Rate::from_mbps(1),
        /// Size of a packet, headers not counted.
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub size: Bytes = Bytes(1000),
        /// Width of the uniform noise on each interval, as a share of it: 1 means 0.5 to 1.5 intervals (ns-2's random_).
        #[schemars(range(min = 0.0, max = 2.0))]
        pub jitter: f64 = 0.0,
    }
}

impl Source for CbrParams {
    type App = Cbr;

    fn at(&self, rate: Rate, header: u64) -> Option<Self> {
        Some(Self { rate: super::of_data(rate, self.size, header), ..self.clone() })
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Cbr {
        let size = self.size.get().max(1);
        Cbr {
            span: Span::new(flow, start, stop),
            size,
            jitter: if self.jitter > 0.0 { self.jitter.min(2.0) } else { 0.0 },
            pace: Pace::of(self.rate, size),
        }
    }
}

/// A running CBR source.
#[derive(Clone, Debug, PartialEq)]
pub struct Cbr {
    span: Span,
    size: u64,
    jitter: f64,
    pace: Pace,
}

impl Cbr {
    fn next_interval(&mut self, cx: &mut AppCx<'_>) -> Dur {
        let even = self.pace.step();
        if self.jitter == 0.0 {
            return even;
        }
        let noisy = even.as_ps() as f64 * (1.0 + self.jitter * (cx.rng.uniform() - 0.5));
        // Two packets never leave at the same instant.
        Dur::from_ps((noisy + 0.5) as u64).max(Dur::from_ps(1))
    }
}

impl App for Cbr {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        cx.write(self.span.flow, self.size, false);
        let next = cx.now + self.next_interval(cx);
        cx.wake_at(next.min(self.span.stop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::harness::{run, writes};
    use fairlane_net::{Action, EpId};
    use fairlane_testkit::cases;
    use fairlane_units::PS_PER_SEC;
    use proptest::prelude::*;

    fn secs(s: u64) -> Time {
        Time::ZERO + Dur::from_secs(s)
    }

    /// 10 Mbit/s of 1500 bytes: every 1.2 ms, the first at the start; 100 s hold 83,334 of them.
    #[test]
    fn times_of_an_even_rate() {
        let p = CbrParams { rate: Rate::from_mbps(10), size: Bytes(1500), jitter: 0.0 };
        let w = writes(&run(&mut p.build(FlowId(0), secs(1), Some(secs(101))), 1, secs(200)));
        assert_eq!(w.len(), 83_334);
        assert!(w.iter().enumerate().all(|(k, &(t, n))| t == secs(1) + Dur::from_us(1200 * k as u64) && n == 1500));
    }

    /// 3 Mbit/s of 1000 bytes: 2.666... ms, no whole picoseconds. Packet k leaves at floor(k * 8000 / 3e6 s).
    #[test]
    fn uneven_rates_do_not_drift() {
        let p = CbrParams { rate: Rate::from_mbps(3), ..CbrParams::default() };
        let w = writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), 1, secs(1000)));
        assert_eq!(w.len(), 375_001);
        for (k, &(t, _)) in w.iter().enumerate() {
            assert_eq!(u128::from(t.as_ps()), k as u128 * 8_000 * u128::from(PS_PER_SEC) / 3_000_000);
        }
    }

    /// ns-2's random_: interval * (1 + uniform(-0.5, 0.5)), mean unchanged.
    #[test]
    fn jitter_keeps_the_mean() {
        let p = CbrParams { rate: Rate::from_mbps(8), jitter: 1.0, ..CbrParams::default() }; // 1 ms
        let w = writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), 4, secs(200)));
        let gaps: Vec<f64> = w.windows(2).map(|g| (g[1].0 - g[0].0).as_secs_f64() * 1e3).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
        assert!(gaps.iter().all(|g| (0.5..=1.5).contains(g)));
        assert!((mean - 1.0).abs() < 4.0 * (1.0_f64 / 12.0 / n).sqrt(), "{mean}");
        assert!((var - 1.0 / 12.0).abs() < 0.001, "{var}");
    }

    #[test]
    fn stop_ends_it_and_counts_as_too_late() {
        let p = CbrParams { rate: Rate::from_mbps(8), ..CbrParams::default() };
        let log = run(&mut p.build(FlowId(0), Time::ZERO, Some(Time::ZERO + Dur::from_ms(3))), 1, secs(1));
        assert_eq!(writes(&log).len(), 3);
        assert_eq!(log.last(), Some(&(Time::ZERO + Dur::from_ms(3), EpId::sender(FlowId(0)), Action::Stop)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(256)))]
        #[test]
        fn any_rate_is_exact(bps in 1_u64..10_000_000_000_000, size in 1_u64..65_508, n in 1_usize..300) {
            let mut app = CbrParams { rate: Rate::from_bps(bps), size: Bytes(size), jitter: 0.0 }.build(FlowId(0), Time::ZERO, None);
            let exact = |k: u128| k * u128::from(size) * 8 * u128::from(PS_PER_SEC) / u128::from(bps);
            let end = exact(n as u128);
            prop_assume!(end < u128::from(u64::MAX) && exact(1) > 0);
            let w = writes(&run(&mut app, 1, Time::from_ps(end as u64)));
            prop_assert_eq!(w.len(), n + 1);
            prop_assert_eq!(u128::from(w[n].0.as_ps()), end);
        }
    }
}
