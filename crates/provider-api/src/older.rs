//! A field with two names: what is wrong with it is told under the one that the caller used.

use provider::ProviderError;

use crate::errors::ApiError;

/// The name of an endpoint's event types.
const NEWER: &str = "eventTypes";
/// What clients before version 1 call them.
const OLDER: &str = "filterTypes";

/// Which of both names the caller used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Newer,
    Older,
}

impl Named {
    /// 422 when both are there.
    pub(crate) fn of(newer_is_there: bool, older_is_there: bool) -> Result<Self, ApiError> {
        match (newer_is_there, older_is_there) {
            (true, true) => {
                Err(ApiError::at(["body", OLDER], format!("is the older name of {NEWER}: give only one of them")))
            }
            (false, true) => Ok(Self::Older),
            (_, false) => Ok(Self::Newer),
        }
    }

    /// The error in the caller's words.
    pub(crate) fn told(self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Validation(mut faults) if self == Self::Older => {
                let words = faults.iter_mut().flat_map(|fault| &mut fault.loc);
                words.filter(|word| *word == NEWER).for_each(|word| *word = OLDER.into());
                ProviderError::Validation(faults)
            }
            error => error,
        }
    }
}
