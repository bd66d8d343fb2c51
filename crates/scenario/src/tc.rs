//! Queues in the notation of tc, such as `queue = "tc: cake bandwidth 20mbit"`.
//!
//! The table of tc's words is in the Python package, which writes and reads them; it registers its reader here, so that a file, an
//! option, a study and a change during a run all read such a text at the place where a queue is read.

use std::sync::OnceLock;

/// Start of a queue in the notation of tc.
pub(crate) const PREFIX: &str = "tc:";

/// A queue that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct TcRead {
    /// The queue as in a scenario.
    pub queue: serde_json::Value,
    /// Words that are not modelled, and differences.
    pub notes: Vec<String>,
}

/// Why a text is not a queue in the notation of tc.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TcNotRead {
    /// The word that is wrong; empty for the whole text.
    pub word: String,
    /// Error message.
    pub message: String,
    /// Suggested correction.
    pub help: String,
}

type Reader = fn(&str) -> Result<TcRead, TcNotRead>;

static READER: OnceLock<Reader> = OnceLock::new();

/// Registers the reader of the process; the first one stays.
pub fn read_tc_with(reader: Reader) {
    READER.get_or_init(|| reader);
}

/// Reads the text after the prefix.
pub(crate) fn read(line: &str) -> Result<TcRead, TcNotRead> {
    let none = || TcNotRead {
        message: "queues in the notation of tc need the Python package".to_owned(),
        help: "write the queue as a table".to_owned(),
        ..TcNotRead::default()
    };
    READER.get().ok_or_else(none).and_then(|reader| reader(line))
}
