//! The list of the application's endpoints, with their statistics of the last 24 hours.

use askama::Template;
use axum::response::Response;
use jiff::Timestamp;
use kit_design::charts::{Sparkline, Step};
use provider_core::model::Endpoint;
use provider_core::model::counts::CountSpan;
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::{EndpointHealth, ids};

use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, StatusBadge, number};
use crate::portal::notice;
use crate::portal::pager::pager;
use crate::portal::session::{Permissions, Section, Session};
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::Pager;
use kit_design::relative_time::RelativeTime;

/// Endpoints on one page.
const LIMIT: &str = "20";
/// Event types of an endpoint that the list names.
const TYPES_NAMED_MAX: usize = 3;

#[derive(Template)]
#[template(path = "portal/endpoints/list.html")]
struct ListPage {
    frame: Frame,
    may: Permissions,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    id: String,
    url: String,
    description: String,
    status: StatusBadge,
    /// Since when it fails or is disabled.
    since: Option<RelativeTime>,
    types: String,
    day: DeliveryFigures,
    waiting: String,
    spark: Sparkline,
}

/// The list.
pub(in crate::portal) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let requested = query.non_empty("iterator");
    let request = PageQuery { limit: Some(LIMIT), iterator: requested, order: None };
    let request = PageRequest::parse(request, CursorKey::Id(ids::ENDPOINT))?;
    let found = session.provider().list_endpoints(&session.caller, session.app(), &request).await?;
    let health =
        session.provider().endpoint_health(&session.caller, session.app(), &found.data, CountSpan::DAY).await?;
    let mut rows = Vec::with_capacity(found.data.len());
    for (endpoint, health) in found.data.iter().zip(&health) {
        rows.push(Row {
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            status: StatusBadge::of(endpoint),
            since: since(endpoint).map(|at| RelativeTime::lasting(at, session.portal.now())),
            types: types(endpoint.filter_types.as_deref()),
            day: health.total().into(),
            waiting: number(health.waiting.deliveries()),
            spark: sparkline(health),
        });
    }
    render_page(&ListPage {
        frame: session.frame("Endpoints", Section::Endpoints).with_notice(notice::from_query(&query)),
        may: session.permissions(),
        rows,
        pager: pager(&found, requested),
    })
}

/// Since when the endpoint is disabled, or fails.
pub(crate) fn since(endpoint: &Endpoint) -> Option<Timestamp> {
    if endpoint.disabled { endpoint.disabled_at } else { endpoint.failing_since }
}

/// The last 24 hours of an endpoint.
pub(super) struct EndpointDay {
    pub(super) figures: DeliveryFigures,
    pub(super) waiting: String,
    pub(super) is_any_waiting: bool,
}

/// The last 24 hours of an endpoint; none if it was deleted.
pub(super) async fn endpoint_day(session: &Session, endpoint: &Endpoint) -> Result<Option<EndpointDay>, PageError> {
    let endpoints = std::slice::from_ref(endpoint);
    let health = session.provider().endpoint_health(&session.caller, session.app(), endpoints, CountSpan::DAY).await?;
    Ok(health.first().map(|health| EndpointDay {
        figures: health.total().into(),
        waiting: number(health.waiting.deliveries()),
        is_any_waiting: health.waiting.deliveries() > 0,
    }))
}

fn sparkline(health: &EndpointHealth) -> Sparkline {
    let steps = health.steps.iter().map(|step| Step {
        label: String::new(),
        good: step.attempts.success,
        bad: step.attempts.fail,
        href: String::new(),
    });
    let day = DeliveryFigures::from(health.total());
    let text = format!("Attempts of the last 24 hours: {} succeeded, {} failed", day.succeeded, day.failed);
    Sparkline::new(text, &steps.collect::<Vec<_>>())
}

/// The event types that the endpoint receives, in one line.
fn types(names: Option<&[String]>) -> String {
    let Some(names) = names else { return "All event types".to_owned() };
    let named = names.iter().take(TYPES_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TYPES_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
