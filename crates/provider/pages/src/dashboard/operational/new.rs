//! Adding an operational endpoint.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use provider_core::{Created, ProviderError};

use super::form::{FormPart, OperationalForm};
use crate::dashboard::session::{DashboardSession, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/operational/edit.html")]
pub(super) struct EditPage {
    pub(super) frame: Frame,
    /// Id and address of the endpoint that is changed; none for a new one.
    pub(super) changed: Option<(String, String)>,
    pub(super) form: FormPart,
}

fn render(
    session: &DashboardSession,
    status: StatusCode,
    typed: &OperationalForm,
    faults: &FieldErrors,
) -> Result<Response, PageError> {
    let form = typed.part(faults, &session.provider().config().request_limit());
    let frame = session.frame("Add operational endpoint", Section::Operational);
    render_page_as(status, &EditPage { frame, changed: None, form })
}

/// The empty form.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render(&session, StatusCode::OK, &OperationalForm::default(), &FieldErrors::default())
}

/// Adds the endpoint and shows it.
pub(super) async fn create(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let typed = OperationalForm::read(&form);
    let created =
        session.provider().create_operational_endpoint(&session.caller, typed.input(None), None, |_| String::new());
    match created.await {
        Ok(Created::New(endpoint) | Created::Existing(endpoint)) => {
            let path = format!("/operational-webhooks/{}?done=operational-created", endpoint.id);
            Ok(session.dashboard.redirect(&path).into_response())
        }
        Ok(Created::Replayed(_)) => Err(ProviderError::Internal("replayed without an idempotency key".into()).into()),
        Err(error) => {
            let (status, faults) = typed.errors(error)?;
            render(&session, status, &typed, &faults)
        }
    }
}
