//! The user's session: the token in the cookie, which the provider authenticates at each request.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Method, StatusCode};
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::frame::Frame;
use kit_design::side::{self, Side, SideGroup, SideLink};
use provider_core::model::Role;
use provider_core::model::{Account, User};
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::users::SignedInUser;
use provider_core::{Caller, Provider, ProviderError};

use super::{Dashboard, access};
use crate::page_error::PageError;
use crate::stream_slots::StreamSlot;

/// A user who may see the requested page.
pub(crate) struct DashboardSession {
    pub(crate) dashboard: Dashboard,
    /// The user as a caller of use cases: the whole account, with the user's role.
    pub(crate) caller: Caller,
    pub(crate) account: Account,
    pub(crate) user: User,
    /// Token of the session.
    token: String,
}

/// The part of the dashboard that a page belongs to, for the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Applications,
    Endpoints,
    Messages,
    EventTypes,
    ApiAccess,
    Operational,
    Alerts,
    Tasks,
    PayloadCheck,
    Usage,
    Users,
    Activity,
    Account,
    /// The user's own settings, which the navigation shows below the links.
    Profile,
}

impl Section {
    /// Text and path of the link; none for a section without one.
    fn link(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Overview => ("Overview", "/"),
            Self::Applications => ("Applications", "/applications"),
            Self::Endpoints => ("Endpoints", "/endpoints"),
            Self::Messages => ("Messages", "/messages"),
            Self::EventTypes => ("Event types", "/event-types"),
            Self::ApiAccess => ("API access", "/api-access"),
            Self::Operational => ("Operational webhooks", "/operational-webhooks"),
            Self::Alerts => ("Alerts", "/alerts"),
            Self::Tasks => ("Background tasks", "/tasks"),
            Self::PayloadCheck => ("Payload check", "/payload-check"),
            Self::Usage => ("Usage and health", "/usage"),
            Self::Users => ("Users", "/users"),
            Self::Activity => ("Activity", "/activity"),
            Self::Account => ("Account settings", "/account"),
            Self::Profile => return None,
        })
    }
}

/// The navigation: groups with their sections.
const GROUPS: &[(&str, &[Section])] = &[
    ("", &[Section::Overview, Section::Applications, Section::Endpoints, Section::Messages, Section::EventTypes]),
    ("Operation", &[Section::Usage, Section::Tasks, Section::PayloadCheck, Section::Alerts, Section::Operational]),
    ("Account", &[Section::ApiAccess, Section::Users, Section::Activity, Section::Account]),
];

impl DashboardSession {
    pub(crate) fn provider(&self) -> &Provider {
        self.dashboard.provider()
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.dashboard.now()
    }

    /// True if the user has at least this role. Templates offer what it allows.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.user.profile.role >= role
    }

    /// Whether the session has not ended since.
    pub(crate) async fn goes_on(&self) -> bool {
        self.provider().authenticate_session(&self.token).await.is_ok_and(|now| now.user.id == self.user.id)
    }

    /// A place for a stream of live updates; none when too many are open.
    pub(crate) fn stream_slot(&self, parts: &Parts) -> Option<StreamSlot> {
        let from = kit_http::client_ip::resolve(parts, &self.provider().config().trusted_proxies);
        self.dashboard.streams().take(&self.account.id, from)
    }

    /// The frame around a page.
    pub(crate) fn frame(&self, title: impl Into<String>, section: Section) -> Frame {
        let links = |sections: &[Section]| -> Vec<SideLink> {
            let own = sections.iter().filter_map(|own| own.link().map(|link| (*own, link)));
            own.map(|(own, (words, path))| SideLink::new(words, path, own == section)).collect()
        };
        let groups = GROUPS.iter().map(|(title, sections)| SideGroup { title, links: links(sections) }).collect();
        let user = side::User {
            name: self.user.profile.name.clone(),
            detail: self.user.profile.role.title().into(),
            account_path: "/profile",
            sign_out_path: "/sign-out",
        };
        let side = Some(Side { groups, user, environment: None });
        Frame { side, ..Frame::signed_out(title, self.dashboard.site(), &self.account.name) }
    }
}

impl FromRequestParts<Dashboard> for DashboardSession {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Dashboard) -> Result<Self, Response> {
        let Some(token) = dashboard.cookies().session.read(&parts.headers) else {
            return Err(match parts.method {
                Method::GET | Method::HEAD => dashboard.redirect(&sign_in_path(parts)).into_response(),
                _ => session_ended(dashboard).into_response(),
            });
        };
        let signed_in = match dashboard.provider().authenticate_session(token).await {
            Err(ProviderError::Unauthenticated) => return Err(session_ended(dashboard).into_response()),
            signed_in => signed_in.map_err(|error| PageError::from(error).into_response())?,
        };
        let token = token.to_owned();
        let SignedInUser { caller, user, account, .. } = signed_in;
        let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let needed =
            access::required_role(&parts.method, path).ok_or_else(|| ErrorPage::not_found().into_response())?;
        if user.profile.role < needed {
            return Err(ErrorPage::forbidden(sentence(&needed.needed().to_string())).into_response());
        }
        Ok(Self { dashboard: dashboard.clone(), caller, account, user, token })
    }
}

/// The sign-in page, which leads to the requested page afterwards.
fn sign_in_path(parts: &Parts) -> String {
    let wanted = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let wanted = wanted.strip_prefix(super::PATH).unwrap_or(wanted);
    if matches!(wanted, "" | "/") {
        return "/sign-in".to_owned();
    }
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", wanted).finish();
    format!("/sign-in?{query}")
}

/// 401; the response removes the cookie.
fn session_ended(dashboard: &Dashboard) -> ErrorPage {
    let detail = "The session has expired or was ended. Sign in again; what you typed was not saved.";
    ErrorPage::new(StatusCode::UNAUTHORIZED, "Your session has ended", detail)
        .with_next_link("Sign in", "/sign-in")
        .with_cookie(dashboard.cookies().session.remove())
}

/// The `N` ids or names of the path, in order. 404 when a part of the path can't be an id or a name.
pub(crate) struct PathParams<const N: usize>(pub(crate) [String; N]);

impl<const N: usize> FromRequestParts<Dashboard> for PathParams<N> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Dashboard) -> Result<Self, PageError> {
        let params = match RawPathParams::from_request_parts(parts, dashboard).await {
            Ok(params) => params,
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => return Err(ErrorPage::not_found().into()),
            Err(error) => return Err(ProviderError::Internal(error.to_string()).into()),
        };
        let words = params.iter().map(|(_, word)| word.to_owned());
        let words: Vec<String> = words.filter(|word| check_name(word, NAME_CHARS_MAX).is_ok()).collect();
        <[String; N]>::try_from(words).map(PathParams).map_err(|_| ErrorPage::not_found().into())
    }
}
