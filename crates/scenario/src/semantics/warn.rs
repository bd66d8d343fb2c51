//! Warnings: what to check before the results are trusted.

use super::network::Network;
use super::{Semantics, group_of};
use crate::code::Code;
use crate::expand::{Group, LinkDir, Member, Transport};
use crate::spec::Scenario;
use fairlane_units::{Dur, Len, Rate, Time};

/// Round trips a flow should see before an average over it means much.
const ENOUGH_RTT: u64 = 50;

impl Semantics<'_> {
    /// Collects the warnings; of equal ones in a group only the first.
    pub(super) fn doubts(&mut self, s: &Scenario, network: &Network<'_>, links: &[LinkDir], groups: &[Group], flows: &[Member]) {
        if s.sample.is_some_and(|step| step > s.duration) {
            self.warn(Code::CoarseSampling, "the sampling step is longer than the run: every series has one row".to_owned());
        }
        let mut seen = None;
        for m in flows {
            if seen.replace(m.group_index) == Some(m.group_index) {
                continue;
            }
            let (Some(a), Some(b)) = (network.node(&m.from), network.node(&m.to)) else { continue };
            let (Some(there), Some(back)) = (network.path(a, b), network.path(b, a)) else { continue };
            let rtt = there.iter().chain(&back).fold(Dur::ZERO, |d, &l| d + links[l].wire.delay);
            let rate = there.iter().map(|&l| links[l].wire.rate).min().unwrap_or_default();
            let end = m.stop.unwrap_or(s.duration).as_ps().min(s.duration.as_ps());
            let span = Time::from_ps(end).since(m.start.max(Time::ZERO + s.warmup));
            if span < rtt * ENOUGH_RTT {
                self.warn(
                    Code::ShortMeasurement,
                    format!("flow `{}` is measured for {span}, less than {ENOUGH_RTT} round trips of {rtt}", m.name),
                );
            }
            if let Some(step) = s.sample.filter(|&step| step > rtt && rtt > Dur::ZERO) {
                self.warn(Code::CoarseSampling, format!(
                    "the sampling step of {step} is coarser than the round trip of {rtt} of flow `{}`: series hide what happens within it",
                    m.name
                ));
            }
            if let Some(Transport::Tcp(p, _)) = group_of(groups, m).map(|g| &g.transport) {
                let window = match p.window {
                    Some(Len::Packets(n)) => n.saturating_mul(p.mss.get()),
                    Some(Len::Bytes(n)) => n,
                    None => u64::MAX,
                }
                .min(p.receive_window.map_or(u64::MAX, |w| w.get()));
                let path = in_flight(rate, rtt);
                if window < path {
                    let text = format!(
                        "flow `{}`: its window of {window} byte is less than the {path} byte its path holds, so the window limits it",
                        m.name
                    );
                    self.warn(Code::WindowLimits, text);
                }
            }
        }
    }
}

/// Bytes in flight that fill a path: rate times delay.
fn in_flight(rate: Rate, rtt: Dur) -> u64 {
    u64::try_from(u128::from(rate.as_bps()) * u128::from(rtt.as_ps()) / (8 * u128::from(fairlane_units::PS_PER_SEC))).unwrap_or(u64::MAX)
}
