//! The ring of a webcast: followed, and led by clerks. Each command carries the `ETag` that its clerk saw, so that of two
//! clerks one gets a conflict and never two sales. The tag names the auction's and the item's version: `"<auction>.<item>"`,
//! item 0 for an empty ring.

pub(super) mod bidding;
pub(super) mod internet_bids;
pub(super) mod offer;
pub(super) mod sell_and_pass;
pub(super) mod undo_and_reopen;

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{ClerkCommand, ClerkCommandResult};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest, RingTag};
use crate::models::RingView;
use crate::response;

/// Gives the ring of a webcast; with the scope `ring:write` also the clerk's desk: what waits, what absentees left, what is
/// next, which commands are possible. A person with the role clerk must be assigned to the webcast (403 `clerk_not_assigned`). Scope
/// `auctions:read` or `ring:write`.
#[utoipa::path(get, path = "/auctions/{uuid}/ring", tag = "ring", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = RingView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let ring = platform.ring(&request.caller, uuid).await?;
    Ok(response::tagged(&RingView::new(&ring, platform.now()), RingTag::of(&ring)))
}

/// A command without further words.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NothingIn {}

/// Why something is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonIn {
    /// In a person's words, 1 to 500 characters; it is kept in the log.
    reason: String,
}

/// Carries out a command, and answers with the ring after it.
async fn command<B>(
    platform: &Platform,
    uuid: Uuid,
    post: &Post<B>,
    command: &ClerkCommand,
) -> Result<Response, ApiError> {
    let seen = post.required_ring_tag()?.version();
    let now = platform.now();
    let render = |done: &ClerkCommandResult| response::body(&RingView::after(done, now));
    let tag = |done: &ClerkCommandResult| Some(RingTag::of(&done.ring).to_string());
    let outcome = platform.clerk(&post.caller, uuid, command, seen, post.answering_tagged(200, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
