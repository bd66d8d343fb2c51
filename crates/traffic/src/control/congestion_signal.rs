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
use fairlane_net::{Control, ControlCx, SenderSignal};
use fairlane_units::{Dur, Time};

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
    /// Priorities of the flows that are active, or of those that are held.
    fn priorities(&self, open: bool, now: Time) -> impl Iterator<Item = u8> + '_ {
        self.members.iter().filter(move |m| m.alive && m.is_open() == open).map(move |m| m.priority(self.aging, now))
    }

    /// Releases the held flows whose priority is at least as good as `bound`.
    fn release_to(&mut self, bound: u8, cx: &mut ControlCx<'_>) {
        for (f, m) in self.members.iter_mut().enumerate() {
            if m.alive && !m.is_open() && m.priority(self.aging, cx.now) <= bound {
                m.open(cx.now);
                cx.open(f);
            }
        }
    }

    /// Releases the next class, or all.
    fn release_next(&mut self, cx: &mut ControlCx<'_>) {
        let best = self.priorities(false, cx.now).min();
        match (best, self.release) {
            (None, _) => {}
            (Some(best), Release::Best) => self.release_to(best, cx),
            (Some(_), Release::All) => self.release_to(u8::MAX, cx),
        }
        self.wait_for_quiet(cx.now);
    }

    fn wait_for_quiet(&mut self, now: Time) {
        self.quiet_at = self.clear.map_or(Time::MAX, |c| now + c);
    }

    /// Asks for the next time at which something may change by itself.
    fn sleep(&mut self, cx: &mut ControlCx<'_>) {
        let held = self.members.iter().filter(|m| m.alive && !m.is_open());
        let next = held.fold(Time::MAX, |t, m| t.min(self.quiet_at).min(m.improves_at(self.aging, cx.now)));
        cx.wake_at(next);
    }
}

impl Control for CongestionSignal {
    fn deaf(&self) -> bool {
        self.acks == Acks::Ignored
    }
    fn on_begin(&mut self, flow: usize, _: &mut ControlCx<'_>) {
        self.members[flow].alive = true;
    }
    fn on_finish(&mut self, flow: usize, cx: &mut ControlCx<'_>) {
        let own = self.members[flow].priority(self.aging, cx.now);
        self.members[flow].alive = false;
        if self.members[flow].is_open() && self.priorities(true, cx.now).all(|p| p > own) {
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
        let (best, worst) = (self.priorities(true, cx.now).min(), self.priorities(true, cx.now).max());
        let (Some(best), Some(worst)) = (best, worst) else { return };
        if !counts {
            return;
        }
        let from = match self.hold {
            Hold::Lower => best + 1,
            Hold::Worst => worst.max(best + 1),
        };
        for (f, m) in self.members.iter_mut().enumerate() {
            if m.alive && m.is_open() && m.priority(self.aging, cx.now) >= from {
                m.close(cx.now);
                cx.close(f);
            }
        }
        self.wait_for_quiet(cx.now);
        self.sleep(cx);
    }
    fn on_wake(&mut self, cx: &mut ControlCx<'_>) {
        if self.quiet_at <= cx.now {
            self.release_next(cx);
        }
        // Flows that aging has made as good as the best continue with it.
        if let Some(best) = self.priorities(true, cx.now).min() {
            self.release_to(best, cx);
        }
        self.sleep(cx);
    }
}

#[cfg(test)]
#[path = "congestion_signal_tests.rs"]
mod tests;
