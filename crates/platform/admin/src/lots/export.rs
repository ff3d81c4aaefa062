//! Catalogue and results as CSV files, written while they are sent. Users who see reserves and vendors find them in the file.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use platform_core::catalogue::write::{Export, ExportReaders};
use platform_core::port::Page;
use platform_core::{Caller, Platform, PlatformError, Scope};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::page_error::PageError;
use crate::session::{PathIds, Session};

/// Items that one read loads and one chunk of the response body holds.
const CHUNK_ITEMS_MAX: usize = 250;

/// The catalogue.
pub(super) async fn catalogue(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    file(session, uuid, Export::Catalogue, "catalogue").await
}

/// The catalogue with the results of the sale.
pub(super) async fn results(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    file(session, uuid, Export::Results, "results").await
}

/// A file that is being written.
struct CsvFile {
    platform: Platform,
    caller: Caller,
    auction: Auction,
    export: Export,
    readers: ExportReaders,
    /// The items to write next; none for those after the last written position.
    loaded: Option<Vec<Item>>,
    after: Option<i64>,
}

async fn file(session: Session, uuid: Uuid, export: Export, name: &str) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform().clone(), session.caller.clone());
    let auction = platform.auction(&caller, uuid).await?;
    let readers = if session.may(Scope::AuctionsWrite) { ExportReaders::Staff } else { ExportReaders::All };
    // The first chunk is loaded before the response starts, so that an error still has its page.
    let first = load(&platform, &caller, uuid, None).await?;
    let start = CsvFile { platform, caller, auction, export, readers, loaded: Some(first), after: None };
    let lines = stream::try_unfold((start, Some(export.header(readers))), |(mut file, header)| async move {
        if let Some(header) = header {
            return Ok::<_, PlatformError>(Some((Bytes::from(header), (file, None))));
        }
        Ok(file.next().await?.map(|text| (Bytes::from(text), (file, None))))
    });
    let disposition = format!("attachment; filename=\"{name}-{uuid}.csv\"");
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(lines)).into_response())
}

impl CsvFile {
    /// The next lines; none at the end.
    async fn next(&mut self) -> Result<Option<String>, PlatformError> {
        let items = match self.loaded.take() {
            Some(items) => items,
            None => load(&self.platform, &self.caller, self.auction.uuid, self.after).await?,
        };
        let Some(last) = items.last() else { return Ok(None) };
        self.after = Some(last.position);
        Ok(Some(items.iter().map(|item| self.export.row(self.readers, &self.auction, item)).collect()))
    }
}

async fn load(
    platform: &Platform,
    caller: &Caller,
    auction: Uuid,
    after: Option<i64>,
) -> Result<Vec<Item>, PlatformError> {
    platform.items(caller, auction, Page { after, limit: CHUNK_ITEMS_MAX }).await
}
