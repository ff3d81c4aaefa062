//! The register of a house as a CSV file, written while it is sent.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use kit_design::fields::QueryFields;
use platform_core::port::{Page, Party, PartyPosition};
use platform_core::register_files::{register_header, register_row};
use platform_core::{Caller, Platform, PlatformError};
use uuid::Uuid;

use super::Houses;
use crate::page_error::PageError;
use crate::session::Session;

/// Records that one read loads and one chunk of the response body holds.
const CHUNK_MAX: usize = 250;

/// A file that is being written.
struct RegisterCsv {
    platform: Platform,
    caller: Caller,
    house: Uuid,
    header: Option<String>,
    after: Option<PartyPosition>,
}

/// `GET /people/register.csv`
pub(super) async fn register(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let house = Houses::load(&session, &query).await?.chosen.ok_or(PlatformError::NotFound("customer"))?;
    let (platform, caller) = (session.platform().clone(), session.caller.clone());
    platform.begin_register_export(&caller, house).await?;
    let start = RegisterCsv { platform, caller, house, header: Some(register_header()), after: None };
    let lines = stream::try_unfold(start, |mut file| async move {
        Ok::<_, PlatformError>(file.next().await?.map(|text| (Bytes::from(text), file)))
    });
    let disposition = format!("attachment; filename=\"register-{house}.csv\"");
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(lines)).into_response())
}

impl RegisterCsv {
    /// The next lines; none at the end.
    async fn next(&mut self) -> Result<Option<String>, PlatformError> {
        if let Some(header) = self.header.take() {
            return Ok(Some(header));
        }
        let page = Page { after: self.after.take(), limit: CHUNK_MAX };
        let parties: Vec<Party> = self.platform.exported_parties(&self.caller, self.house, page).await?;
        let Some(last) = parties.last() else { return Ok(None) };
        self.after = Some(Platform::position_of(last));
        Ok(Some(parties.iter().map(register_row).collect()))
    }
}
