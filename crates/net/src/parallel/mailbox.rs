//! What parts send one another at the end of a window.

use super::ledger::{Moment, Wrote};
use crate::ids::FlowId;
use crate::packet::{Packet, Segment};

/// A packet whose transmission over a link into another part has begun: the one of its hop. `pkt.at` is when it arrives there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) pkt: Packet,
    pub(super) seg: Segment,
}

/// A question of part `from`: what the round-trip times of a flow came to at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) from: u16,
    pub(super) number: u64,
    pub(super) flow: FlowId,
    pub(super) when: Moment,
}

/// The answer to question `number`: how many there were, and their sum in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) number: u64,
    pub(super) n: u64,
    pub(super) sum: u128,
}

/// What one part sends to another. Of each kind the order is that of one sender; between senders there is none, and none is needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Post {
    pub(super) sent: Vec<Sent>,
    pub(super) news: News,
}

/// What comes seldom.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    pub(super) wrote: Vec<Wrote>,
    pub(super) asks: Vec<Ask>,
    pub(super) answers: Vec<Answer>,
}

impl Post {
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.news.is_empty()
    }
}

impl News {
    pub(super) fn is_empty(&self) -> bool {
        self.wrote.is_empty() && self.asks.is_empty() && self.answers.is_empty()
    }

    /// Takes all that another one holds.
    #[cold]
    pub(super) fn take(&mut self, other: &mut Self) {
        self.wrote.append(&mut other.wrote);
        self.asks.append(&mut other.asks);
        self.answers.append(&mut other.answers);
    }
}

/// In cache lines of its own, two of which processors fetch together: what one thread writes there is in nobody's way.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Aside<T>(pub(super) T);
