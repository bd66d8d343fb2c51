//! The player of a video at the receiver: it starts when enough is in its buffer, stalls when that is empty, and resumes when enough is there again.
//!
//! Over a stream a frame has arrived with its last byte. Over datagrams, which may be lost, it has arrived with its last datagram or any later one: what is
//! lost is concealed, not waited for. Frames play in the order in which they are sent, at their pace.

use fairlane_net::{AppCx, EpId, FlowId};
use fairlane_units::{Dur, Time};
use std::collections::VecDeque;

/// End of a frame in what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    bytes: u64,
    datagrams: u64,
}

/// A player.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Player {
    flow: FlowId,
    /// Time of a frame.
    interval: Dur,
    /// Frames that must be in the buffer for it to play on, now and after each stall.
    needs: u64,
    resumes: u64,
    written: End,
    arrived: u64,
    /// Frames that were written and have not arrived.
    under_way: VecDeque<End>,
    /// Frames in the buffer while nothing plays.
    buffered: u64,
    /// Time at which the buffer is empty; none while nothing plays.
    until: Option<Time>,
}

impl Player {
    /// A player that starts with `start` in its buffer, and resumes with `resume`.
    pub(super) fn new(flow: FlowId, interval: Dur, [start, resume]: [Dur; 2]) -> Self {
        let frames = |d: Dur| d.as_ps().div_ceil(interval.as_ps()).max(1);
        Self {
            flow,
            interval,
            needs: frames(start),
            resumes: frames(resume),
            written: End { bytes: 0, datagrams: 0 },
            arrived: 0,
            under_way: VecDeque::new(),
            buffered: 0,
            until: None,
        }
    }

    /// Notes a packet, and whether it ends a frame.
    pub(super) fn sent(&mut self, bytes: u64, ends: bool) {
        self.written.bytes += bytes;
        self.written.datagrams += 1;
        if ends {
            self.under_way.push_back(self.written);
        }
    }

    /// Takes what arrived.
    pub(super) fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        if !at.receives() {
            return;
        }
        self.arrived += bytes;
        let mut frames = 0;
        while let Some(end) = self.under_way.front() {
            let there = cx.newest.map_or(self.arrived >= end.bytes, |n| n >= end.datagrams - 1);
            if !there {
                break;
            }
            self.under_way.pop_front();
            frames += 1;
        }
        if frames == 0 {
            return;
        }
        match self.until.filter(|&t| t >= cx.now) {
            Some(until) => self.until = Some(until + self.interval * frames),
            None => {
                self.until = None;
                self.buffered += frames;
                if self.buffered < self.needs {
                    return;
                }
                self.until = Some(cx.now + self.interval * self.buffered);
                (self.buffered, self.needs) = (0, self.resumes);
            }
        }
        if let Some(until) = self.until {
            cx.plays(self.flow, until - cx.now);
        }
    }
}
