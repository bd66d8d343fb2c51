//! Parameters as the endpoints use them: checked, in bytes and picoseconds, shared by the flows of a group.

use crate::cc::CcConfig;
use crate::choices::{BackoffEnds, EcnMode, NewRenoTimer, RtoRule, RttSampling, SackMemory, SackPipe, Scheme, len_bytes};
use crate::error::{ParamsError, range};
use crate::params::TcpParams;
use crate::quantum::Quantum;
use fairlane_net::Class;
use fairlane_units::Dur;
use std::sync::Arc;

/// Parameters in the form that an endpoint uses, shared by all flows of a group.
///
/// The fields are values derived from the parameters; all other parameters are read through `Deref`.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Traffic class of every segment.
    pub class: Class,
    pub(crate) smss: u32,
    pub(crate) scheme: Scheme,
    /// Limit of the send window; `u64::MAX` for none.
    pub(crate) window: u64,
    /// Advertised window; `u32::MAX` for no limit.
    pub(crate) receive_window: u32,
    /// Window advertised in a SYN, which cannot be scaled (RFC 7323 section 2.2).
    pub(crate) syn_window: u32,
    /// Initial and largest receive buffer, with auto-tuning.
    pub(crate) buffer_range: Option<(u64, u64)>,
    /// True if the receiver acts on each arrival, see `quickack.rs`.
    pub(crate) autotuned: bool,
    pub(crate) initial_window: u64,
    pub(crate) syn_loss_ssthresh: Option<u64>,
    pub(crate) ecn: EcnMode,
    /// True if a reduction may be undone.
    pub(crate) undo: bool,
    pub(crate) rto_granularity_ticks: u64,
    pub(crate) rto_rfc793: bool,
    /// Smallest RTO before back-off, and after it.
    pub(crate) rto_floor: Dur,
    pub(crate) rto_min_backed_off: Dur,
    pub(crate) rtt_every: bool,
    /// True if SRTT is measured by the oldest segment acknowledged.
    pub(crate) rtt_from_oldest: bool,
    pub(crate) backoff_ends_with_ack: bool,
    pub(crate) forget_rtt_after: u32,
    /// Unacknowledged bytes that make an acknowledgment due.
    pub(crate) ack_bytes: u64,
    pub(crate) newreno_impatient: bool,
    pub(crate) recovery_burst: u32,
    pub(crate) max_burst: u32,
    pub(crate) sack: bool,
    /// True with the recovery scheme of ns-3.
    pub(crate) ns3: bool,
    pub(crate) sack_blocks: usize,
    pub(crate) counted_pipe: bool,
    pub(crate) timeout_forgets_sack: bool,
    /// True if SACK blocks are ignored from a timeout until recovery from it is over.
    pub(crate) timeout_distrusts_sack: bool,
    pub(crate) progress_forgets_sack: bool,
    /// Header length of a segment without SYN and SACK blocks.
    pub(crate) header_len: u32,
    /// Header length of a segment with data.
    pub(crate) data_header_len: u32,
    /// Length of a full-sized segment with its headers.
    pub(crate) full_len: u32,
    pub(crate) syn_len: u32,
    /// Payload that a SYN may carry.
    pub(crate) syn_data: u32,
    pub(crate) sack_option: u32,
    pub(crate) sack_block: u32,
    /// True if the configuration allows `endpoint/fast_path.rs`: no timestamps, every segment timed to the picosecond, no limit on window
    /// or bursts, SACK blocks kept, no option that needs every segment.
    pub(crate) fast_path: bool,
    /// True if acknowledgments carry no option but SACK blocks, and no ECN feedback, and none is sent before its count is reached.
    pub(crate) plain_acks: bool,
    /// True if an option needs each segment that is delivered or lost.
    pub(crate) ack_log: bool,
    /// True if bursts of segmentation offload are longer on short paths (Linux `tcp_tso_autosize`); false with Prague (`prague_tso_segs`).
    pub(crate) longer_bursts: bool,
    congestion: CcConfig,
    /// Parameters as given, without those of other recovery schemes.
    params: TcpParams,
}

/// Longest options of a TCP header (RFC 9293 section 3.1: the data offset has four bits).
const MOST_OPTIONS: u32 = 40;

/// Returns the smallest shift that makes `buffer` fit the 16-bit window field, at most 14 (RFC 7323 section 2.3).
fn shift(buffer: u64) -> u8 {
    (0..14).find(|&s| buffer >> s <= 65_535).unwrap_or(14)
}

/// Window that the 16-bit field can advertise with the shift for `buffer`.
fn scaled(buffer: u64) -> u32 {
    let shift = shift(buffer);
    (((buffer >> shift).min(65_535)) << shift).min(u64::from(u32::MAX - 1)) as u32
}

impl std::ops::Deref for TcpConfig {
    type Target = TcpParams;

    /// Parameters that are used as given.
    fn deref(&self) -> &TcpParams {
        &self.params
    }
}

impl TcpConfig {
    /// Returns this configuration for segments of another class.
    pub fn with_class(self: &Arc<Self>, class: Class) -> Arc<Self> {
        if class == self.class { Arc::clone(self) } else { Arc::new(Self { class, ..(**self).clone() }) }
    }

    /// Checks and converts the parameters.
    ///
    /// # Errors
    /// Those of [`TcpParams::check`], and inconsistent parameters of a plug-in algorithm.
    pub fn new(p: &TcpParams, class: Class) -> Result<Arc<Self>, ParamsError> {
        p.check()?;
        let smss = p.mss.get();
        let scheme = p.scheme();
        let buffer = p.receive_window.map(fairlane_units::Bytes::get);
        // A buffer not larger than the initial one is used from the start.
        let buffer_range = p.receive_buffer.zip(buffer).map(|(first, most)| (first.get(), most)).filter(|(first, most)| first < most);
        let autotuned = p.quick_acks != 0 || buffer_range.is_some() || p.sack_delay != Dur::ZERO;
        let small = |b: fairlane_units::Bytes| b.get() as u32;
        let option = if p.timestamps { small(p.timestamp_option) } else { 0 };
        let header_len = small(p.header) + option;
        let data_header_len = small(p.data_header.unwrap_or(p.header)) + option;
        let (window, initial_window) = (p.window.map_or(u64::MAX, |w| len_bytes(w, smss)), p.initial_window.bytes(smss));
        let sack = matches!(scheme, Scheme::Sack | Scheme::Fack | Scheme::Ns3);
        let congestion = CcConfig {
            smss: smss as u32,
            window,
            initial_window,
            initial_ssthresh: p
                .initial_ssthresh
                .or(if p.ssthresh_from_window { p.window } else { None })
                .map_or(u64::MAX, |w| len_bytes(w, smss)),
            max_ssthresh: len_bytes(p.max_ssthresh, smss),
            byte_counting: p.byte_counting,
            avoidance_counts_all: p.avoidance_counts_all,
            growth_unit: p.growth_unit,
            grow_by_delivered: p.grow_by_delivered,
            slow_start: p.slow_start,
            hystart_divisor: p.hystart_divisor,
            hystart_min: p.hystart_min,
            hystart_max: p.hystart_max,
            hystart_train: p.hystart_train,
            hystart_rounds: p.hystart_rounds,
            cwnd_validation: p.cwnd_validation || p.new_cwv,
            loss_basis: p.loss_basis,
            ssthresh_whole_segments: p.ssthresh_whole_segments,
            timeout_cuts_again: p.timeout_cuts_again,
            pacing: p.pacing,
            pacing_slow_start: p.pacing_slow_start,
            quantum: Quantum { least: u64::from(p.pacing_segments) * smss, time: p.pacing_burst, smss },
            abe: p.abe,
            ecn: p.ecn_mode(),
            sack,
            timestamps: p.timestamps,
            tso: p.tso,
        };
        let config = Self {
            congestion,
            params: p.in_force(),
            class,
            smss: smss as u32,
            scheme,
            window,
            receive_window: match buffer {
                None => u32::MAX,
                Some(b) if p.window_scaling => scaled(b).max(1),
                Some(b) => b.min(65_535) as u32,
            },
            syn_window: match buffer_range {
                None => buffer.map_or(u32::MAX, |b| b.min(65_535) as u32),
                // Half of the buffer, in whole segments (Linux `tcp_select_initial_window`).
                Some((first, _)) => (first / 2).min(65_536).max(smss).div_euclid(smss).saturating_mul(smss).min(65_535) as u32,
            },
            buffer_range,
            autotuned,
            initial_window,
            syn_loss_ssthresh: p.syn_loss_ssthresh.map(|w| len_bytes(w, smss)),
            ecn: p.ecn_mode(),
            undo: p.frto || p.eifel || p.dsack_undo,
            rto_floor: if p.rto_min_first { p.rto_min } else { Dur::from_ps(1) },
            rto_min_backed_off: if p.rto_min_first { Dur::ZERO } else { p.rto_min },
            rto_rfc793: p.rto_rule.map_or(scheme == Scheme::Timeout && p.cc.name() == "rfc793", |r| r == RtoRule::Rfc793),
            rto_granularity_ticks: p.rto_granularity.as_ps() / p.rtt_tick.as_ps(),
            rtt_every: p.rtt_sampling == RttSampling::Every,
            // RFC 7323 section 4.3: with timestamps a delayed acknowledgment counts from the first segment that it answers.
            rtt_from_oldest: p.rtt_of_oldest || p.timestamps,
            backoff_ends_with_ack: p.backoff_ends == BackoffEnds::Ack,
            forget_rtt_after: p.forget_rtt_after.unwrap_or(u32::MAX),
            // Every segment is acknowledged, or every n full-sized ones (RFC 5681 section 4.2).
            ack_bytes: if p.ack_every == 1 { 0 } else { u64::from(p.ack_every) * smss },
            newreno_impatient: p.newreno_timer == NewRenoTimer::Impatient,
            recovery_burst: p.recovery_burst.unwrap_or(u32::MAX),
            max_burst: p.max_burst.unwrap_or(u32::MAX),
            sack,
            ns3: scheme == Scheme::Ns3,
            // RFC 2018 section 3: with timestamps only three blocks fit.
            sack_blocks: p.sack_blocks.min(if p.timestamps { 3 } else { 4 }) as usize,
            counted_pipe: p.sack_pipe == SackPipe::Counted && scheme == Scheme::Sack,
            timeout_forgets_sack: p.sack_memory != SackMemory::Keep,
            // ns-2: Sack1 turns a deaf ear, Fack starts afresh.
            timeout_distrusts_sack: p.sack_memory != SackMemory::Keep && scheme != Scheme::Fack,
            progress_forgets_sack: p.sack_memory == SackMemory::Progress,
            header_len,
            data_header_len,
            full_len: data_header_len + smss as u32,
            syn_len: small(p.header) + small(p.syn_options),
            // The MSS option counts no options (RFC 9293 section 3.7.1); room is left for all that could be in a SYN (RFC 7413 section 4.2.1; Linux).
            syn_data: (smss as u32 + option).saturating_sub(MOST_OPTIONS),
            sack_option: small(p.sack_option),
            sack_block: small(p.sack_block),
            plain_acks: !p.timestamps && p.ecn_mode() == EcnMode::Off && !autotuned,
            longer_bursts: p.cc.name() != "prague",
            ack_log: p.rack || p.tlp || p.frto || p.eifel || p.dsack_undo,
            fast_path: !p.timestamps
                && scheme != Scheme::Ns3
                && p.rtt_sampling == RttSampling::Every
                && p.rtt_tick.as_ps() == 1
                && p.window.is_none()
                && p.max_burst.is_none()
                && p.sack_memory != SackMemory::Progress
                && p.ecn_mode() == EcnMode::Off
                && !(p.cwnd_limited_by_round || p.pacing || p.rack || p.tlp || p.frto || p.new_cwv || p.tso)
                && !p.rtt_of_oldest
                && !autotuned,
        };
        p.cc.check(&config.congestion).map_err(|m| range("cc", m))?;
        Ok(Arc::new(config))
    }

    /// Maximum segment size in bytes.
    pub fn mss(&self) -> u32 {
        self.smss
    }

    /// Window scale shift for the receive window.
    pub fn window_shift(&self) -> u8 {
        shift(u64::from(self.receive_window))
    }

    /// Parameters for congestion control.
    pub fn congestion(&self) -> &CcConfig {
        &self.congestion
    }

    /// Length on the wire of a segment with this payload and number of SACK blocks.
    #[inline]
    pub fn wire_len(&self, payload: u32, sack_blocks: u32) -> u32 {
        let sack = if sack_blocks == 0 { 0 } else { self.sack_option + sack_blocks * self.sack_block };
        let header = if payload == 0 { self.header_len } else { self.data_header_len };
        header + payload + sack
    }
}
