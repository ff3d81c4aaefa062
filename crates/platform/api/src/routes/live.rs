//! Live streams: server-sent events of an item, or of an auction with all of its items.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use platform_core::live::Listener;
use platform_core::{Platform, PlatformError};
use utoipa::{IntoParams, IntoResponses};
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;

/// The header in which a client that reconnects names the last event that it received.
const LAST_EVENT_ID: &str = "last-event-id";
/// Tells nginx and compatible proxies not to buffer the stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// `Retry-After`, in seconds, when the node or the customer has its maximum number of listeners.
const FULL_RETRY_AFTER_S: u32 = 5;

/// The header of a client that reconnects.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only describes the header")]
struct LastEventId {
    /// Id of the last event that the client received.
    #[param(rename = "Last-Event-ID")]
    last_event_id: Option<String>,
}

/// The responses of a live stream.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only describes the responses")]
enum LiveResponses {
    /// The stream of events. It ends after at most an hour; reconnect with `Last-Event-ID`.
    #[response(status = 200, content_type = "text/event-stream")]
    Stream(String),
    #[response(status = 404)]
    NotFound(Problem),
    #[response(status = 503)]
    Full(Problem),
}

/// Stream an item
///
/// Server-sent events: first `snapshot`, then `item` after each change, each with the item's whole public state and
/// `serverTime`, and comments in between. With `Last-Event-ID`, the stream continues after that event or begins with
/// a snapshot. The AsyncAPI document describes the events. Scope `auctions:read`. Errors: 503 `listeners_full` with
/// `Retry-After` if the node, or the customer at this node, has its maximum number of listeners.
#[utoipa::path(
    get, path = "/items/{uuid}/live", tag = "live", operation_id = "item",
    params(("uuid" = Uuid, Path), LastEventId),
    responses(LiveResponses),
)]
pub(crate) async fn item(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    headers: HeaderMap,
    request: QueryRequest<()>,
) -> Response {
    respond(platform.listen_to_item(&request.caller, uuid, last(&headers)).await)
}

/// Stream an auction and its items
///
/// Server-sent events: first `snapshot` with the auction and its first 500 items, then `auction` and `item` after
/// each change, each with the whole public state and `serverTime`, and comments in between. If the auction has more
/// items, `next` of the snapshot is the cursor for `GET /auctions/{uuid}/items`. With `Last-Event-ID`, the stream
/// continues after that event or begins with a snapshot. The AsyncAPI document describes the events. Scope
/// `auctions:read`. Errors: 503 `listeners_full` with `Retry-After` if the node, or the customer at this node, has its
/// maximum number of listeners.
#[utoipa::path(
    get, path = "/auctions/{uuid}/live", tag = "live", operation_id = "auction",
    params(("uuid" = Uuid, Path), LastEventId),
    responses(LiveResponses),
)]
pub(crate) async fn auction(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    headers: HeaderMap,
    request: QueryRequest<()>,
) -> Response {
    respond(platform.listen_to_auction(&request.caller, uuid, last(&headers)).await)
}

/// The last event id. An unreadable one counts as unknown: the stream begins with a snapshot.
fn last(headers: &HeaderMap) -> Option<&str> {
    headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok())
}

fn respond(listener: Result<Listener, PlatformError>) -> Response {
    match listener {
        Ok(listener) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
                (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
                (ACCEL_BUFFERING, HeaderValue::from_static("no")),
            ];
            let chunks = stream::unfold(listener, async |mut listener| {
                let chunk = listener.next().await?;
                Some((Ok::<_, std::convert::Infallible>(chunk), listener))
            });
            (headers, Body::from_stream(chunks)).into_response()
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
