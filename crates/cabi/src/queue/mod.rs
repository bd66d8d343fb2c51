//! Queue disciplines in shared libraries.

mod call;
pub(crate) mod table;

pub(crate) use call::Library;
