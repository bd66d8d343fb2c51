//! What watches a run: every observer that was asked for, as one. The loop is compiled once for all of them.

use crate::capture::CaptureError;
use fairlane_net::{
    DequeueEvent, DropEvent, EnqueueEvent, EpId, FrameEvent, GaugeEvent, HopEvent, LimitEvent, MomentEvent, Observer, PortId, ReceiveEvent,
    SendEvent,
};
use fairlane_trace::HopDelay;
use fairlane_trace::events::Recorder;
use fairlane_trace::pcapng::Capture;
use fairlane_trace::scene::Scene;
use fairlane_trace::why::Why;

macro_rules! probes {
    ({ $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $hooks:tt) => {
        /// The observers of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Probes {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// The run goes on whatever there is to be heard.
            pub(crate) deaf: bool,
        }
        impl Probes {
            /// Whether anything is watched at all.
            pub(crate) fn any(&self) -> bool {
                [$(self.$field.is_some()),*].contains(&true)
            }
        }
        impl Observer for Probes {
            #[inline]
            fn sees(&self, port: PortId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.sees(port)))||*
            }
            #[inline]
            fn prompt(&self, port: PortId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.prompt(port)))||*
            }
            #[inline]
            fn looks(&self, endpoint: EpId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.looks(endpoint)))||*
            }
            #[inline]
            fn frames(&self, port: PortId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.frames(port)))||*
            }
            #[inline]
            fn weighs(&self, endpoint: EpId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.weighs(endpoint)))||*
            }
            #[inline]
            fn measures(&self, port: PortId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.measures(port)))||*
            }
            #[inline]
            fn measures_end(&self, endpoint: EpId) -> bool {
                $(self.$field.as_ref().is_some_and(|p| p.measures_end(endpoint)))||*
            }
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                None$(.or_else(|| self.$field.as_ref().and_then(|p| p.before_hop(port))))*
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
        /// Packets for other tools.
        capture: Capture,
        /// Events for tables.
        recorder: Recorder,
        /// What limits flows.
        why: Why,
        /// What a moving picture shows.
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
        on_moment: MomentEvent,
        on_gauge: GaugeEvent,
        on_receive: ReceiveEvent,
    }
}

/// An observer that may have to end the run.
pub(crate) trait Watching: Observer {
    /// Why the run cannot go on, if so.
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
