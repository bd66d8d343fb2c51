//! FQ-PIE: flows hashed into queues with a PIE each, new flows first.

use super::fq_law::{FqFlows, FqScheduler};
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::pie::{Pie, PieControl, PieMarks};
use fairlane_net::Site;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FQ-PIE hashes flows into queues, serves them as FQ-CoDel does (RFC 8290 section 4), and lets PIE (RFC 8033) manage each (Linux's sch_fq_pie; Ramakrishnan et al. 2019).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqPieParams {
    /// The flows' queues.
    #[serde(flatten)]
    pub scheduler: FqScheduler,
    /// The controller.
    #[serde(flatten)]
    pub control: PieControl,
    /// When it marks.
    #[serde(flatten)]
    pub marks: PieMarks,
}

impl Discipline for FqPieParams {
    type Queue = FqFlows<Pie>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_fq_pie of Linux with its defaults: 10240 packets, 32 MiB, 1024 queues, ECN off.",
            values: r#"{"limit": "10240p", "memory_limit": "32MiB", "flows": 1024, "quantum": "1514B", "drop_batch": 64, "target": "15ms",
                        "tupdate": "15ms", "alpha": 0.125, "beta": 1.25, "max_burst": "150ms", "panic_delay": "250ms", "ecn": false, "mark_ecnth": 0.1}"#,
        },
        Preset {
            name: "ns3",
            doc: "FqPieQueueDisc of ns-3 with its defaults: 10240 packets, 1024 queues with a fixed hash, a quantum of 1500 bytes (the MTU of \
                  the device), no probability builds up during a burst allowance, ECN on.",
            values: r#"{"limit": "10240p", "flows": 1024, "salt": 0, "quantum": "1500B", "drop_batch": 64, "target": "15ms", "tupdate": "15ms",
                        "alpha": 0.125, "beta": 1.25, "max_burst": "150ms", "mean_packet": "1000B", "safe_backlog": "2p", "hold": true, "burst_reset": "1.5s",
                        "ecn": true, "mark_ecnth": 0.1}"#,
        },
    ];

    fn check(&self, _: &Site<'_>) -> Result<(), Problem> {
        self.scheduler.check()?;
        self.control.check(&self.marks)
    }

    fn build(&self, site: &Site<'_>) -> FqFlows<Pie> {
        FqFlows::new(&self.scheduler, Pie::of(&self.control, &self.marks, None), site)
    }
}
