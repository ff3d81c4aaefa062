//! Expunging the payloads of many messages. Official clients call these operations; the open-source Svix server lacks
//! them.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Created, Provider, ProviderError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::background_tasks::{BackgroundTaskOut, render};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{self, Auth, JsonBody, PathParams};
use crate::response;
use crate::schema_types::Name;

/// Messages in one call. A background task expunges all messages of an application.
const IDS_MAX: usize = 250;

/// The messages to expunge.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BulkExpungeContentsIn {
    /// Ids or event ids, at most 250.
    #[schema(value_type = Option<Vec<Name>>, max_items = 250)]
    ids: Option<BTreeSet<String>>,
}

/// The result for each message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkExpungeContentsOut {
    /// Results by the id of the request.
    results: BTreeMap<String, BulkExpungeStatus>,
}

/// The result for one message.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BulkExpungeStatus {
    /// The payload is expunged.
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
            check_name(id, NAME_CHARS_MAX)
                .map_err(|error| ApiError::at(["body", "ids"], format!("contains an invalid id: it {error}")))?;
        }
        Ok(ids)
    }
}

/// Expunges the payloads of up to 250 messages. They are `{"expired": true}` from then on, and the messages can't be
/// resent.
#[utoipa::path(post, path = "/app/{app_id}/msg/bulk-expunge", operation_id = "v1.message.bulk-expunge-content",
    tag = "Message", request_body = BulkExpungeContentsIn,
    params(("app_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The result for each message.", body = BulkExpungeContentsOut),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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

/// Starts a background task that expunges the payloads of all messages of an application accepted so far.
#[utoipa::path(post, path = "/app/{app_id}/msg/expunge-all-contents", operation_id = "v1.message.expunge-all-contents",
    tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 202, description = "The started background task.", body = BackgroundTaskOut<'_>),
        (status = 400, body = HttpErrorOut<'_>,
            description = "Too many background tasks of the account are running (`limit_reached`), or the idempotency \
                key is invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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
