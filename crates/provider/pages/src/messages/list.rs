//! The list of messages, newest first, with filters that are part of the page's address.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;
use kit_design::fields::FormFields;
use kit_design::form_field::FormField;
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;
use provider_core::model::{Application, Id};
use provider_core::{Cause, ListPage, MessageRow, MessageState, ids};

use super::Place;
use super::filters::{Chip, Filters};
use crate::live::COUNTED_MAX;
use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::labels::{self, StatusBadge};
use crate::portal::pager::pager;

/// Messages on one page.
const LIMIT: usize = 50;

/// The list with its filters, as a part of a page.
#[derive(Template)]
#[template(path = "messages/list.html")]
pub(crate) struct MessageList {
    base: Arc<str>,
    is_portal: bool,
    first_fields: Vec<FormField>,
    more_fields: Vec<FormField>,
    chips: Vec<Chip>,
    /// A field that is folded away has a value or an error.
    is_open: bool,
    rows: Vec<Row>,
    /// Query of the stream of live updates; empty on other pages than the first.
    tail: String,
    query: String,
    is_faulty: bool,
    /// The time span of a search for a text.
    searched: Option<(String, String)>,
    /// The search stopped at its limit, and had reached this time.
    stopped_at: Option<RelativeTime>,
    omits_deleted_endpoints: bool,
    pager: Pager,
}

impl HtmlSafe for MessageList {}

struct Row {
    state: StatusBadge,
    id: String,
    path: String,
    event_type: String,
    event_id: String,
    application: Option<(String, String)>,
    endpoints: String,
    /// Endpoints at which its last attempt failed.
    failed: Option<String>,
    /// Cause of the latest failure, and the attempt.
    failure: Option<(String, String)>,
    attempts: String,
    next: Option<RelativeTime>,
    at: RelativeTime,
}

impl Row {
    fn new(place: &Place<'_>, row: &MessageRow, applications: &HashMap<Id, Application>) -> Self {
        let MessageRow { message, progress } = row;
        let failure = progress.failure.as_ref().map(|failure| {
            let cause = Cause::from_parts(failure.code, &failure.response, failure.detail.as_ref(), &failure.url);
            (causes::words(&cause, &failure.response).0, failure.attempt.to_string())
        });
        let name = applications.get(&message.application).map(|application| application.name.clone());
        Self {
            state: MessageState::of(progress).into(),
            id: message.id.to_string(),
            path: place.message_path(&message.application, &message.id),
            event_type: message.event_type.to_string(),
            event_id: message.event_id.clone().unwrap_or_default(),
            application: name.map(|name| (message.application.to_string(), name)),
            endpoints: format!("{} of {}", labels::number(progress.succeeded), labels::number(progress.endpoints)),
            failed: Some(progress.failed()).filter(|failed| *failed > 0).map(labels::number),
            failure,
            attempts: match progress.attempts {
                0 => String::new(),
                1 => "1 attempt".to_owned(),
                attempts => format!("{} attempts", labels::number(attempts)),
            },
            next: progress.next_at.filter(|at| *at > place.now).map(|at| RelativeTime::new(at, place.now)),
            at: RelativeTime::new(message.created_at, place.now),
        }
    }
}

/// The messages that match the filters of this query.
pub(crate) async fn list(place: &Place<'_>, query: &FormFields) -> Result<MessageList, PageError> {
    let filters = Filters::read(place, query).await?;
    let requested = query.non_empty("iterator");
    let request = filters.request(LIMIT, requested)?;
    let found = match filters.is_faulty {
        true => ListPage { data: Vec::new(), iterator: None, prev_iterator: None, done: true },
        false => {
            let application = filters.application.as_deref();
            place.provider.search_messages(place.caller, application, &filters.search, request).await?
        }
    };
    let applications = match place.application {
        Some(_) => HashMap::new(),
        None => place.provider.applications_of(place.caller, &found.data).await?,
    };
    let newest =
        found.data.first().map_or_else(|| ids::lowest_id_at(ids::MESSAGE, place.now), |row| row.message.id.to_string());
    let folded = ["endpoint", "cause", "code", "from", "to", "q"];
    Ok(MessageList {
        base: Arc::clone(&place.base),
        is_portal: place.application.is_some(),
        is_open: folded.iter().any(|name| query.non_empty(name).is_some()),
        rows: found.data.iter().map(|row| Row::new(place, row, &applications)).collect(),
        tail: if requested.is_none() && !filters.is_faulty {
            format!("{}after={newest}", filters.query)
        } else {
            String::new()
        },
        searched: filters.text_span.map(|(from, to)| (exact(from), exact(to))),
        stopped_at: stopped_at(place, &found, requested),
        omits_deleted_endpoints: filters.search.omits_deleted_endpoints(),
        is_faulty: filters.is_faulty,
        first_fields: filters.first_fields,
        more_fields: filters.more_fields,
        chips: filters.chips,
        query: filters.query,
        pager: pager(&found, requested),
    })
}

/// A time to the second, in UTC.
fn exact(at: Timestamp) -> String {
    at.strftime("%-d %b %Y, %H:%M:%S\u{a0}UTC").to_string()
}

/// The time that a search had reached when it stopped before the page was full.
fn stopped_at(place: &Place<'_>, found: &ListPage<MessageRow>, requested: Option<&str>) -> Option<RelativeTime> {
    if found.done || found.data.len() >= LIMIT {
        return None;
    }
    let is_forward = requested.is_some_and(|iterator| iterator.starts_with('-'));
    let position = if is_forward { found.prev_iterator.as_deref() } else { found.iterator.as_deref() };
    let at = ids::timestamp_of(position?.trim_start_matches('-'), ids::MESSAGE)?;
    Some(RelativeTime::new(at, place.now))
}

/// The number of messages that match the filters of this query and are newer than the message `after`, at most
/// [`COUNTED_MAX`].
pub(crate) async fn count_newer(place: &Place<'_>, query: &FormFields, after: &str) -> Result<usize, PageError> {
    let filters = Filters::read(place, query).await?;
    let iterator = format!("-{after}");
    let request = filters.request(COUNTED_MAX, Some(&iterator))?;
    let application = filters.application.as_deref();
    let found = place.provider.search_messages(place.caller, application, &filters.search, request).await?;
    Ok(found.data.len())
}
