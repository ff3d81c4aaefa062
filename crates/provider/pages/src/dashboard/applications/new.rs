//! Creating an application.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use provider_core::{Created, IfExists, ProviderError};

use super::form::{ApplicationForm, FormPart};
use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/applications/new.html")]
struct NewPage {
    frame: Frame,
    form: FormPart,
}

fn render(session: &DashboardSession, status: StatusCode, form: FormPart) -> Result<Response, PageError> {
    render_page_as(status, &NewPage { frame: session.frame("Create application", Section::Applications), form })
}

/// The empty form.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render(&session, StatusCode::OK, ApplicationForm::default().part(&FieldErrors::default()))
}

/// Creates the application and shows it.
pub(super) async fn create(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = ApplicationForm::read(&form);
    let created = session
        .provider()
        .create_application(&session.caller, typed.input(), IfExists::Refuse, None, |_| String::new());
    match created.await {
        Ok(Created::New(application) | Created::Existing(application)) => {
            let path = format!("/applications/{}?done=application-created", application.id);
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Ok(Created::Replayed(_)) => Err(ProviderError::Internal("replayed without an idempotency key".into()).into()),
        Err(error) => {
            let (status, errors) = typed.errors(error)?;
            render(&session, status, typed.part(&errors))
        }
    }
}
