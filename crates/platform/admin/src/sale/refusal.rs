//! Refusals of the platform as errors beside the fields of a form.

use kit_design::error_page::sentence;
use kit_design::fields::FieldErrors;
use platform_core::{PlatformError, Problem};
use platform_rules::Rejection;

use crate::page_error::PageError;

/// Adds a refusal to the errors of a form, which the page shows again with what was typed. An error that the user can't
/// mend in the form is returned.
pub(crate) fn add_to(errors: &mut FieldErrors, error: PlatformError) -> Result<(), PageError> {
    match error {
        PlatformError::Invalid(problems) => add_problems(errors, problems),
        PlatformError::Rejected(Rejection::FieldInvalid { field, problem }) => errors.add(field, sentence(problem)),
        PlatformError::Rejected(Rejection::ReasonRequired) => errors.add("reason", "Give a reason."),
        PlatformError::Taken(field) => {
            errors.add(field_of(field), "Is taken already: choose another.");
        }
        PlatformError::PreconditionFailed { .. } => {
            errors.add("", "Someone else changed it since you opened this page. Check the values and save again.");
        }
        PlatformError::Rejected(_)
        | PlatformError::OtherCurrency { .. }
        | PlatformError::Busy
        | PlatformError::UploadsFull { .. } => {
            errors.add("", sentence(&error.to_string()));
        }
        other => return Err(other.into()),
    }
    Ok(())
}

/// Adds the problems that the checks of a use case found in fields that the page could read.
pub(crate) fn add_problems(errors: &mut FieldErrors, problems: Vec<Problem>) {
    let found = problems.into_iter();
    errors.add_found(found.map(|problem| (field_of(&problem.pointer).to_owned(), sentence(&problem.message))));
}

/// The refusal in one line.
pub(crate) fn text(error: PlatformError) -> Result<String, PageError> {
    let mut errors = FieldErrors::default();
    add_to(&mut errors, error)?;
    Ok(errors.remaining(&[]).join(" "))
}

/// The name of the form's field for a JSON pointer or a field of the platform.
fn field_of(pointer: &str) -> &str {
    match pointer.trim_start_matches("/patch").trim_start_matches('/') {
        "charges/premiumBasisPoints" => "premium",
        "charges/hammerTaxBasisPoints" => "hammerTax",
        "charges/premiumTaxBasisPoints" => "premiumTax",
        "stagger/seconds" => "staggerSeconds",
        "stagger/items" => "staggerItems",
        "address/addressLine1" => "line1",
        "address/addressLine2" => "line2",
        "address/city" => "city",
        "address/county" => "county",
        "address/postcode" => "postcode",
        "address/countryCode" => "country",
        "lot number" | "lot_number" => "lotNumber",
        other => other,
    }
}
