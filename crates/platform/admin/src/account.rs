//! The user's own settings: password, second factor, sessions.

mod name;
pub(crate) mod password;
pub(crate) mod second_factor;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::SET_COOKIE;
use kit_design::error_page::ErrorPage;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{form, get, post};
use platform_core::port::{Page as ListPage, Session as StoredSession};

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use crate::{labels, notice};

/// Sessions that the page lists; a user has at most 20.
const SESSIONS_MAX: usize = 100;

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/account", Need::SignedIn),
    ("GET", "/account/name", Need::SignedIn),
    ("POST", "/account/name", Need::SignedIn),
    ("GET", "/account/password", Need::SignedIn),
    ("POST", "/account/password", Need::SignedIn),
    ("GET", "/account/second-factor", Need::SignedIn),
    ("POST", "/account/second-factor", Need::SignedIn),
    ("POST", "/account/second-factor/confirm", Need::SignedIn),
    ("GET", "/account/second-factor/off", Need::SignedIn),
    ("POST", "/account/second-factor/off", Need::SignedIn),
    ("POST", "/account/sessions/{session}/end", Need::SignedIn),
    ("POST", "/account/sessions/end", Need::SignedIn),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/account", get(page))
        .route("/account/name", form(name::page, name::change))
        .route("/account/password", form(password::page, password::change))
        .route("/account/second-factor", form(second_factor::page, second_factor::enroll))
        .route("/account/second-factor/confirm", post(second_factor::confirm))
        .route("/account/second-factor/off", form(second_factor::off_page, second_factor::turn_off))
        .route("/account/sessions/{session}/end", post(end_session))
        .route("/account/sessions/end", post(end_all))
}

/// A session in a list.
pub(crate) struct SessionRow {
    pub(crate) uuid: String,
    pub(crate) address: String,
    pub(crate) created: RelativeTime,
    pub(crate) used: RelativeTime,
    pub(crate) is_own: bool,
}

impl SessionRow {
    pub(crate) fn new(stored: &StoredSession, viewer: &Session) -> Self {
        let now = viewer.now();
        Self {
            uuid: stored.id.to_string(),
            address: stored.address.clone().unwrap_or_else(|| "unknown".to_owned()),
            created: RelativeTime::new(stored.created_at, now),
            used: RelativeTime::new(stored.last_used_at, now),
            is_own: viewer.caller.session == Some(stored.id),
        }
    }
}

#[derive(Template)]
#[template(path = "account/account.html")]
struct AccountPage {
    frame: Frame,
    email: String,
    name: Option<String>,
    role: &'static str,
    has_password: bool,
    has_second_factor: bool,
    recovery_codes: usize,
    sessions: Vec<SessionRow>,
}

async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let platform = session.platform();
    let (user, _) = platform.me(&session.caller).await?;
    let own = platform.own_sessions(&session.caller, ListPage { after: None, limit: SESSIONS_MAX }).await?;
    render_page(&AccountPage {
        frame: session.frame("Your account", Section::Account).with_notice(notice::from_query(&query)),
        role: labels::role(session.role),
        has_password: user.has_password(),
        has_second_factor: user.has_second_factor(),
        recovery_codes: platform.own_recovery_codes(&session.caller).await?,
        sessions: own.iter().rev().map(|stored| SessionRow::new(stored, &session)).collect(),
        name: user.profile.name,
        email: user.email,
    })
}

/// Ends one of the user's sessions.
async fn end_session(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Redirect, PageError> {
    session.platform().end_session(&session.caller, uuid).await?;
    Ok(session.admin.redirect("/account?done=session-ended"))
}

/// Ends all of the user's sessions, this one included.
async fn end_all(State(admin): State<Admin>, session: Session) -> Result<Response, PageError> {
    session.platform().end_own_sessions(&session.caller).await?;
    let cookie = admin.session_cookie().remove().ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], admin.redirect("/sign-in?done=signed-out")).into_response())
}
