//! Report of the state of a connection.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::info::{CaState, TcpInfo};
use crate::sent::{LOST, RESENT, SACKED};
use crate::state::{Phase, State};
use fairlane_units::Dur;

impl<C: CongestionControl> Tcp<C> {
    /// Name of the state (RFC 9293 section 3.3.2).
    pub(crate) fn state_name(&self) -> &'static str {
        let acked = self.una == self.nxt;
        match self.state {
            State::Closed | State::Over => "CLOSED",
            State::Listen => "LISTEN",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::TimeWait => "TIME-WAIT",
            State::Established => match (self.fin_sent, self.rcv.closed()) {
                (false, false) => "ESTABLISHED",
                (false, true) => "CLOSE-WAIT",
                (true, false) if acked => "FIN-WAIT-2",
                (true, false) => "FIN-WAIT-1",
                (true, true) if self.lifecycle.peer_closed_first => "LAST-ACK",
                (true, true) => "CLOSING",
            },
        }
    }

    /// Smallest round-trip time; none before the first measurement.
    pub fn min_rtt(&self) -> Option<Dur> {
        Some(self.rtt.min()).filter(|&least| least != Dur::MAX)
    }

    /// Returns the state for reports; walks the scoreboard.
    pub fn info(&self) -> TcpInfo {
        let (mut unacked, mut sacked, mut lost, mut retrans) = (0, 0, 0, 0);
        let mut i = self.tx.board.head;
        while i != self.tx.board.tail {
            let s = self.tx.board.at(i);
            unacked += 1;
            sacked += u32::from(s.is(SACKED));
            lost += u32::from(s.flags & (LOST | SACKED) == LOST);
            retrans += u32::from(s.flags & (RESENT | SACKED) == RESENT);
            i = i.wrapping_add(1);
        }
        // A loss probe is a test, not a repair: Linux counts it only in the total.
        if let Some(rack) = &self.ext.rack
            && rack.probe_again
            && rack.probe_end != 0
            && self.tx.board.head != self.tx.board.tail
            && self.tx.board.at(self.tx.board.tail.wrapping_sub(1)).flags & (RESENT | SACKED | LOST) == RESENT
        {
            retrans = retrans.saturating_sub(1);
        }
        if !self.cfg.sack && self.phase != Phase::Loss {
            sacked = self.dupacks.min(unacked);
        }
        let ca_state = match self.phase {
            Phase::Recovery => CaState::Recovery,
            Phase::Loss => CaState::Loss,
            Phase::Open if self.reducing() => CaState::Cwr,
            Phase::Open if sacked != 0 || self.dupacks != 0 => CaState::Disorder,
            Phase::Open => CaState::Open,
        };
        TcpInfo {
            ca_state,
            state: self.state_name(),
            ended: self.lifecycle.ended,
            established: self.established(),
            window: self.window(),
            unacked,
            sacked,
            lost,
            retrans,
            backoff: self.rtt.backoffs(),
            retransmits: if self.no_ack_since_rto { self.rtt.backoffs() } else { 0 },
            delivered: self.ext.rack.as_ref().filter(|_| self.cfg.rack).map(|r| r.delivered),
            reordering: self.ext.rack.as_ref().map_or(0, |r| r.distance).max(self.cfg.dupthresh),
            reorderings: self.ext.rack.as_ref().map_or(0, |r| r.reorderings),
            min_rtt: self.min_rtt(),
            probes: if unacked == 0 { self.rtt.backoffs() } else { 0 },
            una: self.una,
            nxt: self.nxt,
            rcv_nxt: self.rcv.nxt,
            peer_closed: self.rcv.closed(),
            fin_sent: self.fin_sent,
            ts_recent: self.rcv.ts_recent,
        }
    }
}
