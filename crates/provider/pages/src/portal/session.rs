//! The visitor's session: the token in the cookie, which the provider authenticates at each request.

use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::response::{IntoResponse as _, Response};
use http::Method;
use http::StatusCode;
use http::request::Parts;
use provider_core::model::{AppToken, Application, Capability, Endpoint, Id, PortalSettings};
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Caller, Provider, ProviderError, Scope};

use super::embedding::{self, AllowedSites};
use super::one_session::{self, SignedInTo};
use super::{Portal, access, theme};
use crate::dashboard;
use crate::page_error::PageError;
use crate::stream_slots::StreamSlot;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use kit_design::frame::{Frame, NavLink, WayBack};

/// A visitor who may see the requested page, and the application of the visitor's token.
pub(crate) struct Session {
    pub(crate) portal: Portal,
    pub(crate) caller: Caller,
    pub(crate) application: Application,
    settings: PortalSettings,
    token: Arc<AppToken>,
}

/// The part of the portal that a page belongs to, for the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Endpoints,
    Messages,
    EventTypes,
    Alerts,
}

/// What the visitor may do, for templates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permissions {
    /// Add, change and delete endpoints.
    pub(crate) manage: bool,
    /// See signing secrets.
    pub(crate) see_secrets: bool,
    /// Rotate signing secrets.
    pub(crate) rotate: bool,
    /// Send examples, resend and replay messages.
    pub(crate) send: bool,
}

impl Session {
    pub(crate) fn provider(&self) -> &Provider {
        self.portal.provider()
    }

    /// Id of the application.
    pub(crate) fn app(&self) -> &Id {
        &self.token.application
    }

    /// An endpoint of the application, by id or uid; 404 when there is none.
    pub(crate) async fn endpoint(&self, id_or_uid: &str) -> Result<Endpoint, PageError> {
        Ok(self.provider().endpoint(&self.caller, self.app(), id_or_uid).await?)
    }

    /// 409 for a form of a page that was shown for another application.
    pub(crate) fn check_form(&self, form: &FormFields) -> Result<(), PageError> {
        Ok(one_session::check(form, &self.application)?)
    }

    pub(crate) fn permissions(&self) -> Permissions {
        let has = |capability| self.caller.has(capability);
        Permissions {
            manage: has(Capability::ManageEndpoint),
            see_secrets: has(Capability::ViewEndpointSecret),
            rotate: has(Capability::ManageEndpointSecret),
            send: has(Capability::CreateAttempts),
        }
    }

    /// A place for a stream of live updates; none when too many are open.
    pub(crate) fn stream_slot(&self, parts: &Parts) -> Option<StreamSlot> {
        let from = kit_http::client_ip::resolve(parts, &self.provider().config().trusted_proxies);
        self.portal.streams().take(&self.application.id, from)
    }

    /// The page of the dashboard from which a user opened this preview.
    fn way_back(&self) -> WayBack {
        let base = &self.portal.site().base;
        let server = base.strip_suffix(super::PATH).unwrap_or_default();
        let path = format!("{server}{}/applications/{}", dashboard::PATH, self.application.id);
        WayBack { words: "Back to dashboard", path }
    }

    /// The frame around a page.
    pub(crate) fn frame(&self, title: impl Into<String>, section: Section) -> Frame {
        let part = |words, path, of| NavLink { words, path, is_current: section == of };
        let may = self.permissions();
        let reads_only = !(may.manage || may.send || may.rotate);
        let mut parts = vec![
            part("Overview", "/overview", Section::Overview),
            part("Endpoints", "/endpoints", Section::Endpoints),
            part("Messages", "/messages", Section::Messages),
            part("Event types", "/event-types", Section::EventTypes),
        ];
        if may.manage {
            parts.push(part("Alerts", "/alerts", Section::Alerts));
        }
        Frame {
            parts,
            way_back: self.token.preview.is_some().then(|| self.way_back()),
            badge: reads_only.then_some("Read only"),
            theme: theme::style_path(&self.settings),
            logo: theme::logo_path(&self.settings),
            ..Frame::signed_out(title, self.portal.site(), &self.application.name)
        }
    }
}

impl FromRequestParts<Portal> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, portal: &Portal) -> Result<Self, Response> {
        let sites = parts.extensions.get::<AllowedSites>().cloned().unwrap_or_default();
        let Some(credential) = portal.cookies().read(&parts.headers) else {
            sites.allow_any();
            return Err(match parts.method {
                // A browser that blocks cookies of frames comes here right after the visitor signed in.
                Method::GET | Method::HEAD if embedding::is_framed(&parts.headers) => {
                    portal.redirect("/login?framed=yes").into_response()
                }
                Method::GET | Method::HEAD => portal.redirect("/login").into_response(),
                _ => session_ended(portal).into_response(),
            });
        };
        let session = authenticate(portal, parts, credential).await.map_err(|error| {
            // The page says that the session has ended, and shows nothing of any account.
            sites.allow_any();
            error.into_response()
        })?;
        sites.allow(session.settings.embed_origins.clone());
        if let Some(signed_in_to) = parts.extensions.get::<SignedInTo>() {
            signed_in_to.application(&session.application);
        }
        let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let needed =
            access::required_capability(&parts.method, path).ok_or_else(|| ErrorPage::not_found().into_response())?;
        if !session.caller.has(needed) {
            let detail = "Your link does not allow this. Ask the sender of the link for one that does.";
            return Err(ErrorPage::forbidden(detail).into_response());
        }
        Ok(session)
    }
}

async fn authenticate(portal: &Portal, parts: &Parts, credential: &str) -> Result<Session, PageError> {
    let provider = portal.provider();
    let from = kit_http::client_ip::resolve(parts, &provider.config().trusted_proxies);
    let caller = match provider.authenticate_from(Some(credential), from).await {
        Err(ProviderError::Unauthenticated) => return Err(session_ended(portal).into()),
        caller => caller?,
    };
    let Scope::Application(token) = &caller.scope else { return Err(session_ended(portal).into()) };
    let token = Arc::clone(token);
    let application = match provider.application(&caller, &token.application).await {
        Err(ProviderError::NotFound) => return Err(session_ended(portal).into()),
        application => application?,
    };
    let settings = provider.portal_settings(&application.account).await?;
    Ok(Session { portal: portal.clone(), caller, application, settings, token })
}

/// 401; the response removes the cookie.
fn session_ended(portal: &Portal) -> ErrorPage {
    let detail =
        "The session has expired or was ended. Get a new link from the service that you received this one from.";
    ErrorPage::new(StatusCode::UNAUTHORIZED, "Your session has ended", detail)
        .with_next_link("Sign in with a link or key", "/login")
        .with_cookie(portal.cookies().own.remove())
}

/// The `N` ids or names of the path, in order. 404 when a part of the path can't be an id or a name.
pub(crate) struct PathParams<const N: usize>(pub(crate) [String; N]);

impl<const N: usize> FromRequestParts<Portal> for PathParams<N> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, portal: &Portal) -> Result<Self, PageError> {
        let params = match RawPathParams::from_request_parts(parts, portal).await {
            Ok(params) => params,
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => return Err(ErrorPage::not_found().into()),
            Err(error) => return Err(ProviderError::Internal(error.to_string()).into()),
        };
        let words = params.iter().map(|(_, word)| word.to_owned());
        let words: Vec<String> = words.filter(|word| check_name(word, NAME_CHARS_MAX).is_ok()).collect();
        <[String; N]>::try_from(words).map(PathParams).map_err(|_| ErrorPage::not_found().into())
    }
}
