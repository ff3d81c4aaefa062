//! Usage and delivery health: messages and attempts by day, as a chart, a table and CSV.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use kit_design::charts::BarChart;
use kit_design::error_page::ErrorPage;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use provider_core::model::Role;
use provider_core::{AccountUsage, UsageStep};

use super::Dashboard;
use super::access::Page;
use super::checklist::chart_steps;
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::{DayStats, number};

pub(super) const PAGES: &[Page] = &[("GET", "/usage", Role::Viewer), ("GET", "/usage.csv", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/usage", get(page)).route("/usage.csv", get(csv))
}

#[derive(Template)]
#[template(path = "dashboard/usage.html")]
struct UsagePage {
    frame: Frame,
    usage: Option<Shown>,
}

struct Shown {
    total: DayStats,
    messages: String,
    chart: BarChart,
    /// The days, the latest first.
    days: Vec<DayRow>,
    applications: String,
    endpoints: String,
    stored: String,
    is_whole: bool,
    counted: RelativeTime,
}

struct DayRow {
    day: String,
    messages: String,
    stats: DayStats,
    is_capped: bool,
}

async fn page(session: DashboardSession) -> Result<Response, PageError> {
    let usage = session.provider().account_usage(&session.caller).await;
    render_page(&UsagePage {
        frame: session.frame("Usage and health", Section::Usage),
        usage: usage.map(|usage| shown(&session, &usage)),
    })
}

fn shown(session: &DashboardSession, usage: &AccountUsage) -> Shown {
    let sum = |of: fn(&UsageStep) -> u64| usage.days.iter().map(of).sum::<u64>();
    let row = |step: &UsageStep| DayRow {
        day: day(step),
        messages: number(step.messages),
        stats: DayStats::of(step.success, step.fail),
        is_capped: step.is_capped,
    };
    Shown {
        total: DayStats::of(sum(|step| step.success), sum(|step| step.fail)),
        messages: number(sum(|step| step.messages)),
        chart: BarChart::new("Attempts of the last 30 days, by day", chart_steps(&usage.days, "%-d %b %Y")),
        days: usage.days.iter().rev().map(row).collect(),
        applications: number(usage.applications as u64),
        endpoints: number(usage.endpoints as u64),
        stored: bytes(usage.stored_bytes),
        is_whole: usage.is_whole,
        counted: RelativeTime::new(usage.at, session.now()),
    }
}

/// A number of bytes in its largest unit.
fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let place = (count.max(1).ilog2() / 10).min(4);
    let tenths = u128::from(count) * 10 / (1_u128 << (place * 10));
    match place {
        0 => format!("{count} B"),
        _ => format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[place as usize]),
    }
}

fn day(step: &UsageStep) -> String {
    step.at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string()
}

/// The table as CSV. 503 while the account is counted for the first time.
async fn csv(session: DashboardSession) -> Result<Response, PageError> {
    let Some(usage) = session.provider().account_usage(&session.caller).await else {
        let detail = "The usage of the account is being counted. Try again in a few seconds.";
        let status = http::StatusCode::SERVICE_UNAVAILABLE;
        return Err(ErrorPage::new(status, "Not counted yet", detail).with_retry_after(1).into());
    };
    let mut text = String::from("day_utc,messages,attempts_succeeded,attempts_failed\r\n");
    for step in &usage.days {
        text.push_str(&format!("{},{},{},{}\r\n", day(step), step.messages, step.success, step.fail));
    }
    let headers =
        [(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, "attachment; filename=\"usage.csv\"")];
    Ok((headers, text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_their_largest_unit() {
        for (count, words) in
            [(0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (u64::MAX, "16777215.9 TiB")]
        {
            assert_eq!(bytes(count), words);
        }
    }
}
