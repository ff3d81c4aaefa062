//! The list of event types, and the ready ones that can be added.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;
use provider_core::Archived;
use provider_core::model::EventType;
use provider_core::page::{CursorKey, PageQuery, PageRequest};

use super::unknown::Unknown;
use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::pager::pager;

#[derive(Template)]
#[template(path = "dashboard/event_types/list.html")]
struct EventTypesPage {
    frame: Frame,
    may: Rights,
    shows_archived: bool,
    rows: Vec<Row>,
    /// Names and descriptions of ready event types that the account does not have.
    ready: Vec<(String, String)>,
    sender: String,
    unknown: Unknown,
    list_path: &'static str,
    filter: &'static str,
    pager: Pager,
}

struct Row {
    name: String,
    description: String,
    group: String,
    versions: String,
    is_archived: bool,
    is_deprecated: bool,
    changed: RelativeTime,
}

/// The list by name; with `archived=yes` also those that are archived.
pub(super) async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let shows_archived = query.text("archived") == "yes";
    let archived = if shows_archived { Archived::Shown } else { Archived::Hidden };
    let requested = query.non_empty("iterator");
    let request = PageQuery { limit: None, iterator: requested, order: None };
    let request = PageRequest::parse(request, CursorKey::Name)?;
    let found = session.provider().list_event_types(&session.caller, &request, archived).await?;
    let ready = session.dashboard.ready().missing(&session).await?;
    render_page(&EventTypesPage {
        frame: session.frame("Event types", Section::EventTypes).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        shows_archived,
        rows: found.data.iter().map(|event_type| row(&session, event_type)).collect(),
        ready: ready.iter().map(|ready| (ready.name.clone(), ready.description.clone())).collect(),
        sender: session.dashboard.ready().sender.clone(),
        unknown: Unknown::read(&session).await?,
        list_path: "/event-types",
        filter: if shows_archived { "archived=yes&" } else { "" },
        pager: pager(&found, requested),
    })
}

fn row(session: &DashboardSession, event_type: &EventType) -> Row {
    let versions = event_type.schemas.as_ref().and_then(|schemas| schemas.as_object()).into_iter().flatten();
    let versions: Vec<&str> = versions.map(|(version, _)| version.as_str()).collect();
    Row {
        name: event_type.name.clone(),
        description: event_type.description.clone(),
        group: event_type.group_name.clone().unwrap_or_default(),
        versions: versions.join(", "),
        is_archived: event_type.archived,
        is_deprecated: event_type.deprecated,
        changed: RelativeTime::new(event_type.updated_at, session.now()),
    }
}
