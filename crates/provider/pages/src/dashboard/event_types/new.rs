//! Creating an event type.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, LongForm, SubmittedForm};
use provider_core::ProviderError;

use super::editor::{EventTypeForm, Intent};
use crate::dashboard::form_errors::form_errors;
use crate::dashboard::session::DashboardSession;
use crate::page_error::PageError;

/// The empty editor.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    EventTypeForm::empty().render(&session, None, StatusCode::OK, &FieldErrors::default(), None)
}

/// Creates the event type, or checks its schema.
pub(super) async fn create(session: DashboardSession, SubmittedForm(form): LongForm) -> Result<Response, PageError> {
    let (typed, intent) = EventTypeForm::read(&form);
    let mut faults = FieldErrors::default();
    if intent == Intent::AddRows {
        return typed.render(&session, None, StatusCode::OK, &faults, None);
    }
    let checked = typed.check(&typed.name, None, &mut faults)?;
    let Some(schemas) = checked.clone().filter(|_| intent == Intent::Save) else {
        let status = if checked.is_some() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        return typed.render(&session, None, status, &faults, checked.as_ref());
    };
    let name = typed.name.as_str();
    let created =
        session.provider().create_event_type(&session.caller, name, typed.input(schemas), None, |_| String::new());
    match created.await {
        Ok(_) => {
            Ok(session.dashboard.redirect(&format!("/event-types/{name}?done=event-type-created")).into_response())
        }
        Err(error) => {
            let is_taken = matches!(error, ProviderError::Conflict { .. });
            let (status, mut faults) = form_errors(error)?;
            if is_taken {
                faults = FieldErrors::default();
                faults.add("name", "the account has an event type of this name");
            }
            typed.render(&session, None, status, &faults, None)
        }
    }
}
