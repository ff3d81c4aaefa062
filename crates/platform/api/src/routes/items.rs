//! Items: added, listed, moved from status to status by an administrator.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use http::HeaderMap;
use platform_core::journal::SubjectKind;
use platform_core::new_item::NewItem;
use platform_core::{Platform, PlatformError};
use platform_rules::{Auction, Item};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::cacheable::{self, CacheableResponse};
use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, Post, QueryRequest, instant, status};
use crate::extract_models::{Raw, attachments};
use crate::list_filters::ItemListQuery;
use crate::models::{HistoryView, ItemView, List, UrlAttachmentSchema};
use crate::response;

/// An item to be. Amounts are minor units of the auction's currency.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemIn {
    /// As printed, such as `12A`; unique in the auction; 1 to 32 characters.
    lot_number: String,
    /// 1 to 500 characters.
    title: String,
    #[serde(default)]
    description: String,
    /// http or https.
    image_url: Option<String>,
    /// Images, documents and videos beside it, at most 50.
    #[serde(default)]
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    attachments: Vec<Raw>,
    low_estimate: Option<i64>,
    high_estimate: Option<i64>,
    /// 0 (default) means the first increment.
    #[serde(default)]
    opening_bid: i64,
    /// Lowest price that sells. It is never shown again.
    reserve: Option<i64>,
    /// Price at which it can be bought at once, until the price reaches it; in timed auctions. Not below the opening bid
    /// and the reserve.
    #[schema(minimum = 1)]
    buy_now: Option<i64>,
    /// The party that sells it, as you know them: a bidder registered with this `party` can't bid on it. Not shown again.
    vendor: Option<Uuid>,
    /// Increment at any price, instead of the auction's table.
    fixed_increment: Option<i64>,
    /// Planned end in a timed auction, when it is not the one that closing time and stagger give.
    #[schema(format = DateTime)]
    end_time: Option<String>,
    /// `DRAFT`, or `LIVE` in a LIVE auction. Without: `LIVE` when it is made with a LIVE auction in one call, otherwise `DRAFT`.
    status: Option<String>,
}

impl ItemIn {
    /// `at` is where it stands in the body, as a JSON pointer; `unsaid` its status when it has none.
    pub(super) fn read(self, at: &str, unsaid: ItemStatus) -> Result<NewItem, ApiError> {
        let first = self.status.as_deref();
        Ok(NewItem {
            lot_number: self.lot_number,
            title: self.title,
            description: self.description,
            image_url: self.image_url,
            attachments: attachments(&format!("{at}/attachments"), &self.attachments)?,
            low_estimate: self.low_estimate,
            high_estimate: self.high_estimate,
            opening_bid: self.opening_bid,
            reserve: self.reserve,
            buy_now: self.buy_now,
            vendor: self.vendor,
            fixed_increment: self.fixed_increment,
            end_time: instant(&format!("{at}/endTime"), self.end_time.as_deref())?,
            status: first.map_or(Ok(unsaid), |name| status(&format!("{at}/status"), name))?,
        })
    }
}

/// Adds an item at the end of the running order. Scope `auctions:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/items", tag = "items", params(("uuid" = Uuid, Path)), request_body = ItemIn,
    responses((status = 201, body = ItemView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ItemIn>,
) -> Result<Response, ApiError> {
    let (post, new) = post.map(|item| item.read("", ItemStatus::Draft))?;
    let auction = platform.auction(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |items: &Vec<Item>| {
        items.first().map_or(String::new(), |item| response::body(&ItemView::new(item, &auction, now)))
    };
    let tag = |items: &Vec<Item>| items.first().map(|item| cacheable::item_etag(item, &auction, now));
    let outcome =
        platform.add_items(&post.caller, uuid, &[new], post.version, post.answering_tagged(201, &render, &tag)).await;
    Ok(response::outcome_tagged(outcome.map_err(strip_item_pointer)?, 201, render, tag))
}

/// The platform takes items in a list; the body of this call is the one item itself.
fn strip_item_pointer(error: PlatformError) -> PlatformError {
    let PlatformError::Invalid(mut problems) = error else { return error };
    for problem in &mut problems {
        if let Some(below) = problem.pointer.strip_prefix("/items/0") {
            problem.pointer = below.to_owned();
        }
    }
    PlatformError::Invalid(problems)
}

/// Lists an auction's items in running order, narrowed to those that meet all that is asked for. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/items", tag = "items",
    params(("uuid" = Uuid, Path), ItemListQuery),
    responses((status = 200, body = List<ItemView>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ItemListQuery>,
) -> Result<Response, ApiError> {
    let (wanted, page) = request.query.read()?;
    let auction = platform.auction(&request.caller, uuid).await?;
    let items = platform.list_items(&request.caller, uuid, &wanted, page.with_lookahead()).await?;
    let now = platform.now();
    Ok(response::list(items, page, |item| item.position, |item| ItemView::new(item, &auction, now)))
}

/// Gives an item. Its `ETag` is for all that the answer says but `serverTime`: with `If-None-Match` the answer is 304 while the
/// rest stands. Scope `auctions:read` or `ring:write`.
#[utoipa::path(get, path = "/items/{uuid}", tag = "items",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = ItemView), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (item, auction) = platform.item(&request.caller, uuid).await?;
    let now = platform.now();
    let (view, tag) = (ItemView::new(&item, &auction, now), cacheable::item_etag(&item, &auction, now));
    Ok(CacheableResponse::tagged(&view, tag).answer(&headers))
}

/// The status wanted, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemStatusIn {
    /// Status name, such as `WITHDRAWN`.
    status: String,
    /// Needed for a suspension, its end, and a correction; at most 500 characters.
    reason: Option<String>,
}

/// Changes an item's status, as an administrator: set-up, suspension, withdrawal, and the correction of a sale or pass.
/// Needs `If-Match`. Scope `auctions:write`; for a correction `ring:write` will do.
#[utoipa::path(post, path = "/items/{uuid}/status", tag = "items",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = ItemStatusIn,
    responses((status = 200, body = ItemView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ItemStatusIn>,
) -> Result<Response, ApiError> {
    let to: ItemStatus = status("/status", &post.body.status)?;
    let seen = post.required_version()?;
    let (before, auction): (Item, Auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(cacheable::item_etag(item, &auction, now));
    let answering = post.answering_tagged(200, &render, &tag);
    let reason = post.body.reason.clone();
    // A hammer that fell is taken back by a correction, which has a rule of its own.
    let is_correction = to == ItemStatus::Live && matches!(before.status, ItemStatus::Sold | ItemStatus::Passed);
    let outcome = if is_correction {
        platform.correct_item(&post.caller, uuid, reason.unwrap_or_default(), Some(seen), answering).await?
    } else {
        platform.change_item_status(&post.caller, uuid, to, reason, Some(seen), answering).await?
    };
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Lists the status changes of an item, with causes and actors. Scope `events:read`.
#[utoipa::path(get, path = "/items/{uuid}/history", tag = "items", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<HistoryView>), (status = 404, body = Problem)))]
pub(crate) async fn history(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let rows = platform.history(&request.caller, (SubjectKind::Item, uuid), page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.sequence, |row| HistoryView::from(row)))
}
