//! One message: its payload, how it stands at each endpoint, every attempt with its answer, and sending it again.

use std::collections::{HashMap, HashSet};

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use provider_core::model::{Attempt, AttemptStatus, Endpoint, Message};
use provider_core::page::{LIMIT_MAX, PageRequest};
use provider_core::payload::StoredPayload;
use provider_core::port::AttemptFilter;
use provider_core::{AttemptedDestination, HistoryQuery, HistoryRequest, ids};

use crate::portal::labels::{self, StatusBadge};
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use crate::shared::code_block::CodeBlock;
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::{QueryFields, SubmittedForm};
use crate::shared::frame::{Frame, render_page};
use crate::shared::pager::Pager;
use crate::shared::relative_time::RelativeTime;

/// Attempts of a page, each with what was answered.
const LIMIT: &str = "25";

#[derive(Template)]
#[template(path = "portal/messages/detail.html")]
struct MessagePage {
    frame: Frame,
    may: Permissions,
    id: String,
    event_type: String,
    event_id: String,
    channels: String,
    tags: String,
    at: RelativeTime,
    deliver_at: Option<RelativeTime>,
    /// None when it was removed, or its time is over.
    payload: Option<CodeBlock>,
    /// What the sender said that it is; empty when it is `application/json`.
    media_type: String,
    destinations: Vec<Destination>,
    attempts: Vec<Row>,
    is_open: bool,
    here: String,
    filter: &'static str,
    pager: Pager,
}

struct Destination {
    id: String,
    url: String,
    status: StatusBadge,
    next: Option<RelativeTime>,
    is_due: bool,
    is_there: bool,
    may_resend: bool,
}

struct Row {
    id: String,
    status: StatusBadge,
    url: String,
    code: String,
    duration: String,
    is_manual: bool,
    at: RelativeTime,
    response: CodeBlock,
}

/// The message.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([message]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, ErrorPage> {
    let (provider, now) = (session.provider(), session.portal.now());
    let message = provider.message(&session.caller, session.app(), &message).await?;
    // Before its attempts: what is done in between shows among these, and what is still under way makes the page follow it.
    let destinations = destinations(&session, &message).await?;
    let asked = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: asked, ..HistoryQuery::default() };
    let part = HistoryRequest::parse(part, ids::ATTEMPT)?;
    let filter = AttemptFilter::default();
    let find = provider.find_attempts_of_message(&session.caller, session.app(), &message.id, None, filter, part);
    let slice = find.await?;
    let addresses: HashMap<&str, &str> =
        destinations.iter().map(|destination| (destination.id.as_str(), destination.url.as_str())).collect();
    let row = |attempt: &Attempt| Row {
        id: attempt.id.to_string(),
        status: attempt.status.into(),
        url: addresses.get(&*attempt.endpoint).map_or(&*attempt.url, |url| url).to_owned(),
        code: labels::status_code(attempt.response_status_code),
        duration: labels::duration(attempt.response_duration_ms),
        is_manual: labels::is_manual(attempt.trigger),
        at: RelativeTime::new(attempt.at, now),
        response: CodeBlock::json(&attempt.response),
    };
    let attempts = slice.data.iter().map(row).collect();
    let payload = message.payload.as_ref().map(|payload| CodeBlock::json(&String::from_utf8_lossy(payload.text())));
    let media_type = message.payload.as_ref().and_then(StoredPayload::media_type).unwrap_or_default().to_owned();
    render_page(&MessagePage {
        frame: session.frame("Message", Section::Messages).with_notice(notice::from_query(&query)),
        may: session.permissions(),
        event_type: message.event_type.to_string(),
        event_id: message.event_id.clone().unwrap_or_default(),
        channels: message.channels.as_deref().unwrap_or_default().join(", "),
        tags: message.tags.as_deref().unwrap_or_default().join(", "),
        at: RelativeTime::new(message.created_at, now),
        deliver_at: message.deliver_at.filter(|at| *at > now).map(|at| RelativeTime::new(at, now)),
        payload,
        media_type,
        is_open: destinations.iter().any(|destination| destination.is_due || destination.next.is_some()),
        destinations,
        attempts,
        here: format!("/messages/{}", message.id),
        filter: "",
        pager: Pager::new(&slice, asked),
        id: message.id.to_string(),
    })
}

/// Every endpoint of the application, and those that the message went to before they were deleted.
async fn destinations(session: &Session, message: &Message) -> Result<Vec<Destination>, ErrorPage> {
    let (provider, everything) = (session.provider(), PageRequest::first(LIMIT_MAX));
    let tried =
        provider.list_attempted_destinations(&session.caller, session.app(), &message.id, &everything).await?.data;
    let known: HashSet<String> = tried.iter().map(|row| row.id.to_string()).collect();
    let others = provider.list_endpoints(&session.caller, session.app(), &everything).await?.data;
    let can_be_sent = session.permissions().send && message.payload.is_some();
    let (now, mut found) = (session.portal.now(), Vec::new());
    for AttemptedDestination { status, next_attempt, id, url, endpoint } in tried {
        let is_enabled = endpoint.as_ref().is_some_and(|endpoint| !endpoint.disabled);
        found.push(Destination {
            status: match (&endpoint, status, next_attempt) {
                (None, ..) => StatusBadge::DELETED,
                (Some(_), AttemptStatus::Fail, Some(_)) => StatusBadge::RETRIED,
                _ => status.into(),
            },
            id: id.to_string(),
            url,
            next: next_attempt.filter(|at| *at > now).map(|at| RelativeTime::new(at, now)),
            is_due: next_attempt.is_some_and(|at| at <= now),
            is_there: endpoint.is_some(),
            may_resend: can_be_sent && is_enabled,
        });
    }
    let others = others.into_iter().filter(|endpoint| !known.contains(&*endpoint.id));
    found.extend(others.map(|Endpoint { id, url, disabled, .. }| Destination {
        id: id.to_string(),
        url,
        status: if disabled { StatusBadge::DISABLED } else { StatusBadge::NOT_SENT },
        next: None,
        is_due: false,
        is_there: true,
        may_resend: can_be_sent && !disabled,
    }));
    Ok(found)
}

/// The payload as a file, byte for byte.
pub(in crate::portal) async fn payload(
    session: Session,
    PathParams([message]): PathParams<1>,
) -> Result<Response, ErrorPage> {
    let message = session.provider().message(&session.caller, session.app(), &message).await?;
    let payload = message.payload.ok_or_else(ErrorPage::not_found)?;
    let (kind, extension) = match payload.media_type() {
        None => ("application/json", "json"),
        // Nothing that a browser would make a page of.
        Some(media_type) => ("application/octet-stream", extension(media_type)),
    };
    let name = format!("attachment; filename=\"{}.{extension}\"", message.id);
    let name = HeaderValue::try_from(name).map_err(|_| ErrorPage::internal())?;
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(kind)), (CONTENT_DISPOSITION, name)];
    Ok((headers, payload.text().to_vec()).into_response())
}

/// How the name of a file of this media type ends.
fn extension(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.rsplit(['/', '+']).next() {
        Some("json") => "json",
        Some("xml") => "xml",
        Some("csv") => "csv",
        _ => "txt",
    }
}

/// Delivers it to an endpoint once more.
pub(in crate::portal) async fn resend(
    session: Session,
    PathParams([message]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, ErrorPage> {
    let endpoint = form.text("endpoint");
    session.provider().resend(&session.caller, session.app(), &message, endpoint, None, String::new).await?;
    Ok(session.portal.redirect(&format!("/messages/{message}?done=resent")))
}
