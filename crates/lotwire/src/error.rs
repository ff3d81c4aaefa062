//! What ends a command: a sentence for the person at the terminal that says what went wrong and what to do.

use std::fmt::{self, Display};

/// Why a command could not do its work.
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

/// Says what was being done when an error happened.
pub(crate) trait ErrorContext<T> {
    fn context(self, doing: impl Display) -> Result<T, CommandError>;
}

impl<T, E: Display> ErrorContext<T> for Result<T, E> {
    fn context(self, doing: impl Display) -> Result<T, CommandError> {
        self.map_err(|error| CommandError(format!("{doing}: {error}")))
    }
}

impl From<consumer::ApiError> for CommandError {
    fn from(error: consumer::ApiError) -> Self {
        CommandError(error.to_string())
    }
}
