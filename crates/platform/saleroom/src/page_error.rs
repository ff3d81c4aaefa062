//! The error type of the handlers: an error of a use case, as the error page that a visitor sees.

use kit_design::error_page::ErrorPage;
use platform_core::PlatformError;

kit_design::page_error!(PlatformError, error_page);

fn error_page(error: PlatformError) -> ErrorPage {
    match error {
        PlatformError::NotFound(_) | PlatformError::Forbidden(_) => ErrorPage::not_found(),
        PlatformError::ListenersFull { .. } => {
            ErrorPage::full("Too many live pages are open", "Open the page again in some seconds.", 5)
        }
        PlatformError::Unavailable(_) => ErrorPage::unavailable(&error.full_message()),
        error => ErrorPage::failed(&error.full_message()),
    }
}
