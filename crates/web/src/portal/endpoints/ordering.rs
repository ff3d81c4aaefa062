//! Ordering keys that wait for a message that fails, and letting them go on.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use provider::OrderingKey;
use provider::port::ordering::{BlockedKey, WAITING_COUNT_MAX};

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
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    key: String,
    message: String,
    attempts: u32,
    since: When,
    next: When,
    waiting: String,
}

/// The blocked keys.
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
    let row = |blocked: &BlockedKey| Row {
        key: blocked.key.as_str().to_owned(),
        message: blocked.message.to_string(),
        attempts: blocked.attempts,
        since: When::new(blocked.since, now),
        next: When::new(blocked.next_at, now),
        waiting: match blocked.waiting {
            waiting if waiting >= WAITING_COUNT_MAX as u64 => format!("{} or more", number(waiting)),
            waiting => number(waiting),
        },
    };
    answer(&OrderingPage {
        frame: session.frame("Order of an endpoint", Section::Endpoints).with_notice(notice::of(&query)),
        head: Head::new(&session, &endpoint, Tab::Ordering),
        may: session.may(),
        rows: blocked.iter().map(row).collect(),
        next,
    })
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
