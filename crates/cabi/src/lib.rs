//! Congestion controls in shared libraries, through the C interface of `python/fairlane/own/include/fairlane_cc.h`.
//!
//! Loading a library runs its code, and calling it trusts that its functions keep to the header: none of this can be checked by a compiler. All
//! `unsafe` code of it is in this crate, in three places: opening the library and reading its tables (`table`), and calling them (`state`).
#![allow(unsafe_code, reason = "foreign code is called through pointers; no safe way exists")]

mod elf;
mod state;
mod table;

pub use state::Library;
pub use table::LoadError;

use std::path::Path;
use std::sync::Arc;

/// Loads a shared library and announces every congestion control in it. Their names.
///
/// # Errors
/// The file is no such library, or one of its tables cannot be used; then none is announced.
pub fn load(path: &Path) -> Result<Vec<String>, LoadError> {
    let shown = path.display().to_string();
    if !path.is_file() {
        return Err(LoadError::Missing(shown));
    }
    // Without a folder in it, a name would be looked for where the system has its libraries.
    let full = path.canonicalize().map_err(|e| LoadError::Open(shown.clone(), e.to_string()))?;
    if let Some(why) = elf::missing(&full) {
        return Err(LoadError::Open(shown, why));
    }
    let algorithms = table::open(&full, &shown)?;
    let mut names = Vec::new();
    for a in algorithms {
        let (name, doc, schema) = (a.name.clone(), a.doc.clone(), a.schema());
        fairlane_tcp::cc::register_cc_plugin(&name, &doc, schema, Arc::new(Library::new(a)))
            .map_err(|e| LoadError::Table(shown.clone(), e.to_string()))?;
        names.push(name);
    }
    Ok(names)
}
