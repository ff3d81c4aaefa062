//! The error type of the handlers: an error of a use case, as the error page that the user sees.

use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use platform_core::PlatformError;
use platform_core::users::{Refusal, UserRefusal};

kit_design::page_error!(PlatformError, error_page);

fn error_page(error: PlatformError) -> ErrorPage {
    let text = sentence(&error.to_string());
    match error {
        PlatformError::Unauthenticated => {
            ErrorPage::not_signed_in("Your session has ended. Sign in again.").with_next_link("Sign in", "/sign-in")
        }
        PlatformError::Forbidden(_) | PlatformError::User(UserRefusal::ClerkNotAssigned) => ErrorPage::forbidden(text),
        PlatformError::NotFound(_) => ErrorPage::not_found(),
        PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
            ErrorPage::too_many("Too many attempts", text, retry_after)
        }
        PlatformError::PreconditionFailed { .. } => ErrorPage::conflict(
            "Someone else changed it since you opened the page. Open the page again and repeat the change.",
        ),
        PlatformError::Rejected(_)
        | PlatformError::Identity(_)
        | PlatformError::User(_)
        | PlatformError::Saleroom(_)
        | PlatformError::Taken(_)
        | PlatformError::Busy
        | PlatformError::ApiKeyRequired
        | PlatformError::NotConnected
        | PlatformError::LaterPublished(_) => ErrorPage::conflict(text),
        PlatformError::Invalid(problems) => ErrorPage::invalid(
            problems.iter().map(|problem| (problem.pointer.trim_start_matches('/'), problem.message.as_str())),
        ),
        PlatformError::IdempotencyMismatch
        | PlatformError::CursorBeyondEnd(_)
        | PlatformError::OtherCurrency { .. } => ErrorPage::bad_request(text),
        PlatformError::Provider { .. } => {
            ErrorPage::new(StatusCode::BAD_GATEWAY, "The delivery provider did not do it", text)
        }
        PlatformError::ListenersFull { .. } => ErrorPage::full("Too many live pages are open", text, 5),
        PlatformError::UploadsFull { .. } => ErrorPage::full("Too many uploaded files", text, 60),
        PlatformError::DiskFull => ErrorPage::full("The disk of the server is nearly full", text, 10),
        PlatformError::Unavailable(_) => ErrorPage::unavailable(&error.full_message()),
        PlatformError::Internal(_) => ErrorPage::failed(&error.full_message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_page_hides_the_cause_of_an_internal_error() {
        let page = error_page(PlatformError::Internal("hidden".into()));
        assert!(!format!("{page:?}").contains("hidden"), "{page:?}");
    }
}
