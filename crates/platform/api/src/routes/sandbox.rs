//! Clocks of sandbox auctions.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sandbox::{Advance, Advanced};
use platform_rules::TestClock;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::instant;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{AdvancedView, ClockView, EndedView};
use crate::response;

/// How far to advance the clock: either `seconds` or `to`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AdvanceIn {
    /// Seconds from the time that the clock shows; 1 to 31,622,400 (366 days).
    #[schema(minimum = 1, maximum = 31_622_400)]
    seconds: Option<i64>,
    /// The new time: later than the time that the clock shows, by at most 366 days.
    #[schema(format = DateTime)]
    to: Option<String>,
}

impl AdvanceIn {
    fn read(self) -> Result<Advance, ApiError> {
        match (self.seconds, instant("/to", self.to.as_deref())?) {
            (Some(seconds), None) => Ok(Advance::Seconds(seconds)),
            (None, Some(to)) => Ok(Advance::To(to)),
            _ => Err(ApiError::invalid("", "needs either seconds or to; send one of them")),
        }
    }
}

/// Advance the clock of a sandbox auction
///
/// Ends every item that becomes due, the earliest first, each at its own effective end. The clock only moves forward:
/// by at most 366 days in one call, and to at most ten years after the auction's creation. If more than 250 items
/// become due, the server continues after the response, while `advancing` is true. Accepts `If-Match`: if the version
/// has changed, the server does nothing (412 `precondition_failed`). Scope `sandbox:write`. Errors: 409
/// `not_a_sandbox`, `clock_advancing`, `clock_not_forward`, `clock_too_far`, `auction_closed`, `items_following`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/clock/advance", tag = "sandbox", request_body = AdvanceIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The clock, and the items that have ended.", body = AdvancedView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn advance(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AdvanceIn>,
) -> Result<Response, ApiError> {
    let (post, by) = post.map(AdvanceIn::read)?;
    let render = |advanced: &Advanced| {
        let Some(clock) = &advanced.auction.clock else { return String::new() };
        let ended = advanced.ended.iter().map(EndedView::from).collect();
        response::body(&AdvancedView { clock: ClockView::new(&advanced.auction, clock), ended })
    };
    let tag = |advanced: &Advanced| response::tag(advanced.auction.version);
    let outcome = platform
        .advance_clock(&post.caller, uuid, by, post.version, post.idempotent_tagged(200, &render, &tag))
        .await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Get the clock of a sandbox auction
///
/// Scope `auctions:read` or `sandbox:write`. Errors: 409 `not_a_sandbox`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/clock", tag = "sandbox",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The clock.", body = ClockView),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn clock(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let (auction, clock): (_, TestClock) = platform.test_clock(&request.caller, uuid).await?;
    Ok(response::versioned(&ClockView::new(&auction, &clock), auction.version))
}
