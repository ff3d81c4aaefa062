//! What is answered in place of a page: what went wrong, and what to do now.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};
use provider_core::ProviderError;

/// An answer that is no page of the site. It carries [`ErrorPageContent`], of which what is put around a site ([`super::site`]) makes a
/// page.
#[derive(Debug)]
pub(crate) struct ErrorPage(Box<ErrorPageContent>);

/// What a refusal says.
#[derive(Debug, Clone)]
pub(crate) struct ErrorPageContent {
    pub(crate) status: StatusCode,
    pub(crate) title: String,
    pub(crate) detail: String,
    /// Where to go from here, when that is not the site's first page.
    pub(crate) next_link: Option<NextLink>,
    cookie: Option<HeaderValue>,
    retry_after_s: Option<u64>,
}

/// A link of the page: words, and an address below the site's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextLink {
    pub(crate) words: &'static str,
    pub(crate) path: &'static str,
}

impl ErrorPage {
    pub(crate) fn new(status: StatusCode, title: impl Into<String>, detail: impl Into<String>) -> Self {
        let (title, detail) = (title.into(), detail.into());
        Self(Box::new(ErrorPageContent { status, title, detail, next_link: None, cookie: None, retry_after_s: None }))
    }

    /// 404.
    pub(crate) fn not_found() -> Self {
        let detail = "It may have been deleted, or the address may be incomplete. Messages are kept for 90 days.";
        Self::new(StatusCode::NOT_FOUND, "There is nothing here", detail)
    }

    /// 400.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "This could not be done", detail)
    }

    /// 403.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "You may not do this", detail)
    }

    /// 405.
    pub(crate) fn method_not_allowed() -> Self {
        let detail = "This address is for sending a form, or only for reading. Go back and use the page's buttons.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "This address works another way", detail)
    }

    /// 500; what it was is in the log.
    pub(crate) fn internal() -> Self {
        let detail =
            "Something went wrong here, and has been logged. Try again; if it stays, tell whoever runs this server.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong", detail)
    }

    pub(crate) fn with_next_link(mut self, words: &'static str, path: &'static str) -> Self {
        self.0.next_link = Some(NextLink { words, path });
        self
    }

    /// The answer takes a cookie away.
    pub(crate) fn with_cookie(mut self, cookie: Option<HeaderValue>) -> Self {
        self.0.cookie = cookie;
        self
    }

    fn with_retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let content = *self.0;
        let mut response = content.status.into_response();
        if let Some(cookie) = &content.cookie {
            response.headers_mut().insert(SET_COOKIE, cookie.clone());
        }
        if let Some(seconds) = content.retry_after_s {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(content);
        response
    }
}

impl From<ProviderError> for ErrorPage {
    fn from(error: ProviderError) -> Self {
        let text = sentence(&error.to_string());
        match error {
            ProviderError::Unauthenticated => Self::new(StatusCode::UNAUTHORIZED, "You are not signed in", text),
            ProviderError::Forbidden(_) => Self::forbidden(text),
            ProviderError::NotFound => Self::not_found(),
            ProviderError::TooManyRequests { retry_after, .. } => {
                let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", text);
                refusal.with_retry_after(retry_after.as_secs())
            }
            ProviderError::Conflict { .. } => Self::new(StatusCode::CONFLICT, "This could not be done", text),
            ProviderError::TooLarge => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "This could not be done", text),
            ProviderError::Validation(faults) => {
                let faults = faults.iter().map(|fault| format!("{}: {}", fault.loc.join(", "), fault.msg));
                Self::bad_request(sentence(&faults.collect::<Vec<_>>().join("; ")))
            }
            ProviderError::BadRequest { .. } | ProviderError::IdempotencyMismatch => Self::bad_request(text),
            // What is wrong inside is for the log, not for the page.
            ProviderError::Unavailable(_) => {
                tracing::error!(error = text, "a page failed");
                let detail = "The server can't reach its database at the moment. Try again in a few seconds.";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", detail).with_retry_after(1)
            }
            ProviderError::Internal(_) => {
                tracing::error!(error = text, "a page failed");
                Self::internal()
            }
        }
    }
}

/// With a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_inside_is_not_told() {
        for error in [ProviderError::Unavailable("hidden".into()), ProviderError::Internal("hidden".into())] {
            let ErrorPage(content) = ErrorPage::from(error);
            assert!(content.status.is_server_error() && !content.detail.contains("hidden"), "{content:?}");
        }
    }

    #[test]
    fn a_text_becomes_a_sentence() {
        assert_eq!(sentence("the endpoint is disabled"), "The endpoint is disabled.");
        assert_eq!([sentence("Done."), sentence("")], ["Done.", ""]);
    }
}
