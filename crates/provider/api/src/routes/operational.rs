//! Operational webhooks: the account's own endpoints, which are told of what happens to its applications' endpoints and
//! attempts (provider.md, "Delivery").

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use axum::extract::State;
use axum::response::Response;
use provider_core::headers::is_sensitive;
use provider_core::model::Endpoint;
use provider_core::page::CursorKey;
use provider_core::{DeliveryOrder, EndpointInput, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints::Ordering;
use super::secrets::{EndpointSecretOut, EndpointSecretRotateIn};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody, ListQuery, PathParams, QueryParams};
use crate::field_aliases::{EVENT_TYPES, THROTTLE_RATE, UsedName};
use crate::response::{self, ListResponse};
use crate::schema_types::Name;

/// An operational endpoint to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationalWebhookEndpointIn {
    /// Receiving address.
    #[schema(format = "uri", min_length = 1, max_length = 65536)]
    url: String,
    /// Free text.
    description: Option<String>,
    /// Messages a second that it receives at most.
    #[schema(minimum = 1, maximum = 65535)]
    throttle_rate: Option<u16>,
    /// Older name of `throttleRate`.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: Option<NonZeroU16>,
    /// Your own id for it: 1 to 256 of `a-zA-Z0-9-_.`, not beginning with `ep_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: Option<String>,
    /// Receives nothing while true.
    disabled: Option<bool>,
    /// Names of operational event types, such as `message.attempt.failing`; all when there are none.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: Option<Vec<String>>,
    /// Older name of `eventTypes`.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024, deprecated)]
    filter_types: Option<Vec<String>>,
    /// `whsec_` and the base64 of 24 to 75 bytes; made when there is none. That of an endpoint that is replaced stays: another
    /// one is refused, `…/secret/rotate` changes it.
    secret: Option<String>,
    /// Free text pairs.
    metadata: Option<BTreeMap<String, String>>,
    /// Headers sent with every delivery. They stay as they are when an endpoint is replaced without.
    headers: Option<BTreeMap<String, String>>,
    /// `key`: events about one endpoint are delivered one after the other, as they happened. `none` without; it stays as it is
    /// when an endpoint is replaced without.
    ordering: Option<Ordering>,
}

/// An operational endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationalWebhookEndpointOut<'a> {
    /// `ep_…`
    id: &'a str,
    /// Receiving address.
    #[schema(format = "uri")]
    url: &'a str,
    /// Free text.
    description: &'a str,
    /// Messages a second that it receives at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    throttle_rate: Option<u16>,
    /// Older name of `throttleRate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(deprecated)]
    rate_limit: Option<u16>,
    /// Your own id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    /// Receives nothing while true.
    disabled: bool,
    /// Names of event types that it receives; all when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_types: Option<&'a [String]>,
    /// Older name of `eventTypes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(deprecated)]
    filter_types: Option<&'a [String]>,
    /// `key` when events about one endpoint are delivered one after the other; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    ordering: Option<Ordering>,
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
    /// Free text pairs.
    metadata: &'a BTreeMap<String, String>,
}

/// The headers of an operational endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperationalWebhookEndpointHeadersOut<'a> {
    /// Those whose values may be shown.
    headers: BTreeMap<&'a str, &'a str>,
    /// Names of the others, such as `Authorization`.
    sensitive: Vec<&'a str>,
}

/// The headers that an operational endpoint is to have.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OperationalWebhookEndpointHeadersIn {
    /// Values of at most 4,096 bytes, on one line.
    headers: BTreeMap<String, String>,
}

impl OperationalWebhookEndpointIn {
    fn used_name(&self) -> UsedName {
        UsedName::of(self.event_types.is_some(), self.filter_types.is_some())
    }
}

impl TryFrom<OperationalWebhookEndpointIn> for EndpointInput {
    type Error = ApiError;

    fn try_from(body: OperationalWebhookEndpointIn) -> Result<Self, ApiError> {
        Ok(EndpointInput {
            url: body.url,
            uid: body.uid,
            description: body.description.unwrap_or_default(),
            disabled: body.disabled.unwrap_or_default(),
            filter_types: EVENT_TYPES.one_of(body.event_types, body.filter_types)?,
            channels: None,
            throttle_rate: THROTTLE_RATE.one_of(body.throttle_rate, body.rate_limit.map(NonZeroU16::get))?,
            metadata: body.metadata.unwrap_or_default(),
            headers: body.headers,
            secret: body.secret,
            ordering: body.ordering.map(DeliveryOrder::from),
        })
    }
}

fn view(endpoint: &Endpoint) -> OperationalWebhookEndpointOut<'_> {
    OperationalWebhookEndpointOut {
        id: &endpoint.id,
        url: &endpoint.url,
        description: &endpoint.description,
        throttle_rate: endpoint.throttle_rate,
        rate_limit: endpoint.throttle_rate,
        uid: endpoint.uid.as_deref(),
        disabled: endpoint.disabled,
        event_types: endpoint.filter_types.as_deref(),
        filter_types: endpoint.filter_types.as_deref(),
        ordering: Ordering::shown(endpoint),
        created_at: response::time(endpoint.created_at),
        updated_at: response::time(endpoint.updated_at),
        metadata: &endpoint.metadata,
    }
}

fn render(endpoint: &Endpoint) -> String {
    response::text(&view(endpoint))
}

/// Creates an operational endpoint.
#[utoipa::path(post, path = "/operational-webhook/endpoint", operation_id = "v1.operational-webhook.endpoint.create",
    tag = "Operational Webhook Endpoint", request_body = OperationalWebhookEndpointIn,
    responses((status = 201, body = OperationalWebhookEndpointOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 409, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: JsonBody<OperationalWebhookEndpointIn>,
) -> Result<Response, ApiError> {
    let (named, idempotency) = (sent.body.used_name(), sent.idempotency.as_ref());
    let created = provider.create_operational_endpoint(&caller, sent.body.try_into()?, idempotency, render).await;
    let created = created.map_err(|error| named.rename_in(error))?;
    Ok(response::created(created, render))
}

/// Lists the account's operational endpoints, newest first unless asked otherwise.
#[utoipa::path(get, path = "/operational-webhook/endpoint", operation_id = "v1.operational-webhook.endpoint.list",
    tag = "Operational Webhook Endpoint", params(ListQuery),
    responses((status = 200, body = ListResponse<OperationalWebhookEndpointOut<'_>>),
        (status = 401, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(CursorKey::Id(ids::ENDPOINT))?;
    Ok(response::list(&provider.list_operational_endpoints(&caller, &page).await?, view))
}

/// Gives an operational endpoint.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.get", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = OperationalWebhookEndpointOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.operational_endpoint(&caller, &endpoint).await?)))
}

/// Replaces an operational endpoint, or creates one when there is none; the id in the path is not used then.
#[utoipa::path(put, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.upsert", tag = "Operational Webhook Endpoint",
    request_body = OperationalWebhookEndpointIn, params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = OperationalWebhookEndpointOut<'_>),
        (status = 201, body = OperationalWebhookEndpointOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
    sent: JsonBody<OperationalWebhookEndpointIn>,
) -> Result<Response, ApiError> {
    let named = sent.body.used_name();
    let put = provider.put_operational_endpoint(&caller, &endpoint, sent.body.try_into()?).await;
    let put = put.map_err(|error| named.rename_in(error))?;
    Ok(response::put(put, render))
}

/// Deletes an operational endpoint and whatever waits for it.
#[utoipa::path(delete, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.delete", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    provider.delete_operational_endpoint(&caller, &endpoint).await?;
    Ok(response::no_content())
}

/// Gives what the receiver of an operational endpoint verifies with.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}/secret",
    operation_id = "v1.operational-webhook.endpoint.get-secret", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = EndpointSecretOut), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get_secret(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    let key = provider.operational_secret(&caller, &endpoint).await?;
    Ok(response::ok(&EndpointSecretOut { key }))
}

/// Gives an operational endpoint a new signing secret.
#[utoipa::path(post, path = "/operational-webhook/endpoint/{endpoint_id}/secret/rotate",
    operation_id = "v1.operational-webhook.endpoint.rotate-secret", tag = "Operational Webhook Endpoint",
    request_body = EndpointSecretRotateIn, params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 400, body = HttpErrorOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn rotate_secret(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
    sent: JsonBody<EndpointSecretRotateIn>,
) -> Result<Response, ApiError> {
    let EndpointSecretRotateIn { key, grace_period_seconds } = sent.body;
    let (key, idempotency) = (key.as_deref(), sent.idempotency.as_ref());
    provider.rotate_operational_secret(&caller, &endpoint, key, grace_period_seconds, idempotency).await?;
    Ok(response::no_content())
}

/// Gives the headers that an operational endpoint asks for.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}/headers",
    operation_id = "v1.operational-webhook.endpoint.get-headers", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = OperationalWebhookEndpointHeadersOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get_headers(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    let headers = provider.operational_headers(&caller, &endpoint).await?;
    let (sensitive, shown): (Vec<_>, Vec<_>) =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).partition(|(name, _)| is_sensitive(name));
    let sensitive = sensitive.into_iter().map(|(name, _)| name).collect();
    Ok(response::ok(&OperationalWebhookEndpointHeadersOut { headers: shown.into_iter().collect(), sensitive }))
}

/// Replaces the headers that an operational endpoint asks for. The next delivery has them.
#[utoipa::path(put, path = "/operational-webhook/endpoint/{endpoint_id}/headers",
    operation_id = "v1.operational-webhook.endpoint.set-headers", tag = "Operational Webhook Endpoint",
    request_body = OperationalWebhookEndpointHeadersIn,
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn set_headers(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
    sent: JsonBody<OperationalWebhookEndpointHeadersIn>,
) -> Result<Response, ApiError> {
    provider.put_operational_headers(&caller, &endpoint, &sent.body.headers).await?;
    Ok(response::no_content())
}
