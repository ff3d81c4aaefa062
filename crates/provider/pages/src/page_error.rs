//! The error type of the handlers: an error of a use case, as the error page that the visitor sees.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use provider_core::ProviderError;

/// Why a handler can't show its page. `?` converts a [`ProviderError`] and an [`ErrorPage`] into it.
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

impl From<ProviderError> for PageError {
    fn from(error: ProviderError) -> Self {
        Self(error_page(error))
    }
}

fn error_page(error: ProviderError) -> ErrorPage {
    let text = sentence(&error.to_string());
    match error {
        ProviderError::Unauthenticated => ErrorPage::new(StatusCode::UNAUTHORIZED, "You are not signed in", text),
        ProviderError::Forbidden(_) => ErrorPage::forbidden(text),
        ProviderError::NotFound => {
            let detail = "It may have been deleted, or the address may be incomplete. Messages are kept for 90 days.";
            ErrorPage::new(StatusCode::NOT_FOUND, "Page not found", detail)
        }
        ProviderError::TooManyRequests { retry_after, .. } => {
            ErrorPage::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", text)
                .with_retry_after(retry_after.as_secs())
        }
        ProviderError::Conflict { .. } => {
            ErrorPage::new(StatusCode::CONFLICT, "The request conflicts with a change", text)
        }
        ProviderError::TooLarge => ErrorPage::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large", text),
        ProviderError::Validation(errors) => {
            let errors = errors.iter().map(|error| format!("{}: {}", error.loc.join(", "), error.msg));
            ErrorPage::bad_request(sentence(&errors.collect::<Vec<_>>().join("; ")))
        }
        ProviderError::BadRequest { .. } | ProviderError::IdempotencyMismatch => ErrorPage::bad_request(text),
        // The cause of an internal error goes to the log, not to the page.
        ProviderError::Unavailable(_) => {
            tracing::error!(error = text, "a page could not be shown: the database can't be reached");
            let detail = "The server can't reach its database at the moment. Try again in a few seconds.";
            ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", detail).with_retry_after(1)
        }
        ProviderError::Internal(_) => {
            tracing::error!(error = text, "a page could not be shown: internal error");
            ErrorPage::internal()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_page_hides_the_cause_of_an_internal_error() {
        for error in [ProviderError::Unavailable("hidden".into()), ProviderError::Internal("hidden".into())] {
            let page = error_page(error);
            assert!(!format!("{page:?}").contains("hidden"), "{page:?}");
            assert!(page.into_response().status().is_server_error());
        }
    }
}
