//! Interface of a flow controller, which decides which flows of a node may send.

use fairlane_units::Time;

/// Signal of a sender to its flow controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderSignal {
    /// The sender found a loss by acknowledgments and entered recovery (RFC 5681 section 3.2).
    FastRetransmit,
    /// The retransmission timer expired (RFC 6298 section 5).
    Timeout,
    /// The sender reduced its window after an ECN echo (RFC 3168 section 6.1.2).
    Echo,
}

/// Context of a flow controller during one call. Flow numbers are positions in its list of flows.
pub struct ControlCx<'a> {
    /// Time of the call.
    pub now: Time,
    /// Flows to close (false) and to open (true), in order.
    pub orders: &'a mut Vec<(usize, bool)>,
    /// Time of the next wake-up; [`Time::MAX`] for none.
    pub wake: &'a mut Time,
}

impl ControlCx<'_> {
    /// Opens a flow: it may send.
    pub fn open(&mut self, flow: usize) {
        self.orders.push((flow, true));
    }
    /// Closes a flow until it is opened.
    ///
    /// A closed flow sends nothing: TCP holds its segments and timers; for any other transport the clock of the application stops. Packets in flight continue,
    /// and the sender processes acknowledgments.
    pub fn close(&mut self, flow: usize) {
        self.orders.push((flow, false));
    }
    /// Requests a wake-up at `at`, which replaces any earlier request.
    pub fn wake_at(&mut self, at: Time) {
        *self.wake = at;
    }
}

/// A flow controller of one node.
pub trait Control: Send {
    /// True if flows are closed until the controller opens them.
    fn begins_closed(&self) -> bool {
        false
    }
    /// True if a closed flow also ignores arriving segments.
    fn deaf(&self) -> bool {
        false
    }
    /// Called when a flow starts: its application has data to send.
    fn on_begin(&mut self, flow: usize, cx: &mut ControlCx<'_>);
    /// Called when a flow ends: its last byte is acknowledged (TCP) or delivered (UDP), or its source has stopped.
    fn on_finish(&mut self, flow: usize, cx: &mut ControlCx<'_>);
    /// Called when a sender met congestion.
    fn on_signal(&mut self, flow: usize, signal: SenderSignal, cx: &mut ControlCx<'_>) {
        let _ = (flow, signal, cx);
    }
    /// Called at the requested time.
    fn on_wake(&mut self, cx: &mut ControlCx<'_>);
}

/// For worlds without flow controllers.
impl Control for () {
    fn on_begin(&mut self, _: usize, _: &mut ControlCx<'_>) {}
    fn on_finish(&mut self, _: usize, _: &mut ControlCx<'_>) {}
    fn on_wake(&mut self, _: &mut ControlCx<'_>) {}
}
