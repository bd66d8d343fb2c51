//! Markers: meters that colour packets by whether they keep to a profile, before the queue that they stand in front of.

use crate::classify::{Filter, Match, code_point};
use crate::discipline::{Discipline, Problem};
use fairlane_net::{BuildContext, Class, DropReason, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Rate, Time};

pub(crate) mod policer;
pub(crate) mod srtcm;
pub(crate) mod trtcm;

/// Default depth of a bucket, ten packets of 1500 bytes: RFC 2697 and RFC 2698 ask in section 1 for at least the longest packet.
const BURST: Bytes = Bytes(15_000);

fairlane_units::params! {
    /// True if a meter looks at the colour that a packet already has.
    pub enum MeterMode {
        /// Every packet is taken as uncoloured (RFC 2697 and RFC 2698, section 2).
        #[default]
        Blind,
        /// A packet with the code point of `yellow` or `red` keeps at most that colour; all others are taken as green.
        Aware,
    }

    /// Who shares a meter.
    pub enum MeterPer {
        /// All packets that are metered.
        #[default]
        Aggregate,
        /// The packets of one flow: each flow has the whole profile.
        Flow,
    }
}

/// The verdict of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Within the profile.
    Green,
    /// Beyond it, but within what is tolerated.
    Yellow,
    /// Beyond that.
    Red,
}

/// Action on a packet of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Class(Class),
    Keep,
    Drop,
}

fn action(text: &str) -> Result<Action, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "drop" => Ok(Action::Drop),
        "keep" => Ok(Action::Keep),
        _ => match code_point(text) {
            Ok(bits) => Ok(Action::Class(Class(bits))),
            Err(e) => Err(format!("{e}; or \"drop\" to police, \"keep\" to leave the packet as it is")),
        },
    }
}

/// Parameters that all markers share.
pub(crate) struct Common<'a> {
    pub(crate) mode: MeterMode,
    pub(crate) per: MeterPer,
    pub(crate) select: &'a Match,
    /// Names and values of the parameters that say what happens to green, yellow and red packets.
    pub(crate) actions: [(&'static str, &'a str); 3],
}

impl Common<'_> {
    pub(crate) fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        for (field, text) in self.actions {
            action(text).map_err(|message| Problem::new(field, message))?;
        }
        self.select.check(context).map_err(|message| Problem::new("match", message))
    }

    pub(crate) fn build<M, S: Discipline>(&self, meter: M, queue: &S, context: &BuildContext<'_>) -> Marker<M, S::Queue> {
        Marker {
            meters: vec![],
            pattern: meter,
            filter: Filter::new(self.select, context),
            actions: self.actions.map(|(_, text)| action(text).unwrap_or(Action::Keep)),
            aware: self.mode == MeterMode::Aware,
            per_flow: self.per == MeterPer::Flow,
            counts: [0; 3],
            inner: queue.build(context),
        }
    }
}

pub(crate) fn check_rate(rate: Rate, field: &str) -> Result<(), Problem> {
    match rate.as_bps() {
        0 => Err(Problem::new(field, "a profile without rate: write for instance \"1Mbit/s\"")),
        _ => Ok(()),
    }
}

pub(crate) fn check_depth(depth: Bytes, field: &str) -> Result<(), Problem> {
    match depth.get() {
        0 => Err(Problem::new(field, "it should be at least the longest packet, such as \"1500B\"")),
        _ => Ok(()),
    }
}

/// Measures packets against a profile.
pub trait Meter: Clone + Send + std::fmt::Debug {
    /// The colour of a packet of `len` bytes that came with the colour `before`.
    fn colour(&mut self, now: Time, len: u32, before: Colour) -> Colour;
    /// Gives the tokens of its buckets, in bytes, with their names.
    fn buckets(&self, out: &mut dyn FnMut(&'static str, f64));
}

/// A meter, the colours that it gives, and the queue behind it.
#[derive(Clone, Debug)]
pub struct Marker<M, Q> {
    /// One for all, or one for each flow by its number.
    meters: Vec<M>,
    pattern: M,
    filter: Filter,
    actions: [Action; 3],
    aware: bool,
    per_flow: bool,
    counts: [u64; 3],
    inner: Q,
}

impl<M: Meter, Q: Qdisc> Marker<M, Q> {
    /// Colours a packet. Returns true if it is not dropped.
    #[inline]
    fn paint(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        if !self.filter.fits(p) {
            return true;
        }
        let before = match self.aware {
            true if self.actions[2] == Action::Class(p.class) => Colour::Red,
            true if self.actions[1] == Action::Class(p.class) => Colour::Yellow,
            _ => Colour::Green,
        };
        let i = if self.per_flow { p.flow.0 as usize } else { 0 };
        if self.meters.len() <= i {
            self.meters.resize(i + 1, self.pattern.clone());
        }
        let colour = self.meters[i].colour(cx.now, p.len, before);
        self.counts[colour as usize] += 1;
        match self.actions[colour as usize] {
            Action::Class(c) => p.class = c,
            Action::Keep => {}
            Action::Drop => {
                cx.drop(*p, DropReason::Forced);
                return false;
            }
        }
        true
    }
}

impl<M: Meter, Q: Qdisc> Qdisc for Marker<M, Q> {
    fn enqueue(&mut self, mut p: Packet, cx: &mut QCx<'_>) {
        if self.paint(&mut p, cx) {
            self.inner.enqueue(p, cx);
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        self.inner.dequeue(cx)
    }

    fn pass(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        self.paint(p, cx) && self.inner.pass(p, cx)
    }

    fn head(&self) -> Option<&Packet> {
        self.inner.head()
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        self.inner.on_timer(cx)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        for (name, count) in ["green_packets", "yellow_packets", "red_packets"].into_iter().zip(self.counts) {
            out(name, count as f64);
        }
        if !self.per_flow {
            self.meters.first().unwrap_or(&self.pattern).buckets(out);
        }
        self.inner.gauges(out);
    }

    answered_by! { inner: backlog, ready_at, has_timer, clamps, headers }
}

#[cfg(test)]
mod tests;
