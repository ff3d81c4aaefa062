//! The ring of a webcast, and the clerk's commands. Each command requires the `ETag` of the ring that the clerk read.
//! If two clerks send a command on the same state, the second one fails with 412, so that a lot is never sold twice.
//! The tag is `"<version of the auction>.<version of the item>"`, with 0 for an empty ring.

pub(super) mod bidding;
pub(super) mod internet_bids;
pub(super) mod offer;
pub(super) mod sell_and_pass;
pub(super) mod undo_and_reopen;
pub(super) mod visitor_messages;

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{ClerkCommand, ClerkCommandResult};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag::RingTag;
use crate::extract::{Post, QueryRequest};
use crate::models::RingView;
use crate::response;

/// Get the ring of a webcast
///
/// With the scope `ring:write`, the response also contains the clerk's desk: waiting internet bids, absentee bids,
/// the next items and the possible commands. A user with the role clerk must be assigned to the webcast (403
/// `clerk_not_assigned`). Scope `auctions:read` or `ring:write`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/ring", tag = "ring",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The ring, and for its clerks the clerk's desk.", body = RingView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let ring = platform.ring(&request.caller, uuid).await?;
    Ok(response::tagged(&RingView::new(&ring, platform.now()), RingTag::of(&ring)))
}

/// An empty object: the command has no parameters.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NothingIn {}

/// The reason of a command.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonIn {
    /// Text for people, 1 to 500 characters; it is kept in the item's log.
    reason: String,
}

/// Executes a command and returns the ring after it.
async fn command<B>(
    platform: &Platform,
    uuid: Uuid,
    post: &Post<B>,
    command: &ClerkCommand,
) -> Result<Response, ApiError> {
    let expected = post.required_ring_tag()?.version();
    let now = platform.now();
    let render = |done: &ClerkCommandResult| response::body(&RingView::after(done, now));
    let tag = |done: &ClerkCommandResult| Some(RingTag::of(&done.ring).to_string());
    let outcome =
        platform.clerk(&post.caller, uuid, command, expected, post.idempotent_tagged(200, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
