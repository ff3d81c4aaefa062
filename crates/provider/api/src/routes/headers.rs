//! Custom headers of an endpoint, which every delivery carries.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;
use provider_core::headers::custom_headers::is_sensitive;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};
use crate::response;

/// The custom headers of an endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EndpointHeadersOut<'a> {
    /// Headers with their values, except the sensitive ones.
    headers: BTreeMap<&'a str, &'a str>,
    /// Names of the sensitive headers, such as `Authorization`, whose values are never returned.
    sensitive: Vec<&'a str>,
}

/// The new custom headers of an endpoint.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EndpointHeadersIn {
    /// Values by header name, each one line of at most 4,096 bytes.
    headers: BTreeMap<String, String>,
}

/// Headers to set and to remove. The case of names is ignored.
/// An unknown field is refused with 422.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndpointHeadersPatchIn {
    /// Values by header name, each one line of at most 4,096 bytes; null removes the header.
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    /// Names of headers to remove.
    delete_headers: Option<Vec<String>>,
}

impl EndpointHeadersPatchIn {
    /// All changes by header name. 422 for a header that is both set and removed.
    fn into_changes(self) -> Result<BTreeMap<String, Option<String>>, ApiError> {
        let mut changes = self.headers;
        for (index, name) in self.delete_headers.into_iter().flatten().enumerate() {
            let set = changes.iter().any(|(other, value)| value.is_some() && other.eq_ignore_ascii_case(&name));
            if set {
                let place = ["body", "deleteHeaders", &index.to_string()].map(str::to_owned).to_vec();
                return Err(ApiError::InvalidValue {
                    loc: place,
                    msg: "is also in headers; a header can't be set and removed in one request".to_owned(),
                });
            }
            changes.insert(name, None);
        }
        Ok(changes)
    }
}

/// The headers with their values, and the names of the sensitive ones, whose values are never returned.
pub(super) fn split_sensitive(all: &BTreeMap<String, String>) -> (BTreeMap<&str, &str>, Vec<&str>) {
    let all = all.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (sensitive, shown): (BTreeMap<_, _>, _) = all.partition(|(name, _)| is_sensitive(name));
    (shown, sensitive.into_keys().collect())
}

/// Returns the custom headers of an endpoint.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/headers", operation_id = "v1.endpoint.get-headers",
    tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The custom headers.", body = EndpointHeadersOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    let headers = provider.endpoint_headers(&caller, &application, &endpoint).await?;
    let (headers, sensitive) = split_sensitive(&headers);
    Ok(response::ok(&EndpointHeadersOut { headers, sensitive }))
}

/// Replaces the custom headers of an endpoint. The next delivery carries them.
#[utoipa::path(put, path = "/app/{app_id}/endpoint/{endpoint_id}/headers", operation_id = "v1.endpoint.update-headers",
    tag = "Endpoint", request_body = EndpointHeadersIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointHeadersIn>,
) -> Result<Response, ApiError> {
    provider.put_endpoint_headers(&caller, &application, &endpoint, &sent.body.headers).await?;
    Ok(response::no_content())
}

/// Sets and removes custom headers of an endpoint; the others stay. The next delivery carries the result.
#[utoipa::path(patch, path = "/app/{app_id}/endpoint/{endpoint_id}/headers", operation_id = "v1.endpoint.patch-headers",
    tag = "Endpoint", request_body = EndpointHeadersPatchIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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
