//! The list of addresses that receive alerts, with its forms, as the dashboard and the App Portal show it.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use askama::filters::HtmlSafe;
use http::StatusCode;
use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::FormField;
use kit_design::relative_time::RelativeTime;
use provider_core::{Caller, Provider, ProviderError};

use crate::page_error::PageError;

/// The list and its forms.
#[derive(Template)]
#[template(path = "alert_recipients.html")]
pub(crate) struct Recipients {
    /// Path that all addresses of the site begin with.
    base: Arc<str>,
    /// Path of the page, to which the forms are sent.
    path: String,
    /// Id of the application whose list this is.
    application: Option<String>,
    rows: Vec<Row>,
    /// The visitor may add and remove addresses.
    may_change: bool,
    /// The operator set a mail server.
    sends_mail: bool,
    /// The visitor has the dashboard, where operational webhooks are.
    has_dashboard: bool,
    address: FormField,
    code: FormField,
    errors: ErrorSummary,
    /// How long all attempts of an endpoint fail before an alert.
    alert_after: String,
    /// How long they fail before the endpoint is disabled.
    disable_after: String,
}

struct Row {
    address: String,
    /// When the code was sent; none for an address that is confirmed.
    code_sent: Option<RelativeTime>,
}

/// Who looks at the list, and of which application it is; none for the account's.
#[derive(Clone, Copy)]
pub(crate) struct Viewer<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) caller: &'a Caller,
    pub(crate) application: Option<&'a str>,
    pub(crate) base: &'a Arc<str>,
    pub(crate) path: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) may_change: bool,
    pub(crate) has_dashboard: bool,
}

/// What became of a form.
pub(crate) enum Outcome {
    /// The name of a notice on the page that follows.
    Done(&'static str),
    /// The page again, with what is wrong.
    Refused(StatusCode, Box<Recipients>),
}

/// Notices of the page, by the name in `?done=`.
pub(crate) const NOTICES: &[(&str, &str)] = &[
    ("code-sent", "A code was sent to the address. Alerts go to it after it was confirmed."),
    (
        "confirmed",
        "The address is confirmed. It receives alerts from now on, and a mail about the endpoints that fail already.",
    ),
    ("removed", "The address was removed. It receives no more alerts."),
];

impl HtmlSafe for Recipients {}

impl Recipients {
    /// The list.
    pub(crate) async fn load(viewer: Viewer<'_>) -> Result<Self, PageError> {
        let found = viewer.provider.alert_recipients(viewer.caller, viewer.application).await?;
        let rows = found.into_iter().map(|recipient| Row {
            code_sent: recipient.confirmed_at.is_none().then(|| RelativeTime::new(recipient.created_at, viewer.now)),
            address: recipient.address,
        });
        Ok(Self {
            base: Arc::clone(viewer.base),
            path: viewer.path.to_owned(),
            application: viewer.application.map(str::to_owned),
            rows: rows.collect(),
            may_change: viewer.may_change,
            sends_mail: viewer.provider.sends_mail(),
            has_dashboard: viewer.has_dashboard,
            address: FormField::text("address", "E-mail address", "")
                .kind("email", "email")
                .hint("The address receives a code first, and alerts after its owner confirmed it.")
                .chars_max(254)
                .required(),
            code: FormField::text("code", "Code", "")
                .kind("text", "one-time-code")
                .hint("From the mail to the address. The link in the mail confirms it, too.")
                .code()
                .chars_max(64)
                .required(),
            errors: ErrorSummary::default(),
            alert_after: span(viewer.provider.config().alert_after),
            disable_after: span(viewer.provider.config().disable_after),
        })
    }

    /// The page with its errors.
    fn refused(self, errors: &FieldErrors) -> Self {
        let [address, code] = [self.address, self.code].map(|field| field.with(errors));
        Self { errors: ErrorSummary::of_fields(errors, [&address, &code]), address, code, ..self }
    }

    /// An address waits for its code.
    fn asks_for_code(&self) -> bool {
        !self.code.fault_text().is_empty() || self.rows.iter().any(|row| row.code_sent.is_some())
    }

    /// Does what a form asks for: `do` is `add`, `confirm` or `remove`.
    pub(crate) async fn submit(
        viewer: Viewer<'_>,
        form: &FormFields,
        form_errors: impl Fn(ProviderError) -> Result<(StatusCode, FieldErrors), PageError>,
    ) -> Result<Outcome, PageError> {
        let (provider, caller, application) = (viewer.provider, viewer.caller, viewer.application);
        let address = form.text("address");
        match form.text("do") {
            "confirm" => match provider.confirm_alert_recipient(form.text("code")).await {
                Ok(_) => Ok(Outcome::Done("confirmed")),
                Err(ProviderError::NotFound) => {
                    let mut errors = FieldErrors::default();
                    errors.add("code", "No address has this code, or it is older than 24 hours. Send a new one.");
                    let page = Self::load(viewer).await?.refused(&errors);
                    Ok(Outcome::Refused(StatusCode::UNPROCESSABLE_ENTITY, Box::new(page)))
                }
                Err(error) => Err(error.into()),
            },
            "remove" => match provider.remove_alert_recipient(caller, application, address).await {
                // It was removed meanwhile.
                Ok(()) | Err(ProviderError::NotFound) => Ok(Outcome::Done("removed")),
                Err(error) => Err(error.into()),
            },
            _ => match provider.add_alert_recipient(caller, application, address).await {
                Ok(()) => Ok(Outcome::Done("code-sent")),
                Err(error) => {
                    let (status, errors) = form_errors(error)?;
                    let mut page = Self::load(viewer).await?;
                    page.address = page.address.value(address);
                    Ok(Outcome::Refused(status, Box::new(page.refused(&errors))))
                }
            },
        }
    }
}

/// A time span in its largest whole unit.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (count, unit) = match seconds {
        _ if seconds >= 48 * 3_600 && seconds.is_multiple_of(24 * 3_600) => (seconds / (24 * 3_600), "day"),
        _ if seconds >= 3_600 && seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ if seconds >= 60 && seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        _ => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_in_its_largest_whole_unit() {
        for (seconds, words) in
            [(432_000, "5 days"), (86_400, "24 hours"), (600, "10 minutes"), (90, "90 seconds"), (1, "1 second")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), words);
        }
    }
}
