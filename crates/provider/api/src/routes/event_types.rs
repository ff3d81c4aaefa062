//! Event types.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::EventType;
use provider_core::page::CursorKey;
use provider_core::{Archived, EventTypeInput, EventTypePatch, PatchField, Provider};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, ListQuery, PathParams, QueryParams};
use crate::patch;
use crate::response::{self, ListResponse};

/// A new event type.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeIn {
    /// Name, such as `ITEM_STATUS_CHANGE`: 1 to 256 of `a-zA-Z0-9-_.`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    name: String,
    /// Description in the caller's own words.
    description: String,
    /// Archived: hidden from lists. Messages of this event type are still accepted.
    archived: Option<bool>,
    /// The event type is deprecated.
    deprecated: Option<bool>,
    /// JSON Schema of the payload by version, such as `{"1": {…}}`.
    #[schema(value_type = Option<Object>)]
    schemas: Option<Value>,
    /// Feature flags. A token sees the event type if it has one of them; without flags, every token sees it.
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: Option<BTreeSet<String>>,
    /// One feature flag; `featureFlags` replaces this field.
    #[schema(deprecated)]
    feature_flag: Option<String>,
    /// Name of the event type's group.
    group_name: Option<String>,
}

/// A replaced event type; the path has its name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeUpdate {
    /// Description in the caller's own words.
    description: String,
    /// Archived: hidden from lists. Messages of this event type are still accepted.
    archived: Option<bool>,
    /// The event type is deprecated.
    deprecated: Option<bool>,
    /// JSON Schema of the payload by version, such as `{"1": {…}}`.
    #[schema(value_type = Option<Object>)]
    schemas: Option<Value>,
    /// Feature flags. A token sees the event type if it has one of them; without flags, every token sees it.
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: Option<BTreeSet<String>>,
    /// One feature flag; `featureFlags` replaces this field.
    #[schema(deprecated)]
    feature_flag: Option<String>,
    /// Name of the event type's group.
    group_name: Option<String>,
}

/// An event type.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeOut<'a> {
    /// Name, which identifies the event type.
    name: &'a str,
    /// Description in the caller's own words.
    description: &'a str,
    /// Archived: hidden from lists.
    archived: bool,
    /// The event type is deprecated.
    deprecated: bool,
    /// JSON Schema of the payload by version, such as `{"1": {…}}`; null when there is none, and in lists without
    /// `with_content`.
    #[schema(value_type = Option<Object>)]
    schemas: Option<&'a Value>,
    /// Feature flags. A token sees the event type if it has one of them; without flags, every token sees it.
    feature_flags: Option<&'a BTreeSet<String>>,
    /// The first of `featureFlags`, for older clients.
    #[schema(deprecated)]
    feature_flag: Option<&'a str>,
    /// Name of the event type's group.
    group_name: Option<&'a str>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
}

/// The filter of the list of event types.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventTypesFilter {
    /// `true` includes archived event types.
    include_archived: Option<bool>,
    /// `true` includes `schemas`.
    with_content: Option<bool>,
}

/// Whether to archive or to delete.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteQuery {
    /// `true` deletes the event type permanently instead of archiving it.
    expunge: Option<bool>,
}

/// Changes of an event type. An absent field keeps its value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventTypePatch)]
pub(crate) struct EventTypePatchIn {
    /// Description in the caller's own words.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = String, required = false)]
    description: PatchField<String>,
    /// Archived: hidden from lists. Messages of this event type are still accepted.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    archived: PatchField<bool>,
    /// The event type is deprecated.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    deprecated: PatchField<bool>,
    /// JSON Schema of the payload by version; null removes all.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Object>)]
    schemas: PatchField<Option<Value>>,
    /// Feature flags, one of which a token must have to see the event type; null removes all.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: PatchField<Option<BTreeSet<String>>>,
    /// One feature flag; `featureFlags` replaces this field.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<String>, deprecated)]
    feature_flag: PatchField<Option<String>>,
    /// Name of the event type's group; null removes it.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<String>)]
    group_name: PatchField<Option<String>>,
}

impl EventTypeIn {
    fn into_parts(self) -> Result<(String, EventTypeInput), ApiError> {
        let EventTypeIn { name, description, archived, deprecated, schemas, feature_flags, feature_flag, group_name } =
            self;
        let rest =
            EventTypeUpdate { description, archived, deprecated, schemas, feature_flags, feature_flag, group_name };
        Ok((name, rest.try_into()?))
    }
}

impl TryFrom<EventTypeUpdate> for EventTypeInput {
    type Error = ApiError;

    fn try_from(body: EventTypeUpdate) -> Result<Self, ApiError> {
        Ok(EventTypeInput {
            description: body.description,
            archived: body.archived.unwrap_or_default(),
            deprecated: body.deprecated.unwrap_or_default(),
            schemas: body.schemas,
            feature_flags: flags(body.feature_flags, body.feature_flag)?,
            group_name: body.group_name,
        })
    }
}

impl TryFrom<EventTypePatchIn> for EventTypePatch {
    type Error = ApiError;

    fn try_from(body: EventTypePatchIn) -> Result<Self, ApiError> {
        let feature_flags = match (body.feature_flags, body.feature_flag) {
            (PatchField::Keep, PatchField::Keep) => PatchField::Keep,
            (PatchField::Keep, PatchField::Set(one)) => PatchField::Set(flags(None, one)?),
            (PatchField::Set(all), PatchField::Keep) => PatchField::Set(flags(all, None)?),
            (PatchField::Set(all), PatchField::Set(one)) => PatchField::Set(flags(all, one)?),
        };
        Ok(EventTypePatch {
            description: body.description,
            archived: body.archived,
            deprecated: body.deprecated,
            schemas: body.schemas,
            feature_flags,
            group_name: body.group_name,
        })
    }
}

/// The feature flags of `featureFlags` or `featureFlag`. 422 if the two contradict each other.
fn flags(all: Option<BTreeSet<String>>, one: Option<String>) -> Result<BTreeSet<String>, ApiError> {
    match (all, one) {
        (None, one) => Ok(one.into_iter().collect()),
        (Some(all), None) => Ok(all),
        (Some(all), Some(one)) if all.contains(&one) => Ok(all),
        (Some(_), Some(_)) => {
            Err(ApiError::at(["body", "featureFlag"], "is not one of featureFlags; send featureFlags only"))
        }
    }
}

fn view(event_type: &EventType) -> EventTypeOut<'_> {
    EventTypeOut {
        name: &event_type.name,
        description: &event_type.description,
        archived: event_type.archived,
        deprecated: event_type.deprecated,
        schemas: event_type.schemas.as_ref(),
        feature_flags: Some(&event_type.feature_flags).filter(|flags| !flags.is_empty()),
        feature_flag: event_type.feature_flags.first().map(String::as_str),
        group_name: event_type.group_name.as_deref(),
        created_at: response::time(event_type.created_at),
        updated_at: response::time(event_type.updated_at),
    }
}

fn render(event_type: &EventType) -> String {
    response::text(&view(event_type))
}

/// Creates an event type, or restores an archived one with this name.
#[utoipa::path(post, path = "/event-type", operation_id = "v1.event-type.create", tag = "Event Type",
    request_body = EventTypeIn,
    responses(
        (status = 201, description = "The created event type.", body = EventTypeOut<'_>),
        (status = 409, body = HttpErrorOut<'_>,
            description = "An event type with this name exists (`event_type_exists`)."),
    ))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: JsonBody<EventTypeIn>,
) -> Result<Response, ApiError> {
    let (name, input) = sent.body.into_parts()?;
    let created = provider.create_event_type(&caller, &name, input, sent.idempotency.as_ref(), render).await?;
    Ok(response::created(created, render))
}

/// Lists the account's event types by name. Schemas are included with `with_content=true` only.
#[utoipa::path(get, path = "/event-type", operation_id = "v1.event-type.list", tag = "Event Type",
    params(ListQuery, EventTypesFilter),
    responses(
        (status = 200, description = "A page of event types.", body = ListResponse<EventTypeOut<'_>>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(page): QueryParams<ListQuery>,
    QueryParams(filter): QueryParams<EventTypesFilter>,
) -> Result<Response, ApiError> {
    let page = page.page(CursorKey::Name)?;
    let archived = if filter.include_archived == Some(true) { Archived::Shown } else { Archived::Hidden };
    let event_types = provider.list_event_types(&caller, &page, archived).await?;
    let with_content = filter.with_content == Some(true);
    Ok(response::list(&event_types, |event_type| {
        let view = view(event_type);
        EventTypeOut { schemas: view.schemas.filter(|_| with_content), ..view }
    }))
}

/// Returns an event type.
#[utoipa::path(get, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.get", tag = "Event Type",
    params(("event_type_name" = String, Path, description = "Name of the event type")),
    responses(
        (status = 200, description = "The event type.", body = EventTypeOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.event_type(&caller, &name).await?)))
}

/// Replaces an event type, or creates one if none has this name.
#[utoipa::path(put, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.update", tag = "Event Type",
    params(("event_type_name" = String, Path, description = "Name of the event type")), request_body = EventTypeUpdate,
    responses(
        (status = 200, description = "The replaced event type.", body = EventTypeOut<'_>),
        (status = 201, description = "The created event type.", body = EventTypeOut<'_>),
    ))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
    sent: JsonBody<EventTypeUpdate>,
) -> Result<Response, ApiError> {
    Ok(response::put(provider.upsert_event_type(&caller, &name, sent.body.try_into()?).await?, render))
}

/// Changes the given fields of an event type.
#[utoipa::path(patch, path = "/event-type/{event_type_name}", operation_id = "patch_event_type", tag = "Event Type",
    params(("event_type_name" = String, Path, description = "Name of the event type")), request_body = EventTypePatchIn,
    responses(
        (status = 200, description = "The changed event type.", body = EventTypeOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn change(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
    sent: JsonBody<EventTypePatchIn>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.patch_event_type(&caller, &name, sent.body.try_into()?).await?)))
}

/// Archives an event type; `expunge=true` deletes it permanently.
#[utoipa::path(delete, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.delete",
    tag = "Event Type",
    params(("event_type_name" = String, Path, description = "Name of the event type"), DeleteQuery),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
    QueryParams(query): QueryParams<DeleteQuery>,
) -> Result<Response, ApiError> {
    if query.expunge == Some(true) {
        provider.expunge_event_type(&caller, &name).await?;
    } else {
        provider.archive_event_type(&caller, &name).await?;
    }
    Ok(response::no_content())
}
