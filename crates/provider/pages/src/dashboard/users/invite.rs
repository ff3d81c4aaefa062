//! Inviting a user, and withdrawing a link.

use askama::Template;
use axum::response::{Redirect, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::relative_time::RelativeTime;
use provider_core::model::Role;
use provider_core::users::InvitationLink;

use crate::dashboard::form_errors::form_errors;
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/users/invite.html")]
struct InvitePage {
    frame: Frame,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    /// The operator set a mail server.
    sends_mail: bool,
}

#[derive(Template)]
#[template(path = "dashboard/users/link.html")]
struct LinkPage {
    frame: Frame,
    note: String,
    url: String,
    expires: RelativeTime,
    /// The address that the link is mailed to.
    mailed_to: Option<String>,
    /// The link is for a user's new password.
    is_password: bool,
}

impl InvitePage {
    fn new(session: &DashboardSession, note: &str, email: &str, role: Role, errors: &FieldErrors) -> Self {
        let sends_mail = session.provider().sends_mail();
        let note = FormField::text("note", "Who is the link for?", note)
            .hint("A name or an e-mail address. It is shown on the page Users and in the activity log.")
            .chars_max(200)
            .required();
        let email = FormField::text("email", "Mail the link to", email)
            .kind("email", "off")
            .hint("Leave it empty to send the link yourself.")
            .chars_max(254)
            .optional();
        let fields = [Some(note), sends_mail.then_some(email), Some(role_field(role))];
        let fields: Vec<FormField> = fields.into_iter().flatten().map(|field| field.with(errors)).collect();
        Self {
            frame: session.frame("Invite user", Section::Users),
            errors: ErrorSummary::of_fields(errors, &fields),
            fields,
            sends_mail,
        }
    }
}

/// The choice of a role.
pub(super) fn role_field(chosen: Role) -> FormField {
    let choice = |role: Role| Choice::new(role.name(), role.title(), role == chosen).hint(role.description());
    FormField::radios("role", "Role", Role::ALL.map(choice).to_vec())
}

/// The form.
pub(super) async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render_page(&InvitePage::new(&session, "", "", Role::Member, &FieldErrors::default()))
}

/// Makes the link and shows it this once.
pub(super) async fn invite(
    session: DashboardSession,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (note, email, role) = (form.text("note"), form.text("email").trim(), Role::parse(form.text("role")));
    let Some(role) = role else {
        let mut errors = FieldErrors::default();
        errors.add("role", "Choose a role.");
        let page = InvitePage::new(&session, note, email, Role::Member, &errors);
        return render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &page);
    };
    match session.provider().invite(&session.caller, role, note, Some(email).filter(|email| !email.is_empty())).await {
        Ok(link) => show_link(&session, &link),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &InvitePage::new(&session, note, email, role, &errors))
        }
    }
}

/// The page with a link that was just made.
pub(super) fn show_link(session: &DashboardSession, link: &InvitationLink) -> Result<Response, PageError> {
    let invitation = &link.invitation;
    let is_password = invitation.user.is_some();
    let title = if is_password { "Link for a new password" } else { "Invitation" };
    render_page(&LinkPage {
        frame: session.frame(title, Section::Users),
        note: invitation.note.clone(),
        url: link.url.clone(),
        expires: RelativeTime::new(invitation.expires_at, session.now()),
        mailed_to: link.mailed_to.clone(),
        is_password,
    })
}

/// Withdraws a link.
pub(super) async fn withdraw(
    session: DashboardSession,
    PathParams([invitation]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    session.provider().withdraw_invitation(&session.caller, &invitation, form.text("note")).await?;
    Ok(session.dashboard.redirect("/users?done=withdrawn"))
}
