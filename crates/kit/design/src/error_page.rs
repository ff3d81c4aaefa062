//! Error pages: what went wrong, and what the visitor can do next.

use std::borrow::Cow;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};

use super::texts::{self, Passage};

/// Declares `PageError`, the error type of a wing's handlers: `?` converts an error of a use case, of the named type, and an
/// [`ErrorPage`] into it. The wing's function chooses the page of an error.
#[macro_export]
macro_rules! page_error {
    ($error:ty, $page:path) => {
        /// Why a handler can't show its page.
        #[derive(Debug)]
        pub(crate) struct PageError($crate::error_page::ErrorPage);

        impl axum::response::IntoResponse for PageError {
            fn into_response(self) -> axum::response::Response {
                self.0.into_response()
            }
        }

        impl From<$crate::error_page::ErrorPage> for PageError {
            fn from(page: $crate::error_page::ErrorPage) -> Self {
                Self(page)
            }
        }

        impl From<$error> for PageError {
            fn from(error: $error) -> Self {
                Self($page(error))
            }
        }
    };
}

/// The response of a handler that can't show its page. The response carries [`ErrorPageContent`] as an extension; the
/// middleware of [`super::site`] renders it in the site's layout.
#[derive(Debug)]
pub struct ErrorPage(Box<ErrorPageContent>);

/// What an error page shows.
#[derive(Debug, Clone)]
pub struct ErrorPageContent {
    pub(crate) status: StatusCode,
    pub(crate) title: String,
    pub(crate) detail: String,
    /// Words and path, below the site's base, of the page where the visitor can go on; none for the site's first page.
    pub(crate) next_link: Option<(Cow<'static, str>, String)>,
    cookie: Option<HeaderValue>,
    retry_after_s: Option<u64>,
}

/// A link of an error page.
#[derive(Debug, Clone, Copy)]
pub struct NextLink {
    /// Text of the link.
    pub words: &'static str,
    /// Path below the site's base.
    pub path: &'static str,
}

impl ErrorPage {
    /// An error page with this status, heading and paragraph.
    pub fn new(status: StatusCode, title: impl Into<String>, detail: impl Into<String>) -> Self {
        let (title, detail) = (title.into(), detail.into());
        Self(Box::new(ErrorPageContent { status, title, detail, next_link: None, cookie: None, retry_after_s: None }))
    }

    fn of_passage(status: StatusCode, passage: &Passage) -> Self {
        Self::new(status, passage.title.as_str(), passage.detail.as_str())
    }

    /// 403 of a form that another site sent; `address` is the address of this one.
    pub(crate) fn foreign_form(address: &str) -> Self {
        let Passage { title, detail } = &texts::of_request().foreign_form;
        Self::new(StatusCode::FORBIDDEN, title.as_str(), detail.replace("{address}", address))
    }

    /// 404.
    pub fn not_found() -> Self {
        Self::of_passage(StatusCode::NOT_FOUND, &texts::of_request().not_found)
    }

    /// 400.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, texts::of_request().bad_request.as_str(), detail)
    }

    /// 403.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "You are not allowed to do this", detail)
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::of_passage(StatusCode::METHOD_NOT_ALLOWED, &texts::of_request().method_not_allowed)
    }

    /// 400 for values that are not allowed: the field and what is wrong with each. A value without a field is the whole
    /// request.
    pub fn invalid<'a>(faults: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let words =
            |(field, text): (&str, &str)| if field.is_empty() { text.to_owned() } else { format!("{field} {text}") };
        let faults: Vec<String> = faults.into_iter().map(words).collect();
        Self::bad_request(sentence(&faults.join("; ")))
    }

    /// 401.
    pub fn not_signed_in(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "You are not signed in", detail)
    }

    /// 409.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, texts::of_request().conflict.as_str(), detail)
    }

    /// 429 for this long.
    pub fn too_many(title: impl Into<String>, detail: impl Into<String>, retry_after: Duration) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, title, detail).with_retry_after(retry_after.as_secs())
    }

    /// 503 of a part of the server that is full for this number of seconds.
    pub fn full(title: impl Into<String>, detail: impl Into<String>, retry_after_s: u64) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, title, detail).with_retry_after(retry_after_s)
    }

    /// 503 without the database. The cause goes to the log, not to the page.
    pub fn unavailable(cause: &str) -> Self {
        tracing::error!(error = cause, "a page could not be shown: the database can't be reached");
        Self::of_passage(StatusCode::SERVICE_UNAVAILABLE, &texts::of_request().unavailable).with_retry_after(1)
    }

    /// 500 of a use case. The cause goes to the log, not to the page.
    pub fn failed(cause: &str) -> Self {
        tracing::error!(error = cause, "a page could not be shown: internal error");
        Self::internal()
    }

    /// 500. The caller logs the cause; the page does not show it.
    pub fn internal() -> Self {
        Self::of_passage(StatusCode::INTERNAL_SERVER_ERROR, &texts::of_request().internal)
    }

    /// The same page with another link than that to the site's first page.
    pub fn with_next_link(mut self, words: &'static str, path: &'static str) -> Self {
        self.0.next_link = Some((Cow::Borrowed(words), path.to_owned()));
        self
    }

    /// The response also sets or removes a cookie.
    pub fn with_cookie(mut self, cookie: Option<HeaderValue>) -> Self {
        self.0.cookie = cookie;
        self
    }

    /// The response also carries `Retry-After` with this number of seconds.
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }
}

impl ErrorPageContent {
    /// Adds a link to a path below the site's base, if the handler set no link. Middleware calls it when it knows a better page to
    /// continue with than the handler.
    pub fn link_to(&mut self, words: impl Into<Cow<'static, str>>, path: String) {
        self.next_link.get_or_insert((words.into(), path));
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

/// The text with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
    capitalised(text) + end
}

/// The text with a capital letter. A text that begins with a quoted value stays as it is.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_hides_the_cause_of_an_internal_error() {
        for (page, status) in [(ErrorPage::unavailable("hidden"), 503), (ErrorPage::failed("hidden"), 500)] {
            assert!(!format!("{page:?}").contains("hidden"), "{page:?}");
            assert_eq!(page.into_response().status(), status);
        }
    }

    #[test]
    fn a_refusal_of_the_input_names_the_fields() {
        let page = ErrorPage::invalid([("name", "is empty"), ("", "there are too many")]);
        assert!(format!("{page:?}").contains("Name is empty; there are too many."), "{page:?}");
    }

    #[test]
    fn an_error_text_becomes_a_sentence() {
        assert_eq!(sentence("the endpoint is disabled"), "The endpoint is disabled.");
        assert_eq!([sentence("Saved."), sentence("")], ["Saved.", ""]);
        assert_eq!(
            [capitalised("must be a number"), capitalised("“abc” is none")],
            ["Must be a number", "“abc” is none"]
        );
    }
}
