//! The overview: how deliveries to all endpoints of the application fare.

use askama::Template;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use kit_design::charts::{BarChart, Step};
use provider_core::model::counts::{CountSpan, DeliveryCounts};

use super::labels::{self, DeliveryFigures, StatusBadge};
use super::session::{Permissions, Section, Session};
use crate::endpoints::failures::FailureClasses;
use crate::page_error::PageError;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;

#[derive(Template)]
#[template(path = "portal/overview.html")]
struct OverviewPage {
    frame: Frame,
    may: Permissions,
    is_week: bool,
    has_endpoints: bool,
    figures: DeliveryFigures,
    /// The ranges of durations that contain the percentiles.
    p50: Option<String>,
    p95: Option<String>,
    /// The receiver's time limit.
    limit: String,
    waiting: String,
    next: Option<RelativeTime>,
    failing: Vec<Failing>,
    failures: Option<FailureClasses>,
    chart: BarChart,
}

struct Failing {
    id: String,
    url: String,
    status: StatusBadge,
    since: Option<RelativeTime>,
}

/// The page for the last 24 hours, or with `range=7d` for the last 7 days.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let is_week = query.text("range") == "7d";
    let span = if is_week { CountSpan::WEEK } else { CountSpan::DAY };
    let (provider, now) = (session.provider(), session.portal.now());
    let endpoints = provider.all_endpoints(&session.caller, session.app()).await?;
    let counts = provider.application_health(&session.caller, session.app(), span).await?;
    let waiting = provider.waiting_of(&session.caller, session.app(), &endpoints).await?;
    let total: DeliveryCounts = counts.iter().copied().sum();
    let failing = endpoints.iter().filter(|endpoint| endpoint.disabled || endpoint.failing_since.is_some());
    let failing = failing.map(|endpoint| Failing {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        status: if endpoint.disabled { StatusBadge::DISABLED } else { StatusBadge::FAILING },
        since: crate::endpoints::list::since(endpoint).map(|at| RelativeTime::new(at, now)),
    });
    let next = waiting.iter().filter_map(|waiting| waiting.next_at).filter(|at| *at > now).min();
    let percentile = |percent| total.durations.percentile(percent).map(labels::duration_range);
    render_page(&OverviewPage {
        frame: session.frame("Overview", Section::Overview),
        may: session.permissions(),
        is_week,
        has_endpoints: !endpoints.is_empty(),
        figures: total.into(),
        p50: percentile(50),
        p95: percentile(95),
        limit: provider.config().request_limit().replace(' ', "\u{a0}"),
        waiting: labels::number(waiting.iter().map(|waiting| waiting.deliveries()).sum()),
        next: next.map(|at| RelativeTime::new(at, now)),
        failing: failing.collect(),
        failures: FailureClasses::new(&session.place(), &total, span, &[]),
        chart: BarChart::new(
            if is_week { "Attempts of the last 7 days, by 6 hours" } else { "Attempts of the last 24 hours, by hour" },
            chart_steps(&session, &span.bounds(now), &counts),
        ),
    })
}

/// The steps between these bounds, each with a link to its messages.
fn chart_steps(session: &Session, bounds: &[Timestamp], counts: &[DeliveryCounts]) -> Vec<Step> {
    let step = |(range, counts): (&[Timestamp], &DeliveryCounts)| {
        let [from, to] = [range[0], range[1]].map(|at| at.to_zoned(TimeZone::UTC));
        let form = "%Y-%m-%dT%H:%M";
        let base = &session.portal.site().base;
        Step {
            label: from.strftime("%-d %b, %H:%M").to_string(),
            good: counts.attempts.success,
            bad: counts.attempts.fail,
            href: format!("{base}/messages?from={}&to={}", from.strftime(form), to.strftime(form)),
        }
    };
    bounds.windows(2).zip(counts).map(step).collect()
}
