//! Catalogue and results as CSV files, written while they are sent.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use platform_core::catalogue::write::{Export, ExportReaders};
use platform_core::port::Page;
use platform_core::{Caller, Platform, PlatformError};
use platform_rules::{Auction, Item};

use crate::errors::ApiError;

/// Items that one read loads and one chunk of the response body holds.
const CHUNK_ITEMS_MAX: usize = 250;

/// A CSV file that is written while it is sent. If the database fails in the middle, the server aborts the connection,
/// so that a complete response is a complete file.
pub(super) async fn export(
    platform: Platform,
    caller: Caller,
    auction: Auction,
    export: Export,
) -> Result<Response, ApiError> {
    let name = match export {
        Export::Catalogue => "catalogue",
        Export::Results => "results",
    };
    let disposition = format!("attachment; filename=\"{name}-{}.csv\"", auction.uuid);
    // The first chunk is loaded before the response starts, so that an error still has its status.
    let first = load_chunk(&platform, &caller, &auction, None).await?;
    let start = CsvExport { platform, caller, auction, export, next: NextChunk::Loaded(first) };
    let chunks =
        stream::try_unfold((start, Some(export.header(ExportReaders::All))), |(mut file, header)| async move {
            if let Some(header) = header {
                return Ok::<_, PlatformError>(Some((Bytes::from(header), (file, None))));
            }
            Ok(file.write().await?.map(|text| (Bytes::from(text), (file, None))))
        });
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(chunks)).into_response())
}

/// A file that is being written.
struct CsvExport {
    platform: Platform,
    caller: Caller,
    auction: Auction,
    export: Export,
    next: NextChunk,
}

/// The items to write next.
enum NextChunk {
    Loaded(Vec<Item>),
    After(i64),
}

impl CsvExport {
    /// The next lines; `None` at the end.
    async fn write(&mut self) -> Result<Option<String>, PlatformError> {
        let items = match std::mem::replace(&mut self.next, NextChunk::After(i64::MAX)) {
            NextChunk::Loaded(items) => items,
            NextChunk::After(position) => {
                load_chunk(&self.platform, &self.caller, &self.auction, Some(position)).await?
            }
        };
        let Some(last) = items.last() else { return Ok(None) };
        self.next = NextChunk::After(last.position);
        Ok(Some(items.iter().map(|item| self.export.row(ExportReaders::All, &self.auction, item)).collect()))
    }
}

async fn load_chunk(
    platform: &Platform,
    caller: &Caller,
    auction: &Auction,
    after: Option<i64>,
) -> Result<Vec<Item>, PlatformError> {
    platform.items(caller, auction.uuid, Page { after, limit: CHUNK_ITEMS_MAX }).await
}
