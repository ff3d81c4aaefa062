//! Statistics of an endpoint: its attempts by outcome, and its waiting deliveries.

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use provider_core::model::counts::AttemptCounts;
use provider_core::{EndpointCounts, Provider, parse_query_time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, PathParams, QueryParams};
use crate::response;

/// Attempts by outcome, and waiting deliveries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointStats {
    /// Attempts that succeeded.
    success: u64,
    /// Deliveries that wait for their first attempt.
    pending: u64,
    /// Deliveries that failed and wait for a retry.
    sending: u64,
    /// Attempts that failed.
    fail: u64,
    /// Attempts that were cancelled.
    canceled: u64,
}

/// Attempts by outcome.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointAttemptStats {
    /// Attempts that succeeded.
    success: u64,
    /// Attempts that failed.
    fail: u64,
    /// Attempts that were cancelled.
    canceled: u64,
}

/// The time range of the statistics. Attempts count by their end, waiting deliveries by the time of their message.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndpointStatsRange {
    /// Start of the time range, RFC 3339; at most 28 days before `until`, which is also the default.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<String>,
    /// End of the time range, RFC 3339, not in the future. The default is now.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<String>,
}

impl From<EndpointCounts> for EndpointStats {
    fn from(counts: EndpointCounts) -> Self {
        Self {
            success: counts.attempts.success,
            pending: counts.waiting.first,
            sending: counts.waiting.retries,
            fail: counts.attempts.fail,
            canceled: counts.attempts.cancelled,
        }
    }
}

/// Returns the number of attempts at an endpoint by outcome, and of its waiting deliveries.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/stats", operation_id = "v1.endpoint.get-stats",
    tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        EndpointStatsRange,
    ),
    responses(
        (status = 200, description = "The statistics.", body = EndpointStats),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The time range is invalid, longer than 28 days or in the future (`invalid_range`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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

/// Returns the number of attempts at an endpoint by outcome.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/attempt-stats",
    operation_id = "v1.endpoint.get-attempt-stats", tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        EndpointStatsRange,
    ),
    responses(
        (status = 200, description = "The statistics.", body = EndpointAttemptStats),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The time range is invalid, longer than 28 days or in the future (`invalid_range`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn attempt_stats(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    QueryParams(range): QueryParams<EndpointStatsRange>,
) -> Result<Response, ApiError> {
    let (since, until) = (time("since", range.since)?, time("until", range.until)?);
    let counts = provider.endpoint_stats(&caller, &application, &endpoint, since, until).await?;
    let AttemptCounts { success, fail, cancelled: canceled } = counts.attempts;
    Ok(response::ok(&EndpointAttemptStats { success, fail, canceled }))
}

/// A time of the query; 422 if it is not one.
fn time(parameter: &'static str, text: Option<String>) -> Result<Option<Timestamp>, ApiError> {
    let parse = |text: String| {
        parse_query_time(&text).ok_or_else(|| {
            ApiError::at(["query", parameter], "must be a time in RFC 3339, such as 2026-01-31T12:00:00Z")
        })
    };
    text.map(parse).transpose()
}
