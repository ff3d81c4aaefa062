//! Removing payloads of many messages (provider.md, "Messages"). What official clients call beyond the open server's API.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Created, Provider, ProviderError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::background_tasks::{BackgroundTaskOut, render};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{self, Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Name;

/// Messages in one call at most; all of an application have a task of their own.
const IDS_MAX: usize = 250;

/// Which messages.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BulkExpungeContentsIn {
    /// Ids or event ids, 250 at most.
    #[schema(value_type = Option<Vec<Name>>, max_items = 250)]
    ids: Option<BTreeSet<String>>,
}

/// What came of each.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkExpungeContentsOut {
    /// By the id that was given.
    results: BTreeMap<String, BulkExpungeStatus>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BulkExpungeStatus {
    /// Its payload is gone.
    Expunged,
    /// The application has no such message.
    NotFound,
}

impl BulkExpungeContentsIn {
    fn check(self) -> Result<BTreeSet<String>, ApiError> {
        let ids = self.ids.unwrap_or_default();
        if ids.len() > IDS_MAX {
            return Err(ApiError::at(["body", "ids"], format!("must be at most {IDS_MAX}")));
        }
        for id in &ids {
            check_name(id, NAME_CHARS_MAX).map_err(|error| ApiError::at(["body", "ids"], format!("each {error}")))?;
        }
        Ok(ids)
    }
}

/// Removes the payloads of some messages. They read back as `{"expired": true}` and can't be sent again.
#[utoipa::path(post, path = "/app/{app_id}/msg/bulk-expunge", operation_id = "v1.message.bulk-expunge-content",
    tag = "Message", request_body = BulkExpungeContentsIn,
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = BulkExpungeContentsOut), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn expunge_some(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<BulkExpungeContentsIn>,
) -> Result<Response, ApiError> {
    let ids = sent.body.check()?;
    let application = provider.application(&caller, &application).await?.id;
    let mut results = BTreeMap::new();
    for id in ids {
        let status = match provider.expunge_message(&caller, &application, &id).await {
            Ok(()) => BulkExpungeStatus::Expunged,
            Err(ProviderError::NotFound) => BulkExpungeStatus::NotFound,
            Err(error) => return Err(error.into()),
        };
        results.insert(id, status);
    }
    Ok(response::ok(&BulkExpungeContentsOut { results }))
}

/// Removes the payloads of all messages that the application was sent until now, as a background task.
#[utoipa::path(post, path = "/app/{app_id}/msg/expunge-all-contents", operation_id = "v1.message.expunge-all-contents",
    tag = "Message", params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 202, body = BackgroundTaskOut<'_>), (status = 400, body = HttpErrorOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn expunge_all(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    request: Request,
) -> Result<Response, ApiError> {
    let idempotency = extract::read_idempotency_key(request).await?;
    Ok(match provider.purge_messages(&caller, &application, idempotency.as_ref(), render).await? {
        Created::New(task) => response::from_text(StatusCode::ACCEPTED, render(&task)),
        before => response::created(before, render),
    })
}
