//! What watches a run: every observer that was asked for, as one. The loop is compiled once for all of them.

use fairlane_net::{DequeueEvent, DropEvent, EnqueueEvent, HopEvent, Observer, ReceiveEvent, SendEvent};
use fairlane_trace::HopDelay;

macro_rules! probes {
    ({ $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $hooks:tt) => {
        /// The observers of a run.
        #[derive(Debug, Default)]
        pub(crate) struct Probes {
            $($(#[$doc])* pub(crate) $field: Option<$ty>),*
        }
        impl Probes {
            /// Whether anything is watched at all.
            pub(crate) fn any(&self) -> bool {
                [$(self.$field.is_some()),*].contains(&true)
            }
        }
        impl Observer for Probes {
            probes!(@each $hooks [$($field)*]);
        }
    };
    (@each { $($hook:ident: $event:ty),* $(,)? } $fields:tt) => {
        $(probes!(@one $hook $event, $fields);)*
    };
    (@one $hook:ident $event:ty, [$($field:ident)*]) => {
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
    }
    {
        on_send: SendEvent,
        on_enqueue: EnqueueEvent,
        on_dequeue: DequeueEvent,
        on_drop: DropEvent,
        on_hop: HopEvent,
        on_receive: ReceiveEvent,
    }
}
