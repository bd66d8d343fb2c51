//! Dialects: named sets of parameter values. A preset is data, laid under the user's own values before they are read.

/// A named set of parameter values of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The queue's name, as in scenario files.
    pub queue: &'static str,
    /// The preset's name.
    pub name: &'static str,
    /// What it stands for.
    pub doc: &'static str,
    /// A JSON object. Keys the user writes win over these; keys in neither take their default.
    pub values: &'static str,
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        queue: "droptail",
        name: "ns2",
        doc: "Queue/DropTail of ns-2.35: of a limit of n packets, n - 1 wait beside the one in transmission.",
        values: r#"{"limit": "50p", "admit": "under"}"#,
    },
    Preset {
        queue: "red",
        name: "ns2",
        doc: "Queue/RED of ns-2.35 with its class defaults: lengths and probabilities in bytes of 500-byte packets (a limit of n packets \
              is n * 500 bytes), automatic thresholds and weight, gentle, wait.",
        values: r#"{"limit": "50p", "admit": "not_full", "target_delay": "5ms", "max_p": 0.1, "gentle": true, "wait": true,
                    "measure": "bytes", "byte_mode": true, "mean_packet": "500B", "ecn": false, "mark_p": 0.1, "spare": 1, "grace": true}"#,
    },
];

/// The preset of a queue by its name.
pub fn preset(queue: &str, name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.queue == queue && p.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Admit, DropTailParams, Measure, RedParams};
    use fairlane_units::{Bytes, Len};

    #[test]
    fn presets_are_read_by_their_queue() {
        let d: DropTailParams = serde_json::from_str(preset("droptail", "ns2").unwrap().values).unwrap();
        assert_eq!(d, DropTailParams { limit: Len::Packets(50), admit: Admit::Under });
        let r: RedParams = serde_json::from_str(preset("red", "ns2").unwrap().values).unwrap();
        assert_eq!((r.measure, r.byte_mode, r.mean_packet, r.min, r.w_q), (Measure::Bytes, true, Bytes(500), None, None));
        assert_eq!(preset("red", "ns9"), None);
    }
}
