//! Rate control over UDP: endpoints that send an application's writes no faster than the path allows.

mod arrivals;
mod back;
mod equation;
mod intervals;
mod losses;
mod outlet;
mod queue;
pub(crate) mod rap;
mod recv_set;
mod sender;
pub(crate) mod tfrc;

#[cfg(test)]
mod pair;

use fairlane_net::Segment;

/// Weight of a new value in the running mean of packet sizes: RFC 5348 section 4.1 leaves the mean of sizes that vary to the implementation.
const SIZE_GAIN: f64 = 1.0 / 16.0;

/// The mean size of a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MeanSize(f64);

impl MeanSize {
    fn add(&mut self, bytes: u16) {
        self.0 += SIZE_GAIN * (f64::from(bytes) - self.0);
    }
}

/// Puts four numbers of 64 bits into the words of a segment.
fn pack(seg: &mut Segment, values: [u64; 4]) {
    let [a, b, c, d] = values;
    let (high, low) = (|v: u64| (v >> 32) as u32, |v: u64| v as u32);
    seg.set_words([high(a), low(a), high(b), low(b), high(c), low(c), high(d), low(d)]);
}

/// The four numbers that [`pack`] put there.
fn unpack(seg: &Segment) -> [u64; 4] {
    let w = seg.words();
    [0, 2, 4, 6].map(|i| u64::from(w[i]) << 32 | u64::from(w[i + 1]))
}
