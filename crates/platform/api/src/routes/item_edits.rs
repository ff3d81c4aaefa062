//! Edits of one item.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_rules::Hidden;
use platform_rules::item::ItemEdit;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::{Raw, attachments, instant, no_null, or_null};
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::{ItemView, UrlAttachmentSchema};
use crate::response;

/// A JSON merge patch of an item: an absent field stays, null clears an optional one. Amounts are in minor units of the
/// auction's currency.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemPatchIn {
    /// Lot number, as printed; 1 to 32 characters. Locked after the first bid.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    lot_number: Option<String>,
    /// 1 to 500 characters.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    title: Option<String>,
    /// Description; may be empty.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    description: Option<String>,
    /// Category, 1 to 80 characters.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    category: Option<Option<String>>,
    /// http or https address of the main image.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    image_url: Option<Option<String>>,
    /// The complete list, at most 50; `[]` removes all.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
    /// Low estimate, in minor units.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    low_estimate: Option<Option<i64>>,
    /// High estimate, in minor units.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    high_estimate: Option<Option<i64>>,
    /// Opening bid, in minor units; 0 means the first increment. Locked after the first bid.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = i64, required = false)]
    opening_bid: Option<i64>,
    /// Reserve, in minor units. It is never shown. Locked after the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    reserve: Option<Option<i64>>,
    /// Buy-now price, in minor units. Locked after the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    buy_now: Option<Option<i64>>,
    /// Increment at every price, in minor units, instead of the auction's table. Locked after the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    fixed_increment: Option<Option<i64>>,
    /// UUID of the party that sells the item and may not bid on it. Locked after the first bid.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<Uuid>)]
    vendor: Option<Option<Uuid>>,
    /// Planned end of a DRAFT, PREVIEW or WITHDRAWN item of a timed auction; null for the end that closing time and
    /// stagger give.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    end_time: Option<Option<String>>,
}

impl ItemPatchIn {
    /// `at` is the JSON pointer to the patch in the body.
    pub(super) fn read(self, at: &str) -> Result<ItemEdit, ApiError> {
        let files = self.attachments.as_deref();
        let end_time = self.end_time.map(|given| instant(&format!("{at}/endTime"), given.as_deref()));
        Ok(ItemEdit {
            // The running order changes as a whole, with `Platform::arrange_items`.
            position: None,
            lot_number: self.lot_number,
            title: self.title,
            description: self.description,
            category: self.category,
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

/// Edit an item
///
/// A JSON merge patch: an absent field stays, null clears an optional one. Which fields can change depends on the
/// item's status and bids; for others the response is 409 `fields_locked`, and nothing changes. Requires `If-Match`
/// (412 `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`. Errors: 409 `fields_locked`,
/// `taken`, `auction_closed`, `items_following`.
#[utoipa::path(
    patch, path = "/items/{uuid}", tag = "items", request_body = ItemPatchIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The item after the change.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ItemPatchIn>,
) -> Result<Response, ApiError> {
    let (post, edit) = post.map(|patch| patch.read(""))?;
    let expected = post.required_version()?;
    let (item, auction) = platform.change_item(&post.caller, uuid, &edit, Some(expected)).await?;
    let now = platform.now();
    Ok(response::tagged(&ItemView::new(&item, &auction, now), etag::item_etag(&item, &auction, now)))
}
