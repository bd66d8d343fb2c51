//! Files: one and then the flow closes, or one after another over the same flow.
//!
//! Repeated transfers are of two kinds. At an offered `rate` they arrive as a Poisson process, whatever became of those before (an open loop):
//! saturated sessions at a given load. With a `gap` each begins a random time after the end of the one before (a closed loop, as users who think).
//! Transfers of one flow share one stream of bytes, so one that arrives while others are in flight waits behind them, and its time counts from
//! its arrival: before a link alone that is M/G/1 with first come, first served. Many flows, each with a small part of the load, share the
//! link as processor sharing does.
//!
//! Deviations from the usual generators: the connection stays open between transfers, so handshakes and slow starts of new
//! connections are not in their times; `file` in many flows with staggered starts has them.

use super::{Source, Span};
use crate::draw::{SizeDraw, SizeLaw};
use fairlane_net::{App, AppCx, EpId, FlowId, Problem, Proto, Usage};
use fairlane_units::{Bytes, Dur, PS_PER_SEC, Rate, Time};
use std::collections::VecDeque;

fairlane_units::params! {
    /// File sends a given amount of data and closes the flow, or continues with transfers at an offered rate or after pauses (RFC 5166 section 2.1.1, transfer times).
    pub struct FileParams {
        /// Amount of data, headers not counted; the mean of them where `sizes` is not `fixed`.
        #[schemars(extend("x-min" = "1B", "x-max" = "1000TB"))]
        pub size: Bytes = Bytes(1_000_000),
        /// Distribution of the amounts.
        pub sizes: SizeLaw = SizeLaw::Fixed,
        /// Shape of Pareto amounts, above 1; the variance is infinite up to 2. For web files 1.2 or so (Crovella and Bestavros 1997, section 4.2).
        #[schemars(range(max = 100.0), extend("exclusiveMinimum" = 1.0))]
        pub shape: f64 = SHAPE,
        /// Coefficient of variation of lognormal amounts.
        #[schemars(range(min = 0.0, max = 100.0))]
        pub cv: f64 = 1.0,
        /// Mean offered rate of repeated transfers: they arrive as a Poisson process with mean gap 8 * `size` / `rate`. Unset: one transfer, or as `gap` says.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Mean of the exponential pauses between the end of a transfer and the start of the next, and before the first. Unset: one transfer, or as `rate` says.
        pub gap: Option<Dur> = None,
    }
}

/// Shape of Pareto sizes where none is given: a common value for files of the web (Crovella and Bestavros 1997).
const SHAPE: f64 = 1.2;
/// Largest transfer: what a drawn size is cut off at.
const LARGEST: u64 = 1_000_000_000_000_000;

impl Source for FileParams {
    type App = File;

    fn check(&self, over: Proto) -> Result<(), Problem> {
        let (field, repeated) = if self.gap.is_some() { ("gap", true) } else { ("rate", self.rate.is_some()) };
        if self.rate.is_some() && self.gap.is_some() {
            return Err(Problem::new("gap", "`rate` and `gap` are two ways to repeat transfers: write one of them"));
        }
        if repeated && over == Proto::Udp {
            let why = "a transfer is over when its last byte has arrived, and udp does not repeat what is lost: write tcp";
            return Err(Problem::new(field, why));
        }
        Ok(())
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> File {
        let size = self.size.get().clamp(1, LARGEST);
        let gap_of = |rate: Rate| {
            let ps = u128::from(size) * 8 * u128::from(PS_PER_SEC) / u128::from(rate.as_bps().max(1));
            Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
        };
        let repeat = match (self.rate, self.gap) {
            (Some(rate), _) => Repeat::Arrivals(gap_of(rate)),
            (None, Some(gap)) => Repeat::Pauses(gap),
            (None, None) => Repeat::Once,
        };
        File {
            span: Span::new(flow, start, stop),
            sizes: SizeDraw::of(self.sizes, size, self.shape.max(LEAST_SHAPE), self.cv.max(0.0)),
            repeat,
            started: false,
            written: 0,
            delivered: 0,
            open: VecDeque::new(),
        }
    }
}

/// Least shape that is drawn from; at 1 the mean is infinite.
const LEAST_SHAPE: f64 = 1.000_001;

/// Next transfer after one ends; with its mean gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// Nothing.
    Once,
    /// Others, as a Poisson process.
    Arrivals(Dur),
    /// Another, after a pause.
    Pauses(Dur),
}

/// A running file source.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    span: Span,
    sizes: SizeDraw,
    repeat: Repeat,
    started: bool,
    /// Bytes of all transfers so far.
    written: u64,
    delivered: u64,
    /// Transfers in flight: the byte at which each ends, and when it arrived.
    open: VecDeque<(u64, Time)>,
}

impl File {
    fn transfer(&mut self, cx: &mut AppCx<'_>) {
        let size = self.sizes.draw(cx.rng, LARGEST);
        let last = self.repeat == Repeat::Once;
        if !last {
            self.written = self.written.saturating_add(size);
            self.open.push_back((self.written, cx.now));
        }
        cx.write(self.span.flow, size, last);
    }

    fn wake_after(&self, mean: Dur, cx: &mut AppCx<'_>) {
        let gap = cx.rng.exponential(mean).max(Dur::from_ps(1));
        cx.wake_at((cx.now + gap).min(self.span.stop));
    }
}

impl App for File {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        let first = !std::mem::replace(&mut self.started, true);
        match self.repeat {
            Repeat::Once => {
                if first {
                    self.transfer(cx);
                }
                cx.wake_at(self.span.stop);
            }
            Repeat::Arrivals(mean) => {
                if !first {
                    self.transfer(cx);
                }
                self.wake_after(mean, cx);
            }
            Repeat::Pauses(mean) if first => self.wake_after(mean, cx),
            Repeat::Pauses(_) => {
                cx.wake_at(self.span.stop);
                self.transfer(cx);
            }
        }
    }

    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        if !at.receives() {
            return;
        }
        self.delivered = self.delivered.saturating_add(bytes);
        while let Some(&(end, since)) = self.open.front() {
            if self.delivered < end {
                return;
            }
            self.open.pop_front();
            cx.done(self.span.flow, since);
            if let Repeat::Pauses(mean) = self.repeat
                && cx.now < self.span.stop
            {
                self.wake_after(mean, cx);
            }
        }
    }

    fn listens(&self) -> bool {
        self.repeat != Repeat::Once
    }

    fn usage(&self) -> Usage {
        Usage { amounts: true, ..Usage::default() }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
