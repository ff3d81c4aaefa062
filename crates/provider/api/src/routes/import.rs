//! Importing event types from an OpenAPI document.

use std::collections::BTreeSet;

use axum::extract::{Request, State};
use axum::response::Response;
use provider_core::model::EventType;
use provider_core::{ImportedEventTypes, OpenApiImport, Provider, ProviderError, UnlistedEventTypes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{self, Auth};
use crate::response;

/// Bytes of a request with a document.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// An OpenAPI document, as `spec` or as `specRaw`, whose webhooks become event types.
/// An unknown field is refused with 422, because ignoring a misspelt `dryRun` would make changes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EventTypeImportOpenApiIn {
    /// `true` changes nothing and returns what would change.
    dry_run: Option<bool>,
    /// `true` archives the event types that the document does not have.
    replace_all: Option<bool>,
    /// The document as JSON.
    #[schema(value_type = Option<Object>)]
    spec: Option<Value>,
    /// The document as text, JSON or YAML.
    spec_raw: Option<String>,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventTypeImportOpenApiOut<'a> {
    /// The changed event types.
    data: EventTypeImportOpenApiOutData<'a>,
}

/// The event types that the import changed, or would change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventTypeImportOpenApiOutData<'a> {
    /// Names of the created, updated and archived event types; empty after a dry run.
    modified: Vec<&'a str>,
    /// Event types that would be created or updated; present after a dry run only.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_modify: Option<Vec<EventTypeFromOpenApi<'a>>>,
}

/// An event type of an OpenAPI document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTypeFromOpenApi<'a> {
    /// Name of the webhook, which becomes the event type's name.
    name: &'a str,
    /// Description in the caller's own words.
    description: &'a str,
    /// JSON Schema of the payload by version, such as `{"1": {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schemas: Option<&'a Value>,
    /// The event type is deprecated.
    deprecated: bool,
    /// Name of the event type's group, from `x-svix-group-name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_name: Option<&'a str>,
    /// Feature flags, from `x-svix-feature-flags`.
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_flags: Option<&'a BTreeSet<String>>,
}

impl EventTypeImportOpenApiIn {
    /// 400 unless the request has exactly one document.
    async fn into_import(self) -> Result<OpenApiImport, ApiError> {
        let document = match (self.spec, self.spec_raw) {
            (Some(document), None) => document,
            (None, Some(text)) => OpenApiImport::read_document(text).await?,
            _ => {
                let detail = "the request must have exactly one of spec and specRaw".to_owned();
                return Err(ProviderError::BadRequest { code: "invalid_spec", detail }.into());
            }
        };
        let unlisted =
            if self.replace_all == Some(true) { UnlistedEventTypes::Archive } else { UnlistedEventTypes::Keep };
        Ok(OpenApiImport { document, unlisted })
    }
}

fn of_event_type(event_type: &EventType) -> EventTypeFromOpenApi<'_> {
    EventTypeFromOpenApi {
        name: &event_type.name,
        description: &event_type.description,
        schemas: event_type.schemas.as_ref(),
        deprecated: event_type.deprecated,
        group_name: event_type.group_name.as_deref(),
        feature_flags: Some(&event_type.feature_flags).filter(|flags| !flags.is_empty()),
    }
}

fn render(imported: &ImportedEventTypes) -> String {
    let modified = imported.changed.iter().chain(&imported.archived).map(|event_type| event_type.name.as_str());
    let data = EventTypeImportOpenApiOutData { modified: modified.collect(), to_modify: None };
    response::text(&EventTypeImportOpenApiOut { data })
}

/// Imports the webhooks of an OpenAPI document as event types: all of them or none.
#[utoipa::path(post, path = "/event-type/import/openapi", operation_id = "v1.event-type.import-openapi",
    tag = "Event Type", request_body = EventTypeImportOpenApiIn,
    responses(
        (status = 200, body = EventTypeImportOpenApiOut<'_>,
            description = "The event types that the import changed, or would change."),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The request has no document or two (`invalid_spec`), the account would have too many event \
                types (`limit_reached`), or the idempotency key is invalid (`invalid_idempotency_key`)."),
        (status = 413, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn openapi(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    request: Request,
) -> Result<Response, ApiError> {
    let (bytes, idempotency) = extract::read_json_bytes(request, BODY_BYTES_MAX).await?;
    let body: EventTypeImportOpenApiIn = kit_http::json::parse(&bytes)?;
    let dry_run = body.dry_run == Some(true);
    let import = body.into_import().await?;
    if dry_run {
        let preview = provider.preview_event_types(&caller, &import).await?.changes;
        let to_modify = Some(preview.changed.iter().map(of_event_type).collect());
        let data = EventTypeImportOpenApiOutData { modified: Vec::new(), to_modify };
        return Ok(response::ok(&EventTypeImportOpenApiOut { data }));
    }
    let imported = provider.import_event_types(&caller, &import, idempotency.as_ref(), render).await?;
    Ok(response::created(imported, render))
}
