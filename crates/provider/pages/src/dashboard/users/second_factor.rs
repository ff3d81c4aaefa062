//! The user's own second factor: enrolling, confirming and turning it off.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::SubmittedForm;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::qr_code::QrCode;
use provider_core::ProviderError;
use provider_core::users::Enrolled;

use crate::dashboard::form_errors::form_errors;
use crate::dashboard::session::{DashboardSession, Section};
use crate::dashboard::sign_in::{code_field, password};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/users/second_factor.html")]
struct SecondFactorPage {
    frame: Frame,
    email: String,
    is_on: bool,
    /// The second factor that waits for its first code.
    enrolled: Option<Enrolled>,
    qr_code: Option<QrCode>,
    /// Recovery codes, shown once.
    codes: Vec<String>,
    /// The field of the step that comes next.
    field: FormField,
    errors: ErrorSummary,
}

impl SecondFactorPage {
    async fn new(session: &DashboardSession) -> Result<Self, PageError> {
        Self::refused(session, "").await
    }

    /// The page with this error of its field; an empty text is no error.
    async fn refused(session: &DashboardSession, fault: &str) -> Result<Self, PageError> {
        let enrolled = session.provider().enrolled_second_factor(&session.caller).await?;
        let is_on = session.user.has_second_factor();
        let field = match &enrolled {
            _ if is_on => code_field("Code", fault),
            Some(_) => code_field("Code that the authenticator shows now", fault).attribute("inputmode", "numeric"),
            None => FormField::secret("password", "Your password", "current-password").fault(fault),
        };
        let label = "QR code with the key of the second factor";
        Ok(Self {
            frame: session.frame("Second factor", Section::Profile),
            email: session.user.email.clone(),
            is_on,
            qr_code: enrolled.as_ref().and_then(|enrolled| QrCode::new(&enrolled.url, label)),
            enrolled,
            codes: Vec::new(),
            errors: ErrorSummary::beside([&field]),
            field,
        })
    }
}

async fn refused(session: &DashboardSession, error: ProviderError) -> Result<Response, PageError> {
    let (status, errors) = form_errors(error)?;
    render_page_as(status, &SecondFactorPage::refused(session, &errors.remaining(&[]).join(" ")).await?)
}

/// The step that comes next.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render_page(&SecondFactorPage::new(&session).await?)
}

/// Enrolls a second factor, which waits for its first code.
pub(super) async fn enroll(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    match session.provider().enroll_second_factor(&session.caller, &password(&form, "password")).await {
        Ok(()) => Ok(session.dashboard.redirect("/profile/second-factor").into_response()),
        Err(error) => refused(&session, error).await,
    }
}

/// Turns the second factor on and shows the recovery codes this once.
pub(super) async fn confirm(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    match session.provider().confirm_second_factor(&session.caller, form.text("code")).await {
        Ok(codes) => {
            let page = SecondFactorPage::new(&session).await?;
            render_page_as(StatusCode::OK, &SecondFactorPage { is_on: true, enrolled: None, codes, ..page })
        }
        Err(error) => refused(&session, error).await,
    }
}

/// Turns the second factor off.
pub(super) async fn turn_off(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    match session.provider().turn_off_second_factor(&session.caller, form.text("code")).await {
        Ok(()) => Ok(session.dashboard.redirect("/profile?done=factor-off").into_response()),
        Err(error) => refused(&session, error).await,
    }
}
