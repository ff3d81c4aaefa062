//! Everything that is held about a person, as a file.

use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use platform_core::PlatformError;

use crate::page_error::PageError;
use crate::session::{PathIds, Session};

pub(super) async fn file(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let export = session.platform().export_party(&session.caller, uuid).await?;
    let body = serde_json::to_string_pretty(&export)
        .map_err(|error| PlatformError::Internal(format!("the export can't be encoded: {error}")))?;
    let disposition = format!("attachment; filename=\"person-{uuid}.json\"");
    let headers = [(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}
