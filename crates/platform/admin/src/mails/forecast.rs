//! When a house can send mails, in words.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::relative_time::RelativeTime;
use platform_core::mails::MailForecast;

use crate::sale::labels;
use crate::session::Session;
use platform_words::SaleZone;

/// Such as `30 mails: the house can send 12 now, and the last in 3 hours at the earliest.`
#[derive(Template)]
#[template(
    source = "{{ mails }}: the house can send {% if let Some(last_at) = last_at %}{% if is_one %}it{% else %}{{ now }} now, and the last{% endif %} {{ last_at }} at the earliest{% else %}{% if is_one %}it{% else %}all of them{% endif %} now{% endif %}.",
    ext = "html"
)]
pub(crate) struct ForecastWords {
    mails: String,
    is_one: bool,
    now: String,
    last_at: Option<RelativeTime>,
}

impl HtmlSafe for ForecastWords {}

impl ForecastWords {
    /// Of mails that wait for a confirmation.
    pub(crate) fn of(session: &Session, zone: &SaleZone, forecast: &MailForecast) -> Self {
        Self {
            mails: labels::count(forecast.mails, "mail", "mails"),
            is_one: forecast.mails == 1,
            now: if forecast.now == 0 { "none".to_owned() } else { labels::number(forecast.now) },
            last_at: forecast.last_at.map(|at| zone.relative(at, session.now())),
        }
    }

    /// Of mails that a person just had queued.
    pub(crate) fn of_queued(session: &Session, zone: &SaleZone, forecast: &MailForecast) -> Self {
        let words = Self::of(session, zone, forecast);
        Self { mails: format!("{} queued", words.mails), ..words }
    }
}
