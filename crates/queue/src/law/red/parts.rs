//! The two halves of RED, which its relatives put together in other ways: the average, and the choice that follows from it.

use fairlane_engine::Stream;
use fairlane_net::LinkInfo;
use fairlane_units::{Bytes, PS_PER_SEC, Time};

/// When the link fell idle, known from the last departure: its start and its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Idle {
    /// Packets that an idle link is taken to send in a second.
    rate: f64,
    /// Seconds the link needs for a byte.
    sec_per_byte: f64,
    left_at: Time,
    left_len: u32,
}

impl Idle {
    /// A link that has been idle since time zero. `rate`: packets a second that age an average meanwhile.
    pub(crate) fn new(rate: f64, link: LinkInfo) -> Self {
        Self { rate, sec_per_byte: 8.0 / link.rate.as_bps().max(1) as f64, left_at: Time::ZERO, left_len: 0 }
    }

    /// Makes the idle rule for packets of `mean_packet` bytes.
    pub(crate) fn of_packets(mean_packet: Bytes, link: LinkInfo) -> Self {
        Self::new(link.rate.as_bps() as f64 / (8.0 * mean_packet.get().max(1) as f64), link)
    }

    /// A packet of `len` bytes begins its transmission.
    #[inline]
    pub(crate) fn left(&mut self, now: Time, len: u32) {
        (self.left_at, self.left_len) = (now, len);
    }

    /// Seconds since the last transmission ended; negative while it lasts.
    #[inline]
    pub(crate) fn secs(&self, now: Time) -> f64 {
        (now - self.left_at).as_ps() as f64 / PS_PER_SEC as f64 - f64::from(self.left_len) * self.sec_per_byte
    }

    /// Packets that could have been sent in `secs` of idle time: rounded down, none on a link that is still busy.
    #[inline]
    pub(crate) fn packets_in(&self, secs: f64) -> u64 {
        (secs * self.rate) as u64
    }

    /// Section 4 of the 1993 paper: m, the packets that the link could have sent while nothing waited.
    #[inline]
    pub(crate) fn packets(&self, now: Time) -> u64 {
        self.packets_in(self.secs(now))
    }
}

/// An exponentially weighted moving average of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Average {
    /// Its value.
    pub(crate) value: f64,
    weight: f64,
}

impl Average {
    pub(crate) fn new(weight: f64) -> Self {
        Self { value: 0.0, weight }
    }

    /// Takes `m` samples of an empty queue.
    #[inline]
    pub(crate) fn age(&mut self, m: u64) {
        self.value *= power(1.0 - self.weight, m);
    }

    /// Takes one sample.
    #[inline]
    pub(crate) fn sample(&mut self, queue: u64) {
        self.value = self.value * (1.0 - self.weight) + self.weight * queue as f64;
    }
}

/// `x` to the power `n`, by squaring: the same products on every machine.
pub(super) fn power(mut x: f64, mut n: u64) -> f64 {
    let mut y = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            y *= x;
        }
        x *= x;
        n >>= 1;
    }
    y
}

/// Parameters of a [`Chooser`]. Lengths are in the unit of the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Average below which nothing is chosen.
    pub(crate) min: f64,
    /// Average at which the probability is `max_p`.
    pub(crate) max: f64,
    /// Probability at `max`.
    pub(crate) max_p: f64,
    /// True if the probability rises to 1 at twice `max` instead of jumping there.
    pub(crate) gentle: bool,
    /// True if gaps run from 1/p to 2/p.
    pub(crate) wait: bool,
    /// True if gaps are counted in bytes and packets chosen in proportion to their length.
    pub(crate) byte_mode: bool,
    /// Length of a typical packet, in bytes.
    pub(crate) mean_packet: u64,
    /// Nothing is chosen while fewer wait than this.
    pub(crate) spare: u64,
    /// True if the first arrival above `min` is spared.
    pub(crate) grace: bool,
    /// True if an expired gap lasts until the average leaves the thresholds, with or without overflows.
    pub(crate) lapse: bool,
}

/// Chooses the packets to drop or mark, by the average: sections 4 and 7 of the 1993 paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chooser {
    shape: Shape,
    /// p_b between the thresholds is `slope * avg + offset`, above the upper one `slope2 * avg + offset2`.
    slope: f64,
    offset: f64,
    slope2: f64,
    offset2: f64,
    /// p_b of the last arrival.
    p_b: f64,
    /// Arrivals since the last choice, this one included.
    count: u64,
    count_bytes: u64,
    /// True if the last arrival found the average above the lower threshold.
    active: bool,
}

impl Chooser {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut c = Self { shape, slope: 0.0, offset: 0.0, slope2: 0.0, offset2: 1.0, p_b: 0.0, count: 0, count_bytes: 0, active: false };
        c.set_max_p(shape.max_p, true);
        c
    }

    /// Changes the probability at the upper threshold. `beyond`: also of the line that leads on from there in gentle mode.
    pub(crate) fn set_max_p(&mut self, max_p: f64, beyond: bool) {
        let s = &mut self.shape;
        s.max_p = max_p;
        let width = s.max - s.min;
        // Equal thresholds: a step, written as a ramp of one unit so that nothing divides by zero.
        let width = if width > 0.0 { width } else { 1.0 };
        self.slope = max_p / width;
        self.offset = -max_p * s.min / width;
        if s.gentle && beyond {
            (self.slope2, self.offset2) = ((1.0 - max_p) / s.max, 2.0 * max_p - 1.0);
        }
    }

    /// p_b of the last arrival.
    #[inline]
    pub(crate) fn p_b(&self) -> f64 {
        self.p_b
    }

    /// p_b: section 4, and the gentle variant above `max`.
    #[inline]
    pub(crate) fn p_b_at(&self, avg: f64) -> f64 {
        let p = if avg >= self.shape.max { self.slope2 * avg + self.offset2 } else { self.slope * avg + self.offset };
        p.clamp(0.0, 1.0)
    }

    /// p_a: makes the gaps between drops uniform instead of geometric (section 7, method 2).
    #[inline]
    fn p_a(&self, len: u32) -> f64 {
        let (s, p_b) = (&self.shape, self.p_b);
        let count = if s.byte_mode { self.count_bytes / s.mean_packet } else { self.count };
        let expected = count as f64 * p_b;
        let p = match (s.wait, expected) {
            (true, e) if e < 1.0 => 0.0,
            (true, e) if e < 2.0 => p_b / (2.0 - e),
            (false, e) if e < 1.0 => p_b / (1.0 - e),
            // The quotient has turned negative: the average rose as the gap ended.
            (false, e) if s.lapse && e > 1.0 && p_b < 1.0 => 0.0,
            _ => 1.0,
        };
        // Byte mode scales p_a and not p_b as in the paper, so that large packets do not shorten the gap twice; ns-2 does the same.
        if s.byte_mode && p < 1.0 { p * f64::from(len) / s.mean_packet as f64 } else { p }
    }

    /// True if the arriving packet of `len` bytes is chosen, with the average at `avg` and `waiting` before it.
    #[inline]
    pub(crate) fn chooses(&mut self, avg: f64, waiting: u64, len: u32, rng: &mut Stream) -> bool {
        let (min, spare, grace) = (self.shape.min, self.shape.spare, self.shape.grace);
        self.count += 1;
        self.count_bytes += u64::from(len);
        if avg < min || waiting < spare {
            self.active = false;
            self.p_b = 0.0;
            return false;
        }
        if !self.active {
            self.active = true;
            // Section 4 counts the first arrival above the threshold as number 0, ns-2 as number 1.
            self.count = u64::from(grace);
            self.count_bytes = if grace { u64::from(len) } else { 0 };
            if grace {
                return false;
            }
        }
        self.p_b = self.p_b_at(avg);
        if rng.uniform() >= self.p_a(len) {
            return false;
        }
        self.restart();
        true
    }

    /// True if the average alone drops the arriving packet, which then is counted but begins no new gap and is never spared.
    #[inline]
    pub(crate) fn forces(&mut self, avg: f64, waiting: u64, len: u32) -> bool {
        if avg < self.shape.min || waiting < self.shape.spare || self.p_b_at(avg) < 1.0 {
            return false;
        }
        self.p_b = 1.0;
        self.count += 1;
        self.count_bytes += u64::from(len);
        true
    }

    /// True if an average is below the upper threshold: above it packets are dropped even if they could be marked.
    #[inline]
    pub(crate) fn may_mark(&self, avg: f64) -> bool {
        avg < self.shape.max
    }

    /// The packet had no room.
    #[inline]
    pub(crate) fn overflowed(&mut self) {
        if !self.shape.lapse {
            self.restart();
        }
    }

    /// A drop of any kind begins a new gap.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}
