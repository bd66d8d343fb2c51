//! RIO: RED with two drop curves, for packets in and out of their sender's profile.

use super::bounds::check_shares;
use super::pair::{Twin, TwinSetting, check_profile};
use super::red::parts::{Chooser, Shape};
use super::red::{RedStart, length_in, limit_in};
use super::wred::{CurveTuning, assured, check_curve};
use super::{Law, LawCx, Verdict, Victim};
use crate::classify::Match;
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::Admit;
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::Len;

fairlane_units::params! {
    /// RIO, RED with In and Out: packets out of profile are judged by the average of the whole queue, packets in profile by the average of their own kind
    /// and with higher thresholds, so that the former are dropped first (Clark and Fang 1998).
    pub struct RioParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packets are in profile: `"dscp:af11"`, `"tcp"`, `"flow:NAME"`, or a list of these. By default those of the lowest drop precedence of
        /// assured forwarding (RFC 2597 section 6), as srTCM and trTCM colour them.
        pub in_profile: Match = assured(1),
        /// Average of the packets in profile below which none of them is dropped (min_in; ns-2's in_thresh_).
        pub in_min: Len = Len::Packets(40),
        /// Average at which their probability is `in_max_p` (max_in; ns-2's in_maxthresh_).
        pub in_max: Len = Len::Packets(70),
        /// Probability at `in_max` (P_max_in; the inverse of ns-2's in_linterm_).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub in_max_p: f64 = 0.02,
        /// Average below which no packet out of profile is dropped (min_out; ns-2's out_thresh_).
        pub out_min: Len = Len::Packets(10),
        /// Average at which their probability is `out_max_p` (max_out; ns-2's out_maxthresh_).
        pub out_max: Len = Len::Packets(30),
        /// Probability at `out_max` (P_max_out).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub out_max_p: f64 = 0.2,
        /// Which average judges the packets out of profile.
        pub coupling: Coupling = Coupling::Coupled,
        /// Weight of one arrival in the averages.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub w_q: f64 = 0.002,
        /// Unit of the averages, and the curve of the probability.
        #[serde(flatten)]
        pub curves: CurveTuning,
        /// How a stay above a lower threshold begins.
        #[serde(flatten)]
        pub start: RedStart,
        /// True if only arrivals in profile update the averages (ns-2.35) instead of all arrivals: an average that judges packets out of profile then stands
        /// still while none in profile comes.
        pub total_by_in: bool = false,
        /// True if the average of one kind ages while none of that kind waits (ns-2's dsRED), instead of only while the link is idle.
        pub age_own: bool = false,
        /// Without `wait`: true if a gap whose average rises too fast for its last drop continues without one until the average leaves the thresholds
        /// (ns-2's dsRED, where p_a turns negative there), instead of ending at once. Overflows then begin no new gap.
        pub lapse: bool = false,
        /// True if forced drops and overflows of packets out of profile leave their gap as it is (ns-2.35) instead of beginning a new one.
        pub keep_out_gap: bool = false,
    }

    /// Which average judges packets out of profile.
    pub enum Coupling {
        /// The average of the whole queue (Clark and Fang 1998).
        #[default]
        Coupled,
        /// The average of the packets out of profile alone: neither kind feels the other.
        Decoupled,
    }
}

impl Discipline for RioParams {
    type Queue = Fifo<Rio>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "ns2",
            doc: "Queue/RED/RIO of ns-2.35 with its class defaults. Its maximum probability for packets out of profile is 1 / linterm_, whatever \
              out_linterm_ says, and arrivals out of profile update no average.",
            values: r#"{"limit": "50p", "admit": "not_full", "in_min": "15p", "in_max": "30p", "in_max_p": 0.02,
                    "out_min": "5p", "out_max": "15p", "out_max_p": 0.1, "coupling": "coupled", "w_q": 0.002, "gentle": false, "wait": true,
                    "measure": "packets", "byte_mode": false, "mean_packet": "500B", "ecn": false, "spare": 1, "grace": true,
                    "total_by_in": true, "keep_out_gap": true}"#,
        },
        Preset {
            name: "dsred",
            doc: "Queue/dsRED of ns-2.35 in its modes RIO-C and, with coupling = \"decoupled\", RIO-D. Its thresholds have no defaults: those here are \
                  of RED/RIO.",
            values: r#"{"limit": "50p", "admit": "not_full", "in_min": "15p", "in_max": "30p", "in_max_p": 0.02,
                        "out_min": "5p", "out_max": "15p", "out_max_p": 0.1, "w_q": 0.002, "gentle": false, "wait": false,
                        "measure": "packets", "byte_mode": false, "mean_packet": "1000B", "ecn": false, "age_own": true, "lapse": true}"#,
        },
    ];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        super::headdrop::check_limit(self.limit, self.admit)?;
        check_shares(&[("w_q", self.w_q)])?;
        if self.total_by_in && self.age_own {
            return Err(Problem::new("age_own", "goes with averages that every arrival updates: leave out total_by_in"));
        }
        if self.total_by_in && self.coupling == Coupling::Decoupled {
            let why = "packets out of profile would be judged by an average that nothing updates: write \"coupled\"";
            return Err(Problem::new("coupling", why));
        }
        let curve = |min, max, max_p| check_curve(min, max, max_p, self.curves.measure, self.curves.mean_packet);
        curve(self.in_min, self.in_max, self.in_max_p).map_err(|p| Problem { field: format!("in_{}", p.field), ..p })?;
        curve(self.out_min, self.out_max, self.out_max_p).map_err(|p| Problem { field: format!("out_{}", p.field), ..p })?;
        check_profile(&self.in_profile, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Rio> {
        let chooser = |min, max, max_p| {
            Chooser::new(Shape {
                min: length_in(self.curves.measure, min, self.curves.mean_packet),
                max: length_in(self.curves.measure, max, self.curves.mean_packet),
                max_p,
                gentle: self.curves.gentle,
                wait: self.curves.wait,
                byte_mode: self.curves.byte_mode,
                mean_packet: self.curves.mean_packet.get().max(1),
                spare: self.start.spare.map_or(0, |n| n.saturating_add(1)),
                grace: self.start.grace,
                lapse: self.lapse,
            })
        };
        let twin = TwinSetting {
            in_profile: &self.in_profile,
            w_q: self.w_q,
            measure: self.curves.measure,
            mean_packet: self.curves.mean_packet,
            total_by_in: self.total_by_in,
            age_own: self.age_own,
        };
        let rio = Rio {
            twin: Twin::new(&twin, context),
            inside: chooser(self.in_min, self.in_max, self.in_max_p),
            outside: chooser(self.out_min, self.out_max, self.out_max_p),
            decoupled: self.coupling == Coupling::Decoupled,
            ecn: self.curves.ecn,
            keep_out_gap: self.keep_out_gap,
        };
        Fifo::new(rio, limit_in(self.curves.measure, self.limit, self.curves.mean_packet, self.admit))
    }
}

/// The state of RIO.
#[derive(Clone, Debug)]
pub struct Rio {
    twin: Twin,
    inside: Chooser,
    outside: Chooser,
    decoupled: bool,
    ecn: bool,
    keep_out_gap: bool,
}

impl Rio {
    /// The average of the whole queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.twin.total()
    }
    /// The average of the packets in profile.
    pub fn avg_in(&self) -> f64 {
        self.twin.inside()
    }
    /// The average of the packets out of profile.
    pub fn avg_out(&self) -> f64 {
        self.twin.outside()
    }
}

impl Law for Rio {
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let a = self.twin.arrive(p, cx);
        let (chooser, avg, waiting) = match (a.inside, self.decoupled) {
            (true, _) => (&mut self.inside, a.own, a.waiting_own),
            (false, false) => (&mut self.outside, a.total, a.waiting),
            (false, true) => (&mut self.outside, a.own, a.waiting_own),
        };
        if self.keep_out_gap && chooser.forces(avg, waiting, p.len) {
            if a.inside {
                chooser.restart();
            }
            return Verdict::Drop(DropReason::Forced);
        }
        if !chooser.chooses(avg, waiting, p.len, cx.rng) {
            self.twin.keep(p, a.inside);
            return Verdict::Pass;
        }
        if self.ecn && p.ecn.capable() && chooser.may_mark(avg) {
            self.twin.keep(p, a.inside);
            return Verdict::Mark;
        }
        Verdict::Drop(if chooser.p_b() < 1.0 { DropReason::Early } else { DropReason::Forced })
    }

    #[inline]
    fn on_overflow(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Victim {
        self.twin.lost(p);
        if self.twin.is_inside(p) {
            self.inside.overflowed();
        } else if !self.keep_out_gap {
            self.outside.overflowed();
        }
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.twin.left(p, cx.now);
        Verdict::Pass
    }

    #[inline]
    fn on_evict(&mut self, p: &Packet) {
        self.twin.gone(p);
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.twin.total());
        out("avg_in", self.twin.inside());
        out("drop_prob_in", self.inside.p_b());
        out("drop_prob_out", self.outside.p_b());
    }
}
