//! Fields with two names. Clients before version 1 use the older one. The API accepts both, refuses contradictory
//! values, and reports errors under the name that the caller used.

use provider_core::{PatchField, ProviderError};

use crate::errors::ApiError;

/// The two names of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldAlias {
    newer: &'static str,
    older: &'static str,
}

/// The throttle rate, in messages per second.
pub(crate) const THROTTLE_RATE: FieldAlias = FieldAlias { newer: "throttleRate", older: "rateLimit" };
/// The event types that an endpoint receives.
pub(crate) const EVENT_TYPES: FieldAlias = FieldAlias { newer: "eventTypes", older: "filterTypes" };

impl FieldAlias {
    /// The value under either name; 422 if both are present and differ.
    pub(crate) fn one_of<T: PartialEq>(self, newer: Option<T>, older: Option<T>) -> Result<Option<T>, ApiError> {
        match (newer, older) {
            (Some(newer), Some(older)) if newer != older => Err(self.contradict()),
            (newer, older) => Ok(newer.or(older)),
        }
    }

    /// The change under either name; 422 if both are present and differ.
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
            format!("is the former name of {newer}, which has another value; send only one of them"),
        )
    }
}

/// The name under which the caller sent the event types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsedName {
    Newer,
    Older,
}

impl UsedName {
    /// The newer name, unless the request contains the older one only.
    pub(crate) fn of(has_newer: bool, has_older: bool) -> Self {
        if has_older && !has_newer { Self::Older } else { Self::Newer }
    }

    /// The error with the field name that the caller used.
    pub(crate) fn rename_in(self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Validation(mut errors) if self == Self::Older => {
                let names = errors.iter_mut().flat_map(|error| &mut error.loc);
                let names = names.filter(|name| *name == EVENT_TYPES.newer);
                names.for_each(|name| *name = EVENT_TYPES.older.into());
                ProviderError::Validation(errors)
            }
            error => error,
        }
    }
}
