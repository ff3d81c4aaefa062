//! The health check.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::errors::ApiError;
use crate::response;

/// The platform works.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Check that the platform works
///
/// Reads and writes the database. Needs no key. The response is 503 `unavailable` if the database is not available, or if
/// due items could not be ended for 10 seconds.
#[utoipa::path(
    get, path = "/health", tag = "health", security(()),
    responses((status = 200, description = "The platform works.", body = Health)),
)]
pub(crate) async fn health(State(platform): State<Platform>) -> Result<Response, ApiError> {
    platform.ping().await?;
    Ok(response::ok(&Health { status: "ok" }))
}
