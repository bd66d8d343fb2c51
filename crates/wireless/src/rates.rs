//! Which rate a frame goes out with, from what became of those before it: for each neighbour on its own.

use crate::phy::Tone;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// A rate that data may be sent with, and what they are then acknowledged with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rung {
    /// Rate of data frames.
    pub data: Tone,
    /// Rate of the acknowledgment.
    pub ack: Tone,
}

/// How the rate is chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Control {
    /// It never changes.
    #[default]
    Fixed,
    /// Automatic rate fallback.
    Arf(Arf),
    /// By the throughput that samples promise.
    Minstrel(Minstrel),
}

/// Kamerman and Monteban, "WaveLAN-II", Bell Labs Technical Journal 2(3), 1997: down after some acknowledgments missed in a row, up after some received in a row or
/// some time; down again at once if the first frame after that is lost. Its time is counted in frames here, as ns-3 does. It starts at the lowest rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arf {
    /// Received in a row for the next rate.
    pub up: u32,
    /// Missed in a row for the one below.
    pub down: u32,
    /// Frames after which the next rate is tried in any case.
    pub timer: u32,
}

impl Default for Arf {
    fn default() -> Self {
        Self { up: 10, down: 2, timer: 15 }
    }
}

/// After Minstrel of Linux (rc80211_minstrel): for each rate a moving average of the share of frames that arrive, and from it a throughput; the best goes first, then
/// the second best, then the most reliable, then the lowest; a share of packets tries another rate, first if it is faster than the best and else after it. Not
/// taken over: its table of random columns (the draw is uniform), its limit of 6 ms for each step of a chain (two attempts each), rates of 802.11n.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Minstrel {
    /// How often averages are taken.
    pub interval: Dur,
    /// Weight of the old average, 0 to 1.
    pub keep: f64,
    /// Packets per sample.
    pub sample: u32,
}

impl Default for Minstrel {
    fn default() -> Self {
        Self { interval: Dur::from_ms(100), keep: 0.75, sample: 10 }
    }
}

/// Frames by which rates are compared, in bytes.
const TYPICAL: u32 = 1200;
/// A rate with which fewer frames arrive has no throughput.
const HOPELESS: f64 = 0.1;

#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    sent: u32,
    arrived: u32,
    share: f64,
}

/// State of one neighbour.
#[derive(Clone, Debug)]
struct Peer {
    to: u32,
    /// The rate of the frame in flight.
    at: usize,
    // ARF
    good: u32,
    bad: u32,
    timer: u32,
    probe: bool,
    // Minstrel
    tried: Vec<Tried>,
    next: Time,
    packets: u32,
    sample: Option<usize>,
    /// Best, second best, most reliable.
    order: [usize; 3],
}

/// Rate control state of a station for its neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(Vec<Peer>);

impl Rates {
    fn peer(&mut self, to: u32, rungs: usize) -> &mut Peer {
        let at = self.0.iter().position(|p| p.to == to).unwrap_or_else(|| {
            let tried = vec![Tried::default(); rungs];
            self.0.push(Peer {
                to,
                at: 0,
                good: 0,
                bad: 0,
                timer: 0,
                probe: false,
                tried,
                next: Time::ZERO,
                packets: 0,
                sample: None,
                order: [0; 3],
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The rate of the next frame to `to`, which is the `attempt`th (from 0) with its packet.
    pub(crate) fn pick(&mut self, to: u32, attempt: u32, control: &Control, rungs: &[Rung], now: Time, rng: &mut Stream) -> Option<Rung> {
        let p = match control {
            Control::Fixed => return None,
            Control::Arf(_) => self.peer(to, rungs.len()),
            Control::Minstrel(m) => {
                let p = self.peer(to, rungs.len());
                p.choose(attempt, m, rungs, now, rng);
                p
            }
        };
        rungs.get(p.at).copied()
    }

    /// Reports the outcome of the frame in flight to `to`.
    pub(crate) fn report(&mut self, to: u32, arrived: bool, control: &Control, rungs: &[Rung]) {
        match control {
            Control::Fixed => {}
            Control::Arf(a) => self.peer(to, rungs.len()).fall_back(arrived, a, rungs.len()),
            Control::Minstrel(_) => {
                let p = self.peer(to, rungs.len());
                if let Some(t) = p.tried.get_mut(p.at) {
                    t.sent += 1;
                    t.arrived += u32::from(arrived);
                }
            }
        }
    }
}

impl Peer {
    fn fall_back(&mut self, arrived: bool, a: &Arf, rungs: usize) {
        self.timer += 1;
        if !arrived {
            self.good = 0;
            self.bad += 1;
            if self.bad.is_multiple_of(a.down.max(1)) || (self.probe && self.bad == 1) {
                self.at = self.at.saturating_sub(1);
                self.timer = 0;
            }
            return;
        }
        (self.good, self.bad, self.probe) = (self.good + 1, 0, false);
        if (self.good >= a.up || self.timer >= a.timer) && self.at + 1 < rungs {
            self.at += 1;
            (self.good, self.timer, self.probe) = (0, 0, true);
        }
    }

    fn choose(&mut self, attempt: u32, m: &Minstrel, rungs: &[Rung], now: Time, rng: &mut Stream) {
        if now >= self.next {
            self.next = now + m.interval;
            self.average(m, rungs);
        }
        let [best, second, safe] = self.order;
        if attempt == 0 {
            self.packets += 1;
            let due = rungs.len() > 1 && self.packets.is_multiple_of(m.sample.max(1));
            // One of the others.
            self.sample = due.then(|| (best + 1 + rng.below(rungs.len() as u64 - 1) as usize) % rungs.len());
        }
        self.at = match (attempt, self.sample) {
            (0, Some(s)) if s > best => s,
            (1, Some(s)) if s < best => s,
            (0 | 1, _) => best,
            (2 | 3, _) => second,
            (4 | 5, _) => safe,
            _ => 0,
        };
    }

    fn average(&mut self, m: &Minstrel, rungs: &[Rung]) {
        let keep = m.keep.clamp(0.0, 1.0);
        for t in &mut self.tried {
            if t.sent > 0 {
                let now = f64::from(t.arrived) / f64::from(t.sent);
                t.share = if t.share == 0.0 { now } else { t.share * keep + now * (1.0 - keep) };
                (t.sent, t.arrived) = (0, 0);
            }
        }
        let promise = |k: usize| {
            let share = self.tried[k].share;
            if share < HOPELESS { 0.0 } else { share / rungs[k].data.airtime(TYPICAL).as_secs_f64() }
        };
        let greatest = |value: &dyn Fn(usize) -> f64, but: Option<usize>| {
            let others = (0..rungs.len()).filter(|&k| Some(k) != but);
            others.fold(None, |top: Option<usize>, k| if top.is_some_and(|t| value(t) >= value(k)) { top } else { Some(k) }).unwrap_or(0)
        };
        let best = greatest(&promise, None);
        let second = greatest(&promise, Some(best));
        self.order = [best, second, greatest(&|k| self.tried[k].share, None)];
    }
}
