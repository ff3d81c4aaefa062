//! Signing secrets of endpoints.

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;

/// The key that verifies deliveries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointSecretOut {
    /// `whsec_…`, or the public key `whpk_…` of an ed25519 key pair.
    pub(super) key: String,
}

/// The new secret and the grace period of the old one.
/// An unknown field is refused with 422, because ignoring a misspelt `key` would generate a secret.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndpointSecretRotateIn {
    /// The new secret, `whsec_…` or `whsk_…`. Without this field the provider generates one of the same kind as before.
    pub(super) key: Option<String>,
    /// Grace period in seconds, in which the old secret also signs: 0 to 604,800. The default is 86,400.
    #[schema(minimum = 0, maximum = 604800)]
    pub(super) grace_period_seconds: Option<i64>,
}

/// Returns the key that verifies an endpoint's deliveries: its secret, or the public key of its key pair.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/secret", operation_id = "v1.endpoint.get-secret",
    tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The key that verifies deliveries.", body = EndpointSecretOut),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    let key = provider.endpoint_secret(&caller, &application, &endpoint).await?;
    Ok(response::ok(&EndpointSecretOut { key }))
}

/// Rotates the signing secret of an endpoint and returns the new key. Official clients of version 2 read it; older ones
/// accept any 2xx status.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/secret/rotate",
    operation_id = "v1.endpoint.rotate-secret", tag = "Endpoint", request_body = EndpointSecretRotateIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The key that verifies deliveries.", body = EndpointSecretOut),
        (status = 400, body = HttpErrorOut<'_>,
            description = "Too many old secrets are in their grace period (`limit_reached`), or the idempotency key is \
                invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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
