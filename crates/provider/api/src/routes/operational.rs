//! Operational webhooks: the account's own endpoints, which receive events about the endpoints and attempts of its
//! applications.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::Endpoint;
use provider_core::page::CursorKey;
use provider_core::{DeliveryOrder, EndpointInput, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints::Ordering;
use super::headers::split_sensitive;
use super::secrets::{EndpointSecretOut, EndpointSecretRotateIn};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, ListQuery, PathParams, QueryParams};
use crate::field_aliases::{EVENT_TYPES, THROTTLE_RATE, UsedName};
use crate::response::{self, ListResponse};
use crate::schema_types::Name;

/// A new or replaced operational endpoint.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationalWebhookEndpointIn {
    /// URL that the endpoint receives messages at.
    #[schema(format = "uri", min_length = 1, max_length = 65536)]
    url: String,
    /// Description in the caller's own words.
    description: Option<String>,
    /// Throttle rate: messages per second that the endpoint receives at most.
    #[schema(minimum = 1, maximum = 65535)]
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: Option<NonZeroU16>,
    /// The caller's own id for the endpoint: 1 to 256 of `a-zA-Z0-9-_.`, not starting with `ep_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: Option<String>,
    /// A disabled endpoint receives nothing.
    disabled: Option<bool>,
    /// Operational event types that the endpoint receives, such as `message.attempt.failing`. Without this field it
    /// receives all.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: Option<Vec<String>>,
    /// Former name of `eventTypes`.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024, deprecated)]
    filter_types: Option<Vec<String>>,
    /// `whsec_` and the base64 of 24 to 75 bytes. Without this field the provider generates one. A PUT with another
    /// secret is refused with 422: `…/secret/rotate` changes it.
    secret: Option<String>,
    /// Pairs of text that the provider stores unchanged.
    metadata: Option<BTreeMap<String, String>>,
    /// Custom headers that every delivery carries. A PUT without this field keeps the existing headers.
    headers: Option<BTreeMap<String, String>>,
    /// `key` delivers events about the same endpoint one after the other, in the order in which they happened. The
    /// default is `none`; a PUT without this field keeps the existing value.
    ordering: Option<Ordering>,
}

/// An operational endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationalWebhookEndpointOut<'a> {
    /// `ep_…`
    id: &'a str,
    /// URL that the endpoint receives messages at.
    #[schema(format = "uri")]
    url: &'a str,
    /// Description in the caller's own words.
    description: &'a str,
    /// Throttle rate: messages per second that the endpoint receives at most.
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(deprecated)]
    rate_limit: Option<u16>,
    /// The caller's own id.
    uid: Option<&'a str>,
    /// A disabled endpoint receives nothing.
    disabled: bool,
    /// Event types that the endpoint receives; null when it receives all.
    event_types: Option<&'a [String]>,
    /// Former name of `eventTypes`.
    #[schema(deprecated)]
    filter_types: Option<&'a [String]>,
    /// `key` if events about the same endpoint are delivered one after the other; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    ordering: Option<Ordering>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
    /// Pairs of text that the provider stores unchanged.
    metadata: &'a BTreeMap<String, String>,
}

/// The custom headers of an operational endpoint.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperationalWebhookEndpointHeadersOut<'a> {
    /// Headers with their values, except the sensitive ones.
    headers: BTreeMap<&'a str, &'a str>,
    /// Names of the sensitive headers, such as `Authorization`, whose values are never returned.
    sensitive: Vec<&'a str>,
}

/// The new custom headers of an operational endpoint.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OperationalWebhookEndpointHeadersIn {
    /// Values by header name, each one line of at most 4,096 bytes.
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
            version: None,
            metadata: body.metadata.unwrap_or_default(),
            headers: body.headers,
            secret: body.secret,
            ordering: body.ordering.map(DeliveryOrder::from),
            // Their messages follow from no request of a sender.
            sends_trace_parent: None,
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
    responses(
        (status = 201, description = "The created operational endpoint.", body = OperationalWebhookEndpointOut<'_>),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The account has as many operational endpoints as it may have (`limit_reached`), or the \
                idempotency key is invalid (`invalid_idempotency_key`)."),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
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

/// Lists the account's operational endpoints, newest first by default.
#[utoipa::path(get, path = "/operational-webhook/endpoint", operation_id = "v1.operational-webhook.endpoint.list",
    tag = "Operational Webhook Endpoint",
    params(ListQuery),
    responses(
        (status = 200, body = ListResponse<OperationalWebhookEndpointOut<'_>>,
            description = "A page of operational endpoints."),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(CursorKey::Id(ids::ENDPOINT))?;
    Ok(response::list(&provider.list_operational_endpoints(&caller, &page).await?, view))
}

/// Returns an operational endpoint.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.get", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The operational endpoint.", body = OperationalWebhookEndpointOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.operational_endpoint(&caller, &endpoint).await?)))
}

/// Replaces an operational endpoint, or creates one if none has the id. A created endpoint gets an id of its own.
#[utoipa::path(put, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.upsert", tag = "Operational Webhook Endpoint",
    request_body = OperationalWebhookEndpointIn,
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The replaced operational endpoint.", body = OperationalWebhookEndpointOut<'_>),
        (status = 201, description = "The created operational endpoint.", body = OperationalWebhookEndpointOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
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

/// Deletes an operational endpoint and cancels its waiting deliveries.
#[utoipa::path(delete, path = "/operational-webhook/endpoint/{endpoint_id}",
    operation_id = "v1.operational-webhook.endpoint.delete", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    provider.delete_operational_endpoint(&caller, &endpoint).await?;
    Ok(response::no_content())
}

/// Returns the key that verifies the deliveries to an operational endpoint.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}/secret",
    operation_id = "v1.operational-webhook.endpoint.get-secret", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The key that verifies deliveries.", body = EndpointSecretOut),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get_secret(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    let key = provider.operational_secret(&caller, &endpoint).await?;
    Ok(response::ok(&EndpointSecretOut { key }))
}

/// Rotates the signing secret of an operational endpoint.
#[utoipa::path(post, path = "/operational-webhook/endpoint/{endpoint_id}/secret/rotate",
    operation_id = "v1.operational-webhook.endpoint.rotate-secret", tag = "Operational Webhook Endpoint",
    request_body = EndpointSecretRotateIn,
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 204, description = "No content."),
        (status = 400, body = HttpErrorOut<'_>,
            description = "Too many old secrets are in their grace period (`limit_reached`), or the idempotency key is \
                invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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

/// Returns the custom headers of an operational endpoint.
#[utoipa::path(get, path = "/operational-webhook/endpoint/{endpoint_id}/headers",
    operation_id = "v1.operational-webhook.endpoint.get-headers", tag = "Operational Webhook Endpoint",
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The custom headers.", body = OperationalWebhookEndpointHeadersOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get_headers(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ApiError> {
    let headers = provider.operational_headers(&caller, &endpoint).await?;
    let (headers, sensitive) = split_sensitive(&headers);
    Ok(response::ok(&OperationalWebhookEndpointHeadersOut { headers, sensitive }))
}

/// Replaces the custom headers of an operational endpoint. The next delivery carries them.
#[utoipa::path(put, path = "/operational-webhook/endpoint/{endpoint_id}/headers",
    operation_id = "v1.operational-webhook.endpoint.set-headers", tag = "Operational Webhook Endpoint",
    request_body = OperationalWebhookEndpointHeadersIn,
    params(("endpoint_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn set_headers(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([endpoint]): PathParams<1>,
    sent: JsonBody<OperationalWebhookEndpointHeadersIn>,
) -> Result<Response, ApiError> {
    provider.put_operational_headers(&caller, &endpoint, &sent.body.headers).await?;
    Ok(response::no_content())
}
