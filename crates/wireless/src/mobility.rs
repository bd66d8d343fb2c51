//! Where a station is at a time: whole millimetres and picoseconds, so that a walk is the same on any machine.

use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// A place in a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Millimetres to the east.
    pub x: i64,
    /// Millimetres to the north.
    pub y: i64,
}

impl Place {
    /// From metres; beyond 10^9 km it stays there.
    pub fn from_metres(x: f64, y: f64) -> Self {
        let mm = |m: f64| libm::round(m.clamp(-1e12, 1e12) * 1e3) as i64;
        Self { x: mm(x), y: mm(y) }
    }
    /// Millimetres to another place, rounded down.
    pub fn distance(self, other: Self) -> u64 {
        let square = |a: i64, b: i64| u128::from(a.abs_diff(b)).pow(2);
        u64::try_from((square(self.x, other.x) + square(self.y, other.y)).isqrt()).unwrap_or(u64::MAX)
    }
}

/// A field in which stations walk at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its corner in the south-west.
    pub corner: Place,
    /// Width in millimetres.
    pub width: u32,
    /// Height in millimetres.
    pub height: u32,
    /// Least speed in mm/s; above 0, as stations come to rest for ever else (Yoon, Liu and Noble, INFOCOM 2003).
    pub slowest: u32,
    /// Greatest speed in mm/s.
    pub fastest: u32,
    /// Rest at each waypoint.
    pub pause: Dur,
}

impl Field {
    /// A place in it, all alike.
    pub fn place(&self, rng: &mut Stream) -> Place {
        let mut within = |from: i64, n: u32| from + rng.below(u64::from(n) + 1) as i64;
        Place { x: within(self.corner.x, self.width), y: within(self.corner.y, self.height) }
    }
}

/// Why there is no walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackError {
    /// No waypoint at all.
    #[error("a walk needs a waypoint")]
    Empty,
    /// Waypoints that go back in time.
    #[error("waypoint {0} is not later than the one before it")]
    Order(usize),
    /// More waypoints than are kept.
    #[error("a walk of more than {0} waypoints")]
    Long(usize),
    /// Speeds that are none.
    #[error("a walk needs a least speed above 0 and a greatest one that is not below it")]
    Speed,
}

/// A walk: places at times, straight and at one speed between them, at rest before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track(Vec<(Time, Place)>);

impl Track {
    /// Through waypoints, in the order of time.
    pub fn new(points: Vec<(Time, Place)>) -> Result<Self, TrackError> {
        match points.windows(2).position(|w| w[1].0 <= w[0].0) {
            Some(k) => Err(TrackError::Order(k + 1)),
            None if points.is_empty() => Err(TrackError::Empty),
            None => Ok(Self(points)),
        }
    }

    /// One place, for ever.
    pub fn still(place: Place) -> Self {
        Self(vec![(Time::ZERO, place)])
    }

    /// Random waypoint (Johnson and Maltz 1996) up to `until`, from a place on: a place in the field, a speed, straight to it, a rest, and again.
    pub fn random(field: &Field, start: Place, until: Time, most: usize, rng: &mut Stream) -> Result<Self, TrackError> {
        if field.slowest == 0 || field.fastest < field.slowest {
            return Err(TrackError::Speed);
        }
        let (mut now, mut here) = (Time::ZERO, start);
        let mut points = vec![(now, here)];
        while now < until {
            if points.len() >= most {
                return Err(TrackError::Long(most));
            }
            let there = field.place(rng);
            let speed = u64::from(field.slowest) + rng.below(u64::from(field.fastest - field.slowest) + 1);
            let ps = u128::from(here.distance(there)) * 1_000_000_000_000 / u128::from(speed);
            // A point on the same spot takes no time; the next one is drawn.
            let walk = Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX)).max(Dur::from_ms(1));
            (now, here) = (now.later(walk), there);
            points.push((now, here));
            if field.pause > Dur::ZERO {
                now = now.later(field.pause);
                points.push((now, here));
            }
        }
        Ok(Self(points))
    }

    /// Where it is.
    pub fn at(&self, now: Time) -> Place {
        let k = self.0.partition_point(|p| p.0 <= now);
        let Some(&(from, a)) = k.checked_sub(1).and_then(|k| self.0.get(k)) else { return self.0[0].1 };
        let Some(&(to, b)) = self.0.get(k) else { return a };
        let (part, whole) = (i128::from(now.since(from).as_ps()), i128::from(to.since(from).as_ps()));
        let between = |a: i64, b: i64| a + (i128::from(b - a) * part / whole) as i64;
        Place { x: between(a.x, b.x), y: between(a.y, b.y) }
    }

    /// From when on, `now` or later, it is not where it is; none if it rests for ever.
    pub fn moves_from(&self, now: Time) -> Option<Time> {
        let k = self.0.partition_point(|p| p.0 <= now);
        let legs = self.0[k.saturating_sub(1)..].windows(2);
        legs.into_iter().find(|w| w[0].1 != w[1].1).map(|w| w[0].0.max(now))
    }

    /// True if it ever moves.
    pub fn moves(&self) -> bool {
        self.moves_from(Time::ZERO).is_some()
    }

    /// Times and places at which it changes direction or speed.
    pub fn points(&self) -> &[(Time, Place)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(s: u64) -> Time {
        Time::ZERO + Dur::from_secs(s)
    }

    #[test]
    fn a_walk_is_straight_between_its_points_and_rests_beyond_them() {
        let p = |x, y| Place { x, y };
        let t = Track::new(vec![(secs(1), p(0, 0)), (secs(3), p(2_000, -1_000)), (secs(4), p(2_000, 0))]).unwrap();
        let at = [0, 1, 2, 3, 4, 9].map(|s| t.at(secs(s)));
        assert_eq!(at, [p(0, 0), p(0, 0), p(1_000, -500), p(2_000, -1_000), p(2_000, 0), p(2_000, 0)]);
        assert_eq!(p(0, 0).distance(p(300, -400)), 500);
        let from = |s| t.moves_from(secs(s)).map(|at| at.since(Time::ZERO).as_ps() / 1_000_000_000_000);
        assert_eq!([0, 1, 2, 3, 4].map(from), [Some(1), Some(1), Some(2), Some(3), None]);
        assert!(!Track::still(p(1, 1)).moves());
        assert_eq!(Track::new(vec![]), Err(TrackError::Empty));
        assert_eq!(Track::new(vec![(secs(1), p(0, 0)), (secs(1), p(1, 1))]), Err(TrackError::Order(1)));
        let ends = [i64::MAX / 4, i64::MIN / 4].map(|x| p(x, x));
        assert!(Track::new(vec![(secs(0), ends[0]), (secs(1_000_000), ends[1])]).unwrap().at(secs(500_000)).x.abs() < 10);
    }

    /// Without rests, the speed averaged over time is (b - a) / ln(b / a), and the density over a square is near 36/a^6 (x^2 - a^2/4)(y^2 - a^2/4), so that
    /// 47 % of the time is spent in its middle quarter (Bettstetter, Resta and Santi, IEEE TMC 2(3), 2003); two random points are 0.5214 sides apart.
    #[test]
    fn random_waypoint_has_its_known_means() {
        let field =
            Field { corner: Place::default(), width: 1_000_000, height: 1_000_000, slowest: 1_000, fastest: 20_000, pause: Dur::ZERO };
        let end = 4_000_000;
        let mut rng = Stream::new(1, "a", "b", "c");
        let start = field.place(&mut rng);
        let t = Track::random(&field, start, secs(end), usize::MAX, &mut rng).unwrap();
        let (mut walked, mut middle, mut legs) = (0.0, 0, 0);
        for w in t.0.windows(2) {
            walked += w[0].1.distance(w[1].1) as f64;
            legs += 1;
        }
        for s in 0..end {
            let p = t.at(secs(s));
            assert!((0..=1_000_000).contains(&p.x) && (0..=1_000_000).contains(&p.y));
            middle += u64::from((250_000..750_000).contains(&p.x) && (250_000..750_000).contains(&p.y));
        }
        let speed = walked / end as f64;
        assert!((speed / (19_000.0 / 20f64.ln()) - 1.0).abs() < 0.03, "{speed} mm/s");
        assert!((walked / f64::from(legs) / 1e6 - 0.5214).abs() < 0.005, "{}", walked / f64::from(legs));
        assert!((middle as f64 / end as f64 - 0.4727).abs() < 0.03, "{middle}");
        let still = Field { slowest: 0, ..field };
        assert_eq!(Track::random(&still, start, secs(1), 9, &mut rng), Err(TrackError::Speed));
        assert_eq!(Track::random(&field, start, secs(end), 9, &mut rng), Err(TrackError::Long(9)));
    }
}
