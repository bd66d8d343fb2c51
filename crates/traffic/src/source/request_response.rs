//! Requests and answers in a closed loop: a client that thinks between an answer and its next request.
//!
//! The classes of RFC 5166 section 2.1.2 (interactive traffic) and of the interactive systems of queueing theory (Denning and Buzen 1978, "The operational
//! analysis of queueing network models", Computing Surveys 10(3)): with N requests in the loop, mean response time R and mean think time Z the throughput is
//! N / (R + Z).
//!
//! Over UDP a request is repeated after a timeout, as DNS does (RFC 1035 section 4.2.1: 2 to 5 s). Deviation: the timeout does not back off (RFC 1536
//! section 1 wants it to), and repeats are not limited.

use super::dialogue::Dialogue;
use super::{Source, Span};
use crate::draw::{SizeDraw, SizeLaw};
use fairlane_net::{App, AppCx, EpId, FlowId, Problem, Proto, Usage};
use fairlane_units::{Bytes, Dur, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Largest answer that a law without bounds draws.
const MOST: u64 = 1_000_000_000_000;

fairlane_units::params! {
    /// How long a client thinks.
    pub enum ThinkTimes {
        /// Always the same time.
        Fixed,
        /// Exponentially distributed.
        #[default]
        Exponential,
    }

    /// Request-response: the flow's receiver asks, its sender answers, and the receiver thinks before it asks again (RFC 5166 section 2.1.2). Goodput counts the answers, a
    /// transaction lasts from a request to the last byte of its answer.
    pub struct RequestResponseParams {
        /// Size of a request: that of HTTP in IEEE 802.16m's evaluation methodology.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub request: Bytes = Bytes(350),
        /// Mean size of an answer.
        #[schemars(extend("x-min" = "1B", "x-max" = "1TB"))]
        pub response: Bytes = Bytes(10_000),
        /// Distribution of the sizes of answers.
        pub sizes: SizeLaw = SizeLaw::Fixed,
        /// Shape of the Pareto distribution: the smaller, the heavier its tail.
        #[schemars(range(min = 1.01, max = 100.0))]
        pub shape: f64 = 1.2,
        /// Coefficient of variation of the lognormal distribution: standard deviation over mean.
        #[schemars(range(min = 0.0, max = 100.0))]
        pub cv: f64 = 1.0,
        /// Mean time from the end of an answer to the next request.
        #[schemars(extend("x-max" = "1h"))]
        pub think: Dur = Dur::from_ms(100),
        /// Distribution of the think times.
        pub think_times: ThinkTimes = ThinkTimes::Exponential,
        /// Requests in the loop at a time, all asked at the start: with more than one they follow one another without awaiting answers (pipelining, RFC 9112
        /// section 9.3.2). Answers come in the order of the requests.
        #[schemars(range(min = 1, max = 1000))]
        pub outstanding: u32 = 1,
        /// Requests after whose answers the flow closes. Absent: no limit.
        #[schemars(range(min = 1))]
        pub requests: Option<u64> = None,
        /// Time after which what is missing of an answer is asked for again. Absent: over UDP 5 s (RFC 1035 section 4.2.1); never over TCP, which repeats by itself.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub timeout: Option<Dur> = None,
    }
}

impl Source for RequestResponseParams {
    type App = RequestResponse;

    fn check(&self, _: Proto) -> Result<(), Problem> {
        if self.requests.is_some_and(|n| n < u64::from(self.outstanding)) {
            return Err(Problem::new("requests", "there are fewer requests than `outstanding`"));
        }
        Ok(())
    }

    fn fill(&mut self, over: Proto) {
        super::default_timeout(&mut self.timeout, over);
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> RequestResponse {
        RequestResponse {
            span: Span::new(flow, start, stop),
            talk: Dialogue::new(flow, self.request.get(), self.timeout),
            sizes: SizeDraw::of(self.sizes, self.response.get(), self.shape, self.cv),
            think: self.think,
            think_times: self.think_times,
            first: self.outstanding.max(1),
            left: self.requests.unwrap_or(u64::MAX),
            thinking: BinaryHeap::new(),
        }
    }
}

/// A running client with its server.
#[derive(Clone, Debug)]
pub struct RequestResponse {
    span: Span,
    talk: Dialogue,
    sizes: SizeDraw,
    think: Dur,
    think_times: ThinkTimes,
    /// Requests to be made at the start; 0 after it.
    first: u32,
    /// Requests not made yet.
    left: u64,
    /// When the next requests will be made.
    thinking: BinaryHeap<Reverse<Time>>,
}

impl RequestResponse {
    fn ask(&mut self, cx: &mut AppCx<'_>) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let size = self.sizes.draw(cx.rng, MOST);
        self.talk.ask(size, self.left == 0, cx);
    }

    fn think(&mut self, cx: &mut AppCx<'_>) {
        let time = match self.think_times {
            ThinkTimes::Fixed => self.think,
            ThinkTimes::Exponential => cx.rng.exponential(self.think),
        };
        if time == Dur::ZERO {
            self.ask(cx);
        } else {
            self.thinking.push(Reverse(cx.now + time));
        }
    }

    fn arm(&self, cx: &mut AppCx<'_>) {
        let next = self.thinking.peek().map_or(Time::MAX, |t| t.0);
        cx.wake_at(next.min(self.talk.next_due()).min(self.span.stop));
    }
}

impl App for RequestResponse {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.both_over(cx) {
            return;
        }
        for _ in 0..std::mem::take(&mut self.first) {
            self.ask(cx);
        }
        self.talk.ask_again(cx);
        while self.thinking.peek().is_some_and(|t| t.0 <= cx.now) {
            self.thinking.pop();
            self.ask(cx);
        }
        self.arm(cx);
    }

    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        if cx.now >= self.span.stop {
            return;
        }
        let mut bytes = self.talk.on_delivered(at, bytes, cx);
        while let Some(ask) = self.talk.take(&mut bytes) {
            cx.done(self.span.flow, ask.since);
            if self.left > 0 {
                self.think(cx);
            } else if self.talk.open() == 0 && self.thinking.is_empty() {
                // All is answered: this end closes too.
                cx.reply(self.span.flow, 0, true);
            }
        }
        self.arm(cx);
    }

    fn listens(&self) -> bool {
        true
    }

    fn usage(&self) -> Usage {
        Usage { dialogue: true, amounts: true }
    }
}

#[cfg(test)]
#[path = "request_response_tests.rs"]
mod tests;
