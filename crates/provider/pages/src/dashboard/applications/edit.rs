//! Changing an application.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use provider_core::model::Application;

use super::form::{ApplicationForm, FormPart};
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/applications/edit.html")]
struct EditPage {
    frame: Frame,
    id: String,
    name: String,
    form: FormPart,
}

fn render(
    session: &DashboardSession,
    status: StatusCode,
    application: &Application,
    form: FormPart,
) -> Result<Response, PageError> {
    render_page_as(
        status,
        &EditPage {
            frame: session.frame("Edit application", Section::Applications),
            id: application.id.to_string(),
            name: application.name.clone(),
            form,
        },
    )
}

/// The form with the application's values.
pub(super) async fn page(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let application = session.provider().application(&session.caller, &id).await?;
    let form = ApplicationForm::of(&application).part(&FieldErrors::default());
    render(&session, StatusCode::OK, &application, form)
}

/// Saves the application and shows it.
pub(super) async fn save(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = ApplicationForm::read(&form);
    match session.provider().patch_application(&session.caller, &id, typed.patch()).await {
        Ok(application) => {
            let path = format!("/applications/{}?done=application-saved", application.id);
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Err(error) => {
            let (status, errors) = typed.errors(error)?;
            let application = session.provider().application(&session.caller, &id).await?;
            render(&session, status, &application, typed.part(&errors))
        }
    }
}
