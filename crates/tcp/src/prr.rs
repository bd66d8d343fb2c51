//! State of proportional rate reduction (RFC 9937).

use crate::choices::Prr;

/// Cause of a reduction that is being spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reduction {
    #[default]
    None,
    /// A loss: the reduction ends with fast recovery.
    Loss,
    /// An ECN echo: the reduction ends with the round trip.
    Echo,
}

/// State of a reduction, in bytes (RFC 9937 section 6.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct PrrState {
    kind: Reduction,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// RecoverFS.
    base: u64,
    /// Data that may be in flight.
    window: u64,
    /// SND.NXT when the answer to an ECN echo began.
    end: u64,
}

/// Rules of a reduction, from the parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrRule {
    pub(crate) bound: Prr,
    /// True if the count is rounded up to whole segments.
    pub(crate) whole: bool,
    pub(crate) smss: u64,
}

/// An acknowledgment during a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrAck {
    /// Bytes that it delivered (DeliveredData).
    pub(crate) delivered: u64,
    /// True if it makes progress and reports no further loss (SafeACK).
    pub(crate) safe: bool,
    /// True if it covers a retransmission that was never SACKed (ns-3).
    pub(crate) repaired: bool,
    /// Bytes in flight after it (pipe).
    pub(crate) flight: u64,
    /// Slow-start threshold.
    pub(crate) target: u64,
}

impl PrrState {
    /// Starts the reduction for a loss; `base` is RecoverFS.
    pub(crate) fn for_loss(base: u64) -> Self {
        Self { kind: Reduction::Loss, base: base.max(1), ..Self::default() }
    }

    /// Starts the answer to an ECN echo with `window` bytes in flight; it ends beyond `end`.
    pub(crate) fn for_echo(base: u64, end: u64, window: u64) -> Self {
        Self { kind: Reduction::Echo, base: base.max(1), end, window, ..Self::default() }
    }

    /// Window in bytes while a reduction is spread.
    #[inline]
    pub(crate) fn window(&self) -> Option<u64> {
        (self.kind != Reduction::None).then_some(self.window)
    }

    /// End of the answer to an ECN echo, while one is spread.
    pub(crate) fn echo_end(&self) -> Option<u64> {
        (self.kind == Reduction::Echo).then_some(self.end)
    }

    /// Ends the reduction.
    pub(crate) fn stop(&mut self) {
        self.kind = Reduction::None;
    }

    /// Counts `bytes` sent.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// Sets the window after an acknowledgment (RFC 9937 section 6.2).
    pub(crate) fn on_ack(&mut self, a: &PrrAck, rule: PrrRule) {
        let PrrAck { delivered, safe, repaired, flight, target } = *a;
        let PrrRule { bound, whole, smss } = rule;
        self.delivered += delivered;
        let mut count = if flight > target {
            let product = u128::from(self.delivered) * u128::from(target);
            // ns-3 multiplies in 32 bits: with windows above 45 segments of 1448 bytes the share starts again from zero.
            let product = if bound == Prr::Ns3 { product & u128::from(u32::MAX) } else { product };
            let share = product.div_ceil(u128::from(self.base)) as u64;
            let count = share.saturating_sub(self.out);
            if whole { count.next_multiple_of(smss) } else { count }
        } else {
            let debt = self.delivered.saturating_sub(self.out);
            let limit = match bound {
                Prr::Crb => debt,
                Prr::Ssrb => debt.max(delivered) + smss,
                Prr::Ns3 if !repaired => delivered,
                // Data sent in excess of the data delivered is subtracted first.
                Prr::Ns3 if self.out > self.delivered => (self.delivered + smss).saturating_sub(self.out),
                Prr::Ns3 => debt.max(delivered) + smss,
                Prr::Rfc9937 | Prr::Off => debt.max(delivered) + if safe { smss } else { 0 },
            };
            limit.min(target - flight)
        };
        if self.out == 0 {
            // The first retransmission leaves whatever the count is.
            count = count.max(smss);
        }
        self.window = flight + count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: PrrRule = PrrRule { bound: Prr::Rfc9937, whole: true, smss: 100 };

    /// RFC 9937 section 6.2: above the threshold its share of RecoverFS is sent, below it as much as was delivered, and one segment more in
    /// good progress.
    #[test]
    fn the_share_of_the_threshold_goes_out() {
        let mut r = PrrState::for_loss(2000);
        assert_eq!(r.window(), Some(0));
        for n in 1..=10 {
            let a = PrrAck { delivered: 100, safe: false, repaired: false, flight: 1500, target: 1000 };
            r.on_ack(&a, RULE);
            let out = r.window().unwrap() - 1500;
            r.on_sent(out);
            assert_eq!(r.out, 100 * u64::div_ceil(n, 2), "{n}");
        }
        let below = |safe| PrrAck { delivered: 100, safe, repaired: false, flight: 700, target: 1000 };
        let mut crb = r.clone();
        r.out = 1000;
        r.on_ack(&below(false), RULE);
        assert_eq!(r.window(), Some(800));
        r.on_sent(100);
        r.on_ack(&below(true), RULE);
        assert_eq!(r.window(), Some(900));
        crb.out = crb.delivered + 100;
        crb.on_ack(&below(true), PrrRule { bound: Prr::Crb, ..RULE });
        assert_eq!(crb.window(), Some(700));
        r.stop();
        assert_eq!(r.window(), None);
    }
}
