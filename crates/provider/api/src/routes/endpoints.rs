//! Endpoints of a consumer application.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use provider_core::model::Endpoint;
use provider_core::page::CursorKey;
use provider_core::{DeliveryOrder, EndpointInput, EndpointPatch, PatchField, Provider, ids};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, ListQuery, PathParams, QueryParams};
use crate::field_aliases::{EVENT_TYPES, THROTTLE_RATE, UsedName};
use crate::patch;
use crate::response::{self, ListResponse};
use crate::schema_types::{Channel, Name};

/// The version of a deleted endpoint.
const FIRST_VERSION: u16 = 1;
static NO_METADATA: BTreeMap<String, String> = BTreeMap::new();

/// A new or replaced endpoint.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndpointIn {
    /// URL that the endpoint receives messages at.
    #[schema(format = "uri", min_length = 1, max_length = 65536)]
    url: String,
    /// The caller's own id for the endpoint, unique in the application: 1 to 256 of `a-zA-Z0-9-_.`, not starting with
    /// `ep_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: Option<String>,
    /// Description in the caller's own words.
    description: Option<String>,
    /// A disabled endpoint receives nothing.
    disabled: Option<bool>,
    /// Event types that the endpoint receives, which must exist. Without this field it receives all.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: Option<Vec<String>>,
    /// Former name of `eventTypes`.
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024, deprecated)]
    filter_types: Option<Vec<String>>,
    /// Channels whose messages the endpoint receives, at most ten different ones. Without this field it receives all messages.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1)]
    channels: Option<Vec<String>>,
    /// Throttle rate: messages per second that the endpoint receives at most.
    #[schema(minimum = 1, maximum = 65535)]
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: Option<NonZeroU16>,
    /// The caller's own version of the endpoint, which the provider stores and returns. The default is 1; a PUT without
    /// this field keeps the existing value.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    version: Option<NonZeroU16>,
    /// Pairs of text that the provider stores unchanged.
    metadata: Option<BTreeMap<String, String>>,
    /// Custom headers that every delivery carries. A PUT without this field keeps the existing headers.
    headers: Option<BTreeMap<String, String>>,
    /// `whsec_` and the base64 of 24 to 75 bytes, or `whsk_` and the base64 of an ed25519 private and public key.
    /// Without this field the provider generates one. A PUT with another secret is refused with 422: `…/secret/rotate`
    /// changes it.
    secret: Option<String>,
    /// `key` delivers messages with the same ordering key (header `lotwire-ordering-key`) one after the other. The
    /// default is `none`; a PUT without this field keeps the existing value.
    ordering: Option<Ordering>,
    /// `true` sends the header `traceparent` of W3C Trace Context with every delivery, so that the receiver's trace
    /// continues the sender's. A custom header of this name takes precedence. The default is `false`; a PUT without this
    /// field keeps the existing value.
    traceparent: Option<bool>,
}

/// The order in which an endpoint receives messages.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeliveryOrdering)]
pub(crate) enum Ordering {
    /// Any order.
    None,
    /// Messages with the same ordering key one after the other.
    Key,
}

impl From<Ordering> for DeliveryOrder {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::None => Self::Any,
            Ordering::Key => Self::PerKey,
        }
    }
}

/// An endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndpointOut<'a> {
    /// `ep_…`
    id: &'a str,
    /// Pairs of text that the provider stores unchanged.
    metadata: &'a BTreeMap<String, String>,
    /// Description in the caller's own words.
    description: &'a str,
    /// Throttle rate: messages per second that the endpoint receives at most.
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(deprecated)]
    rate_limit: Option<u16>,
    /// The caller's own version of the endpoint; 1 if none was set.
    #[schema(deprecated)]
    version: u16,
    /// The caller's own id.
    uid: Option<&'a str>,
    /// URL that the endpoint receives messages at.
    #[schema(format = "uri")]
    url: &'a str,
    /// A disabled endpoint receives nothing.
    disabled: bool,
    /// Event types that the endpoint receives; null when it receives all.
    event_types: Option<&'a [String]>,
    /// Former name of `eventTypes`.
    #[schema(deprecated)]
    filter_types: Option<&'a [String]>,
    /// Channels whose messages the endpoint receives; null when it receives all messages.
    channels: Option<&'a [String]>,
    /// `key` if messages with the same ordering key are delivered one after the other; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    ordering: Option<Ordering>,
    /// `true` if deliveries carry the header `traceparent`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<bool>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
}

/// Changes of an endpoint. An absent field keeps its value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndpointPatch)]
pub(crate) struct EndpointPatchIn {
    /// URL that the endpoint receives messages at.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = String, required = false, format = "uri", min_length = 1, max_length = 65536)]
    url: PatchField<String>,
    /// The caller's own id; null removes it.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: PatchField<Option<String>>,
    /// Description in the caller's own words.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = String, required = false)]
    description: PatchField<String>,
    /// A disabled endpoint receives nothing.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    disabled: PatchField<bool>,
    /// Event types that the endpoint receives, which must exist; null for all.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024)]
    event_types: PatchField<Option<Vec<String>>>,
    /// Former name of `eventTypes`.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Vec<Name>>, min_items = 1, max_items = 1024, deprecated)]
    filter_types: PatchField<Option<Vec<String>>>,
    /// Channels whose messages the endpoint receives, at most ten different ones; null for all messages.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1)]
    channels: PatchField<Option<Vec<String>>>,
    /// Throttle rate: messages per second that the endpoint receives at most; null removes the limit.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535)]
    throttle_rate: PatchField<Option<u16>>,
    /// Former name of `throttleRate`.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: PatchField<Option<NonZeroU16>>,
    /// The caller's own version of the endpoint.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = u16, required = false, minimum = 1, maximum = 65535, deprecated)]
    version: PatchField<NonZeroU16>,
    /// Pairs of text, which replace the existing ones.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    metadata: PatchField<BTreeMap<String, String>>,
    /// `key` delivers messages with the same ordering key one after the other, `none` in any order. Messages that
    /// already wait keep their order.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Ordering, required = false)]
    ordering: PatchField<Ordering>,
    /// Whether deliveries carry the header `traceparent`.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    traceparent: PatchField<bool>,
    // Older clients send it. It is refused, because a client whose change was ignored would verify with the wrong
    // secret.
    #[schema(ignore)]
    secret: Option<IgnoredAny>,
    // A field of POST and PUT only.
    #[schema(ignore)]
    headers: Option<IgnoredAny>,
}

impl EndpointIn {
    fn used_name(&self) -> UsedName {
        UsedName::of(self.event_types.is_some(), self.filter_types.is_some())
    }
}

impl EndpointPatchIn {
    fn used_name(&self) -> UsedName {
        UsedName::of(self.event_types != PatchField::Keep, self.filter_types != PatchField::Keep)
    }

    fn refuse_fields_not_patchable(&self) -> Result<(), ApiError> {
        let refused = |name, msg| Err(ApiError::at(["body", name], msg));
        match (&self.secret, &self.headers) {
            (None, None) => Ok(()),
            (Some(_), _) => refused("secret", "can't be patched; send the new secret to POST …/secret/rotate, as key"),
            (None, Some(_)) => refused("headers", "can't be patched here; send them to PATCH …/headers"),
        }
    }
}

impl TryFrom<EndpointPatchIn> for EndpointPatch {
    type Error = ApiError;

    fn try_from(body: EndpointPatchIn) -> Result<Self, ApiError> {
        body.refuse_fields_not_patchable()?;
        Ok(EndpointPatch {
            url: body.url,
            uid: body.uid,
            description: body.description,
            disabled: body.disabled,
            filter_types: EVENT_TYPES.one_change_of(body.event_types, body.filter_types)?,
            channels: body.channels,
            throttle_rate: THROTTLE_RATE.one_change_of(body.throttle_rate, patch::to_u16(body.rate_limit))?,
            version: body.version,
            metadata: body.metadata,
            ordering: match body.ordering {
                PatchField::Keep => PatchField::Keep,
                PatchField::Set(ordering) => PatchField::Set(ordering.into()),
            },
            sends_trace_parent: body.traceparent,
        })
    }
}

impl TryFrom<EndpointIn> for EndpointInput {
    type Error = ApiError;

    fn try_from(body: EndpointIn) -> Result<Self, ApiError> {
        Ok(EndpointInput {
            url: body.url,
            uid: body.uid,
            description: body.description.unwrap_or_default(),
            disabled: body.disabled.unwrap_or_default(),
            filter_types: EVENT_TYPES.one_of(body.event_types, body.filter_types)?,
            channels: body.channels,
            throttle_rate: THROTTLE_RATE.one_of(body.throttle_rate, body.rate_limit.map(NonZeroU16::get))?,
            version: body.version,
            metadata: body.metadata.unwrap_or_default(),
            headers: body.headers,
            secret: body.secret,
            ordering: body.ordering.map(DeliveryOrder::from),
            sends_trace_parent: body.traceparent,
        })
    }
}

impl Ordering {
    /// The field `ordering` of a response: absent for any order.
    pub(super) fn shown(endpoint: &Endpoint) -> Option<Self> {
        (endpoint.ordering == DeliveryOrder::PerKey).then_some(Self::Key)
    }
}

pub(super) fn view(endpoint: &Endpoint) -> EndpointOut<'_> {
    EndpointOut {
        id: &endpoint.id,
        metadata: &endpoint.metadata,
        description: &endpoint.description,
        throttle_rate: endpoint.throttle_rate,
        rate_limit: endpoint.throttle_rate,
        version: endpoint.version.get(),
        uid: endpoint.uid.as_deref(),
        url: &endpoint.url,
        disabled: endpoint.disabled,
        event_types: endpoint.filter_types.as_deref(),
        filter_types: endpoint.filter_types.as_deref(),
        channels: endpoint.channels.as_deref(),
        ordering: Ordering::shown(endpoint),
        traceparent: endpoint.sends_trace_parent.then_some(true),
        created_at: response::time(endpoint.created_at),
        updated_at: response::time(endpoint.updated_at),
    }
}

/// What is known of an endpoint after it was deleted.
pub(super) fn view_deleted<'a>(id: &'a str, url: &'a str, created_at: Timestamp) -> EndpointOut<'a> {
    EndpointOut {
        id,
        metadata: &NO_METADATA,
        description: "",
        throttle_rate: None,
        rate_limit: None,
        version: FIRST_VERSION,
        uid: None,
        url,
        disabled: true,
        event_types: None,
        filter_types: None,
        channels: None,
        ordering: None,
        traceparent: None,
        created_at: response::time(created_at),
        updated_at: response::time(created_at),
    }
}

fn render(endpoint: &Endpoint) -> String {
    response::text(&view(endpoint))
}

/// Creates an endpoint.
#[utoipa::path(post, path = "/app/{app_id}/endpoint", operation_id = "v1.endpoint.create", tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = EndpointIn,
    responses(
        (status = 201, description = "The created endpoint.", body = EndpointOut<'_>),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The application has as many endpoints as the account allows (`limit_reached`), or the \
                idempotency key is invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<EndpointIn>,
) -> Result<Response, ApiError> {
    let (named, idempotency) = (sent.body.used_name(), sent.idempotency.as_ref());
    let created = provider.create_endpoint(&caller, &application, sent.body.try_into()?, idempotency, render).await;
    let created = created.map_err(|error| named.rename_in(error))?;
    Ok(response::created(created, render))
}

/// Lists an application's endpoints, newest first by default.
#[utoipa::path(get, path = "/app/{app_id}/endpoint", operation_id = "v1.endpoint.list", tag = "Endpoint",
    params(("app_id" = String, Path, description = "Id or uid"), ListQuery),
    responses(
        (status = 200, description = "A page of endpoints.", body = ListResponse<EndpointOut<'_>>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(CursorKey::Id(ids::ENDPOINT))?;
    Ok(response::list(&provider.list_endpoints(&caller, &application, &page).await?, view))
}

/// Returns an endpoint.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}", operation_id = "v1.endpoint.get", tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The endpoint.", body = EndpointOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.endpoint(&caller, &application, &endpoint).await?)))
}

/// Replaces an endpoint, or creates one if none has the id. A created endpoint gets an id of its own.
#[utoipa::path(put, path = "/app/{app_id}/endpoint/{endpoint_id}", operation_id = "v1.endpoint.update",
    tag = "Endpoint", request_body = EndpointIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The replaced endpoint.", body = EndpointOut<'_>),
        (status = 201, description = "The created endpoint.", body = EndpointOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointIn>,
) -> Result<Response, ApiError> {
    let named = sent.body.used_name();
    let put = provider.put_endpoint(&caller, &application, &endpoint, sent.body.try_into()?).await;
    let put = put.map_err(|error| named.rename_in(error))?;
    Ok(response::put(put, render))
}

/// Changes the given fields of an endpoint. The next delivery uses them.
#[utoipa::path(patch, path = "/app/{app_id}/endpoint/{endpoint_id}", operation_id = "patch_endpoint", tag = "Endpoint",
    request_body = EndpointPatchIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The changed endpoint.", body = EndpointOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn change(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EndpointPatchIn>,
) -> Result<Response, ApiError> {
    let named = sent.body.used_name();
    let changed = provider.patch_endpoint(&caller, &application, &endpoint, sent.body.try_into()?).await;
    Ok(response::ok(&view(&changed.map_err(|error| named.rename_in(error))?)))
}

/// Deletes an endpoint and cancels its waiting deliveries.
#[utoipa::path(delete, path = "/app/{app_id}/endpoint/{endpoint_id}", operation_id = "v1.endpoint.delete",
    tag = "Endpoint",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
) -> Result<Response, ApiError> {
    provider.delete_endpoint(&caller, &application, &endpoint).await?;
    Ok(response::no_content())
}
