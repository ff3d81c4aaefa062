//! Attempts to deliver messages.

use std::collections::HashMap;

use axum::extract::{Request, State};
use axum::response::Response;
use provider_core::model::{Attempt, AttemptStatus};
use provider_core::port::PayloadRead;
use provider_core::{Caller, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::messages::{self, MessageOut};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{self, Auth, PathParams, QueryParams};
use crate::history_query::{
    AttemptsAtEndpointQuery, AttemptsOfMessageQuery, FilterParams, HistoryParams, OutcomeParams, content,
};
use crate::response::{self, ListResponse};

/// Stands in for a response body when the caller sends `with_content=false`.
const OMITTED_CONTENT: &str = "{}";

/// An attempt.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageAttemptOut<'a> {
    /// URL that the attempt called.
    #[schema(format = "uri")]
    url: &'a str,
    /// Body of the response, at most 20,000 bytes; without a response, the error.
    response: &'a str,
    /// Status code of the response; 0 without a response.
    response_status_code: u16,
    /// Milliseconds from the start of the request to the end of the response.
    response_duration_ms: i64,
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: u8,
    /// The status as a word.
    status_text: &'static str,
    /// 0 scheduled, 1 manual.
    #[schema(minimum = 0, maximum = 1)]
    trigger_type: u8,
    /// Id of the message, `msg_…`.
    msg_id: &'a str,
    /// Id of the endpoint, `ep_…`.
    endpoint_id: &'a str,
    /// `atmpt_…`
    id: &'a str,
    /// Start of the attempt.
    #[schema(value_type = String, format = DateTime)]
    timestamp: String,
    /// The message without its payload; present with `with_msg=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    msg: Option<MessageOut<'a>>,
}

/// Parts of an attempt that the response contains.
#[derive(Debug, Clone, Copy)]
struct ViewOptions {
    content: PayloadRead,
    statuses: Statuses,
}

/// Statuses that a client knows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Statuses {
    /// All five.
    All,
    /// Those of the first clients, for which a cancelled attempt counts as success.
    First,
}

impl Statuses {
    pub(crate) fn of(expanded_statuses: Option<bool>) -> Self {
        if expanded_statuses == Some(true) { Statuses::All } else { Statuses::First }
    }

    /// The status that this client receives.
    pub(crate) fn visible(self, status: AttemptStatus) -> AttemptStatus {
        match (self, status) {
            (Statuses::First, AttemptStatus::Cancelled) => AttemptStatus::Success,
            _ => status,
        }
    }
}

fn view(attempt: &Attempt, shown: ViewOptions) -> MessageAttemptOut<'_> {
    let status = shown.statuses.visible(attempt.status);
    MessageAttemptOut {
        url: &attempt.url,
        response: match shown.content {
            PayloadRead::Include => &attempt.response,
            PayloadRead::Skip => OMITTED_CONTENT,
        },
        response_status_code: attempt.response_status_code,
        response_duration_ms: attempt.response_duration_ms,
        status: status as u8,
        status_text: status_text(status),
        trigger_type: attempt.trigger as u8,
        msg_id: &attempt.message,
        endpoint_id: &attempt.endpoint,
        id: &attempt.id,
        timestamp: response::time(attempt.at),
        msg: None,
    }
}

/// The status as a word. Clients expect `canceled` with one `l`.
pub(crate) fn status_text(status: AttemptStatus) -> &'static str {
    match status {
        AttemptStatus::Success => "success",
        AttemptStatus::Pending => "pending",
        AttemptStatus::Fail => "fail",
        AttemptStatus::Sending => "sending",
        AttemptStatus::Cancelled => "canceled",
    }
}

/// Lists the attempts to deliver a message, newest first.
#[utoipa::path(get, path = "/app/{app_id}/attempt/msg/{msg_id}", operation_id = "v1.message-attempt.list-by-msg",
    tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        HistoryParams, OutcomeParams, AttemptsOfMessageQuery,
    ),
    responses(
        (status = 200, description = "A page of attempts.", body = ListResponse<MessageAttemptOut<'_>>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list_by_message(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message]): PathParams<2>,
    FilterParams(query): FilterParams<AttemptsOfMessageQuery>,
) -> Result<Response, ApiError> {
    let endpoint = query.endpoint_id.clone();
    of_message(&provider, &caller, &application, &message, endpoint.as_deref(), &query).await
}

/// Lists the attempts to deliver a message to one endpoint. A path of older clients, which the OpenAPI document does
/// not contain.
pub(crate) async fn list_by_message_and_endpoint(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message, endpoint]): PathParams<3>,
    FilterParams(query): FilterParams<AttemptsOfMessageQuery>,
) -> Result<Response, ApiError> {
    of_message(&provider, &caller, &application, &message, Some(&endpoint), &query).await
}

async fn of_message(
    provider: &Provider,
    caller: &Caller,
    application: &str,
    message: &str,
    endpoint: Option<&str>,
    query: &AttemptsOfMessageQuery,
) -> Result<Response, ApiError> {
    let (part, filter) = (query.history.request(ids::ATTEMPT)?, query.filter()?);
    let attempts = provider.find_attempts_of_message(caller, application, message, endpoint, filter, part).await?;
    let shown = ViewOptions { content: content(query.with_content), statuses: Statuses::of(query.expanded_statuses) };
    Ok(response::list(&attempts, |attempt| view(attempt, shown)))
}

/// Lists the attempts at an endpoint, newest first.
#[utoipa::path(get, path = "/app/{app_id}/attempt/endpoint/{endpoint_id}",
    operation_id = "v1.message-attempt.list-by-endpoint", tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        HistoryParams, OutcomeParams, AttemptsAtEndpointQuery,
    ),
    responses(
        (status = 200, description = "A page of attempts.", body = ListResponse<MessageAttemptOut<'_>>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list_by_endpoint(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    FilterParams(query): FilterParams<AttemptsAtEndpointQuery>,
) -> Result<Response, ApiError> {
    let (part, filter) = (query.history.request(ids::ATTEMPT)?, query.filter()?);
    let attempts = provider.find_attempts_at_endpoint(&caller, &application, &endpoint, filter, part).await?;
    let messages =
        if query.with_msg == Some(true) { provider.messages_of(&attempts.data).await? } else { HashMap::new() };
    let shown = ViewOptions { content: content(query.with_content), statuses: Statuses::of(query.expanded_statuses) };
    response::try_list(&attempts, |attempt| {
        let msg =
            messages.get(&attempt.message).map(|message| messages::view(message, PayloadRead::Skip)).transpose()?;
        Ok(MessageAttemptOut { msg, ..view(attempt, shown) })
    })
}

/// Returns an attempt.
#[utoipa::path(get, path = "/app/{app_id}/msg/{msg_id}/attempt/{attempt_id}", operation_id = "v1.message-attempt.get",
    tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ("attempt_id" = String, Path, description = "Id of the attempt, `atmpt_…`"), StatusesQuery,
    ),
    responses(
        (status = 200, description = "The attempt.", body = MessageAttemptOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message, attempt]): PathParams<3>,
    QueryParams(query): QueryParams<StatusesQuery>,
) -> Result<Response, ApiError> {
    let shown = ViewOptions { content: PayloadRead::Include, statuses: Statuses::of(query.expanded_statuses) };
    Ok(response::ok(&view(&provider.attempt(&caller, &application, &message, &attempt).await?, shown)))
}

/// Expunges the response body of an attempt, which is `EXPUNGED` from then on.
#[utoipa::path(delete, path = "/app/{app_id}/msg/{msg_id}/attempt/{attempt_id}/content",
    operation_id = "v1.message-attempt.expunge-content", tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ("attempt_id" = String, Path, description = "Id of the attempt, `atmpt_…`"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn expunge(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message, attempt]): PathParams<3>,
) -> Result<Response, ApiError> {
    provider.expunge_attempt(&caller, &application, &message, &attempt).await?;
    Ok(response::no_content())
}

/// Resends a message to an endpoint: one immediate attempt, which ignores the endpoint's filters and replaces a
/// scheduled attempt.
#[utoipa::path(post, path = "/app/{app_id}/msg/{msg_id}/endpoint/{endpoint_id}/resend",
    operation_id = "v1.message-attempt.resend", tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 202, description = "An empty object: the attempt is scheduled.", body = EmptyResponse),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The payload was expunged or has expired (`missing_payload`), the endpoint is disabled \
                (`endpoint_disabled`), or the idempotency key is invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn resend(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message, endpoint]): PathParams<3>,
    request: Request,
) -> Result<Response, ApiError> {
    let idempotency = extract::read_idempotency_key(request).await?;
    let render = || response::EMPTY_OBJECT.to_owned();
    let resent = provider.resend(&caller, &application, &message, &endpoint, idempotency.as_ref(), render).await?;
    Ok(response::accepted(resent))
}

/// An empty object.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmptyResponse {}

/// Statuses that the client knows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatusesQuery {
    /// `true` returns status 4 (canceled); otherwise a cancelled attempt counts as 0 (success).
    expanded_statuses: Option<bool>,
}
