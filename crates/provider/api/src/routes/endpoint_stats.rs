//! How an endpoint fares, and trying it out.

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use provider_core::Provider;
use provider_core::port::EndpointCounts;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::messages::{self, MessageOut};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams, QueryParams};
use crate::response;

/// How many attempts ended how, and how many deliveries wait.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointStats {
    /// Attempts that succeeded.
    success: u64,
    /// Deliveries that wait for their first attempt.
    pending: u64,
    /// Deliveries that failed and wait for another attempt.
    sending: u64,
    /// Attempts that failed.
    fail: u64,
    /// Attempts that were given up.
    canceled: u64,
}

/// How many attempts ended how.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointAttemptStats {
    /// Succeeded.
    success: u64,
    /// Failed.
    fail: u64,
    /// Given up.
    canceled: u64,
}

/// From when to when attempts are counted, by their end; and deliveries, by when their message was sent.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndpointStatsRange {
    /// At most 28 days before `until`, as without.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<String>,
    /// Not in the future; now without.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<String>,
}

/// Which example to send.
/// A field that there is none of is refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EventExampleIn {
    /// Event type name. Of `svix.ping` there always is an example.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// Which of the examples of the event type's schema, from 0; the first without. Without examples a value is made
    /// from the schema.
    example_index: Option<usize>,
    /// Svix's cloud takes it of some customers.
    #[schema(ignore)]
    payload: Option<IgnoredAny>,
}

impl EventExampleIn {
    fn refuse_payload(&self) -> Result<(), ApiError> {
        match self.payload {
            None => Ok(()),
            Some(_) => Err(ApiError::at(
                ["body", "payload"],
                "can't be given: what is sent is an example of the event type's schema; a payload is sent with POST …/msg",
            )),
        }
    }
}

impl From<EndpointCounts> for EndpointStats {
    fn from(counts: EndpointCounts) -> Self {
        Self {
            success: counts.success,
            pending: counts.pending,
            sending: counts.sending,
            fail: counts.fail,
            canceled: counts.cancelled,
        }
    }
}

/// Counts an endpoint's attempts and what waits for it.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/stats", operation_id = "v1.endpoint.get-stats",
    tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        EndpointStatsRange),
    responses((status = 200, body = EndpointStats), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn stats(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    QueryParams(range): QueryParams<EndpointStatsRange>,
) -> Result<Response, ApiError> {
    let (since, until) = (time("since", range.since)?, time("until", range.until)?);
    let counts = provider.endpoint_stats(&caller, &application, &endpoint, since, until).await?;
    Ok(response::ok(&EndpointStats::from(counts)))
}

/// Counts an endpoint's attempts.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/attempt-stats",
    operation_id = "v1.endpoint.get-attempt-stats", tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        EndpointStatsRange),
    responses((status = 200, body = EndpointAttemptStats), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn attempt_stats(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    QueryParams(range): QueryParams<EndpointStatsRange>,
) -> Result<Response, ApiError> {
    let (since, until) = (time("since", range.since)?, time("until", range.until)?);
    let counts = provider.endpoint_stats(&caller, &application, &endpoint, since, until).await?;
    let EndpointCounts { success, fail, cancelled: canceled, .. } = counts;
    Ok(response::ok(&EndpointAttemptStats { success, fail, canceled }))
}

/// Sends an example of an event type to this endpoint and to no other: one attempt, at once, whatever pause it asked for.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/send-example",
    operation_id = "v1.endpoint.send-example", tag = "Endpoint", request_body = EventExampleIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = MessageOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn send_example(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EventExampleIn>,
) -> Result<Response, ApiError> {
    sent.body.refuse_payload()?;
    let EventExampleIn { event_type, example_index, .. } = sent.body;
    let idempotency = sent.idempotency.as_ref();
    let sent = provider.send_example(&caller, &application, &endpoint, &event_type, example_index, idempotency);
    messages::ok_with_payload(&sent.await?)
}

/// 422 for what is no time. A `+` of an offset that was not escaped came as a space.
fn time(parameter: &'static str, text: Option<String>) -> Result<Option<Timestamp>, ApiError> {
    let parse = |text: String| {
        text.replace(' ', "+")
            .parse()
            .map_err(|_| ApiError::at(["query", parameter], "must be a time of RFC 3339, such as 2026-01-31T12:00:00Z"))
    };
    text.map(parse).transpose()
}
