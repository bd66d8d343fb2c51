//! Problem found by a check of parameters.

/// An invalid parameter: it contradicts other parameters, the link, the transport or the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Parameter, with a path into inner tables: `max`, `classes.0.match`.
    pub field: String,
    /// Message that explains the problem.
    pub message: String,
}

impl Problem {
    /// Creates a problem with `field`.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
    /// Prefixes the field with the table `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}
