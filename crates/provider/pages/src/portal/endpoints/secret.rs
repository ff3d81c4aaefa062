//! The signing secret of an endpoint: revealing and rotating it.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::page_error::PageError;
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;

/// Grace periods that the form offers, in seconds: how long the old secret also signs.
const GRACE_PERIODS: &[(i64, &str)] = &[(86_400, "for 24 hours"), (3_600, "for an hour"), (604_800, "for 7 days")];
/// The field of the rotation without a grace period. It is not one of the choices, so that it takes a second decision.
const AT_ONCE: &str = "at_once";

#[derive(Template)]
#[template(path = "portal/endpoints/secret.html")]
struct SecretPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    /// The secret, after the visitor pressed the button.
    revealed: Option<String>,
    /// Remaining time and end of the grace period of each old secret that still signs.
    old: Vec<(String, RelativeTime)>,
    grace: FormField,
    at_once: FormField,
    key: FormField,
    errors: ErrorSummary,
}

impl SecretPage {
    fn new(session: &Session, endpoint: &Endpoint) -> Self {
        let now = session.portal.now();
        let old = endpoint.old_secrets.iter().filter(|old| old.expires_at > now);
        Self {
            frame: session.frame("Signing secret of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Secret),
            may: session.permissions(),
            revealed: None,
            old: old
                .map(|old| {
                    (remaining(old.expires_at.duration_since(now).as_secs()), RelativeTime::new(old.expires_at, now))
                })
                .collect(),
            grace: grace_field(GRACE_PERIODS[0].0),
            at_once: FormField::tick(AT_ONCE, "Without a grace period", "yes").hint(
                "The old secret may be known to others: your receiver refuses requests until it has the new one.",
            ),
            key: FormField::secret("key", "New secret", "off").optional().id("own-key").hint(
                "whsec_ and the base64 of 24 to 75 random bytes, or whsk_ and the base64 of an ed25519 private key. If \
                 the field is empty, the server generates a secret of the same kind as before.",
            ),
            errors: ErrorSummary::default(),
        }
    }

    /// The page with its errors. It does not contain the entered secret.
    fn refused(self, grace_s: i64, errors: &FieldErrors) -> Self {
        let [grace, key] = [grace_field(grace_s), self.key].map(|field| field.with(errors));
        let at_once = self.at_once.ticked(grace_s == 0);
        Self { errors: ErrorSummary::of_fields(errors, [&grace, &key]), grace, key, at_once, ..self }
    }
}

/// The choice of a grace period.
fn grace_field(chosen_s: i64) -> FormField {
    let choices =
        GRACE_PERIODS.iter().map(|(seconds, words)| Choice::new(seconds.to_string(), *words, *seconds == chosen_s));
    FormField::select("gracePeriodSeconds", "The old secret also signs", choices.collect()).id("grace")
}

/// Seconds as days, hours and minutes, of which the two largest are named.
fn remaining(seconds: i64) -> String {
    let minutes = seconds.max(0).div_euclid(60);
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// The page, with the secret hidden.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = SecretPage::new(&session, &endpoint);
    page.frame = page.frame.with_notice(notice::from_query(&query));
    render_page_as(StatusCode::OK, &page)
}

/// The page with the secret shown. The request is a POST, so the secret gets into no history and no prefetch.
pub(in crate::portal) async fn reveal(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    let secret = session.provider().endpoint_secret(&session.caller, session.app(), &endpoint.id).await?;
    render_page_as(StatusCode::OK, &SecretPage { revealed: Some(secret), ..SecretPage::new(&session, &endpoint) })
}

/// Rotates the secret.
pub(in crate::portal) async fn rotate(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let provider = session.provider();
    let grace = form.non_empty("gracePeriodSeconds").map(str::parse::<i64>).transpose();
    let grace = grace.map_err(|_| ErrorPage::bad_request("The grace period must be a whole number of seconds."))?;
    let is_at_once = form.non_empty(AT_ONCE).is_some();
    let grace = if is_at_once { Some(0) } else { grace };
    let rotated =
        provider.rotate_endpoint_secret(&session.caller, session.app(), &endpoint, form.non_empty("key"), grace, None);
    match rotated.await {
        Ok(_) => Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/secret?done=rotated")).into_response()),
        Err(error) => {
            let (status, errors) = form::errors(error)?;
            let endpoint = session.endpoint(&endpoint).await?;
            let grace_s = grace.unwrap_or(GRACE_PERIODS[0].0);
            render_page_as(status, &SecretPage::new(&session, &endpoint).refused(grace_s, &errors))
        }
    }
}
