//! WRED: one average queue, and for each drop precedence its own thresholds.

use super::bounds::check_shares;
use super::red::parts::{Average, Chooser, Idle, Shape};
use super::red::{Measure, length_in, limit_in};
use super::{Law, LawCx, Verdict, Victim};
use crate::classify::{Classifier, Match};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::Admit;
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Len, PS_PER_SEC, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// WRED, weighted RED: packets of all drop precedences share a queue and its average, but each precedence has thresholds of its own, so that the
/// higher precedence is dropped first (RFC 2597 section 4; the router feature of Cisco IOS and QualNet).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WredParams {
    /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
    pub limit: Len,
    /// Which arrivals the limit admits.
    pub admit: Admit,
    /// The drop precedences. The first that fits a packet judges it, or else the last.
    pub levels: Vec<WredLevel>,
    /// Weight of one arrival in the average; Cisco's exponential weighting constant n stands for 2^-n.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub w_q: f64,
    /// Unit of the average, and the curve of the probability.
    #[serde(flatten)]
    pub curves: CurveTuning,
    /// True if the average ages from when the last packet of some precedence left, though others wait (ns-2's dsRED), instead of only while the link is
    /// idle.
    pub age_level: bool,
    /// Without `wait`: true if a gap whose average rises too fast for its last drop continues without one until the average leaves the thresholds
    /// (ns-2's dsRED, where p_a turns negative there), instead of ending at once. Overflows then begin no new gap.
    pub lapse: bool,
}

fairlane_units::params! {
    /// Unit of drop curves, and the curve of the probability, for laws with several.
    pub part CurveTuning {
        /// True if the probability grows from `max_p` at `max` to 1 at twice `max`, instead of jumping to 1 at `max`.
        pub gentle: bool = false,
        /// True if gaps between drops are spread over 1/p to 2/p packets instead of 1 to 1/p, as in RED.
        pub wait: bool = false,
        /// Unit of the average, the thresholds and the limit.
        pub measure: Measure = Measure::Packets,
        /// True if a packet is dropped in proportion to its length, and gaps are counted in bytes.
        pub byte_mode: bool = false,
        /// Length of a typical packet: converts between packets and bytes, and ages the average of an idle link.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
        /// True if ECN-capable packets are marked instead of dropped while the average is below `max` (RFC 3168 section 7).
        pub ecn: bool = false,
    }

    /// A drop precedence.
    pub struct WredLevel {
        /// Which packets: `"dscp:af11"`, `"tcp"`, `"udp"`, `"flow:NAME"`, `"any"`, or a list of these.
        #[serde(rename = "match")]
        pub select: Match,
        /// Average queue below which none of them is dropped.
        pub min: Len = Len::Packets(20),
        /// Average queue at which their probability is `max_p`.
        pub max: Len = Len::Packets(40),
        /// Probability at `max`; Cisco's mark probability denominator is its inverse.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.1,
    }
}

/// The code points of the four assured forwarding classes with one drop precedence (RFC 2597 section 6).
pub(super) fn assured(precedence: u8) -> Match {
    match precedence {
        1 => ["dscp:af11", "dscp:af21", "dscp:af31", "dscp:af41"].into(),
        2 => ["dscp:af12", "dscp:af22", "dscp:af32", "dscp:af42"].into(),
        _ => ["dscp:af13", "dscp:af23", "dscp:af33", "dscp:af43"].into(),
    }
}

impl Default for WredParams {
    fn default() -> Self {
        let level = |select, min| WredLevel { select, min: Len::Packets(min), ..WredLevel::default() };
        Self {
            limit: Len::Packets(1000),
            admit: Admit::Fits,
            levels: vec![level(assured(1), 32), level(assured(2), 28), level(assured(3), 24), level(Match::default(), 20)],
            w_q: 1.0 / 512.0,
            curves: CurveTuning::default(),
            age_level: false,
            lapse: false,
        }
    }
}

impl Discipline for WredParams {
    type Queue = Fifo<Wred>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "cisco",
            doc: "Cisco IOS, random-detect dscp-based: its default thresholds for every code point, weight 2^-9, denominator 10, and a buffer of 40.",
            values: r#"{"limit": "40p", "w_q": 0.001953125, "gentle": false, "wait": false, "measure": "packets", "byte_mode": false, "levels": [
                {"match": "dscp:ef", "min": "36p", "max": "40p", "max_p": 0.1},
                {"match": "dscp:cs7", "min": "34p", "max": "40p", "max_p": 0.1},
                {"match": ["dscp:af11", "dscp:af21", "dscp:af31", "dscp:af41", "dscp:cs6"], "min": "32p", "max": "40p", "max_p": 0.1},
                {"match": "dscp:cs5", "min": "30p", "max": "40p", "max_p": 0.1},
                {"match": ["dscp:af12", "dscp:af22", "dscp:af32", "dscp:af42", "dscp:cs4"], "min": "28p", "max": "40p", "max_p": 0.1},
                {"match": "dscp:cs3", "min": "26p", "max": "40p", "max_p": 0.1},
                {"match": ["dscp:af13", "dscp:af23", "dscp:af33", "dscp:af43", "dscp:cs2"], "min": "24p", "max": "40p", "max_p": 0.1},
                {"match": "dscp:cs1", "min": "22p", "max": "40p", "max_p": 0.1},
                {"match": "any", "min": "20p", "max": "40p", "max_p": 0.1}]}"#,
        },
        Preset {
            name: "ns2",
            doc: "Queue/dsRED of ns-2.35 in its mode WRED. Its thresholds have no defaults: those here are of RED/RIO, in profile AFx1, out of profile \
                  all others.",
            values: r#"{"limit": "50p", "admit": "not_full", "w_q": 0.002, "gentle": false, "wait": false, "measure": "packets", "byte_mode": false,
                "mean_packet": "1000B", "ecn": false, "age_level": true, "lapse": true, "levels": [
                {"match": ["dscp:af11", "dscp:af21", "dscp:af31", "dscp:af41"], "min": "15p", "max": "30p", "max_p": 0.02},
                {"match": "any", "min": "5p", "max": "15p", "max_p": 0.1}]}"#,
        },
        Preset {
            name: "qualnet",
            doc: "QualNet's WRED with its default colours: green AFx1, yellow AFx2, red AFx3 and all others.",
            values: r#"{"limit": "100p", "w_q": 0.002, "gentle": false, "wait": false, "measure": "packets", "byte_mode": false, "levels": [
                {"match": ["dscp:af11", "dscp:af21", "dscp:af31", "dscp:af41"], "min": "10p", "max": "20p", "max_p": 0.02},
                {"match": ["dscp:af12", "dscp:af22", "dscp:af32", "dscp:af42"], "min": "5p", "max": "10p", "max_p": 0.02},
                {"match": "any", "min": "2p", "max": "5p", "max_p": 0.02}]}"#,
        },
    ];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        super::headdrop::check_limit(self.limit, self.admit)?;
        check_shares(&[("w_q", self.w_q)])?;
        if self.levels.is_empty() || self.levels.len() > Classifier::MOST {
            return Err(Problem::new(
                "levels",
                format!("{} drop precedences: write at least one and at most {}", self.levels.len(), Classifier::MOST),
            ));
        }
        for (i, l) in self.levels.iter().enumerate() {
            l.select.check(context).map_err(|m| Problem::new(format!("levels.{i}.match"), m))?;
            check_curve(l.min, l.max, l.max_p, self.curves.measure, self.curves.mean_packet)
                .map_err(|p| p.within(&format!("levels.{i}")))?;
        }
        Ok(())
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Wred> {
        let length = |len| length_in(self.curves.measure, len, self.curves.mean_packet);
        let chooser = |l: &WredLevel| {
            Chooser::new(Shape {
                min: length(l.min),
                max: length(l.max),
                max_p: l.max_p,
                gentle: self.curves.gentle,
                wait: self.curves.wait,
                byte_mode: self.curves.byte_mode,
                mean_packet: self.curves.mean_packet.get().max(1),
                spare: 0,
                grace: false,
                lapse: self.lapse,
            })
        };
        let wred = Wred {
            levels: Classifier::new(self.levels.iter().map(|l| &l.select), context),
            choosers: self.levels.iter().map(chooser).collect(),
            average: Average::new(self.w_q),
            idle: Idle::of_packets(self.curves.mean_packet, context.link),
            in_bytes: self.curves.measure == Measure::Bytes,
            ecn: self.curves.ecn,
            age_level: self.age_level,
            held: vec![0; self.levels.len()],
            empty_since: Some(Time::ZERO),
            p_b: 0.0,
        };
        Fifo::new(wred, limit_in(self.curves.measure, self.limit, self.curves.mean_packet, self.admit))
    }
}

/// Refuses thresholds in the wrong order and probabilities that are none.
pub(super) fn check_curve(min: Len, max: Len, max_p: f64, measure: Measure, mean_packet: Bytes) -> Result<(), Problem> {
    if length_in(measure, max, mean_packet) < length_in(measure, min, mean_packet) {
        return Err(Problem::new("max", format!("the upper threshold ({max}) is below the lower one ({min})")));
    }
    check_shares(&[("max_p", max_p)])
}

/// The state of WRED.
#[derive(Clone, Debug)]
pub struct Wred {
    levels: Classifier,
    choosers: Vec<Chooser>,
    average: Average,
    idle: Idle,
    in_bytes: bool,
    ecn: bool,
    age_level: bool,
    /// Packets of each precedence that wait.
    held: Vec<u32>,
    /// With `age_level`: when a precedence became empty, if nothing has arrived since.
    empty_since: Option<Time>,
    /// p_b of the last arrival.
    p_b: f64,
}

impl Wred {
    /// The average queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.average.value
    }
}

impl Law for Wred {
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let waiting = if self.in_bytes { cx.held.bytes } else { u64::from(cx.held.pkts) };
        if self.age_level {
            let since = self.empty_since.map_or(0.0, |t| (cx.now - t).as_ps() as f64 / PS_PER_SEC as f64);
            self.average.age(self.idle.packets_in(since));
        } else if cx.held.pkts == 0 {
            self.average.age(self.idle.packets(cx.now));
        }
        self.average.sample(waiting);
        let avg = self.average.value;
        let level = self.levels.class_of(p);
        let chooser = &mut self.choosers[level];
        let chosen = chooser.chooses(avg, waiting, p.len, cx.rng);
        self.p_b = chooser.p_b();
        let verdict = match chosen {
            false => Verdict::Pass,
            true if self.ecn && p.ecn.capable() && chooser.may_mark(avg) => Verdict::Mark,
            true => return Verdict::Drop(if self.p_b < 1.0 { DropReason::Early } else { DropReason::Forced }),
        };
        self.held[level] += 1;
        self.empty_since = None;
        verdict
    }

    #[inline]
    fn on_overflow(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Victim {
        let level = self.levels.class_of(p);
        self.choosers[level].overflowed();
        self.held[level] = self.held[level].saturating_sub(1);
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.idle.left(cx.now, p.len);
        // A mark can have changed the precedence where that is read from the ECN field.
        let held = &mut self.held[self.levels.class_of(p)];
        *held = held.saturating_sub(1);
        if *held == 0 {
            self.empty_since = Some(cx.now);
        }
        Verdict::Pass
    }

    #[inline]
    fn on_evict(&mut self, p: &Packet) {
        let held = &mut self.held[self.levels.class_of(p)];
        *held = held.saturating_sub(1);
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average.value);
        out("drop_prob", self.p_b);
    }
}
