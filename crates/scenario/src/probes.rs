//! What watches a run: every observer that was asked for, as one. The loop is compiled once for all of them.

use crate::capture::CaptureError;
use crate::endpoint::BuiltIn;
use fairlane_engine::EventQueue;
use fairlane_net::{
    DequeueEvent, DropEvent, EnqueueEvent, EpId, FrameEvent, GaugeEvent, HopEvent, LimitEvent, MomentEvent, Observer, PortId, ReceiveEvent,
    SendEvent, World,
};
use fairlane_trace::HopDelay;
use fairlane_trace::events::Recorder;
use fairlane_trace::pcapng::Capture;
use fairlane_trace::scene::Scene;
use fairlane_trace::why::LimitReport;

/// What the loop asks of a port with each packet, a bit each.
const SEES: u8 = 1;
const PROMPT: u8 = 1 << 1;
const FRAMES: u8 = 1 << 2;
const MEASURES: u8 = 1 << 3;
const BEFORE: u8 = 1 << 4;
const CROSSES: u8 = 1 << 5;
const JOINS: u8 = 1 << 6;
/// What it asks of an endpoint.
const HEARS: u8 = 1;
const LOOKS: u8 = 1 << 1;
const WEIGHS: u8 = 1 << 2;
const MEASURES_END: u8 = 1 << 3;

/// What observers answer the loop. It asks several times with each packet, and asking five observers, most of whom are not there, cost more than what
/// one of them does with it; so they are asked once.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    ports: Vec<u8>,
    ends: Vec<u8>,
    /// Nobody has come, gone or wants anything else since.
    known: bool,
}

/// The answers of one of them for a port.
fn of_port(o: &impl Observer, port: PortId) -> u8 {
    let asked = [
        (SEES, o.sees(port)),
        (PROMPT, o.prompt(port)),
        (FRAMES, o.frames(port)),
        (MEASURES, o.measures(port)),
        (BEFORE, o.before_hop(port).is_some()),
        (CROSSES, o.crosses(port)),
        (JOINS, o.joins(port)),
    ];
    asked.iter().fold(0, |bits, &(bit, yes)| if yes { bits | bit } else { bits })
}

/// And for an endpoint.
fn of_end(o: &impl Observer, end: EpId) -> u8 {
    let asked = [(HEARS, o.hears(end)), (LOOKS, o.looks(end)), (WEIGHS, o.weighs(end)), (MEASURES_END, o.measures_end(end))];
    asked.iter().fold(0, |bits, &(bit, yes)| if yes { bits | bit } else { bits })
}

impl Answers {
    #[inline]
    fn port(&self, port: PortId, question: u8) -> bool {
        debug_assert!(self.known, "observers have been asked");
        self.ports.get(port.0 as usize).is_some_and(|bits| bits & question != 0)
    }

    #[inline]
    fn end(&self, end: EpId, question: u8) -> bool {
        debug_assert!(self.known, "observers have been asked");
        self.ends.get(end.0 as usize).is_some_and(|bits| bits & question != 0)
    }
}

macro_rules! probes {
    ({ $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $hooks:tt) => {
        /// The observers of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Probes {
            $($(#[$doc])* pub(crate) $field: Option<$ty>,)*
            /// The run goes on whatever there is to be heard.
            pub(crate) deaf: bool,
            /// What they answer the loop.
            pub(crate) answers: Answers,
        }
        impl Probes {
            /// Whether anything is watched at all.
            pub(crate) fn any(&self) -> bool {
                [$(self.$field.is_some()),*].contains(&true)
            }
            /// Asks all of them what the loop asks, unless their answers are known.
            pub(crate) fn ask<H: EventQueue>(&mut self, world: &World<BuiltIn, H>) {
                if !self.answers.known {
                    let (ports, ends) = (world.ports().len() as u32, 2 * world.flows().len() as u32);
                    let port = |i| 0 $(| self.$field.as_ref().map_or(0, |o| of_port(o, PortId(i))))*;
                    let end = |i| 0 $(| self.$field.as_ref().map_or(0, |o| of_end(o, EpId(i))))*;
                    self.answers = Answers { ports: (0..ports).map(port).collect(), ends: (0..ends).map(end).collect(), known: true };
                }
            }
            /// One of them has come or gone, or wants something else.
            pub(crate) fn changed(&mut self) {
                self.answers.known = false;
            }
        }
        impl Observer for Probes {
            #[inline]
            fn sees(&self, port: PortId) -> bool {
                self.answers.port(port, SEES)
            }
            #[inline]
            fn joins(&self, port: PortId) -> bool {
                self.answers.port(port, JOINS)
            }
            #[inline]
            fn crosses(&self, port: PortId) -> bool {
                self.answers.port(port, CROSSES)
            }
            #[inline]
            fn prompt(&self, port: PortId) -> bool {
                self.answers.port(port, PROMPT)
            }
            #[inline]
            fn frames(&self, port: PortId) -> bool {
                self.answers.port(port, FRAMES)
            }
            #[inline]
            fn measures(&self, port: PortId) -> bool {
                self.answers.port(port, MEASURES)
            }
            #[inline]
            fn before_hop(&self, port: PortId) -> Option<PortId> {
                if !self.answers.port(port, BEFORE) {
                    return None;
                }
                None$(.or_else(|| self.$field.as_ref().and_then(|p| p.before_hop(port))))*
            }
            #[inline]
            fn hears(&self, endpoint: EpId) -> bool {
                self.answers.end(endpoint, HEARS)
            }
            #[inline]
            fn looks(&self, endpoint: EpId) -> bool {
                self.answers.end(endpoint, LOOKS)
            }
            #[inline]
            fn weighs(&self, endpoint: EpId) -> bool {
                self.answers.end(endpoint, WEIGHS)
            }
            #[inline]
            fn measures_end(&self, endpoint: EpId) -> bool {
                self.answers.end(endpoint, MEASURES_END)
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
        why: LimitReport,
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
