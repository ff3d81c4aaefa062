//! Users of the account: the list, invitations, and one user.

mod invite;
mod profile;
mod second_factor;
mod user;

use askama::Template;
use axum::Router;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::pager::{PagePosition, Pager};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{form, get, post};
use provider_core::model::Role;
use provider_core::model::{Invitation, User, UserSession};
use provider_core::page::{CursorKey, PageQuery};
use provider_core::{PageRequest, ids};

use super::Dashboard;
use super::access::Page;
use super::form_errors::notice;
use super::session::{DashboardSession, Section};
use super::sign_in::link_profile;
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/users", Role::Viewer),
    ("GET", "/users/invite", Role::Admin),
    ("POST", "/users/invite", Role::Admin),
    ("POST", "/users/invitations/{invitation}/withdraw", Role::Admin),
    ("GET", "/users/{user}", Role::Viewer),
    ("POST", "/users/{user}/role", Role::Admin),
    ("POST", "/users/{user}/password-link", Role::Admin),
    ("POST", "/users/{user}/sessions/end", Role::Admin),
    ("POST", "/users/{user}/unlink", Role::Admin),
    ("GET", "/users/{user}/remove", Role::Admin),
    ("POST", "/users/{user}/remove", Role::Admin),
    ("GET", "/profile", Role::Viewer),
    ("POST", "/profile/name", Role::Viewer),
    ("POST", "/profile/password", Role::Viewer),
    ("POST", "/profile/sessions/end-others", Role::Viewer),
    ("POST", "/profile/sessions/{session}/end", Role::Viewer),
    ("GET", "/profile/single-sign-on", Role::Viewer),
    ("GET", "/profile/second-factor", Role::Viewer),
    ("POST", "/profile/second-factor", Role::Viewer),
    ("POST", "/profile/second-factor/confirm", Role::Viewer),
    ("POST", "/profile/second-factor/off", Role::Viewer),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/users", get(page))
        .route("/users/invite", form(invite::page, invite::invite))
        .route("/users/invitations/{invitation}/withdraw", post(invite::withdraw))
        .route("/users/{user}", get(user::page))
        .route("/users/{user}/role", post(user::change_role))
        .route("/users/{user}/password-link", post(user::password_link))
        .route("/users/{user}/sessions/end", post(user::end_sessions))
        .route("/users/{user}/unlink", post(user::unlink))
        .route("/users/{user}/remove", form(user::remove_page, user::remove))
        .route("/profile", get(profile::page))
        .route("/profile/name", post(profile::rename))
        .route("/profile/password", post(profile::change_password))
        .route("/profile/sessions/end-others", post(profile::end_other_sessions))
        .route("/profile/sessions/{session}/end", post(profile::end_session))
        .route("/profile/single-sign-on", get(link_profile))
        .route("/profile/second-factor", form(second_factor::page, second_factor::enroll))
        .route("/profile/second-factor/confirm", post(second_factor::confirm))
        .route("/profile/second-factor/off", post(second_factor::turn_off))
}

const NOTICES: &[(&str, &str)] = &[
    ("withdrawn", "The link was withdrawn and no longer works."),
    ("removed", "The user was removed, and their sessions have ended."),
];

/// Invitations that the page shows.
const INVITATIONS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "dashboard/users/list.html")]
struct UsersPage {
    frame: Frame,
    rows: Vec<UserRow>,
    invitations: Vec<InvitationRow>,
    may_manage: bool,
    pager: Pager,
}

struct UserRow {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    has_second_factor: bool,
    signs_in_with: &'static str,
    is_self: bool,
    signed_in: Option<RelativeTime>,
}

struct InvitationRow {
    id: String,
    note: String,
    role: &'static str,
    created_by: String,
    expires: RelativeTime,
    is_expired: bool,
}

/// A session as pages show it.
struct SessionRow {
    id: String,
    browser: String,
    address: String,
    began: RelativeTime,
    used: RelativeTime,
    is_current: bool,
}

impl SessionRow {
    fn new(session: &DashboardSession, row: &UserSession) -> Self {
        let now = session.now();
        let current = session.caller.user.as_ref().map(|user| &user.session);
        Self {
            id: row.id.to_string(),
            browser: row.browser.clone().unwrap_or_else(|| "Unknown browser".to_owned()),
            address: row.address.clone().unwrap_or_else(|| "unknown".to_owned()),
            began: RelativeTime::new(row.created_at, now),
            used: RelativeTime::new(row.last_used_at, now),
            is_current: current == Some(&row.id),
        }
    }
}

/// What a user signs in with.
fn signs_in_with(user: &User) -> &'static str {
    match (user.has_password(), user.openid.is_some()) {
        (true, false) => "Password",
        (true, true) => "Single sign-on, password",
        (false, true) => "Single sign-on",
        (false, false) => "Nothing yet",
    }
}

/// The users and the open links of the account.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let iterator = query.non_empty("iterator");
    let asked = PageQuery { iterator, ..PageQuery::default() };
    let request = PageRequest::parse(asked, CursorKey::Id(ids::USER))?;
    let users = session.provider().users(&session.caller, &request).await?;
    let links = session.provider().invitations(&session.caller, &PageRequest::first(INVITATIONS_MAX)).await?;
    let (now, own) = (session.now(), &session.user.id);
    let row = |user: &User| UserRow {
        id: user.id.to_string(),
        name: user.profile.name.clone(),
        email: user.email.clone(),
        role: user.profile.role.title(),
        has_second_factor: user.has_second_factor(),
        signs_in_with: signs_in_with(user),
        is_self: user.id == *own,
        signed_in: user.signed_in_at.map(|at| RelativeTime::new(at, now)),
    };
    let invitation = |invitation: &Invitation| InvitationRow {
        id: invitation.id.to_string(),
        note: invitation.note.clone(),
        role: invitation.role.title(),
        created_by: invitation.created_by.clone(),
        expires: RelativeTime::new(invitation.expires_at, now),
        is_expired: invitation.expires_at <= now,
    };
    let pager = Pager::new(PagePosition {
        requested: iterator,
        next: users.iterator.as_deref(),
        previous: users.prev_iterator.as_deref(),
        is_last: users.done,
    });
    render_page(&UsersPage {
        frame: session.frame("Users", Section::Users).with_notice(notice(&query, NOTICES)),
        rows: users.data.iter().map(row).collect(),
        invitations: links.data.iter().map(invitation).collect(),
        may_manage: session.may(Role::Admin),
        pager,
    })
}
