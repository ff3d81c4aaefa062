//! What a sale has brought, and files of a catalogue with and without it.

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use platform_core::catalogue::write::Export;
use platform_core::port::Page;
use platform_core::results::BuyerResult;
use platform_core::{Caller, Platform, PlatformError};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, QueryRequest};
use crate::models::{ItemResultView, List, ResultsView};
use crate::response;

/// Items in one piece of a file.
const CHUNK_ITEMS_MAX: usize = 250;

/// Adds up what an auction has brought so far: hammer, premium, tax, totals, and the same for each buyer, a page of buyers by
/// paddle. Amounts are minor units, rounded half up item by item. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/results", tag = "results", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = ResultsView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<String>()?;
    let results = platform.results(&request.caller, uuid).await?;
    let from = page.after.as_ref().map_or(0, |after| results.buyers.partition_point(|buyer| buyer.bidder <= *after));
    let rest: &[BuyerResult] = results.buyers.get(from..).unwrap_or_default();
    let shown = rest.get(..page.limit.min(rest.len())).unwrap_or_default();
    let next = shown.last().filter(|_| rest.len() > shown.len());
    let next = next.map(|buyer| kit_http::cursor::encode(&buyer.bidder));
    Ok(response::ok(&ResultsView::new(&results, shown, next)))
}

/// Lists what each item of an auction has brought, in running order. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/results/items", tag = "results", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<ItemResultView>), (status = 404, body = Problem)))]
pub(crate) async fn items(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let auction = platform.auction(&request.caller, uuid).await?;
    let items = platform.items(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(items, page, |item| item.position, |item| ItemResultView::new(&auction, item)))
}

/// Gives the catalogue with what the sale made of each item, as a CSV file that the import reads back; see
/// `GET /auctions/{uuid}/catalogue`. Its further columns are `result_status`, `result_buyer`, `result_hammer`,
/// `result_premium`, `result_tax`, `result_total`. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/results.csv", tag = "results", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = String, content_type = "text/csv"), (status = 404, body = Problem)))]
pub(crate) async fn file(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let auction = platform.auction(&request.caller, uuid).await?;
    export(platform, request.caller, auction, Export::Results).await
}

/// A file that is written while it is sent. If the database fails in the middle, the connection breaks off: a file that came
/// whole is whole.
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
    // The first piece is read before anything is answered, so that what is refused is refused as everywhere.
    let first = load_chunk(&platform, &caller, &auction, None).await?;
    let start = CsvExport { platform, caller, auction, export, next: NextChunk::Loaded(first) };
    let pieces = stream::try_unfold((start, Some(export.header())), |(mut writing, header)| async move {
        if let Some(header) = header {
            return Ok::<_, PlatformError>(Some((Bytes::from(header), (writing, None))));
        }
        Ok(writing.write().await?.map(|text| (Bytes::from(text), (writing, None))))
    });
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

struct CsvExport {
    platform: Platform,
    caller: Caller,
    auction: Auction,
    export: Export,
    next: NextChunk,
}

enum NextChunk {
    Loaded(Vec<Item>),
    After(i64),
}

impl CsvExport {
    /// The next lines; none at the end.
    async fn write(&mut self) -> Result<Option<String>, PlatformError> {
        let items = match std::mem::replace(&mut self.next, NextChunk::After(i64::MAX)) {
            NextChunk::Loaded(items) => items,
            NextChunk::After(position) => {
                load_chunk(&self.platform, &self.caller, &self.auction, Some(position)).await?
            }
        };
        let Some(last) = items.last() else { return Ok(None) };
        self.next = NextChunk::After(last.position);
        Ok(Some(items.iter().map(|item| self.export.row(&self.auction, item)).collect()))
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
