//! Attempts to deliver messages (provider.md, "Delivery").

use axum::extract::State;
use axum::response::Response;
use provider::model::{Attempt, AttemptStatus};
use provider::page::ListKey;
use provider::{Provider, ids};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{self, ListResponse};
use crate::ask::{Asked, At, Auth, HistoryQuery};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};

/// An attempt.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageAttemptOut<'a> {
    /// Address that was called.
    #[schema(format = "uri")]
    url: &'a str,
    /// The response's body, at most 20,000 bytes, or what went wrong when there was no response.
    response: &'a str,
    /// 0 when there was no response.
    response_status_code: u16,
    /// From the beginning to the end of the response.
    response_duration_ms: i64,
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: u8,
    /// The same as a word.
    status_text: &'static str,
    /// 0 scheduled, 1 manual.
    #[schema(minimum = 0, maximum = 1)]
    trigger_type: u8,
    /// The message.
    msg_id: &'a str,
    /// The endpoint.
    endpoint_id: &'a str,
    /// `atmpt_…`
    id: &'a str,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    timestamp: String,
}

fn view(attempt: &Attempt) -> MessageAttemptOut<'_> {
    MessageAttemptOut {
        url: &attempt.url,
        response: &attempt.response,
        response_status_code: attempt.response_status_code,
        response_duration_ms: attempt.response_duration_ms,
        status: attempt.status as u8,
        status_text: status_text(attempt.status),
        trigger_type: attempt.trigger as u8,
        msg_id: &attempt.message,
        endpoint_id: &attempt.endpoint,
        id: &attempt.id,
        timestamp: answer::time(attempt.at),
    }
}

/// The words that clients know; theirs is spelled with one `l`.
fn status_text(status: AttemptStatus) -> &'static str {
    match status {
        AttemptStatus::Success => "success",
        AttemptStatus::Pending => "pending",
        AttemptStatus::Fail => "fail",
        AttemptStatus::Sending => "sending",
        AttemptStatus::Cancelled => "canceled",
    }
}

/// The view without the response unless it is to be shown.
fn listed<'a>(attempt: &'a Attempt, query: &HistoryQuery) -> MessageAttemptOut<'a> {
    let view = view(attempt);
    let response = if query.with_content == Some(false) { "" } else { view.response };
    MessageAttemptOut { response, ..view }
}

/// Lists the attempts to deliver a message, newest first.
#[utoipa::path(get, path = "/app/{app_id}/attempt/msg/{msg_id}", operation_id = "v1.message-attempt.list-by-msg",
    tag = "Message Attempt",
    params(("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        HistoryQuery),
    responses((status = 200, body = ListResponse<MessageAttemptOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list_by_message(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, message]): At<2>,
    Asked(query): Asked<HistoryQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(ListKey::Id(ids::ATTEMPT))?;
    let attempts = provider.list_attempts_of_message(&caller, &application, &message, &page).await?;
    Ok(answer::list(&attempts, |attempt| listed(attempt, &query)))
}

/// Lists the attempts at an endpoint, newest first.
#[utoipa::path(get, path = "/app/{app_id}/attempt/endpoint/{endpoint_id}",
    operation_id = "v1.message-attempt.list-by-endpoint", tag = "Message Attempt",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        HistoryQuery),
    responses((status = 200, body = ListResponse<MessageAttemptOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list_by_endpoint(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, endpoint]): At<2>,
    Asked(query): Asked<HistoryQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(ListKey::Id(ids::ATTEMPT))?;
    let attempts = provider.list_attempts_at_endpoint(&caller, &application, &endpoint, &page).await?;
    Ok(answer::list(&attempts, |attempt| listed(attempt, &query)))
}

/// Gives an attempt.
#[utoipa::path(get, path = "/app/{app_id}/msg/{msg_id}/attempt/{attempt_id}",
    operation_id = "v1.message-attempt.get", tag = "Message Attempt",
    params(("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ("attempt_id" = String, Path)),
    responses((status = 200, body = MessageAttemptOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, message, attempt]): At<3>,
) -> Result<Response, ApiError> {
    Ok(answer::ok(&view(&provider.attempt(&caller, &application, &message, &attempt).await?)))
}
