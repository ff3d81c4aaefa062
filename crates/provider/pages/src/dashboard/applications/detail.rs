//! One application: its identifier, its endpoints, and what failed lately.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use provider_core::model::counts::CountSpan;
use provider_core::model::{Attempt, AttemptStatus, Endpoint};
use provider_core::page::PageRequest;

use super::list::failure_rate;
use super::portal_links::{self, PortalLinks};
use crate::dashboard::outcomes;
use crate::dashboard::rights::Rights;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;
use crate::portal::causes;
use crate::portal::endpoints::list::since;
use crate::portal::labels::{DeliveryFigures, StatusBadge, number};

/// Endpoints that the page shows; the App Portal lists all.
const ENDPOINTS_MAX: usize = 50;
/// Failing endpoints whose latest attempts the page shows.
const FAILING_MAX: usize = 10;
/// Attempts of each failing endpoint.
const ATTEMPTS_EACH: usize = 3;

#[derive(Template)]
#[template(path = "dashboard/applications/detail.html")]
struct ApplicationPage {
    frame: Frame,
    may: Rights,
    id: String,
    name: String,
    uid: Option<String>,
    throttle_rate: Option<u16>,
    created: RelativeTime,
    last_message: Option<RelativeTime>,
    failure_rate: Option<String>,
    endpoints_total: u64,
    is_cut: bool,
    endpoints: Vec<EndpointRow>,
    failures: Vec<Failure>,
    /// Addresses that receive alerts of this application.
    contacts: String,
    portal_links: PortalLinks,
}

struct EndpointRow {
    id: String,
    url: String,
    description: String,
    status: StatusBadge,
    since: Option<RelativeTime>,
    types: String,
    is_failing: bool,
    day: DeliveryFigures,
    waiting: String,
}

struct Failure {
    at: RelativeTime,
    url: String,
    message: String,
    attempt: String,
    cause: String,
}

/// The page.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (provider, now) = (session.provider(), session.now());
    let application = provider.application(&session.caller, &id).await?;
    let overview = provider.application_overviews(&session.caller, std::slice::from_ref(&application)).await?;
    let overview = overview.into_iter().next();
    let figures = overview.as_ref().map(|overview| &overview.figures);
    let page = PageRequest::first(ENDPOINTS_MAX);
    let mut endpoints = provider.list_endpoints(&session.caller, &application.id, &page).await?.data;
    endpoints.sort_by_key(|endpoint| endpoint.disabled || endpoint.failing_since.is_none());
    let health = provider.endpoint_health(&session.caller, &application.id, &endpoints, CountSpan::DAY).await?;
    let failures = failures(&session, &endpoints).await?;
    let contacts = provider.alert_recipients(&session.caller, Some(&application.id)).await?;
    let contacts: Vec<String> = contacts.into_iter().map(|recipient| recipient.address).collect();
    let rows = endpoints.iter().zip(&health).map(|(endpoint, health)| EndpointRow {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        description: endpoint.description.clone(),
        status: StatusBadge::of(endpoint),
        since: since(endpoint).map(|at| RelativeTime::new(at, now)),
        types: types(endpoint),
        is_failing: endpoint.failing_since.is_some(),
        day: health.total().into(),
        waiting: number(health.waiting.deliveries()),
    });
    render_page(&ApplicationPage {
        frame: session.frame(&application.name, Section::Applications).with_notice(outcomes::from_query(&query)),
        may: Rights::of(&session),
        id: application.id.to_string(),
        name: application.name.clone(),
        uid: application.uid.clone(),
        throttle_rate: application.throttle_rate,
        created: RelativeTime::new(application.created_at, now),
        last_message: figures.and_then(|figures| figures.last_message_at).map(|at| RelativeTime::new(at, now)),
        failure_rate: overview.as_ref().and_then(|overview| failure_rate(overview.day.attempts)),
        is_cut: figures.is_some_and(|figures| figures.endpoints > endpoints.len() as u64),
        endpoints_total: figures.map_or(0, |figures| figures.endpoints),
        endpoints: rows.collect(),
        failures,
        contacts: contacts.join(", "),
        portal_links: portal_links::newest(&session, &application.id).await?,
    })
}

/// The latest attempts of the failing endpoints, newest first.
async fn failures(session: &DashboardSession, endpoints: &[Endpoint]) -> Result<Vec<Failure>, PageError> {
    let failing = endpoints.iter().filter(|endpoint| !endpoint.disabled && endpoint.failing_since.is_some());
    let mut attempts: Vec<Attempt> = Vec::new();
    let page = PageRequest::first(ATTEMPTS_EACH);
    for endpoint in failing.take(FAILING_MAX) {
        let (provider, application) = (session.provider(), &endpoint.application);
        let latest = provider.list_attempts_at_endpoint(&session.caller, application, &endpoint.id, &page);
        attempts.extend(latest.await?.data.into_iter().filter(|attempt| attempt.status == AttemptStatus::Fail));
    }
    attempts.sort_by(|one, other| other.id.cmp(&one.id));
    let failure = |attempt: Attempt| Failure {
        at: RelativeTime::new(attempt.at, session.now()),
        cause: causes::of_attempt(&attempt).0,
        message: attempt.message.to_string(),
        attempt: attempt.id.to_string(),
        url: attempt.url,
    };
    Ok(attempts.into_iter().map(failure).collect())
}

fn types(endpoint: &Endpoint) -> String {
    match &endpoint.filter_types {
        None => "All event types".to_owned(),
        Some(names) => names.join(", "),
    }
}
