//! Parameters that are a choice among names.

use fairlane_units::Len;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    )*};
}

choices! {
    /// Preset: a named set of values in `presets.json`.
    Preset {
        /// Common choices of current stacks: SACK, RACK-TLP, PRR, short timeouts, growth by bytes acknowledged.
        Modern,
        /// The text of the RFCs, without newer options.
        Rfc,
        /// The one-way agents of ns-2.35 with their defaults.
        Ns2,
        /// The sockets of ns-3.37 with their defaults.
        Ns3,
        /// The choices of Linux, as far as they are parameters here.
        Linux,
        /// Like `linux`, for Linux 6.12: HyStart before its change in 6.14.
        #[serde(rename = "linux-6.12")]
        Linux612,
    }
    /// Scheme of loss detection and recovery.
    Scheme {
        /// Fast retransmit and slow start (Jacobson 1988).
        Tahoe,
        /// Only the retransmission timer retransmits, and only the oldest segment (RFC 793 section 3.7).
        Timeout,
        /// Fast recovery (RFC 5681 section 3.2).
        Reno,
        /// Fast recovery with partial acknowledgments (RFC 6582).
        Newreno,
        /// Recovery with selective acknowledgments (RFC 6675).
        Sack,
        /// Forward acknowledgment: the highest SACKed byte determines the data in flight (Mathis and Mahdavi 1996).
        Fack,
        /// Reno with a fine clock: the first duplicate acknowledgment retransmits an overdue segment (Brakmo and Peterson 1995 section
        /// 3.1).
        Vegas,
        /// Recovery with selective acknowledgments as in the sockets of ns-3.37.
        Ns3,
    }
    /// Rule for the retransmission timeout.
    RtoRule {
        /// SRTT plus four times its variation (RFC 6298 section 2.3), doubled after each timeout (section 5.5).
        Rfc6298,
        /// Twice SRTT, as in the example of RFC 793 section 3.7 (BETA = 2, ALPHA = 7/8), which allows 1.3 to 2; no back-off.
        Rfc793,
    }
    /// Data in the SYN (RFC 7413).
    FastOpen {
        /// Off.
        Off,
        /// With a cookie from an earlier connection.
        Cookie,
        /// Without a cookie: both ends trust each other (RFC 7413 section 2.1 warns of it; Linux `tcp_fastopen` bits 0x4 and 0x200).
        NoCookie,
    }
    /// End of slow start before a loss.
    SlowStart {
        /// At the threshold or with a loss (RFC 5681 section 3.1).
        Standard,
        /// Limited slow start for large windows (RFC 3742).
        Limited,
        /// HyStart++: a rise of the RTT leads to conservative slow start (RFC 9406).
        HystartPlusPlus,
        /// HyStart as in Linux 6.x: ACK trains and a rise of the RTT (Ha and Rhee 2011).
        Hystart,
    }
    /// ECN variant that is negotiated, and its feedback.
    EcnMode {
        /// Off.
        Off,
        /// ECE until CWR answers (RFC 3168).
        Classic,
        /// ECE reports each change of the marks (RFC 8257 section 3.2).
        Dctcp,
        /// A counter of marked packets in three header bits (AccECN, RFC 9768).
        Accecn,
    }
    /// Proportional rate reduction: spreading of a reduction over recovery.
    Prr {
        /// Off: the window is cut at once.
        Off,
        /// With the conservative reduction bound (PRR-CRB, RFC 6937).
        Crb,
        /// With the slow-start reduction bound (PRR-SSRB, RFC 6937).
        Ssrb,
        /// The bound depends on whether recovery makes progress (RFC 9937).
        Rfc9937,
        /// `ssrb` once a retransmission is acknowledged, otherwise no more than was delivered (`TcpPrrRecovery` of ns-3.37).
        Ns3,
    }
    /// Base of the reduction (RecoverFS).
    PrrBase {
        /// The data in flight when recovery began that had not been SACKed before (RFC 9937 section 6.2).
        Flight,
        /// The congestion window before the cut (Linux): the share is that of the algorithm, also if the window was not used up.
        Window,
        /// The estimate of the data in the network when recovery begins.
        Pipe,
        /// All data not acknowledged, SACKed or not (RecoverFS of RFC 6937 section 3; ns-3.37).
        Outstanding,
    }
    /// Base of the slow-start threshold after a loss.
    LossBasis {
        /// The data in flight, limited transmit excluded (RFC 5681 equation 4, RFC 3042 section 2), but no more than the congestion window.
        Flight,
        /// The smaller of congestion window and `window`.
        Cwnd,
        /// The smallest of flight size, congestion window and `window`. In a NewReno recovery of many holes the flight may grow to several
        /// times the capacity of the path; half of that would be no reduction.
        Smaller,
        /// The estimate of the data in the network, without SACKed and lost data (ns-3, for TcpNewReno and classes derived from it).
        Pipe,
    }
    /// Beginning of a round of HyStart.
    HystartRounds {
        /// With the first acknowledgment of a round trip (Linux 6.14 and later).
        Always,
        /// Like `always`, but no round begins below the low window of 16 segments, so that the first one begins there (Linux 5.5 to 6.13).
        Window,
        /// After that acknowledgment was judged as one of the last round trip (ns-3.37, Linux before 5.5).
        Late,
    }
    /// Unit of growth in congestion avoidance.
    GrowthUnit {
        /// Each acknowledgment adds its part of a segment (RFC 5681 equation 3).
        Fraction,
        /// Each acknowledgment adds the whole part of that in bytes, at least one: a window of acknowledgments adds a little less than a
        /// segment (ns-3, for TcpNewReno and its users; the integer arithmetic that RFC 5681 section 3.1 mentions).
        Byte,
        /// A whole window of segments acknowledged adds a whole segment (Linux `tcp_cong_avoid_ai`, ns-3 TcpLinuxReno).
        Segment,
    }
    /// Congestion window after idleness.
    IdleRestart {
        /// Unchanged.
        Off,
        /// The initial window, if that is smaller (RFC 5681 section 4.1).
        Initial,
        /// One segment.
        One,
        /// Half for each RTO of idleness, but not less than the initial window; the slow-start threshold keeps three quarters of the window
        /// (RFC 2861 section 3; Linux).
        Decay,
    }
    /// Segments that are timed.
    RttSampling {
        /// One at a time: the next new segment after the last measurement.
        One,
        /// All segments sent once (Karn's algorithm, RFC 6298 section 3).
        Every,
    }
    /// Treatment of segments outside of the receive window.
    OldSegments {
        /// A segment is accepted if a part of it lies in the receive window (RFC 9293 section 3.10.7.4); its window field counts if no
        /// later sequence number was received.
        Rfc,
        /// A segment that ends at the last acknowledgment sent is accepted as well, and answers to empty ones are throttled like challenge
        /// ACKs (`tcp_sequence`, `tcp_oow_rate_limited`). The window field also counts with new data acknowledged, and at the same sequence
        /// number only if it is wider, or 0 (`tcp_may_update_window`).
        Linux,
    }
    /// Treatment of segments with an older timestamp than the last one.
    Paws {
        /// Accepted.
        Off,
        /// Answered and dropped (RFC 7323 section 5.3); a segment without a timestamp is dropped (section 3.2).
        Rfc,
        /// RFC 7323, but these segments count as well: one tick too old, without a timestamp, and pure acknowledgments overtaken within the
        /// RTO (`tcp_disordered_ack`).
        Linux,
    }
    /// Event that ends exponential back-off.
    BackoffEnds {
        /// A measurement on a segment sent once.
        Sample,
        /// An acknowledgment of new data.
        Ack,
    }
    /// Partial acknowledgments that restart the retransmission timer.
    NewRenoTimer {
        /// Only the first: "impatient" (RFC 3782 section 4, RFC 6582 section 3.2 step 3).
        Impatient,
        /// Each: "slow but steady" (RFC 3782 section 4).
        SlowButSteady,
    }
    /// Congestion window on leaving fast recovery.
    ExitWindow {
        /// `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2 step 3, option 1).
        Flight,
        /// `ssthresh` (option 2; RFC 5681 section 3.2 step 6).
        Ssthresh,
        /// The reduced window, less the deflation by partial acknowledgments beyond the inflation (ns-2).
        Keep,
    }
    /// Lifetime of SACK information.
    SackMemory {
        /// Until the data is acknowledged (RFC 6675 section 5.1).
        Keep,
        /// Until a timeout, and not until recovery from it is over (RFC 2018 section 8).
        Timeout,
        /// Until a timeout or, outside recovery, the next acknowledgment of new data (ns-2).
        Progress,
    }
    /// Estimate of the data in flight in SACK recovery.
    SackPipe {
        /// SetPipe over the scoreboard (RFC 6675 section 4).
        Rfc6675,
        /// A counter: incremented by each segment sent, decremented by each acknowledgment, twice by a partial one (Fall and Floyd 1996).
        Counted,
    }
}

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum InitialWindow {
    /// `min(10 SMSS, max(2 SMSS, 14600))` (RFC 6928 section 2).
    Rfc6928,
    /// 2 to 4 segments by their size (RFC 5681 section 3.1, RFC 3390).
    Rfc3390,
    /// A fixed size.
    Fixed(Len),
}

impl InitialWindow {
    /// Returns the window in bytes for a given maximum segment size.
    pub fn bytes(self, smss: u64) -> u64 {
        match self {
            Self::Rfc6928 => (10 * smss).min((2 * smss).max(14_600)),
            Self::Rfc3390 if smss > 2190 => 2 * smss,
            Self::Rfc3390 if smss > 1095 => 3 * smss,
            Self::Rfc3390 => 4 * smss,
            Self::Fixed(len) => len_bytes(len, smss).max(smss),
        }
    }
}

impl TryFrom<String> for InitialWindow {
    type Error = String;
    fn try_from(s: String) -> Result<Self, String> {
        match s.as_str() {
            "rfc6928" => Ok(Self::Rfc6928),
            "rfc3390" | "rfc5681" => Ok(Self::Rfc3390),
            other => fairlane_units::parse_len(other).map(Self::Fixed).map_err(|e| format!("{e}; or write \"rfc6928\" or \"rfc3390\"")),
        }
    }
}

impl From<InitialWindow> for String {
    fn from(w: InitialWindow) -> Self {
        match w {
            InitialWindow::Rfc6928 => "rfc6928".into(),
            InitialWindow::Rfc3390 => "rfc3390".into(),
            InitialWindow::Fixed(len) => len.to_string(),
        }
    }
}

impl JsonSchema for InitialWindow {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InitialWindow".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string", "enum": ["rfc6928", "rfc3390", "rfc5681"] },
            { "type": "string", "format": "fl-len", "x-min": "1p" },
        ] })
    }
}

/// Converts a length to bytes; a packet is a full segment.
pub(crate) fn len_bytes(len: Len, smss: u64) -> u64 {
    match len {
        Len::Packets(n) => n.saturating_mul(smss),
        Len::Bytes(n) => n,
    }
}
