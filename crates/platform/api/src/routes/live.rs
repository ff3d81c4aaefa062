//! Live streams: server-sent events of an item, or of an auction with all of its items.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use platform_core::live::Listener;
use platform_core::{Platform, PlatformError};
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;

/// Where a client that comes back says what it had.
const LAST_EVENT_ID: &str = "last-event-id";
/// Tells nginx, and those who follow it, to pass on what comes as it comes.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// When to try again when there is no place.
const FULL_RETRY_AFTER_S: u32 = 5;

/// BulkOperation an item: price, bids, end, ring and status as they change. First a `snapshot` event, then `item` events, each with the
/// item's whole public state and `serverTime`; comments in between. With `Last-Event-ID` it goes on from there, or with a
/// snapshot. The events are described in the AsyncAPI document. 503 with `listeners_full` and `Retry-After` when the node has
/// as many listeners as it takes. Scope `auctions:read`.
#[utoipa::path(get, path = "/items/{uuid}/live", tag = "live", operation_id = "item",
    params(("uuid" = Uuid, Path), ("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that was received.")),
    responses((status = 200, description = "The stream; it goes on for an hour at most.", body = String, content_type = "text/event-stream"),
        (status = 404, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn item(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    headers: HeaderMap,
    request: QueryRequest<()>,
) -> Response {
    answer(platform.listen_to_item(&request.caller, uuid, last(&headers)).await)
}

/// BulkOperation an auction and all of its items. First a `snapshot` event with the auction and its first 500 items (when there are
/// more, `next` is where `GET /auctions/{uuid}/items` goes on), then `auction` and `item` events as they change, each with the whole public state and `serverTime`; comments in between. With `Last-Event-ID` it
/// goes on from there, or with a snapshot. The events are described in the AsyncAPI document. 503 with `listeners_full` and
/// `Retry-After` when the node has as many listeners as it takes. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/live", tag = "live", operation_id = "auction",
    params(("uuid" = Uuid, Path), ("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that was received.")),
    responses((status = 200, description = "The stream; it goes on for an hour at most.", body = String, content_type = "text/event-stream"),
        (status = 404, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn auction(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    headers: HeaderMap,
    request: QueryRequest<()>,
) -> Response {
    answer(platform.listen_to_auction(&request.caller, uuid, last(&headers)).await)
}

/// What can't be read is of no stream of ours, and is answered with a snapshot like everything that is not known.
fn last(headers: &HeaderMap) -> Option<&str> {
    headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok())
}

fn answer(listener: Result<Listener, PlatformError>) -> Response {
    match listener {
        Ok(listener) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
                (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
                (ACCEL_BUFFERING, HeaderValue::from_static("no")),
            ];
            let pieces = stream::unfold(listener, async |mut listener| {
                let piece = listener.next().await?;
                Some((Ok::<_, std::convert::Infallible>(piece), listener))
            });
            (headers, Body::from_stream(pieces)).into_response()
        }
        Err(error) => {
            let is_full = matches!(error, PlatformError::ListenersFull { .. });
            let mut response = ApiError::from(error).into_response();
            if is_full {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(FULL_RETRY_AFTER_S));
            }
            response
        }
    }
}
