//! Ordering keys that wait for a message that fails, and letting them go on. Ours alone: official clients don't know it.

use axum::extract::State;
use axum::response::Response;
use provider::ordering::BLOCKED_MAX;
use provider::port::ordering::BlockedKey;
use provider::{OrderingKey, Provider};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answer;
use crate::ask::{Asked, At, Auth, Sent};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};

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

/// A key whose first message fails, so that those behind it wait.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockedKeyOut<'a> {
    /// The ordering key.
    key: &'a str,
    /// The message that is tried again.
    message_id: &'a str,
    /// Attempts made so far.
    attempts: u32,
    /// When the first of them was made.
    #[schema(value_type = String, format = DateTime)]
    since: String,
    /// When the next one is due.
    #[schema(value_type = String, format = DateTime)]
    next_attempt: String,
    /// Messages of the key that wait behind it, counted to 100,000.
    waiting: u64,
}

/// Blocked keys, by key.
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

fn view(blocked: &BlockedKey) -> BlockedKeyOut<'_> {
    BlockedKeyOut {
        key: blocked.key.as_str(),
        message_id: &blocked.message,
        attempts: blocked.attempts,
        since: answer::time(blocked.since),
        next_attempt: answer::time(blocked.next_at),
        waiting: blocked.waiting,
    }
}

/// Lists ordering keys whose first message fails, so that those behind it wait.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key",
    operation_id = "lotwire.endpoint.blocked-keys", tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        BlockedKeysQuery),
    responses((status = 200, body = BlockedKeysOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, endpoint]): At<2>,
    Asked(query): Asked<BlockedKeysQuery>,
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
    Ok(answer::ok(&BlockedKeysOut { data: blocked.iter().map(view).collect(), iterator, done }))
}

/// Gives up the message that a key waits for, so that the next one goes out.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/blocked-key/skip",
    operation_id = "lotwire.endpoint.skip-blocked-key", tag = "Endpoint", request_body = SkipIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, description = "The key does not wait for that message", body = HttpErrorOut<'_>),
        (status = 409, description = "It is being tried at this moment", body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn skip(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, endpoint]): At<2>,
    sent: Sent<SkipIn>,
) -> Result<Response, ApiError> {
    let key = OrderingKey::parse(&sent.body.key).map_err(|error| ApiError::at(["body", "key"], error.to_string()))?;
    provider.skip_blocked_key(&caller, &application, &endpoint, &key, &sent.body.message_id).await?;
    Ok(answer::nothing())
}
