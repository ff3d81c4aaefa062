//! Screens on a device that followed a link and has no session.
//!
//! The link's token is in the fragment, which a browser never sends to a server. The page's script copies it into the form
//! and sends the form; without script, the link is pasted. From then on a cookie carries the token, to the addresses of
//! this one screen only. The server checks it at each request, and each second while a stream is open.

use std::time::Duration;

use askama::Template;
use axum::Router;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;
use kit_design::cookie::Cookie;
use kit_design::error_page::ErrorPage;
use kit_design::fields::UnauthenticatedForm;
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_http::page_routes::{form, get};
use platform_core::Caller;
use platform_core::port::{ScreenKind, ScreenLink};
use platform_core::ring::{OpenScreen, ScreenLinkEnd};
use uuid::Uuid;

use super::view::Viewing;
use crate::admin::Admin;
use crate::desk::live;
use crate::page_error::PageError;
use crate::sign_in::client_ip;

/// A browser keeps the cookie this long after the link's expiry, so that the screen can say that the link has expired.
const KEPT_AFTER_EXPIRY: Duration = Duration::from_secs(7 * 24 * 3_600);

pub(super) fn router() -> Router<Admin> {
    Router::new()
        .route("/screens", form(link_page, open_link))
        .route("/screens/{webcast}/{kind}", get(screen))
        .route("/screens/{webcast}/{kind}/fragment", get(fragment))
        .route("/screens/{webcast}/{kind}/live", get(stream))
}

#[derive(Template)]
#[template(path = "screens/open_link.html")]
struct LinkPage {
    frame: Frame,
    fault: &'static str,
}

impl LinkPage {
    fn new(admin: &Admin, fault: &'static str) -> Self {
        let site = admin.site();
        Self { frame: Frame::signed_out("Open a screen", site, site.name), fault }
    }
}

/// A screen whose link has ended.
#[derive(Template)]
#[template(path = "screens/ended.html")]
struct EndedPage {
    frame: Frame,
    advice: &'static str,
}

/// What happened to a link, and what to do.
fn words(end: ScreenLinkEnd) -> (&'static str, &'static str) {
    match end {
        ScreenLinkEnd::Revoked => {
            ("This link was revoked or replaced", "Ask the clerk or an administrator for the new link to this screen.")
        }
        ScreenLinkEnd::Expired => {
            ("This link has expired", "Ask the clerk or an administrator for a new link to this screen.")
        }
        ScreenLinkEnd::SaleEnded => {
            ("The sale has ended", "This link ended with the sale. You can turn the screen off.")
        }
    }
}

/// The page that a link opens.
async fn link_page(State(admin): State<Admin>) -> Result<Response, PageError> {
    render_page(&LinkPage::new(&admin, ""))
}

/// Takes the token of a link, and leads to its screen.
async fn open_link(
    State(admin): State<Admin>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let token = kit_identity::one_time::code_of_link(form.text("key"));
    let OpenScreen { link, .. } = match admin.platform().follow_screen_link(token, client_ip(&admin, &parts)).await? {
        Ok(opened) => opened,
        Err(end) => {
            let fault = match end {
                ScreenLinkEnd::Revoked => {
                    "This is not a link to a screen, or it was revoked. Paste the whole link, or ask for a new one."
                }
                ScreenLinkEnd::Expired => "This link has expired. Ask the clerk or an administrator for a new one.",
                ScreenLinkEnd::SaleEnded => "The sale of this link has ended.",
            };
            return render_page_as(StatusCode::UNPROCESSABLE_ENTITY, &LinkPage::new(&admin, fault));
        }
    };
    let path = path(link.auction, link.kind);
    let seconds = (link.expires_at + KEPT_AFTER_EXPIRY).duration_since(admin.now()).as_secs();
    let cookie = cookie(&admin, &path).set(token, seconds).ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], admin.redirect(&path)).into_response())
}

/// Path of a screen that a link opens.
fn path(webcast: Uuid, kind: ScreenKind) -> String {
    format!("/screens/{webcast}/{}", kind.name())
}

/// The cookie of one screen.
fn cookie(admin: &Admin, path: &str) -> Cookie {
    let session = admin.session_cookie();
    Cookie { name: "lotwire_screen".into(), path: format!("{}{path}", admin.site().base), transport: session.transport }
}

/// A screen with the token of the device.
struct Opened {
    screen: OpenScreen,
    token: String,
}

/// The screen of the path, if the device's cookie opens it.
async fn opened(admin: &Admin, params: &RawPathParams, parts: &Parts) -> Result<Opened, Response> {
    let mut params = params.iter();
    let webcast = params.next().and_then(|(_, text)| Uuid::try_parse(text).ok());
    let kind = params.next().and_then(|(_, text)| ScreenKind::parse(text));
    let (Some(webcast), Some(kind)) = (webcast, kind) else { return Err(ErrorPage::not_found().into_response()) };
    let Some(token) = cookie(admin, &path(webcast, kind)).read(&parts.headers) else {
        return Err(admin.redirect("/screens").into_response());
    };
    let opened = admin.platform().open_screen(token).await.map_err(|error| PageError::from(error).into_response())?;
    match opened {
        Ok(screen) if screen.link.auction == webcast && screen.link.kind == kind => {
            Ok(Opened { screen, token: token.to_owned() })
        }
        Ok(_) => Err(ended(admin, ScreenLinkEnd::Revoked)),
        Err(end) => Err(ended(admin, end)),
    }
}

/// 401 that says why the screen shows nothing.
fn ended(admin: &Admin, end: ScreenLinkEnd) -> Response {
    let (title, advice) = words(end);
    let page = EndedPage { frame: Frame::signed_out(title, admin.site(), "Lotwire"), advice };
    render_page_as::<PageError>(StatusCode::UNAUTHORIZED, &page).unwrap_or_else(|error| error.into_response())
}

/// What the link shows.
fn viewing<'a>(caller: &'a Caller, link: &ScreenLink) -> Viewing<'a> {
    Viewing { caller, webcast: link.auction, kind: link.kind, shows_reserve: link.shows_reserve }
}

/// `GET /screens/{webcast}/{kind}`
async fn screen(State(admin): State<Admin>, params: RawPathParams, parts: Parts) -> Result<Response, Response> {
    let Opened { screen: OpenScreen { link, caller }, .. } = opened(&admin, &params, &parts).await?;
    let page = super::page(&admin, &viewing(&caller, &link), path(link.auction, link.kind)).await;
    page.map_err(|error| error.into_response())
}

/// `GET /screens/{webcast}/{kind}/fragment`
async fn fragment(State(admin): State<Admin>, params: RawPathParams, parts: Parts) -> Result<Response, Response> {
    let Opened { screen: OpenScreen { link, caller }, .. } = opened(&admin, &params, &parts).await?;
    let fragment = super::fragment(&admin, &viewing(&caller, &link)).await;
    fragment.map_err(|error| error.into_response())
}

/// `GET /screens/{webcast}/{kind}/live`
async fn stream(State(admin): State<Admin>, params: RawPathParams, parts: Parts) -> Result<Response, Response> {
    let Opened { screen, token } = opened(&admin, &params, &parts).await?;
    let listener = admin.platform().listen_to_auction(&screen.caller, screen.link.auction, None).await;
    let listener = listener.map_err(|error| PageError::from(error).into_response())?;
    Ok(live::respond(listener, admin, Some(token)))
}
