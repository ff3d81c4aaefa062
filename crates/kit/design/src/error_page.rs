//! Error pages: what went wrong, and what the visitor can do next.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};

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
    /// Link to the page where the visitor can go on; none for the site's first page.
    pub(crate) next_link: Option<NextLink>,
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

    /// 404.
    pub fn not_found() -> Self {
        let detail = "It may have been deleted, or the address may be incomplete. Check the address, or begin at the start page.";
        Self::new(StatusCode::NOT_FOUND, "Page not found", detail)
    }

    /// 400.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "The request was not accepted", detail)
    }

    /// 403.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "You are not allowed to do this", detail)
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let detail = "This address does not support the request's method. Go back and use the page's buttons.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", detail)
    }

    /// 500. The caller logs the cause; the page does not show it.
    pub fn internal() -> Self {
        let detail = "The server could not complete the request and has logged the error. Try again. If the error stays, \
             contact the operator of this server.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error", detail)
    }

    /// The same page with another link than that to the site's first page.
    pub fn with_next_link(mut self, words: &'static str, path: &'static str) -> Self {
        self.0.next_link = Some(NextLink { words, path });
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
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_text_becomes_a_sentence() {
        assert_eq!(sentence("the endpoint is disabled"), "The endpoint is disabled.");
        assert_eq!([sentence("Saved."), sentence("")], ["Saved.", ""]);
    }
}
