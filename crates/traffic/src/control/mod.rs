//! Controls at a source node: one file each. They say which of the node's flows may send; what a closed flow does is the network's to see to
//! ([`fairlane_net::Control`]).

pub(crate) mod congestion_signal;
pub(crate) mod time_slots;

use fairlane_net::{Control, Problem};
use fairlane_units::{Dur, Time};

/// Priorities: 1 is the best, 6 the worst (yang2001, section 3; carried in the DS field of RFC 2474).
pub const PRIORITIES: u8 = 6;

/// The parameters of a control.
pub trait Controller {
    /// Runtime type.
    type Control: Control;

    /// Nodes whose flows it governs.
    fn nodes(&self) -> Option<&[String]>;
    /// Flows it governs.
    fn flows(&self) -> Option<&[String]>;
    /// True if the parameters fit one another: what their schema cannot say.
    ///
    /// # Errors
    /// The parameter that is wrong, and why.
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
    /// The control of flows with these priorities, in the order of the file; `numbers` are those of the members in their groups.
    fn build(&self, priorities: &[u8], numbers: &[u32]) -> Self::Control;
}

fairlane_units::params! {
    /// Treatment of acknowledgments by a closed TCP sender.
    pub enum Acks {
        /// It processes them: the window moves on, and the timer rests with the last one.
        #[default]
        Heard,
        /// It misses them, as a source that stands still altogether: the retransmission timer goes off, and after each turn the flow restarts
        /// with one segment.
        Ignored,
    }
}

/// A flow as a control sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// The priority of its packets.
    written: u8,
    /// It has begun, and is not over.
    pub(crate) alive: bool,
    /// It is closed, since then.
    waits: Option<Time>,
    /// For how long it was closed before that.
    waited: Dur,
}

impl Member {
    pub(crate) fn all(priorities: &[u8]) -> Vec<Self> {
        priorities.iter().map(|&written| Self { written, alive: false, waits: None, waited: Dur::ZERO }).collect()
    }
    pub(crate) fn close(&mut self, now: Time) {
        self.waits.get_or_insert(now);
    }
    pub(crate) fn open(&mut self, now: Time) {
        self.waited = self.waited(now);
        self.waits = None;
    }
    pub(crate) fn is_open(&self) -> bool {
        self.waits.is_none()
    }
    fn waited(&self, now: Time) -> Dur {
        self.waited + self.waits.map_or(Dur::ZERO, |since| now - since)
    }
    /// Its priority by now: one better for each `aging` that it has waited, but not better than 1.
    pub(crate) fn priority(&self, aging: Option<Dur>, now: Time) -> u8 {
        let steps = aging.map_or(0, |a| self.waited(now).as_ps() / a.as_ps().max(1));
        self.written.saturating_sub(u8::try_from(steps).unwrap_or(u8::MAX)).max(1)
    }
    /// Returns when its priority improves next, if it keeps waiting.
    pub(crate) fn improves_at(&self, aging: Option<Dur>, now: Time) -> Time {
        let (Some(aging), Some(_)) = (aging, self.waits) else { return Time::MAX };
        if self.priority(Some(aging), now) <= 1 {
            return Time::MAX;
        }
        now + Dur::from_ps(aging.as_ps() - self.waited(now).as_ps() % aging.as_ps())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    //! A control alone, and what it has opened.

    use fairlane_net::{Control, ControlCx, SenderSignal};
    use fairlane_units::{Dur, Time};

    pub(crate) struct Bench<C> {
        control: C,
        pub(crate) now: Time,
        /// By flow: open, orders so far, over.
        gates: Vec<(bool, u32, bool)>,
        wake: Time,
    }

    impl<C: Control> Bench<C> {
        pub(crate) fn new(control: C) -> Self {
            let open = !control.begins_closed();
            Self { control, now: Time::ZERO, gates: vec![(open, 0, true); 6], wake: Time::MAX }
        }
        fn call(&mut self, f: impl FnOnce(&mut C, &mut ControlCx<'_>)) {
            let mut orders = vec![];
            f(&mut self.control, &mut ControlCx { now: self.now, orders: &mut orders, wake: &mut self.wake });
            for (flow, open) in orders {
                let gate = &mut self.gates[flow];
                assert_ne!(gate.0, open, "flow {flow} is so already");
                *gate = (open, gate.1 + 1, gate.2);
            }
        }
        pub(crate) fn begin(&mut self, flow: usize) {
            self.gates[flow].2 = false;
            self.call(|c, cx| c.on_begin(flow, cx));
        }
        pub(crate) fn finish(&mut self, flow: usize) {
            self.gates[flow].2 = true;
            self.call(|c, cx| c.on_finish(flow, cx));
        }
        pub(crate) fn sign(&mut self, flow: usize, sign: SenderSignal) {
            self.call(|c, cx| c.on_signal(flow, sign, cx));
        }
        /// To the time it asked for.
        pub(crate) fn wake(&mut self) {
            self.now = std::mem::replace(&mut self.wake, Time::MAX);
            self.call(|c, cx| c.on_wake(cx));
        }
        pub(crate) fn run(&mut self, time: Dur) {
            self.now += time;
            assert!(self.now < self.wake);
        }
        pub(crate) fn next(&self) -> Time {
            self.wake
        }
        pub(crate) fn orders_of(&self, flow: usize) -> u32 {
            self.gates[flow].1
        }
        /// Flows that are open and not over.
        pub(crate) fn open(&self) -> Vec<usize> {
            (0..self.gates.len()).filter(|&f| self.gates[f].0 && !self.gates[f].2).collect()
        }
    }
}
