//! TCP Fast Open (RFC 7413): data in the SYN, accepted before the handshake ends.
//!
//! A client without a cookie requests one in its SYN, and the connection opens as usual (section 4.2.1 "cookie request"). A client with a
//! cookie sends it in the SYN, with as much data as fits one segment less the room of all options. If the cookie is valid, the server
//! accepts the data of the SYN, and the application's answer leaves before the handshake ends (section 4.2.2). Else the server acknowledges
//! the SYN alone, and the client sends that data again at once. A retransmitted SYN has neither option nor data (section 4.2.1).
//!
//! Details as in Linux where the RFC leaves them open: cookies have 8 bytes. The answer to a retransmitted SYN brings no cookie. Data of
//! the SYN that the answer does not acknowledge is lost without being a sign of congestion, and is sent again as the initial window allows.
//! Data that the server sends early is timed from the end of the handshake on, as only the SYN-ACK is retransmitted until then.
//!
//! Its state lies behind a pointer that is empty where Fast Open is off.

use crate::cc::CongestionControl;
use crate::choices::FastOpen as Mode;
use crate::endpoint::Tcp;
use crate::sent::Sent;
use crate::state::{FIRST, State};
use fairlane_net::{Cookie, Cx, FastOpen, Segment, TimerId, flag};
use fairlane_units::Time;
/// Cookie of a server without a configured one.
const ANY: Cookie = Cookie::between(0, 0);

impl<C: CongestionControl> Tcp<C> {
    /// Sets the cookie: a client has it from an earlier connection, a server demands it. No effect where Fast Open is off.
    pub fn set_cookie(&mut self, option: FastOpen) {
        if let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) {
            o.cookie = Some(option);
        }
    }

    /// Limits the payload of the SYN, if the server announced another MSS than the parameters.
    pub fn limit_syn_data(&mut self, bytes: u32) {
        if let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) {
            o.payload_limit = Some(bytes);
        }
    }

    /// Sends a SYN that was too long for the path again, at once and without data; this is not a loss (Linux `tcp_simple_retransmit`).
    pub fn shorten_syn(&mut self, cx: &mut Cx<'_>) {
        if self.state == State::SynSent && self.syn_data() != 0 {
            self.syn_lost = true;
            if let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) {
                o.shortened = true;
            }
            self.send_syn(false, cx);
        }
    }

    /// True if the SYN was lost; a SYN that was too long for the path does not count.
    pub(crate) fn syn_counts_as_lost(&self) -> bool {
        self.syn_lost && !self.ext.fast_open.as_ref().is_some_and(|o| o.shortened)
    }

    /// Cookie from the answer to the SYN.
    pub fn new_cookie(&self) -> Option<FastOpen> {
        self.ext.fast_open.as_ref().filter(|_| self.established()).and_then(|o| o.answer)
    }

    /// True if data of the SYN was accepted (server) or acknowledged in full (client): TCPI_OPT_SYN_DATA of Linux.
    pub fn syn_data_acked(&self) -> bool {
        self.ext.fast_open.as_ref().is_some_and(|o| o.data_accepted)
    }

    /// Payload that the SYN carried.
    pub fn syn_data(&self) -> u32 {
        self.ext.fast_open.as_ref().map_or(0, |o| o.syn_payload)
    }

    /// True if the server accepted the connection before the handshake ended.
    pub fn is_early(&self) -> bool {
        self.state == State::SynReceived && self.was_accepted_early()
    }

    pub(crate) fn was_accepted_early(&self) -> bool {
        self.ext.fast_open.as_ref().is_some_and(|o| o.early)
    }

    /// Returns true if the SYN waits for the first write.
    pub(crate) fn waits_for_write(&mut self) -> bool {
        let none = self.data_end == FIRST && !self.closed;
        self.ext.get_mut(|m| m.fast_open.as_mut()).is_some_and(|o| {
            o.awaiting_write = none && !o.written;
            o.awaiting_write
        })
    }

    /// Handles a write before the handshake is over.
    #[cold]
    pub(crate) fn write_before_established(&mut self, cx: &mut Cx<'_>) {
        let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) else { return };
        o.written = true;
        if std::mem::take(&mut o.awaiting_write) {
            if self.ext.held.is_none() || !self.defer_opening() {
                self.open(cx);
            }
        } else if self.is_early() {
            self.transmit_before_established(cx);
        }
    }

    /// Sends data before the handshake is over: the timer remains that of the SYN-ACK, and no probe is scheduled.
    pub(crate) fn transmit_before_established(&mut self, cx: &mut Cx<'_>) {
        let rto = cx.timers.get(TimerId::Rto);
        self.transmit(self.cfg.max_burst, cx);
        if let Some(at) = rto {
            cx.timers.set(TimerId::Rto, at);
        }
        cx.timers.cancel(TimerId::Probe);
    }

    /// Writes the option, and for a client the data; returns the bytes added to the SYN. A retransmitted SYN has neither.
    #[cold]
    pub(crate) fn fast_open_write(&mut self, seg: &mut Segment, answer: bool, now: Time) -> u32 {
        let (cookie_less, room) = (self.cfg.fast_open == Mode::NoCookie, self.data_end - FIRST);
        let bound = room.min(self.cfg.window).min(u64::from(u16::MAX)) as u32;
        let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) else { return 0 };
        if self.syn_lost || self.state == State::Established {
            return 0;
        }
        let option = if answer {
            o.answer
        } else if cookie_less {
            None
        } else {
            Some(o.cookie.unwrap_or_default())
        };
        let may = cookie_less || o.cookie.is_some_and(|c| !c.cookie.is_request());
        if !answer && may {
            let payload = bound.min(o.payload_limit.unwrap_or(self.cfg.syn_data));
            seg.payload = payload as u16;
            o.syn_payload = payload;
            if payload != 0 {
                self.tx.board.push(Sent { seq: FIRST, at: now, len: payload, flags: 0 });
                self.nxt = FIRST + u64::from(payload);
                self.tx.count.data_segments += 1;
                self.tx.last_sent = now;
            }
        }
        if let Some(option) = option {
            seg.set_fast_open(option);
        }
        // Options fill whole words.
        u32::from(seg.payload) + option.map_or(0, |o| o.size().next_multiple_of(4))
    }

    /// True if an acknowledgment covers the SYN, and no more than was sent with it (RFC 9293 section 3.10.7.3).
    pub(crate) fn acks_syn_data(&self, ack: u64) -> bool {
        self.ext.fast_open.is_none() || (FIRST..=self.nxt).contains(&ack)
    }

    /// Processes the option and the data of a SYN at the server (RFC 7413 section 4.2.2).
    #[cold]
    pub(crate) fn fast_open_take_syn(&mut self, syn: &Segment, cx: &mut Cx<'_>) {
        let cookie_less = self.cfg.fast_open == Mode::NoCookie && syn.payload != 0;
        let limit = self.cfg.receive_window.min(u32::from(u16::MAX)) as u16;
        let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) else { return };
        let valid = o.cookie.map_or(ANY, |c| c.cookie);
        let said = syn.fast_open();
        if !cookie_less && said.is_none_or(|s| s.cookie != valid) {
            // A request, or an invalid cookie: the answer carries the valid one, in the form of the request.
            o.answer = said.map(|s| FastOpen { cookie: valid, ..s });
            return;
        }
        let payload = u64::from(syn.payload.min(limit));
        (o.early, o.data_accepted) = (true, payload != 0);
        self.rcv.nxt = FIRST + payload;
        // The answer to the SYN acknowledges it.
        self.rcv.on_ack_sent();
        cx.delivered += payload;
        self.cc.on_established(cx.now, self.cfg.initial_window);
    }

    /// Processes the answer to the SYN: its cookie, and the data to be retransmitted.
    #[cold]
    pub(crate) fn fast_open_take_answer(&mut self, answer: &Segment, cx: &mut Cx<'_>) {
        if let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) {
            o.answer = answer.fast_open().filter(|n| !n.cookie.is_request());
        }
        if answer.payload != 0 || answer.has(flag::FIN) {
            let mut data = *answer;
            data.seq += 1;
            data.flags &= !flag::SYN;
            self.receive_data(&data, cx);
            self.schedule_ack_now();
        }
        if self.data_end > self.nxt
            && let Some(quick) = &mut self.rcv.quick
        {
            quick.answered_with_data(cx.now, &self.cfg);
        }
        self.fast_open_on_ack(answer.ack, cx);
    }

    /// Processes the first acknowledgment: data of the SYN that it does not cover is lost, and early data is timed from now on.
    #[cold]
    pub(crate) fn fast_open_on_ack(&mut self, ack: u64, cx: &mut Cx<'_>) {
        let Some(o) = self.ext.get_mut(|m| m.fast_open.as_mut()) else { return };
        if o.syn_payload != 0 {
            o.data_accepted = ack == self.nxt;
            self.una = ack;
            self.tx.board.pop(ack, false);
            self.tx.board.resegment(self.cfg.smss);
        }
        if !self.tx.board.is_empty() {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
    }

    /// Carries the state of the SYN's data to the endpoint with renegotiated parameters.
    pub(crate) fn carry_fast_open(&mut self, fresh: &mut Self) {
        if self.ext.fast_open.is_some() {
            fresh.ext.get_or_create().fast_open = self.ext.get_mut(|m| m.fast_open.take());
        }
        if let Some(o) = &fresh.ext.fast_open
            && o.syn_payload != 0
        {
            (fresh.nxt, fresh.acks) = (self.nxt, self.acks);
            (fresh.tx.last_sent, fresh.tx.count) = (self.tx.last_sent, self.tx.count.clone());
            fresh.tx.board.push(Sent { seq: FIRST, at: self.tx.last_sent, len: o.syn_payload, flags: 0 });
        }
    }
}
