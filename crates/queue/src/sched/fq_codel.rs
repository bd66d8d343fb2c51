//! FQ-CoDel: flows hashed into queues with a CoDel each, new flows first.

use super::fq_law::{FqFlows, FqScheduler};
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::codel::{Codel, CodelFiner, CodelTimes};
use fairlane_net::Site;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FQ-CoDel hashes flows into queues, serves them by deficit round robin with new flows first, and lets CoDel manage each (RFC 8290).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqCodelParams {
    /// The flows' queues.
    #[serde(flatten)]
    pub scheduler: FqScheduler,
    /// When it drops.
    #[serde(flatten)]
    pub times: CodelTimes,
    /// Whether ECN-capable packets are marked instead of dropped (section 5.2.6).
    pub ecn: bool,
    /// What implementations add.
    #[serde(flatten)]
    pub finer: CodelFiner,
}

impl Default for FqCodelParams {
    fn default() -> Self {
        Self { scheduler: FqScheduler::default(), times: CodelTimes::default(), ecn: true, finer: CodelFiner::default() }
    }
}

impl Discipline for FqCodelParams {
    type Queue = FqFlows<Codel>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_fq_codel of Linux with its defaults: 10240 packets, 32 MiB, 1024 queues, ECN on, 16-bit square roots.",
            values: r#"{"limit": "10240p", "memory_limit": "32MiB", "flows": 1024, "quantum": "1514B", "drop_batch": 64, "target": "5ms",
                        "interval": "100ms", "ecn": true, "inv_sqrt": "newton"}"#,
        },
        Preset {
            name: "ns3",
            doc: "FqCoDelQueueDisc of ns-3 with its defaults: 10240 packets, 1024 queues with a fixed hash, a quantum of 1500 bytes (the MTU \
                  of the device), drops even with one full packet left, ECN on, 16-bit square roots.",
            values: r#"{"limit": "10240p", "flows": 1024, "salt": 0, "quantum": "1500B", "drop_batch": 64, "target": "5ms",
                        "interval": "100ms", "mtu": "1499B", "ecn": true, "inv_sqrt": "newton"}"#,
        },
    ];

    fn check(&self, _: &Site<'_>) -> Result<(), Problem> {
        self.scheduler.check()?;
        self.times.check()
    }

    fn build(&self, site: &Site<'_>) -> FqFlows<Codel> {
        FqFlows::new(&self.scheduler, Codel::of(&self.times, &self.finer, self.ecn), site)
    }
}
