//! Queues, applications and endpoints behind a pointer: algorithms that are not built in.

use fairlane_net::{App, Endpoint, Qdisc};

macro_rules! boxed {
    ($(#[$doc:meta])* $name:ident: $base:ident) => {
        $(#[$doc])*
        pub trait $name: $base + std::fmt::Debug {
            /// Clones the value, so that a world can be branched.
            fn boxed_clone(&self) -> Box<dyn $name>;
        }
        impl<T: $base + Clone + std::fmt::Debug + 'static> $name for T {
            fn boxed_clone(&self) -> Box<dyn $name> {
                Box::new(self.clone())
            }
        }
        impl Clone for Box<dyn $name> {
            fn clone(&self) -> Self {
                (**self).boxed_clone()
            }
        }
    };
}

boxed! {
    /// A queue discipline that is not built in.
    DynQdisc: Qdisc
}
boxed! {
    /// An application that is not built in.
    DynApp: App
}
boxed! {
    /// An endpoint that is not built in.
    DynEndpoint: Endpoint
}
