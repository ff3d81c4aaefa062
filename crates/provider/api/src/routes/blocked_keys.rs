//! Ordering keys whose first message blocks those behind it, retrying and skipping that message. Official clients have no
//! call for these operations.

use axum::extract::State;
use axum::response::Response;
use provider_core::ordering::BLOCKED_MAX;
use provider_core::{BlockedKey, BlockedReason, OrderingKey, Provider};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams, QueryParams};
use crate::response;

const LIMIT_DEFAULT: usize = 50;

/// The page of the list of blocked keys.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BlockedKeysQuery {
    /// Entries on a page: 1 to 250. The default is 50.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<usize>,
    /// `iterator` of the previous page.
    #[param(min_length = 1)]
    iterator: Option<String>,
}

/// What the first message of an ordering key waits for.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockedKeyReason {
    /// Its next retry: the attempts so far have failed.
    Retry,
    /// Its `deliverAt`.
    Later,
    /// The end of a pause that the receiver asked for with `Retry-After`.
    Paused,
    /// The end of a pause of at most 5 seconds between attempts: they timed out, or the receiver is overloaded.
    Slowed,
    /// The `throttleRate` of the endpoint or its application.
    Throttled,
    /// A node that sends it: it is due, and no node has claimed it yet.
    Due,
    /// The current attempt: a node has claimed it.
    InHand,
    /// Nothing: the endpoint is disabled, and the dispatcher cancels the delivery when it is due.
    Disabled,
}

/// An ordering key whose first message is not delivered yet, so that the messages behind it wait.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockedKeyOut<'a> {
    /// The ordering key.
    key: &'a str,
    /// Id of the key's first message, `msg_…`.
    message_id: &'a str,
    /// What that message waits for.
    reason: BlockedKeyReason,
    /// Attempts on the first message so far.
    attempts: u32,
    /// Time of the first attempt. Without an attempt: when the message became due, or when it was accepted if it is not
    /// due yet.
    #[schema(value_type = String, format = DateTime)]
    since: String,
    /// Earliest time of the next attempt; null when the message is due.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt: Option<String>,
    /// Messages of the key that wait behind the first one.
    waiting: u64,
}

/// A page of blocked keys, ordered by key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BlockedKeysOut<'a> {
    /// The entries of the page.
    data: Vec<BlockedKeyOut<'a>>,
    /// Value of `iterator` for the next page; null when this page is empty.
    iterator: Option<&'a str>,
    /// This is the last page.
    done: bool,
}

/// The message to skip or to retry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockedMessageIn {
    /// The ordering key.
    #[schema(min_length = 1, max_length = 256, pattern = "^[!-~]+$")]
    key: String,
    /// Id of the key's first message, as the list returns it. 404 if another message is now the first one.
    message_id: String,
}

impl From<BlockedReason> for BlockedKeyReason {
    fn from(waits_for: BlockedReason) -> Self {
        match waits_for {
            BlockedReason::Retry(_) => Self::Retry,
            BlockedReason::Later(_) => Self::Later,
            BlockedReason::Pause(_) => Self::Paused,
            BlockedReason::Slowed(_) => Self::Slowed,
            BlockedReason::Rate(_) => Self::Throttled,
            BlockedReason::Node => Self::Due,
            BlockedReason::Attempt => Self::InHand,
            BlockedReason::Nothing => Self::Disabled,
        }
    }
}

fn view(blocked: &BlockedKey) -> BlockedKeyOut<'_> {
    BlockedKeyOut {
        key: blocked.key.as_str(),
        message_id: &blocked.message,
        reason: blocked.waits_for.into(),
        attempts: blocked.attempts,
        since: response::time(blocked.since),
        next_attempt: blocked.waits_for.until().map(response::time),
        waiting: blocked.waiting,
    }
}

/// Lists blocked ordering keys with what their first message waits for. Keys with a single message on its first attempt
/// are left out.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key",
    operation_id = "lotwire.endpoint.blocked-keys", tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        BlockedKeysQuery,
    ),
    responses(
        (status = 200, description = "A page of blocked keys.", body = BlockedKeysOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    QueryParams(query): QueryParams<BlockedKeysQuery>,
) -> Result<Response, ApiError> {
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=BLOCKED_MAX).contains(&limit) {
        return Err(ApiError::at(["query", "limit"], format!("must be 1 to {BLOCKED_MAX}")));
    }
    let after = query.iterator.as_deref();
    let invalid =
        |_| ApiError::at(["query", "iterator"], "is not an iterator of this list; use the one of the previous page");
    after.map(OrderingKey::parse).transpose().map_err(invalid)?;
    let (blocked, done) = provider.blocked_keys(&caller, &application, &endpoint, after, limit).await?;
    let iterator = blocked.last().map(|last| last.key.as_str());
    Ok(response::ok(&BlockedKeysOut { data: blocked.iter().map(view).collect(), iterator, done }))
}

/// Cancels the delivery of the first message of an ordering key. The next message of the key is delivered.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/skip",
    operation_id = "lotwire.endpoint.skip-blocked-key", tag = "Endpoint", request_body = BlockedMessageIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>,
            description = "No such endpoint, or the message is not the first one of the key (`not_found`)."),
        (status = 409, body = HttpErrorOut<'_>,
            description = "A node is making an attempt for the message. Retry when the attempt has ended \
                (`under_way`)."),
    ))]
pub(crate) async fn skip(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<BlockedMessageIn>,
) -> Result<Response, ApiError> {
    let key = OrderingKey::parse(&sent.body.key).map_err(|error| ApiError::at(["body", "key"], error.to_string()))?;
    provider.skip_blocked_key(&caller, &application, &endpoint, &key, &sent.body.message_id).await?;
    Ok(response::no_content())
}

/// Makes the first message of an ordering key due now, and ends a pause that the receiver asked for. If the attempt fails, the
/// message waits for its next one, and the key keeps its order.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/retry",
    operation_id = "lotwire.endpoint.retry-blocked-key", tag = "Endpoint", request_body = BlockedMessageIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 400, body = HttpErrorOut<'_>, description = "The endpoint is disabled (`endpoint_disabled`)."),
        (status = 404, body = HttpErrorOut<'_>,
            description = "No such endpoint, or the message is not the first one of the key (`not_found`)."),
        (status = 409, body = HttpErrorOut<'_>,
            description = "A node is making an attempt for the message. Retry when the attempt has ended \
                (`under_way`)."),
    ))]
pub(crate) async fn retry(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<BlockedMessageIn>,
) -> Result<Response, ApiError> {
    let key = OrderingKey::parse(&sent.body.key).map_err(|error| ApiError::at(["body", "key"], error.to_string()))?;
    provider.retry_blocked_key(&caller, &application, &endpoint, &key, &sent.body.message_id).await?;
    Ok(response::no_content())
}
