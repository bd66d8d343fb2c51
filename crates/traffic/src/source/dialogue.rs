//! Asking and answering over a flow: what the sources have in common whose receiving end asks and whose sending end answers.
//!
//! Over TCP bytes arrive once and in order, and every answer is whole in its turn. Over UDP a request or part of an answer may be lost: what is missing
//! after the timeout is asked for again. Deviation: datagrams do not say what they answer, so the oldest question takes what comes; that matters only
//! where an answer is later than the timeout, or with several questions of different sizes.

use fairlane_engine::steps::step;
use fairlane_net::{AppCx, EpId, FlowId};
use fairlane_units::{Dur, Time};
use std::collections::VecDeque;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// When it was asked first.
    pub(crate) since: Time,
    /// Bytes of the answer that did not arrive yet.
    missing: u64,
    /// The answer was written; not, if it was asked again since.
    answered: bool,
    /// Nothing is asked after it.
    last: bool,
}

/// The questions of a flow and the answers to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialogue {
    flow: FlowId,
    /// Bytes of a question.
    request: u64,
    /// Time after which what is missing is asked for again.
    timeout: Option<Dur>,
    open: VecDeque<Ask>,
    /// Number of the first of them: those before it have their answers.
    first: u64,
    /// When each is asked again, with its number, in the order of time; none without a timeout.
    dues: VecDeque<(Time, u64)>,
    /// Number below which each has its answer written.
    written: u64,
    /// Bytes at the answering end that are not a whole question yet.
    heard: u64,
}

impl Dialogue {
    pub(crate) fn new(flow: FlowId, request: u64, timeout: Option<Dur>) -> Self {
        Self {
            flow,
            request: request.max(1),
            timeout: timeout.filter(|&t| t > Dur::ZERO),
            open: VecDeque::new(),
            first: 0,
            dues: VecDeque::new(),
            written: 0,
            heard: 0,
        }
    }

    /// Questions without a whole answer.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// When a question is asked again; `MAX` for never.
    pub(crate) fn next_due(&self) -> Time {
        self.dues.front().map_or(Time::MAX, |d| d.0)
    }

    /// Asks for `size` bytes; `last`: the answering end closes behind them.
    pub(crate) fn ask(&mut self, size: u64, last: bool, cx: &mut AppCx<'_>) {
        if let Some(timeout) = self.timeout {
            self.dues.push_back((cx.now + timeout, self.first + self.open.len() as u64));
        }
        self.open.push_back(Ask { since: cx.now, missing: size.max(1), answered: false, last });
        cx.reply(self.flow, self.request, false);
    }

    /// Asks again for what is overdue.
    pub(crate) fn ask_again(&mut self, cx: &mut AppCx<'_>) {
        let Some(timeout) = self.timeout else { return };
        while let Some(&(_, number)) = self.dues.front().filter(|d| d.0 <= cx.now) {
            step(1);
            self.dues.pop_front();
            if let Some(ask) = self.open.get_mut((number - self.first) as usize) {
                ask.answered = false;
                self.written = self.written.min(number);
                self.dues.push_back((cx.now + timeout, number));
                cx.reply(self.flow, self.request, false);
            }
            self.forget_answered();
        }
    }

    /// Removes the times of questions that have their answers.
    fn forget_answered(&mut self) {
        while self.dues.front().is_some_and(|d| d.1 < self.first) {
            step(1);
            self.dues.pop_front();
        }
    }

    /// Bytes arrived. At the answering end questions that are whole are answered, the oldest first; at the other they are returned, to be
    /// [taken](Self::take).
    pub(crate) fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) -> u64 {
        if at.receives() {
            return bytes;
        }
        self.heard += bytes;
        while self.heard >= self.request {
            self.heard -= self.request;
            // A question that was asked twice and heard twice has its answer already.
            self.written = self.written.max(self.first);
            while self.open.get((self.written - self.first) as usize).is_some_and(|a| a.answered) {
                step(1);
                self.written += 1;
            }
            if let Some(ask) = self.open.get_mut((self.written - self.first) as usize) {
                ask.answered = true;
                cx.write(self.flow, ask.missing, ask.last);
            }
        }
        0
    }

    /// The oldest question, if `bytes` are all that was missing of its answer; they become what is left for the next.
    pub(crate) fn take(&mut self, bytes: &mut u64) -> Option<Ask> {
        let ask = self.open.front_mut()?;
        let part = ask.missing.min(*bytes);
        ask.missing -= part;
        *bytes -= part;
        if ask.missing != 0 {
            return None;
        }
        self.first += 1;
        let ask = self.open.pop_front();
        self.forget_answered();
        ask
    }
}
