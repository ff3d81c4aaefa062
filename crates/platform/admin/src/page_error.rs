//! The error type of the handlers: an error of a use case, as the error page that the user sees.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use platform_core::PlatformError;
use platform_core::users::{Refusal, UserRefusal};

/// Why a handler can't show its page. `?` converts a [`PlatformError`] and an [`ErrorPage`] into it.
#[derive(Debug)]
pub(crate) struct PageError(ErrorPage);

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl From<ErrorPage> for PageError {
    fn from(page: ErrorPage) -> Self {
        Self(page)
    }
}

impl From<PlatformError> for PageError {
    fn from(error: PlatformError) -> Self {
        Self(error_page(error))
    }
}

fn error_page(error: PlatformError) -> ErrorPage {
    let text = sentence(&error.to_string());
    let conflict = |text: String| ErrorPage::new(StatusCode::CONFLICT, "The change was not made", text);
    match error {
        PlatformError::Unauthenticated => {
            let detail = "Your session has ended. Sign in again.";
            ErrorPage::new(StatusCode::UNAUTHORIZED, "You are not signed in", detail)
                .with_next_link("Sign in", "/sign-in")
        }
        PlatformError::Forbidden(_) | PlatformError::User(UserRefusal::ClerkNotAssigned) => ErrorPage::forbidden(text),
        PlatformError::NotFound(_) => ErrorPage::not_found(),
        PlatformError::Identity(Refusal::TooManyAttempts { retry_after, .. }) => {
            ErrorPage::new(StatusCode::TOO_MANY_REQUESTS, "Too many attempts", text)
                .with_retry_after(retry_after.as_secs())
        }
        PlatformError::PreconditionFailed { .. } => conflict(
            "Someone else changed it since you opened the page. Open the page again and repeat the change.".into(),
        ),
        PlatformError::Rejected(_)
        | PlatformError::Identity(_)
        | PlatformError::User(_)
        | PlatformError::Taken(_)
        | PlatformError::Busy
        | PlatformError::ApiKeyRequired
        | PlatformError::NotConnected
        | PlatformError::LaterPublished(_) => conflict(text),
        PlatformError::Invalid(problems) => {
            let problems = problems.iter().map(|problem| match problem.pointer.trim_start_matches('/') {
                "" => problem.message.clone(),
                field => format!("{field} {}", problem.message),
            });
            ErrorPage::bad_request(sentence(&problems.collect::<Vec<_>>().join("; ")))
        }
        PlatformError::IdempotencyMismatch
        | PlatformError::CursorBeyondEnd(_)
        | PlatformError::OtherCurrency { .. } => ErrorPage::bad_request(text),
        PlatformError::Provider { .. } => {
            ErrorPage::new(StatusCode::BAD_GATEWAY, "The delivery provider did not do it", text)
        }
        PlatformError::ListenersFull { .. } => {
            ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, "Too many live pages are open", text).with_retry_after(5)
        }
        PlatformError::UploadsFull { .. } => {
            ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, "Too many uploaded files", text).with_retry_after(60)
        }
        // The cause of an internal error goes to the log, not to the page.
        PlatformError::Unavailable(_) => {
            tracing::error!(error = error.full_message(), "a page could not be shown: the database can't be reached");
            let detail = "The server can't reach its database at the moment. Try again in a few seconds.";
            ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", detail).with_retry_after(1)
        }
        PlatformError::Internal(_) => {
            tracing::error!(error = error.full_message(), "a page could not be shown: internal error");
            ErrorPage::internal()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_page_hides_the_cause_of_an_internal_error() {
        let page = error_page(PlatformError::Internal("hidden".into()));
        assert!(!format!("{page:?}").contains("hidden"), "{page:?}");
        assert!(page.into_response().status().is_server_error());
    }

    #[test]
    fn a_refusal_of_the_input_names_the_field() {
        let page = error_page(PlatformError::invalid("/name", "is empty"));
        assert!(format!("{page:?}").contains("Name is empty."), "{page:?}");
    }
}
