//! Errors of TCP parameters.

/// An error in TCP parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// A value cannot be read.
    #[error("{0}")]
    Read(String),
    /// A value is out of range.
    #[error("{field}: {message}")]
    Range {
        /// The parameter.
        field: &'static str,
        /// The mistake, and what to write instead.
        message: String,
    },
}

impl ParamsError {
    /// The parameter at fault, if known.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Read(_) => None,
            Self::Range { field, .. } => Some(field),
        }
    }
}

pub(crate) fn range(field: &'static str, message: impl Into<String>) -> ParamsError {
    ParamsError::Range { field, message: message.into() }
}
