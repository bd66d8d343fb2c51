//! FQ-PIE: flows hashed into queues with a PIE each, new flows first.

use super::fq_law::{FqFlows, FqScheduler};
use crate::discipline::{Discipline, Preset, Problem};
use crate::law::pie::{Pie, PieControl, PieMarks};
use fairlane_net::BuildContext;

fairlane_units::params! {
    /// FQ-PIE hashes flows into queues, serves them as FQ-CoDel does (RFC 8290 section 4), and lets PIE (RFC 8033) manage each (Linux's sch_fq_pie; Ramakrishnan et al. 2019).
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
        /// True if a full buffer refuses what arrives, before PIE is asked, as in Linux; else the queue with most bytes drops (RFC 8290 section 4.1).
        pub refuse: bool,
    }
}

impl Discipline for FqPieParams {
    type Queue = FqFlows<Pie>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_fq_pie of Linux with its defaults: 10240 packets, 1024 queues, a full buffer refuses what arrives, series of luck are cut \
                  short, 2 % more at each update while the delay is above 250 ms, ECN off.",
            values: r#"{"limit": "10240p", "flows": 1024, "quantum": "1514B", "leave_new": true, "target": "15ms", "tupdate": "15ms", "alpha": 0.125, "beta": 1.25,
                        "max_burst": "150ms", "derandomize": true, "panic_delay": "250ms", "ecn": false, "mark_ecnth": 0.1, "refuse": true}"#,
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

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        self.scheduler.check()?;
        self.control.check(&self.marks)
    }

    fn build(&self, context: &BuildContext<'_>) -> FqFlows<Pie> {
        FqFlows::new(&self.scheduler, Pie::of(&self.control, &self.marks, None), context).refusing(self.refuse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{Desk, link, pkt, us};
    use fairlane_net::{DropReason, Qdisc};
    use fairlane_units::Len;

    /// sch_fq_pie drops what arrives at a full buffer; the scheduler of RFC 8290, as in ns-3, takes half of the packets of the queue with most bytes.
    #[test]
    fn a_full_buffer_refuses_or_takes_from_the_longest() {
        for (preset, lost, why) in [(0, vec![4], DropReason::Overflow), (1, vec![0], DropReason::Evicted)] {
            let p: FqPieParams = serde_json::from_str(FqPieParams::PRESETS[preset].values).unwrap();
            let p = FqPieParams { scheduler: FqScheduler { limit: Len::Packets(4), salt: Some(1), ..p.scheduler }, ..p };
            let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
            // Two and two, and one more packet of the second flow.
            for (id, (flow, len)) in [(0, 1000), (0, 1000), (1, 100), (1, 100), (1, 100)].into_iter().enumerate() {
                desk.put(&mut q, us(0), pkt(id as u32, flow, len));
            }
            assert_eq!((desk.dropped(), desk.drops[0].1, q.backlog().pkts), (lost, why, 4), "{}", FqPieParams::PRESETS[preset].name);
        }
    }
}
