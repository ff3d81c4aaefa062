//! One user of the account.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::relative_time::RelativeTime;
use provider_core::model::Invitation;
use provider_core::model::Role;

use super::invite::show_link;
use super::{SessionRow, signs_in_with};
use crate::dashboard::form_errors::{form_errors, notice};
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

const NOTICES: &[(&str, &str)] = &[
    ("role", "The role was changed. It counts from the user's next request on."),
    ("unlinked", "The user is not linked to single sign-on any more, and their sessions have ended."),
    ("ended", "The user's sessions have ended. Signing in again needs the password."),
];

#[derive(Template)]
#[template(path = "dashboard/users/user.html")]
struct UserPage {
    frame: Frame,
    id: String,
    name: String,
    email: String,
    role: Role,
    has_second_factor: bool,
    signs_in_with: &'static str,
    /// The issuer that the user is linked to.
    issuer: Option<String>,
    joined: RelativeTime,
    signed_in: Option<RelativeTime>,
    sessions: Vec<SessionRow>,
    may_manage: bool,
    is_self: bool,
    /// The only Admin, who can't be removed or get another role.
    is_last_admin: bool,
    fault: String,
}

#[derive(Template)]
#[template(path = "dashboard/users/remove.html")]
struct RemovePage {
    frame: Frame,
    id: String,
    name: String,
    email: String,
    sessions: usize,
    /// Open links that the user made.
    links: Vec<MadeLink>,
    is_self: bool,
    is_last_admin: bool,
    has_single_sign_on: bool,
    fault: String,
}

/// The confirmation of a change after which a user is no Admin any more.
#[derive(Template)]
#[template(path = "dashboard/users/demote.html")]
struct DemotePage {
    frame: Frame,
    id: String,
    name: String,
    role: Role,
    links: Vec<MadeLink>,
    is_self: bool,
}

/// An open link that ends with its maker's role.
struct MadeLink {
    note: String,
    role: &'static str,
    expires: RelativeTime,
}

/// The open links that a user made.
async fn made_links(session: &DashboardSession, id: &str) -> Result<Vec<MadeLink>, PageError> {
    let links = session.provider().invitations_made_by(&session.caller, id).await?;
    let row = |link: &Invitation| MadeLink {
        note: link.note.clone(),
        role: link.role.title(),
        expires: RelativeTime::new(link.expires_at, session.now()),
    };
    Ok(links.iter().map(row).collect())
}

impl UserPage {
    async fn new(session: &DashboardSession, id: &str) -> Result<Self, PageError> {
        let user = session.provider().user(&session.caller, id).await?;
        let (now, may_manage) = (session.now(), session.may(Role::Admin));
        let sessions = match may_manage {
            true => session.provider().sessions_of(&session.caller, id).await?,
            false => Vec::new(),
        };
        Ok(Self {
            frame: session.frame(user.profile.name.clone(), Section::Users),
            id: user.id.to_string(),
            name: user.profile.name.clone(),
            email: user.email.clone(),
            role: user.profile.role,
            has_second_factor: user.has_second_factor(),
            signs_in_with: signs_in_with(&user),
            issuer: user.openid.as_ref().map(|identity| identity.issuer.clone()),
            joined: RelativeTime::new(user.created_at, now),
            signed_in: user.signed_in_at.map(|at| RelativeTime::new(at, now)),
            sessions: sessions.iter().map(|row| SessionRow::new(session, row)).collect(),
            may_manage,
            is_self: user.id == session.user.id,
            is_last_admin: may_manage && session.provider().is_last_admin(&session.caller, id).await?,
            fault: String::new(),
        })
    }
}

/// The user's facts and, for an Admin, what can be done.
pub(super) async fn page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let mut page = UserPage::new(&session, &id).await?;
    page.frame = page.frame.with_notice(notice(&query, NOTICES));
    render_page(&page)
}

/// Gives the user another role. If links would be withdrawn with the role Admin, a page lists them first.
pub(super) async fn change_role(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let role = Role::parse(form.text("role")).ok_or_else(|| ErrorPage::bad_request("Choose a role."))?;
    // Nothing is confirmed that is refused afterwards.
    let is_last_admin = session.provider().is_last_admin(&session.caller, &id).await?;
    if role < Role::Admin && form.text("confirmed") != "yes" && !is_last_admin {
        let (user, links) = (session.provider().user(&session.caller, &id).await?, made_links(&session, &id).await?);
        if !links.is_empty() {
            return render_page(&DemotePage {
                frame: session.frame("Change role", Section::Users),
                is_self: user.id == session.user.id,
                id,
                name: user.profile.name,
                role,
                links,
            });
        }
    }
    match session.provider().change_role(&session.caller, &id, role).await {
        Ok(_) => Ok(session.dashboard.redirect(&format!("/users/{id}?done=role")).into_response()),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            let page = UserPage::new(&session, &id).await?;
            render_page_as(status, &UserPage { fault: errors.of(""), ..page })
        }
    }
}

/// Makes a link for a new password and shows it this once.
pub(super) async fn password_link(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Response, PageError> {
    let link = session.provider().create_password_link(&session.caller, &id).await?;
    show_link(&session, &link)
}

/// Ends all sessions of the user.
pub(super) async fn end_sessions(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Redirect, PageError> {
    session.provider().end_sessions_of(&session.caller, &id).await?;
    Ok(session.dashboard.redirect(&format!("/users/{id}?done=ended")))
}

/// Removes the link of the user to a person of the issuer.
pub(super) async fn unlink(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Redirect, PageError> {
    session.provider().unlink_single_sign_on(&session.caller, &id).await?;
    Ok(session.dashboard.redirect(&format!("/users/{id}?done=unlinked")))
}

async fn remove_form(session: &DashboardSession, id: &str, fault: String) -> Result<RemovePage, PageError> {
    let user = session.provider().user(&session.caller, id).await?;
    let sessions = session.provider().sessions_of(&session.caller, id).await?.len();
    let links = made_links(session, id).await?;
    let is_self = user.id == session.user.id;
    let frame = session.frame("Remove user", Section::Users);
    Ok(RemovePage {
        frame,
        id: user.id.to_string(),
        name: user.profile.name,
        email: user.email,
        sessions,
        links,
        is_self,
        is_last_admin: session.provider().is_last_admin(&session.caller, id).await?,
        has_single_sign_on: session.provider().single_sign_on_name().is_some(),
        fault,
    })
}

/// The confirmation.
pub(super) async fn remove_page(
    session: DashboardSession,
    PathParams([id]): PathParams<1>,
) -> Result<Response, PageError> {
    render_page_as(StatusCode::OK, &remove_form(&session, &id, String::new()).await?)
}

/// Removes the user.
pub(super) async fn remove(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    match session.provider().remove_user(&session.caller, &id).await {
        Ok(()) => Ok(session.dashboard.redirect("/users?done=removed").into_response()),
        Err(error) => {
            let (status, errors) = form_errors(error)?;
            render_page_as(status, &remove_form(&session, &id, errors.of("")).await?)
        }
    }
}
