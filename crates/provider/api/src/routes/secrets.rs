//! Signing secrets of endpoints (provider.md, "Delivery").

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;

/// A secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointSecretOut {
    /// What deliveries are verified with: `whsec_…`, or `whpk_…` of an ed25519 key pair.
    pub(super) key: String,
}

/// How to rotate a secret.
/// A field that there is none of is refused: without it a secret would be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndpointSecretRotateIn {
    /// The new secret, `whsec_…` or `whsk_…`; one of the same kind as before is made when there is none.
    pub(super) key: Option<String>,
    /// Seconds that the old secret keeps signing beside the new one: 0 to 604,800; 86,400 without.
    #[schema(minimum = 0, maximum = 604800)]
    pub(super) grace_period_seconds: Option<i64>,
}

/// Gives what the endpoint's deliveries are verified with: its secret, or the public key of its key pair.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/secret", operation_id = "v1.endpoint.get-secret",
    tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointSecretOut), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    let key = provider.endpoint_secret(&caller, &application, &endpoint).await?;
    Ok(response::ok(&EndpointSecretOut { key }))
}

/// Gives the endpoint a new signing secret. The answer holds it (200): official clients of version 2 read it there, and
/// older ones take any 2xx.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/secret/rotate",
    operation_id = "v1.endpoint.rotate-secret", tag = "Endpoint", request_body = EndpointSecretRotateIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointSecretOut), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn rotate(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointSecretRotateIn>,
) -> Result<Response, ApiError> {
    let EndpointSecretRotateIn { key, grace_period_seconds } = sent.body;
    let (key, idempotency) = (key.as_deref(), sent.idempotency.as_ref());
    let key = provider
        .rotate_endpoint_secret(&caller, &application, &endpoint, key, grace_period_seconds, idempotency)
        .await?;
    Ok(response::ok(&EndpointSecretOut { key }))
}
