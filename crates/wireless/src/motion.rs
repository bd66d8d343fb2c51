//! Stations that move: where all of them are, step by step, and who hears whom from there.

use crate::air::Ear;
use crate::mobility::{Place, Track};
use crate::power::{Power, Propagation, flight};
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// Received power of a signal as a function of distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hearing {
    /// Power of every transmitter in dBm.
    pub power_dbm: f64,
    /// Signals below this power are not looked at, in dBm.
    pub floor_dbm: f64,
    /// How signals get weaker.
    pub propagation: Propagation,
}

impl Hearing {
    /// A signal over a distance in millimetres, if it is looked at.
    pub fn over(&self, mm: u64) -> Option<(Power, Dur)> {
        let metres = mm as f64 / 1e3;
        let dbm = self.power_dbm - self.propagation.loss(metres);
        (dbm >= self.floor_dbm).then(|| (Power::from_dbm(dbm), flight(metres)))
    }
}

/// The walks of all stations of a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Motion {
    tracks: Arc<[Track]>,
    hearing: Hearing,
    step: Dur,
    places: Vec<Place>,
    moved: Vec<bool>,
}

impl Motion {
    /// Station `i` walks as `tracks[i]` says; powers are worked out again at each whole multiple of `step`, above zero.
    pub fn new(tracks: Arc<[Track]>, hearing: Hearing, step: Dur) -> Self {
        let places = tracks.iter().map(|t| t.at(Time::ZERO)).collect();
        let moved = vec![false; tracks.len()];
        Self { tracks, hearing, step, places, moved }
    }

    /// Who hears each station where all stand now.
    pub fn ears(&self) -> Vec<Vec<Ear>> {
        let all = 0..self.places.len();
        let mut ears: Vec<Vec<Ear>> = vec![Vec::new(); self.places.len()];
        all.clone().for_each(|i| self.hear(i, all.clone(), &mut ears[i]));
        ears
    }

    fn hear(&self, i: usize, others: impl Iterator<Item = usize>, list: &mut Vec<Ear>) {
        for j in others.filter(|&j| j != i) {
            if let Some((power, delay)) = self.hearing.over(self.places[i].distance(self.places[j])) {
                list.push(Ear { station: j as u32, power, delay });
            }
        }
    }

    /// When places are looked at next: the first whole multiple of the step after `now` before which somebody moves.
    pub fn next(&self, now: Time) -> Option<Time> {
        next_step(&self.tracks, now, self.step)
    }

    /// All walk on to where they are `now`.
    pub(crate) fn walk(&mut self, now: Time) {
        for ((place, moved), track) in self.places.iter_mut().zip(&mut self.moved).zip(&*self.tracks) {
            let there = track.at(now);
            *moved = there != *place;
            *place = there;
        }
    }

    /// True if `list`, of those who hear station `i`, is not true any more after the last steps; it is then.
    pub(crate) fn renew(&self, i: usize, list: &mut Vec<Ear>) -> bool {
        if self.moved[i] {
            list.clear();
            self.hear(i, 0..self.places.len(), list);
            return true;
        }
        if !self.moved.contains(&true) {
            return false;
        }
        list.retain(|e| !self.moved[e.station as usize]);
        self.hear(i, (0..self.places.len()).filter(|&j| self.moved[j]), list);
        true
    }
}

/// The first whole multiple of `step` after `now` before which somebody moves.
pub(crate) fn next_step(tracks: &[Track], now: Time, step: Dur) -> Option<Time> {
    let starts = tracks.iter().filter_map(|t| t.moves_from(now)).min()?;
    let (ps, step) = (starts.since(Time::ZERO).as_ps(), step.as_ps());
    Some(Time::ZERO.later(Dur::from_ps((ps / step).saturating_add(1).saturating_mul(step))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(s: u64) -> Time {
        Time::ZERO + Dur::from_secs(s)
    }

    fn motion() -> Motion {
        let p = |x, y| Place { x, y };
        let rests = Track::new(vec![(secs(0), p(0, 0))]).unwrap();
        let walks = Track::new(vec![(secs(3), p(10_000, 0)), (secs(8), p(60_000, 0))]).unwrap();
        let far = Track::new(vec![(secs(0), p(0, 40_000))]).unwrap();
        let hearing = Hearing { power_dbm: 10.0, floor_dbm: -90.0, propagation: Propagation::Range { metres: 50.0 } };
        Motion::new([rests, walks, far].into(), hearing, Dur::from_ms(400))
    }

    /// Places are looked at on multiples of the step alone, from the first one at which somebody can have moved to the first one after the last walk.
    #[test]
    fn steps_are_taken_while_somebody_moves() {
        let (m, mut now, mut steps) = (motion(), Time::ZERO, Vec::new());
        while let Some(next) = m.next(now) {
            now = next;
            steps.push(now.since(Time::ZERO).as_ps() / 1_000_000_000);
        }
        assert_eq!(steps, (8..=20).map(|k| 400 * k).collect::<Vec<u64>>());
    }

    /// Neighbour lists updated step by step equal those computed at once.
    #[test]
    fn ears_are_those_of_the_places() {
        let mut m = motion();
        let mut ears = m.ears();
        assert_eq!(ears[1].len(), 2);
        for s in 0..10 {
            m.walk(secs(s));
            for (i, list) in ears.iter_mut().enumerate() {
                m.renew(i, list);
                list.sort_by_key(|e| e.station);
            }
            assert_eq!(ears, m.ears(), "at {s} s");
        }
        // At 60 m from the one and 72 m from the other, with a range of 50 m.
        assert!(ears[1].is_empty() && ears[0].len() == 1);
    }
}
