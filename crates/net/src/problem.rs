//! What a check of parameters finds.

/// A parameter that makes no sense beside the others, on this link, over this transport or in this network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The parameter, with a path into inner tables: `max`, `classes.0.match`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl Problem {
    /// A problem with `field`.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
    /// The same, found in an inner table at `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}
