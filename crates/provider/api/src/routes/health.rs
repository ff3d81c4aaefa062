//! Health checks.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use kit_http::shared_check::SharedCheckExtension;
use provider_core::{Provider, ProviderError};

use crate::errors::{ApiError, HttpErrorOut};
use crate::response;

/// Checks that the provider can read and write its database and that attempts are being recorded.
#[utoipa::path(get, path = "/health", operation_id = "v1.health.get", tag = "Health", security(()),
    responses(
        (status = 204, description = "No content."),
        (status = 503, body = HttpErrorOut<'_>,
            description = "The provider can't read or write its database, or can't record attempts (`unavailable`)."),
    ))]
pub(crate) async fn health(
    State(provider): State<Provider>,
    Extension(shared): SharedCheckExtension,
) -> Result<Response, ApiError> {
    shared.result(provider.ping()).await.map_err(ProviderError::Unavailable)?;
    Ok(response::no_content())
}

/// Checks that the server responds. It does not check the database.
#[utoipa::path(get, path = "/health/ping", operation_id = "v1.health.ping", tag = "Health", security(()),
    responses((status = 204, description = "No content.")))]
pub(crate) async fn ping() -> Response {
    response::no_content()
}
