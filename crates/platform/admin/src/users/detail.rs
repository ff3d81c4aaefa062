//! The page of a user, and what an administrator does with the user's access.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::Scope::UsersWrite;
use platform_core::port::{Page as ListPage, User};
use platform_core::users::{PasswordReset, UserPatch, UserRefusal, loses_access};
use platform_core::{PlatformError, Role};
use uuid::Uuid;

use super::{
    first_password, made_links, name_field, requires_new, role_choices, role_label, show_password, signs_in_with,
};
use crate::account::SessionRow;
use crate::auctions::clerks::{self, ClerksPanel};
use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use crate::{labels, notice};

const SESSIONS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "users/detail.html")]
struct DetailPage {
    frame: Frame,
    /// Address of the page.
    path: String,
    uuid: Uuid,
    email: String,
    /// The name, or else the e-mail address.
    shown: String,
    has_name: bool,
    role: &'static str,
    roles: FormField,
    is_disabled: bool,
    must_change_password: bool,
    has_second_factor: bool,
    has_password: bool,
    signs_in_with: &'static str,
    /// The issuer that the user is linked to.
    issuer: Option<String>,
    created: RelativeTime,
    signed_in: Option<RelativeTime>,
    sessions: Vec<SessionRow>,
    may_write: bool,
    is_own: bool,
    webcasts: Option<ClerksPanel>,
}

async fn user(session: &Session, uuid: Uuid) -> Result<User, PageError> {
    Ok(session.platform().user(&session.caller, uuid).await?)
}

fn done(session: &Session, uuid: Uuid, done: &str) -> Redirect {
    session.admin.redirect(&format!("/users/{uuid}?done={done}"))
}

pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    show(&session, uuid, &query, Vec::new()).await
}

/// `POST /users/{user}/webcasts`: assigns the clerk to a webcast, or removes them from one.
pub(super) async fn change_webcast(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    match clerks::change_of_user(&session, uuid, &form).await? {
        Ok(word) => Ok(done(&session, uuid, word).into_response()),
        Err(fault) => show(&session, uuid, &FormFields::default(), vec![fault]).await,
    }
}

async fn show(
    session: &Session,
    uuid: Uuid,
    query: &FormFields,
    webcast_faults: Vec<String>,
) -> Result<Response, PageError> {
    let user = user(session, uuid).await?;
    let status = if webcast_faults.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT };
    let webcasts = ClerksPanel::of_user(session, &user, webcast_faults).await?;
    let page = ListPage { after: None, limit: SESSIONS_MAX };
    let sessions = session.platform().sessions_of(&session.caller, uuid, page).await?;
    let now = session.now();
    let role = Role::parse(&user.profile.role).unwrap_or(Role::Viewer);
    let page = DetailPage {
        webcasts,
        frame: session.frame(shown(&user), Section::Users).with_notice(notice::from_query(query)),
        path: format!("{}/users/{uuid}", session.admin.site().base),
        uuid,
        role: role_label(&user),
        roles: FormField::radios("role", "Role", role_choices(role))
            .hint("Changing the role ends the user's sessions."),
        is_disabled: user.disabled_at.is_some(),
        must_change_password: user.must_change_password,
        has_second_factor: user.has_second_factor(),
        has_password: user.has_password(),
        signs_in_with: signs_in_with(&user),
        issuer: user.openid.as_ref().map(|identity| identity.issuer.clone()),
        created: RelativeTime::new(user.created_at, now),
        signed_in: user.signed_in_at.map(|at| RelativeTime::new(at, now)),
        sessions: sessions.iter().rev().map(|stored| SessionRow::new(stored, session)).collect(),
        may_write: session.may(UsersWrite),
        is_own: session.caller.id == uuid,
        shown: shown(&user).to_owned(),
        has_name: user.profile.name.is_some(),
        email: user.email,
    };
    render_page_as(status, &page)
}

/// The name of a user, or else the e-mail address.
fn shown(user: &User) -> &str {
    user.profile.name.as_deref().unwrap_or(&user.email)
}

fn name_form(session: &Session, user: &User, name: &str, refused: &Refused) -> FormPage {
    confirm(session, user, "Change name", "name")
        .intro(format!("{} signs in with this address. The name is what colleagues see.", user.email))
        .fields(vec![name_field(name, refused)])
        .button("Save name")
}

pub(super) async fn name_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let user = user(&session, uuid).await?;
    name_form(&session, &user, user.profile.name.as_deref().unwrap_or_default(), &Refused::default()).open()
}

pub(super) async fn change_name(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    match session.platform().name_user(&session.caller, uuid, None, Some(form.text("name"))).await {
        Ok(_) => Ok(done(&session, uuid, "name-saved").into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            name_form(&session, &user(&session, uuid).await?, form.text("name"), &refused).refuse(&refused)
        }
    }
}

pub(super) async fn change_role(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let role = Role::parse(form.text("role")).ok_or_else(|| ErrorPage::bad_request("Choose a role."))?;
    let user = user(&session, uuid).await?;
    if user.profile.role == role.name() {
        return Ok(done(&session, uuid, "user-unchanged").into_response());
    }
    if form.text("confirmed") != "yes" {
        session.platform().require_other_administrator(&session.caller, uuid).await?;
        let made = session.platform().links_made_by(&session.caller, uuid).await?;
        if loses_access(&user, role, user.disabled_at.is_some()) && !made.is_empty() {
            let page = confirm(&session, &user, "Change role", "role")
                .intro(format!("The new role is {}. It takes away what they used for these links.", labels::role(role)))
                .hidden("role", role.name())
                .hidden("confirmed", "yes")
                .destroys("Change role");
            return made_links::listed(page, &session, &made).open();
        }
    }
    let patch = UserPatch { role: Some(role), screen_links_to_end: made_links::chosen(&form), ..UserPatch::default() };
    let changed = session.platform().change_user(&session.caller, uuid, None, patch).await?;
    made_links::after(&session, &changed)
}

fn confirm(session: &Session, user: &User, title: &str, page: &str) -> FormPage {
    let path = format!("/users/{}", user.id);
    let action = format!("{path}/{page}");
    FormPage::new(session.frame(title, Section::Users), (path, shown(user)), action)
}

pub(super) async fn disable_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    session.platform().require_other_administrator(&session.caller, uuid).await?;
    let page = confirm(&session, &user(&session, uuid).await?, "Disable user", "disable")
        .causes("The user can't sign in, and all their sessions end. Other nodes refuse them within 5 seconds.")
        .causes("Logs keep their name. You can enable them again. No event is sent.")
        .destroys("Disable user");
    let made = session.platform().links_made_by(&session.caller, uuid).await?;
    made_links::listed(page, &session, &made).open()
}

pub(super) async fn disable(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let screen_links_to_end = made_links::chosen(&form);
    let patch = UserPatch { disabled: Some(true), screen_links_to_end, ..UserPatch::default() };
    let changed = session.platform().change_user(&session.caller, uuid, None, patch).await?;
    made_links::after(&session, &changed)
}

pub(super) async fn enable(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    let patch = UserPatch { disabled: Some(false), ..UserPatch::default() };
    session.platform().change_user(&session.caller, uuid, None, patch).await?;
    Ok(done(&session, uuid, "user-saved"))
}

pub(super) async fn password_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    confirm(&session, &user(&session, uuid).await?, "Reset password", "password")
        .causes("The present password stops working, and the user's sessions end.")
        .causes("The next page shows a new password, once. Give it to the user yourself.")
        .fields(vec![first_password(&FormFields::default())])
        .destroys("Reset password")
        .open()
}

pub(super) async fn reset_password(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let reset = PasswordReset { password: None, must_change_password: requires_new(&form) };
    let made = session.platform().reset_password(&session.caller, uuid, reset, None).await?.fresh()?;
    show_password(&session, "Password reset", &made)
}

pub(super) async fn require_password(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().require_new_password(&session.caller, uuid).await?;
    Ok(done(&session, uuid, "new-password-required"))
}

pub(super) async fn second_factor_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    confirm(&session, &user(&session, uuid).await?, "Turn off the second factor", "second-factor-off")
        .causes("The user signs in with the password only, until they turn on another second factor.")
        .causes("Do this only if you are sure who asks for it, for example because the authenticator was lost.")
        .destroys("Turn off the second factor")
        .open()
}

pub(super) async fn second_factor_off(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().turn_off_second_factor(&session.caller, uuid, None).await?;
    Ok(done(&session, uuid, "user-second-factor-off"))
}

pub(super) async fn unlink_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let user = user(&session, uuid).await?;
    let then = match user.has_password() {
        true => "The user signs in with the password only, until single sign-on links them again.",
        false => {
            "The user has no password: reset it to let them sign in, or wait until single sign-on links them again."
        }
    };
    confirm(&session, &user, "Remove the link to single sign-on", "unlink")
        .causes(then)
        .causes(
            "The next person whom the issuer signs in with this verified e-mail address is linked. Their sessions end.",
        )
        .destroys("Remove the link")
        .open()
}

pub(super) async fn unlink(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().unlink_single_sign_on(&session.caller, uuid).await?;
    Ok(done(&session, uuid, "user-unlinked"))
}

pub(super) async fn end_sessions(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().end_sessions_of(&session.caller, uuid).await?;
    Ok(done(&session, uuid, "sessions-ended"))
}

pub(super) async fn remove_page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let user = user(&session, uuid).await?;
    if user.signed_in_at.is_some() {
        return Err(PlatformError::User(UserRefusal::HasSignedIn).into());
    }
    confirm(&session, &user, "Remove user", "remove")
        .causes("Only a user who has never signed in can be removed. Disable others, since logs may name them.")
        .destroys("Remove user")
        .open()
}

pub(super) async fn remove(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    match session.platform().remove_user(&session.caller, uuid).await {
        Ok(()) => Ok(session.admin.redirect("/users?done=user-removed").into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            confirm(&session, &user(&session, uuid).await?, "Remove user", "remove")
                .destroys("Remove user")
                .refuse(&refused)
        }
    }
}
