//! Is it up?

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::errors::ApiError;
use crate::response;

/// The platform can work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Says if the platform can work: its database can be read and written.
#[utoipa::path(get, path = "/health", tag = "health", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn health(State(platform): State<Platform>) -> Result<Response, ApiError> {
    platform.ping().await?;
    Ok(response::ok(&Health { status: "ok" }))
}
