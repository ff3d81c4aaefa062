//! The error type of the handlers: an error of a use case, as the error page that a visitor sees.

use kit_design::error_page::{ErrorPage, sentence};
use platform_core::PlatformError;
use platform_core::users::Refusal;

kit_design::page_error!(PlatformError, error_page);

fn error_page(error: PlatformError) -> ErrorPage {
    match error {
        PlatformError::NotFound(_) | PlatformError::Forbidden(_) => ErrorPage::not_found(),
        PlatformError::ListenersFull { .. } => {
            ErrorPage::full("Too many live pages are open", "Open the page again in some seconds.", 5)
        }
        PlatformError::Unavailable(_) => ErrorPage::unavailable(&error.full_message()),
        PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
            ErrorPage::too_many("Too many attempts", "Wait a little before you try again.", retry_after)
        }
        PlatformError::Saleroom(_) | PlatformError::Rejected(_) | PlatformError::Taken(_) | PlatformError::Busy => {
            ErrorPage::conflict(sentence(&error.to_string()))
        }
        error => ErrorPage::failed(&error.full_message()),
    }
}
