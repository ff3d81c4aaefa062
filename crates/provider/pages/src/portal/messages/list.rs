//! The list of the application's messages, newest first, with filters that are part of the page's address.

use std::iter;

use askama::Template;
use axum::response::Response;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use provider_core::model::{AttemptStatus, Id};
use provider_core::page::{LIMIT_MAX, PageRequest};
use provider_core::port::MessageFilter;
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Cause, HistoryQuery, HistoryRequest, MessageRow, MessageSearch, MessageState, ids};

use crate::page_error::PageError;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::pager::pager;
use crate::portal::session::{Section, Session};
use crate::portal::{causes, event_type_choices};
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Messages on one page.
const LIMIT: &str = "50";
/// Characters of a searched text.
const TEXT_CHARS_MAX: usize = 200;
/// Fields of the form, with their names on the page.
const FIELDS: &[(&str, &str)] = &[
    ("eventType", "Event type"),
    ("endpoint", "Endpoint"),
    ("state", "State"),
    ("code", "Response"),
    ("from", "From"),
    ("to", "To"),
    ("q", "Contains"),
];
const STATES: &[(&str, &str)] = &[
    ("delivered", "Delivered"),
    ("failed", "Failed"),
    ("retrying", "Retrying"),
    ("waiting", "Waiting"),
    ("not-sent", "Not sent"),
];
const CODES: &[(&str, &str)] = &[("200", "2xx"), ("300", "3xx"), ("400", "4xx"), ("500", "5xx"), ("0", "No response")];

#[derive(Template)]
#[template(path = "portal/messages/list.html")]
struct MessagesPage {
    frame: Frame,
    filters: [FormField; 7],
    chips: Vec<Chip>,
    rows: Vec<Row>,
    /// Query string of the stream of live updates; empty on other pages than the first.
    tail: String,
    list_path: &'static str,
    filter: String,
    pager: Pager,
}

/// The entered values.
#[derive(Debug, Default)]
struct Wanted {
    event_type: String,
    endpoint: String,
    state: String,
    code: String,
    from: String,
    to: String,
    text: String,
}

impl Wanted {
    /// Fields of the form, which offers these event types and endpoints, with the errors of the name and of the times.
    fn fields(
        &self,
        event_types: impl Iterator<Item = String>,
        endpoints: Vec<(String, String)>,
        (fault, time_fault): (String, &'static str),
    ) -> [FormField; 7] {
        let all = || iter::once(Choice::new("", "All", false));
        let select = |name, label, known: &[(&'static str, &'static str)], chosen: &str| {
            let choices = known.iter().map(|(value, words)| Choice::of(*value, *words, chosen));
            FormField::select(name, label, all().chain(choices).collect())
        };
        let time = |name, label, value: &str| FormField::text(name, label, value).kind("datetime-local", "off");
        let endpoints = endpoints.into_iter().map(|(id, url)| Choice::of(id, url, &self.endpoint));
        [
            FormField::text("eventType", "Event type", &self.event_type)
                .id("event-type")
                .attribute("placeholder", "All")
                .attribute("spellcheck", "false")
                .suggesting(event_types)
                .fault(fault),
            FormField::select("endpoint", "Endpoint", all().chain(endpoints).collect()),
            select("state", "State", STATES, &self.state),
            select("code", "Latest response", CODES, &self.code),
            FormField::text("q", "Item, auction or sender's id", &self.text)
                .attribute("spellcheck", "false")
                .chars_max(TEXT_CHARS_MAX),
            // The error of the times is about both fields.
            time("from", "From, UTC", &self.from).id("time").fault(time_fault),
            time("to", "To, UTC", &self.to),
        ]
    }
}

/// A filter in use, with the address of the list without it.
struct Chip {
    words: String,
    query: String,
}

struct Row {
    state: StatusBadge,
    id: String,
    event_type: String,
    event_id: String,
    endpoints: String,
    latest: String,
    attempts: String,
    next: Option<RelativeTime>,
    at: RelativeTime,
}

impl Row {
    fn new(row: &MessageRow, now: Timestamp) -> Self {
        let MessageRow { message, progress } = row;
        let state = MessageState::of(progress);
        let latest = match progress.latest {
            None => String::new(),
            Some((AttemptStatus::Fail, code)) => {
                let detail = progress.detail.as_ref();
                causes::words(&Cause::from_parts(code, &progress.failure, detail, &progress.url), "").0
            }
            Some((_, code)) => labels::status_code(code),
        };
        Self {
            state: state.into(),
            id: message.id.to_string(),
            event_type: message.event_type.to_string(),
            event_id: message.event_id.clone().unwrap_or_default(),
            endpoints: format!("{} of {}", progress.succeeded, progress.endpoints),
            latest,
            attempts: match progress.attempts {
                0 => String::new(),
                1 => "1 attempt".to_owned(),
                attempts => format!("{} attempts", labels::number(attempts)),
            },
            next: progress.next_at.filter(|at| *at > now).map(|at| RelativeTime::new(at, now)),
            at: RelativeTime::new(message.created_at, now),
        }
    }
}

/// The query string of these fields without `left_out`, each followed by `&`.
fn query_of(query: &FormFields, left_out: &str) -> String {
    let mut out = String::new();
    for (name, _) in FIELDS.iter().filter(|(name, _)| *name != left_out) {
        if let Some(value) = query.non_empty(name) {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            out.push_str(&format!("{name}={value}&"));
        }
    }
    out
}

/// The list of messages that match the filters.
pub(in crate::portal) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let wanted = Wanted {
        event_type: query.text("eventType").to_owned(),
        endpoint: query.text("endpoint").to_owned(),
        state: query.text("state").to_owned(),
        code: query.text("code").to_owned(),
        from: query.text("from").to_owned(),
        to: query.text("to").to_owned(),
        text: query.text("q").chars().take(TEXT_CHARS_MAX).collect(),
    };
    let fault = match check_name(&wanted.event_type, NAME_CHARS_MAX) {
        Err(error) if !wanted.event_type.is_empty() => error.to_string(),
        _ => String::new(),
    };
    let now = session.portal.now();
    let (from, to) = (time(&wanted.from), time(&wanted.to));
    let time_fault = if from.is_err() || to.is_err() { "must be a date and time such as 2026-01-31T12:00" } else { "" };
    // Without an end, a list with a beginning would go forwards in time.
    let from = from.unwrap_or_default();
    let to = to.unwrap_or_default().or_else(|| from.map(|_| now + SignedDuration::from_hours(1)));
    let (from, to) = (from.map(|at| at.to_string()), to.map(|at| at.to_string()));
    let requested = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: requested, before: to.as_deref(), after: from.as_deref() };
    let part = HistoryRequest::parse(part, ids::MESSAGE)?;
    let only = Some(wanted.event_type.clone()).filter(|wanted| !wanted.is_empty() && fault.is_empty());
    let search = MessageSearch {
        messages: MessageFilter { event_types: only.map(|name| vec![name]), ..MessageFilter::default() },
        endpoint: query.non_empty("endpoint").map(Id::from),
        state: MessageState::ALL.into_iter().find(|state| state.name() == wanted.state),
        code_class: CODES.iter().find(|(code, _)| *code == wanted.code).and_then(|(code, _)| code.parse().ok()),
        text: Some(wanted.text.clone()).filter(|text| !text.is_empty()),
    };
    let found = session.provider().search_messages(&session.caller, session.app(), &search, part).await?;
    let (event_types, _) = event_type_choices::all(&session).await?;
    let everything = PageRequest::first(LIMIT_MAX);
    let endpoints = session.provider().list_endpoints(&session.caller, session.app(), &everything).await?.data;
    let endpoints: Vec<_> = endpoints.into_iter().map(|endpoint| (endpoint.id.to_string(), endpoint.url)).collect();
    let newest =
        found.data.first().map_or_else(|| ids::lowest_id_at(ids::MESSAGE, now), |row| row.message.id.to_string());
    let tail = search.messages.event_types.as_ref().map(|_| format!("&eventType={}", wanted.event_type));
    let chips = FIELDS.iter().filter_map(|(name, words)| {
        let value = query.non_empty(name)?;
        let shown = STATES.iter().chain(CODES).find(|(known, _)| *known == value && matches!(*name, "state" | "code"));
        let address = endpoints.iter().find(|(id, _)| *name == "endpoint" && id == value).map(|(_, url)| url.as_str());
        Some(Chip {
            words: format!("{words}: {}", address.or(shown.map(|(_, words)| *words)).unwrap_or(value)),
            query: query_of(&query, name),
        })
    });
    let chips = chips.collect();
    let faults = (fault, time_fault);
    render_page(&MessagesPage {
        frame: session.frame("Messages", Section::Messages),
        filters: wanted.fields(event_types.into_iter().map(|event_type| event_type.name), endpoints, faults),
        rows: found.data.iter().map(|row| Row::new(row, now)).collect(),
        list_path: "/messages",
        filter: query_of(&query, ""),
        chips,
        tail: match requested {
            None => format!("after={newest}{}", tail.unwrap_or_default()),
            Some(_) => String::new(),
        },
        pager: pager(&found, requested),
    })
}

/// A time in UTC as a form sends it; none for an empty text.
fn time(text: &str) -> Result<Option<Timestamp>, jiff::Error> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(text.parse::<DateTime>()?.to_zoned(TimeZone::UTC)?.timestamp()))
}
