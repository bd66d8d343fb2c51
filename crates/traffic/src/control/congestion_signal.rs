//! Congestion-signal control: a sign of congestion stops the lower priorities of the source (C. Yang and C.-H. Fu, "Research into two
//! source-based control algorithms for Internet traffic flows", 2001, the algorithm "cc").
//!
//! All flows begin active. When a TCP flow of the node meets congestion, the node holds every active flow whose priority is worse than the best among
//! its active flows. Held flows come back class by class, the best first: when the last flow of the best active class is over, or when no sign
//! came for a while. Priority goes before transport: UDP of priority 1 stops TCP of priority 2.
//!
//! The paper says that the sign comes from TCP, that lower priorities stop while higher ones continue, and that there is aging. What the sign is,
//! whom it stops and when they come back are parameters; their defaults give the nearly strict priority of its tables.
//!
//! Deviation: the priority that aging gives is not written into the packets. A held flow whose priority has become as good as the best active one is
//! released, so that aging prevents starvation.

use super::{Acks, Controller, Member};
use fairlane_engine::steps::log_step;
use fairlane_net::{Control, ControlCx, SenderSignal};
use fairlane_units::{Dur, Time};
use std::collections::BTreeSet;

fairlane_units::params! {
    /// Congestion-signal control stops the lower priorities of a node when one of its TCP flows meets congestion (yang2001, section 3.1).
    pub struct CongestionSignalParams {
        /// Nodes whose flows are governed, each node by itself. Absent: every node that sends.
        pub nodes: Option<Vec<String>> = None,
        /// Flows that are governed, by the name of a group or of a member. Absent: all that begin at these nodes.
        pub flows: Option<Vec<String>> = None,
        /// Event that counts as a sign of congestion.
        pub signal: Signal = Signal::Loss,
        /// Which flows a sign stops.
        pub hold: Hold = Hold::Lower,
        /// After this time without a sign held flows are released. Absent: not before the better ones are over.
        #[schemars(extend("x-min" = "1us"))]
        pub clear: Option<Dur> = Some(CLEAR),
        /// Which held flows come back at a time.
        pub release: Release = Release::Best,
        /// For each such time that a flow has been held, its priority is better by one, but not better than 1. Absent: priorities stay.
        #[schemars(extend("x-min" = "1us"))]
        pub aging: Option<Dur> = None,
        /// Treatment of acknowledgments by a held TCP sender.
        pub acks: Acks = Acks::Heard,
    }

    /// A sign of congestion.
    pub enum Signal {
        /// A TCP flow enters fast retransmit or times out.
        #[default]
        Loss,
        /// A TCP flow enters fast retransmit.
        FastRetransmit,
        /// A TCP flow times out.
        Timeout,
        /// A loss, or a window reduced for an ECN mark.
        LossOrMark,
    }

    /// Whom a sign stops.
    pub enum Hold {
        /// Every active flow that is not of the best active priority.
        #[default]
        Lower,
        /// Flows of the worst active priority, unless it is the best.
        Worst,
    }

    /// Who comes back.
    pub enum Release {
        /// The held flows of the best priority.
        #[default]
        Best,
        /// All.
        All,
    }
}

/// T_clear: the paper does not give it; of the order of the longest round trips and timeouts of its network.
const CLEAR: Dur = Dur::from_secs(5);

impl Controller for CongestionSignalParams {
    type Control = CongestionSignal;

    fn nodes(&self) -> Option<&[String]> {
        self.nodes.as_deref()
    }
    fn flows(&self) -> Option<&[String]> {
        self.flows.as_deref()
    }
    fn build(&self, priorities: &[u8], _: &[u32]) -> CongestionSignal {
        CongestionSignal {
            members: Member::all(priorities),
            listed: vec![(1, Time::MAX); priorities.len()],
            open: BTreeSet::new(),
            held: BTreeSet::new(),
            improving: BTreeSet::new(),
            signal: self.signal,
            hold: self.hold,
            clear: self.clear,
            release: self.release,
            aging: self.aging,
            acks: self.acks,
            quiet_at: Time::MAX,
        }
    }
}

/// The control of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionSignal {
    members: Vec<Member>,
    /// By member, its priority in the sets below, and when it improves; `MAX` for never.
    listed: Vec<(u8, Time)>,
    /// Active flows by priority.
    open: BTreeSet<(u8, usize)>,
    /// Held flows by priority.
    held: BTreeSet<(u8, usize)>,
    /// Held flows by the time when their priority improves.
    improving: BTreeSet<(Time, usize)>,
    signal: Signal,
    hold: Hold,
    clear: Option<Dur>,
    release: Release,
    aging: Option<Dur>,
    acks: Acks,
    /// When the wait for another sign is over.
    quiet_at: Time,
}

impl CongestionSignal {
    /// Puts a flow that is alive into the sets, with its priority by now.
    fn list(&mut self, flow: usize, now: Time) {
        let m = &self.members[flow];
        let (priority, improves) = (m.priority(self.aging, now), m.improves_at(self.aging, now));
        self.listed[flow] = (priority, improves);
        let set = if m.is_open() { &mut self.open } else { &mut self.held };
        log_step(set.len());
        set.insert((priority, flow));
        if improves != Time::MAX {
            self.improving.insert((improves, flow));
        }
    }

    /// Takes a flow out of the sets, before its state changes.
    fn unlist(&mut self, flow: usize) {
        let (priority, improves) = self.listed[flow];
        let set = if self.members[flow].is_open() { &mut self.open } else { &mut self.held };
        log_step(set.len());
        set.remove(&(priority, flow));
        self.improving.remove(&(improves, flow));
    }

    /// Brings the priorities of held flows up to date.
    fn age(&mut self, now: Time) {
        while let Some(&(_, flow)) = self.improving.first().filter(|i| i.0 <= now) {
            self.unlist(flow);
            self.list(flow, now);
        }
    }

    /// Best priority of the active flows.
    fn best(&self) -> Option<u8> {
        self.open.first().map(|o| o.0)
    }

    /// Releases the held flows whose priority is at least as good as `bound`.
    fn release_to(&mut self, bound: u8, cx: &mut ControlCx<'_>) {
        let mut out: Vec<usize> = self.held.range(..=(bound, usize::MAX)).map(|h| h.1).collect();
        out.sort_unstable();
        for flow in out {
            self.unlist(flow);
            self.members[flow].open(cx.now);
            self.list(flow, cx.now);
            cx.open(flow);
        }
    }

    /// Releases the next class, or all.
    fn release_next(&mut self, cx: &mut ControlCx<'_>) {
        match (self.held.first(), self.release) {
            (None, _) => {}
            (Some(&(best, _)), Release::Best) => self.release_to(best, cx),
            (Some(_), Release::All) => self.release_to(u8::MAX, cx),
        }
        self.wait_for_quiet(cx.now);
    }

    fn wait_for_quiet(&mut self, now: Time) {
        self.quiet_at = self.clear.map_or(Time::MAX, |c| now + c);
    }

    /// Asks for the next time at which something may change by itself.
    fn sleep(&mut self, cx: &mut ControlCx<'_>) {
        let improves = self.improving.first().map_or(Time::MAX, |i| i.0);
        cx.wake_at(if self.held.is_empty() { Time::MAX } else { self.quiet_at.min(improves) });
    }
}

impl Control for CongestionSignal {
    fn deaf(&self) -> bool {
        self.acks == Acks::Ignored
    }
    fn on_begin(&mut self, flow: usize, cx: &mut ControlCx<'_>) {
        self.unlist(flow);
        self.members[flow].alive = true;
        self.list(flow, cx.now);
    }
    fn on_finish(&mut self, flow: usize, cx: &mut ControlCx<'_>) {
        self.age(cx.now);
        let own = self.members[flow].priority(self.aging, cx.now);
        self.unlist(flow);
        self.members[flow].alive = false;
        if self.members[flow].is_open() && self.best().is_none_or(|p| p > own) {
            self.release_next(cx);
        }
        // A flow that restarts is not held.
        self.members[flow].open(cx.now);
        self.sleep(cx);
    }
    fn on_signal(&mut self, _: usize, sign: SenderSignal, cx: &mut ControlCx<'_>) {
        let counts = match self.signal {
            Signal::Loss => sign != SenderSignal::Echo,
            Signal::FastRetransmit => sign == SenderSignal::FastRetransmit,
            Signal::Timeout => sign == SenderSignal::Timeout,
            Signal::LossOrMark => true,
        };
        let (Some(best), Some(&(worst, _))) = (self.best(), self.open.last()) else { return };
        if !counts {
            return;
        }
        self.age(cx.now);
        let from = match self.hold {
            Hold::Lower => best + 1,
            Hold::Worst => worst.max(best + 1),
        };
        let mut out: Vec<usize> = self.open.range((from, 0)..).map(|o| o.1).collect();
        out.sort_unstable();
        for flow in out {
            self.unlist(flow);
            self.members[flow].close(cx.now);
            self.list(flow, cx.now);
            cx.close(flow);
        }
        self.wait_for_quiet(cx.now);
        self.sleep(cx);
    }
    fn on_wake(&mut self, cx: &mut ControlCx<'_>) {
        self.age(cx.now);
        if self.quiet_at <= cx.now {
            self.release_next(cx);
        }
        // Flows that aging has made as good as the best continue with it.
        if let Some(best) = self.best() {
            self.release_to(best, cx);
        }
        self.sleep(cx);
    }
}

#[cfg(test)]
#[path = "congestion_signal_tests.rs"]
mod tests;
