//! Queue disciplines: a law decides which packets to drop or mark, a scheduler stores them.
//!
//! One file in `law/` is one law (an active queue management algorithm, or none), one file in `sched/` one
//! scheduler. [`Fifo`] holds the packets of one law; schedulers with many queues hold one `Fifo` for each.

mod law;
mod limit;
mod preset;
mod sched;

pub use law::droptail::{DropTail, DropTailParams};
pub use law::red::{Measure, Red, RedParams, RedSetting};
pub use law::{Law, LawCx, Verdict, Victim};
pub use limit::{Admit, Limit};
pub use preset::{PRESETS, Preset, preset};
pub use sched::fifo::Fifo;

/// A parameter that makes no sense beside the others or on this link: its name, and what is wrong.
pub type Problem = (&'static str, String);
