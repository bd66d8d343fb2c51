//! Dispatch of an enum of algorithms to the one in use.

/// Implements [`CongestionControl`](super::CongestionControl) for an enum whose variants hold one algorithm each. The attribute applies to
/// the calls of every acknowledgment. Code after the variants is added as it is.
macro_rules! forward {
    ($(#[$hot:meta])* $name:ident { $($variant:ident),* $(,)? } $($more:tt)*) => {
        impl CongestionControl for $name {
            $($more)*
            $(#[$hot])*
            fn on_ack(&mut self, s: &AckSample) {
                match self { $(Self::$variant(c) => c.on_ack(s),)* }
            }
            $(#[$hot])*
            fn cwnd(&self) -> u64 {
                match self { $(Self::$variant(c) => c.cwnd(),)* }
            }
            $(#[$hot])*
            fn allows(&self, bytes: u64) -> bool {
                match self { $(Self::$variant(c) => c.allows(bytes),)* }
            }
            #[inline]
            fn pacing_rate(&self) -> Option<Rate> {
                match self { $(Self::$variant(c) => c.pacing_rate(),)* }
            }
            fn seed(&mut self, seed: u64) {
                match self { $(Self::$variant(c) => c.seed(seed),)* }
            }
            fn on_first_rtt(&mut self, now: Time, rtt: Dur) {
                match self { $(Self::$variant(c) => c.on_first_rtt(now, rtt),)* }
            }
            fn on_established(&mut self, now: Time, window: u64) {
                match self { $(Self::$variant(c) => c.on_established(now, window),)* }
            }
            fn on_congestion(&mut self, e: &CongestionEvent) {
                match self { $(Self::$variant(c) => c.on_congestion(e),)* }
            }
            fn fine_clock(&mut self) -> Option<&mut dyn FineClock> {
                match self { $(Self::$variant(c) => c.fine_clock(),)* }
            }
            fn on_recovery_exit(&mut self, e: &RecoveryExit) {
                match self { $(Self::$variant(c) => c.on_recovery_exit(e),)* }
            }
            fn on_idle_restart(&mut self, now: Time, window: u64) {
                match self { $(Self::$variant(c) => c.on_idle_restart(now, window),)* }
            }
            fn on_syn_loss(&mut self, ssthresh: u64) {
                match self { $(Self::$variant(c) => c.on_syn_loss(ssthresh),)* }
            }
            fn on_decay(&mut self, ssthresh: u64) {
                match self { $(Self::$variant(c) => c.on_decay(ssthresh),)* }
            }
            fn on_validation(&mut self, now: Time, window: u64, ssthresh: u64) {
                match self { $(Self::$variant(c) => c.on_validation(now, window, ssthresh),)* }
            }
            fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
                match self { $(Self::$variant(c) => c.on_sent(now, bytes, in_flight),)* }
            }
            fn on_lost(&mut self, l: &LostSample) {
                match self { $(Self::$variant(c) => c.on_lost(l),)* }
            }
            fn on_marks(&mut self, m: &MarkSample) {
                match self { $(Self::$variant(c) => c.on_marks(m),)* }
            }
            fn settle(&mut self) {
                match self { $(Self::$variant(c) => c.settle(),)* }
            }
            fn undo(&mut self) {
                match self { $(Self::$variant(c) => c.undo(),)* }
            }
            fn wants(&self) -> Wants {
                match self { $(Self::$variant(c) => c.wants(),)* }
            }
            fn holds_back(&self) -> bool {
                match self { $(Self::$variant(c) => c.holds_back(),)* }
            }
            fn set_window(&mut self, window: u64, rate: Rate) -> bool {
                match self { $(Self::$variant(c) => c.set_window(window, rate),)* }
            }
            fn ssthresh(&self) -> u64 {
                match self { $(Self::$variant(c) => c.ssthresh(),)* }
            }
            fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$variant(c) => c.gauges(out),)* }
            }
        }
    };
}
pub(super) use forward;
