//! Inviting a person, and withdrawing an invitation.

use askama::Template;
use axum::response::{Redirect, Response};
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_identity::one_time::link_with_code;
use platform_core::Role;
use platform_core::port::Invitation;
use uuid::Uuid;

use super::role_choices;
use crate::form_page::{FormPage, Refused};
use crate::labels;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// An open invitation in the list.
pub(super) struct InvitationRow {
    pub(super) uuid: Uuid,
    pub(super) email: String,
    pub(super) role: &'static str,
    pub(super) expires: RelativeTime,
}

impl InvitationRow {
    pub(super) fn new(invitation: Invitation, session: &Session) -> Self {
        Self {
            uuid: invitation.uuid,
            role: Role::parse(&invitation.role).map_or("Unknown", labels::role),
            expires: RelativeTime::new(invitation.expires_at, session.now()),
            email: invitation.email,
        }
    }
}

#[derive(Template)]
#[template(path = "users/invited.html")]
struct InvitedPage {
    frame: Frame,
    email: String,
    url: String,
    expires: RelativeTime,
}

fn form_page(session: &Session, form: &FormFields, refused: &Refused) -> FormPage {
    let chosen = Role::parse(form.text("role")).unwrap_or(Role::Viewer);
    FormPage::new(session.frame("Invite user", Section::Users), ("/users", "Users"), "/users/invite")
        .intro("The next page shows a link, once. Give it to the person, who chooses a password with it. The link works once, for 7 days.")
        .fields(vec![
            FormField::text("email", "E-mail address", form.text("email")).chars_max(254).required()
                .kind("email", "off")
                .hint("The person signs in with this address. An open invitation of the address is replaced.")
                .fault(refused.of("email")),
            FormField::radios("role", "Role", role_choices(chosen)).fault(refused.of("role")),
        ])
        .button("Create link")
}

/// The form.
pub(super) async fn page(session: Session) -> Result<Response, PageError> {
    form_page(&session, &FormFields::default(), &Refused::default()).open()
}

/// Creates the link, and shows it this once.
pub(super) async fn invite(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(role) = Role::parse(form.text("role")) else {
        let refused = Refused::by_page("role", "is not a role: choose one");
        return form_page(&session, &form, &refused).refuse(&refused);
    };
    let made = match session.platform().invite(&session.caller, form.text("email"), role).await {
        Ok(made) => made,
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            return form_page(&session, &form, &refused).refuse(&refused);
        }
    };
    let (site, code) = (session.admin.site(), made.code.expose_str().unwrap_or_default());
    render_page(&InvitedPage {
        frame: session.frame("Invitation", Section::Users),
        url: link_with_code(&format!("{}{}/join", site.origin, site.base), code),
        expires: RelativeTime::new(made.invitation.expires_at, session.now()),
        email: made.invitation.email,
    })
}

/// Withdraws an invitation.
pub(super) async fn withdraw(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().withdraw_invitation(&session.caller, uuid).await?;
    Ok(session.admin.redirect("/users?done=invitation-withdrawn"))
}
