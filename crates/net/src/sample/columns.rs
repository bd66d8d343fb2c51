//! Samples of flows and ports, and the columns made of them.

use crate::endpoint::SenderSample;
use crate::qdisc::Backlog;
use fairlane_units::Dur;

/// A flow at the instant of a sample.
#[derive(Clone, Debug)]
pub struct FlowSample {
    /// Now, in seconds.
    pub time: f64,
    /// Seconds since the sample before.
    pub step: f64,
    /// What its sender says of itself.
    pub sender: SenderSample,
    /// Payload bytes that reached the receiver for the first time since the sample before.
    pub arrived: u64,
    /// Bytes on the wire that reached the receiver since the sample before.
    pub received: u64,
    /// Share of the step in which its control let the flow send; NaN for a flow without one.
    pub open: f64,
}

/// A port at the instant of a sample.
#[derive(Clone, Debug)]
pub struct PortSample {
    /// Now, in seconds.
    pub time: f64,
    /// Seconds since the sample before.
    pub step: f64,
    /// What waits.
    pub backlog: Backlog,
    /// Bits carried since the sample before.
    pub carried: f64,
    /// Packets dropped by the queue since the sample before.
    pub drops: u64,
    /// Packets that the link lost because it failed or was down, since the sample before.
    pub outage: u64,
}

/// What a row is recorded as: words of which most are zero, or as they were, and of the others most have nothing in their upper half.
pub(crate) trait Sample<const N: usize>: Sized {
    /// The sample that was recorded so.
    fn of(words: &[u64; N], time: f64, step: f64) -> Self;
}

/// Words of a flow's row.
pub(crate) const FLOW: usize = 7;
/// Those of a port's.
pub(crate) const PORT: usize = 5;

/// Whole numbers up to 2^21 and many others have nothing in the lower half of their bits.
pub(crate) fn word(value: f64) -> u64 {
    value.to_bits().rotate_left(32)
}

fn value(word: u64) -> f64 {
    f64::from_bits(word.rotate_right(32))
}

impl Sample<FLOW> for FlowSample {
    fn of(&[cwnd, ssthresh, in_flight, srtt, arrived, received, open]: &[u64; FLOW], time: f64, step: f64) -> Self {
        let sender = SenderSample { cwnd, ssthresh, in_flight, srtt: Dur::from_ps(srtt) };
        Self { time, step, sender, arrived, received, open: value(open) }
    }
}

impl Sample<PORT> for PortSample {
    fn of(&[carried, pkts, bytes, drops, outage]: &[u64; PORT], time: f64, step: f64) -> Self {
        let backlog = Backlog { pkts: pkts as u32, bytes };
        Self { time, step, backlog, carried: value(carried), drops, outage }
    }
}

/// Adds the values of some samples to a column.
pub type Fill<S> = fn(&[S], &mut Vec<f64>);

/// How one column comes out of samples of type `S`: by its name.
pub type Column<S> = (&'static str, Fill<S>);
