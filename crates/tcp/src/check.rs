//! Checks of the parameters of an endpoint, and the parameters in force.

use crate::choices::{EcnMode, FastOpen, InitialWindow, LossBasis, Prr, Scheme, len_bytes};
use crate::error::{ParamsError, range};
use crate::params::TcpParams;
use fairlane_units::{Dur, Len};

impl TcpParams {
    /// Checks that the values make a working endpoint; the schema bounds every field as well.
    ///
    /// # Errors
    /// The first field that fails.
    pub fn check(&self) -> Result<(), ParamsError> {
        let smss = self.mss.get();
        if !(1..=65_000).contains(&smss) {
            return Err(range("mss", format!("{} is not between 1B and 65000B", self.mss)));
        }
        let empty = |len: Len| len_bytes(len, smss) == 0;
        if self.window.is_some_and(empty) {
            return Err(range("window", "a window of 0 allows no data: write at least \"1p\", or omit it for no limit"));
        }
        if self.receive_window.is_some_and(|b| b.get() == 0) {
            return Err(range("receive_window", "a window of 0 allows no data: write at least \"1B\", or omit it for no flow control"));
        }
        if self.receive_buffer.is_some_and(|b| b.get() < 1024) {
            return Err(range("receive_buffer", "less than 1KiB cannot hold a segment: write more, or omit it"));
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
        if let InitialWindow::Fixed(len) = self.initial_window
            && empty(len)
        {
            return Err(range("initial_window", "0 allows no data: write at least \"1p\""));
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
            return Err(range("sack_blocks", "write 1 to 4: the options hold no more (RFC 2018 section 3)"));
        }
        for (field, ratio) in [("pacing_slow_start", self.pacing_slow_start), ("pacing_avoidance", self.pacing_avoidance)] {
            if !(0.1..=100.0).contains(&ratio) {
                return Err(range(field, format!("{ratio} is not between 0.1 and 100")));
            }
        }
        if let Some(field) = self.without_sack().next() {
            return Err(range(field, "needs selective acknowledgments: write recovery = \"sack\""));
        }
        if self.fast_open != FastOpen::Off && !(self.handshake && self.handshake_ack) {
            return Err(range("fast_open", "needs the three steps of a handshake: write handshake = true and handshake_ack = true"));
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
            return Err(range(field, "must be greater than 0"));
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

    /// Names of the parameters that are set and need a recovery scheme other than the one in force.
    fn without_sack(&self) -> impl Iterator<Item = &'static str> {
        let blind = !matches!(self.scheme(), Scheme::Sack | Scheme::Fack | Scheme::Ns3);
        let other = self.scheme() != Scheme::Sack;
        [
            ("rack", self.rack && other),
            ("tlp", self.tlp && other),
            ("prr", self.prr != Prr::Off && other && self.scheme() != Scheme::Ns3),
            ("dsack_undo", self.dsack_undo && blind),
            ("loss_basis", self.loss_basis == LossBasis::Pipe && blind),
        ]
        .into_iter()
        .filter_map(|(field, on)| on.then_some(field))
    }

    /// Switches off parameters that need a recovery scheme other than the one in force. Fields `written` by a user are kept: they are
    /// mistakes that [`check`](Self::check) reports.
    pub(crate) fn drop_inherited(&mut self, written: impl Fn(&str) -> bool) {
        let inherited: Vec<_> = self.without_sack().filter(|field| !written(field)).collect();
        for field in inherited {
            match field {
                "rack" => self.rack = false,
                "tlp" => self.tlp = false,
                "prr" => self.prr = Prr::Off,
                "dsack_undo" => self.dsack_undo = false,
                _ => self.loss_basis = LossBasis::Smaller,
            }
        }
    }

    /// Parameters without those that need another recovery scheme or a parameter that is not set.
    pub(crate) fn in_force(&self) -> Self {
        let (fack, vegas) = (self.scheme() == Scheme::Fack, self.scheme() == Scheme::Vegas);
        let smss = self.mss.get();
        Self {
            fack_restart: fack && self.fack_restart,
            fack_only_enters: fack && self.fack_only_enters,
            fack_until_no_sack: fack && self.fack_until_no_sack,
            vegas_inflates_cwnd: vegas && self.vegas_inflates_cwnd,
            vegas_times_waiting: vegas && self.vegas_times_waiting,
            vegas_send_table: vegas && self.vegas_send_table && self.window.is_some_and(|w| len_bytes(w, smss) >= smss),
            ..self.clone()
        }
    }

    /// ECN mode: the one set, else the one that the algorithm needs.
    pub fn ecn_mode(&self) -> EcnMode {
        self.ecn.unwrap_or_else(|| self.cc.implied_ecn())
    }

    /// Recovery scheme in force.
    pub fn scheme(&self) -> Scheme {
        self.recovery.unwrap_or_else(|| self.cc.implied_scheme())
    }
}
