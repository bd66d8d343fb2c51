//! Quantities with their unit in the type: time, span, rate, sizes.
//!
//! Integer picoseconds and integer bytes keep every run exact: serialisation times of
//! 1, 10, 25, 100 and 400 Gbit/s are whole picoseconds a byte, and 64 bits last 213 days.

mod data;
mod display;
mod params;
mod parse;
mod quantity;
mod schema;

pub use data::{DataFile, INLINE};
pub use parse::{ParseError, parse_bytes, parse_dur, parse_len, parse_rate};
pub use quantity::{Bytes, Dur, Len, PS_PER_SEC, Rate, Time};
pub use schema::format_of;
/// A name of a node, a link or a flow: of large networks there are millions, so up to 23 bytes lie in place, and copies of longer ones share them.
pub use smol_str::{SmolStr as Name, SmolStrBuilder as NameBuilder, format_smolstr as name};
