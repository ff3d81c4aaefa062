//! Is it up?

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;

use crate::errors::{ApiError, HttpErrorOut};
use crate::response;

/// Says if the provider can work: its database can be read and written, and what is sent is recorded.
#[utoipa::path(get, path = "/health", operation_id = "v1.health.get", tag = "Health", security(()),
    responses((status = 204), (status = 503, body = HttpErrorOut<'_>)))]
pub(crate) async fn health(State(provider): State<Provider>) -> Result<Response, ApiError> {
    provider.ping().await?;
    Ok(response::no_content())
}

/// Says that the server answers.
#[utoipa::path(get, path = "/health/ping", operation_id = "v1.health.ping", tag = "Health", security(()),
    responses((status = 204)))]
pub(crate) async fn ping() -> Response {
    response::no_content()
}
