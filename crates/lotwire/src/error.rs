//! The error that ends a command: text for the operator that says what is wrong and what to do.

use std::fmt::{self, Display};

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CommandError(String);

impl CommandError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        CommandError(text.into())
    }
}

impl Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds to an error what the command was doing.
pub(crate) trait ErrorContext<T> {
    /// Prefixes the error with `doing`, such as `opening platform.db`.
    fn context(self, doing: impl Display) -> Result<T, CommandError>;
}

impl<T, E: Display> ErrorContext<T> for Result<T, E> {
    /// Prefixes the error with `doing`, such as `opening platform.db`.
    fn context(self, doing: impl Display) -> Result<T, CommandError> {
        self.map_err(|error| CommandError(format!("{doing}: {error}")))
    }
}

impl From<consumer::ApiError> for CommandError {
    fn from(error: consumer::ApiError) -> Self {
        CommandError(error.to_string())
    }
}
