//! Mean, deviation and the 95 % interval of independent replications.

/// Mean of replications with its two-sided 95 % Student t interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub half: f64,
    /// Standard deviation of one replication.
    pub sd: f64,
}

impl Interval {
    /// The interval of at least two values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0)).sqrt();
        Self { mean, half: t975(values.len() - 1) * sd / n.sqrt(), sd }
    }

    /// True if `x` lies in the interval.
    pub fn contains(&self, x: f64) -> bool {
        (x - self.mean).abs() <= self.half
    }
}

/// The 97.5 % point of Student's t with `df` degrees of freedom; the first terms of its expansion around the normal distribution above the table.
pub fn t975(df: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
        2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    let (z, n): (f64, f64) = (1.959_964, df as f64);
    match df {
        0 => f64::INFINITY,
        1..=30 => TABLE[df - 1],
        _ => z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table values of Student's t for 60 and 120 degrees of freedom: 2.000 and 1.980.
    #[test]
    fn t_beyond_the_table() {
        assert!((t975(60) - 2.000).abs() < 0.001 && (t975(120) - 1.980).abs() < 0.001);
        assert!((t975(31) - 2.0395).abs() < 0.0005);
    }

    #[test]
    fn interval_of_five() {
        let i = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(i.mean, 3.0);
        assert!((i.sd - 2.5_f64.sqrt()).abs() < 1e-12 && (i.half - 2.776 * (0.5_f64).sqrt()).abs() < 1e-12);
        assert!(i.contains(4.9) && !i.contains(5.0));
    }
}
