//! Ordering keys whose first message blocks those behind it, and skipping that message.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use provider_core::{BlockedKey, BlockedReason, DeliveryOrder, OrderingKey};

use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::labels::number;
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;

/// Ordering keys on one page.
const LIMIT: usize = 25;

#[derive(Template)]
#[template(path = "portal/endpoints/ordering.html")]
struct OrderingPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    /// The endpoint delivers in order. One that no longer does may still have blocked keys.
    is_in_order: bool,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    key: String,
    message: String,
    why: String,
    since: RelativeTime,
    next: Option<RelativeTime>,
    waiting: String,
}

/// The list of blocked keys.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let endpoint = session.endpoint(&endpoint).await?;
    let after = query.non_empty("after").map(OrderingKey::parse).transpose();
    let after = after.map_err(|_| {
        ErrorPage::bad_request(
            "The parameter \"after\" is not an ordering key. Open the list again and use its buttons.",
        )
    })?;
    let after = after.as_ref().map(OrderingKey::as_str);
    let (blocked, done) = provider.blocked_keys(&session.caller, session.app(), &endpoint.id, after, LIMIT).await?;
    let last = blocked.last().map(|last| last.key.as_str()).filter(|_| !done);
    let next = last.map(|last| form_urlencoded::byte_serialize(last.as_bytes()).collect());
    let now = session.portal.now();
    let row = |blocked: &BlockedKey| Row {
        key: blocked.key.as_str().to_owned(),
        message: blocked.message.to_string(),
        why: why(blocked),
        since: RelativeTime::new(blocked.since, now),
        next: blocked.waits_for.until().map(|until| RelativeTime::new(until, now)),
        waiting: number(blocked.waiting),
    };
    render_page(&OrderingPage {
        frame: session.frame("Ordering", Section::Endpoints).with_notice(notice::from_query(&query)),
        head: Head::new(&session, &endpoint, Tab::Ordering),
        may: session.permissions(),
        is_in_order: endpoint.ordering == DeliveryOrder::PerKey,
        rows: blocked.iter().map(row).collect(),
        next,
    })
}

/// How many attempts have failed, and what the message waits for.
fn why(blocked: &BlockedKey) -> String {
    let waits_for = match blocked.waits_for {
        BlockedReason::Retry(_) => "waits for its next retry",
        BlockedReason::Later(_) => "waits for its delivery time",
        BlockedReason::Pause(_) => "waits because this endpoint asked for a pause",
        BlockedReason::Slowed(_) => "waits up to 5 s, because this endpoint answers too late or is overloaded",
        BlockedReason::Rate(_) => "waits for the throttle rate of this endpoint",
        BlockedReason::Node => "due, waits for a node to send it",
        BlockedReason::Attempt => "is being sent",
        BlockedReason::Nothing => "is cancelled, because this endpoint is disabled",
    };
    match blocked.attempts {
        0 => waits_for.to_owned(),
        1 => format!("failed once; {waits_for}"),
        attempts => format!("failed {} times; {waits_for}", number(attempts.into())),
    }
}

/// Cancels the delivery that blocks a key.
pub(in crate::portal) async fn skip(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let key = OrderingKey::parse(form.text("key")).map_err(|_| ErrorPage::not_found())?;
    let message = form.text("messageId");
    session.provider().skip_blocked_key(&session.caller, session.app(), &endpoint, &key, message).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/ordering?done=skipped")).into_response())
}
