//! Bursts: packets at a constant rate during ON periods, nothing during OFF periods.
//!
//! Both kinds of period are independent and exponential or Pareto. Exponential ones make traffic that is bursty on one time scale. Pareto
//! ones with a shape below 2 have an infinite variance, and many such sources together are self-similar with the Hurst parameter
//! H = (3 - shape) / 2 (Taqqu, Willinger and Sherman 1997, theorem 1; Willinger, Taqqu, Sherman and Wilson 1997, section 2).
//!
//! Deviations from ns-2 (`expoo.cc`, `pareto.cc`), each with a parameter that goes back:
//! - ns-2 makes a burst of the whole number of packets nearest to its drawn length, and of one at least; so the mean rate is not the one that
//!   the periods say where they are not much longer than a packet. Here the unfinished part of a packet waits through the OFF period and goes
//!   on with the next ON period: after t seconds of ON time floor(t * rate / (8 * size)) packets have left (`fraction`).
//! - ns-2 begins with an OFF period. Here the process begins as if it had always run (`begin`).

use super::pace::Pace;
use super::{Source, Span};
use crate::draw::Pareto;
use fairlane_engine::Stream;
use fairlane_net::{App, AppCx, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Rate, Time};

fairlane_units::params! {
    /// The law of the periods.
    pub enum Periods {
        /// Exponentially distributed (ns-2's Application/Traffic/Exponential).
        #[default]
        Exponential,
        /// Pareto distributed (ns-2's Application/Traffic/Pareto).
        Pareto,
    }

    /// Where the unfinished part of a packet goes at the end of an ON period.
    pub enum Fraction {
        /// It waits for the next ON period: the mean rate is exact.
        #[default]
        Carried,
        /// The ON period is made a whole number of packets long, the nearest, at least one (ns-2).
        Rounded,
    }

    /// First period of the source.
    pub enum Begin {
        /// The stationary process: ON with probability on / (on + off), and what is left of the period as seen from a random instant.
        #[default]
        Stationary,
        /// A new ON period.
        On,
        /// A new OFF period (ns-2).
        Off,
    }

    /// On-off sends bursts at a constant rate, separated by silence, with random lengths of both (ns-2's Application/Traffic/Exponential and Pareto).
    pub struct OnOffParams {
        /// Rate of the data during ON periods, headers not counted; the mean rate is `rate` * `on` / (`on` + `off`).
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
        pub rate: Rate = Rate::from_mbps(2),
        /// Size of a packet, headers not counted.
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub size: Bytes = Bytes(1000),
        /// Mean of the ON periods (ns-2's burst_time_).
        #[schemars(extend("x-min" = "1ns"))]
        pub on: Dur = Dur::from_ms(500),
        /// Mean of the OFF periods (ns-2's idle_time_).
        #[schemars(extend("x-min" = "1ns"))]
        pub off: Dur = Dur::from_ms(500),
        /// Law of the lengths of both kinds of period.
        pub periods: Periods = Periods::Exponential,
        /// Shape of Pareto periods, above 1 (ns-2's shape_); the variance is infinite up to 2. Unset: as `hurst` says, or else 1.5.
        #[schemars(range(max = 100.0), extend("exclusiveMinimum" = 1.0))]
        pub shape: Option<f64> = None,
        /// Hurst parameter of the aggregate of many such sources, between 0.5 and 1, neither included: the shape of Pareto periods is 3 - 2 `hurst` (Taqqu, Willinger and Sherman 1997, theorem 1).
        #[schemars(extend("exclusiveMinimum" = 0.5, "exclusiveMaximum" = 1.0))]
        pub hurst: Option<f64> = None,
        /// Where the unfinished part of a packet goes at the end of an ON period.
        pub fraction: Fraction = Fraction::Carried,
        /// First period of the source.
        pub begin: Begin = Begin::Stationary,
    }
}

/// Shape where none is given: ns-2's default.
const SHAPE: f64 = 1.5;
/// Least shape that is drawn from; at 1 the mean is infinite.
const LEAST_SHAPE: f64 = 1.000_001;

impl Source for OnOffParams {
    type App = OnOff;

    fn at(&self, rate: Rate, header: u64) -> Option<Self> {
        let (on, off) = (u128::from(self.on.as_ps()), u128::from(self.off.as_ps()));
        let mean = u128::from(super::of_data(rate, self.size, header).as_bps());
        let rate = u64::try_from((mean * (on + off) + on / 2) / on.max(1)).unwrap_or(u64::MAX);
        Some(Self { rate: Rate::from_bps(rate), ..self.clone() })
    }

    fn check(&self, _: Proto) -> Result<(), Problem> {
        let given = [("hurst", self.hurst), ("shape", self.shape)].into_iter().find(|g| g.1.is_some());
        match (self.periods, given) {
            (Periods::Exponential, Some((key, _))) => Err(Problem::new(key, format!("`{key}` needs periods = \"pareto\""))),
            (Periods::Pareto, _) if self.hurst.is_some() && self.shape.is_some() => {
                Err(Problem::new("hurst", "`hurst` and `shape` say the same (shape = 3 - 2 hurst): write one of them"))
            }
            _ => Ok(()),
        }
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> OnOff {
        let size = self.size.get().max(1);
        let shape = self.hurst.map_or(self.shape.unwrap_or(SHAPE), |h| 3.0 - 2.0 * h).max(LEAST_SHAPE);
        let law = |mean: Dur| match self.periods {
            Periods::Exponential => Law::Exponential(mean),
            Periods::Pareto => Law::Pareto(Pareto::of(mean.as_ps() as f64, shape)),
        };
        OnOff {
            span: Span::new(flow, start, stop),
            size,
            pace: Pace::of(self.rate, size),
            lengths: [law(self.off), law(self.on)],
            share: self.on.as_ps() as f64 / (self.on.as_ps() as f64 + self.off.as_ps() as f64).max(1.0),
            rounded: self.fraction == Fraction::Rounded,
            begin: self.begin,
            state: None,
        }
    }
}

/// The law of one kind of period, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Exponential(Dur),
    Pareto(Pareto),
}

impl Law {
    fn draw(&self, rng: &mut Stream) -> Dur {
        match self {
            Self::Exponential(mean) => rng.exponential(*mean),
            Self::Pareto(law) => Dur::from_ps((law.draw(rng) + 0.5) as u64),
        }
        .max(Dur::from_ps(1))
    }

    /// Draws the rest of a period at a random instant; for an exponential one the whole law.
    fn residual(&self, rng: &mut Stream) -> Dur {
        match self {
            Self::Exponential(_) => self.draw(rng),
            Self::Pareto(law) => Dur::from_ps((law.residual(rng) + 0.5) as u64).max(Dur::from_ps(1)),
        }
    }
}

/// A period in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    on: bool,
    /// When it ends.
    until: Time,
    /// When the next packet is complete: during an OFF period, if no time passed but this period's.
    due: Time,
}

/// A running on-off source.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    span: Span,
    size: u64,
    pace: Pace,
    /// Laws of OFF and of ON periods.
    lengths: [Law; 2],
    /// Share of the time that is ON.
    share: f64,
    rounded: bool,
    begin: Begin,
    state: Option<Period>,
}

impl OnOff {
    /// The first period.
    fn first(&mut self, now: Time, rng: &mut Stream) -> Period {
        let on = match self.begin {
            Begin::Stationary => rng.uniform() < self.share,
            Begin::On => true,
            Begin::Off => false,
        };
        let law = self.lengths[usize::from(on)];
        let length = if self.begin == Begin::Stationary { law.residual(rng) } else { law.draw(rng) };
        self.period(on, now, length, now)
    }

    /// The period that begins now; `due` is when the next packet would be complete if it were ON and none is begun.
    fn period(&mut self, on: bool, now: Time, length: Dur, due: Time) -> Period {
        // Of a packet just sent nothing is left: the next one begins with this period.
        let due = if due > now { due } else { now + self.pace.ahead(1) };
        match (on, self.rounded) {
            (false, _) => Period { on, until: now + length, due: due + length },
            (true, false) => Period { on, until: now + length, due },
            (true, true) => Period { on, until: now + self.pace.ahead(self.pace.nearest(length).max(1)), due },
        }
    }
}

impl App for OnOff {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        let mut p = match self.state {
            Some(p) => p,
            None => self.first(cx.now, cx.rng),
        };
        if p.on && cx.now >= p.due {
            cx.write(self.span.flow, self.size, false);
            self.pace.step();
            p.due = cx.now + self.pace.ahead(1);
        }
        if cx.now >= p.until {
            let length = self.lengths[usize::from(!p.on)].draw(cx.rng);
            p = self.period(!p.on, cx.now, length, p.due);
        }
        self.state = Some(p);
        let next = if p.on { p.until.min(p.due) } else { p.until };
        cx.wake_at(next.min(self.span.stop));
    }
}

#[cfg(test)]
#[path = "on_off_tests.rs"]
mod tests;
