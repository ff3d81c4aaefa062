//! The overview: how deliveries to all endpoints of the application fare.

use askama::Template;
use axum::response::Response;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use kit_design::charts::{BarChart, Step};
use provider_core::HealthSpan;
use provider_core::page::{LIMIT_MAX, PageRequest};

use super::labels::{self, DayStats, StatusBadge};
use super::session::{Permissions, Section, Session};
use crate::page_error::PageError;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;

const DAY: HealthSpan = super::endpoints::list::DAY;
const WEEK: HealthSpan = HealthSpan { step: SignedDuration::from_hours(6), steps: 28 };

#[derive(Template)]
#[template(path = "portal/overview.html")]
struct OverviewPage {
    frame: Frame,
    may: Permissions,
    is_week: bool,
    has_endpoints: bool,
    stats: DayStats,
    p50: Option<String>,
    p95: Option<String>,
    next: Option<RelativeTime>,
    failing: Vec<Failing>,
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
    let span = if is_week { WEEK } else { DAY };
    let (provider, now) = (session.provider(), session.portal.now());
    let endpoints = provider.list_endpoints(&session.caller, session.app(), &PageRequest::first(LIMIT_MAX)).await?.data;
    let health = provider.endpoint_health(&session.caller, session.app(), &endpoints, span).await?;
    let bounds = span.bounds(now);
    let since = bounds.first().copied().unwrap_or(now);
    let durations = provider.latest_durations(&session.caller, session.app(), &endpoints, since).await?;
    let steps: Vec<Step> = (0..span.steps)
        .map(|no| {
            let tallies = health.iter().filter_map(|health| health.tallies.get(no));
            let utc = bounds[no].to_zoned(TimeZone::UTC);
            let to = (bounds[no] + span.step).to_zoned(TimeZone::UTC);
            let form = "%Y-%m-%dT%H:%M";
            Step {
                label: utc.strftime("%-d %b, %H:%M").to_string(),
                good: tallies.clone().map(|tally| tally.success).sum(),
                bad: tallies.clone().map(|tally| tally.fail).sum(),
                is_capped: tallies.clone().any(|tally| tally.is_capped),
                href: format!(
                    "{}/messages?from={}&to={}",
                    session.portal.site().base,
                    utc.strftime(form),
                    to.strftime(form)
                ),
            }
        })
        .collect();
    let failing = endpoints.iter().filter(|endpoint| endpoint.disabled || endpoint.failing_since.is_some());
    let failing = failing.map(|endpoint| Failing {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        status: if endpoint.disabled { StatusBadge::DISABLED } else { StatusBadge::FAILING },
        since: super::endpoints::list::since(endpoint).map(|at| RelativeTime::new(at, now)),
    });
    let next = health.iter().filter_map(|health| health.waiting.next_at).filter(|at| *at > now).min();
    let counts = provider_core::port::EndpointCounts {
        success: steps.iter().map(|step| step.good).sum(),
        fail: steps.iter().map(|step| step.bad).sum(),
        pending: health.iter().map(|health| health.waiting.deliveries as u64).sum(),
        ..Default::default()
    };
    render_page(&OverviewPage {
        frame: session.frame("Overview", Section::Overview),
        may: session.permissions(),
        is_week,
        has_endpoints: !endpoints.is_empty(),
        stats: counts.into(),
        p50: percentile(&durations, 50).map(labels::duration),
        p95: percentile(&durations, 95).map(labels::duration),
        next: next.map(|at| RelativeTime::new(at, now)),
        failing: failing.collect(),
        chart: BarChart::new(
            if is_week { "Attempts of the last 7 days, by 6 hours" } else { "Attempts of the last 24 hours, by hour" },
            steps,
        ),
    })
}

/// The value that this share of the ascending values does not exceed.
fn percentile(ascending: &[i64], percent: usize) -> Option<i64> {
    let place = (ascending.len() * percent).div_ceil(100).saturating_sub(1);
    ascending.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<i64> = (1..=100).collect();
        assert_eq!([percentile(&values, 50), percentile(&values, 95), percentile(&[], 50)], [Some(50), Some(95), None]);
        assert_eq!(percentile(&[7], 95), Some(7));
    }
}
