//! Adding an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::Created;

use super::form::{EndpointForm, FormPart};
use crate::portal::session::{Section, Session};
use crate::shared::error_page::ErrorPage;
use crate::shared::fields::{FieldErrors, SubmittedForm};
use crate::shared::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/new.html")]
struct NewPage {
    frame: Frame,
    form: FormPart,
}

async fn form_page(
    session: &Session,
    status: StatusCode,
    typed: EndpointForm,
    faults: FieldErrors,
) -> Result<Response, ErrorPage> {
    let form = FormPart::new(session, typed, faults).await?;
    render_page_as(status, &NewPage { frame: session.frame("Add endpoint", Section::Endpoints), form })
}

/// The empty form.
pub(in crate::portal) async fn page(session: Session) -> Result<Response, ErrorPage> {
    form_page(&session, StatusCode::OK, EndpointForm::default(), FieldErrors::default()).await
}

/// Adds it, or says what is wrong, with what was typed.
pub(in crate::portal) async fn create(
    session: Session,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, ErrorPage> {
    let typed = EndpointForm::read(&form);
    let input = typed.input();
    let made = session.provider().create_endpoint(&session.caller, session.app(), input, None, |_| String::new());
    match made.await {
        Ok(Created::New(endpoint) | Created::Existing(endpoint)) => {
            Ok(session.portal.redirect(&format!("/endpoints/{}?done=created", endpoint.id)).into_response())
        }
        // Only with an idempotency key.
        Ok(Created::Replayed(_)) => Ok(session.portal.redirect("/endpoints").into_response()),
        Err(error) => {
            let (status, faults) = typed.faults(error)?;
            form_page(&session, status, typed, faults).await
        }
    }
}
