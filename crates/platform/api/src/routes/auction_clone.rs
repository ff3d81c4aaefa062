//! Copies of an auction.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedAuction, CopiedItems};
use platform_core::sales::auctions::shift::Shift;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::AuctionView;
use crate::response;

/// How to copy an auction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CloneIn {
    /// Title of the copy. Default: the title of the original.
    title: Option<String>,
    /// Seconds by which start, closing time and ends become later; negative for earlier, at most ten years.
    shift_seconds: Option<i64>,
    /// Days by which they become later, at the same time of day in the auction's `timeZone`; negative for earlier, at
    /// most 3,660. Staggered ends keep their distance from the closing time. Not together with `shiftSeconds`. Default:
    /// 0.
    #[schema(minimum = -3_660, maximum = 3_660)]
    shift_days: Option<i64>,
    /// True: copy the items except WITHDRAWN ones, as DRAFT and without bids. Default: false.
    #[serde(default)]
    with_items: bool,
}

impl CloneIn {
    fn read(self) -> Result<AuctionCopy, ApiError> {
        let shift = match (self.shift_seconds, self.shift_days) {
            (seconds, None) => Shift::Seconds(seconds.unwrap_or_default()),
            (None, Some(days)) => Shift::Days(days),
            (Some(_), Some(_)) => return Err(ApiError::invalid("", "give either shiftSeconds or shiftDays")),
        };
        let items = if self.with_items { CopiedItems::All } else { CopiedItems::None };
        Ok(AuctionCopy { title: self.title, shift, items })
    }
}

/// Clone an auction
///
/// Copies an auction as a DRAFT, with or without its items. The platform announces the copy. On a large auction the
/// server copies the items as a bulk change in steps, which continues after a restart; `following` of the copy shows
/// the progress, and the response follows the last step. Scope `auctions:write`. Errors: 409 `items_following`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/clone", tag = "auctions", request_body = CloneIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 201, description = "The new auction, with its items counted.", body = AuctionView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn clone(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<CloneIn>,
) -> Result<Response, ApiError> {
    let (post, copy) = post.map(CloneIn::read)?;
    let now = platform.now();
    let render =
        |copied: &CopiedAuction| response::body(&AuctionView::whole(&copied.auction, &copied.items, None, now));
    let tag = |copied: &CopiedAuction| Some(etag::auction_etag(&copied.auction, &copied.items, None, now));
    let outcome = platform.copy_auction(&post.caller, uuid, &copy, post.idempotent_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
