//! Adding an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::Created;

use super::form::{FormPart, Typed};
use crate::portal::session::{Section, Session};
use crate::shared::fields::{Faults, Sent};
use crate::shared::frame::{Frame, page_as};
use crate::shared::refusal::Refusal;

#[derive(Template)]
#[template(path = "portal/endpoints/new.html")]
struct NewPage {
    frame: Frame,
    form: FormPart,
}

async fn answer(session: &Session, status: StatusCode, typed: Typed, faults: Faults) -> Result<Response, Refusal> {
    let form = FormPart::new(session, typed, faults).await?;
    page_as(status, &NewPage { frame: session.frame("Add endpoint", Section::Endpoints), form })
}

/// The empty form.
pub(in crate::portal) async fn page(session: Session) -> Result<Response, Refusal> {
    answer(&session, StatusCode::OK, Typed::default(), Faults::default()).await
}

/// Adds it, or says what is wrong, with what was typed.
pub(in crate::portal) async fn create(session: Session, Sent(form): Sent) -> Result<Response, Refusal> {
    let typed = Typed::read(&form);
    let input = typed.input();
    let made = session.provider().create_endpoint(&session.caller, session.app(), input, None, |_| String::new());
    match made.await {
        Ok(Created::New(endpoint) | Created::There(endpoint)) => {
            Ok(session.portal.redirect(&format!("/endpoints/{}?done=created", endpoint.id)).into_response())
        }
        // Only with an idempotency key.
        Ok(Created::Before(_)) => Ok(session.portal.redirect("/endpoints").into_response()),
        Err(error) => {
            let (status, faults) = typed.faults(error)?;
            answer(&session, status, typed, faults).await
        }
    }
}
