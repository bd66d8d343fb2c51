//! Stacks that are not built in, found by name like built-in ones.

use crate::implementation::Implementation;
use crate::stack::{Seat, Stack};
use fairlane_net::{Chosen, PluginKind, Plugins, Problem};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Factory of the ends of a flow from parameter tables.
pub trait StackPlugin: Send + Sync {
    /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768).
    fn header(&self) -> u64 {
        28
    }
    /// Checks the parameters.
    ///
    /// # Errors
    /// The mistake, and what to write instead.
    fn check(&self, params: &Map<String, Value>) -> Result<(), String> {
        let _ = params;
        Ok(())
    }
    /// Builds the stack of one end from checked parameters.
    ///
    /// # Errors
    /// Why it cannot be built, which ends the run.
    fn build(&self, params: &Map<String, Value>, seat: &Seat) -> Result<Box<dyn Stack>, String>;
}

static STACKS: Plugins<dyn StackPlugin> = Plugins::new();

/// Registers a stack: name, one sentence, JSON Schema of its parameters (an object without references), factory. An earlier registration of the name is
/// replaced.
pub fn register_stack(name: &str, doc: &str, schema: Value, plugin: Arc<dyn StackPlugin>) {
    STACKS.register(name, if doc.trim().is_empty() { "A transport stack without a description." } else { doc }, schema, plugin);
}

/// Registered stacks.
pub fn stack_plugins() -> &'static Plugins<dyn StackPlugin> {
    &STACKS
}

/// Stacks as a kind of plug-ins.
pub struct Stacks;

impl PluginKind for Stacks {
    type Factory = dyn StackPlugin;
    const SCHEMA: &'static str = "PluginStack";
    const NOUN: &'static str = "stack";
    const DOC: &'static str = "A transport stack of a plug-in.";
    fn registry() -> &'static Plugins<dyn StackPlugin> {
        &STACKS
    }
}

/// Parameters of a stack that is not built in.
pub type PluginStack = Chosen<Stacks>;

impl Implementation for PluginStack {
    const VERSION: &'static str = "";
    const BUILT: bool = true;
    const LOGS: bool = false;
    fn header(&self) -> u64 {
        self.plugin().map_or(0, |p| p.factory.header())
    }
    fn check(&self) -> Result<(), Problem> {
        self.loaded()?.factory.check(self.params()).map_err(|m| Problem::new("params", m))
    }
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String> {
        self.plugin().map(|p| p.factory.build(self.params(), seat)).transpose()
    }
}
