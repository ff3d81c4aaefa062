//! The user's session: the token in the cookie, which the platform authenticates at each request.

use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Method, StatusCode};
use jiff::Timestamp;
use kit_design::error_page::ErrorPage;
use kit_design::frame::Frame;
use kit_design::side::{Side, SideGroup, SideLink, User};
use kit_design::site::SideOfVisitor;
use platform_core::users::{SignedInUser, UserNames};
use platform_core::{Caller, Platform, PlatformError, PlatformResult, Role, Scope};
use uuid::Uuid;

use crate::access;
use crate::admin::Admin;
use crate::labels;
use crate::page_error::PageError;

/// A user who may see the requested page.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) admin: Admin,
    pub(crate) caller: Caller,
    pub(crate) role: Role,
    /// E-mail address of the user.
    pub(crate) email: String,
    /// What people call the user, if they have a name.
    pub(crate) name: Option<String>,
    /// The user has to choose another password first, and sees the pages for that only.
    pub(crate) must_change_password: bool,
}

/// The part of the administration that a page belongs to, for the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Today,
    Auctions,
    Auctioneers,
    Customers,
    People,
    Users,
    ApiKeys,
    AuditLog,
    System,
    TestClock,
    /// The user's own settings, which the navigation shows below the links.
    Account,
}

impl Section {
    /// Text, path and required scope of the link; none for a section without one.
    fn link(self) -> Option<(&'static str, &'static str, Option<Scope>)> {
        Some(match self {
            Self::Today => ("Today", "/", None),
            Self::Auctions => ("Auctions", "/auctions", Some(Scope::AuctionsRead)),
            Self::Auctioneers => ("Auctioneers", "/auctioneers", Some(Scope::CustomersRead)),
            Self::Customers => ("Customers", "/customers", Some(Scope::CustomersRead)),
            Self::People => ("Bidders and consignors", "/people", Some(Scope::PartiesRead)),
            Self::Users => ("Users", "/users", Some(Scope::UsersRead)),
            Self::ApiKeys => ("API keys", "/api-keys", Some(Scope::KeysRead)),
            Self::AuditLog => ("Audit log", "/audit", Some(Scope::UsersRead)),
            Self::System => ("System", "/system", Some(Scope::AuctionsRead)),
            Self::TestClock => ("Test clock", "/test-clock", Some(Scope::SandboxWrite)),
            Self::Account => return None,
        })
    }
}

/// The navigation: groups with their sections. A user sees the sections that the user's role may open.
const GROUPS: &[(&str, &[Section])] = &[
    ("", &[Section::Today, Section::Auctions]),
    ("People and firms", &[Section::Customers, Section::Auctioneers, Section::People]),
    ("Installation", &[Section::Users, Section::ApiKeys, Section::AuditLog, Section::System, Section::TestClock]),
];

impl Session {
    pub(crate) fn platform(&self) -> &Platform {
        self.admin.platform()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.admin.now()
    }

    /// True if the user's role has the scope. Templates offer what it allows.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.caller.scopes.contains(scope)
    }

    /// How the user is shown: the name, or else the e-mail address.
    pub(crate) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.email)
    }

    /// How the users among these actors are shown on this user's pages.
    pub(crate) async fn names<'a>(&self, actors: impl IntoIterator<Item = &'a str>) -> PlatformResult<UserNames> {
        self.platform().user_names(&self.caller, actors).await
    }

    /// The frame around a page.
    pub(crate) fn frame(&self, title: impl Into<String>, section: Section) -> Frame {
        let site = self.admin.site();
        let side = Some(side(&self.admin, self.role, self.shown_name(), Some(section)));
        Frame { side, ..Frame::signed_out(title, site, site.name) }
    }
}

/// The navigation of a user. `section` is the part that the page belongs to; none for an error page.
fn side(admin: &Admin, role: Role, name: &str, section: Option<Section>) -> Side {
    let links = |sections: &[Section]| -> Vec<SideLink> {
        let own = sections.iter().filter_map(|own| own.link().map(|link| (*own, link)));
        let seen = own.filter(|(_, (.., scope))| scope.is_none_or(|scope| role.scopes().contains(scope)));
        seen.map(|(own, (words, path, _))| SideLink::new(words, path, Some(own) == section)).collect()
    };
    let groups = GROUPS.iter().map(|(title, sections)| SideGroup { title, links: links(sections) });
    let environment = Some(admin.config().environment.clone()).filter(|name| !name.is_empty());
    let user = User {
        name: name.to_owned(),
        detail: labels::role(role).into(),
        account_path: "/account",
        sign_out_path: "/sign-out",
    };
    let groups = groups.filter(|group| !group.links.is_empty()).collect();
    Side { groups, user, environment }
}

/// The navigation beside the error pages of a user who is signed in.
pub(crate) fn side_of_visitor(admin: &Admin) -> SideOfVisitor {
    let admin = admin.clone();
    Arc::new(move |headers| {
        let admin = admin.clone();
        Box::pin(async move {
            let token = admin.session_cookie().read(&headers)?;
            // Without an answer of the database, an error page is shown without navigation.
            let SignedInUser { role, email, name, .. } = admin.platform().authenticate_user(token).await.ok()?;
            Some(side(&admin, role, name.as_deref().unwrap_or(&email), None))
        })
    })
}

impl FromRequestParts<Admin> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, admin: &Admin) -> Result<Self, Response> {
        let Some(token) = admin.session_cookie().read(&parts.headers) else {
            return Err(match parts.method {
                Method::GET | Method::HEAD => admin.redirect(&sign_in_path(parts)).into_response(),
                _ => session_ended(admin).into_response(),
            });
        };
        let SignedInUser { caller, role, email, name, must_change_password } =
            match admin.platform().authenticate_user(token).await {
                Err(PlatformError::Unauthenticated) => return Err(session_ended(admin).into_response()),
                user => user.map_err(|error| PageError::from(error).into_response())?,
            };
        let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let need = access::need(&parts.method, path).ok_or_else(|| ErrorPage::not_found().into_response())?;
        if !need.allows(role) {
            return Err(ErrorPage::forbidden(need.refusal(role)).into_response());
        }
        if must_change_password && !WITHOUT_NEW_PASSWORD.iter().any(|own| path.ends_with(own)) {
            return Err(match parts.method {
                Method::GET | Method::HEAD => admin.redirect("/account/password").into_response(),
                _ => new_password_first().into_response(),
            });
        }
        Ok(Session { admin: admin.clone(), caller, role, email, name, must_change_password })
    }
}

/// What a user may do who has to choose another password first.
const WITHOUT_NEW_PASSWORD: [&str; 2] = ["/account/password", "/sign-out"];

/// 403 for a form of such a user.
fn new_password_first() -> ErrorPage {
    let detail = "An administrator requires that you choose a new password. What you sent was not done.";
    ErrorPage::new(StatusCode::FORBIDDEN, "Choose a new password first", detail)
        .with_next_link("Choose a new password", "/account/password")
}

/// The sign-in page, which leads to the requested page afterwards.
fn sign_in_path(parts: &Parts) -> String {
    let wanted = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let wanted = wanted.strip_prefix(crate::PATH).unwrap_or(wanted);
    if matches!(wanted, "" | "/") {
        return "/sign-in".to_owned();
    }
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", wanted).finish();
    format!("/sign-in?{query}")
}

/// 401; the response removes the cookie.
fn session_ended(admin: &Admin) -> ErrorPage {
    let detail = "The session has expired or was ended. Sign in again; what you typed was not saved.";
    ErrorPage::new(StatusCode::UNAUTHORIZED, "Your session has ended", detail)
        .with_next_link("Sign in", "/sign-in")
        .with_cookie(admin.session_cookie().remove())
}

/// The `N` UUIDs of the path, in order. 404 when a part of the path is no UUID.
pub(crate) struct PathIds<const N: usize>(pub(crate) [Uuid; N]);

impl<const N: usize> FromRequestParts<Admin> for PathIds<N> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, admin: &Admin) -> Result<Self, PageError> {
        let params = match RawPathParams::from_request_parts(parts, admin).await {
            Ok(params) => params,
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => return Err(ErrorPage::not_found().into()),
            Err(error) => return Err(PlatformError::Internal(error.to_string()).into()),
        };
        let ids: Vec<Uuid> = params.iter().filter_map(|(_, text)| Uuid::try_parse(text).ok()).collect();
        <[Uuid; N]>::try_from(ids).map(PathIds).map_err(|_| ErrorPage::not_found().into())
    }
}
