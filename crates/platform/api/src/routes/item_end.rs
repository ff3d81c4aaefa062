//! The end of one item of a timed auction, extended by an administrator.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::{Platform, PlatformError};
use platform_rules::Item;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::instant;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::ItemView;
use crate::response;

/// A later end, with its reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndIn {
    /// The new end, later than the item's `effectiveEndTime` and in the future.
    #[schema(format = DateTime)]
    end_time: String,
    /// Text for people; 1 to 500 characters.
    reason: String,
}

/// Extend an item's end
///
/// By an administrator, in a timed auction. The new end must be later than the current one and in the future (409
/// `end_not_later`). Accepts `If-Match`: if the version has changed, the server does nothing (412
/// `precondition_failed`). Scope `auctions:write`. Errors: 409 `end_not_later`, `item_not_live`,
/// `wrong_auction_kind`, `auction_closed`, `items_following`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/items/{uuid}/end", tag = "bids", request_body = EndIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The item with its new end.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn move_end(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<EndIn>,
) -> Result<Response, ApiError> {
    let to = instant("/endTime", Some(&post.body.end_time))?;
    let to = to.ok_or_else(|| PlatformError::invalid("/endTime", "is missing"))?;
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let step = (to, post.body.reason.clone());
    let outcome = platform.move_end(&post.caller, uuid, step, post.version, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
