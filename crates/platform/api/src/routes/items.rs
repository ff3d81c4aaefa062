//! Items: adding, listing and reading them.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use http::HeaderMap;
use platform_core::sales::new_item::NewItem;
use platform_core::{Platform, PlatformError};
use platform_rules::Item;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::{Raw, attachments, instant, status};
use crate::cacheable::CacheableResponse;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::list_filters::ItemListQuery;
use crate::models::{ItemView, List, UrlAttachmentSchema};
use crate::response;

/// A new item. Amounts are in minor units of the auction's currency.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemIn {
    /// Lot number, as printed, such as `12A`; unique in the auction; 1 to 32 characters.
    lot_number: String,
    /// 1 to 500 characters.
    title: String,
    /// Description. Default: empty.
    #[serde(default)]
    description: String,
    /// Category under which the house offers the lot, such as `Furniture`; 1 to 80 characters. Bidders filter the catalogue by it.
    category: Option<String>,
    /// http or https address of the main image.
    image_url: Option<String>,
    /// Further images, documents and videos, at most 50.
    #[serde(default)]
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    attachments: Vec<Raw>,
    /// Low estimate, in minor units.
    low_estimate: Option<i64>,
    /// High estimate, in minor units.
    high_estimate: Option<i64>,
    /// Opening bid, in minor units. Default: 0, which means the first increment.
    #[serde(default)]
    opening_bid: i64,
    /// Reserve: the lowest price that sells, in minor units. It is never shown.
    reserve: Option<i64>,
    /// Buy-now price in a timed auction, in minor units: a bidder can buy the item at it until the price reaches it.
    /// Not below the opening bid and the reserve.
    #[schema(minimum = 1)]
    buy_now: Option<i64>,
    /// UUID of the party that sells the item, assigned by you: a bidder registered with this `party` can't bid on it.
    /// It is never shown.
    vendor: Option<Uuid>,
    /// Increment at every price, in minor units, instead of the auction's table.
    fixed_increment: Option<i64>,
    /// Planned end in a timed auction. Default: the end that closing time and stagger give.
    #[schema(format = DateTime)]
    end_time: Option<String>,
    /// `DRAFT`, or `LIVE` in a LIVE auction. Default: `LIVE` for an item that is created together with a LIVE auction,
    /// otherwise `DRAFT`.
    status: Option<String>,
}

impl ItemIn {
    /// `at` is the JSON pointer to the item in the body.
    pub(super) fn read(self, at: &str, default_status: ItemStatus) -> Result<NewItem, ApiError> {
        let first = self.status.as_deref();
        Ok(NewItem {
            lot_number: self.lot_number,
            title: self.title,
            description: self.description,
            category: self.category,
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
            status: first.map_or(Ok(default_status), |name| status(&format!("{at}/status"), name))?,
            images_of: None,
        })
    }
}

/// Add an item
///
/// At the end of the running order. Accepts `If-Match`: if the version has changed, the server does nothing (412
/// `precondition_failed`). It then names the auction's version. Scope `auctions:write`. Errors: 409 `taken` if the
/// auction has an item of this lot number; `auction_not_live`, `end_not_in_future`, `auction_closed`,
/// `items_following`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/items", tag = "items", request_body = ItemIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 201, description = "The new item.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
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
    let tag = |items: &Vec<Item>| items.first().map(|item| etag::item_etag(item, &auction, now));
    let outcome =
        platform.add_items(&post.caller, uuid, &[new], post.version, post.idempotent_tagged(201, &render, &tag)).await;
    Ok(response::outcome_tagged(outcome.map_err(strip_item_pointer)?, 201, render, tag))
}

/// The use case takes a list of items; the body of this operation is the one item, so pointers lose `/items/0`.
fn strip_item_pointer(error: PlatformError) -> PlatformError {
    let PlatformError::Invalid(mut problems) = error else { return error };
    for problem in &mut problems {
        if let Some(below) = problem.pointer.strip_prefix("/items/0") {
            problem.pointer = below.to_owned();
        }
    }
    PlatformError::Invalid(problems)
}

/// List an auction's items
///
/// In running order, filtered by the given parameters; an item must match all of them. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/items", tag = "items",
    params(("uuid" = Uuid, Path), ItemListQuery),
    responses(
        (status = 200, description = "A page of items in running order.", body = List<ItemView>),
        (status = 404, body = Problem),
    ),
)]
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

/// Get an item
///
/// The `ETag` covers the whole response except `serverTime`. Scope `auctions:read` or `ring:write`.
#[utoipa::path(
    get, path = "/items/{uuid}", tag = "items",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The item.", body = ItemView),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (item, auction) = platform.item(&request.caller, uuid).await?;
    let now = platform.now();
    let (view, tag) = (ItemView::new(&item, &auction, now), etag::item_etag(&item, &auction, now));
    Ok(CacheableResponse::tagged(&view, tag).respond(&headers))
}
