//! The end of a customer's connection, and what becomes of events that its provider refused: support's work.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::consumers::{QuarantineSelection, ResendReport};
use platform_core::port::OvertakenPolicy;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::response;

/// A connection that ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Disconnected {
    /// Events that waited and are not published. They are in the events feed; `startFrom` brings them back.
    discarded: u64,
}

/// Ends a customer's connection. Its API key is forgotten; nothing that waits, or happens from now on, is published. The journal is
/// kept, and connecting again can start from a cursor. Scope `customers:write`.
#[utoipa::path(delete, path = "/customers/{uuid}/consumer", tag = "customers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = Disconnected), (status = 404, body = Problem)))]
pub(crate) async fn disconnect(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let discarded = platform.disconnect_consumer(&request.caller, uuid).await?;
    Ok(response::ok(&Disconnected { discarded }))
}

/// Which events to send again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SendAgainIn {
    /// Cursors of events in quarantine, 1 to 250, all of which are sent or none; the oldest thousand without.
    cursors: Option<Vec<i64>>,
    /// Send also what a later event of the same auction or item has overtaken. The consumer has to look at the order itself.
    #[serde(default)]
    out_of_order: bool,
}

/// What was sent again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResendReport)]
pub(crate) struct SentAgainView {
    /// Cursors of events that wait to be published now.
    sent: Vec<i64>,
    /// Cursors of events that were left in quarantine: a later event of the same auction or item has gone out.
    left: Vec<i64>,
    /// How many are in quarantine now.
    quarantined: u64,
}

/// Publishes events again that the provider refused, once the cause is mended: those named, or the oldest thousand. They go before later
/// ones of the same auction or item that still wait; what a later one has overtaken is refused (409 `later_published`), or left when no
/// event is named. Scope `customers:write`.
#[utoipa::path(post, path = "/customers/{uuid}/consumer/quarantine/send", tag = "customers", params(("uuid" = Uuid, Path)),
    request_body = SendAgainIn,
    responses((status = 200, body = SentAgainView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn send(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<SendAgainIn>,
) -> Result<Response, ApiError> {
    let render = |result: &ResendReport| {
        let ResendReport { sent, left, quarantined } = result.clone();
        response::body(&SentAgainView { sent, left, quarantined })
    };
    let which = post.body.cursors.clone().map_or(QuarantineSelection::All, QuarantineSelection::These);
    let after_later = if post.body.out_of_order { OvertakenPolicy::Send } else { OvertakenPolicy::Refuse };
    let answering = post.answering(200, &render);
    let outcome = platform.send_quarantined(&post.caller, uuid, (&which, after_later), answering).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// Which events to drop, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DropIn {
    /// Cursors of events in quarantine, 1 to 250, all of which are dropped or none.
    cursors: Vec<i64>,
    /// In a person's words, 1 to 500 characters; it is kept in the server's log.
    reason: String,
}

/// Events that were dropped.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Dropped {
    dropped: u64,
}

/// Drops events that the provider refused: they are never published, and stay in the events feed. Scope `customers:write`.
#[utoipa::path(post, path = "/customers/{uuid}/consumer/quarantine/drop", tag = "customers", params(("uuid" = Uuid, Path)),
    request_body = DropIn,
    responses((status = 200, body = Dropped), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn discard(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<DropIn>,
) -> Result<Response, ApiError> {
    let render = |dropped: &u64| response::body(&Dropped { dropped: *dropped });
    let dropping = (post.body.cursors.as_slice(), post.body.reason.as_str());
    let outcome = platform.drop_quarantined(&post.caller, uuid, dropping, post.answering(200, &render)).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}
