//! Stations, media and rules drawn at random: no panic, no packet lost from sight, the same again from the same seed, and from a copy made on the way.

mod lab;

use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use fairlane_wireless::phy::STANDARDS;
use fairlane_wireless::*;
use lab::*;

struct Draw(Stream);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0.below(u64::from(n)) as u32
    }
    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
    fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize].clone()
    }
    fn dbm(&mut self, from: i32, to: i32) -> f64 {
        f64::from(from) + f64::from(self.below((to - from) as u32 * 10)) / 10.0
    }

    fn dcf(&mut self) -> Dcf {
        let standard = &STANDARDS[self.below(STANDARDS.len() as u32) as usize];
        let tones = standard.tones();
        let mut d = Dcf::new(standard, self.of(&tones));
        d.rts_threshold = self.of(&[0, 500, u32::MAX]);
        d.short_retries = self.of(&[0, 1, 7, 7, u32::MAX]);
        d.long_retries = self.of(&[0, 1, 4, 4, u32::MAX]);
        d.after_timeout = self.of(&[AfterTimeout::AtOnce, AfterTimeout::Difs, AfterTimeout::Known]);
        (d.at_once, d.nav_reset) = (self.chance(50), self.chance(70));
        (d.cw_min, d.cw_max) = self.of(&[(d.cw_min, d.cw_max), (d.cw_min, d.cw_max), (0, 0), (0, 7), (1, u32::MAX), (1023, 1023)]);
        let minstrel = Minstrel { sample: self.below(12), keep: self.dbm(-1, 2), ..Minstrel::default() };
        let arf = Arf { up: self.below(12), down: self.below(3), timer: self.below(20) };
        d.control = self.of(&[Control::Fixed, Control::Fixed, Control::Arf(arf), Control::Minstrel(minstrel)]);
        d
    }

    fn config(&mut self) -> AirConfig {
        AirConfig {
            noise: Power::from_dbm(self.of(&[-93.5, -93.5, -150.0, -60.0])),
            least: Power::from_dbm(self.dbm(-95, -50)),
            cca: Power::from_dbm(self.dbm(-95, -40)),
            decode_db: self.dbm(-5, 20),
            errors: self.of(&[Errors::Threshold, Errors::Rates]),
            look: Dur::from_us(u64::from(self.below(9))),
            detect_db: self.of(&[None, Some(4.0), Some(-3.0)]),
            capture: self.of(&[None, Some((5.0, Dur::from_us(16))), Some((0.0, Dur::from_ms(1)))]),
            headers_fail: self.chance(50),
            overlaid_unsensed: self.chance(50),
        }
    }

    fn ears(&mut self, of: u32, n: u32, sifs: Dur) -> Vec<Ear> {
        let far = self.of(&[0, 900, sifs.as_ps() - 1]);
        let others: Vec<u32> = (0..n).filter(|&b| b != of).collect();
        let mut ears = Vec::new();
        for station in others {
            if self.chance(80) {
                let loudest = if self.chance(5) { 60 } else { -30 };
                let power = Power::from_dbm(self.dbm(-100, loudest));
                ears.push(Ear { station, power, delay: Dur::from_ps(self.0.below(far + 1)) });
            }
        }
        ears
    }
}

fn counts(lab: &Lab) -> Vec<RadioCounters> {
    (0..lab.nodes.queues.len() as u32).map(|i| lab.air.counters(i).clone()).collect()
}

/// One network for 200 ms; half of its stations move at each step.
fn network(seed: u64, split: bool) -> (Vec<RadioCounters>, u64) {
    let mut d = Draw(Stream::new(seed, "random", "network", "all"));
    let n = 2 + d.below(9);
    let (dcf, config) = (d.dcf(), d.config());
    let ears: Vec<Vec<Ear>> = (0..n).map(|i| d.ears(i, n, dcf.sifs)).collect();
    let mut paths: Vec<Vec<u32>> = Vec::new();
    for start in 0..n {
        if start == 0 || d.chance(50) {
            let hops = 1 + d.below(4.min(n - 1));
            let mut path = vec![start];
            for _ in 0..hops {
                let left: Vec<u32> = (0..n).filter(|s| !path.contains(s)).collect();
                let next = d.of(&left);
                path.push(next);
            }
            paths.push(path);
        }
    }
    let refs: Vec<&[u32]> = paths.iter().map(|p| &p[..]).collect();
    let mut lab = Lab::new(dcf.clone(), &config, ears, &refs, seed);
    let moving = d.chance(40);
    for step in 1..=20u64 {
        if moving {
            for i in 0..n {
                let ears = d.ears(i, n, dcf.sifs);
                if d.chance(50) {
                    lab.air.heard_by(i, ears).expect("near enough");
                }
            }
        }
        if split && step == 10 {
            lab = lab.clone();
        }
        let now = Time::ZERO + Dur::from_ms(10) * step;
        lab.run(now);
        lab.conserved();
        for c in counts(&lab) {
            assert!(c.busy <= now.since(Time::ZERO) && c.acked + c.given_up <= c.data_tx + c.rts_tx, "{seed}: {c:?}");
            assert!(c.given_up_delivered <= c.given_up, "{seed}: {c:?}");
        }
    }
    let all = counts(&lab);
    let received: u64 = all.iter().map(|c| c.received).sum();
    let ended: u64 = all.iter().map(|c| c.acked + c.given_up_delivered).sum();
    let in_doubt = u64::from(n);
    assert!(received >= ended && received <= ended + in_doubt, "{seed}: {received} received, {ended} ended");
    (all, lab.nodes.made)
}

#[test]
fn networks_drawn_at_random_keep_every_packet_and_repeat() {
    let networks = u64::from(fairlane_testkit::cases(400));
    let mut frames = 0;
    for seed in 0..networks {
        let first = network(seed, false);
        assert_eq!(first, network(seed, true), "{seed}");
        frames += first.0.iter().map(|c| c.data_tx).sum::<u64>();
    }
    assert!(frames > 50 * networks, "{frames}");
}
