//! Writing responses.

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
    /// The entries of the page.
    data: Vec<T>,
    /// Value of `iterator` for the next page; null when this page is empty.
    iterator: Option<String>,
    /// Value of `iterator` for the previous page.
    prev_iterator: Option<String>,
    /// This is the last page in the requested direction.
    done: bool,
}

/// A response with a JSON body.
pub(crate) fn json(status: StatusCode, view: &impl Serialize) -> Response {
    from_text(status, text(view))
}

/// A 200 response.
pub(crate) fn ok(view: &impl Serialize) -> Response {
    json(StatusCode::OK, view)
}

/// The body of a response without content that clients parse as JSON.
pub(crate) const EMPTY_OBJECT: &str = "{}";

/// The response to a POST whose work is done later: 202, or the stored response of the idempotency key.
pub(crate) fn accepted(created: Created<()>) -> Response {
    match created {
        Created::New(()) | Created::Existing(()) => from_text(StatusCode::ACCEPTED, EMPTY_OBJECT.to_owned()),
        Created::Replayed(before) => self::replayed(before),
    }
}

/// A 204 response.
pub(crate) fn no_content() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// The response to a POST that creates a record: 201, 200 if the record existed, or the stored response of the
/// idempotency key.
pub(crate) fn created<T>(created: Created<T>, render: impl FnOnce(&T) -> String) -> Response {
    match created {
        Created::New(record) => from_text(StatusCode::CREATED, render(&record)),
        Created::Existing(record) => from_text(StatusCode::OK, render(&record)),
        Created::Replayed(before) => self::replayed(before),
    }
}

fn replayed(before: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(before.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    from_text(status, before.body)
}

/// The response to a PUT: 201 if it created the record, 200 if it replaced it.
pub(crate) fn put<T>(put: Put<T>, render: impl FnOnce(&T) -> String) -> Response {
    match put {
        Put::Created(record) => from_text(StatusCode::CREATED, render(&record)),
        Put::Updated(updated) => from_text(StatusCode::OK, render(&updated)),
    }
}

/// A response with a page of a list.
pub(crate) fn list<'a, T, V: Serialize>(page: &'a ListPage<T>, view: impl FnMut(&'a T) -> V) -> Response {
    of_rows(page, page.data.iter().map(view).collect())
}

/// A response with a page of a list whose entries may fail to render.
pub(crate) fn try_list<'a, T, V: Serialize, E>(
    page: &'a ListPage<T>,
    view: impl FnMut(&'a T) -> Result<V, E>,
) -> Result<Response, E> {
    Ok(of_rows(page, page.data.iter().map(view).collect::<Result<_, E>>()?))
}

fn of_rows<T, V: Serialize>(page: &ListPage<T>, data: Vec<V>) -> Response {
    ok(&ListResponse {
        data,
        iterator: page.iterator.clone(),
        prev_iterator: page.prev_iterator.clone(),
        done: page.done,
    })
}

/// A time in RFC 3339, UTC, with milliseconds.
pub(crate) fn time(at: Timestamp) -> String {
    kit_runtime::clock::rfc3339_ms(at)
}
