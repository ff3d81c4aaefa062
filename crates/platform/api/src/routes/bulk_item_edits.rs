//! Edits of up to 1,000 items in one call.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use platform_core::Platform;
use platform_core::sales::items::edit_many::{ItemEditEntry, ItemEditsReport, UnreadableEntry};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::item_edits::ItemPatchIn;
use crate::body_fields::{Raw, status};
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::BulkDoneView;
use crate::response;

/// Edits of many items.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkIn {
    /// 1 to 1,000 entries, each for another item of the auction.
    #[schema(value_type = Vec<BulkEntryIn>)]
    items: Vec<Raw>,
}

/// The edit of one item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkEntryIn {
    /// UUID of the item.
    item: Uuid,
    /// The version that the caller read. If the item has another version, this entry is rejected
    /// (`precondition_failed`).
    version: Option<i64>,
    /// A JSON merge patch of the item.
    #[serde(default)]
    patch: ItemPatchIn,
    /// New status, set after the patch.
    status: Option<String>,
    /// Reason of the new status; at most 500 characters.
    reason: Option<String>,
}

impl BulkIn {
    /// Reads each entry on its own: an unreadable one does not affect the others.
    fn read(self) -> Vec<Result<ItemEditEntry, UnreadableEntry>> {
        let read = |raw: Raw| BulkEntryIn::read(&raw).map_err(|error| unreadable(&raw, error));
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

/// An entry that can't be read, with its item's UUID if that can be.
fn unreadable(raw: &RawValue, error: ApiError) -> UnreadableEntry {
    let entry: Option<serde_json::Value> = serde_json::from_str(raw.get()).ok();
    let item = entry.as_ref().and_then(|entry| entry.get("item")?.as_str()?.parse().ok());
    UnreadableEntry { item, problems: error.into_problems() }
}

/// Edit many items
///
/// Up to 1,000 items in one call. The server checks each entry on its own and reports a rejected one with its code;
/// it applies all other entries in one transaction. Accepts `If-Match`: if the version has changed, the server does
/// nothing (412 `precondition_failed`). It then names the auction's version. Scope `auctions:write`. Errors: 409
/// `items_following`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/items/changes", tag = "items", request_body = BulkIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The result of each entry, in the order of the request.", body = BulkDoneView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn change_many(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BulkIn>,
) -> Result<Response, ApiError> {
    let (post, entries) = post.map(|changes| Ok(changes.read()))?;
    let now = platform.now();
    let render = |done: &ItemEditsReport| response::body(&BulkDoneView::new(done, now));
    let tag =
        |done: &ItemEditsReport| Some(etag::auction_etag(&done.auction, &done.counts, done.bulk_change.as_ref(), now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.change_items(&post.caller, uuid, &entries, post.version, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
