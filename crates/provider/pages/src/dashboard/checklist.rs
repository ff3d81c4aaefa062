//! The first page: what is left to set up, and how deliveries fare across the account's applications.

use askama::Template;
use axum::Router;
use axum::response::Response;
use kit_design::charts::{BarChart, Step};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use provider_core::model::Role;
use provider_core::model::counts::{CountSpan, DeliveryCounts};
use provider_core::page::PageRequest;
use provider_core::{SetupProgress, UsageStep};

use super::Dashboard;
use super::access::Page;
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, number};

pub(super) const PAGES: &[Page] = &[("GET", "/", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/", get(page))
}

/// Failing endpoints that the page lists.
const FAILING_MAX: usize = 10;

#[derive(Template)]
#[template(path = "dashboard/checklist.html")]
struct OverviewPage {
    frame: Frame,
    steps: Vec<SetupStep>,
    steps_done: usize,
    figures: Option<Figures>,
    failing: Vec<Failing>,
    has_more_failing: bool,
}

/// A step of the set-up.
struct SetupStep {
    is_done: bool,
    title: &'static str,
    text: &'static str,
    /// Text and path of the link; empty when nothing can be done yet.
    link: &'static str,
    path: String,
}

struct Figures {
    day: DeliveryFigures,
    messages: String,
    applications: String,
    endpoints: String,
    failing: String,
    chart: BarChart,
}

struct Failing {
    application: String,
    application_name: String,
    endpoint: String,
    url: String,
    is_disabled: bool,
    since: RelativeTime,
}

async fn page(session: DashboardSession) -> Result<Response, PageError> {
    let (provider, caller) = (session.provider(), &session.caller);
    let progress = provider.setup_progress(caller).await?;
    let steps = if progress.is_done() { Vec::new() } else { steps(&session, progress).await? };
    let mut failing = provider.endpoints_in_need(caller, FAILING_MAX + 1).await?;
    let has_more_failing = failing.len() > FAILING_MAX;
    failing.truncate(FAILING_MAX);
    let figures = if progress.has_endpoint { Some(figures(&session).await?) } else { None };
    let failing = failing.into_iter().map(|(application, endpoint, since)| Failing {
        is_disabled: endpoint.disabled,
        application: application.id.to_string(),
        application_name: application.name,
        endpoint: endpoint.id.to_string(),
        url: endpoint.url,
        since: RelativeTime::new(since, session.now()),
    });
    render_page(&OverviewPage {
        frame: session.frame("Overview", Section::Overview),
        steps_done: steps.iter().filter(|step| step.is_done).count(),
        steps,
        figures,
        failing: failing.collect(),
        has_more_failing,
    })
}

async fn steps(session: &DashboardSession, progress: SetupProgress) -> Result<Vec<SetupStep>, PageError> {
    let first = session.provider().list_applications(&session.caller, &[], &PageRequest::first(1)).await?;
    let application = first.data.first().map(|application| format!("/applications/{}", application.id));
    let step = |is_done, title, text, link, path: &str| SetupStep { is_done, title, text, link, path: path.to_owned() };
    let portal = application.as_deref().unwrap_or_default();
    let (open, send) =
        if portal.is_empty() { ("", "") } else { ("Open the application", "Open the application to send an example") };
    Ok(vec![
        step(
            progress.has_api_key,
            "Create an API key",
            "The sender of your events authenticates with it. The key is shown once.",
            "Open API access",
            "/api-access",
        ),
        step(
            progress.has_event_type,
            "Add event types",
            "They name what can happen, and describe the payload of each event.",
            "Open event types",
            "/event-types",
        ),
        step(
            progress.has_application,
            "Create a consumer application",
            "One for each customer or system that receives events. Its identifier begins with app_.",
            "Create application",
            "/applications/new",
        ),
        step(
            progress.has_endpoint,
            "Add an endpoint",
            "Preview the App Portal of the application, and add the address that receives its events.",
            open,
            portal,
        ),
        step(
            progress.has_delivery,
            "Receive the first event",
            "Send an example in the App Portal. The step is done when your receiver answers with a 2xx status.",
            if progress.has_endpoint { send } else { "" },
            portal,
        ),
    ])
}

async fn figures(session: &DashboardSession) -> Result<Figures, PageError> {
    let hours = session.provider().account_usage(&session.caller, CountSpan::DAY).await?;
    let account = session.provider().account_figures(&session.caller).await?;
    let day: DeliveryCounts = hours.iter().map(|step| step.deliveries).sum();
    Ok(Figures {
        day: day.into(),
        messages: number(hours.iter().map(|step| step.messages.messages).sum()),
        applications: number(account.applications),
        endpoints: number(account.endpoints),
        failing: number(account.failing),
        chart: BarChart::new("Attempts of the last 24 hours, by hour", chart_steps(&hours, "%-d %b, %H:%M")),
    })
}

/// The attempts of each step, for a chart.
pub(super) fn chart_steps(steps: &[UsageStep], form: &str) -> Vec<Step> {
    let step = |step: &UsageStep| Step {
        label: step.at.to_zoned(jiff::tz::TimeZone::UTC).strftime(form).to_string(),
        good: step.deliveries.attempts.success,
        bad: step.deliveries.attempts.fail,
        href: String::new(),
    };
    steps.iter().map(step).collect()
}
