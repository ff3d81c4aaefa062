//! The list of the application's messages, newest first.

use askama::Template;
use axum::response::Response;
use provider_core::port::{MessageFilter, PayloadRead};
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{HistoryQuery, HistoryRequest, ids};

use crate::page_error::PageError;
use crate::portal::event_type_choices;
use crate::portal::pager::pager;
use crate::portal::session::{Section, Session};
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Messages on one page.
const LIMIT: &str = "50";

#[derive(Template)]
#[template(path = "portal/messages/list.html")]
struct MessagesPage {
    frame: Frame,
    /// Event types that the filter offers.
    names: Vec<String>,
    wanted: String,
    fault: String,
    rows: Vec<Row>,
    list_path: &'static str,
    filter: String,
    pager: Pager,
}

struct Row {
    id: String,
    event_type: String,
    event_id: String,
    channels: String,
    at: RelativeTime,
}

/// The list of messages of all event types, or of one.
pub(in crate::portal) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let wanted = query.text("eventType").to_owned();
    let fault = match check_name(&wanted, NAME_CHARS_MAX) {
        Err(error) if !wanted.is_empty() => error.to_string(),
        _ => String::new(),
    };
    let only = Some(wanted.clone()).filter(|wanted| !wanted.is_empty() && fault.is_empty());
    let requested = query.non_empty("iterator");
    let part = HistoryQuery { limit: Some(LIMIT), iterator: requested, ..HistoryQuery::default() };
    let part = HistoryRequest::parse(part, ids::MESSAGE)?;
    let filter = MessageFilter { event_types: only.map(|name| vec![name]), ..MessageFilter::default() };
    let found = session.provider().find_messages(&session.caller, session.app(), &filter, PayloadRead::Skip, part);
    let slice = found.await?;
    let (event_types, _) = event_type_choices::all(&session).await?;
    let now = session.portal.now();
    let rows = slice.data.iter().map(|message| Row {
        id: message.id.to_string(),
        event_type: message.event_type.to_string(),
        event_id: message.event_id.clone().unwrap_or_default(),
        channels: message.channels.as_deref().unwrap_or_default().join(", "),
        at: RelativeTime::new(message.created_at, now),
    });
    render_page(&MessagesPage {
        frame: session.frame("Messages", Section::Messages),
        names: event_types.into_iter().map(|event_type| event_type.name).collect(),
        rows: rows.collect(),
        list_path: "/messages",
        // A valid event type name has no character that a URL would escape.
        filter: filter.event_types.map_or(String::new(), |_| format!("eventType={wanted}&")),
        wanted,
        fault,
        pager: pager(&slice, requested),
    })
}
