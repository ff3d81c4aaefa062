//! Quarantined events: events that a customer's provider rejected for good, published again or discarded by support.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::outbox::quarantine::{QuarantineSelection, ResendReport};
use platform_core::port::OvertakenPolicy;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{List, QuarantinedView};
use crate::pagination::ListQuery;
use crate::response;

/// List quarantined events
///
/// Events that the provider rejected for good, in the order of the feed. Scope `customers:read`.
#[utoipa::path(
    get, path = "/customers/{uuid}/consumer/quarantine", tag = "customers",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (
            status = 200, description = "A page of quarantined events in order of their cursors.",
            body = List<QuarantinedView>,
        ),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn quarantine(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let events = platform.quarantined(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(events, page, |quarantined| quarantined.event.cursor, |row| QuarantinedView::from(row)))
}

/// Which events to publish again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SendAgainIn {
    /// Cursors of quarantined events, 1 to 250: all of them or none. Default: the oldest 1,000.
    cursors: Option<Vec<i64>>,
    /// True: also publish events of which a later one of the same auction or item was already published. The consumer
    /// must handle the order itself. Default: false.
    #[serde(default)]
    out_of_order: bool,
}

/// The result of publishing again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SentAgain)]
pub(crate) struct SentAgainView {
    /// Cursors of the events that now wait to be published.
    sent: Vec<i64>,
    /// Cursors of the events that stay in quarantine, because a later event of the same auction or item was already
    /// published.
    left: Vec<i64>,
    /// Number of events in quarantine.
    quarantined: u64,
}

/// Publish quarantined events again
///
/// Puts the named events, or the oldest 1,000, back into the queue, before later events of the same auction or item
/// that still wait. If a later event of the same auction or item was already published, a named event is rejected
/// (409 `later_published`) and an unnamed one stays in quarantine; `outOfOrder` overrides this. Scope
/// `customers:write`. Errors: 409 `not_connected`, `later_published`.
#[utoipa::path(
    post, path = "/customers/{uuid}/consumer/quarantine/send", tag = "customers", request_body = SendAgainIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (
            status = 200,
            description = "The cursors that wait to be published, those that stay in quarantine, and the number in quarantine.",
            body = SentAgainView,
        ),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
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
    let idempotent = post.idempotent(200, &render);
    let outcome = platform.send_quarantined(&post.caller, uuid, (&which, after_later), idempotent).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// Which events to discard, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DropIn {
    /// Cursors of quarantined events, 1 to 250: all of them or none.
    cursors: Vec<i64>,
    /// Text for people; 1 to 500 characters. It is written to the server's log.
    reason: String,
}

/// Discarded events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Dropped {
    /// Number of discarded events.
    dropped: u64,
}

/// Discard quarantined events
///
/// The platform never publishes the named events. They stay in the event feed. Scope `customers:write`.
#[utoipa::path(
    post, path = "/customers/{uuid}/consumer/quarantine/drop", tag = "customers", request_body = DropIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The number of discarded events.", body = Dropped),
        (status = 404, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn discard(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<DropIn>,
) -> Result<Response, ApiError> {
    let render = |dropped: &u64| response::body(&Dropped { dropped: *dropped });
    let dropping = (post.body.cursors.as_slice(), post.body.reason.as_str());
    let outcome = platform.drop_quarantined(&post.caller, uuid, dropping, post.idempotent(200, &render)).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}
