//! Draws that several sources share. Each takes a fixed number of values of the stream, except where it says otherwise, so that two
//! runs with the same seed stay together; logarithms and the like come from `libm`, so that they are the same on every machine.

use fairlane_engine::Stream;

/// Attempts of [`within`] to draw a value inside of its bounds.
const ATTEMPTS: u32 = 64;

/// Uniform in (0, 1], for logarithms.
fn positive(rng: &mut Stream) -> f64 {
    1.0 - rng.uniform()
}

/// Exponential with this mean, by inversion.
pub fn exponential(rng: &mut Stream, mean: f64) -> f64 {
    -libm::log(positive(rng)) * mean
}

/// The lognormal law: the logarithm is normal with mean `mu` and deviation `sigma`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lognormal {
    /// Mean of the logarithm.
    pub mu: f64,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
}

impl Lognormal {
    /// The law with this mean and coefficient of variation: sigma^2 = ln(1 + cv^2), mu = ln(mean) - sigma^2 / 2.
    pub fn of(mean: f64, cv: f64) -> Self {
        let square = libm::log(1.0 + cv * cv);
        Self { mu: libm::log(mean) - square / 2.0, sigma: libm::sqrt(square) }
    }
    /// The value whose logarithm lies `z` deviations above its mean.
    pub fn at(&self, z: f64) -> f64 {
        libm::exp(self.mu + self.sigma * z)
    }
    /// A value.
    pub fn draw(&self, rng: &mut Stream) -> f64 {
        self.at(rng.normal())
    }
}

/// The Pareto law: P(X > x) = (least / x)^shape for x >= least. Its mean is infinite for shapes of 1 and below, its variance up to 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The shape, alpha.
    pub shape: f64,
    /// The least value, k.
    pub least: f64,
}

impl Pareto {
    /// The law with this mean: least = mean (shape - 1) / shape. `shape` is above 1.
    pub fn of(mean: f64, shape: f64) -> Self {
        Self { shape, least: mean * (shape - 1.0) / shape }
    }
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.least * self.shape / (self.shape - 1.0)
    }
    /// A value, by inversion. For a law cut off with all that lies beyond at `most`, take the smaller of the two.
    pub fn draw(&self, rng: &mut Stream) -> f64 {
        self.least * libm::pow(positive(rng), -1.0 / self.shape)
    }
    /// Draws the rest of a period of this law at a random instant, whose density is P(X > x) / mean
    /// (Cox, Renewal Theory, section 5.2). `shape` is above 1. Two values of the stream.
    pub fn residual(&self, rng: &mut Stream) -> f64 {
        let (which, x) = (rng.uniform(), positive(rng));
        // Of the density's mass (shape - 1) / shape lies below the least value, evenly; the rest is Pareto with a shape one smaller.
        if which < (self.shape - 1.0) / self.shape { self.least * x } else { self.least * libm::pow(x, -1.0 / (self.shape - 1.0)) }
    }
}

/// A value between `low` and `high`: drawn again while it is outside of them, and after 64 attempts the nearer bound (truncation).
/// The number of values of the stream depends on what comes.
pub fn within(low: f64, high: f64, mut draw: impl FnMut() -> f64) -> f64 {
    let mut x = draw();
    for _ in 1..ATTEMPTS {
        if x >= low && x <= high {
            break;
        }
        x = draw();
    }
    if x >= low { if x <= high { x } else { high } } else { low }
}

/// Rounded to the nearest whole number, within bounds; of two equally near the greater. NaN becomes `low`.
pub fn whole(x: f64, low: u64, high: u64) -> u64 {
    // The cast ends at the bounds of its type.
    ((x + 0.5) as u64).clamp(low, high)
}

fairlane_units::params! {
    /// A law of sizes, by name.
    pub enum SizeLaw {
        /// All of one size.
        #[default]
        Fixed,
        /// Exponentially distributed.
        Exponential,
        /// Pareto: few large ones hold most of the data.
        Pareto,
        /// Lognormal.
        Lognormal,
    }
}

/// A law of sizes with its parameters worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeDraw {
    /// Always this.
    Fixed(u64),
    /// With this mean.
    Exponential(f64),
    /// Drawn from this law.
    Pareto(Pareto),
    /// Drawn from this law.
    Lognormal(Lognormal),
}

impl SizeDraw {
    /// The law with this mean; `shape` (above 1) counts for Pareto, `cv` for lognormal.
    pub fn of(law: SizeLaw, mean: u64, shape: f64, cv: f64) -> Self {
        match law {
            SizeLaw::Fixed => Self::Fixed(mean),
            SizeLaw::Exponential => Self::Exponential(mean as f64),
            SizeLaw::Pareto => Self::Pareto(Pareto::of(mean as f64, shape)),
            SizeLaw::Lognormal => Self::Lognormal(Lognormal::of(mean as f64, cv)),
        }
    }
    /// A size of at least one byte and at most `most`. A fixed size takes nothing of the stream.
    pub fn draw(&self, rng: &mut Stream, most: u64) -> u64 {
        let x = match self {
            Self::Fixed(n) => return (*n).clamp(1, most),
            Self::Exponential(mean) => exponential(rng, *mean),
            Self::Pareto(law) => law.draw(rng),
            Self::Lognormal(law) => law.draw(rng),
        };
        whole(x, 1, most)
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
