//! Errors of use cases as a form shows them, and notices on the page that follows a form.

use http::StatusCode;
use kit_design::error_page::sentence;
use kit_design::fields::{FieldErrors, FormFields};
use provider_core::ProviderError;

use crate::page_error::PageError;

/// The errors of a form and the status of its page. An error that is about no field has the empty name. Errors that a form
/// can't mend are error pages.
pub(crate) fn form_errors(error: ProviderError) -> Result<(StatusCode, FieldErrors), PageError> {
    let mut errors = FieldErrors::default();
    let status = match error {
        ProviderError::Validation(faults) => {
            for fault in faults {
                // The first part is `body`; the second is the field.
                errors.add(fault.loc.get(1).map_or("", |field| field).to_owned(), fault.msg);
            }
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ProviderError::BadRequest { .. } => {
            errors.add("", sentence(&error.to_string()));
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ProviderError::Conflict { .. } => {
            errors.add("", sentence(&error.to_string()));
            StatusCode::CONFLICT
        }
        ProviderError::TooManyRequests { .. } => {
            errors.add("", sentence(&error.to_string()));
            StatusCode::TOO_MANY_REQUESTS
        }
        error => return Err(error.into()),
    };
    Ok((status, errors))
}

/// The notice that `?done=` names; none for an unknown name.
pub(crate) fn notice(query: &FormFields, notices: &[(&str, &'static str)]) -> Option<&'static str> {
    let done = query.text("done");
    notices.iter().find(|(name, _)| *name == done).map(|(_, notice)| *notice)
}
