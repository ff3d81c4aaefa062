//! Event types, by name (service.md section 4, "Create event type").

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::EventType;
use provider_core::page::CursorKey;
use provider_core::{Archived, EventTypeInput, EventTypePatch, PatchField, Provider};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{self, Auth, JsonBody, PathParams, QueryParams};
use crate::patch;
use crate::response::{self, ListResponse};
use crate::schema_types::ListOrder;

/// An event type to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeIn {
    /// Name and key, such as `ITEM_STATUS_CHANGE`: 1 to 256 of `a-zA-Z0-9-_.`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    name: String,
    /// Free text.
    description: String,
    /// Hidden from lists. Messages of it are still accepted.
    archived: Option<bool>,
    /// On its way out.
    deprecated: Option<bool>,
    /// JSON Schema for each version key.
    #[schema(value_type = Option<Object>)]
    schemas: Option<Value>,
    /// Feature flags, any of which shows it; everybody sees it without.
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: Option<BTreeSet<String>>,
    /// Older way to give one feature flag.
    #[schema(deprecated)]
    feature_flag: Option<String>,
    /// Name of its group.
    group_name: Option<String>,
}

/// An event type without its name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeUpdate {
    /// Free text.
    description: String,
    /// Hidden from lists. Messages of it are still accepted.
    archived: Option<bool>,
    /// On its way out.
    deprecated: Option<bool>,
    /// JSON Schema for each version key.
    #[schema(value_type = Option<Object>)]
    schemas: Option<Value>,
    /// Feature flags, any of which shows it; everybody sees it without.
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: Option<BTreeSet<String>>,
    /// Older way to give one feature flag.
    #[schema(deprecated)]
    feature_flag: Option<String>,
    /// Name of its group.
    group_name: Option<String>,
}

/// An event type.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeOut<'a> {
    /// Name and key.
    name: &'a str,
    /// Free text.
    description: &'a str,
    /// Hidden from lists.
    archived: bool,
    /// On its way out.
    deprecated: bool,
    /// JSON Schema for each version key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schemas: Option<&'a Value>,
    /// Feature flags, any of which shows it; everybody sees it without.
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_flags: Option<&'a BTreeSet<String>>,
    /// The first of them, for older clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(deprecated)]
    feature_flag: Option<&'a str>,
    /// Name of its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_name: Option<&'a str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
}

/// A slice of the event types.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventTypesQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// `ascending` or `descending`.
    #[param(value_type = Option<ListOrder>)]
    order: Option<String>,
    /// Archived ones, too.
    include_archived: Option<bool>,
    /// With `schemas`.
    with_content: Option<bool>,
}

/// How to delete.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteQuery {
    /// Deletes for good instead of archiving.
    expunge: Option<bool>,
}

/// What is to change of an event type; what is not named stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventTypePatch)]
pub(crate) struct EventTypePatchIn {
    /// Free text.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = String, required = false)]
    description: PatchField<String>,
    /// Hidden from lists. Messages of it are still accepted.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    archived: PatchField<bool>,
    /// On its way out.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = bool, required = false)]
    deprecated: PatchField<bool>,
    /// JSON Schema for each version key; null for none.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Object>)]
    schemas: PatchField<Option<Value>>,
    /// Feature flags, any of which shows it; null for none.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<Vec<String>>)]
    feature_flags: PatchField<Option<BTreeSet<String>>>,
    /// Older way to give one feature flag.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<String>, deprecated)]
    feature_flag: PatchField<Option<String>>,
    /// Name of its group; null for none.
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

/// All flags, given in the newer way or in the older; in both, when they agree. 422 otherwise.
fn flags(all: Option<BTreeSet<String>>, one: Option<String>) -> Result<BTreeSet<String>, ApiError> {
    match (all, one) {
        (None, one) => Ok(one.into_iter().collect()),
        (Some(all), None) => Ok(all),
        (Some(all), Some(one)) if all.contains(&one) => Ok(all),
        (Some(_), Some(_)) => {
            Err(ApiError::at(["body", "featureFlag"], "must be among featureFlags, or better be left out"))
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

/// Creates an event type, or takes one of that name out of the archive.
#[utoipa::path(post, path = "/event-type", operation_id = "v1.event-type.create", tag = "Event Type",
    request_body = EventTypeIn,
    responses((status = 201, body = EventTypeOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: JsonBody<EventTypeIn>,
) -> Result<Response, ApiError> {
    let (name, input) = sent.body.into_parts()?;
    let created = provider.create_event_type(&caller, &name, input, sent.idempotency.as_ref(), render).await?;
    Ok(response::created(created, render))
}

/// Lists the account's event types by name, without their schemas unless asked for.
#[utoipa::path(get, path = "/event-type", operation_id = "v1.event-type.list", tag = "Event Type",
    params(EventTypesQuery),
    responses((status = 200, body = ListResponse<EventTypeOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(query): QueryParams<EventTypesQuery>,
) -> Result<Response, ApiError> {
    let page = extract::page(&query.limit, &query.iterator, &query.order, CursorKey::Name)?;
    let archived = if query.include_archived == Some(true) { Archived::Shown } else { Archived::Hidden };
    let event_types = provider.list_event_types(&caller, &page, archived).await?;
    let with_content = query.with_content == Some(true);
    Ok(response::list(&event_types, |event_type| {
        let view = view(event_type);
        EventTypeOut { schemas: view.schemas.filter(|_| with_content), ..view }
    }))
}

/// Gives an event type.
#[utoipa::path(get, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.get",
    tag = "Event Type", params(("event_type_name" = String, Path)),
    responses((status = 200, body = EventTypeOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.event_type(&caller, &name).await?)))
}

/// Replaces an event type, or creates it.
#[utoipa::path(put, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.update",
    tag = "Event Type", params(("event_type_name" = String, Path)), request_body = EventTypeUpdate,
    responses((status = 200, body = EventTypeOut<'_>), (status = 201, body = EventTypeOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
    sent: JsonBody<EventTypeUpdate>,
) -> Result<Response, ApiError> {
    Ok(response::put(provider.upsert_event_type(&caller, &name, sent.body.try_into()?).await?, render))
}

/// Changes what is named of an event type.
#[utoipa::path(patch, path = "/event-type/{event_type_name}", operation_id = "patch_event_type",
    tag = "Event Type", params(("event_type_name" = String, Path)), request_body = EventTypePatchIn,
    responses((status = 200, body = EventTypeOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn change(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([name]): PathParams<1>,
    sent: JsonBody<EventTypePatchIn>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.patch_event_type(&caller, &name, sent.body.try_into()?).await?)))
}

/// Archives an event type, or deletes it for good.
#[utoipa::path(delete, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.delete",
    tag = "Event Type", params(("event_type_name" = String, Path), DeleteQuery),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
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
