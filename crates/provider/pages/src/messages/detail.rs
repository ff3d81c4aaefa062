//! One message: its payload, its delivery to each endpoint, every attempt with its response, and resending it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use provider_core::DeliveryOrder;
use provider_core::messages::TEST_TAG;
use provider_core::model::{Attempt, AttemptStatus, Endpoint, Id, Message};
use provider_core::page::{CursorKey, LIMIT_MAX, PageQuery, PageRequest};
use provider_core::payload::StoredPayload;
use provider_core::port::AttemptFilter;
use provider_core::{
    AttemptedDestination, HistoryQuery, HistoryRequest, ProviderError, SignedRequest, ids, sent_headers,
};

use super::times::Times;
use super::{Place, curl};
use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::pager::pager;
use kit_design::code_block::CodeBlock;
use kit_design::code_colours::ColouredCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Attempts on one page, each with its response.
const LIMIT: &str = "15";
/// Bytes of a response and of a payload that the page shows. Both can be downloaded whole.
const RESPONSE_BYTES_MAX: usize = 2 * 1_024;
const PAYLOAD_BYTES_MAX: usize = 24 * 1_024;

/// Endpoints that the page lists at most, in pages of the API.
const ENDPOINT_PAGES_MAX: usize = 8;

/// What the visitor may do with a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageRights {
    /// Resend it.
    pub(crate) send: bool,
    /// Get a signed request with it.
    pub(crate) sign: bool,
}

/// The message, as a part of a page.
#[derive(Template)]
#[template(path = "messages/detail.html")]
pub(crate) struct MessageView {
    base: Arc<str>,
    is_portal: bool,
    application: Id,
    application_name: String,
    may: MessageRights,
    /// Path of this page below the site's base.
    path: String,
    id: String,
    event_type: String,
    event_id: String,
    channels: String,
    tags: String,
    at: RelativeTime,
    deliver_at: Option<RelativeTime>,
    /// The message was sent to try a receiver out.
    is_test: bool,
    /// A user sent the message.
    sender: Option<Sender>,
    /// None when the payload was removed or its retention period is over.
    payload: Option<CodeBlock>,
    /// The payload is shown as it was sent.
    is_raw: bool,
    /// The payload's media type; empty for `application/json`.
    media_type: String,
    destinations: Vec<Destination>,
    /// Endpoints of the application that the message was not sent to.
    others: Vec<Destination>,
    attempts: Vec<Row>,
    is_open: bool,
    pager: Pager,
}

/// The user who sent a message by hand.
enum Sender {
    /// The portal does not name the user.
    Unnamed,
    Named {
        id: Id,
        name: String,
    },
    Removed(Id),
}

impl HtmlSafe for MessageView {}

struct Destination {
    id: String,
    url: String,
    status: StatusBadge,
    next: Option<RelativeTime>,
    /// What the delivery waits for now, or why there is none; empty after the last attempt.
    why: &'static str,
    is_waiting: bool,
    exists: bool,
    may_resend: bool,
}

struct Row {
    id: String,
    status: StatusBadge,
    url: String,
    code: String,
    duration: String,
    times: Option<Times>,
    is_manual: bool,
    at: RelativeTime,
    /// The request as a cURL command; none when the payload is gone.
    curl: Option<String>,
    may_sign: bool,
    endpoint: String,
    request_headers: Vec<(String, String)>,
    /// The custom headers are those that were sent.
    is_exact: bool,
    /// The endpoint exists.
    exists: bool,
    response_headers: String,
    response: CodeBlock,
    cause: String,
    step: String,
    /// Path of the signature check, after a 400.
    verify: Option<String>,
    is_failed: bool,
    /// The page shows the response without a click.
    is_open: bool,
}

/// The message of an application, by id or event id.
pub(crate) async fn view(
    place: &Place<'_>,
    application: &str,
    message: &str,
    query: &FormFields,
    may: MessageRights,
) -> Result<MessageView, PageError> {
    let (provider, caller, now) = (place.provider, place.caller, place.now);
    let application_name = provider.application(caller, application).await?.name;
    let message = provider.message(caller, application, message).await?;
    let application = &message.application;
    let can_be_sent = may.send && message.payload.is_some();
    // Read before the attempts. A delivery that completes in between shows among the attempts, and one that is still
    // waiting makes the page update itself.
    let (destinations, endpoints) = destinations(place, &message, can_be_sent).await?;
    let others = others(place, &message, &destinations, can_be_sent).await?;
    let requested = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: requested, ..HistoryQuery::default() };
    let part = HistoryRequest::parse(part, ids::ATTEMPT)?;
    let filter = AttemptFilter::default();
    let mut found = provider.find_attempts_of_message(caller, application, &message.id, None, filter, part).await?;
    let pager = pager(&found, requested);
    // The attempt that a link leads to is on the page, wherever it is in the list.
    let linked = query.non_empty("attempt");
    if let Some(linked) = linked.filter(|linked| found.data.iter().all(|attempt| *attempt.id != **linked)) {
        match provider.attempt(caller, application, &message.id, linked).await {
            Ok(attempt) => found.data.insert(0, attempt),
            Err(ProviderError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let addresses: HashMap<&str, &str> =
        destinations.iter().map(|destination| (destination.id.as_str(), destination.url.as_str())).collect();
    let media_type = message.payload.as_ref().and_then(StoredPayload::media_type).unwrap_or_default().to_owned();
    let text = message.payload.as_ref().map(|payload| String::from_utf8_lossy(payload.text()));
    let first_failed = found.data.iter().find(|attempt| attempt.status == AttemptStatus::Fail);
    let open = linked.or(first_failed.map(|attempt| &*attempt.id)).map(str::to_owned);
    let row = |attempt: &Attempt| {
        let is_failed = attempt.status == AttemptStatus::Fail;
        let endpoint = endpoints.get(&attempt.endpoint);
        let sent = sent_headers(attempt, endpoint, &media_type);
        let (cause, step) = match is_failed {
            true => causes::of_attempt(attempt),
            false => Default::default(),
        };
        Row {
            cause,
            step,
            // The dashboard has no such page.
            verify: causes::verify_path(&place.base, attempt)
                .filter(|_| place.application.is_some() && addresses.contains_key(&*attempt.endpoint)),
            is_failed,
            is_open: open.as_deref() == Some(&*attempt.id),
            id: attempt.id.to_string(),
            status: attempt.into(),
            url: addresses.get(&*attempt.endpoint).map_or(&*attempt.url, |url| url).to_owned(),
            code: labels::status_code(attempt.response_status_code),
            duration: labels::duration(attempt.response_duration_ms),
            times: attempt.times.as_ref().map(Times::new),
            is_manual: labels::is_manual(attempt.trigger),
            at: RelativeTime::new(attempt.at, now),
            curl: text.as_ref().map(|text| {
                let short = |(name, _): &&(String, String)| {
                    !name.starts_with("svix-") && name != "accept" && name != "user-agent"
                };
                let headers: Vec<_> = sent.headers.iter().filter(short).cloned().collect();
                curl::command(&attempt.url, &headers, text, curl::PAYLOAD_BYTES_MAX)
            }),
            may_sign: may.sign && text.is_some() && endpoint.is_some(),
            endpoint: attempt.endpoint.to_string(),
            request_headers: sent.headers,
            is_exact: sent.is_exact,
            exists: endpoint.is_some(),
            response_headers: attempt.response_headers.clone(),
            response: cut(CodeBlock::json(&attempt.response), RESPONSE_BYTES_MAX),
        }
    };
    let attempts = found.data.iter().map(row).collect();
    let is_raw = query.text("payload") == "raw";
    let payload = text.as_ref().map(|text| match is_raw {
        true => cut(CodeBlock::text(text), PAYLOAD_BYTES_MAX),
        false => cut(CodeBlock::json(text), PAYLOAD_BYTES_MAX),
    });
    let sender = match &message.sent_by {
        Some(user) => Some(sender(place, user).await?),
        None => None,
    };
    Ok(MessageView {
        base: Arc::clone(&place.base),
        is_portal: place.application.is_some(),
        application: application.clone(),
        application_name,
        may,
        path: place.message_path(application, &message.id),
        is_raw,
        is_test: is_test(&message),
        sender,
        event_type: message.event_type.to_string(),
        event_id: message.event_id.clone().unwrap_or_default(),
        channels: message.channels.as_deref().unwrap_or_default().join(", "),
        tags: message.tags.as_deref().unwrap_or_default().join(", "),
        at: RelativeTime::new(message.created_at, now),
        deliver_at: message.deliver_at.filter(|at| *at > now).map(|at| RelativeTime::new(at, now)),
        payload,
        media_type,
        is_open: destinations.iter().any(|destination| destination.is_waiting),
        destinations,
        others,
        attempts,
        pager,
        id: message.id.to_string(),
    })
}

async fn sender(place: &Place<'_>, user: &Id) -> Result<Sender, PageError> {
    if place.application.is_some() {
        return Ok(Sender::Unnamed);
    }
    match place.provider.user(place.caller, user).await {
        Ok(user) => Ok(Sender::Named { id: user.id, name: user.profile.name }),
        Err(ProviderError::NotFound) => Ok(Sender::Removed(user.clone())),
        Err(error) => Err(error.into()),
    }
}

/// The beginning of a block.
fn cut(block: CodeBlock, bytes_max: usize) -> CodeBlock {
    let end = block.text.floor_char_boundary(bytes_max);
    let is_whole = block.is_whole && end == block.text.len();
    CodeBlock { text: block.text[..end].to_owned(), is_whole }
}

/// The response of an attempt as a file.
pub(crate) fn response_file(attempt: Attempt) -> Result<Response, PageError> {
    let name = format!("attachment; filename=\"{}.txt\"", attempt.id);
    let name = HeaderValue::try_from(name).map_err(|_| ErrorPage::internal())?;
    // Not a media type that a browser would show as a page.
    let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")), (CONTENT_DISPOSITION, name)];
    Ok((headers, attempt.response).into_response())
}

/// The endpoints that the message was sent to, with the deleted ones; and those that exist, by id.
async fn destinations(
    place: &Place<'_>,
    message: &Message,
    can_be_sent: bool,
) -> Result<(Vec<Destination>, HashMap<Id, Endpoint>), PageError> {
    let (limit, mut after, mut attempted) = (LIMIT_MAX.to_string(), None::<String>, Vec::new());
    for _ in 0..ENDPOINT_PAGES_MAX {
        let page = PageQuery { limit: Some(&limit), iterator: after.as_deref(), order: None };
        let page = PageRequest::parse(page, CursorKey::Id(ids::ENDPOINT))?;
        let list = place.provider.list_attempted_destinations(place.caller, &message.application, &message.id, &page);
        let part = list.await?;
        attempted.extend(part.data);
        if part.done {
            break;
        }
        after = part.iterator;
    }
    let now = place.now;
    let mut endpoints = HashMap::new();
    let destination = |AttemptedDestination { status, next_attempt, id, url, endpoint }| {
        let is_enabled = endpoint.as_ref().is_some_and(|endpoint: &Endpoint| !endpoint.disabled);
        let exists = endpoint.is_some();
        let is_in_order = endpoint.as_ref().is_some_and(|endpoint| endpoint.ordering != DeliveryOrder::Any);
        let is_due = next_attempt.is_some_and(|at| at <= now);
        endpoints.extend(endpoint.map(|endpoint| (endpoint.id.clone(), endpoint)));
        Destination {
            status: match (exists, status, next_attempt) {
                (false, ..) => StatusBadge::DELETED,
                (true, AttemptStatus::Fail, Some(_)) => StatusBadge::RETRIED,
                _ => status.into(),
            },
            id: id.to_string(),
            url,
            next: next_attempt.filter(|at| *at > now).map(|at| RelativeTime::new(at, now)),
            why: match (is_due, is_in_order) {
                (false, _) => "",
                (true, false) => "Waits to be sent",
                (true, true) => "Waits to be sent, in order of its key",
            },
            is_waiting: next_attempt.is_some(),
            exists,
            may_resend: can_be_sent && is_enabled,
        }
    };
    let destinations = attempted.into_iter().map(destination).collect();
    Ok((destinations, endpoints))
}

/// Why the message was not sent to this endpoint, as far as the endpoint tells now.
fn why_not_sent(message: &Message, endpoint: &Endpoint) -> &'static str {
    let is_of_type = |types: &Vec<String>| types.iter().any(|chosen| *chosen == *message.event_type);
    let shares = |channels: &Vec<String>| message.channels.iter().flatten().any(|channel| channels.contains(channel));
    if is_test(message) {
        "The example was sent to one endpoint only"
    } else if endpoint.created_at > message.created_at {
        "The endpoint was created later"
    } else if !endpoint.filter_types.as_ref().is_none_or(is_of_type) {
        "The endpoint does not receive this event type"
    } else if !endpoint.channels.as_ref().is_none_or(shares) {
        "The endpoint receives other channels"
    } else if endpoint.disabled {
        "The endpoint is disabled"
    } else {
        "The endpoint was disabled or chose other messages at that time"
    }
}

fn is_test(message: &Message) -> bool {
    message.tags.iter().flatten().any(|tag| tag == TEST_TAG)
}

/// The other endpoints of the application.
async fn others(
    place: &Place<'_>,
    message: &Message,
    known: &[Destination],
    can_be_sent: bool,
) -> Result<Vec<Destination>, PageError> {
    let known: HashSet<&str> = known.iter().map(|destination| destination.id.as_str()).collect();
    let (limit, mut after, mut found) = (LIMIT_MAX.to_string(), None::<String>, Vec::new());
    for _ in 0..ENDPOINT_PAGES_MAX {
        let page = PageQuery { limit: Some(&limit), iterator: after.as_deref(), order: None };
        let page = PageRequest::parse(page, CursorKey::Id(ids::ENDPOINT))?;
        let part = place.provider.list_endpoints(place.caller, &message.application, &page).await?;
        let others = part.data.into_iter().filter(|endpoint| !known.contains(&*endpoint.id));
        found.extend(others.map(|endpoint| Destination {
            status: if endpoint.disabled { StatusBadge::DISABLED } else { StatusBadge::NOT_SENT },
            next: None,
            why: why_not_sent(message, &endpoint),
            is_waiting: false,
            exists: true,
            may_resend: can_be_sent && !endpoint.disabled,
            id: endpoint.id.to_string(),
            url: endpoint.url,
        }));
        if part.done {
            break;
        }
        after = part.iterator;
    }
    Ok(found)
}

/// The payload as a file, unchanged.
pub(crate) fn payload_file(message: Message) -> Result<Response, PageError> {
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

/// A signed request, as a part of a page.
#[derive(Template)]
#[template(path = "messages/signed.html")]
pub(crate) struct SignedView {
    base: Arc<str>,
    path: String,
    url: String,
    at: RelativeTime,
    command: String,
    /// The command reads the payload from a file.
    is_file: bool,
    /// Names of the endpoint's own headers, whose values are masked.
    custom: String,
}

impl HtmlSafe for SignedView {}

/// The request that would deliver the message to the endpoint now, signed.
pub(crate) async fn signed(
    place: &Place<'_>,
    application: &str,
    message: &str,
    endpoint: &str,
) -> Result<SignedView, PageError> {
    let signed = place.provider.sign_request(place.caller, application, message, endpoint).await?;
    let SignedRequest { message, endpoint, at, signature } = signed;
    let payload = message.payload.as_ref().ok_or_else(ErrorPage::not_found)?;
    let text = String::from_utf8_lossy(payload.text());
    let mut headers = vec![
        ("content-type".to_owned(), payload.media_type().unwrap_or("application/json").to_owned()),
        ("webhook-id".to_owned(), message.id.to_string()),
        ("webhook-timestamp".to_owned(), at.as_second().to_string()),
        ("webhook-signature".to_owned(), signature),
    ];
    headers.extend(endpoint.headers.keys().map(|name| (name.to_ascii_lowercase(), "MASKED".to_owned())));
    let names: Vec<&str> = endpoint.headers.keys().map(String::as_str).collect();
    Ok(SignedView {
        base: Arc::clone(&place.base),
        path: place.message_path(&message.application, &message.id),
        at: RelativeTime::new(at, place.now),
        command: curl::command(&endpoint.url, &headers, &text, curl::SIGNED_PAYLOAD_BYTES_MAX),
        is_file: text.len() > curl::SIGNED_PAYLOAD_BYTES_MAX,
        custom: names.join(", "),
        url: endpoint.url,
    })
}
