//! An OpenAPI document as an HTML page at `/docs`, without script and without external resources, so that it works
//! without a network and under a strict Content-Security-Policy. The page is rendered once, when it is first requested, so that
//! the start of a server does not wait for it.
//! docs/decisions/0016-our-own-openapi-page.md has the reasons.

mod example;
mod html;
mod operation;
mod page;
mod schema;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use utoipa::openapi::OpenApi;

const STYLE: &str = include_str!("docs/style.css");
/// Allows only the page's own style sheet.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A link at the top of the page.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The text of the link.
    pub title: &'static str,
    /// The URL of the link.
    pub address: &'static str,
}

/// The routes `/docs` and `/docs/style.css`, and `/`, which redirects browsers to `/docs`. Other clients get
/// `not_found` at `/`.
pub fn routes<S: Clone + Send + Sync + 'static>(
    document: Arc<OpenApi>,
    links: &'static [Link],
    not_found: fn() -> Response,
) -> Router<S> {
    let page = Arc::new(LazyLock::new(move || {
        let document = serde_json::to_value(&*document).unwrap_or_default();
        Bytes::from(page::page(&document, links))
    }));
    let page = async move || content("text/html; charset=utf-8", (**page).clone());
    let style = async || content("text/css; charset=utf-8", Bytes::from_static(STYLE.as_bytes()));
    let root = async move |headers: HeaderMap| match wants_html(&headers) {
        true => Redirect::to("/docs").into_response(),
        false => not_found(),
    };
    Router::new().route("/docs", get(page)).route("/docs/style.css", get(style)).route("/", get(root))
}

fn content(kind: &'static str, body: Bytes) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A new version of the server may have another page.
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (StatusCode::OK, headers, body).into_response()
}

/// Browsers send `text/html` in `Accept`; other programs mostly send `*/*`.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/html"));
    headers.get_all(ACCEPT).iter().any(named)
}
