//! Mobility of wireless stations: paths from the scenario, and the resulting hops.

use crate::channel::{StationAt, WayAt};
use crate::check::walk_points;
use crate::spec::{ChannelSpec, RandomWaypointSpec, RoutesSpec, WalkSpec};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use fairlane_wireless::air::AirError;
use fairlane_wireless::power::flight;
use fairlane_wireless::{Access, Field, Meetings, Motion, Place, Track, TrackError};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Most waypoints of a channel.
const MOST_POINTS: usize = 1_000_000;
/// Most route updates of a run.
pub(crate) const MOST_LOOKS: u64 = 100_000;

/// A channel with moving stations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moving {
    tracks: Arc<[Track]>,
    until: Time,
    pub(crate) meetings: Option<Meetings>,
}

/// An error in a path: the keys under the channel, and the message.
pub(crate) struct PathError {
    pub(crate) path: Vec<String>,
    pub(crate) message: String,
    pub(crate) help: String,
}

fn misstep(path: &[&str], message: impl Into<String>, help: impl Into<String>) -> PathError {
    PathError { path: path.iter().map(|&p| p.to_owned()).collect(), message: message.into(), help: help.into() }
}

impl WalkSpec {
    /// Waypoints of the path.
    fn points(&self) -> Vec<(Time, Place)> {
        match &self.file {
            Some(file) => walk_points(file.values()).unwrap_or_default(),
            None => self.points.iter().map(|p| (Time::ZERO + p.at, Place::from_metres(p.place.x, p.place.y))).collect(),
        }
    }
}

impl RandomWaypointSpec {
    fn field(&self) -> Field {
        let mm = |m: f64| libm::round(m * 1e3) as u32;
        Field {
            corner: Place::from_metres(self.west_m, self.south_m),
            width: mm(self.width_m),
            height: mm(self.height_m),
            slowest: mm(self.slowest_mps).max(1),
            fastest: mm(self.fastest_mps).max(1),
            pause: self.pause,
        }
    }
}

impl ChannelSpec {
    /// Adds stations that have a path but no other position.
    pub(crate) fn walkers(&self, all: &mut Vec<StationAt>) {
        if self.walks.is_empty() {
            return;
        }
        let placed: HashSet<String> = all.iter().map(|s| s.node.clone()).collect();
        for (node, walk) in self.walks.iter().filter(|(n, _)| !placed.contains(*n)) {
            let first = walk.points().first().map_or(Place::default(), |p| p.1);
            all.push(StationAt { node: node.clone(), at: metres(first) });
        }
    }

    /// Motion of the stations until the end of the run; none if all stand still.
    pub(crate) fn moving(&self, channel: &str, stations: &[StationAt], duration: Dur) -> Result<Option<Moving>, PathError> {
        if self.walks.is_empty() && self.random_waypoint.is_none() {
            return Ok(None);
        }
        let until = Time::ZERO + duration;
        let start = |s: &StationAt| Place::from_metres(s.at[0], s.at[1]);
        let mut tracks: Vec<Track> = stations.iter().map(|s| Track::still(start(s))).collect();
        for (node, walk) in &self.walks {
            let at = ["walks", node.as_str()];
            if walk.file.is_some() != walk.points.is_empty() {
                return Err(misstep(
                    &at,
                    format!("the walk of `{node}` has no points, or has both points and a file"),
                    "write points = [{ at = \"0s\", place = [0, 0] }, ...] or file = \"walk.csv\"",
                ));
            }
            let Some(k) = stations.iter().position(|s| s.node == *node) else { continue };
            tracks[k] = self.walk(node, walk, start(&stations[k]))?;
        }
        if let Some(random) = &self.random_waypoint {
            self.wander(random, channel, stations, until, &mut tracks)?;
        }
        let points: usize = tracks.iter().map(|t| t.points().len()).sum();
        if points > MOST_POINTS {
            return Err(misstep(
                &["random_waypoint"],
                format!("channel `{channel}` has {points} waypoints"),
                format!("the limit is {MOST_POINTS}: write lower speeds, longer pauses or a larger field"),
            ));
        }
        let looks = duration.as_ps() / self.route_step.as_ps().max(1);
        if self.routes == RoutesSpec::Follow && looks > MOST_LOOKS && tracks.iter().any(Track::moves) {
            let fit = Dur::from_ps(duration.as_ps() / MOST_LOOKS + 1);
            return Err(misstep(
                &["route_step"],
                format!("routes would be recomputed {looks} times"),
                format!("the limit is {MOST_LOOKS}: write a step of at least \"{fit}\""),
            ));
        }
        Ok(tracks.iter().any(Track::moves).then(|| Moving { tracks: tracks.into(), until, meetings: None }))
    }

    fn walk(&self, node: &str, walk: &WalkSpec, start: Place) -> Result<Track, PathError> {
        let mut points = walk.points();
        if let Some(k) = points.windows(2).position(|w| w[1].0 <= w[0].0) {
            let number = (k + 1).to_string();
            let help = "write waypoints in the order of time";
            return Err(misstep(
                &["walks", node, "points", &number, "at"],
                format!("waypoint {} of `{node}` is not later than the previous one", k + 2),
                help,
            ));
        }
        match points.first() {
            Some(&(Time::ZERO, place)) if place != start => {
                let message =
                    format!("station `{node}` is at {:?} at the start, and its walk begins at {:?}", metres(start), metres(place));
                Err(misstep(&["walks", node], message, "write one of the two places, or a later time for the first waypoint"))
            }
            Some(&(first, place)) if first > Time::ZERO && place != start => {
                points.insert(0, (Time::ZERO, start));
                Ok(points)
            }
            _ => Ok(points),
        }
        .and_then(|p| {
            Track::new(p).map_err(|e| misstep(&["walks", node], e.to_string(), "write points = [{ at = \"0s\", place = [0, 0] }, ...]"))
        })
    }

    fn wander(
        &self,
        random: &RandomWaypointSpec,
        channel: &str,
        stations: &[StationAt],
        until: Time,
        tracks: &mut [Track],
    ) -> Result<(), PathError> {
        if random.fastest_mps < random.slowest_mps {
            let message = format!("the highest speed of {} m/s is below the lowest of {}", random.fastest_mps, random.slowest_mps);
            return Err(misstep(&["random_waypoint"], message, "exchange fastest_mps and slowest_mps"));
        }
        for (i, node) in random.stations.iter().flatten().enumerate() {
            let at = ["random_waypoint", "stations", &i.to_string()];
            if !stations.iter().any(|s| s.node == *node) {
                let known: Vec<&str> = stations.iter().map(|s| s.node.as_str()).collect();
                return Err(misstep(
                    &at,
                    format!("channel `{channel}` has no station `{node}`"),
                    crate::diag::suggest(node, &known, "its stations"),
                ));
            }
            if self.walks.contains_key(node) {
                return Err(misstep(&at, format!("`{node}` has a walk of its own"), "leave it out here, or under walks"));
            }
        }
        let points: HashSet<&String> = self.points().collect();
        let named: Option<HashSet<&String>> = random.stations.as_ref().map(|list| list.iter().collect());
        let field = random.field();
        for (track, s) in tracks.iter_mut().zip(stations) {
            let walks =
                named.as_ref().map_or_else(|| !points.contains(&s.node) && !self.walks.contains_key(&s.node), |n| n.contains(&s.node));
            if !walks {
                continue;
            }
            let mut rng = Stream::new(random.seed, "walk", &format!("{channel}.{}", s.node), "waypoints");
            let start = track.at(Time::ZERO);
            *track = Track::random(&field, start, until, MOST_POINTS, &mut rng).map_err(|e| {
                let help = if matches!(e, TrackError::Long(_)) {
                    "write lower speeds, longer pauses or a larger field"
                } else {
                    "write speeds above 0"
                };
                misstep(&["random_waypoint"], format!("station `{}`: {e}", s.node), help)
            })?;
        }
        Ok(())
    }
}

impl Moving {
    /// Paths of the moving stations.
    pub(crate) fn ways(&self, stations: &[StationAt]) -> Vec<WayAt> {
        let moved = stations.iter().zip(&*self.tracks).filter(|(_, t)| t.moves());
        let way = |t: &Track| {
            let mut points: Vec<[f64; 2]> = t.points().iter().take_while(|p| p.0 < self.until).map(|p| metres(p.1)).collect();
            points.push(metres(t.at(self.until)));
            points.dedup();
            points
        };
        moved.map(|(s, t)| WayAt { node: s.node.clone(), points: way(t) }).collect()
    }

    /// Hops at the start, and their later changes if routes follow.
    pub(crate) fn with(self, spec: &ChannelSpec, access: Access) -> (Vec<(u32, u32)>, Self) {
        let reach = spec.reach_mm();
        let tracks = self.tracks.clone();
        let meetings = Meetings { tracks, reach, access, step: spec.route_step, delay: spec.route_delay, until: self.until };
        let hops = meetings.hops(Time::ZERO);
        (hops, Self { meetings: (spec.routes == RoutesSpec::Follow).then_some(meetings), ..self })
    }

    pub(crate) fn motion(&self, spec: &ChannelSpec) -> Motion {
        Motion::new(self.tracks.clone(), spec.hearing(), spec.position_step)
    }

    /// Hops at the start and at all updates, if they change and do not join all stations at the start.
    pub(crate) fn ever(&self, first: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
        let meetings = self.meetings.as_ref().filter(|_| !joined(self.tracks.len(), first))?;
        let mut all: BTreeSet<(u32, u32)> = first.iter().copied().collect();
        let mut now = Time::ZERO;
        while let Some(look) = meetings.next(now) {
            all.extend(meetings.hops(look));
            now = look;
        }
        Some(all.into_iter().collect())
    }

    /// Checks that stations that hear one another are near enough for the standard at all times. Two stations on straight segments are farthest apart at a waypoint of
    /// either. If they are audible and farther than SIFS at waypoints, they are both at some time in between.
    pub(crate) fn check(&self, spec: &ChannelSpec) -> Result<(), AirError> {
        let hearing = spec.hearing();
        let sifs = spec.standard.0.sifs;
        let sifs_mm = (sifs.as_secs_f64() * 299_792_458.0 * 1e3) as u64;
        // Nothing to check if no signal carries so far or no station gets so far.
        if hearing.over(sifs_mm).is_none() || self.span() < sifs_mm {
            return Ok(());
        }
        let tracks = &self.tracks;
        for i in 0..tracks.len() {
            for j in 0..i {
                let (mut far, mut heard) = (false, false);
                let times = tracks[i].points().iter().chain(tracks[j].points()).map(|p| p.0.min(self.until));
                for t in times.chain([self.until]) {
                    let mm = tracks[i].at(t).distance(tracks[j].at(t));
                    far |= flight(mm as f64 / 1e3) >= sifs;
                    heard |= hearing.over(mm).is_some();
                }
                if far && heard {
                    return Err(AirError::TooFar(i as u32, j as u32));
                }
            }
        }
        Ok(())
    }

    /// Diagonal of the rectangle around all positions.
    fn span(&self) -> u64 {
        let all = || self.tracks.iter().flat_map(|t| t.points()).map(|p| p.1);
        let corner = |f: fn(i64, i64) -> i64| all().reduce(|a, b| Place { x: f(a.x, b.x), y: f(a.y, b.y) }).unwrap_or_default();
        corner(i64::min).distance(corner(i64::max))
    }
}

/// True if the bidirectional hops join all of `n` stations.
fn joined(n: usize, hops: &[(u32, u32)]) -> bool {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); n];
    hops.iter().for_each(|&(a, b)| next[a as usize].push(b));
    let (mut seen, mut open) = (vec![false; n], vec![0]);
    while let Some(i) = open.pop() {
        if !std::mem::replace(&mut seen[i as usize], true) {
            open.extend(&next[i as usize]);
        }
    }
    !seen.contains(&false)
}

fn metres(p: Place) -> [f64; 2] {
    [p.x as f64 / 1e3, p.y as f64 / 1e3]
}
