//! Parameters of a TCP endpoint, each with its meaning and source.

use crate::cc::CcParams;
use crate::choices::{
    BackoffEnds, EcnMode, ExitWindow, FastOpen, GrowthUnit, HystartRounds, IdleRestart, InitialWindow, LossBasis, NewRenoTimer,
    OldSegments, Paws, Preset, Prr, PrrBase, RtoRule, RttSampling, SackMemory, SackPipe, Scheme, SlowStart,
};
use fairlane_units::{Bytes, Dur, Len};

fairlane_units::params! {
    /// TCP (RFC 9293) with the congestion control of RFC 5681 and its companions; both ends of a flow share the values.
    ///
    /// The defaults are the preset `modern`, the common ground of current stacks. A preset is a named set of values: see `fairlane explain
    /// rfc`.
    pub struct TcpParams {
        /// Preset: named set of values for the parameters not given.
        pub preset: Preset = Preset::Modern,
        /// Congestion control algorithm; it owns the window (RFC 5681 section 3).
        pub cc: CcParams,
        /// Loss recovery scheme. Unset: the one that `cc` implies.
        pub recovery: Option<Scheme> = None,

        /// Largest payload of a segment, without options (SMSS of RFC 5681 section 2).
        #[schemars(extend("x-min" = "1B", "x-max" = "65000B"))]
        pub mss: Bytes = Bytes(1460),
        /// Upper limit of the send window, independent of the congestion window (ns-2 `window_`; a send buffer). Unset: no limit.
        #[schemars(extend("x-min" = "1p"))]
        pub window: Option<Len> = None,
        /// Receive buffer, advertised as the receive window (RFC 9293 section 3.8.6). The default allows 670 Mbit/s over 100 ms. Unset: no flow
        /// control.
        #[schemars(extend("x-min" = "1B"))]
        pub receive_window: Option<Bytes> = Some(Bytes(8 << 20)),
        /// Receive buffer at the start of a connection. It grows up to `receive_window` with the data that the application reads in a round
        /// trip; the window is the part of it that payload can fill (Linux: 128 KiB, the middle value of `tcp_rmem`). Unset, or not below
        /// `receive_window`: the window is that from the start.
        #[schemars(extend("x-min" = "1KiB"))]
        pub receive_buffer: Option<Bytes> = None,
        /// Use the window scale option (RFC 7323 section 2); without it at most 65535 bytes are advertised.
        pub window_scaling: bool = true,

        /// Open the connection with SYN and SYN-ACK (RFC 9293 section 3.5); false: data flows at once.
        pub handshake: bool = true,
        /// Acknowledge the SYN-ACK with a segment of its own (RFC 9293 section 3.5); false: with the first data.
        pub handshake_ack: bool = true,
        /// TCP Fast Open (RFC 7413): data in the SYN, which saves a round trip. Needs `handshake` and `handshake_ack`. The connection opens
        /// with the first write. With `cookie`, the flow that starts first between two nodes requests a cookie, and those that start later have
        /// it. No preset sets it: Linux has the client's half on (`tcp_fastopen` 1), but uses it only if the application requests it
        /// (`MSG_FASTOPEN`).
        pub fast_open: FastOpen = FastOpen::Off,
        /// Signal the end of the data with FIN (RFC 9293 section 3.6).
        pub fin: bool = true,
        /// Time for which the end that closed first answers late segments (2 MSL of RFC 9293 section 3.4.2; Linux 60 s). Afterwards it refuses
        /// them.
        #[schemars(extend("x-max" = "1h"))]
        pub time_wait: Dur = Dur::from_secs(240),
        /// Late segments that are accepted (RFC 9293 section 3.10.7.4).
        pub old_segments: OldSegments = OldSegments::Rfc,
        /// Most challenge ACKs per `challenge_interval` (RFC 5961 section 7; Linux 1).
        pub challenge_acks: u32 = 10,
        /// Interval of `challenge_acks` (RFC 5961 section 7; Linux `tcp_invalid_ratelimit`, 500 ms).
        #[schemars(extend("x-max" = "1h"))]
        pub challenge_interval: Dur = Dur::from_secs(5),

        /// Initial window: `rfc6928`, `rfc3390` or a fixed size such as `2p` (RFC 6928 section 2, RFC 5681 equation 1).
        pub initial_window: InitialWindow = InitialWindow::Rfc6928,
        /// Initial slow-start threshold. Unset: arbitrarily high (RFC 5681 section 3.1), or `window` with `ssthresh_from_window`.
        #[schemars(extend("x-min" = "1p"))]
        pub initial_ssthresh: Option<Len> = None,
        /// Use `window` as the initial slow-start threshold where none is set (ns-2).
        pub ssthresh_from_window: bool = false,
        /// Slow-start threshold after a lost SYN (ns-2 treats it as a loss of data). Unset: unchanged.
        #[schemars(extend("x-min" = "1p"))]
        pub syn_loss_ssthresh: Option<Len> = None,
        /// Most segments that one acknowledgment counts for in growing the window (L of RFC 3465 section 2.1; 1: RFC 5681 equation 2). Unset:
        /// every acknowledgment counts as one segment, however much it covers (RFC 2581).
        #[schemars(range(min = 1))]
        pub byte_counting: Option<u32> = Some(1000),
        /// Apply `byte_counting` to slow start alone; congestion avoidance counts all bytes acknowledged (RFC 3465 sections 2.1 and 2.2; ns-3).
        pub avoidance_counts_all: bool = false,
        /// Unit of growth in congestion avoidance. `byte` is for Reno, Veno, Westwood, H-TCP, YeAH and Vegas; `segment` is for Reno, DCTCP,
        /// HighSpeed, Illinois, Hybla and Scalable.
        pub growth_unit: GrowthUnit = GrowthUnit::Fraction,
        /// End of slow start before a loss. Unset: the algorithm's own choice, which is the standard one for all but CUBIC.
        pub slow_start: Option<SlowStart> = None,
        /// Window beyond which limited slow start adds at most half of it per round trip (max_ssthresh of RFC 3742 section 2).
        #[schemars(extend("x-min" = "1p"))]
        pub max_ssthresh: Len = Len::Packets(100),
        /// Rise of the round-trip time that ends slow start, as a divisor: HyStart++ 1/8 of the last round's (MIN_RTT_DIVISOR of RFC 9406
        /// section 4.3), HyStart 1/8 of the smallest (Linux).
        #[schemars(range(min = 0.1, max = 1000.0))]
        pub hystart_divisor: f64 = 8.0,
        /// Smallest such rise (MIN_RTT_THRESH of RFC 9406 section 4.3; Linux).
        #[schemars(extend("x-max" = "10s"))]
        pub hystart_min: Dur = Dur::from_ms(4),
        /// Largest such rise (MAX_RTT_THRESH of RFC 9406 section 4.3; Linux).
        #[schemars(extend("x-max" = "10s"))]
        pub hystart_max: Dur = Dur::from_ms(16),
        /// HyStart without pacing: length of the acknowledgment train that ends slow start, as a share of the smallest round-trip time (Linux:
        /// half).
        #[schemars(range(min = 0.0, max = 10.0))]
        pub hystart_train: f64 = 0.5,
        /// HyStart: beginning of a round.
        pub hystart_rounds: HystartRounds = HystartRounds::Always,
        /// Grow the window only while it limits the sender (RFC 7661 section 4.3).
        pub cwnd_validation: bool = true,
        /// For `cwnd_validation`: a window that limits the sender once counts as the limit for the whole round trip. In slow start more than
        /// half of it in use is enough, so that it may reach twice the data in flight (Linux `tcp_is_cwnd_limited`). Otherwise the reason why
        /// the last sending stopped decides.
        pub cwnd_limited_by_round: bool = false,
        /// Grow the window by the bytes newly delivered, SACKed or not (Linux `tcp_cong_avoid`). Otherwise it grows by the bytes acknowledged,
        /// of which SACKed ones were delivered before.
        pub grow_by_delivered: bool = true,
        /// Reduce a window that was not used for long to the part that was used (pipeACK and the non-validated phase, RFC 7661 sections 4.2 to
        /// 4.5).
        pub new_cwv: bool = false,
        /// Probe a closed window with an empty segment and an old sequence number (Linux, `tcp_xmit_probe_skb`). Otherwise with one byte.
        pub empty_window_probes: bool = false,
        /// Measure the round-trip time by segments sent once that an acknowledgment SACKs without covering new data (Linux
        /// `tcp_ack_update_rtt`). Needs `rack`.
        pub rtt_of_sacked: bool = false,
        /// Base of the reduction after a loss: the flight size (RFC 5681 equation 4), the congestion window, or the smaller of both.
        pub loss_basis: LossBasis = LossBasis::Smaller,
        /// Round the slow-start threshold down to whole segments (ns-2).
        pub ssthresh_whole_segments: bool = false,
        /// Lower the slow-start threshold with each timeout in a row (ns-2); RFC 5681 section 3.1 keeps it.
        pub timeout_cuts_again: bool = false,
        /// Congestion window after an idle time of more than the RTO (RFC 5681 section 4.1).
        pub idle_restart: IdleRestart = IdleRestart::Initial,

        /// Explicit congestion notification, negotiated in the handshake if there is one. Unset: as `cc` needs it (`dctcp`, `prague`), else
        /// off.
        pub ecn: Option<EcnMode> = None,
        /// Set ECT on SYN, pure acknowledgments, window probes and retransmissions as well (ECN++, draft-ietf-tcpm-generalized-ecn; Linux with
        /// DCTCP). RFC 3168 sections 6.1.1 to 6.1.6 allow it on new data only.
        pub ecn_plus: bool = false,
        /// Set ECT on retransmissions, which may then be marked instead of dropped (ns-3). RFC 3168 section 6.1.5 forbids it.
        pub ecn_resent: bool = false,
        /// Reduce the window less for an ECN mark than for a loss: alternative back-off (ABE, RFC 8511).
        pub abe: bool = false,
        /// Pace segments instead of sending them in bursts. Always on for `bbr`, `bbr3` and `prague`.
        pub pacing: bool = false,
        /// Pacing rate in slow start, as a multiple of `cwnd / SRTT` (Linux `tcp_pacing_ss_ratio`, 200 %).
        #[schemars(range(min = 0.1, max = 100.0))]
        pub pacing_slow_start: f64 = 2.0,
        /// Pacing rate in congestion avoidance, as a multiple of `cwnd / SRTT` (Linux `tcp_pacing_ca_ratio`, 120 %).
        #[schemars(range(min = 0.1, max = 100.0))]
        pub pacing_avoidance: f64 = 1.2,
        /// Duration of a burst: whole segments of this time at the pacing rate leave at once, at least `pacing_segments` (Linux
        /// `tcp_tso_autosize`: 1/1024 s). `0s`: only `pacing_segments`.
        #[schemars(extend("x-max" = "1s"))]
        pub pacing_burst: Dur = Dur::ZERO,
        /// Least number of segments in a burst (Linux `tcp_min_tso_segs`: 2).
        #[schemars(range(min = 1))]
        pub pacing_segments: u32 = 1,
        /// Segmentation offload: new data leaves in bursts of `pacing_burst` and `pacing_segments`, paced or not. Outside recovery a shorter
        /// burst waits for a full one if acknowledgments are expected soon (Linux `tcp_tso_should_defer`). The last segment of a burst, and of
        /// all data written, carries PSH.
        pub tso: bool = false,
        /// With `tso`: size of the pieces of the send queue. The end of a piece is not deferred (Linux: the longest burst, 65215B). Unset: no
        /// pieces.
        #[schemars(extend("x-min" = "1B"))]
        pub tso_piece: Option<Bytes> = None,
        /// Segments at the start of a connection that are not paced (Linux: 10).
        #[schemars(range(max = 1000))]
        pub pacing_free: u32 = 0,
        /// Share of the gap after a burst by which it may shrink to make up for a late burst (Linux `tcp_update_skb_after_send`: half).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub pacing_catch_up: f64 = 0.0,

        /// Rule for the retransmission timeout and its back-off. Unset: that of RFC 6298, for `cc = "rfc793"` that of RFC 793.
        pub rto_rule: Option<RtoRule> = None,
        /// RTO before the first measurement (RFC 6298 section 2.1).
        #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
        pub rto_initial: Dur = Dur::from_secs(1),
        /// Smallest RTO (RFC 6298 section 2.4).
        #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
        pub rto_min: Dur = Dur::from_ms(200),
        /// Apply `rto_min` before back-off (RFC 6298 sections 2.4 and 5.5; ns-2 `rfc2988_`); otherwise after it.
        pub rto_min_first: bool = true,
        /// Largest RTO, with back-off (RFC 6298 section 2.5).
        #[schemars(extend("x-min" = "1us", "x-max" = "24h"))]
        pub rto_max: Dur = Dur::from_secs(60),
        /// Smallest variation term of the RTO (G of RFC 6298 section 2).
        #[schemars(extend("x-max" = "10s"))]
        pub rto_granularity: Dur = Dur::from_ms(200),
        /// RTO for the first data after a lost SYN (RFC 6298 section 5.7). Unset: the RTO in force.
        #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
        pub rto_after_syn_loss: Option<Dur> = Some(Dur::from_secs(3)),
        /// Tick of the clock that measures round-trip times for the RTO; `1ps` is exact.
        #[schemars(extend("x-min" = "1ps", "x-max" = "1s"))]
        pub rtt_tick: Dur = Dur::from_ps(1),
        /// Segments that are timed (RFC 6298 section 3: at least one per round trip). With timestamps each acknowledgment measures.
        pub rtt_sampling: RttSampling = RttSampling::Every,
        /// Measure SRTT by the oldest segment newly acknowledged, so that it includes the delay of acknowledgments (Linux
        /// `tcp_clean_rtx_queue`). Always so with `timestamps`, as the echo reports it (RFC 7323 section 4.3). The smallest round-trip time and
        /// the samples of algorithms use the newest segment; otherwise SRTT does, too.
        pub rtt_of_oldest: bool = false,
        /// Event that ends the back-off of the RTO: a new measurement (RFC 6298 section 5; Linux, ns-2) or any acknowledgment of new data
        /// (ns-3).
        pub backoff_ends: BackoffEnds = BackoffEnds::Sample,
        /// Timeouts in a row after which SRTT and RTTVAR start again (RFC 6298 section 5, last note). Unset: never.
        #[schemars(range(min = 1))]
        pub forget_rtt_after: Option<u32> = None,
        /// F-RTO (RFC 5682): new data sent after a timeout shows if it was spurious.
        pub frto: bool = false,
        /// Eifel detection (RFC 3522) with the response of RFC 4015: timestamps show that retransmitted data had arrived, and the reduction is
        /// undone.
        pub eifel: bool = false,
        /// Undo the reduction if D-SACK reports that all its retransmissions were superfluous (RFC 3708).
        pub dsack_undo: bool = false,
        /// Timestamps option (RFC 7323 section 3): measures round-trip times and, with `paws`, detects old segments.
        pub timestamps: bool = false,
        /// Protection against wrapped sequence numbers, with timestamps (RFC 7323 section 5).
        pub paws: Paws = Paws::Rfc,
        /// Tick of the timestamp clock (RFC 7323 section 5.4: 1 ms to 1 s; Linux 1 ms).
        #[schemars(extend("x-min" = "1us", "x-max" = "1s"))]
        pub timestamp_tick: Dur = Dur::from_ms(1),

        /// Measure the round-trip time by the echoed timestamp, in whole ticks, and not by acknowledgments of a retransmission (ns-3
        /// `EstimateRtt`). Otherwise segments sent once are timed to the picosecond.
        pub rtt_in_ticks: bool = false,
        /// Give the algorithm the smoothed round-trip time instead of the measurement, and with `rtt_in_ticks` the smallest smoothed one (ns-3
        /// `m_lastRtt`, `m_minRtt`).
        pub rtt_smoothed: bool = false,

        /// Acknowledge every n-th full-sized segment (RFC 5681 section 4.2: at least every second); 1: delayed ACK off.
        #[schemars(range(min = 1))]
        pub ack_every: u32 = 2,
        /// Longest delay of an acknowledgment (RFC 1122 section 4.2.3.2: below 500 ms).
        #[schemars(extend("x-min" = "1us", "x-max" = "500ms"))]
        pub ack_delay: Dur = Dur::from_ms(40),
        /// Acknowledgments that are not delayed at the start of a connection, after a pause of more than the RTO and after duplicate data, if
        /// the window holds twice as many segments (Linux `TCP_MAX_QUICKACKS`: 16); with `receive_buffer` also as long as the window grows.
        /// Once data was sent soon after data arrived, all are delayed until the timer of one expires. Others then wait `ack_delay` at least,
        /// longer where segments come seldom (Linux `ato`).
        pub quick_acks: u32 = 0,
        /// ACK compression: delay of acknowledgments while data is missing, at most a twentieth of the round-trip time, except for the first
        /// three (Linux `tcp_comp_sack_delay_ns`, 1 ms). `0s`: each leaves at once, as in RFC 5681 section 4.2.
        #[schemars(extend("x-max" = "1s"))]
        pub sack_delay: Dur = Dur::ZERO,

        /// Duplicate acknowledgments that signal a loss (RFC 5681 section 3.2, DupThresh of RFC 6675).
        #[schemars(range(min = 1, max = 1000))]
        pub dupthresh: u32 = 3,
        /// RACK (RFC 8985): detect losses by time, not only by counts. Needs SACK recovery.
        pub rack: bool = true,
        /// For `rack`: a retransmission has arrived only if the echoed timestamp is no older (RFC 8985 section 6.2 step 2). While data below is
        /// missing, receivers echo older ones (RFC 7323 section 4.3). Otherwise a round-trip time since it is enough (Linux
        /// `tcp_rack_advance`).
        pub rack_echo: bool = false,
        /// Tail loss probe (RFC 8985 section 7). Needs SACK recovery.
        pub tlp: bool = true,
        /// Longest time for which the receiver delays the acknowledgment of a single segment, for `tlp` (TLP.max_ack_delay of RFC 8985 section
        /// 7.2; Linux: its smallest RTO).
        #[schemars(extend("x-max" = "10s"))]
        pub tlp_ack_delay: Dur = Dur::from_ms(200),
        /// Time added to the waits of `rack` and `tlp` (Linux: two ticks of its clock).
        #[schemars(extend("x-max" = "1s"))]
        pub timer_slack: Dur = Dur::ZERO,
        /// Proportional rate reduction: spread the cut of a loss over the recovery. Needs SACK recovery.
        pub prr: Prr = Prr::Rfc9937,
        /// Base of the reduction of `prr` (RecoverFS of RFC 9937 section 6.2).
        pub prr_base: PrrBase = PrrBase::Flight,
        /// Round the data that `prr` allows up to whole segments (RFC 6937 section 4 counts segments; ns-3 does not round).
        pub prr_whole_segments: bool = true,
        /// FACK: halve the window twice for a loss in slow start, since it has doubled after the lost segment was sent (overdamping, Mathis and
        /// Mahdavi 1996; ns-2 `ss-div4_`).
        pub fack_overdamping: bool = false,
        /// FACK: lower the window smoothly over a round trip (rampdown, Mathis and Mahdavi 1996; ns-2 `rampdown_`).
        pub fack_rampdown: bool = false,
        /// FACK: after a loss, restart the window from one segment, which grows with each acknowledgment of the recovery (ns-2 tcp-fack.cc,
        /// CLOSE_CWND_RESTART and opencwnd). Otherwise it is cut at once (Mathis and Mahdavi 1996).
        pub fack_restart: bool = false,
        /// FACK: outside recovery an acknowledgment that repeats the last one or carries SACK blocks can only begin recovery (ns-2
        /// tcp-fack.cc). Otherwise limited transmit continues, and the window grows with the bytes newly acknowledged.
        pub fack_only_enters: bool = false,
        /// FACK: end recovery with an acknowledgment beyond its end without a SACK block, also through a timeout (ns-2 tcp-fack.cc). Otherwise
        /// when all data sent before it is acknowledged.
        pub fack_until_no_sack: bool = false,
        /// FACK: if a segment sent after a retransmission is SACKed before it, send nothing until the timer expires (ns-2 tcp-fack.cc,
        /// CheckSndNxt).
        pub fack_lost_again_stops: bool = false,
        /// FACK: restart the retransmission timer with each acknowledgment while data is missing, also without new data (ns-2 tcp-fack.cc,
        /// oldack; RFC 6298 section 5.3 requires new data).
        pub fack_every_ack_restarts_timer: bool = false,
        /// Vegas: add duplicate acknowledgments beyond the threshold to the window itself, in any state; the next acknowledgment of new data
        /// restores the window after the last cut. If that is less than a segment, the flow is silent until its timer expires (ns-2
        /// tcp-vegas.cc, v_newcwnd_). Otherwise they inflate the window during recovery (RFC 5681 section 3.2 step 4).
        pub vegas_inflates_cwnd: bool = false,
        /// Vegas: back off the retransmission timer after a retransmission for duplicates, until the next measurement (ns-2 tcp-vegas.cc,
        /// reset_rtx_timer(1)).
        pub vegas_backs_off: bool = false,
        /// Vegas: measure the acknowledgment of a hole by the newest segment it covers, although that waited at the receiver (ns-2
        /// tcp-vegas.cc, v_sendtime_).
        pub vegas_times_waiting: bool = false,
        /// Vegas: keep sending times in a table with an entry for each segment of `window`; where the table wraps, an acknowledgment leaves
        /// entries uncleared (ns-2 tcp-vegas.cc, v_transmits_). No effect where `window` is unset.
        pub vegas_send_table: bool = false,
        /// Limited transmit (RFC 3042): send new data for duplicate acknowledgments below the threshold.
        pub limited_transmit: bool = true,
        /// Begin a loss event only after everything sent before the last one is acknowledged (RFC 6582 section 3.2 step 2).
        pub careful: bool = true,
        /// Partial acknowledgments that restart the retransmission timer: the first, or each (RFC 3782 section 4).
        pub newreno_timer: NewRenoTimer = NewRenoTimer::Impatient,
        /// Deflate the inflated window by the data that a partial acknowledgment covers (RFC 6582 section 3.2 step 3).
        pub partial_deflation: bool = true,
        /// Most segments that one acknowledgment may release during NewReno recovery, in addition to the retransmission. Unset: no limit.
        #[schemars(range(min = 1))]
        pub recovery_burst: Option<u32> = None,
        /// Most segments that one acknowledgment may release (RFC 6582 section 3.2 mentions bursts on leaving recovery). Unset: no limit.
        #[schemars(range(min = 1))]
        pub max_burst: Option<u32> = None,
        /// Congestion window on leaving fast recovery (RFC 6582 section 3.2 step 3, full acknowledgments).
        pub exit_window: ExitWindow = ExitWindow::Flight,
        /// Grow the window with the acknowledgment that ends Reno or NewReno recovery (ns-2).
        pub grow_on_exit: bool = false,

        /// Most SACK blocks in an acknowledgment (RFC 2018 section 3: 4, or 3 with timestamps).
        #[schemars(range(min = 1, max = 4))]
        pub sack_blocks: u32 = 4,
        /// Report duplicates in the first SACK block (D-SACK, RFC 2883).
        pub dsack: bool = true,
        /// Estimate of the data in flight during SACK recovery.
        pub sack_pipe: SackPipe = SackPipe::Rfc6675,
        /// SACKed segments above a hole that make it lost (DupThresh in IsLost of RFC 6675 section 4; 1: any).
        #[schemars(range(min = 1, max = 1000))]
        pub sack_lost_after: u32 = 3,
        /// Use NextSeg rule 4 of RFC 6675 (rescue retransmission).
        pub sack_rescue: bool = true,
        /// After a timeout, begin SACK recovery only with an acknowledgment of data sent after it (ns-2). RFC 6675 section 5.1 only asks that
        /// all data sent before it is acknowledged.
        pub sack_careful: bool = false,
        /// Grow the window with the acknowledgment that ends SACK recovery, by all it covers (ns-3): nearly one segment more. It covers data
        /// from before recovery, which RFC 5681 section 3.2 has counted already.
        pub sack_grow_on_exit: bool = false,
        /// Lifetime of SACK information.
        pub sack_memory: SackMemory = SackMemory::Keep,

        /// IP and TCP header without options.
        #[schemars(extend("x-max" = "1000B"))]
        pub header: Bytes = Bytes(40),
        /// IP and TCP header of segments with data, where a model counts it differently (0 for ns-2's Vegas, which adds no header). Unset:
        /// `header`.
        #[schemars(extend("x-max" = "1000B"))]
        pub data_header: Option<Bytes> = None,
        /// Options of a SYN: MSS, window scale, SACK permitted, timestamps, padded.
        #[schemars(extend("x-max" = "1000B"))]
        pub syn_options: Bytes = Bytes(12),
        /// Fixed part of a SACK option, padded (RFC 2018 section 3).
        #[schemars(extend("x-max" = "1000B"))]
        pub sack_option: Bytes = Bytes(4),
        /// One SACK block (RFC 2018 section 3).
        #[schemars(extend("x-max" = "1000B"))]
        pub sack_block: Bytes = Bytes(8),
        /// Timestamps option, padded (RFC 7323 section 3).
        #[schemars(extend("x-max" = "1000B"))]
        pub timestamp_option: Bytes = Bytes(12),
    }
}
