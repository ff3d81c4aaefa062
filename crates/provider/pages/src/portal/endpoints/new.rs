//! Adding an endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provider_core::Created;

use super::form::{EndpointForm, FormPart};
use super::url_verdict::UrlVerdict;
use crate::page_error::PageError;
use crate::portal::session::{Section, Session};
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

#[derive(Template)]
#[template(path = "portal/endpoints/new.html")]
struct NewPage {
    frame: Frame,
    /// Id of the application that gets the endpoint.
    application: String,
    form: FormPart,
}

impl NewPage {
    fn new(session: &Session, form: FormPart) -> Self {
        Self { frame: session.frame("Add endpoint", Section::Endpoints), application: session.app().to_string(), form }
    }
}

async fn form_page(
    session: &Session,
    status: StatusCode,
    typed: EndpointForm,
    errors: FieldErrors,
) -> Result<Response, PageError> {
    let form = FormPart::new(session, "/endpoints", typed, errors).await?;
    render_page_as(status, &NewPage::new(session, form))
}

/// The empty form.
pub(in crate::portal) async fn page(session: Session) -> Result<Response, PageError> {
    form_page(&session, StatusCode::OK, EndpointForm::default(), FieldErrors::default()).await
}

/// Adds the endpoint, or shows the form again with its errors.
pub(in crate::portal) async fn create(
    session: Session,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    session.check_form(&form)?;
    let typed = EndpointForm::read(&form);
    let input = typed.input();
    let created = session.provider().create_endpoint(&session.caller, session.app(), input, None, |_| String::new());
    match created.await {
        Ok(Created::New(endpoint) | Created::Existing(endpoint)) => {
            Ok(session.portal.redirect(&format!("/endpoints/{}?done=created", endpoint.id)).into_response())
        }
        // Happens with an idempotency key only, and the form sends none.
        Ok(Created::Replayed(_)) => Ok(session.portal.redirect("/endpoints").into_response()),
        Err(error) => {
            let (status, errors) = typed.errors(error)?;
            form_page(&session, status, typed, errors).await
        }
    }
}

/// The form again with what a look at the typed address found, or only that for the script.
pub(in crate::portal) async fn check_url(
    session: Session,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = EndpointForm::read(&form);
    let verdict = UrlVerdict::look(&session, "/endpoints", typed.url()).await?;
    if form.text("part") == "verdict" {
        return render_page_as(StatusCode::OK, &verdict);
    }
    let part = FormPart::new(&session, "/endpoints", typed, FieldErrors::default()).await?.with_verdict(&verdict);
    render_page_as(StatusCode::OK, &NewPage::new(&session, part))
}
