//! The error type of the handlers: an error of a use case, as the error page that the visitor sees.

use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use provider_core::ProviderError;

kit_design::page_error!(ProviderError, error_page);

fn error_page(error: ProviderError) -> ErrorPage {
    let text = sentence(&error.to_string());
    match error {
        ProviderError::Unauthenticated => ErrorPage::not_signed_in(text),
        ProviderError::Forbidden(_) => ErrorPage::forbidden(text),
        ProviderError::NotFound => {
            let detail = "It may have been deleted, as old messages are, or the address may be incomplete.";
            ErrorPage::new(StatusCode::NOT_FOUND, "Page not found", detail)
        }
        ProviderError::TooManyRequests { retry_after, .. } => {
            ErrorPage::too_many("Too many requests", text, retry_after)
        }
        ProviderError::Conflict { .. } => ErrorPage::conflict(text),
        ProviderError::TooLarge => ErrorPage::new(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large", text),
        // The place of a value begins with `body`.
        ProviderError::Validation(faults) => ErrorPage::invalid(
            faults
                .iter()
                .map(|fault| (fault.loc.iter().skip(1).next_back().map_or("", |field| field), fault.msg.as_str())),
        ),
        ProviderError::BadRequest { .. } | ProviderError::IdempotencyMismatch => ErrorPage::bad_request(text),
        ProviderError::DiskFull => ErrorPage::full("The disk of the server is nearly full", text, 10),
        ProviderError::Unavailable(_) => ErrorPage::unavailable(&text),
        ProviderError::Internal(_) => ErrorPage::failed(&text),
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
        }
    }
}
