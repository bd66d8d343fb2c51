//! FQ-CoDel: flows hashed into queues with a CoDel each, new flows first.

use super::fq_law::{FqFlows, FqSetting};
use super::hash::HashBy;
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::codel::{Codel, CodelParams, InvSqrt};
use fairlane_net::Site;
use fairlane_units::{Bytes, Dur, Len};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FQ-CoDel hashes flows into queues, serves them by deficit round robin with new flows first, and lets CoDel manage each (RFC 8290).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqCodelParams {
    /// What all queues hold together; the packet in transmission is not counted (section 5.2.3).
    pub limit: Len,
    /// What all queues hold together in bytes on the wire (tc's memory_limit, which counts the kernel's buffers). Unset: `limit` is the only one.
    #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
    pub memory_limit: Option<Bytes>,
    /// Number of queues that flows are hashed into (section 5.2.5).
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// What packets of one queue have in common.
    pub hash: HashBy,
    /// Salt of the hash (section 4.1). Unset: drawn from the random stream of the queue.
    pub salt: Option<u64>,
    /// Bytes a queue may send in its turn (section 5.2.4).
    #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
    pub quantum: Bytes,
    /// Most packets dropped at a time from the head of the queue that holds most bytes, when there is no room (section 4.1).
    #[schemars(range(min = 1, max = 65536))]
    pub drop_batch: u32,
    /// Waiting time that may stand (section 5.2.2).
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub target: Dur,
    /// How long the waiting time must stay above `target` before a packet is dropped; about a long round trip (section 5.2.1).
    #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
    pub interval: Dur,
    /// Nothing is dropped by a flow's CoDel while at most this much of the flow waits behind the packet (RFC 8289 section 5.4). Unset: the largest packet that
    /// queue has seen.
    #[schemars(extend("x-min" = "0B", "x-max" = "10MB"))]
    pub mtu: Option<Bytes>,
    /// Whether ECN-capable packets are marked instead of dropped (section 5.2.6).
    pub ecn: bool,
    /// Waiting time above which every ECN-capable packet is marked (section 5.2.7). Unset: off.
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub ce_threshold: Option<Dur>,
    /// How 1 / sqrt(count) is worked out.
    pub inv_sqrt: InvSqrt,
}

impl Default for FqCodelParams {
    fn default() -> Self {
        let codel = CodelParams::default();
        Self {
            limit: Len::Packets(10_240),
            memory_limit: None,
            flows: 1024,
            hash: HashBy::Flow,
            salt: None,
            quantum: Bytes(1514),
            drop_batch: 64,
            target: codel.target,
            interval: codel.interval,
            mtu: codel.mtu,
            ecn: true,
            ce_threshold: codel.ce_threshold,
            inv_sqrt: codel.inv_sqrt,
        }
    }
}

impl FqCodelParams {
    fn scheduler(&self) -> FqSetting {
        let Self { limit, memory_limit, flows, hash, salt, quantum, drop_batch, .. } = *self;
        FqSetting { limit, memory_limit, flows, hash, salt, quantum, drop_batch }
    }

    fn codel(&self) -> CodelParams {
        let Self { target, interval, mtu, ecn, ce_threshold, inv_sqrt, .. } = *self;
        CodelParams { target, interval, mtu, ecn, ce_threshold, inv_sqrt, ..CodelParams::default() }
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
        self.scheduler().check()?;
        self.codel().check_times()
    }

    fn build(&self, site: &Site<'_>) -> FqFlows<Codel> {
        FqFlows::new(&self.scheduler(), Codel::new(&self.codel()), site)
    }
}
