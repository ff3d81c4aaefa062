//! Items corrected after they were entered, one by one and many at once, and unsold ones listed again.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use platform_core::Platform;
use platform_core::items::edit_many::{ItemEditEntry, ItemEditsReport, UnreadableEntry};
use platform_core::items::relist::{Relist, Relisted, RelistedLot};
use platform_rules::Hidden;
use platform_rules::item::ItemEdit;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::cacheable;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, instant, status};
use crate::extract_models::{Raw, attachments, no_null, or_null};
use crate::models::{BulkDoneView, ItemView, RelistedView, UrlAttachmentSchema};
use crate::response;

/// What is to be another way (a JSON merge patch). What is absent stays; null takes away what may be absent. Amounts are minor
/// units of the auction's currency.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemPatchIn {
    /// Before the first bid.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    lot_number: Option<String>,
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    title: Option<String>,
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    description: Option<String>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    image_url: Option<Option<String>>,
    /// All of them, at most 50; `[]` takes them away.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    low_estimate: Option<Option<i64>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    high_estimate: Option<Option<i64>>,
    /// Before the first bid.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = i64, required = false)]
    opening_bid: Option<i64>,
    /// Before the first bid. It is never shown.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    reserve: Option<Option<i64>>,
    /// Before the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    buy_now: Option<Option<i64>>,
    /// Before the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    fixed_increment: Option<Option<i64>>,
    /// The party that sells it, and may not bid on it. Before the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<Uuid>)]
    vendor: Option<Option<Uuid>>,
    /// As DRAFT, PREVIEW and WITHDRAWN in a timed auction; null for the one that closing time and stagger give.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    end_time: Option<Option<String>>,
}

impl ItemPatchIn {
    fn read(self, at: &str) -> Result<ItemEdit, ApiError> {
        let files = self.attachments.as_deref();
        let end_time = self.end_time.map(|given| instant(&format!("{at}/endTime"), given.as_deref()));
        Ok(ItemEdit {
            lot_number: self.lot_number,
            title: self.title,
            description: self.description,
            image_url: self.image_url,
            attachments: files.map(|raw| attachments(&format!("{at}/attachments"), raw)).transpose()?,
            low_estimate: self.low_estimate,
            high_estimate: self.high_estimate,
            opening_bid: self.opening_bid,
            reserve: self.reserve.map(|reserve| reserve.map(Hidden::new)),
            buy_now: self.buy_now,
            fixed_increment: self.fixed_increment,
            vendor: self.vendor,
            end_time: end_time.transpose()?,
        })
    }
}

/// Changes what is given of an item. What can change depends on its status and on bids; of what can't, the answer is 409
/// `fields_locked`. Needs `If-Match`. Scope `auctions:write`.
#[utoipa::path(patch, path = "/items/{uuid}", tag = "items",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = ItemPatchIn,
    responses((status = 200, body = ItemView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ItemPatchIn>,
) -> Result<Response, ApiError> {
    let (post, edit) = post.map(|patch| patch.read(""))?;
    let seen = post.required_version()?;
    let (item, auction) = platform.change_item(&post.caller, uuid, &edit, Some(seen)).await?;
    let now = platform.now();
    Ok(response::tagged(&ItemView::new(&item, &auction, now), cacheable::item_etag(&item, &auction, now)))
}

/// Changes of many items.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkIn {
    /// 1 to 1,000, each of another item of the auction.
    #[schema(value_type = Vec<BulkEntryIn>)]
    items: Vec<Raw>,
}

/// What is wanted of one item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkEntryIn {
    item: Uuid,
    /// The version that you saw; when it is another by now, this item is left as it is.
    version: Option<i64>,
    #[serde(default)]
    patch: ItemPatchIn,
    /// Another status, after the patch.
    status: Option<String>,
    /// For the status.
    reason: Option<String>,
}

impl BulkIn {
    /// What is wrong with one entry is told with it, and holds no other up.
    fn read(self) -> Vec<Result<ItemEditEntry, UnreadableEntry>> {
        let read = |raw: Raw| BulkEntryIn::read(&raw).map_err(|error| unread(&raw, error));
        self.items.into_iter().map(read).collect()
    }
}

impl BulkEntryIn {
    fn read(raw: &RawValue) -> Result<ItemEditEntry, ApiError> {
        let entry: Self = kit_http::json::parse(raw.get().as_bytes())?;
        let to = entry.status.as_deref().map(|name| status::<ItemStatus>("/status", name)).transpose()?;
        Ok(ItemEditEntry {
            item: entry.item,
            version: entry.version,
            edit: entry.patch.read("/patch")?,
            status: to.map(|to| (to, entry.reason)),
        })
    }
}

fn unread(raw: &RawValue, error: ApiError) -> UnreadableEntry {
    let entry: Option<serde_json::Value> = serde_json::from_str(raw.get()).ok();
    let item = entry.as_ref().and_then(|entry| entry.get("item")?.as_str()?.parse().ok());
    UnreadableEntry { item, problems: error.into_problems() }
}

/// Changes up to 1,000 items in one call, each by itself: what is refused, or can't be read, is told with its code and leaves the
/// others alone, and all that is not refused becomes true together. `If-Match` with the auction's `ETag` is heeded when it is sent. Scope
/// `auctions:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/items/changes", tag = "items",
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)), request_body = BulkIn,
    responses((status = 200, body = BulkDoneView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change_many(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BulkIn>,
) -> Result<Response, ApiError> {
    let (post, entries) = post.map(|changes| Ok(changes.read()))?;
    let now = platform.now();
    let render = |done: &ItemEditsReport| response::body(&BulkDoneView::new(done, now));
    let tag = |done: &ItemEditsReport| {
        Some(cacheable::auction_etag(&done.auction, &done.counts, done.bulk_change.as_ref(), now))
    };
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.change_items(&post.caller, uuid, &entries, post.version, answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Which unsold items to list again, and where.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RelistIn {
    /// The auction that takes them: another one of the customer, in the same currency.
    into: Uuid,
    /// These, in this order, at most 1,000. Without: all UNSOLD ones that are not relisted yet, in running order; of more than
    /// 1,000 the first.
    items: Option<Vec<RelistedLotIn>>,
    /// `DRAFT` (default), or `LIVE` in a LIVE auction.
    status: Option<String>,
}

/// An unsold item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RelistedLotIn {
    item: Uuid,
    /// Its lot number there; the next free number without.
    lot_number: Option<String>,
}

impl RelistIn {
    fn read(self) -> Result<Relist, ApiError> {
        let lots = |lots: Vec<RelistedLotIn>| {
            lots.into_iter().map(|lot| RelistedLot { item: lot.item, lot_number: lot.lot_number }).collect()
        };
        let first = self.status.as_deref();
        Ok(Relist {
            into: self.into,
            items: self.items.map(lots),
            status: first.map_or(Ok(ItemStatus::Draft), |name| status("/status", name))?,
        })
    }
}

/// Lists unsold items of this auction again, at the end of another one's running order, all or none. Old and new item name
/// each other in `relistedAs` and `relistedFrom`; estimates, opening bid, reserve, vendor, texts and images go along. Scope
/// `auctions:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/relist", tag = "items", params(("uuid" = Uuid, Path)),
    request_body = RelistIn,
    responses((status = 201, body = RelistedView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn relist(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RelistIn>,
) -> Result<Response, ApiError> {
    let (post, wanted) = post.map(RelistIn::read)?;
    let now = platform.now();
    let render = |relisted: &Relisted| response::body(&RelistedView::new(relisted, now));
    let tag = |relisted: &Relisted| Some(cacheable::auction_etag(&relisted.into, &relisted.counts, None, now));
    let outcome = platform.relist_items(&post.caller, uuid, &wanted, post.answering_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
