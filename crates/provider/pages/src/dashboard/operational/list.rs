//! The list of operational endpoints, and the events that there are.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use provider_core::model::Endpoint;
use provider_core::operational::events::EVENT_TYPES;
use provider_core::page::{LIMIT_MAX, PageRequest};

use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::StatusBadge;

#[derive(Template)]
#[template(path = "dashboard/operational/list.html")]
struct OperationalPage {
    frame: Frame,
    may: Rights,
    rows: Vec<Row>,
    /// Names and descriptions of the operational events.
    events: &'static [(&'static str, &'static str)],
}

struct Row {
    id: String,
    url: String,
    description: String,
    status: StatusBadge,
    types: String,
}

/// The list. An account has at most as many operational endpoints as an application has endpoints.
pub(super) async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let page = PageRequest::first(LIMIT_MAX);
    let found = session.provider().list_operational_endpoints(&session.caller, &page).await?;
    render_page(&OperationalPage {
        frame: session.frame("Operational webhooks", Section::Operational).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        rows: found.data.iter().map(row).collect(),
        events: &EVENT_TYPES,
    })
}

fn row(endpoint: &Endpoint) -> Row {
    Row {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        description: endpoint.description.clone(),
        status: StatusBadge::of(endpoint),
        types: types(endpoint),
    }
}

/// The events that the endpoint receives, in one line.
pub(super) fn types(endpoint: &Endpoint) -> String {
    endpoint.filter_types.as_ref().map_or_else(|| "All events".to_owned(), |names| names.join(", "))
}
