//! The planned ends of a timed auction's items, moved by an administrator.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sales::auctions::move_ends::{MoveEnds, MovedEnds, NewEnds};
use platform_rules::Stagger;
use platform_rules::edit::Plan;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::instant;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::{MovedEndsView, StaggerView};
use crate::response;

/// New ends: either `shiftSeconds`, or `endsAt` with or without `stagger`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndsIn {
    /// Seconds by which the ends become later; negative for earlier, before the auction is LIVE.
    shift_seconds: Option<i64>,
    /// The end of the first items.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// Staggered ends after `endsAt`.
    stagger: Option<StaggerView>,
    /// UUIDs of the items to move, 1 to 1,000, in the order in which `stagger` counts them; the auction's closing time
    /// stays. Default: all items in running order, and the closing time.
    items: Option<Vec<Uuid>>,
    /// Required if a LIVE or SUSPENDED item moves; at most 500 characters.
    reason: Option<String>,
}

impl EndsIn {
    fn read(self) -> Result<MoveEnds, ApiError> {
        let ends_at = instant("/endsAt", self.ends_at.as_deref())?;
        let ends = match (self.shift_seconds, ends_at) {
            (Some(seconds), None) if self.stagger.is_none() => NewEnds::Shift { seconds },
            (None, Some(ends_at)) => NewEnds::Plan(Plan { ends_at, stagger: self.stagger.map(Stagger::from) }),
            _ => {
                return Err(ApiError::invalid("", "give either shiftSeconds alone, or endsAt with or without stagger"));
            }
        };
        Ok(MoveEnds { ends, items: self.items, reason: self.reason })
    }
}

/// Move the ends of an auction's items
///
/// Shifts the planned ends of a timed auction's items, or plans them anew: all of them or none. The end of a LIVE or
/// SUSPENDED item can only become later (409 `end_not_later`), and an end that soft close has already extended
/// further stays. On a large auction the server first checks all items, then moves them as a bulk change in steps;
/// `following` of the auction shows the progress, and the response follows the last step. Requires `If-Match` (412
/// `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`. Errors: 409 `end_not_later`,
/// `item_not_in_auction`, `wrong_auction_kind`, `auction_closed`, `items_following`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ends", tag = "auctions", request_body = EndsIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The auction, and the number of items whose end moved.", body = MovedEndsView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn move_ends(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<EndsIn>,
) -> Result<Response, ApiError> {
    let (post, wanted) = post.map(EndsIn::read)?;
    let expected = post.required_version()?;
    let now = platform.now();
    let render = |moved: &MovedEnds| response::body(&MovedEndsView::new(moved, now));
    let tag = |moved: &MovedEnds| Some(etag::auction_etag(&moved.auction, &moved.items, None, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.move_ends(&post.caller, uuid, &wanted, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
