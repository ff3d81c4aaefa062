//! Ordering keys that wait for their first message, and letting them go on.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use provider_core::port::ordering::WAITING_COUNT_MAX;
use provider_core::{DeliveryOrder, KeyWaitsFor, OrderingKey, WaitingKey};

use super::head::{Head, Tab};
use crate::portal::notice;
use crate::portal::session::{At, May, Section, Session};
use crate::portal::show::number;
use crate::shared::fields::{Asked, Sent};
use crate::shared::frame::{Frame, page as answer};
use crate::shared::refusal::Refusal;
use crate::shared::when::When;

/// Keys of a page.
const LIMIT: usize = 25;

#[derive(Template)]
#[template(path = "portal/endpoints/ordering.html")]
struct OrderingPage {
    frame: Frame,
    head: Head,
    may: May,
    /// An endpoint that is not may have keys that wait since it was.
    is_in_order: bool,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    key: String,
    message: String,
    why: String,
    since: When,
    next: Option<When>,
    waiting: String,
}

/// The keys that wait.
pub(in crate::portal) async fn page(
    session: Session,
    At([endpoint]): At<1>,
    Asked(query): Asked,
) -> Result<Response, Refusal> {
    let provider = session.provider();
    let endpoint = session.endpoint(&endpoint).await?;
    let after = query.given("after").map(OrderingKey::parse).transpose();
    let after = after.map_err(|_| Refusal::bad_request("The address of this page is not complete."))?;
    let after = after.as_ref().map(OrderingKey::as_str);
    let (blocked, done) = provider.blocked_keys(&session.caller, session.app(), &endpoint.id, after, LIMIT).await?;
    let last = blocked.last().map(|last| last.key.as_str()).filter(|_| !done);
    let next = last.map(|last| form_urlencoded::byte_serialize(last.as_bytes()).collect());
    let now = session.portal.now();
    let row = |blocked: &WaitingKey| Row {
        key: blocked.key.as_str().to_owned(),
        message: blocked.message.to_string(),
        why: why(blocked),
        since: When::new(blocked.since, now),
        next: blocked.waits_for.until().map(|until| When::new(until, now)),
        waiting: match blocked.waiting {
            waiting if waiting >= WAITING_COUNT_MAX as u64 => format!("{} or more", number(waiting)),
            waiting => number(waiting),
        },
    };
    answer(&OrderingPage {
        frame: session.frame("Order of an endpoint", Section::Endpoints).with_notice(notice::of(&query)),
        head: Head::new(&session, &endpoint, Tab::Ordering),
        may: session.may(),
        is_in_order: endpoint.ordering == DeliveryOrder::PerKey,
        rows: blocked.iter().map(row).collect(),
        next,
    })
}

/// What has become of the message until now, and what it waits for.
fn why(blocked: &WaitingKey) -> String {
    let waits_for = match blocked.waits_for {
        KeyWaitsFor::Retry(_) => "tried again at its time",
        KeyWaitsFor::Later(_) => "to be delivered at a later time",
        KeyWaitsFor::Pause(_) => "this endpoint asked for a pause",
        KeyWaitsFor::Rate(_) => "its turn, at the rate of this endpoint",
        KeyWaitsFor::Node => "due, and about to go out",
        KeyWaitsFor::Attempt => "on its way",
        KeyWaitsFor::Nothing => "this endpoint is disabled: it is dropped",
    };
    match blocked.attempts {
        0 => waits_for.to_owned(),
        1 => format!("failed once; {waits_for}"),
        attempts => format!("failed {} times; {waits_for}", number(attempts.into())),
    }
}

/// Gives up the message that a key waits for.
pub(in crate::portal) async fn skip(
    session: Session,
    At([endpoint]): At<1>,
    Sent(form): Sent,
) -> Result<Response, Refusal> {
    let key = OrderingKey::parse(form.text("key")).map_err(|_| Refusal::not_found())?;
    let message = form.text("messageId");
    session.provider().skip_blocked_key(&session.caller, session.app(), &endpoint, &key, message).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/ordering?done=skipped")).into_response())
}
