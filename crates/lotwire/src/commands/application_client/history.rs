//! The latest messages and attempts of an application, for `lotwire provider tail`.

use jiff::Timestamp;
use provider_core::model::cause::Cause;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::page::PageRequest;
use provider_core::port::{AttemptFilter, MessageFilter, PayloadRead};
use serde_json::Value;

use super::ApplicationClient;
use crate::error::{CommandError, ErrorContext as _};

/// Rows that are read at once; the maximum of the API.
pub(in crate::commands) const ROWS_MAX: usize = 250;

/// An accepted message.
pub(in crate::commands) struct AcceptedMessage {
    pub(in crate::commands) id: String,
    pub(in crate::commands) event_type: String,
    pub(in crate::commands) at: Timestamp,
}

/// A finished attempt.
pub(in crate::commands) struct FinishedAttempt {
    pub(in crate::commands) id: String,
    pub(in crate::commands) message: String,
    pub(in crate::commands) event_type: Option<String>,
    pub(in crate::commands) endpoint: String,
    pub(in crate::commands) url: String,
    pub(in crate::commands) status: AttemptStatus,
    /// 0 without a response.
    pub(in crate::commands) code: u16,
    /// Code and sentence of the cause of a failure.
    pub(in crate::commands) cause: Option<(&'static str, String)>,
    pub(in crate::commands) duration_ms: i64,
    pub(in crate::commands) is_manual: bool,
    /// Start of the attempt.
    pub(in crate::commands) began_at: Timestamp,
}

impl ApplicationClient {
    /// The latest messages of the application, newest first, at most [`ROWS_MAX`].
    pub(in crate::commands) async fn latest_messages(&self) -> Result<Vec<AcceptedMessage>, CommandError> {
        let doing = "reading the messages";
        match self {
            Self::Local { provider, caller, application } => {
                let (filter, page) = (MessageFilter::default(), PageRequest::first(ROWS_MAX));
                let found = provider.find_messages(caller, application, &filter, PayloadRead::Skip, &page).await;
                let messages = found.context(doing)?.data.into_iter();
                Ok(messages
                    .map(|message| AcceptedMessage {
                        id: message.id.to_string(),
                        event_type: message.event_type.to_string(),
                        at: message.created_at,
                    })
                    .collect())
            }
            Self::Remote { api, application } => {
                let path = format!("/api/v1/app/{application}/msg?limit={ROWS_MAX}&with_content=false");
                let found = self.named(api.get(&path).await).await.context(doing)?;
                let messages = found.body["data"].as_array().into_iter().flatten();
                Ok(messages
                    .map(|message| AcceptedMessage {
                        id: text(message, "id"),
                        event_type: text(message, "eventType"),
                        at: time(message),
                    })
                    .collect())
            }
        }
    }

    /// The latest attempts at an endpoint, newest first, at most [`ROWS_MAX`].
    pub(in crate::commands) async fn latest_attempts(
        &self,
        endpoint: &str,
    ) -> Result<Vec<FinishedAttempt>, CommandError> {
        let doing = format!("reading the attempts at {endpoint}");
        match self {
            Self::Local { provider, caller, application } => {
                let (filter, page) = (AttemptFilter::default(), PageRequest::first(ROWS_MAX));
                let found = provider.find_attempts_at_endpoint(caller, application, endpoint, filter, &page).await;
                let found = found.context(&doing)?.data;
                let messages = provider.messages_of(&found).await.context(&doing)?;
                let event_type = |attempt: &Attempt| Some(messages.get(&attempt.message)?.event_type.to_string());
                // The operator does not see what receivers answer.
                let cause = |attempt: &Attempt| {
                    let cause = Cause::of(attempt);
                    (cause.code(), cause.sentence_without_response())
                };
                Ok(found
                    .iter()
                    .map(|attempt| FinishedAttempt {
                        id: attempt.id.to_string(),
                        message: attempt.message.to_string(),
                        event_type: event_type(attempt),
                        endpoint: attempt.endpoint.to_string(),
                        url: attempt.url.clone(),
                        status: attempt.status,
                        code: attempt.response_status_code,
                        cause: (attempt.status == AttemptStatus::Fail).then(|| cause(attempt)),
                        duration_ms: attempt.response_duration_ms,
                        is_manual: attempt.trigger == AttemptTrigger::Manual,
                        began_at: attempt.at,
                    })
                    .collect())
            }
            Self::Remote { api, application } => {
                let path = format!(
                    "/api/v1/app/{application}/attempt/endpoint/{endpoint}?limit={ROWS_MAX}&with_msg=true\
                     &expanded_statuses=true"
                );
                let found = api.get(&path).await.context(doing)?;
                Ok(found.body["data"].as_array().into_iter().flatten().map(remote_attempt).collect())
            }
        }
    }
}

fn remote_attempt(attempt: &Value) -> FinishedAttempt {
    let status = match attempt["status"].as_u64() {
        Some(0) => AttemptStatus::Success,
        Some(2) => AttemptStatus::Fail,
        Some(4) => AttemptStatus::Cancelled,
        Some(3) => AttemptStatus::Sending,
        _ => AttemptStatus::Pending,
    };
    let code = attempt["responseStatusCode"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
    let url = text(attempt, "url");
    let cause = (status == AttemptStatus::Fail).then(|| {
        let cause = Cause::from_parts(code, attempt["response"].as_str().unwrap_or_default(), None, &url);
        (cause.code(), cause.sentence())
    });
    FinishedAttempt {
        id: text(attempt, "id"),
        message: text(attempt, "msgId"),
        event_type: attempt["msg"]["eventType"].as_str().map(str::to_owned),
        endpoint: text(attempt, "endpointId"),
        url,
        status,
        code,
        cause,
        duration_ms: attempt["responseDurationMs"].as_i64().unwrap_or_default(),
        is_manual: attempt["triggerType"] == 1,
        began_at: time(attempt),
    }
}

fn text(row: &Value, field: &str) -> String {
    row[field].as_str().unwrap_or_default().to_owned()
}

fn time(row: &Value) -> Timestamp {
    row["timestamp"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}
