//! Observers of a run, combined into one. The loop is compiled once for all of them.

use crate::capture::CaptureError;
use crate::components::BuiltIn;
use fairlane_engine::EventQueue;
use fairlane_net::{
    DequeueEvent, DropEvent, EnqueueEvent, EpId, FrameEvent, GaugeEvent, HopEvent, Interest, LimitEvent, Observer, PortId, ReceiveEvent,
    SendEvent, StateEvent, World,
};
use fairlane_trace::HopDelay;
use fairlane_trace::events::Recorder;
use fairlane_trace::limits::LimitReport;
use fairlane_trace::pcapng::Capture;
use fairlane_trace::scene::Scene;

/// Interests of all observers together. The loop asks for them several times per packet, so they are evaluated once.
#[derive(Debug, Default)]
pub(crate) struct Interests {
    ports: Vec<Interest>,
    ends: Vec<Interest>,
    /// By port, see [`Observer::before_hop`]. Empty if no observer asks for it.
    before_hop: Vec<Option<PortId>>,
    /// True if no observer has changed since.
    known: bool,
}

macro_rules! probes {
    ({ $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $hooks:tt) => {
        /// Observers of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Probes {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// True if the run does not stop for reports to be read.
            pub(crate) deaf: bool,
            /// Events that they want.
            pub(crate) interests: Interests,
        }
        impl Probes {
            /// True if anything is observed.
            pub(crate) fn any(&self) -> bool {
                [$(self.$field.is_some()),*].contains(&true)
            }
            /// Evaluates the interests of all observers, unless they are known.
            pub(crate) fn ask<H: EventQueue>(&mut self, world: &World<BuiltIn, H>) {
                if self.interests.known {
                    return;
                }
                let (ports, ends) = (world.ports().len() as u32, 2 * world.flows().len() as u32);
                let port = |i| Interest::NONE $(| self.$field.as_ref().map_or(Interest::NONE, |o| o.port_interest(PortId(i))))*;
                let end = |i| Interest::NONE $(| self.$field.as_ref().map_or(Interest::NONE, |o| o.endpoint_interest(EpId(i))))*;
                let before = |i| None$(.or_else(|| self.$field.as_ref().and_then(|o| o.before_hop(PortId(i)))))*;
                let mut before_hop: Vec<_> = (0..ports).map(before).collect();
                if before_hop.iter().all(Option::is_none) {
                    before_hop.clear();
                }
                self.interests =
                    Interests { ports: (0..ports).map(port).collect(), ends: (0..ends).map(end).collect(), before_hop, known: true };
            }
            /// Notes that an observer has come or gone, or wants other events.
            pub(crate) fn changed(&mut self) {
                self.interests.known = false;
            }
        }
        impl Observer for Probes {
            #[inline]
            fn port_interest(&self, port: PortId) -> Interest {
                debug_assert!(self.interests.known, "interests are evaluated");
                self.interests.ports.get(port.0 as usize).copied().unwrap_or_default()
            }
            #[inline]
            fn endpoint_interest(&self, endpoint: EpId) -> Interest {
                debug_assert!(self.interests.known, "interests are evaluated");
                self.interests.ends.get(endpoint.0 as usize).copied().unwrap_or_default()
            }
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                self.interests.before_hop.get(port.0 as usize).copied().flatten()
            }
            #[inline]
            fn enough(&self) -> bool {
                !self.deaf && self.recorder.as_ref().is_some_and(Recorder::pending)
            }
            probes!(@each $hooks [$($field)*]);
        }
    };
    (@each { $($hook:ident: $event:ty),* $(,)? } $fields:tt) => {
        $(probes!(@one $hook $event, $fields);)*
    };
    (@one $hook:ident $event:ty, [$($field:ident)*]) => {
        #[inline]
        fn $hook(&mut self, e: &$event) {
            $(if let Some(p) = &mut self.$field {
                p.$hook(e);
            })*
        }
    };
}

probes! {
    {
        /// Delays from the second node on.
        hop_delay: HopDelay,
        /// Packet captures.
        capture: Capture,
        /// Event tables.
        recorder: Recorder,
        /// Limits of flows.
        why: LimitReport,
        /// Animation.
        scene: Scene,
    }
    {
        on_send: SendEvent,
        on_enqueue: EnqueueEvent,
        on_dequeue: DequeueEvent,
        on_drop: DropEvent,
        on_hop: HopEvent,
        on_frame: FrameEvent,
        on_limit: LimitEvent,
        on_state: StateEvent,
        on_gauge: GaugeEvent,
        on_receive: ReceiveEvent,
    }
}

/// An observer that may end the run.
pub(crate) trait Watching: Observer {
    /// Returns the error that ends the run, if any.
    fn check(&self) -> Result<(), CaptureError> {
        Ok(())
    }
}

impl Watching for () {}

impl Watching for Probes {
    fn check(&self) -> Result<(), CaptureError> {
        let failure = self.capture.as_ref().and_then(Capture::failure);
        failure.map_or(Ok(()), |(file, e)| Err(CaptureError::failing(file, e)))?;
        let failure = self.recorder.as_ref().and_then(Recorder::failure);
        failure.map_or(Ok(()), |f| Err(CaptureError::failing(&f.place, &f.error)))
    }
}
