//! Parameters as the endpoints use them: checked, in bytes and picoseconds, shared by the flows of a group.

use crate::params::{
    BackoffEnds, EcnMode, ExitWindow, IdleRestart, LossBasis, NewRenoTimer, Prr, PrrBase, RttSampling, SackMemory, SackPipe, Scheme,
    SlowStart, TcpParams, len_bytes,
};
use crate::presets::ParamsError;
use fairlane_net::Class;
use fairlane_units::Dur;
use std::sync::Arc;

/// What an endpoint needs to know of its parameters. One is shared by all flows of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Traffic class of every segment.
    pub class: Class,
    pub(crate) smss: u32,
    pub(crate) scheme: Scheme,
    /// Bound of the send window; `u64::MAX` for none.
    pub(crate) window: u64,
    /// Advertised window; `u32::MAX` for no limit.
    pub(crate) receive_window: u32,
    /// Advertised in a SYN, which cannot be scaled (RFC 7323 section 2.2).
    pub(crate) syn_window: u32,
    pub(crate) handshake: bool,
    pub(crate) handshake_ack: bool,
    pub(crate) fin: bool,
    pub(crate) initial_window: u64,
    pub(crate) initial_ssthresh: u64,
    pub(crate) syn_loss_ssthresh: Option<u64>,
    pub(crate) byte_counting: Option<u32>,
    pub(crate) slow_start: Option<SlowStart>,
    pub(crate) max_ssthresh: u64,
    pub(crate) hystart_divisor: f64,
    pub(crate) hystart_min: Dur,
    pub(crate) hystart_max: Dur,
    pub(crate) hystart_train: f64,
    pub(crate) cwnd_validation: bool,
    pub(crate) cwnd_limited_by_round: bool,
    pub(crate) grow_by_delivered: bool,
    pub(crate) new_cwv: bool,
    pub(crate) empty_window_probes: bool,
    pub(crate) rtt_of_sacked: bool,
    pub(crate) ecn: EcnMode,
    pub(crate) ecn_plus: bool,
    pub(crate) abe: bool,
    pub(crate) pacing: bool,
    pub(crate) pacing_slow_start: f64,
    pub(crate) pacing_avoidance: f64,
    pub(crate) pacing_burst: Dur,
    /// Payload bytes that always may go at once.
    pub(crate) pacing_bytes: u64,
    pub(crate) frto: bool,
    pub(crate) eifel: bool,
    pub(crate) dsack_undo: bool,
    /// A reduction may be taken back.
    pub(crate) doubt: bool,
    pub(crate) rack: bool,
    pub(crate) tlp: bool,
    pub(crate) tlp_ack_delay: Dur,
    pub(crate) timer_slack: Dur,
    pub(crate) prr: Prr,
    pub(crate) prr_base: PrrBase,
    pub(crate) prr_whole_segments: bool,
    pub(crate) fack_overdamping: bool,
    pub(crate) fack_rampdown: bool,
    /// What belongs to a scheme is off in the others.
    pub(crate) fack_restart: bool,
    pub(crate) fack_only_enters: bool,
    pub(crate) fack_until_no_sack: bool,
    pub(crate) fack_lost_again_stops: bool,
    pub(crate) fack_every_ack_restarts_timer: bool,
    pub(crate) vegas_inflates_cwnd: bool,
    pub(crate) vegas_backs_off: bool,
    pub(crate) vegas_times_waiting: bool,
    pub(crate) vegas_send_table: bool,
    pub(crate) quick_acks: u32,
    pub(crate) loss_basis: LossBasis,
    pub(crate) ssthresh_whole_segments: bool,
    pub(crate) timeout_cuts_again: bool,
    pub(crate) idle_restart: IdleRestart,
    pub(crate) rto_initial: Dur,
    pub(crate) rto_min: Dur,
    pub(crate) rto_max: Dur,
    pub(crate) rto_granularity_ticks: u64,
    pub(crate) rto_after_syn_loss: Option<Dur>,
    pub(crate) rtt_tick: Dur,
    pub(crate) rtt_every: bool,
    pub(crate) backoff_ends_with_ack: bool,
    pub(crate) forget_rtt_after: u32,
    pub(crate) timestamps: bool,
    pub(crate) timestamp_tick: Dur,
    /// Bytes not acknowledged that make an acknowledgment due.
    pub(crate) ack_bytes: u64,
    pub(crate) ack_delay: Dur,
    pub(crate) dupthresh: u32,
    pub(crate) limited_transmit: bool,
    pub(crate) careful: bool,
    pub(crate) impatient: bool,
    pub(crate) partial_deflation: bool,
    pub(crate) recovery_burst: u32,
    pub(crate) max_burst: u32,
    pub(crate) exit_window: ExitWindow,
    pub(crate) grow_on_exit: bool,
    pub(crate) sack: bool,
    pub(crate) sack_blocks: usize,
    pub(crate) dsack: bool,
    pub(crate) counted_pipe: bool,
    pub(crate) sack_lost_after: u32,
    pub(crate) sack_rescue: bool,
    pub(crate) sack_careful: bool,
    pub(crate) sack_grow_on_exit: bool,
    pub(crate) timeout_forgets_sack: bool,
    /// After a timeout SACK blocks are not believed before recovery from it is over.
    pub(crate) timeout_distrusts_sack: bool,
    pub(crate) progress_forgets_sack: bool,
    /// Headers of a segment without SYN and SACK blocks.
    pub(crate) header_len: u32,
    /// Those of a segment with data.
    pub(crate) data_header_len: u32,
    /// A full-sized segment with these headers.
    pub(crate) full_len: u32,
    pub(crate) syn_len: u32,
    pub(crate) sack_option: u32,
    pub(crate) sack_block: u32,
    /// No timestamps, every segment timed to the picosecond, no bound on window or bursts, SACK blocks kept, nothing that must see every segment:
    /// see `straight.rs`.
    pub(crate) straight: bool,
    /// Acknowledgments carry no option but SACK blocks, and no ECN feedback, and none is sent sooner than its count asks for.
    pub(crate) plain_acks: bool,
    /// Something looks at each segment that is delivered or lost.
    pub(crate) diary: bool,
}

fn range(field: &'static str, message: impl Into<String>) -> ParamsError {
    ParamsError::Range { field, message: message.into() }
}

impl TcpParams {
    /// Whether the values make a working endpoint; every field is also bound by the range in its schema.
    ///
    /// # Errors
    /// The first field that does not.
    pub fn check(&self) -> Result<(), ParamsError> {
        let smss = self.mss.get();
        if !(1..=65_000).contains(&smss) {
            return Err(range("mss", format!("{} is not between 1B and 65000B", self.mss)));
        }
        let empty = |len: fairlane_units::Len| len_bytes(len, smss) == 0;
        if self.window.is_some_and(empty) {
            return Err(range("window", "a window of 0 never lets anything out: write at least \"1p\", or leave it out for no bound"));
        }
        if self.receive_window.is_some_and(|b| b.get() == 0) {
            return Err(range(
                "receive_window",
                "a window of 0 never lets anything in: write at least \"1B\", or leave it out for no bound",
            ));
        }
        for (field, value) in [("initial_ssthresh", self.initial_ssthresh), ("syn_loss_ssthresh", self.syn_loss_ssthresh)] {
            if value.is_some_and(empty) {
                return Err(range(field, "0 is not a threshold: write at least \"1p\""));
            }
        }
        if empty(self.max_ssthresh) {
            return Err(range("max_ssthresh", "0 is not a window: write at least \"1p\""));
        }
        for (field, value, least) in [("hystart_divisor", self.hystart_divisor, 0.1), ("hystart_train", self.hystart_train, 0.0)] {
            if !(least..=1000.0).contains(&value) {
                return Err(range(field, format!("{value} is not between {least} and 1000")));
            }
        }
        if let crate::InitialWindow::Fixed(len) = self.initial_window
            && empty(len)
        {
            return Err(range("initial_window", "0 never lets anything out: write at least \"1p\""));
        }
        let counts = [
            ("byte_counting", self.byte_counting.unwrap_or(1)),
            ("forget_rtt_after", self.forget_rtt_after.unwrap_or(1)),
            ("ack_every", self.ack_every),
            ("dupthresh", self.dupthresh),
            ("recovery_burst", self.recovery_burst.unwrap_or(1)),
            ("max_burst", self.max_burst.unwrap_or(1)),
            ("sack_lost_after", self.sack_lost_after),
            ("pacing_segments", self.pacing_segments),
        ];
        if let Some((field, _)) = counts.into_iter().find(|&(_, n)| n == 0) {
            return Err(range(field, "0 is too small: write at least 1"));
        }
        if !(1..=4).contains(&self.sack_blocks) {
            return Err(range("sack_blocks", "write 1 to 4: no more fit into the options (RFC 2018 section 3)"));
        }
        for (field, ratio) in [("pacing_slow_start", self.pacing_slow_start), ("pacing_avoidance", self.pacing_avoidance)] {
            if !(0.1..=100.0).contains(&ratio) {
                return Err(range(field, format!("{ratio} is not between 0.1 and 100")));
            }
        }
        let blind = !matches!(self.scheme(), Scheme::Sack | Scheme::Fack);
        let other = self.scheme() != Scheme::Sack;
        for (field, on) in [
            ("rack", self.rack && other),
            ("tlp", self.tlp && other),
            ("prr", self.prr != Prr::Off && other),
            ("dsack_undo", self.dsack_undo && blind),
        ] {
            if on {
                return Err(range(field, "needs selective acknowledgments: write recovery = \"sack\""));
            }
        }
        if self.eifel && !self.timestamps {
            return Err(range("eifel", "needs timestamps: write timestamps = true"));
        }
        let spans = [
            ("rto_initial", self.rto_initial),
            ("rto_min", self.rto_min),
            ("rto_max", self.rto_max),
            ("rtt_tick", self.rtt_tick),
            ("timestamp_tick", self.timestamp_tick),
            ("ack_delay", self.ack_delay),
        ];
        if let Some((field, _)) = spans.into_iter().find(|&(_, d)| d == Dur::ZERO) {
            return Err(range(field, "0 is too short: time would stand still"));
        }
        if self.rto_min > self.rto_max {
            return Err(range("rto_min", format!("{} is above rto_max, {}", self.rto_min, self.rto_max)));
        }
        let headers = [
            ("header", self.header),
            ("data_header", self.data_header.unwrap_or(self.header)),
            ("syn_options", self.syn_options),
            ("sack_option", self.sack_option),
            ("sack_block", self.sack_block),
            ("timestamp_option", self.timestamp_option),
        ];
        if let Some((field, b)) = headers.into_iter().find(|&(_, b)| b.get() > 1000) {
            return Err(range(field, format!("{b} is more than 1000B")));
        }
        self.cc.check_schema().map_err(|m| range("cc", m))
    }

    /// What is done about ECN: what is written, or what the algorithm needs.
    pub fn ecn_mode(&self) -> EcnMode {
        self.ecn.unwrap_or_else(|| self.cc.implied_ecn())
    }

    /// The recovery scheme in force.
    pub fn scheme(&self) -> Scheme {
        self.recovery.unwrap_or_else(|| self.cc.implied_scheme())
    }
}

/// The smallest shift that makes `buffer` fit the 16 bit window field, at most 14 (RFC 7323 section 2.3).
fn shift(buffer: u64) -> u8 {
    (0..14).find(|&s| buffer >> s <= 65_535).unwrap_or(14)
}

/// What fits the window field with that shift.
fn scaled(buffer: u64) -> u32 {
    let shift = shift(buffer);
    (((buffer >> shift).min(65_535)) << shift).min(u64::from(u32::MAX - 1)) as u32
}

impl TcpConfig {
    /// The same for segments of another class.
    pub fn with_class(self: &Arc<Self>, class: Class) -> Arc<Self> {
        if class == self.class { Arc::clone(self) } else { Arc::new(Self { class, ..(**self).clone() }) }
    }

    /// Checks and converts.
    ///
    /// # Errors
    /// Those of [`TcpParams::check`], and parameters of an algorithm of one's own that make no sense together.
    pub fn new(p: &TcpParams, class: Class) -> Result<Arc<Self>, ParamsError> {
        p.check()?;
        let smss = p.mss.get();
        let scheme = p.scheme();
        let (fack, vegas) = (scheme == Scheme::Fack, scheme == Scheme::Vegas);
        let buffer = p.receive_window.map(fairlane_units::Bytes::get);
        let small = |b: fairlane_units::Bytes| b.get() as u32;
        let option = if p.timestamps { small(p.timestamp_option) } else { 0 };
        let header_len = small(p.header) + option;
        let data_header_len = small(p.data_header.unwrap_or(p.header)) + option;
        let config = Self {
            class,
            smss: smss as u32,
            scheme,
            window: p.window.map_or(u64::MAX, |w| len_bytes(w, smss)),
            receive_window: match buffer {
                None => u32::MAX,
                Some(b) if p.window_scaling => scaled(b).max(1),
                Some(b) => b.min(65_535) as u32,
            },
            syn_window: buffer.map_or(u32::MAX, |b| b.min(65_535) as u32),
            handshake: p.handshake,
            handshake_ack: p.handshake_ack,
            fin: p.fin,
            initial_window: p.initial_window.bytes(smss),
            initial_ssthresh: p
                .initial_ssthresh
                .or(if p.ssthresh_from_window { p.window } else { None })
                .map_or(u64::MAX, |w| len_bytes(w, smss)),
            syn_loss_ssthresh: p.syn_loss_ssthresh.map(|w| len_bytes(w, smss)),
            byte_counting: p.byte_counting,
            slow_start: p.slow_start,
            max_ssthresh: len_bytes(p.max_ssthresh, smss),
            hystart_divisor: p.hystart_divisor,
            hystart_min: p.hystart_min,
            hystart_max: p.hystart_max,
            hystart_train: p.hystart_train,
            cwnd_validation: p.cwnd_validation || p.new_cwv,
            cwnd_limited_by_round: p.cwnd_limited_by_round,
            grow_by_delivered: p.grow_by_delivered,
            new_cwv: p.new_cwv,
            empty_window_probes: p.empty_window_probes,
            rtt_of_sacked: p.rtt_of_sacked,
            ecn: p.ecn_mode(),
            ecn_plus: p.ecn_plus,
            abe: p.abe,
            pacing: p.pacing,
            pacing_slow_start: p.pacing_slow_start,
            pacing_avoidance: p.pacing_avoidance,
            pacing_burst: p.pacing_burst,
            pacing_bytes: u64::from(p.pacing_segments) * smss,
            frto: p.frto,
            eifel: p.eifel,
            dsack_undo: p.dsack_undo,
            doubt: p.frto || p.eifel || p.dsack_undo,
            rack: p.rack,
            tlp: p.tlp,
            tlp_ack_delay: p.tlp_ack_delay,
            timer_slack: p.timer_slack,
            prr: p.prr,
            prr_base: p.prr_base,
            prr_whole_segments: p.prr_whole_segments,
            fack_overdamping: p.fack_overdamping,
            fack_rampdown: p.fack_rampdown,
            fack_restart: fack && p.fack_restart,
            fack_only_enters: fack && p.fack_only_enters,
            fack_until_no_sack: fack && p.fack_until_no_sack,
            fack_lost_again_stops: fack && p.fack_lost_again_stops,
            fack_every_ack_restarts_timer: fack && p.fack_every_ack_restarts_timer,
            vegas_inflates_cwnd: vegas && p.vegas_inflates_cwnd,
            vegas_backs_off: vegas && p.vegas_backs_off,
            vegas_times_waiting: vegas && p.vegas_times_waiting,
            vegas_send_table: vegas && p.vegas_send_table && p.window.is_some_and(|w| len_bytes(w, smss) >= smss),
            quick_acks: p.quick_acks,
            loss_basis: p.loss_basis,
            ssthresh_whole_segments: p.ssthresh_whole_segments,
            timeout_cuts_again: p.timeout_cuts_again,
            idle_restart: p.idle_restart,
            rto_initial: p.rto_initial,
            rto_min: p.rto_min,
            rto_max: p.rto_max,
            rto_granularity_ticks: p.rto_granularity.as_ps() / p.rtt_tick.as_ps(),
            rto_after_syn_loss: p.rto_after_syn_loss,
            rtt_tick: p.rtt_tick,
            rtt_every: p.rtt_sampling == RttSampling::Every,
            backoff_ends_with_ack: p.backoff_ends == BackoffEnds::Ack,
            forget_rtt_after: p.forget_rtt_after.unwrap_or(u32::MAX),
            timestamps: p.timestamps,
            timestamp_tick: p.timestamp_tick,
            // Every segment is acknowledged, or every so many full-sized ones (RFC 5681 section 4.2).
            ack_bytes: if p.ack_every == 1 { 0 } else { u64::from(p.ack_every) * smss },
            ack_delay: p.ack_delay,
            dupthresh: p.dupthresh,
            limited_transmit: p.limited_transmit,
            careful: p.careful,
            impatient: p.newreno_timer == NewRenoTimer::Impatient,
            partial_deflation: p.partial_deflation,
            recovery_burst: p.recovery_burst.unwrap_or(u32::MAX),
            max_burst: p.max_burst.unwrap_or(u32::MAX),
            exit_window: p.exit_window,
            grow_on_exit: p.grow_on_exit,
            sack: matches!(scheme, Scheme::Sack | Scheme::Fack),
            // RFC 2018 section 3: with timestamps only three blocks fit.
            sack_blocks: p.sack_blocks.min(if p.timestamps { 3 } else { 4 }) as usize,
            dsack: p.dsack,
            counted_pipe: p.sack_pipe == SackPipe::Counted && scheme == Scheme::Sack,
            sack_lost_after: p.sack_lost_after,
            sack_rescue: p.sack_rescue,
            sack_careful: p.sack_careful,
            sack_grow_on_exit: p.sack_grow_on_exit,
            timeout_forgets_sack: p.sack_memory != SackMemory::Keep,
            // ns-2: Sack1 turns a deaf ear, Fack starts afresh.
            timeout_distrusts_sack: p.sack_memory != SackMemory::Keep && scheme != Scheme::Fack,
            progress_forgets_sack: p.sack_memory == SackMemory::Progress,
            header_len,
            data_header_len,
            full_len: data_header_len + smss as u32,
            syn_len: small(p.header) + small(p.syn_options),
            sack_option: small(p.sack_option),
            sack_block: small(p.sack_block),
            plain_acks: !p.timestamps && p.ecn_mode() == EcnMode::Off && p.quick_acks == 0,
            diary: p.rack || p.tlp || p.frto || p.eifel || p.dsack_undo,
            straight: !p.timestamps
                && p.rtt_sampling == RttSampling::Every
                && p.rtt_tick.as_ps() == 1
                && p.window.is_none()
                && p.max_burst.is_none()
                && p.sack_memory != SackMemory::Progress
                && p.ecn_mode() == EcnMode::Off
                && !(p.cwnd_limited_by_round || p.pacing || p.rack || p.tlp || p.frto || p.new_cwv)
                && p.quick_acks == 0,
        };
        p.cc.check(&config).map_err(|m| range("cc", m))?;
        Ok(Arc::new(config))
    }

    /// Maximum segment size in bytes.
    pub fn mss(&self) -> u32 {
        self.smss
    }

    /// The shift that a window scale option would announce for the receive window.
    pub fn window_shift(&self) -> u8 {
        shift(u64::from(self.receive_window))
    }

    /// Payload bytes that pacing lets out at once, at least.
    pub(crate) fn pacing_quantum(&self) -> u64 {
        self.pacing_bytes
    }

    /// Length on the wire of a segment with this payload and number of SACK blocks.
    #[inline]
    pub fn wire_len(&self, payload: u32, sack_blocks: u32) -> u32 {
        let sack = if sack_blocks == 0 { 0 } else { self.sack_option + sack_blocks * self.sack_block };
        let header = if payload == 0 { self.header_len } else { self.data_header_len };
        header + payload + sack
    }
}
