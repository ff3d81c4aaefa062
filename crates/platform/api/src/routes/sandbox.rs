//! Sandbox auctions: their clocks.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sandbox::{Advance, Advanced};
use platform_rules::TestClock;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest, instant};
use crate::models::{AdvancedView, ClockView, EndedView};
use crate::response;

/// How far the clock is to go: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AdvanceIn {
    /// So many seconds from what it shows; 1 to 31,622,400, which is 366 days.
    #[schema(minimum = 1, maximum = 31_622_400)]
    seconds: Option<i64>,
    /// To this time: later than what it shows, by 366 days at most.
    #[schema(format = DateTime)]
    to: Option<String>,
}

impl AdvanceIn {
    fn read(self) -> Result<Advance, ApiError> {
        match (self.seconds, instant("/to", self.to.as_deref())?) {
            (Some(seconds), None) => Ok(Advance::Seconds(seconds)),
            (None, Some(to)) => Ok(Advance::To(to)),
            _ => Err(ApiError::invalid("", "needs either seconds or to: give one of them")),
        }
    }
}

/// Advances the clock of a sandbox auction, and ends every item that becomes due, the earliest first, each at its own
/// effective end. It goes forward only: by 366 days at most, and not further than ten years after the auction's creation.
/// With many items it goes on after the answer. Takes `If-Match`, if only one
/// of two callers is to advance it. Scope `sandbox:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/clock/advance", tag = "sandbox", params(("uuid" = Uuid, Path)),
    request_body = AdvanceIn,
    responses((status = 200, body = AdvancedView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
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
    let outcome =
        platform.advance_clock(&post.caller, uuid, by, post.version, post.answering_tagged(200, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Gives the clock of a sandbox auction. Scope `auctions:read` or `sandbox:write`.
#[utoipa::path(get, path = "/auctions/{uuid}/clock", tag = "sandbox", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = ClockView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn clock(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let (auction, clock): (_, TestClock) = platform.test_clock(&request.caller, uuid).await?;
    Ok(response::versioned(&ClockView::new(&auction, &clock), auction.version))
}
