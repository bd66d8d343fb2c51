//! Mail between parts at the end of a window.

use super::ledger::{EventStamp, Wrote};
use crate::ids::FlowId;
use crate::packet::{Packet, Segment};

/// A packet whose transmission into another part has begun. `pkt.at` is its arrival there, `pkt.hop` the hop of the cut link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) pkt: Packet,
    pub(super) seg: Segment,
}

/// Asks for the round-trip times that a flow had measured by `when`; `from` is the part that asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) from: u16,
    pub(super) number: u64,
    pub(super) flow: FlowId,
    pub(super) when: EventStamp,
}

/// Answer to question `number`: the count of round-trip times, and their sum in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) number: u64,
    pub(super) n: u64,
    pub(super) sum: u128,
}

/// Mail from one part to another, each kind in the order of the sender. Results do not depend on the order between senders.
#[derive(Clone, Debug, Default)]
pub(super) struct Mailbox {
    pub(super) sent: Vec<Sent>,
    pub(super) notices: Notices,
}

/// Rare mail.
#[derive(Clone, Debug, Default)]
pub(super) struct Notices {
    pub(super) wrote: Vec<Wrote>,
    pub(super) questions: Vec<Question>,
    pub(super) answers: Vec<Answer>,
}

impl Mailbox {
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.notices.is_empty()
    }
}

impl Notices {
    pub(super) fn is_empty(&self) -> bool {
        self.wrote.is_empty() && self.questions.is_empty() && self.answers.is_empty()
    }

    /// Moves all notices of `other` here.
    #[cold]
    pub(super) fn append(&mut self, other: &mut Self) {
        self.wrote.append(&mut other.wrote);
        self.questions.append(&mut other.questions);
        self.answers.append(&mut other.answers);
    }
}

/// Aligned to two cache lines, which processors fetch together: writes of one thread do not slow down the others.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct CachePadded<T>(pub(super) T);
