//! Sending an endpoint messages again, as background tasks (provider.md, "Delivery").

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use provider_core::model::{AttemptStatus, TaskKind};
use provider_core::{Created, Idempotency, Provider, ReplayInput};
use serde::Deserialize;
use utoipa::ToSchema;

use super::background_tasks::{BackgroundTaskOut, render};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Name;

/// Which failures to recover.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecoverIn {
    /// From this time, at most 14 days before `until`.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Before this time; now without.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// Which messages to replay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayIn {
    /// Accepted from this time.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Accepted before this time; now without.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// Which messages to replay. What is left out selects all; a field that there is none of is refused, as it would select all, too.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkReplayIn {
    /// Accepted from this time.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Accepted before this time; now without.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Of one of these event types.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: Option<Vec<String>>,
    /// Sent to this channel.
    #[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// With this tag.
    #[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// Whose latest attempt came to this: 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: Option<u8>,
    /// Whose latest attempt was answered with this class of codes: 0 (no answer), 100, 200, 300, 400 or 500.
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

/// Sends the messages again whose attempts at the endpoint failed in a time span, and that were not delivered since.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/recover", operation_id = "v1.endpoint.recover",
    tag = "Endpoint", request_body = RecoverIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 202, body = BackgroundTaskOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn recover(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(place): PathParams<2>,
    sent: JsonBody<RecoverIn>,
) -> Result<Response, ApiError> {
    let input = ReplayInput::time_range(TaskKind::Recover, sent.body.since, sent.body.until);
    start(&provider, &caller, &place, input, sent.idempotency.as_ref()).await
}

/// Sends the messages of a time span that the endpoint would have received and never did.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/replay-missing",
    operation_id = "v1.endpoint.replay-missing", tag = "Endpoint", request_body = ReplayIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 202, body = BackgroundTaskOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn replay_missing(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(place): PathParams<2>,
    sent: JsonBody<ReplayIn>,
) -> Result<Response, ApiError> {
    let input = ReplayInput::time_range(TaskKind::ReplayMissing, sent.body.since, sent.body.until);
    start(&provider, &caller, &place, input, sent.idempotency.as_ref()).await
}

/// Sends messages of a time span again that the endpoint had, whether they were delivered or not.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/bulk-replay",
    operation_id = "v1.endpoint.bulk-replay", tag = "Endpoint", request_body = BulkReplayIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 202, body = BackgroundTaskOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn bulk_replay(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams(place): PathParams<2>,
    sent: JsonBody<BulkReplayIn>,
) -> Result<Response, ApiError> {
    let input = sent.body.try_into()?;
    start(&provider, &caller, &place, input, sent.idempotency.as_ref()).await
}
