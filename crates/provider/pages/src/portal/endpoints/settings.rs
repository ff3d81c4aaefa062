//! Changing an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::model::Endpoint;

use super::form::{FormPart, Typed};
use super::head::{Head, Tab};
use crate::portal::notice;
use crate::portal::session::{At, Section, Session};
use crate::shared::fields::{Asked, Faults, Sent};
use crate::shared::frame::{Frame, page_as};
use crate::shared::refusal::Refusal;

#[derive(Template)]
#[template(path = "portal/endpoints/settings.html")]
struct SettingsPage {
    frame: Frame,
    head: Head,
    id: String,
    form: FormPart,
}

impl SettingsPage {
    async fn new(session: &Session, endpoint: &Endpoint, typed: Typed, faults: Faults) -> Result<Self, Refusal> {
        Ok(Self {
            frame: session.frame("Settings of an endpoint", Section::Endpoints),
            head: Head::new(session, endpoint, Tab::Settings),
            id: endpoint.id.to_string(),
            form: FormPart::new(session, typed, faults).await?,
        })
    }
}

/// The form as the endpoint is.
pub(in crate::portal) async fn page(
    session: Session,
    At([endpoint]): At<1>,
    Asked(query): Asked,
) -> Result<Response, Refusal> {
    let endpoint = session.endpoint(&endpoint).await?;
    let mut page = SettingsPage::new(&session, &endpoint, Typed::of(&endpoint), Faults::default()).await?;
    page.frame.notice = notice::of(&query);
    page_as(StatusCode::OK, &page)
}

/// Changes it, or says what is wrong, with what was typed.
pub(in crate::portal) async fn save(
    session: Session,
    At([endpoint]): At<1>,
    Sent(form): Sent,
) -> Result<Response, Refusal> {
    let endpoint = session.endpoint(&endpoint).await?;
    let typed = Typed::read(&form);
    let patch = typed.patch(&endpoint);
    let changed = session.provider().patch_endpoint(&session.caller, session.app(), &endpoint.id, patch);
    let Err(error) = changed.await else {
        let path = format!("/endpoints/{}/settings?done=saved", endpoint.id);
        return Ok(session.portal.redirect(&path).into_response());
    };
    let (status, faults) = typed.faults(error)?;
    page_as(status, &SettingsPage::new(&session, &endpoint, typed, faults).await?)
}
