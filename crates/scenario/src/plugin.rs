//! Plug-in queue disciplines, found by name like built-in ones, and faults of plug-in queues and congestion controls
//! ([`fairlane_tcp::register_cc`]) during a run.
//!
//! A process registers a plug-in once: [`register`] for parameters that implement [`Discipline`], [`register_queue`] for
//! anything else (the Python package). Every later scenario may name it. A resolved scenario keeps the plug-in that it
//! found; registering the name again does not change it.

use crate::dynamic::DynQdisc;
use crate::registry::{QueueSpec, StackSpec};
use crate::registry_entry::Listed;
use fairlane_net::{BuildContext, Chosen, PluginKind, Plugins, is_name};
use fairlane_queue::{Capabilities, Discipline, Problem};
use fairlane_units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Factory of queues from parameter tables.
pub trait QueuePlugin: Send + Sync {
    /// Checks the parameters for this queue.
    fn check(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Result<(), Problem>;
    /// Builds the queue from checked parameters.
    fn build(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Box<dyn DynQdisc>;
    /// Capabilities beyond those of a plain FIFO.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

static QUEUES: Plugins<dyn QueuePlugin> = Plugins::new();

/// Why a discipline cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is not valid in a scenario.
    #[error("`{0}` is not a name: use letters, digits, - and _")]
    Name(String),
    /// The name belongs to a built-in queue or stack.
    #[error("`{0}` is built in: choose another name")]
    Taken(String),
}

/// Registers the discipline with parameters `P` as `name`.
///
/// The queue is built, checked and documented like a built-in one, without presets; errors in `P` are reported with
/// line and column.
pub fn register<P>(name: &str) -> Result<(), RegisterError>
where
    P: Discipline + DeserializeOwned + JsonSchema + Default + 'static,
{
    let Listed { doc, schema, .. } = Listed::new::<P>("queue", "", &[]);
    register_queue(name, &doc, schema, Arc::new(Typed::<P>(PhantomData)))
}

/// Registers a discipline: name, one sentence, JSON Schema of its parameters (an object without references), factory.
/// An earlier registration of the same name is replaced.
pub fn register_queue(name: &str, doc: &str, schema: Value, plugin: Arc<dyn QueuePlugin>) -> Result<(), RegisterError> {
    valid(name, QueueSpec::NAMES)?;
    QUEUES.register(name, if doc.trim().is_empty() { "A plug-in queue without a description." } else { doc }, schema, plugin);
    Ok(())
}

/// Canonical name of a plug-in and the schema of its parameters; `what` is `queue`, `cc` or `stack`.
pub(crate) fn announced(what: &str, name: &str) -> Option<(&'static str, &'static Value)> {
    fn of<F: ?Sized>(all: &Plugins<F>, name: &str) -> Option<(&'static str, &'static Value)> {
        all.find(name).map(|p| (p.name, p.schema))
    }
    match what {
        "queue" => of(&QUEUES, name),
        "cc" => of(fairlane_tcp::cc_plugins(), name),
        "stack" => of(fairlane_stacks::stack_plugins(), name),
        _ => None,
    }
}

/// Names of all registered plug-ins of this kind.
pub(crate) fn names(what: &str) -> Vec<String> {
    plugins().into_iter().filter(|p| p.0 == what).map(|p| p.1).collect()
}

/// Every registered queue, congestion control and transport stack: kind, name, sentence, schema.
pub fn plugins() -> Vec<(&'static str, String, String, Value)> {
    fn of<F: ?Sized>(what: &'static str, all: &Plugins<F>) -> impl Iterator<Item = (&'static str, String, String, Value)> {
        all.all().into_iter().map(move |p| (what, p.name.to_owned(), p.doc.clone(), p.schema.clone()))
    }
    of("queue", &QUEUES).chain(of("cc", fairlane_tcp::cc_plugins())).chain(of("stack", fairlane_stacks::stack_plugins())).collect()
}

/// Registers a transport stack: name, one sentence, JSON Schema of its parameters (an object without references), factory.
/// An earlier registration of the same name is replaced.
///
/// # Errors
/// The name is invalid, or that of a built-in stack.
pub fn register_stack(name: &str, doc: &str, schema: Value, plugin: Arc<dyn fairlane_stacks::StackPlugin>) -> Result<(), RegisterError> {
    valid(name, StackSpec::NAMES)?;
    fairlane_stacks::register_stack(name, doc, schema, plugin);
    Ok(())
}

/// Checks the name of a plug-in against the built-in names and aliases of its kind.
fn valid(name: &str, built_in: &[(&str, &[&str])]) -> Result<(), RegisterError> {
    if !is_name(name) {
        return Err(RegisterError::Name(name.to_owned()));
    }
    let built_in = built_in.iter().flat_map(|(n, a)| std::iter::once(n).chain(a.iter()));
    if built_in.chain([&"plugin"]).any(|n| n.eq_ignore_ascii_case(name)) {
        return Err(RegisterError::Taken(name.to_owned()));
    }
    Ok(())
}

struct Typed<P>(PhantomData<fn() -> P>);

impl<P: Discipline + DeserializeOwned + Default> Typed<P> {
    fn read(params: &Map<String, Value>) -> Result<P, Problem> {
        serde_json::from_value(Value::Object(params.clone())).map_err(|e| Problem::new("", e.to_string()))
    }
}

impl<P: Discipline + DeserializeOwned + Default> QueuePlugin for Typed<P> {
    fn check(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Result<(), Problem> {
        Self::read(params)?.check(context)
    }
    fn build(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Box<dyn DynQdisc> {
        Box::new(Self::read(params).unwrap_or_default().build(context))
    }
    fn capabilities(&self) -> Capabilities {
        P::default().capabilities()
    }
}

/// Queues as a kind of plug-ins.
#[derive(Debug)]
pub(crate) struct Queues;

impl PluginKind for Queues {
    type Factory = dyn QueuePlugin;
    const SCHEMA: &'static str = "PluginParams";
    const NOUN: &'static str = "queue";
    const DOC: &'static str = "A queue of a plug-in.";
    fn registry() -> &'static Plugins<dyn QueuePlugin> {
        &QUEUES
    }
}

/// Parameters of a plug-in queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PluginParams(Chosen<Queues>);

impl JsonSchema for PluginParams {
    fn schema_name() -> Cow<'static, str> {
        Chosen::<Queues>::schema_name()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        Chosen::<Queues>::json_schema(g)
    }
}

impl PluginParams {
    /// Name of the plug-in.
    pub fn name(&self) -> &str {
        self.0.name()
    }
    /// Builds the queue; none if no plug-in of this name is loaded, which the check refuses.
    pub(crate) fn build_boxed(&self, context: &BuildContext<'_>) -> Option<Box<dyn DynQdisc>> {
        self.0.plugin().map(|p| p.factory.build(self.0.params(), context))
    }
    pub(crate) fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        self.0.loaded()?.factory.check(self.0.params(), context).map_err(|p| p.within("params"))
    }
    pub(crate) fn capabilities(&self) -> Capabilities {
        self.0.plugin().map_or_else(Capabilities::default, |p| p.factory.capabilities())
    }
}

/// Value of [`Fault::what`] for a transport stack.
pub(crate) const STACK: &str = "transport stack";

/// A failure inside a plug-in or a transport stack during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of plug-in: `queue` or `congestion control`; `transport stack` for what is built in.
    pub what: &'static str,
    /// The simulated time of the call.
    pub time: Time,
    /// Message of the plug-in, with its traceback if it has one.
    pub message: String,
    /// True if it was interrupted (Ctrl-C) and is not faulty.
    pub interrupted: bool,
}

impl Fault {
    /// Noun for what failed.
    pub(crate) fn kind(&self) -> String {
        if self.what == STACK { STACK.to_owned() } else { format!("plug-in {}", self.what) }
    }
}

thread_local! {
    /// A run stays on one thread; its plug-ins may lie deep inside other queues.
    static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// Wrapper around the work of a thread that executes runs.
type Around = fn(&mut (dyn FnMut() + Send));

static AROUND: OnceLock<Around> = OnceLock::new();

/// Wraps the work of every run thread in `f`: for plug-in languages with a state per thread, which each call would otherwise
/// create and destroy. The first wrapper counts.
pub fn around_runs(f: Around) {
    let _ = AROUND.set(f);
}

/// Executes the work of a run thread inside the wrapper.
pub(crate) fn on_thread(mut work: impl FnMut() + Send) {
    match AROUND.get() {
        Some(around) => around(&mut work),
        None => work(),
    }
}

/// Ends the run of this thread after a failure of a plug-in. The first fault counts.
pub fn fail(fault: Fault) {
    FAULT.with_borrow_mut(|f| {
        f.get_or_insert(fault);
    });
}

/// Takes the fault of this thread, if any, for callers that drive endpoints without a run.
pub fn take_fault() -> Option<Fault> {
    FAULT.take()
}
