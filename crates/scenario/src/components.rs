//! The component types of a simulation.

use crate::endpoint::AnyEndpoint;
use crate::registry::{AnyApp, AnyControl, AnyQdisc};
use fairlane_net::Components;

/// Component types of a world built from a scenario.
#[derive(Clone, Debug)]
pub enum BuiltIn {}

impl Components for BuiltIn {
    type Qdisc = AnyQdisc;
    type Endpoint = AnyEndpoint;
    type App = AnyApp;
    type Control = AnyControl;
}
