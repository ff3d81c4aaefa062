//! Usage and delivery health: messages and attempts by day, as a chart, a table and CSV.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use kit_design::charts::BarChart;
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::get;
use provider_core::UsageStep;
use provider_core::model::Role;
use provider_core::model::counts::{CountSpan, DeliveryCounts};

use super::Dashboard;
use super::access::Page;
use super::checklist::chart_steps;
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, number};

pub(super) const PAGES: &[Page] = &[("GET", "/usage", Role::Viewer), ("GET", "/usage.csv", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/usage", get(page)).route("/usage.csv", get(csv))
}

#[derive(Template)]
#[template(path = "dashboard/usage.html")]
struct UsagePage {
    frame: Frame,
    total: DeliveryFigures,
    messages: String,
    payload_bytes: String,
    applications: String,
    endpoints: String,
    message_days: i64,
    payload_days: i64,
    chart: BarChart,
    /// The days, the latest first.
    days: Vec<DayRow>,
}

struct DayRow {
    day: String,
    messages: String,
    figures: DeliveryFigures,
}

async fn page(session: DashboardSession) -> Result<Response, PageError> {
    let days = session.provider().account_usage(&session.caller, CountSpan::MONTH).await?;
    let account = session.provider().account_figures(&session.caller).await?;
    let total: DeliveryCounts = days.iter().map(|step| step.deliveries).sum();
    let row = |step: &UsageStep| DayRow {
        day: day(step),
        messages: number(step.messages.messages),
        figures: step.deliveries.into(),
    };
    let retention = &session.provider().config().retention;
    render_page(&UsagePage {
        message_days: retention.messages.as_hours() / 24,
        payload_days: retention.payloads.min(retention.messages).as_hours() / 24,
        frame: session.frame("Usage and health", Section::Usage),
        total: total.into(),
        messages: number(days.iter().map(|step| step.messages.messages).sum()),
        payload_bytes: bytes(days.iter().map(|step| step.messages.payload_bytes).sum()),
        applications: number(account.applications),
        endpoints: number(account.endpoints),
        chart: BarChart::new("Attempts of the last 30 days, by day", chart_steps(&days, "%-d %b %Y")),
        days: days.iter().rev().map(row).collect(),
    })
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

/// The table as CSV.
async fn csv(session: DashboardSession) -> Result<Response, PageError> {
    let days = session.provider().account_usage(&session.caller, CountSpan::MONTH).await?;
    let mut text = String::from(
        "day_utc,messages,payload_bytes,attempts_succeeded,attempts_failed,messages_delivered,messages_failed_for_good,\
         messages_skipped,messages_cancelled\r\n",
    );
    for step in &days {
        let (messages, DeliveryCounts { attempts, ended, .. }) = (step.messages, step.deliveries);
        let counts = [
            messages.messages,
            messages.payload_bytes,
            attempts.success,
            attempts.fail,
            ended.delivered,
            ended.exhausted,
            ended.skipped,
            ended.cancelled,
        ];
        text.push_str(&format!("{},{}\r\n", day(step), counts.map(|count| count.to_string()).join(",")));
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
