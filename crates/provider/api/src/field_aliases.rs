//! Fields with two names, the older of which clients before version 1 know: both are taken, and must not say different things.
//! What is wrong with a field is told under the name that the caller used.

use provider_core::{PatchField, ProviderError};

use crate::errors::ApiError;

/// The names of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldAlias {
    newer: &'static str,
    older: &'static str,
}

/// Messages a second.
pub(crate) const THROTTLE_RATE: FieldAlias = FieldAlias { newer: "throttleRate", older: "rateLimit" };
/// An endpoint's event types.
pub(crate) const EVENT_TYPES: FieldAlias = FieldAlias { newer: "eventTypes", older: "filterTypes" };

impl FieldAlias {
    /// What is given by either name; 422 when it is given by both, and differs.
    pub(crate) fn one_of<T: PartialEq>(self, newer: Option<T>, older: Option<T>) -> Result<Option<T>, ApiError> {
        match (newer, older) {
            (Some(newer), Some(older)) if newer != older => Err(self.contradict()),
            (newer, older) => Ok(newer.or(older)),
        }
    }

    /// The same of a field that may be left as it is.
    pub(crate) fn one_change_of<T: PartialEq>(
        self,
        newer: PatchField<T>,
        older: PatchField<T>,
    ) -> Result<PatchField<T>, ApiError> {
        match (newer, older) {
            (PatchField::Keep, other) | (other, PatchField::Keep) => Ok(other),
            (newer, older) if newer == older => Ok(newer),
            _ => Err(self.contradict()),
        }
    }

    fn contradict(self) -> ApiError {
        let Self { newer, older } = self;
        ApiError::at(
            ["body", older],
            format!("is the older name of {newer}, which says something else: give only one of them"),
        )
    }
}

/// Which name of its event types the caller of an endpoint used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedName {
    Newer,
    Older,
}

impl UsedName {
    /// The newer when it is there.
    pub(crate) fn of(newer_is_there: bool, older_is_there: bool) -> Self {
        if older_is_there && !newer_is_there { Self::Older } else { Self::Newer }
    }

    /// The error in the caller's words.
    pub(crate) fn rename_in(self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Validation(mut faults) if self == Self::Older => {
                let words = faults.iter_mut().flat_map(|fault| &mut fault.loc);
                let words = words.filter(|word| *word == EVENT_TYPES.newer);
                words.for_each(|word| *word = EVENT_TYPES.older.into());
                ProviderError::Validation(faults)
            }
            error => error,
        }
    }
}
