//! Recovering and replaying messages to an endpoint, as background tasks.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use provider_core::model::{AttemptStatus, TaskKind};
use provider_core::{Created, Idempotency, Provider, ReplayInput};
use serde::Deserialize;
use utoipa::{IntoResponses, ToSchema};

use super::background_tasks::{BackgroundTaskOut, render};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Name;

/// The time range of the failed attempts to recover.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecoverIn {
    /// Start of the time range, RFC 3339; at most 14 days before `until`.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// End of the time range, RFC 3339. The default is now.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// The time range of the messages to replay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayIn {
    /// Only messages accepted at or after this time, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Only messages accepted before this time, RFC 3339. The default is now.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// The messages to replay. An absent filter selects all messages. An unknown field is refused with 422, because
/// ignoring a misspelt filter would select all messages.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkReplayIn {
    /// Only messages accepted at or after this time, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Only messages accepted before this time, RFC 3339. The default is now.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Only messages of these event types.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: Option<Vec<String>>,
    /// Only messages of this channel.
    #[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// Only messages with this tag.
    #[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// Only messages with this delivery status: 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: Option<u8>,
    /// Only messages whose latest attempt had a status code of this class: 0 (no response), 100, 200, 300, 400 or 500.
    #[schema(maximum = 500, multiple_of = 100)]
    status_code_class: Option<u16>,
}

impl TryFrom<BulkReplayIn> for ReplayInput {
    type Error = ApiError;

    fn try_from(body: BulkReplayIn) -> Result<Self, ApiError> {
        let status = match body.status {
            None => None,
            Some(0) => Some(AttemptStatus::Success),
            Some(1) => Some(AttemptStatus::Pending),
            Some(2) => Some(AttemptStatus::Fail),
            Some(3) => Some(AttemptStatus::Sending),
            Some(4) => Some(AttemptStatus::Cancelled),
            Some(_) => return Err(ApiError::at(["body", "status"], "must be 0 to 4")),
        };
        Ok(ReplayInput {
            event_types: body.event_types,
            channel: body.channel,
            tag: body.tag,
            status,
            status_code_class: body.status_code_class,
            ..ReplayInput::time_range(TaskKind::BulkReplay, body.since, body.until)
        })
    }
}

/// The responses of an operation that starts a background task.
#[derive(IntoResponses)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only describes responses")]
enum StartResponses {
    /// The started background task.
    #[response(status = 202)]
    Started(BackgroundTaskOut<'static>),
    /// Too many background tasks of the account are running (`limit_reached`), or the idempotency key is invalid
    /// (`invalid_idempotency_key`).
    #[response(status = 400)]
    Refused(HttpErrorOut<'static>),
    #[response(status = 404)]
    NotFound(HttpErrorOut<'static>),
}

async fn start(
    provider: &Provider,
    caller: &provider_core::Caller,
    [application, endpoint]: &[String; 2],
    input: ReplayInput,
    idempotency: Option<&Idempotency>,
) -> Result<Response, ApiError> {
    let created = provider.replay(caller, application, endpoint, input, idempotency, render).await?;
    Ok(match created {
        Created::New(task) => response::from_text(StatusCode::ACCEPTED, render(&task)),
        before => response::created(before, render),
    })
}

/// Starts a background task that sends again the messages whose attempts failed in a time range, unless they were
/// delivered later.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/recover", operation_id = "v1.endpoint.recover",
    tag = "Endpoint", request_body = RecoverIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(StartResponses))]
pub(crate) async fn recover(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(path): PathParams<2>,
    sent: JsonBody<RecoverIn>,
) -> Result<Response, ApiError> {
    let input = ReplayInput::time_range(TaskKind::Recover, sent.body.since, sent.body.until);
    start(&provider, &caller, &path, input, sent.idempotency.as_ref()).await
}

/// Starts a background task that sends the messages of a time range that match the endpoint's filters and have no
/// attempt.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/replay-missing",
    operation_id = "v1.endpoint.replay-missing", tag = "Endpoint", request_body = ReplayIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(StartResponses))]
pub(crate) async fn replay_missing(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(path): PathParams<2>,
    sent: JsonBody<ReplayIn>,
) -> Result<Response, ApiError> {
    let input = ReplayInput::time_range(TaskKind::ReplayMissing, sent.body.since, sent.body.until);
    start(&provider, &caller, &path, input, sent.idempotency.as_ref()).await
}

/// Starts a background task that sends the selected messages of a time range again, delivered or not.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/bulk-replay",
    operation_id = "v1.endpoint.bulk-replay", tag = "Endpoint", request_body = BulkReplayIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(StartResponses))]
pub(crate) async fn bulk_replay(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(path): PathParams<2>,
    sent: JsonBody<BulkReplayIn>,
) -> Result<Response, ApiError> {
    let input = sent.body.try_into()?;
    start(&provider, &caller, &path, input, sent.idempotency.as_ref()).await
}
