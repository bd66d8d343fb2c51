//! One end of a TCP connection: opening, closing, and the path of a segment through both halves.

mod ack_compression;
mod ack_input;
mod ack_output;
mod audit;
mod congestion;
mod cwv;
mod ecn;
mod fast_open;
mod fast_path;
mod fin;
mod handshake;
mod hold;
mod info;
mod limit;
mod output;
mod pacing;
mod quickack;
mod rate;
mod recovery;
mod rtt;
mod segment_arrives;
mod timeout;
mod tso;

use crate::burst::Burst;
use crate::cc::{AnyCc, CongestionControl};
use crate::choices::{FastOpen, Prr, Scheme};
use crate::config::TcpConfig;
use crate::ecn::LazyEcn;
use crate::error::ParamsError;
use crate::extensions::{Extensions, LazyExtensions};
use crate::features::Features;
use crate::lifecycle::{Ended, LazyLifecycle};
use crate::ns2_compat::Ns2Compat;
use crate::params::TcpParams;
use crate::quickack::QuickAck;
use crate::rate::RateSampler;
use crate::receiver::Receiver;
use crate::rtt::RttEstimator;
use crate::send_state::LazySendState;
use crate::state::{FIRST, Phase, State};
use crate::vegas_state::VegasState;
use fairlane_net::{Class, Cx, Ecn, Endpoint, FlowView, Limit, Segment, SenderSample, SenderState, TimerId, Timers, flag};
use fairlane_units::{Rate, Time};
use std::sync::Arc;

/// One end of a TCP connection.
///
/// The fields are in order of use: those of every packet, the receiving half, then the sending half.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Tcp<C> {
    pub(crate) cfg: Arc<TcpConfig>,
    /// Oldest unacknowledged sequence number (SND.UNA).
    pub(crate) una: u64,
    /// Next new sequence number (SND.NXT; retransmissions follow the scoreboard).
    pub(crate) nxt: u64,
    /// Right edge of the peer's window (SND.UNA + SND.WND).
    pub(crate) edge: u64,
    /// One past the last byte written.
    pub(crate) data_end: u64,
    pub(crate) state: State,
    pub(crate) phase: Phase,
    /// True if a segment arrived since the last acknowledgment was sent.
    pub(crate) ack_scheduled: bool,
    /// True if the window, not the data, ended the last round of output.
    pub(crate) cwnd_limited: bool,
    /// True if the application writes no more data.
    pub(crate) closed: bool,
    /// True if the application closed or stopped, and its completion is to be reported.
    pub(crate) report_completion: bool,
    /// True if the application closes this end itself: a FIN of the peer does not close it.
    pub(crate) keeps_open: bool,
    pub(crate) fin_sent: bool,
    /// True if a SYN was retransmitted.
    pub(crate) syn_lost: bool,
    /// True if no new data was acknowledged since the last timeout.
    pub(crate) no_ack_since_rto: bool,
    /// True if the algorithm takes every acknowledgment and has not been given the current one.
    pub(crate) cc_ack_pending: bool,
    pub(crate) features: Features,
    pub(crate) ns2: Ns2Compat,
    /// Codepoint of data when ECN is in use.
    pub(crate) ect: Ecn,
    /// Burst of segmentation offload.
    pub(crate) burst: Burst,
    pub(crate) dupacks: u32,
    /// The widest window of the peer (MAX.SND.WND of RFC 5961, Max(SND.WND) of RFC 9293 section 3.8.6.2.1).
    pub(crate) max_window: u32,
    pub(crate) ecn: LazyEcn,
    pub(crate) rcv: Receiver,
    pub(crate) cc: C,
    pub(crate) tx: LazySendState,
    pub(crate) rtt: RttEstimator,
    /// Acknowledgments sent.
    pub(crate) acks: u64,
    /// Sending time of the segment being timed.
    pub(crate) timed_at: Time,
    pub(crate) rate: Option<Box<RateSampler>>,
    pub(crate) ext: LazyExtensions,
    /// Sequence number of the segment that moved the window last (SND.WL1).
    pub(crate) window_seq: u64,
    pub(crate) lifecycle: LazyLifecycle,
}

impl Tcp<AnyCc> {
    /// Creates both ends of a flow, active and passive, with the algorithm of the parameters.
    ///
    /// # Errors
    /// Those of [`TcpParams::check`].
    pub fn pair(params: &TcpParams, class: Class) -> Result<(Self, Self), ParamsError> {
        let cfg = TcpConfig::new(params, class)?;
        let (a, b) = (params.cc.build(cfg.congestion()), params.cc.build(cfg.congestion()));
        Ok((Self::active(cfg.clone(), a), Self::passive(cfg, b)))
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// Creates the end that opens the connection.
    pub fn active(cfg: Arc<TcpConfig>, cc: C) -> Self {
        Self::new(cfg, cc, State::Closed)
    }

    /// Creates the end that waits for a connection.
    pub fn passive(cfg: Arc<TcpConfig>, cc: C) -> Self {
        Self::new(cfg, cc, State::Listen)
    }

    pub(crate) fn new(cfg: Arc<TcpConfig>, cc: C, state: State) -> Self {
        let wants = cc.wants();
        let paced = wants.pacing || cfg.pacing;
        let cc_every_ack = wants.rate || wants.every_ack;
        let log = wants.rate || cfg.ack_log;
        let spreads = cfg.prr != Prr::Off && !wants.owns_recovery;
        let ext = LazyExtensions::of(Extensions {
            rack: (cfg.rack || cfg.tlp).then(Box::default),
            prr: spreads.then(Box::default),
            undo: cfg.undo.then(Box::default),
            cwv: cfg.new_cwv.then(Box::default),
            fast_open: (cfg.fast_open != FastOpen::Off).then(Box::default),
            vegas: (cfg.scheme == Scheme::Vegas).then(|| Box::new(VegasState::new(cfg.vegas_send_table))),
            ..Extensions::NONE
        });
        let mut rcv = Receiver::starting_at(FIRST);
        rcv.passive = state == State::Listen;
        rcv.quick = cfg.autotuned.then(|| Box::new(QuickAck::new(&cfg)));
        let mut tx = LazySendState::default();
        if log {
            tx.board.enable_log();
        }
        Self {
            features: Features {
                fast_path: cfg.fast_path && !(paced || cc_every_ack || log),
                plain_acks: cfg.plain_acks,
                paced,
                output_hooks: cfg.tso || cfg.rack || cfg.tlp || cfg.cwnd_limited_by_round || cfg.ns3 || spreads,
                cc_every_ack,
            },
            ns2: Ns2Compat::default(),
            cc_ack_pending: false,
            ect: if wants.ect == Ecn::NotEct { Ecn::Ect0 } else { wants.ect },
            ecn: LazyEcn::new(wants.grades_marks),
            burst: Burst::default(),
            rate: wants.rate.then(Box::default),
            ext,
            cc,
            state,
            phase: Phase::Open,
            ack_scheduled: false,
            closed: false,
            report_completion: false,
            keeps_open: false,
            fin_sent: false,
            syn_lost: false,
            cwnd_limited: false,
            no_ack_since_rto: false,
            una: FIRST,
            nxt: FIRST,
            data_end: FIRST,
            edge: u64::MAX,
            timed_at: Time::ZERO,
            dupacks: 0,
            tx,
            rtt: RttEstimator::new(&cfg),
            rcv,
            acks: 0,
            window_seq: 0,
            max_window: 0,
            lifecycle: LazyLifecycle::default(),
            cfg,
        }
    }

    /// Seeds the algorithm, see [`CongestionControl::seed`].
    pub fn seed(&mut self, seed: u64) {
        self.cc.seed(seed);
    }

    /// The congestion control algorithm.
    pub fn cc(&self) -> &C {
        &self.cc
    }

    /// True if data may flow, or could before both ends closed.
    pub fn established(&self) -> bool {
        match self.state {
            State::Established | State::TimeWait => true,
            State::Over => self.lifecycle.ended == Ended::No,
            _ => false,
        }
    }

    /// Processes any segment that the fast path does not take.
    #[inline(never)]
    pub(crate) fn on_segment(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let counts = if self.state == State::Established {
            self.is_regular(seg) || self.check_irregular(seg, cx)
        } else {
            self.on_segment_unopened(seg, cx)
        };
        if counts {
            if self.ecn_on() {
                self.ecn_take_control(seg);
            }
            if seg.payload != 0 || seg.has(flag::FIN) {
                self.receive_data(seg, cx);
            } else {
                self.rcv.note_timestamp(seg, cx.now);
            }
            self.on_ack(seg, cx);
        }
        self.flush_ack(cx);
        if self.both_closed() {
            self.finish_close(cx);
        }
    }

    /// Opens the connection, or starts sending if there is no handshake.
    pub(crate) fn open(&mut self, cx: &mut Cx<'_>) {
        if !self.cfg.handshake {
            self.state = State::Established;
            self.ecn_assume();
            // Without a SYN the peer's window is taken to be like this end's.
            self.edge = self.receive_edge();
            self.cc.on_established(cx.now, self.cfg.initial_window);
            self.transmit(self.cfg.max_burst, cx);
        } else if self.state == State::Closed && !self.waits_for_write() {
            self.state = State::SynSent;
            self.timed_at = cx.now;
            self.send_syn(false, cx);
        }
    }
}

impl<C: CongestionControl> Endpoint for Tcp<C> {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.state != State::Listen && self.defer_opening() {
            return;
        }
        self.open(cx);
    }

    #[inline]
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let bare = seg.flags == flag::ACK && seg.plain();
        if !bare || self.state != State::Established {
            self.on_segment(seg, cx);
        } else if seg.payload != 0 {
            self.on_next_data(seg, cx);
        } else {
            self.on_next_ack(seg, cx);
        }
    }

    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        if self.ext.held.is_some() && self.defer_timer(id) {
            return;
        }
        match (id, self.state) {
            (TimerId::DelAck, _) => {
                if let Some(quick) = &mut self.rcv.quick {
                    quick.on_timer(self.rtt.rto(), &self.cfg);
                }
                self.send_ack(cx);
            }
            (TimerId::Rto, State::SynSent | State::SynReceived) => self.on_syn_timeout(cx),
            (TimerId::Rto, State::Established) => self.on_timeout(cx),
            (TimerId::Pace, State::Established) => self.transmit(self.cfg.max_burst, cx),
            (TimerId::Probe, State::Established) => self.on_probe(cx),
            _ => {}
        }
    }

    fn on_write(&mut self, bytes: u64, fin: bool, cx: &mut Cx<'_>) {
        if self.closed {
            return;
        }
        self.data_end = self.data_end.saturating_add(bytes).min(u64::MAX / 2);
        if fin {
            self.closed = true;
            self.report_completion = true;
        }
        if self.state == State::Established {
            self.transmit(self.cfg.max_burst, cx);
            self.check_finished(cx);
        } else if self.ext.fast_open.is_some() {
            self.write_before_established(cx);
        }
    }

    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        let sent = self.nxt - u64::from(self.fin_sent);
        if self.data_end > sent {
            // Discarded bytes were never delivered: the flow stops, it does not finish.
            self.data_end = sent;
            self.report_completion = false;
        }
        self.closed = true;
        if self.state == State::Established {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    fn hold(&mut self, held: bool, cx: &mut Cx<'_>) -> bool {
        if held {
            self.start_hold();
        } else {
            self.release(cx);
        }
        true
    }

    fn set_window(&mut self, window: u64, rate: Rate, cx: &mut Cx<'_>) {
        self.set_window_now(window, rate, cx);
    }

    fn reseed(&mut self, seed: u64) {
        self.cc.seed(seed);
    }

    fn view(&self) -> FlowView {
        let c = &self.tx.count;
        FlowView {
            data_segments: c.data_segments,
            retransmits: c.retransmits.into(),
            data_bytes: self.nxt - FIRST - u64::from(self.fin_sent) + c.retransmit_bytes,
            retransmit_bytes: c.retransmit_bytes,
            timeouts: c.timeouts.into(),
            fast_recoveries: c.fast_recoveries.into(),
            cwnd_cuts: c.cwnd_cuts.into(),
            dsacks: c.dsacks.into(),
            ecn_cuts: self.ecn.cuts.into(),
            ce_delivered: self.ecn.delivered_ce,
            ce_received: self.ecn.ce_received,
            acks: self.acks,
            acked: self.una.min(self.data_end) - FIRST,
            cwnd: self.prr_window().unwrap_or_else(|| self.cc.cwnd()),
            ssthresh: self.cc.ssthresh(),
            in_flight: self.in_flight(),
            srtt: self.rtt.srtt(&self.cfg),
            rttvar: self.rtt.rttvar(&self.cfg),
            rto: self.rtt.rto(),
            mss: self.cfg.smss,
        }
    }
    fn sample(&self) -> SenderSample {
        let cwnd = self.prr_window().unwrap_or_else(|| self.cc.cwnd());
        SenderSample { cwnd, ssthresh: self.cc.ssthresh(), in_flight: self.in_flight(), srtt: self.rtt.srtt(&self.cfg) }
    }
    fn moment(&self) -> Option<SenderState> {
        let sending = match self.phase {
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
            Phase::Open if self.reducing() => "cwr",
            Phase::Open if self.dupacks != 0 => "disorder",
            Phase::Open => "open",
        };
        Some(SenderState {
            cwnd: self.prr_window().unwrap_or_else(|| self.cc.cwnd()),
            ssthresh: self.cc.ssthresh(),
            timeouts: self.tx.count.timeouts.into(),
            connection: self.state_name(),
            sending,
        })
    }

    fn limit(&self, timers: &Timers) -> Limit {
        self.current_limit(timers)
    }

    fn kept(&self) -> u64 {
        self.rcv.out_of_order_bytes()
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.cc.gauges(out);
    }
}
