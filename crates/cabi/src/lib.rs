//! Congestion controls, queues and transport stacks in shared libraries, through the C interfaces `fairlane_cc.h`, `fairlane_queue.h` and
//! `fairlane_stack.h` of `python/fairlane/own/include`.
//!
//! Loading a library runs its code, and calling it relies on its functions to follow the header: no compiler can check this. All
//! `unsafe` code for plug-ins is in this crate: opening the library and reading its tables (`table`, `queue::table`), calling them (`cc`, `queue::call`, `stack`), the
//! memory of their states (`memory`), and naming the plug-in in which a process crashes (`running`).
#![allow(unsafe_code, reason = "foreign code is called through pointers; no safe way exists")]

mod cc;
mod elf;
mod memory;
mod queue;
mod running;
mod stack;
mod table;

pub use running::{Code, Running, running, watch};
pub use table::LoadError;

use std::path::Path;
use std::sync::Arc;

const CC: &str = "fairlane_cc_get";
const QUEUE: &str = "fairlane_queue_get";
const STACK: &str = "fairlane_stack_get";

/// Contents requested of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Congestion controls, at least one.
    Cc,
    /// Queues, at least one.
    Queues,
    /// Transport stacks, at least one.
    Stacks,
    /// Congestion controls, queues or transport stacks, at least one.
    Any,
}

/// Loads a shared library and registers the requested contents; returns their names: of queues, congestion controls, stacks.
///
/// # Errors
/// The file is not such a library, or one of its tables is invalid; then nothing is registered.
pub fn load(path: &Path, wanted: Wanted) -> Result<Vec<String>, LoadError> {
    let shown = path.display().to_string();
    if !path.is_file() {
        return Err(LoadError::Missing(shown));
    }
    // A name without a folder would be searched in the system's library folders.
    let full = path.canonicalize().map_err(|e| LoadError::Open(shown.clone(), e.to_string()))?;
    if let Some(why) = elf::missing(&full) {
        return Err(LoadError::Open(shown, why));
    }
    watch();
    let _loading = running(Code::named(&format!("the plug-in {shown}, while it is loaded")));
    let lib = table::open(&full, &shown)?;
    let takes = |kind| wanted == kind || wanted == Wanted::Any;
    let queues = if takes(Wanted::Queues) { table::tables(lib, &shown, QUEUE, "queue", queue::table::read)? } else { None };
    let ccs = if takes(Wanted::Cc) { table::tables(lib, &shown, CC, "congestion control", table::read)? } else { None };
    let stacks = if takes(Wanted::Stacks) { table::tables(lib, &shown, STACK, "transport stack", stack::read)? } else { None };
    if queues.is_none() && ccs.is_none() && stacks.is_none() {
        let symbols = match wanted {
            Wanted::Cc => "fairlane_cc_get: see fairlane_cc.h",
            Wanted::Queues => "fairlane_queue_get: see fairlane_queue.h",
            Wanted::Stacks => "fairlane_stack_get: see fairlane_stack.h",
            Wanted::Any => {
                "fairlane_queue_get, fairlane_cc_get or fairlane_stack_get: see fairlane_queue.h, fairlane_cc.h and fairlane_stack.h"
            }
        };
        return Err(LoadError::Symbol(shown, symbols));
    }
    let mut names = Vec::new();
    let wrong = |m: String| LoadError::Table(shown.clone(), m);
    for q in queues.into_iter().flatten() {
        let (name, doc, schema) = (q.name.clone(), q.doc.clone(), q.schema());
        fairlane_scenario::register_queue(&name, &doc, schema, Arc::new(queue::Library::new(q, &shown)))
            .map_err(|e| wrong(e.to_string()))?;
        names.push(name);
    }
    for a in ccs.into_iter().flatten() {
        let (name, doc, schema) = (a.name.clone(), a.doc.clone(), a.schema());
        fairlane_tcp::cc::register_cc_plugin(&name, &doc, schema, Arc::new(cc::Library::new(a, &shown)))
            .map_err(|e| wrong(e.to_string()))?;
        names.push(name);
    }
    for s in stacks.into_iter().flatten() {
        let (name, doc, schema) = (s.name.clone(), s.doc.clone(), s.schema());
        fairlane_scenario::register_stack(&name, &doc, schema, Arc::new(stack::Library::new(s, &shown)))
            .map_err(|e| wrong(e.to_string()))?;
        names.push(name);
    }
    Ok(names)
}
