//! What the network asks of a control: an object at a node that says which of the node's flows may send.

use fairlane_units::Time;

/// What a control hears of one of its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderSignal {
    /// The sender found a loss by acknowledgments and entered recovery (RFC 5681 section 3.2).
    FastRetransmit,
    /// Its retransmission timer went off (RFC 6298 section 5).
    Timeout,
    /// It reduced its window for an ECN echo (RFC 3168 section 6.1.2).
    Echo,
}

/// The surroundings of a control during one call. Flows are numbered as the control was given them.
pub struct ControlCx<'a> {
    /// The time of the call.
    pub now: Time,
    /// Flows to close (false) and to open (true), in order.
    pub orders: &'a mut Vec<(usize, bool)>,
    /// When it wants to be woken next; [`Time::MAX`] for never.
    pub wake: &'a mut Time,
}

impl ControlCx<'_> {
    /// Lets a flow send.
    pub fn open(&mut self, flow: usize) {
        self.orders.push((flow, true));
    }
    /// Lets a flow send no more, until it is opened.
    ///
    /// A closed flow sends nothing of its own: what TCP has to send waits, as do its timers; the application of any other transport stands still,
    /// and its clock with it. Packets already under way go on, and acknowledgments that come back are heard.
    pub fn close(&mut self, flow: usize) {
        self.orders.push((flow, false));
    }
    /// Asks to be woken at `at`, in place of any earlier request.
    pub fn wake_at(&mut self, at: Time) {
        *self.wake = at;
    }
}

/// A control of the flows of one node.
pub trait Control: Send {
    /// Whether its flows are closed until it opens them.
    fn begins_closed(&self) -> bool {
        false
    }
    /// Whether a closed flow does not hear what arrives either.
    fn deaf(&self) -> bool {
        false
    }
    /// A flow starts: its application has something to send from now on.
    fn on_begin(&mut self, flow: usize, cx: &mut ControlCx<'_>);
    /// A flow has nothing more to send: its last byte is acknowledged (TCP), delivered (UDP), or its source has stopped. It is governed no more.
    fn on_finish(&mut self, flow: usize, cx: &mut ControlCx<'_>);
    /// A sender met congestion.
    fn on_signal(&mut self, flow: usize, sign: SenderSignal, cx: &mut ControlCx<'_>) {
        let _ = (flow, sign, cx);
    }
    /// The time it asked for has come.
    fn on_wake(&mut self, cx: &mut ControlCx<'_>);
}

/// For worlds without controls.
impl Control for () {
    fn on_begin(&mut self, _: usize, _: &mut ControlCx<'_>) {}
    fn on_finish(&mut self, _: usize, _: &mut ControlCx<'_>) {}
    fn on_wake(&mut self, _: &mut ControlCx<'_>) {}
}
