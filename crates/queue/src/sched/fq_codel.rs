//! FQ-CoDel: flows hashed into queues with a CoDel each, new flows first.

use super::fq_law::{FqFlows, FqScheduler};
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::codel::{Codel, CodelFiner, CodelShared, CodelTimes};
use fairlane_net::BuildContext;

fairlane_units::params! {
    /// FQ-CoDel hashes flows into queues, serves them by deficit round robin with new flows first, and lets CoDel manage each (RFC 8290).
    pub struct FqCodelParams {
        /// The flows' queues.
        #[serde(flatten)]
        pub scheduler: FqScheduler,
        /// When it drops.
        #[serde(flatten)]
        pub times: CodelTimes,
        /// True if ECN-capable packets are marked instead of dropped (section 5.2.6).
        pub ecn: bool = true,
        /// Variants of implementations.
        #[serde(flatten)]
        pub finer: CodelFiner,
        /// State that all queues share.
        #[serde(flatten)]
        pub shared: CodelShared,
    }
}

impl Discipline for FqCodelParams {
    type Queue = FqFlows<Codel>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_fq_codel of Linux with its defaults: 10240 packets, 32 MiB, 1024 queues, ECN on, 16-bit square roots; CoDel spares the last \
                  full packet of all queues together, not of each.",
            values: r#"{"limit": "10240p", "memory_limit": "32MiB", "flows": 1024, "quantum": "1514B", "drop_batch": 64, "leave_new": true, "target": "5ms",
                        "interval": "100ms", "mtu": "1500B", "ecn": true, "inv_sqrt": "newton", "mtu_of_all": true, "count_evicted": true}"#,
        },
        Preset {
            name: "ns3",
            doc: "FqCoDelQueueDisc of ns-3 with its defaults: 10240 packets, 1024 queues with a fixed hash, a quantum of 1500 bytes (the MTU \
                  of the device), drops even with one full packet left, ECN on, 16-bit square roots.",
            values: r#"{"limit": "10240p", "flows": 1024, "salt": 0, "quantum": "1500B", "drop_batch": 64, "target": "5ms",
                        "interval": "100ms", "mtu": "1499B", "ecn": true, "inv_sqrt": "newton"}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        self.scheduler.check()?;
        self.times.check()
    }

    fn build(&self, context: &BuildContext<'_>) -> FqFlows<Codel> {
        FqFlows::new(&self.scheduler, Codel::of(&self.times, &self.finer, self.ecn).sharing(&self.shared), context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::cbr_wait;
    use fairlane_net::LinkInfo;
    use fairlane_units::{Dur, Rate};

    /// sch_fq_codel compares what waits in all queues with a full packet, RFC 8289 what waits in the queue itself: there a flow keeps its last packet, so that n flows
    /// wait for a round of n packets each. A transcription of both has means of 6.34, 6.06 and 6.06 ms, and of 17.2, 31.5 and 59.2, for 8, 16 and 32 flows at 103 % of 10 Mbit/s.
    #[test]
    fn whose_last_packet_is_spared_decides_the_wait() {
        let linux: FqCodelParams = serde_json::from_str(FqCodelParams::PRESETS[0].values).unwrap();
        let own = FqCodelParams { shared: CodelShared::default(), ..linux.clone() };
        let rate = Rate::from_mbps(10);
        for (p, want) in [(linux, [6.34, 6.06, 6.06]), (own, [17.2, 31.5, 59.2])] {
            let p = FqCodelParams { scheduler: FqScheduler { flows: 65_536, salt: Some(1), ..p.scheduler }, ..p };
            for (n, want) in [8, 16, 32].into_iter().zip(want) {
                let got = cbr_wait(&mut p.build(&LinkInfo { rate, delay: Dur::ZERO }.into()), rate, n);
                assert!((got / want - 1.0).abs() < 0.03, "{n} flows wait {got} ms, not {want}");
            }
        }
    }
}
