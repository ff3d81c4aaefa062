//! Writing answers.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
pub(crate) use kit_http::json::{response as from_text, text};
use provider_core::{Created, ListPage, Put, StoredAnswer};
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
    from_text(status, text(view))
}

/// 200.
pub(crate) fn ok(view: &impl Serialize) -> Response {
    json(StatusCode::OK, view)
}

/// 202 with an empty object, as text.
pub(crate) const EMPTY_OBJECT: &str = "{}";

/// What came of a POST that is done later: 202, or what was answered before.
pub(crate) fn accepted(created: Created<()>) -> Response {
    match created {
        Created::New(()) | Created::Existing(()) => from_text(StatusCode::ACCEPTED, EMPTY_OBJECT.to_owned()),
        Created::Replayed(before) => self::replayed(before),
    }
}

/// 204.
pub(crate) fn no_content() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// What came of a POST that makes something: 201, 200 when it was there, or what was answered before.
pub(crate) fn created<T>(created: Created<T>, render: impl FnOnce(&T) -> String) -> Response {
    match created {
        Created::New(made) => from_text(StatusCode::CREATED, render(&made)),
        Created::Existing(there) => from_text(StatusCode::OK, render(&there)),
        Created::Replayed(before) => self::replayed(before),
    }
}

fn replayed(before: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(before.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    from_text(status, before.body)
}

/// What came of a PUT: 201 when there was none, else 200.
pub(crate) fn put<T>(put: Put<T>, render: impl FnOnce(&T) -> String) -> Response {
    match put {
        Put::Created(made) => from_text(StatusCode::CREATED, render(&made)),
        Put::Updated(updated) => from_text(StatusCode::OK, render(&updated)),
    }
}

/// A page.
pub(crate) fn list<'a, T, V: Serialize>(slice: &'a ListPage<T>, view: impl FnMut(&'a T) -> V) -> Response {
    of_rows(slice, slice.data.iter().map(view).collect())
}

/// A page of views that may not come about.
pub(crate) fn try_list<'a, T, V: Serialize, E>(
    slice: &'a ListPage<T>,
    view: impl FnMut(&'a T) -> Result<V, E>,
) -> Result<Response, E> {
    Ok(of_rows(slice, slice.data.iter().map(view).collect::<Result<_, E>>()?))
}

fn of_rows<T, V: Serialize>(slice: &ListPage<T>, data: Vec<V>) -> Response {
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
