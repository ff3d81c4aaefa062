//! Writing answers.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
pub(crate) use kit_http::json::{answer as of_text, text};
use provider_core::{Created, Put, Slice, StoredAnswer};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListResponse<T> {
    /// The rows.
    data: Vec<T>,
    /// Ask with `iterator=` this for what comes after; null when the page is empty.
    iterator: Option<String>,
    /// Ask with `iterator=` this for what comes before.
    prev_iterator: Option<String>,
    /// There is nothing more in the direction that was asked for.
    done: bool,
}

/// An answer with a body.
pub(crate) fn json(status: StatusCode, view: &impl Serialize) -> Response {
    of_text(status, text(view))
}

/// 200.
pub(crate) fn ok(view: &impl Serialize) -> Response {
    json(StatusCode::OK, view)
}

/// 202 with an empty object, as text.
pub(crate) const TAKEN: &str = "{}";

/// What came of a POST that is done later: 202, or what was answered before.
pub(crate) fn taken(created: Created<()>) -> Response {
    match created {
        Created::New(()) | Created::There(()) => of_text(StatusCode::ACCEPTED, TAKEN.to_owned()),
        Created::Before(before) => self::before(before),
    }
}

/// 204.
pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// What came of a POST that makes something: 201, 200 when it was there, or what was answered before.
pub(crate) fn created<T>(created: Created<T>, render: impl FnOnce(&T) -> String) -> Response {
    match created {
        Created::New(made) => of_text(StatusCode::CREATED, render(&made)),
        Created::There(there) => of_text(StatusCode::OK, render(&there)),
        Created::Before(before) => self::before(before),
    }
}

fn before(before: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(before.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    of_text(status, before.body)
}

/// What came of a PUT: 201 when there was none, else 200.
pub(crate) fn put<T>(put: Put<T>, render: impl FnOnce(&T) -> String) -> Response {
    match put {
        Put::Created(made) => of_text(StatusCode::CREATED, render(&made)),
        Put::Updated(updated) => of_text(StatusCode::OK, render(&updated)),
    }
}

/// A page.
pub(crate) fn list<'a, T, V: Serialize>(slice: &'a Slice<T>, view: impl FnMut(&'a T) -> V) -> Response {
    of_rows(slice, slice.data.iter().map(view).collect())
}

/// A page of views that may not come about.
pub(crate) fn try_list<'a, T, V: Serialize, E>(
    slice: &'a Slice<T>,
    view: impl FnMut(&'a T) -> Result<V, E>,
) -> Result<Response, E> {
    Ok(of_rows(slice, slice.data.iter().map(view).collect::<Result<_, E>>()?))
}

fn of_rows<T, V: Serialize>(slice: &Slice<T>, data: Vec<V>) -> Response {
    ok(&ListResponse {
        data,
        iterator: slice.iterator.clone(),
        prev_iterator: slice.prev_iterator.clone(),
        done: slice.done,
    })
}

/// RFC 3339 in UTC, with milliseconds.
pub(crate) fn time(at: Timestamp) -> String {
    kit_runtime::clock::rfc3339_ms(at)
}
