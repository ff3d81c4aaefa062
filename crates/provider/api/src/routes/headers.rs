//! Headers that an endpoint asks for with every delivery (provider.md, "Delivery").

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;
use provider_core::headers::is_sensitive;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;

/// The headers of an endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointHeadersOut<'a> {
    /// Those whose values may be shown.
    headers: BTreeMap<&'a str, &'a str>,
    /// Names of the others, such as `Authorization`.
    sensitive: Vec<&'a str>,
}

/// The headers that an endpoint is to have.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EndpointHeadersIn {
    /// Values of at most 4,096 bytes, on one line.
    headers: BTreeMap<String, String>,
}

/// Headers to set and to remove. Names are compared without regard to case.
/// A field that there is none of is refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndpointHeadersPatchIn {
    /// Values of at most 4,096 bytes, on one line; null removes the header.
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    /// Names of headers to remove.
    delete_headers: Option<Vec<String>>,
}

impl EndpointHeadersPatchIn {
    /// All changes in one. 422 for a header that is to be set and removed.
    fn into_changes(self) -> Result<BTreeMap<String, Option<String>>, ApiError> {
        let mut changes = self.headers;
        for (index, name) in self.delete_headers.into_iter().flatten().enumerate() {
            let set = changes.iter().any(|(other, value)| value.is_some() && other.eq_ignore_ascii_case(&name));
            if set {
                let place = ["body", "deleteHeaders", &index.to_string()].map(str::to_owned).to_vec();
                return Err(ApiError::InvalidValue { loc: place, msg: "this header is among those to set".to_owned() });
            }
            changes.insert(name, None);
        }
        Ok(changes)
    }
}

/// Gives the headers that the endpoint asks for.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/headers", operation_id = "v1.endpoint.get-headers",
    tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointHeadersOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    let headers = provider.endpoint_headers(&caller, &application, &endpoint).await?;
    let (sensitive, shown): (Vec<_>, Vec<_>) =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).partition(|(name, _)| is_sensitive(name));
    let sensitive = sensitive.into_iter().map(|(name, _)| name).collect();
    Ok(response::ok(&EndpointHeadersOut { headers: shown.into_iter().collect(), sensitive }))
}

/// Replaces the headers that the endpoint asks for. The next delivery has them.
#[utoipa::path(put, path = "/app/{app_id}/endpoint/{endpoint_id}/headers",
    operation_id = "v1.endpoint.update-headers", tag = "Endpoint", request_body = EndpointHeadersIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointHeadersIn>,
) -> Result<Response, ApiError> {
    provider.put_endpoint_headers(&caller, &application, &endpoint, &sent.body.headers).await?;
    Ok(response::no_content())
}

/// Sets some of the headers that the endpoint asks for, and removes others. The next delivery is with the result.
#[utoipa::path(patch, path = "/app/{app_id}/endpoint/{endpoint_id}/headers",
    operation_id = "v1.endpoint.patch-headers", tag = "Endpoint", request_body = EndpointHeadersPatchIn,
    params(("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn change(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointHeadersPatchIn>,
) -> Result<Response, ApiError> {
    let changes = sent.body.into_changes()?;
    provider.patch_endpoint_headers(&caller, &application, &endpoint, &changes).await?;
    Ok(response::no_content())
}
