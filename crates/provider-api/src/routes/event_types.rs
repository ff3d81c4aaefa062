//! Event types, by name (service.md section 4, "Create event type").

use axum::extract::State;
use axum::response::Response;
use provider::model::EventType;
use provider::page::ListKey;
use provider::{Archived, EventTypeInput, Provider};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{self, ListResponse};
use crate::ask::{self, Asked, At, Auth, Sent};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};

/// An event type to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeIn {
    /// Name and key, such as `ITEM_STATUS_CHANGE`: 1 to 256 of `a-zA-Z0-9-_.`.
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
    /// Feature flag that shows it.
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
    /// Feature flag that shows it.
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
    /// Feature flag that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before.
    iterator: Option<String>,
    /// `ascending` or `descending`.
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

impl EventTypeIn {
    fn into_parts(self) -> (String, EventTypeInput) {
        let EventTypeIn { name, description, archived, deprecated, schemas, feature_flag, group_name } = self;
        (name, EventTypeUpdate { description, archived, deprecated, schemas, feature_flag, group_name }.into())
    }
}

impl From<EventTypeUpdate> for EventTypeInput {
    fn from(body: EventTypeUpdate) -> Self {
        EventTypeInput {
            description: body.description,
            archived: body.archived.unwrap_or_default(),
            deprecated: body.deprecated.unwrap_or_default(),
            schemas: body.schemas,
            feature_flag: body.feature_flag,
            group_name: body.group_name,
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
        feature_flag: event_type.feature_flag.as_deref(),
        group_name: event_type.group_name.as_deref(),
        created_at: answer::time(event_type.created_at),
        updated_at: answer::time(event_type.updated_at),
    }
}

fn render(event_type: &EventType) -> String {
    answer::text(&view(event_type))
}

/// Creates an event type, or takes one of that name out of the archive.
#[utoipa::path(post, path = "/event-type", operation_id = "v1.event-type.create", tag = "Event Type",
    request_body = EventTypeIn,
    responses((status = 201, body = EventTypeOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: Sent<EventTypeIn>,
) -> Result<Response, ApiError> {
    let (name, input) = sent.body.into_parts();
    let created = provider.create_event_type(&caller, &name, input, sent.idempotency.as_ref(), render).await?;
    Ok(answer::created(created, render))
}

/// Lists the account's event types by name, without their schemas unless asked for.
#[utoipa::path(get, path = "/event-type", operation_id = "v1.event-type.list", tag = "Event Type",
    params(EventTypesQuery),
    responses((status = 200, body = ListResponse<EventTypeOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    Asked(query): Asked<EventTypesQuery>,
) -> Result<Response, ApiError> {
    let page = ask::page(&query.limit, &query.iterator, &query.order, ListKey::Name)?;
    let archived = if query.include_archived == Some(true) { Archived::Shown } else { Archived::Hidden };
    let event_types = provider.list_event_types(&caller, &page, archived).await?;
    let with_content = query.with_content == Some(true);
    Ok(answer::list(&event_types, |event_type| {
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
    At([name]): At<1>,
) -> Result<Response, ApiError> {
    Ok(answer::ok(&view(&provider.event_type(&caller, &name).await?)))
}

/// Replaces an event type, or creates it.
#[utoipa::path(put, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.update",
    tag = "Event Type", params(("event_type_name" = String, Path)), request_body = EventTypeUpdate,
    responses((status = 200, body = EventTypeOut<'_>), (status = 201, body = EventTypeOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([name]): At<1>,
    sent: Sent<EventTypeUpdate>,
) -> Result<Response, ApiError> {
    Ok(answer::put(provider.put_event_type(&caller, &name, sent.body.into()).await?, render))
}

/// Archives an event type, or deletes it for good.
#[utoipa::path(delete, path = "/event-type/{event_type_name}", operation_id = "v1.event-type.delete",
    tag = "Event Type", params(("event_type_name" = String, Path), DeleteQuery),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([name]): At<1>,
    Asked(query): Asked<DeleteQuery>,
) -> Result<Response, ApiError> {
    if query.expunge == Some(true) {
        provider.expunge_event_type(&caller, &name).await?;
    } else {
        provider.archive_event_type(&caller, &name).await?;
    }
    Ok(answer::nothing())
}
