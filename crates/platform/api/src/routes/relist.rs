//! Unsold items, listed again in another auction.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use platform_core::Platform;
use platform_core::sales::items::relist::{Relist, Relisted, RelistedLot};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::status;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::RelistedView;
use crate::response;

/// Which unsold items to relist, and into which auction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RelistIn {
    /// UUID of the auction that receives the items: another one of the customer, in the same currency.
    into: Uuid,
    /// The items, in this order, at most 1,000. Default: the first 1,000 UNSOLD items in running order that are not
    /// relisted yet.
    items: Option<Vec<RelistedLotIn>>,
    /// Status of the new items: `DRAFT` (default), or `LIVE` in a LIVE auction.
    status: Option<String>,
}

/// An unsold item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RelistedLotIn {
    /// UUID of the unsold item.
    item: Uuid,
    /// Lot number in the other auction. Default: the next free number.
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

/// Relist unsold items
///
/// Adds copies of this auction's unsold items at the end of another auction's running order: all of them or none. The
/// old and the new item name each other in `relistedAs` and `relistedFrom`. The copy has the estimates, opening bid,
/// reserve, vendor, texts and images of the original. Scope `auctions:write`. Errors: 409 `item_not_unsold`,
/// `already_relisted`, `nothing_to_relist`, `relisted_elsewhere`, `sandbox_mismatch`, `taken`, `auction_closed`,
/// `items_following`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/relist", tag = "items", request_body = RelistIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 201, description = "The new items in running order.", body = RelistedView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn relist(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RelistIn>,
) -> Result<Response, ApiError> {
    let (post, wanted) = post.map(RelistIn::read)?;
    let now = platform.now();
    let render = |relisted: &Relisted| response::body(&RelistedView::new(relisted, now));
    let tag = |relisted: &Relisted| Some(etag::auction_etag(&relisted.into, &relisted.counts, None, now));
    let outcome =
        platform.relist_items(&post.caller, uuid, &wanted, post.idempotent_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
