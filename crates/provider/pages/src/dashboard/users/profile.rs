//! The user's own name, password and sessions.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use provider_core::ProviderError;

use super::SessionRow;
use crate::dashboard::form_errors::{form_errors, notice};
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::dashboard::sign_in::{new_password, password};
use crate::page_error::PageError;

const NOTICES: &[(&str, &str)] = &[
    ("name", "Your name was changed."),
    ("password", "Your password was changed, and your other sessions have ended."),
    ("linked", "Your profile is linked. From now on you can sign in by single sign-on, too."),
    ("ended", "The session has ended."),
    ("others-ended", "Your other sessions have ended."),
    ("factor-off", "Your second factor is off. From now on the password is enough to sign in."),
];

#[derive(Template)]
#[template(path = "dashboard/users/profile.html")]
struct ProfilePage {
    frame: Frame,
    fields: [FormField; 3],
    email: String,
    role: &'static str,
    account: String,
    account_id: String,
    has_password: bool,
    /// What people call the issuer; none without single sign-on.
    issuer: Option<String>,
    /// The user can sign in by single sign-on.
    is_linked: bool,
    has_second_factor: bool,
    recovery_codes: usize,
    sessions: Vec<SessionRow>,
    errors: ErrorSummary,
}

impl ProfilePage {
    async fn new(session: &DashboardSession, name: &str, errors: &FieldErrors) -> Result<Self, PageError> {
        let provider = session.provider();
        let sessions = provider.own_sessions(&session.caller).await?;
        let fields = [
            FormField::text("name", "Name", name).kind("text", "name").chars_max(100).required(),
            FormField::secret("old-password", "Current password", "current-password"),
            new_password("New password"),
        ]
        .map(|field| field.with(errors));
        Ok(Self {
            frame: session.frame("Your profile", Section::Profile),
            email: session.user.email.clone(),
            role: session.user.profile.role.title(),
            account: session.account.name.clone(),
            account_id: session.account.id.to_string(),
            has_password: session.user.has_password(),
            issuer: provider.single_sign_on_name().map(str::to_owned),
            is_linked: session.user.openid.is_some(),
            has_second_factor: session.user.has_second_factor(),
            recovery_codes: provider.own_recovery_codes(&session.caller).await?,
            sessions: sessions.iter().map(|row| SessionRow::new(session, row)).collect(),
            errors: ErrorSummary::of_fields(errors, &fields),
            fields,
        })
    }
}

/// The page.
pub(super) async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut page = ProfilePage::new(&session, &session.user.profile.name, &FieldErrors::default()).await?;
    page.frame = page.frame.with_notice(notice(&query, NOTICES));
    render_page(&page)
}

async fn refused(session: &DashboardSession, name: &str, error: ProviderError) -> Result<Response, PageError> {
    let is_password = matches!(error, ProviderError::BadRequest { code: "password_refused", .. });
    let (status, errors) = form_errors(error)?;
    let mut errors = errors.renamed("oldPassword", "old-password");
    if is_password {
        errors = FieldErrors::default();
        errors.add("old-password", "the password is wrong");
    }
    render_page_as(status, &ProfilePage::new(session, name, &errors).await?)
}

/// Changes the name.
pub(super) async fn rename(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let name = form.text("name");
    match session.provider().rename_self(&session.caller, name).await {
        Ok(_) => Ok(session.dashboard.redirect("/profile?done=name").into_response()),
        Err(error) => refused(&session, name, error).await,
    }
}

/// Changes the password.
pub(super) async fn change_password(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (old, new) = (password(&form, "old-password"), password(&form, "password"));
    match session.provider().change_own_password(&session.caller, &old, &new).await {
        Ok(_) => Ok(session.dashboard.redirect("/profile?done=password").into_response()),
        Err(error) => refused(&session, &session.user.profile.name, error).await,
    }
}

/// Ends one session.
pub(super) async fn end_session(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Redirect, PageError> {
    session.provider().end_own_session(&session.caller, &id).await?;
    Ok(session.dashboard.redirect("/profile?done=ended"))
}

/// Ends all sessions but this one.
pub(super) async fn end_other_sessions(session: DashboardSession) -> Result<Redirect, PageError> {
    session.provider().end_own_other_sessions(&session.caller).await?;
    Ok(session.dashboard.redirect("/profile?done=others-ended"))
}
