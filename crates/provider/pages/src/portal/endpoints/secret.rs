//! The signing secret: hidden until asked for, and rotated.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::portal::notice;
use crate::portal::session::{PathParams, Permissions, Section, Session};
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::{FieldErrors, QueryFields, SubmittedForm};
use crate::shared::frame::{Frame, render_page_as};
use crate::shared::relative_time::RelativeTime;

/// For how long the old secret may sign beside the new one, in seconds.
const GRACE_PERIODS: &[(i64, &str)] =
    &[(86_400, "for 24 hours"), (3_600, "for an hour"), (604_800, "for 7 days"), (0, "not at all")];

#[derive(Template)]
#[template(path = "portal/endpoints/secret.html")]
struct SecretPage {
    frame: Frame,
    head: Head,
    may: Permissions,
    /// What was asked for by pressing the button.
    revealed: Option<String>,
    /// Secrets that still sign, by when they stop.
    old: Vec<RelativeTime>,
    graces: &'static [(i64, &'static str)],
    chosen: String,
    faults: FieldErrors,
    others: Vec<String>,
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
            old: old.map(|old| RelativeTime::new(old.expires_at, now)).collect(),
            graces: GRACE_PERIODS,
            chosen: GRACE_PERIODS[0].0.to_string(),
            faults: FieldErrors::default(),
            others: Vec::new(),
        }
    }
}

/// The page, with the secret hidden.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, ErrorPage> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = SecretPage::new(&session, &endpoint);
    page.frame.notice = notice::from_query(&query);
    render_page_as(StatusCode::OK, &page)
}

/// The page with the secret on it. A POST, so that no history, prefetch or reading ahead has it.
pub(in crate::portal) async fn reveal(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, ErrorPage> {
    let endpoint = session.endpoint(&endpoint).await?;
    let secret = session.provider().endpoint_secret(&session.caller, session.app(), &endpoint.id).await?;
    render_page_as(StatusCode::OK, &SecretPage { revealed: Some(secret), ..SecretPage::new(&session, &endpoint) })
}

/// Gives the endpoint a new one.
pub(in crate::portal) async fn rotate(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, ErrorPage> {
    let provider = session.provider();
    let grace = form.non_empty("gracePeriodSeconds").map(str::parse::<i64>).transpose();
    let grace =
        grace.map_err(|_| ErrorPage::bad_request("The time for which the old secret signs is a number of seconds."))?;
    let rotated =
        provider.rotate_endpoint_secret(&session.caller, session.app(), &endpoint, form.non_empty("key"), grace, None);
    match rotated.await {
        Ok(_) => Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/secret?done=rotated")).into_response()),
        Err(error) => {
            let (status, faults) = form::faults(error)?;
            let endpoint = session.endpoint(&endpoint).await?;
            let mut page = SecretPage::new(&session, &endpoint);
            // The secret that was typed does not go back to where it would be read.
            page.chosen = grace.unwrap_or(GRACE_PERIODS[0].0).to_string();
            page.others = faults.remaining(&["key", "gracePeriodSeconds"]);
            page.faults = faults;
            render_page_as(status, &page)
        }
    }
}
