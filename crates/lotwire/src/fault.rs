//! What ends a command: a sentence for the person at the terminal that says what went wrong and what to do.

use std::fmt::{self, Display};

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Fault(text.into())
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was being done when an error happened.
pub(crate) trait While<T> {
    fn while_(self, doing: impl Display) -> Result<T, Fault>;
}

impl<T, E: Display> While<T> for Result<T, E> {
    fn while_(self, doing: impl Display) -> Result<T, Fault> {
        self.map_err(|error| Fault(format!("{doing}: {error}")))
    }
}

impl From<consumer::ApiError> for Fault {
    fn from(error: consumer::ApiError) -> Self {
        Fault(error.to_string())
    }
}
