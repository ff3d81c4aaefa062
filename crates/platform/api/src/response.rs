//! Responses: JSON bodies, pages, `ETag` headers, and stored responses to idempotency keys.

use std::fmt::Display;

use axum::response::Response;
use http::header::{ETAG, HeaderValue};
use http::{HeaderName, StatusCode};
use platform_core::Outcome;
use platform_core::port::IdempotentAnswer;
use serde::Serialize;

use crate::models::List;
use crate::pagination::PageParams;

/// Marks a response that was stored for the idempotency key of an earlier request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A view as JSON text.
pub(crate) fn body(view: &impl Serialize) -> String {
    kit_http::json::text(view)
}

/// 200 with a JSON body.
pub(crate) fn ok(view: &impl Serialize) -> Response {
    with_status(200, view)
}

/// A JSON body with this status.
pub(crate) fn with_status(status: u16, view: &impl Serialize) -> Response {
    json(status, body(view))
}

/// 200 with the record's version as its `ETag`.
pub(crate) fn versioned(view: &impl Serialize, version: i64) -> Response {
    tagged(view, version)
}

/// 200 with a strong `ETag`.
pub(crate) fn tagged(view: &impl Serialize, tag: impl Display) -> Response {
    with_tag(ok(view), Some(tag))
}

/// A page of a list. `rows` has one entry more than the page if another page follows.
pub(crate) fn list<R, K: Display, V: Serialize>(
    rows: Vec<R>,
    page: PageParams<impl Copy>,
    key: impl Fn(&R) -> K,
    view: impl Fn(&R) -> V,
) -> Response {
    list_filtered(rows, page, key, |row| Some(view(row)))
}

/// A page of a list from which some rows are hidden: it may have fewer entries than its limit although another page
/// follows.
pub(crate) fn list_filtered<R, K: Display, V: Serialize>(
    mut rows: Vec<R>,
    page: PageParams<impl Copy>,
    key: impl Fn(&R) -> K,
    view: impl Fn(&R) -> Option<V>,
) -> Response {
    let has_next = rows.len() > page.limit;
    rows.truncate(page.limit);
    let next = rows.last().filter(|_| has_next).map(|row| kit_http::cursor::encode(&key(row).to_string()));
    ok(&List { data: rows.iter().filter_map(view).collect(), next })
}

/// An `ETag` that is one version, in the form in which it is stored with a response.
pub(crate) fn tag(version: i64) -> Option<String> {
    Some(version.to_string())
}

/// The result of a command, or the stored response of the first request with the same idempotency key.
pub(crate) fn outcome<T>(
    outcome: Outcome<T>,
    status: u16,
    render: impl Fn(&T) -> String,
    version: impl Fn(&T) -> Option<i64>,
) -> Response {
    match outcome {
        Outcome::Fresh(result) => with_tag(json(status, render(&result)), version(&result)),
        Outcome::Replayed(stored) => replayed(stored),
    }
}

/// [`outcome`] with the `ETag` that the idempotent request stores, so that a stored response has it too.
pub(crate) fn outcome_tagged<T>(
    outcome: Outcome<T>,
    status: u16,
    render: impl Fn(&T) -> String,
    tag: impl Fn(&T) -> Option<String>,
) -> Response {
    match outcome {
        Outcome::Fresh(result) => with_tag(json(status, render(&result)), tag(&result)),
        Outcome::Replayed(stored) => replayed(stored),
    }
}

/// The stored response of an earlier request.
pub(crate) fn replayed(stored: IdempotentAnswer) -> Response {
    let mut response = with_tag(json(stored.status, stored.body), stored.tag);
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

fn json(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    kit_http::json::response(status, body)
}

fn with_tag(mut response: Response, tag: Option<impl Display>) -> Response {
    if let Some(value) = tag.and_then(|tag| HeaderValue::try_from(format!("\"{tag}\"")).ok()) {
        response.headers_mut().insert(ETAG, value);
    }
    response
}
