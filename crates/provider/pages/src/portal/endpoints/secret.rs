//! The signing secret: hidden until asked for, and rotated.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form;
use super::head::{Head, Tab};
use crate::portal::notice;
use crate::portal::session::{At, May, Section, Session};
use crate::shared::fields::{Asked, Faults, Sent};
use crate::shared::frame::{Frame, page_as};
use crate::shared::refusal::Refusal;
use crate::shared::when::When;

/// For how long the old secret may sign beside the new one, in seconds.
const GRACES: &[(i64, &str)] =
    &[(86_400, "for 24 hours"), (3_600, "for an hour"), (604_800, "for 7 days"), (0, "not at all")];

#[derive(Template)]
#[template(path = "portal/endpoints/secret.html")]
struct SecretPage {
    frame: Frame,
    head: Head,
    may: May,
    /// What was asked for by pressing the button.
    revealed: Option<String>,
    /// Secrets that still sign, by when they stop.
    old: Vec<When>,
    graces: &'static [(i64, &'static str)],
    chosen: String,
    faults: Faults,
    others: Vec<String>,
}

impl SecretPage {
    fn new(session: &Session, endpoint: &Endpoint) -> Self {
        let now = session.portal.now();
        let old = endpoint.old_secrets.iter().filter(|old| old.expires_at > now);
        Self {
            frame: session.frame("Signing secret of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Secret),
            may: session.may(),
            revealed: None,
            old: old.map(|old| When::new(old.expires_at, now)).collect(),
            graces: GRACES,
            chosen: GRACES[0].0.to_string(),
            faults: Faults::default(),
            others: Vec::new(),
        }
    }
}

/// The page, with the secret hidden.
pub(in crate::portal) async fn page(
    session: Session,
    At([endpoint]): At<1>,
    Asked(query): Asked,
) -> Result<Response, Refusal> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = SecretPage::new(&session, &endpoint);
    page.frame.notice = notice::of(&query);
    page_as(StatusCode::OK, &page)
}

/// The page with the secret on it. A POST, so that no history, prefetch or reading ahead has it.
pub(in crate::portal) async fn reveal(session: Session, At([endpoint]): At<1>) -> Result<Response, Refusal> {
    let endpoint = session.endpoint(&endpoint).await?;
    let secret = session.provider().endpoint_secret(&session.caller, session.app(), &endpoint.id).await?;
    page_as(StatusCode::OK, &SecretPage { revealed: Some(secret), ..SecretPage::new(&session, &endpoint) })
}

/// Gives the endpoint a new one.
pub(in crate::portal) async fn rotate(
    session: Session,
    At([endpoint]): At<1>,
    Sent(form): Sent,
) -> Result<Response, Refusal> {
    let provider = session.provider();
    let grace = form.given("gracePeriodSeconds").map(str::parse::<i64>).transpose();
    let grace =
        grace.map_err(|_| Refusal::bad_request("The time for which the old secret signs is a number of seconds."))?;
    let rotated =
        provider.rotate_endpoint_secret(&session.caller, session.app(), &endpoint, form.given("key"), grace, None);
    match rotated.await {
        Ok(_) => Ok(session.portal.redirect(&format!("/endpoints/{endpoint}/secret?done=rotated")).into_response()),
        Err(error) => {
            let (status, faults) = form::faults(error)?;
            let endpoint = session.endpoint(&endpoint).await?;
            let mut page = SecretPage::new(&session, &endpoint);
            // The secret that was typed does not go back to where it would be read.
            page.chosen = grace.unwrap_or(GRACES[0].0).to_string();
            page.others = faults.elsewhere(&["key", "gracePeriodSeconds"]);
            page.faults = faults;
            page_as(status, &page)
        }
    }
}
