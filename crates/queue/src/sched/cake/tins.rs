//! The tins of CAKE: which code points go where, and what share of the rate each may have.

fairlane_units::params! {
    /// Into which tins CAKE sorts packets by their DSCP (tc-cake's priority queue presets).
    pub enum CakeTins {
        /// One for all.
        Besteffort,
        /// Best effort; bulk (CS1, LE) with a threshold of 1/16 of the rate; voice (CS7, CS6, EF, VA, TOS4) with 1/4.
        #[default]
        Diffserv3,
        /// Best effort; bulk (CS1, LE), 1/16; video (AF4x, AF3x, CS3, AF2x, CS2, TOS4), 1/2; voice (CS7, CS6, EF, VA, CS5, CS4), 1/4.
        Diffserv4,
        /// LE; AF1x, CS1, TOS2; best effort; AF4x, AF3x, CS3; AF2x, TOS4; CS2; CS4, CS5, VA, EF; CS6, CS7: eight with the thresholds of `precedence`.
        Diffserv8,
        /// Eight by the upper three bits (RFC 791), each with 7/8 of the threshold of the one below.
        Precedence,
    }
}

/// Rate and quantum of a tin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    /// Share of the rate up to which it goes before the tins below, in 1024ths of 1024ths.
    pub(crate) threshold: u64,
    /// Its quantum against the other tins where no rate is set, in bytes.
    pub(crate) quantum: i64,
}

/// The whole rate.
pub(crate) const WHOLE: u64 = 1 << 20;
const QUANTUM: i64 = 1024;
const PRECEDENCE_QUANTUM: i64 = 256;

const fn share(part: u32) -> Share {
    Share { threshold: WHOLE >> part, quantum: QUANTUM >> part }
}

impl CakeTins {
    /// The tins in rising priority: of several within their thresholds the last goes first.
    pub(crate) fn shares(self) -> Vec<Share> {
        match self {
            Self::Besteffort => vec![share(0)],
            Self::Diffserv3 => vec![share(0), share(4), share(2)],
            Self::Diffserv4 => vec![share(0), share(4), share(1), share(2)],
            Self::Diffserv8 | Self::Precedence => {
                let first = Share { threshold: WHOLE, quantum: PRECEDENCE_QUANTUM };
                std::iter::successors(Some(first), |s| Some(Share { threshold: s.threshold * 7 / 8, quantum: s.quantum * 7 / 8 }))
                    .take(8)
                    .collect()
            }
        }
    }

    /// The tin of a code point.
    pub(crate) const fn tin_of(self, dscp: u8) -> u8 {
        match (self, dscp) {
            (Self::Besteffort, _) => 0,
            (Self::Precedence, d) => d >> 3 & 7,
            (Self::Diffserv8, 1) => 0,
            (Self::Diffserv8, 2 | 8 | 10 | 12 | 14) => 1,
            (Self::Diffserv8, 24 | 26 | 28 | 30 | 34 | 36 | 38) => 3,
            (Self::Diffserv8, 4 | 18 | 20 | 22) => 4,
            (Self::Diffserv8, 16) => 5,
            (Self::Diffserv8, 32 | 40 | 44 | 46) => 6,
            (Self::Diffserv8, 48 | 56) => 7,
            (Self::Diffserv8, _) => 2,
            // Lower effort (RFC 8622) and class selector 1.
            (_, 1 | 8) => 1,
            (Self::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            _ => 0,
        }
    }

    /// The tin of every code point.
    pub(crate) fn table(self) -> [u8; 64] {
        std::array::from_fn(|d| self.tin_of(d as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::code_point;

    /// The table of tc-cake(8), by name.
    #[test]
    fn code_points_fall_into_their_tins() {
        let tin = |tins: CakeTins, name: &str| tins.tin_of(code_point(name).unwrap());
        for (name, three, four) in [
            ("df", 0, 0),
            ("cs1", 1, 1),
            ("le", 1, 1),
            ("af11", 0, 0),
            ("af21", 0, 2),
            ("cs2", 0, 2),
            ("cs3", 0, 2),
            ("af33", 0, 2),
            ("af41", 0, 2),
            ("cs4", 0, 3),
            ("cs5", 0, 3),
            ("va", 2, 3),
            ("ef", 2, 3),
            ("cs6", 2, 3),
            ("cs7", 2, 3),
        ] {
            assert_eq!((tin(CakeTins::Diffserv3, name), tin(CakeTins::Diffserv4, name)), (three, four), "{name}");
        }
        assert_eq!((tin(CakeTins::Precedence, "ef"), tin(CakeTins::Precedence, "cs7"), tin(CakeTins::Precedence, "af13")), (5, 7, 1));
        for (name, eight) in [
            ("le", 0),
            ("cs1", 1),
            ("af11", 1),
            ("af13", 1),
            ("df", 2),
            ("cs3", 3),
            ("af31", 3),
            ("af43", 3),
            ("af21", 4),
            ("cs2", 5),
            ("cs4", 6),
            ("cs5", 6),
            ("va", 6),
            ("ef", 6),
            ("cs6", 7),
            ("cs7", 7),
        ] {
            assert_eq!(tin(CakeTins::Diffserv8, name), eight, "{name}");
        }
        // TOS2, TOS4, and a code point that stands for nothing.
        assert_eq!([2, 4, 33].map(|d| CakeTins::Diffserv8.tin_of(d)), [1, 4, 2]);
        assert!(CakeTins::Besteffort.table().iter().all(|&t| t == 0));
    }

    #[test]
    fn thresholds() {
        let parts = |t: CakeTins| t.shares().iter().map(|s| s.threshold as f64 / WHOLE as f64).collect::<Vec<_>>();
        assert_eq!(parts(CakeTins::Diffserv3), [1.0, 1.0 / 16.0, 0.25]);
        assert_eq!(parts(CakeTins::Diffserv4), [1.0, 1.0 / 16.0, 0.5, 0.25]);
        assert_eq!(CakeTins::Diffserv8.shares(), CakeTins::Precedence.shares());
        let p = parts(CakeTins::Precedence);
        assert!((p[7] - 0.875_f64.powi(7)).abs() < 1e-5 && p.len() == 8);
    }
}
