//! Parameters of a TCP endpoint, each with its meaning and source.

use crate::cc::CcParams;
use crate::choices::{
    BackoffEnds, EcnMode, ExitWindow, FastOpen, GrowthUnit, HystartRounds, IdleRestart, InitialWindow, LossBasis, NewRenoTimer,
    OldSegments, Paws, Preset, Prr, PrrBase, RtoRule, RttSampling, SackMemory, SackPipe, Scheme, SlowStart,
};
use fairlane_units::{Bytes, Dur, Len};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP (RFC 9293) with the congestion control of RFC 5681 and its companions; both ends of a flow share the values.
///
/// The defaults are the preset `modern`, the common ground of current stacks. A preset is a named set of values: see `fairlane explain
/// rfc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TcpParams {
    /// Preset: named set of values for the parameters not given.
    pub preset: Preset,
    /// Congestion control algorithm; it owns the window (RFC 5681 section 3).
    pub cc: CcParams,
    /// Loss recovery scheme. Unset: the one that `cc` implies.
    pub recovery: Option<Scheme>,

    /// Largest payload of a segment, without options (SMSS of RFC 5681 section 2).
    #[schemars(extend("x-min" = "1B", "x-max" = "65000B"))]
    pub mss: Bytes,
    /// Upper limit of the send window, independent of the congestion window (ns-2 `window_`; a send buffer). Unset: no limit.
    #[schemars(extend("x-min" = "1p"))]
    pub window: Option<Len>,
    /// Receive buffer, advertised as the receive window (RFC 9293 section 3.8.6). The default allows 670 Mbit/s over 100 ms. Unset: no flow
    /// control.
    #[schemars(extend("x-min" = "1B"))]
    pub receive_window: Option<Bytes>,
    /// Receive buffer at the start of a connection. It grows up to `receive_window` with the data that the application reads in a round
    /// trip; the window is the part of it that payload can fill (Linux: 128 KiB, the middle value of `tcp_rmem`). Unset, or not below
    /// `receive_window`: the window is that from the start.
    #[schemars(extend("x-min" = "1KiB"))]
    pub receive_buffer: Option<Bytes>,
    /// Use the window scale option (RFC 7323 section 2); without it at most 65535 bytes are advertised.
    pub window_scaling: bool,

    /// Open the connection with SYN and SYN-ACK (RFC 9293 section 3.5); false: data flows at once.
    pub handshake: bool,
    /// Acknowledge the SYN-ACK with a segment of its own (RFC 9293 section 3.5); false: with the first data.
    pub handshake_ack: bool,
    /// TCP Fast Open (RFC 7413): data in the SYN, which saves a round trip. Needs `handshake` and `handshake_ack`. The connection opens
    /// with the first write. With `cookie`, the flow that starts first between two nodes requests a cookie, and those that start later have
    /// it. No preset sets it: Linux has the client's half on (`tcp_fastopen` 1), but uses it only if the application requests it
    /// (`MSG_FASTOPEN`).
    pub fast_open: FastOpen,
    /// Signal the end of the data with FIN (RFC 9293 section 3.6).
    pub fin: bool,
    /// Time for which the end that closed first answers late segments (2 MSL of RFC 9293 section 3.4.2; Linux 60 s). Afterwards it refuses
    /// them.
    #[schemars(extend("x-max" = "1h"))]
    pub time_wait: Dur,
    /// Late segments that are accepted (RFC 9293 section 3.10.7.4).
    pub old_segments: OldSegments,
    /// Most challenge ACKs per `challenge_interval` (RFC 5961 section 7; Linux 1).
    pub challenge_acks: u32,
    /// Interval of `challenge_acks` (RFC 5961 section 7; Linux `tcp_invalid_ratelimit`, 500 ms).
    #[schemars(extend("x-max" = "1h"))]
    pub challenge_interval: Dur,

    /// Initial window: `rfc6928`, `rfc3390` or a fixed size such as `2p` (RFC 6928 section 2, RFC 5681 equation 1).
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold. Unset: arbitrarily high (RFC 5681 section 3.1), or `window` with `ssthresh_from_window`.
    #[schemars(extend("x-min" = "1p"))]
    pub initial_ssthresh: Option<Len>,
    /// Use `window` as the initial slow-start threshold where none is set (ns-2).
    pub ssthresh_from_window: bool,
    /// Slow-start threshold after a lost SYN (ns-2 treats it as a loss of data). Unset: unchanged.
    #[schemars(extend("x-min" = "1p"))]
    pub syn_loss_ssthresh: Option<Len>,
    /// Most segments that one acknowledgment counts for in growing the window (L of RFC 3465 section 2.1; 1: RFC 5681 equation 2). Unset:
    /// every acknowledgment counts as one segment, however much it covers (RFC 2581).
    #[schemars(range(min = 1))]
    pub byte_counting: Option<u32>,
    /// Apply `byte_counting` to slow start alone; congestion avoidance counts all bytes acknowledged (RFC 3465 sections 2.1 and 2.2; ns-3).
    pub avoidance_counts_all: bool,
    /// Unit of growth in congestion avoidance. `byte` is for Reno, Veno, Westwood, H-TCP, YeAH and Vegas; `segment` is for Reno, DCTCP,
    /// HighSpeed, Illinois, Hybla and Scalable.
    pub growth_unit: GrowthUnit,
    /// End of slow start before a loss. Unset: the algorithm's own choice, which is the standard one for all but CUBIC.
    pub slow_start: Option<SlowStart>,
    /// Window beyond which limited slow start adds at most half of it per round trip (max_ssthresh of RFC 3742 section 2).
    #[schemars(extend("x-min" = "1p"))]
    pub max_ssthresh: Len,
    /// Rise of the round-trip time that ends slow start, as a divisor: HyStart++ 1/8 of the last round's (MIN_RTT_DIVISOR of RFC 9406
    /// section 4.3), HyStart 1/8 of the smallest (Linux).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub hystart_divisor: f64,
    /// Smallest such rise (MIN_RTT_THRESH of RFC 9406 section 4.3; Linux).
    #[schemars(extend("x-max" = "10s"))]
    pub hystart_min: Dur,
    /// Largest such rise (MAX_RTT_THRESH of RFC 9406 section 4.3; Linux).
    #[schemars(extend("x-max" = "10s"))]
    pub hystart_max: Dur,
    /// HyStart without pacing: length of the acknowledgment train that ends slow start, as a share of the smallest round-trip time (Linux:
    /// half).
    #[schemars(range(min = 0.0, max = 10.0))]
    pub hystart_train: f64,
    /// HyStart: beginning of a round.
    pub hystart_rounds: HystartRounds,
    /// Grow the window only while it limits the sender (RFC 7661 section 4.3).
    pub cwnd_validation: bool,
    /// For `cwnd_validation`: a window that limits the sender once counts as the limit for the whole round trip. In slow start more than
    /// half of it in use is enough, so that it may reach twice the data in flight (Linux `tcp_is_cwnd_limited`). Otherwise the reason why
    /// the last sending stopped decides.
    pub cwnd_limited_by_round: bool,
    /// Grow the window by the bytes newly delivered, SACKed or not (Linux `tcp_cong_avoid`). Otherwise it grows by the bytes acknowledged,
    /// of which SACKed ones were delivered before.
    pub grow_by_delivered: bool,
    /// Reduce a window that was not used for long to the part that was used (pipeACK and the non-validated phase, RFC 7661 sections 4.2 to
    /// 4.5).
    pub new_cwv: bool,
    /// Probe a closed window with an empty segment and an old sequence number (Linux, `tcp_xmit_probe_skb`). Otherwise with one byte.
    pub empty_window_probes: bool,
    /// Measure the round-trip time by segments sent once that an acknowledgment SACKs without covering new data (Linux
    /// `tcp_ack_update_rtt`). Needs `rack`.
    pub rtt_of_sacked: bool,
    /// Base of the reduction after a loss: the flight size (RFC 5681 equation 4), the congestion window, or the smaller of both.
    pub loss_basis: LossBasis,
    /// Round the slow-start threshold down to whole segments (ns-2).
    pub ssthresh_whole_segments: bool,
    /// Lower the slow-start threshold with each timeout in a row (ns-2); RFC 5681 section 3.1 keeps it.
    pub timeout_cuts_again: bool,
    /// Congestion window after an idle time of more than the RTO (RFC 5681 section 4.1).
    pub idle_restart: IdleRestart,

    /// Explicit congestion notification, negotiated in the handshake if there is one. Unset: as `cc` needs it (`dctcp`, `prague`), else
    /// off.
    pub ecn: Option<EcnMode>,
    /// Set ECT on SYN, pure acknowledgments, window probes and retransmissions as well (ECN++, draft-ietf-tcpm-generalized-ecn; Linux with
    /// DCTCP). RFC 3168 sections 6.1.1 to 6.1.6 allow it on new data only.
    pub ecn_plus: bool,
    /// Set ECT on retransmissions, which may then be marked instead of dropped (ns-3). RFC 3168 section 6.1.5 forbids it.
    pub ecn_resent: bool,
    /// Reduce the window less for an ECN mark than for a loss: alternative back-off (ABE, RFC 8511).
    pub abe: bool,
    /// Pace segments instead of sending them in bursts. Always on for `bbr`, `bbr3` and `prague`.
    pub pacing: bool,
    /// Pacing rate in slow start, as a multiple of `cwnd / SRTT` (Linux `tcp_pacing_ss_ratio`, 200 %).
    #[schemars(range(min = 0.1, max = 100.0))]
    pub pacing_slow_start: f64,
    /// Pacing rate in congestion avoidance, as a multiple of `cwnd / SRTT` (Linux `tcp_pacing_ca_ratio`, 120 %).
    #[schemars(range(min = 0.1, max = 100.0))]
    pub pacing_avoidance: f64,
    /// Duration of a burst: whole segments of this time at the pacing rate leave at once, at least `pacing_segments` (Linux
    /// `tcp_tso_autosize`: 1/1024 s). `0s`: only `pacing_segments`.
    #[schemars(extend("x-max" = "1s"))]
    pub pacing_burst: Dur,
    /// Least number of segments in a burst (Linux `tcp_min_tso_segs`: 2).
    #[schemars(range(min = 1))]
    pub pacing_segments: u32,
    /// Segmentation offload: new data leaves in bursts of `pacing_burst` and `pacing_segments`, paced or not. Outside recovery a shorter
    /// burst waits for a full one if acknowledgments are expected soon (Linux `tcp_tso_should_defer`). The last segment of a burst, and of
    /// all data written, carries PSH.
    pub tso: bool,
    /// With `tso`: size of the pieces of the send queue. The end of a piece is not deferred (Linux: the longest burst, 65215B). Unset: no
    /// pieces.
    #[schemars(extend("x-min" = "1B"))]
    pub tso_piece: Option<Bytes>,
    /// Segments at the start of a connection that are not paced (Linux: 10).
    #[schemars(range(max = 1000))]
    pub pacing_free: u32,
    /// Share of the gap after a burst by which it may shrink to make up for a late burst (Linux `tcp_update_skb_after_send`: half).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pacing_catch_up: f64,

    /// Rule for the retransmission timeout and its back-off. Unset: that of RFC 6298, for `cc = "rfc793"` that of RFC 793.
    pub rto_rule: Option<RtoRule>,
    /// RTO before the first measurement (RFC 6298 section 2.1).
    #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
    pub rto_initial: Dur,
    /// Smallest RTO (RFC 6298 section 2.4).
    #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
    pub rto_min: Dur,
    /// Apply `rto_min` before back-off (RFC 6298 sections 2.4 and 5.5; ns-2 `rfc2988_`); otherwise after it.
    pub rto_min_first: bool,
    /// Largest RTO, with back-off (RFC 6298 section 2.5).
    #[schemars(extend("x-min" = "1us", "x-max" = "24h"))]
    pub rto_max: Dur,
    /// Smallest variation term of the RTO (G of RFC 6298 section 2).
    #[schemars(extend("x-max" = "10s"))]
    pub rto_granularity: Dur,
    /// RTO for the first data after a lost SYN (RFC 6298 section 5.7). Unset: the RTO in force.
    #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
    pub rto_after_syn_loss: Option<Dur>,
    /// Tick of the clock that measures round-trip times for the RTO; `1ps` is exact.
    #[schemars(extend("x-min" = "1ps", "x-max" = "1s"))]
    pub rtt_tick: Dur,
    /// Segments that are timed (RFC 6298 section 3: at least one per round trip). With timestamps each acknowledgment measures.
    pub rtt_sampling: RttSampling,
    /// Measure SRTT by the oldest segment newly acknowledged, so that it includes the delay of acknowledgments (Linux
    /// `tcp_clean_rtx_queue`). Always so with `timestamps`, as the echo reports it (RFC 7323 section 4.3). The smallest round-trip time and
    /// the samples of algorithms use the newest segment; otherwise SRTT does, too.
    pub rtt_of_oldest: bool,
    /// Event that ends the back-off of the RTO: a new measurement (RFC 6298 section 5; Linux, ns-2) or any acknowledgment of new data
    /// (ns-3).
    pub backoff_ends: BackoffEnds,
    /// Timeouts in a row after which SRTT and RTTVAR start again (RFC 6298 section 5, last note). Unset: never.
    #[schemars(range(min = 1))]
    pub forget_rtt_after: Option<u32>,
    /// F-RTO (RFC 5682): new data sent after a timeout shows if it was spurious.
    pub frto: bool,
    /// Eifel detection (RFC 3522) with the response of RFC 4015: timestamps show that retransmitted data had arrived, and the reduction is
    /// undone.
    pub eifel: bool,
    /// Undo the reduction if D-SACK reports that all its retransmissions were superfluous (RFC 3708).
    pub dsack_undo: bool,
    /// Timestamps option (RFC 7323 section 3): measures round-trip times and, with `paws`, detects old segments.
    pub timestamps: bool,
    /// Protection against wrapped sequence numbers, with timestamps (RFC 7323 section 5).
    pub paws: Paws,
    /// Tick of the timestamp clock (RFC 7323 section 5.4: 1 ms to 1 s; Linux 1 ms).
    #[schemars(extend("x-min" = "1us", "x-max" = "1s"))]
    pub timestamp_tick: Dur,

    /// Measure the round-trip time by the echoed timestamp, in whole ticks, and not by acknowledgments of a retransmission (ns-3
    /// `EstimateRtt`). Otherwise segments sent once are timed to the picosecond.
    pub rtt_in_ticks: bool,
    /// Give the algorithm the smoothed round-trip time instead of the measurement, and with `rtt_in_ticks` the smallest smoothed one (ns-3
    /// `m_lastRtt`, `m_minRtt`).
    pub rtt_smoothed: bool,

    /// Acknowledge every n-th full-sized segment (RFC 5681 section 4.2: at least every second); 1: delayed ACK off.
    #[schemars(range(min = 1))]
    pub ack_every: u32,
    /// Longest delay of an acknowledgment (RFC 1122 section 4.2.3.2: below 500 ms).
    #[schemars(extend("x-min" = "1us", "x-max" = "500ms"))]
    pub ack_delay: Dur,
    /// Acknowledgments that are not delayed at the start of a connection, after a pause of more than the RTO and after duplicate data, if
    /// the window holds twice as many segments (Linux `TCP_MAX_QUICKACKS`: 16); with `receive_buffer` also as long as the window grows.
    /// Once data was sent soon after data arrived, all are delayed until the timer of one expires. Others then wait `ack_delay` at least,
    /// longer where segments come seldom (Linux `ato`).
    pub quick_acks: u32,
    /// ACK compression: delay of acknowledgments while data is missing, at most a twentieth of the round-trip time, except for the first
    /// three (Linux `tcp_comp_sack_delay_ns`, 1 ms). `0s`: each leaves at once, as in RFC 5681 section 4.2.
    #[schemars(extend("x-max" = "1s"))]
    pub sack_delay: Dur,

    /// Duplicate acknowledgments that signal a loss (RFC 5681 section 3.2, DupThresh of RFC 6675).
    #[schemars(range(min = 1, max = 1000))]
    pub dupthresh: u32,
    /// RACK (RFC 8985): detect losses by time, not only by counts. Needs SACK recovery.
    pub rack: bool,
    /// For `rack`: a retransmission has arrived only if the echoed timestamp is no older (RFC 8985 section 6.2 step 2). While data below is
    /// missing, receivers echo older ones (RFC 7323 section 4.3). Otherwise a round-trip time since it is enough (Linux
    /// `tcp_rack_advance`).
    pub rack_echo: bool,
    /// Tail loss probe (RFC 8985 section 7). Needs SACK recovery.
    pub tlp: bool,
    /// Longest time for which the receiver delays the acknowledgment of a single segment, for `tlp` (TLP.max_ack_delay of RFC 8985 section
    /// 7.2; Linux: its smallest RTO).
    #[schemars(extend("x-max" = "10s"))]
    pub tlp_ack_delay: Dur,
    /// Time added to the waits of `rack` and `tlp` (Linux: two ticks of its clock).
    #[schemars(extend("x-max" = "1s"))]
    pub timer_slack: Dur,
    /// Proportional rate reduction: spread the cut of a loss over the recovery. Needs SACK recovery.
    pub prr: Prr,
    /// Base of the reduction of `prr` (RecoverFS of RFC 9937 section 6.2).
    pub prr_base: PrrBase,
    /// Round the data that `prr` allows up to whole segments (RFC 6937 section 4 counts segments; ns-3 does not round).
    pub prr_whole_segments: bool,
    /// FACK: halve the window twice for a loss in slow start, since it has doubled after the lost segment was sent (overdamping, Mathis and
    /// Mahdavi 1996; ns-2 `ss-div4_`).
    pub fack_overdamping: bool,
    /// FACK: lower the window smoothly over a round trip (rampdown, Mathis and Mahdavi 1996; ns-2 `rampdown_`).
    pub fack_rampdown: bool,
    /// FACK: after a loss, restart the window from one segment, which grows with each acknowledgment of the recovery (ns-2 tcp-fack.cc,
    /// CLOSE_CWND_RESTART and opencwnd). Otherwise it is cut at once (Mathis and Mahdavi 1996).
    pub fack_restart: bool,
    /// FACK: outside recovery an acknowledgment that repeats the last one or carries SACK blocks can only begin recovery (ns-2
    /// tcp-fack.cc). Otherwise limited transmit continues, and the window grows with the bytes newly acknowledged.
    pub fack_only_enters: bool,
    /// FACK: end recovery with an acknowledgment beyond its end without a SACK block, also through a timeout (ns-2 tcp-fack.cc). Otherwise
    /// when all data sent before it is acknowledged.
    pub fack_until_no_sack: bool,
    /// FACK: if a segment sent after a retransmission is SACKed before it, send nothing until the timer expires (ns-2 tcp-fack.cc,
    /// CheckSndNxt).
    pub fack_lost_again_stops: bool,
    /// FACK: restart the retransmission timer with each acknowledgment while data is missing, also without new data (ns-2 tcp-fack.cc,
    /// oldack; RFC 6298 section 5.3 requires new data).
    pub fack_every_ack_restarts_timer: bool,
    /// Vegas: add duplicate acknowledgments beyond the threshold to the window itself, in any state; the next acknowledgment of new data
    /// restores the window after the last cut. If that is less than a segment, the flow is silent until its timer expires (ns-2
    /// tcp-vegas.cc, v_newcwnd_). Otherwise they inflate the window during recovery (RFC 5681 section 3.2 step 4).
    pub vegas_inflates_cwnd: bool,
    /// Vegas: back off the retransmission timer after a retransmission for duplicates, until the next measurement (ns-2 tcp-vegas.cc,
    /// reset_rtx_timer(1)).
    pub vegas_backs_off: bool,
    /// Vegas: measure the acknowledgment of a hole by the newest segment it covers, although that waited at the receiver (ns-2
    /// tcp-vegas.cc, v_sendtime_).
    pub vegas_times_waiting: bool,
    /// Vegas: keep sending times in a table with an entry for each segment of `window`; where the table wraps, an acknowledgment leaves
    /// entries uncleared (ns-2 tcp-vegas.cc, v_transmits_). No effect where `window` is unset.
    pub vegas_send_table: bool,
    /// Limited transmit (RFC 3042): send new data for duplicate acknowledgments below the threshold.
    pub limited_transmit: bool,
    /// Begin a loss event only after everything sent before the last one is acknowledged (RFC 6582 section 3.2 step 2).
    pub careful: bool,
    /// Partial acknowledgments that restart the retransmission timer: the first, or each (RFC 3782 section 4).
    pub newreno_timer: NewRenoTimer,
    /// Deflate the inflated window by the data that a partial acknowledgment covers (RFC 6582 section 3.2 step 3).
    pub partial_deflation: bool,
    /// Most segments that one acknowledgment may release during NewReno recovery, in addition to the retransmission. Unset: no limit.
    #[schemars(range(min = 1))]
    pub recovery_burst: Option<u32>,
    /// Most segments that one acknowledgment may release (RFC 6582 section 3.2 mentions bursts on leaving recovery). Unset: no limit.
    #[schemars(range(min = 1))]
    pub max_burst: Option<u32>,
    /// Congestion window on leaving fast recovery (RFC 6582 section 3.2 step 3, full acknowledgments).
    pub exit_window: ExitWindow,
    /// Grow the window with the acknowledgment that ends Reno or NewReno recovery (ns-2).
    pub grow_on_exit: bool,

    /// Most SACK blocks in an acknowledgment (RFC 2018 section 3: 4, or 3 with timestamps).
    #[schemars(range(min = 1, max = 4))]
    pub sack_blocks: u32,
    /// Report duplicates in the first SACK block (D-SACK, RFC 2883).
    pub dsack: bool,
    /// Estimate of the data in flight during SACK recovery.
    pub sack_pipe: SackPipe,
    /// SACKed segments above a hole that make it lost (DupThresh in IsLost of RFC 6675 section 4; 1: any).
    #[schemars(range(min = 1, max = 1000))]
    pub sack_lost_after: u32,
    /// Use NextSeg rule 4 of RFC 6675 (rescue retransmission).
    pub sack_rescue: bool,
    /// After a timeout, begin SACK recovery only with an acknowledgment of data sent after it (ns-2). RFC 6675 section 5.1 only asks that
    /// all data sent before it is acknowledged.
    pub sack_careful: bool,
    /// Grow the window with the acknowledgment that ends SACK recovery, by all it covers (ns-3): nearly one segment more. It covers data
    /// from before recovery, which RFC 5681 section 3.2 has counted already.
    pub sack_grow_on_exit: bool,
    /// Lifetime of SACK information.
    pub sack_memory: SackMemory,

    /// IP and TCP header without options.
    #[schemars(extend("x-max" = "1000B"))]
    pub header: Bytes,
    /// IP and TCP header of segments with data, where a model counts it differently (0 for ns-2's Vegas, which adds no header). Unset:
    /// `header`.
    #[schemars(extend("x-max" = "1000B"))]
    pub data_header: Option<Bytes>,
    /// Options of a SYN: MSS, window scale, SACK permitted, timestamps, padded.
    #[schemars(extend("x-max" = "1000B"))]
    pub syn_options: Bytes,
    /// Fixed part of a SACK option, padded (RFC 2018 section 3).
    #[schemars(extend("x-max" = "1000B"))]
    pub sack_option: Bytes,
    /// One SACK block (RFC 2018 section 3).
    #[schemars(extend("x-max" = "1000B"))]
    pub sack_block: Bytes,
    /// Timestamps option, padded (RFC 7323 section 3).
    #[schemars(extend("x-max" = "1000B"))]
    pub timestamp_option: Bytes,
}

impl Default for TcpParams {
    fn default() -> Self {
        Self {
            preset: Preset::Modern,
            cc: CcParams::default(),
            recovery: None,
            mss: Bytes(1460),
            window: None,
            receive_window: Some(Bytes(8 << 20)),
            receive_buffer: None,
            window_scaling: true,
            handshake: true,
            handshake_ack: true,
            fast_open: FastOpen::Off,
            fin: true,
            time_wait: Dur::from_secs(240),
            old_segments: OldSegments::Rfc,
            challenge_acks: 10,
            challenge_interval: Dur::from_secs(5),
            initial_window: InitialWindow::Rfc6928,
            initial_ssthresh: None,
            ssthresh_from_window: false,
            syn_loss_ssthresh: None,
            byte_counting: Some(1000),
            avoidance_counts_all: false,
            growth_unit: GrowthUnit::Fraction,
            slow_start: None,
            max_ssthresh: Len::Packets(100),
            hystart_divisor: 8.0,
            hystart_min: Dur::from_ms(4),
            hystart_max: Dur::from_ms(16),
            hystart_train: 0.5,
            hystart_rounds: HystartRounds::Always,
            cwnd_validation: true,
            empty_window_probes: false,
            rtt_of_sacked: false,
            cwnd_limited_by_round: false,
            grow_by_delivered: true,
            new_cwv: false,
            loss_basis: LossBasis::Smaller,
            ssthresh_whole_segments: false,
            timeout_cuts_again: false,
            idle_restart: IdleRestart::Initial,
            ecn: None,
            ecn_plus: false,
            ecn_resent: false,
            abe: false,
            pacing: false,
            pacing_slow_start: 2.0,
            pacing_avoidance: 1.2,
            pacing_burst: Dur::ZERO,
            pacing_segments: 1,
            tso: false,
            tso_piece: None,
            pacing_free: 0,
            pacing_catch_up: 0.0,
            rto_initial: Dur::from_secs(1),
            rto_min: Dur::from_ms(200),
            rto_min_first: true,
            rto_max: Dur::from_secs(60),
            rto_rule: None,
            rto_granularity: Dur::from_ms(200),
            rto_after_syn_loss: Some(Dur::from_secs(3)),
            rtt_tick: Dur::from_ps(1),
            rtt_sampling: RttSampling::Every,
            rtt_of_oldest: false,
            backoff_ends: BackoffEnds::Sample,
            forget_rtt_after: None,
            frto: false,
            eifel: false,
            dsack_undo: false,
            timestamps: false,
            paws: Paws::Rfc,
            timestamp_tick: Dur::from_ms(1),
            rtt_in_ticks: false,
            rtt_smoothed: false,
            ack_every: 2,
            ack_delay: Dur::from_ms(40),
            quick_acks: 0,
            sack_delay: Dur::ZERO,
            dupthresh: 3,
            rack: true,
            rack_echo: false,
            tlp: true,
            tlp_ack_delay: Dur::from_ms(200),
            timer_slack: Dur::ZERO,
            prr: Prr::Rfc9937,
            prr_base: PrrBase::Flight,
            prr_whole_segments: true,
            fack_overdamping: false,
            fack_rampdown: false,
            fack_restart: false,
            fack_only_enters: false,
            fack_until_no_sack: false,
            fack_lost_again_stops: false,
            fack_every_ack_restarts_timer: false,
            vegas_inflates_cwnd: false,
            vegas_backs_off: false,
            vegas_times_waiting: false,
            vegas_send_table: false,
            limited_transmit: true,
            careful: true,
            newreno_timer: NewRenoTimer::Impatient,
            partial_deflation: true,
            recovery_burst: None,
            max_burst: None,
            exit_window: ExitWindow::Flight,
            grow_on_exit: false,
            sack_blocks: 4,
            dsack: true,
            sack_pipe: SackPipe::Rfc6675,
            sack_lost_after: 3,
            sack_rescue: true,
            sack_careful: false,
            sack_grow_on_exit: false,
            sack_memory: SackMemory::Keep,
            header: Bytes(40),
            data_header: None,
            syn_options: Bytes(12),
            sack_option: Bytes(4),
            sack_block: Bytes(8),
            timestamp_option: Bytes(12),
        }
    }
}
