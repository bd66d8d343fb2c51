//! FQ-PIE: flows hashed into queues with a PIE each, new flows first.

use super::fq_law::{FqFlows, FqSetting};
use super::hash::HashBy;
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::pie::{DelayEstimate, Pie, PieParams};
use fairlane_net::Site;
use fairlane_units::{Bytes, Dur, Len};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FQ-PIE hashes flows into queues, serves them as FQ-CoDel does (RFC 8290 section 4), and lets PIE (RFC 8033) manage each (Linux's sch_fq_pie; Ramakrishnan et al. 2019).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqPieParams {
    /// What all queues hold together; the packet in transmission is not counted.
    pub limit: Len,
    /// What all queues hold together in bytes on the wire (tc's memory_limit, which counts the kernel's buffers). Unset: `limit` is the only one.
    #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
    pub memory_limit: Option<Bytes>,
    /// Number of queues that flows are hashed into.
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// What packets of one queue have in common.
    pub hash: HashBy,
    /// Salt of the hash. Unset: drawn from the random stream of the queue.
    pub salt: Option<u64>,
    /// Bytes a queue may send in its turn (RFC 8290 section 5.2.4).
    #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
    pub quantum: Bytes,
    /// Most packets dropped at a time from the head of the queue that holds most bytes, when there is no room (RFC 8290 section 4.1).
    #[schemars(range(min = 1, max = 65536))]
    pub drop_batch: u32,
    /// Delay to hold in each queue (QDELAY_REF, RFC 8033 section 4.2).
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub target: Dur,
    /// Time between two updates of the probabilities (T_UPDATE, RFC 8033 section 4.2).
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub tupdate: Dur,
    /// Weight of the delay's distance from the target, per second and update (RFC 8033 section 4.2).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub alpha: f64,
    /// Weight of the delay's change, per second and update (RFC 8033 section 4.2).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub beta: f64,
    /// How long a burst of a flow passes without a drop after a time without congestion (MAX_BURST, RFC 8033 section 4.4).
    #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
    pub max_burst: Dur,
    /// Length of a typical packet: nothing is dropped while at most two of them wait in a queue (RFC 8033 section 4.1).
    #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
    pub mean_packet: Bytes,
    /// Where the delay comes from (RFC 8033 section 4.3).
    pub estimate: DelayEstimate,
    /// Bytes over which the departure rate of a queue is measured (DQ_THRESHOLD, RFC 8033 section 5.2).
    #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
    pub dq_threshold: Bytes,
    /// Whether the probability, once it is 10 %, grows by at most 2 % an update (RFC 8033 section 5.5).
    pub cap: bool,
    /// Whether lucky and unlucky series of the random test are cut short (RFC 8033 section 5.4).
    pub derandomize: bool,
    /// Whether the probability stays zero during a burst allowance, as in ns-3.
    pub hold: bool,
    /// Quiet time after which the next arrival begins a burst allowance, which then runs out with congestion or without, as in ns-3. Unset: the
    /// allowance is whole for as long as it is quiet (RFC 8033 section 4.4).
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub burst_reset: Option<Dur>,
    /// Delay above which 2 % are added to the probability at each update, as in Linux. Unset: none.
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub panic_delay: Option<Dur>,
    /// Whether a packet is dropped in proportion to its length (tc's bytemode).
    pub byte_mode: bool,
    /// Whether ECN-capable packets are marked instead of dropped (RFC 8033 section 5.1).
    pub ecn: bool,
    /// Probability above which packets are dropped even if they could be marked (mark_ecnth, RFC 8033 section 5.1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_ecnth: f64,
}

impl Default for FqPieParams {
    fn default() -> Self {
        let pie = PieParams::default();
        Self {
            limit: Len::Packets(10_240),
            memory_limit: None,
            flows: 1024,
            hash: HashBy::Flow,
            salt: None,
            quantum: Bytes(1514),
            drop_batch: 64,
            target: pie.target,
            tupdate: pie.tupdate,
            alpha: pie.alpha,
            beta: pie.beta,
            max_burst: pie.max_burst,
            mean_packet: pie.mean_packet,
            estimate: pie.estimate,
            dq_threshold: pie.dq_threshold,
            cap: pie.cap,
            derandomize: pie.derandomize,
            hold: pie.hold,
            burst_reset: pie.burst_reset,
            panic_delay: pie.panic_delay,
            byte_mode: pie.byte_mode,
            ecn: pie.ecn,
            mark_ecnth: pie.mark_ecnth,
        }
    }
}

impl FqPieParams {
    fn scheduler(&self) -> FqSetting {
        let Self { limit, memory_limit, flows, hash, salt, quantum, drop_batch, .. } = *self;
        FqSetting { limit, memory_limit, flows, hash, salt, quantum, drop_batch }
    }

    #[rustfmt::skip]
    fn pie(&self) -> PieParams {
        let Self {
            target, tupdate, alpha, beta, max_burst, mean_packet, estimate, dq_threshold, cap, derandomize, hold, burst_reset, panic_delay,
            byte_mode, ecn, mark_ecnth, ..
        } = *self;
        PieParams {
            target, tupdate, alpha, beta, max_burst, mean_packet, estimate, dq_threshold, cap, derandomize, hold, burst_reset, panic_delay,
            byte_mode, ecn, mark_ecnth, ..PieParams::default()
        }
    }
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
                        "alpha": 0.125, "beta": 1.25, "max_burst": "150ms", "mean_packet": "1000B", "hold": true, "burst_reset": "1.5s",
                        "ecn": true, "mark_ecnth": 0.1}"#,
        },
    ];

    fn check(&self, _: &Site<'_>) -> Result<(), Problem> {
        self.scheduler().check()?;
        self.pie().check_control()
    }

    fn build(&self, site: &Site<'_>) -> FqFlows<Pie> {
        FqFlows::new(&self.scheduler(), Pie::new(&self.pie()), site)
    }
}
