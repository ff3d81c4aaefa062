//! Ordering keys that wait for their first message, and letting them go on. Ours alone: official clients don't know it.

use axum::extract::State;
use axum::response::Response;
use provider_core::ordering::BLOCKED_MAX;
use provider_core::{BlockedKey, BlockedReason, OrderingKey, Provider};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams, QueryParams};
use crate::response;

const LIMIT_DEFAULT: usize = 50;

/// A slice of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BlockedKeysQuery {
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<usize>,
    /// `iterator` of the page before.
    #[param(min_length = 1)]
    iterator: Option<String>,
}

/// What the first message of an ordering key waits for.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockedKeyReason {
    /// Its next attempt: those until now have failed.
    Retry,
    /// Its `deliverAt`.
    Later,
    /// The end of a pause that the receiver asked for with `Retry-After`.
    Paused,
    /// Its turn, as the endpoint or its application has a `throttleRate`.
    Throttled,
    /// It is due, and no node has taken it yet.
    Due,
    /// A node has it: it is being tried, or about to be.
    InHand,
    /// Nothing: the endpoint is disabled, and it is dropped when it comes up.
    Disabled,
}

/// A key whose first message has not gone out yet, so that those behind it wait.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockedKeyOut<'a> {
    /// The ordering key.
    key: &'a str,
    /// The message that it waits for.
    message_id: &'a str,
    /// What that message waits for.
    reason: BlockedKeyReason,
    /// Attempts made on it so far.
    attempts: u32,
    /// When the first of them was made; when there was none, since when it is due, or when it was accepted if it is not due yet.
    #[schema(value_type = String, format = DateTime)]
    since: String,
    /// When it is tried at the earliest; null when it is due already.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt: Option<String>,
    /// Messages of the key that wait behind it, counted to 100,000.
    waiting: u64,
}

/// Keys that wait, by key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BlockedKeysOut<'a> {
    data: Vec<BlockedKeyOut<'a>>,
    /// Ask with `iterator=` this for what comes after; null when the page is empty.
    iterator: Option<&'a str>,
    /// There is nothing more.
    done: bool,
}

/// What to skip.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkipIn {
    /// The ordering key.
    #[schema(min_length = 1, max_length = 256, pattern = "^[!-~]+$")]
    key: String,
    /// The message that it waits for, as it was listed: another one is not skipped.
    message_id: String,
}

impl From<BlockedReason> for BlockedKeyReason {
    fn from(waits_for: BlockedReason) -> Self {
        match waits_for {
            BlockedReason::Retry(_) => Self::Retry,
            BlockedReason::Later(_) => Self::Later,
            BlockedReason::Pause(_) => Self::Paused,
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

/// Lists ordering keys that wait for their first message, with what that waits for. Left out is a message that is on its way for
/// the first time with nothing behind it.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key",
    operation_id = "lotwire.endpoint.blocked-keys", tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        BlockedKeysQuery),
    responses((status = 200, body = BlockedKeysOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
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
    let invalid = |_| ApiError::at(["query", "iterator"], "this is not an iterator of this list");
    after.map(OrderingKey::parse).transpose().map_err(invalid)?;
    let (blocked, done) = provider.blocked_keys(&caller, &application, &endpoint, after, limit).await?;
    let iterator = blocked.last().map(|last| last.key.as_str());
    Ok(response::ok(&BlockedKeysOut { data: blocked.iter().map(view).collect(), iterator, done }))
}

/// Gives up the message that a key waits for, so that the next one goes out.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/skip",
    operation_id = "lotwire.endpoint.skip-blocked-key", tag = "Endpoint", request_body = SkipIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, description = "The key does not wait for that message", body = HttpErrorOut<'_>),
        (status = 409, description = "A node has it in hand and tries it", body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn skip(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<SkipIn>,
) -> Result<Response, ApiError> {
    let key = OrderingKey::parse(&sent.body.key).map_err(|error| ApiError::at(["body", "key"], error.to_string()))?;
    provider.skip_blocked_key(&caller, &application, &endpoint, &key, &sent.body.message_id).await?;
    Ok(response::no_content())
}
