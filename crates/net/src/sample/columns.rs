//! Samples of flows and ports, and the columns made of them.

use crate::endpoint::SenderSample;
use crate::qdisc::Backlog;
use fairlane_units::Dur;

/// Sample of a flow.
#[derive(Clone, Debug)]
pub struct FlowSample {
    /// Time of the sample in seconds.
    pub time: f64,
    /// Seconds since the previous sample.
    pub step: f64,
    /// State of the sender.
    pub sender: SenderSample,
    /// Payload bytes that reached the receiver for the first time since the previous sample.
    pub arrived: u64,
    /// Bytes on the wire that reached the receiver since the previous sample.
    pub received: u64,
    /// Share of the step in which the flow controller let the flow send; NaN without a flow controller.
    pub open: f64,
}

/// Sample of a port.
#[derive(Clone, Debug)]
pub struct PortSample {
    /// Time of the sample in seconds.
    pub time: f64,
    /// Seconds since the previous sample.
    pub step: f64,
    /// Queued packets and bytes.
    pub backlog: Backlog,
    /// Bits carried since the previous sample.
    pub carried: f64,
    /// Packets dropped by the queue since the previous sample.
    pub drops: u64,
    /// Packets that the link lost because it failed or was down, since the previous sample.
    pub outage: u64,
}

/// A sample that is recorded as words. In most of them the upper half is zero.
pub(crate) trait Sample<const N: usize>: Sized {
    /// Returns the sample with these words.
    fn of(words: &[u64; N], time: f64, step: f64) -> Self;
}

/// Words of a flow's sample.
pub(crate) const FLOW: usize = 7;
/// Words of a port's sample.
pub(crate) const PORT: usize = 5;

/// Word of a number: its bits, with the halves swapped. Integers up to 2^21, among others, have a zero lower half of bits.
pub(crate) fn word(value: f64) -> u64 {
    value.to_bits().rotate_left(32)
}

pub(crate) fn value(word: u64) -> f64 {
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

/// Appends the values of some samples to a column.
pub type Fill<S> = fn(&[S], &mut Vec<f64>);

/// A column of samples of type `S`: its name, and the function that makes it.
pub type Column<S> = (&'static str, Fill<S>);
