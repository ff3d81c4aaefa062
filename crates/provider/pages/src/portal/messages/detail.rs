//! One message: its payload, its delivery to each endpoint, every attempt with its response, and resending it.

use std::collections::{HashMap, HashSet};

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use provider_core::endpoints::example::TEST_TAG;
use provider_core::model::{Attempt, AttemptStatus, Endpoint, Message};
use provider_core::page::{LIMIT_MAX, PageRequest};
use provider_core::payload::StoredPayload;
use provider_core::port::AttemptFilter;
use provider_core::{AttemptedDestination, HistoryQuery, HistoryRequest, ids};

use super::curl;
use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::notice;
use crate::portal::pager::pager;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::code_block::CodeBlock;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Attempts on one page, each with its response.
const LIMIT: &str = "15";
/// Bytes of a response and of a payload that the page shows. Both can be downloaded whole.
const RESPONSE_BYTES_MAX: usize = 2 * 1_024;
const PAYLOAD_BYTES_MAX: usize = 24 * 1_024;

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
    /// The message was sent to try a receiver out.
    is_test: bool,
    /// None when the payload was removed or its retention period is over.
    payload: Option<CodeBlock>,
    /// The payload is shown as it was sent.
    is_raw: bool,
    /// The payload's media type; empty for `application/json`.
    media_type: String,
    destinations: Vec<Destination>,
    attempts: Vec<Row>,
    is_open: bool,
    list_path: String,
    filter: &'static str,
    pager: Pager,
}

struct Destination {
    id: String,
    url: String,
    status: StatusBadge,
    next: Option<RelativeTime>,
    is_due: bool,
    exists: bool,
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
    /// The request as a cURL command; none when the payload is gone.
    curl: Option<String>,
    response: CodeBlock,
    cause: String,
    step: String,
    is_failed: bool,
    /// The page shows the response without a click.
    is_open: bool,
}

/// The message.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([message]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (provider, now) = (session.provider(), session.portal.now());
    let message = provider.message(&session.caller, session.app(), &message).await?;
    // Read before the attempts. A delivery that completes in between shows among the attempts, and one that is still
    // waiting makes the page update itself.
    let destinations = destinations(&session, &message).await?;
    let requested = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: requested, ..HistoryQuery::default() };
    let part = HistoryRequest::parse(part, ids::ATTEMPT)?;
    let filter = AttemptFilter::default();
    let find = provider.find_attempts_of_message(&session.caller, session.app(), &message.id, None, filter, part);
    let found = find.await?;
    let addresses: HashMap<&str, &str> =
        destinations.iter().map(|destination| (destination.id.as_str(), destination.url.as_str())).collect();
    let media_type = message.payload.as_ref().and_then(StoredPayload::media_type).unwrap_or_default().to_owned();
    let text = message.payload.as_ref().map(|payload| String::from_utf8_lossy(payload.text()));
    let first_failed = found.data.iter().position(|attempt| attempt.status == AttemptStatus::Fail);
    let row = |(place, attempt): (usize, &Attempt)| {
        let is_failed = attempt.status == AttemptStatus::Fail;
        let (cause, step) = match is_failed {
            true => causes::of_attempt(attempt),
            false => Default::default(),
        };
        Row {
            cause,
            step,
            is_failed,
            is_open: Some(place) == first_failed,
            id: attempt.id.to_string(),
            status: attempt.status.into(),
            url: addresses.get(&*attempt.endpoint).map_or(&*attempt.url, |url| url).to_owned(),
            code: labels::status_code(attempt.response_status_code),
            duration: labels::duration(attempt.response_duration_ms),
            is_manual: labels::is_manual(attempt.trigger),
            at: RelativeTime::new(attempt.at, now),
            curl: text.as_ref().map(|text| curl::command(attempt, &media_type, text)),
            response: cut(CodeBlock::json(&attempt.response), RESPONSE_BYTES_MAX),
        }
    };
    let attempts = found.data.iter().enumerate().map(row).collect();
    let is_raw = query.text("payload") == "raw";
    let payload = text.as_ref().map(|text| match is_raw {
        true => cut(CodeBlock::text(text), PAYLOAD_BYTES_MAX),
        false => cut(CodeBlock::json(text), PAYLOAD_BYTES_MAX),
    });
    render_page(&MessagePage {
        is_raw,
        is_test: message.tags.iter().flatten().any(|tag| tag == TEST_TAG),
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
        list_path: format!("/messages/{}", message.id),
        filter: "",
        pager: pager(&found, requested),
        id: message.id.to_string(),
    })
}

/// The beginning of a block.
fn cut(block: CodeBlock, bytes_max: usize) -> CodeBlock {
    let end = block.text.floor_char_boundary(bytes_max);
    let is_whole = block.is_whole && end == block.text.len();
    CodeBlock { text: block.text[..end].to_owned(), is_whole }
}

/// The response of an attempt as a file.
pub(in crate::portal) async fn response(
    session: Session,
    PathParams([message, attempt]): PathParams<2>,
) -> Result<Response, PageError> {
    let attempt = session.provider().attempt(&session.caller, session.app(), &message, &attempt).await?;
    let name = format!("attachment; filename=\"{}.txt\"", attempt.id);
    let name = HeaderValue::try_from(name).map_err(|_| ErrorPage::internal())?;
    // Not a media type that a browser would show as a page.
    let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")), (CONTENT_DISPOSITION, name)];
    Ok((headers, attempt.response).into_response())
}

/// Every endpoint of the application, and the deleted endpoints with attempts of this message.
async fn destinations(session: &Session, message: &Message) -> Result<Vec<Destination>, PageError> {
    let (provider, everything) = (session.provider(), PageRequest::first(LIMIT_MAX));
    let attempted =
        provider.list_attempted_destinations(&session.caller, session.app(), &message.id, &everything).await?.data;
    let known: HashSet<String> = attempted.iter().map(|row| row.id.to_string()).collect();
    let others = provider.list_endpoints(&session.caller, session.app(), &everything).await?.data;
    let can_be_sent = session.permissions().send && message.payload.is_some();
    let (now, mut found) = (session.portal.now(), Vec::new());
    for AttemptedDestination { status, next_attempt, id, url, endpoint } in attempted {
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
            exists: endpoint.is_some(),
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
        exists: true,
        may_resend: can_be_sent && !disabled,
    }));
    Ok(found)
}

/// The payload as a file, unchanged.
pub(in crate::portal) async fn payload(
    session: Session,
    PathParams([message]): PathParams<1>,
) -> Result<Response, PageError> {
    let message = session.provider().message(&session.caller, session.app(), &message).await?;
    let payload = message.payload.ok_or_else(ErrorPage::not_found)?;
    let (kind, extension) = match payload.media_type() {
        None => ("application/json", "json"),
        // Not a media type that a browser would show as a page.
        Some(media_type) => ("application/octet-stream", extension(media_type)),
    };
    let name = format!("attachment; filename=\"{}.{extension}\"", message.id);
    let name = HeaderValue::try_from(name).map_err(|_| ErrorPage::internal())?;
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(kind)), (CONTENT_DISPOSITION, name)];
    Ok((headers, payload.text().to_vec()).into_response())
}

/// The file name extension for a media type.
fn extension(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.rsplit(['/', '+']).next() {
        Some("json") => "json",
        Some("xml") => "xml",
        Some("csv") => "csv",
        _ => "txt",
    }
}

/// Resends the message to an endpoint.
pub(in crate::portal) async fn resend(
    session: Session,
    PathParams([message]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    let endpoint = form.text("endpoint");
    session.provider().resend(&session.caller, session.app(), &message, endpoint, None, String::new).await?;
    Ok(session.portal.redirect(&format!("/messages/{message}?done=resent")))
}
