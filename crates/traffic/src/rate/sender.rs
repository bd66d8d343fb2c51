//! The end that sends under rate control, whatever that is: what is written waits in the outlet, and goes when the rate control lets it.

use super::outlet::Outlet;
use fairlane_net::{Cx, Endpoint, FlowView, Segment, TimerId};
use fairlane_units::Time;

/// A rate control at the end that sends.
pub(super) trait RateControl {
    /// Timer in addition to [`TimerId::Pace`].
    const TIMER: TimerId;

    fn outlet(&self) -> &Outlet;
    fn outlet_mut(&mut self) -> &mut Outlet;
    /// Sends what may go by now, and sets [`TimerId::Pace`] for the next packet.
    fn send(&mut self, cx: &mut Cx<'_>);
    /// The other end reports.
    fn on_report(&mut self, report: &Segment, cx: &mut Cx<'_>);
    /// Its own timer is due.
    fn on_own_timer(&mut self, cx: &mut Cx<'_>);
    /// Called when the queue was cleared.
    fn on_cleared(&mut self, now: Time) {
        let _ = now;
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64));
}

/// The end that sends.
#[derive(Clone, Debug)]
pub struct RateSender<C>(pub(super) C);

impl<C: RateControl + Send> Endpoint for RateSender<C> {
    fn start(&mut self, _: &mut Cx<'_>) {}

    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.payload > 0 { self.0.outlet_mut().receive(seg, cx) } else { self.0.on_report(seg, cx) }
    }

    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        if id == C::TIMER { self.0.on_own_timer(cx) } else { self.0.send(cx) }
    }

    fn on_write(&mut self, bytes: u64, _: bool, cx: &mut Cx<'_>) {
        self.0.outlet_mut().queue.push(bytes);
        self.0.send(cx);
    }

    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        self.0.outlet_mut().queue.clear();
        self.0.on_cleared(cx.now);
        cx.timers.cancel(TimerId::Pace);
    }

    fn hold(&mut self, held: bool, cx: &mut Cx<'_>) -> bool {
        self.0.outlet_mut().held = held;
        self.0.send(cx);
        true
    }

    fn view(&self) -> FlowView {
        self.0.outlet().view
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(out);
    }
}
