//! Signing in with a magic link, and logging out.
//!
//! The link's token is in the fragment, which a browser never sends to a server. The page's script copies it into the form
//! and sends the form. Without script, the visitor pastes the link into the form.

use std::net::IpAddr;

use askama::Template;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;
use provider_core::{Caller, ProviderError, Scope};
use serde::Deserialize;

use super::session::Session;
use super::{Portal, embedding};
use crate::page_error::PageError;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, UnauthenticatedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{self, Frame, render_page_as};

/// Characters of a link, key or token; the server refuses a longer text.
const CHARS_MAX: usize = 4_096;
/// The part of a link before the key.
const FRAGMENT: &str = "#key=";

#[derive(Template)]
#[template(path = "portal/login.html")]
struct LoginPage {
    frame: Frame,
    fault: &'static str,
    has_logged_out: bool,
    /// The page is in a frame, and the browser keeps no session there.
    is_blocked: bool,
}

impl LoginPage {
    fn new(portal: &Portal, fault: &'static str) -> Self {
        let site = portal.site();
        Self { frame: Frame::signed_out("Sign in", site, site.name), fault, has_logged_out: false, is_blocked: false }
    }
}

/// The decoded key of a link.
#[derive(Deserialize)]
struct Key {
    token: String,
}

/// The sign-in page, which a magic link opens.
pub(super) async fn page(State(portal): State<Portal>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let has_logged_out = query.text("done") == "logged-out";
    let is_blocked = query.text("framed") == "yes";
    let page = LoginPage { has_logged_out, is_blocked, ..LoginPage::new(&portal, "") };
    let mut response: Response = frame::render_page::<PageError>(&page)?;
    response.extensions_mut().insert(embedding::any_site());
    Ok(response)
}

/// Accepts a link, key or token and starts the session.
pub(super) async fn log_in(
    State(portal): State<Portal>,
    parts: Parts,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Result<Response, PageError> {
    let provider = portal.provider();
    let from = kit_http::client_ip::resolve(&parts, &provider.config().trusted_proxies);
    let refuse = |fault| -> Result<Response, PageError> {
        let mut response: Response =
            render_page_as::<PageError>(StatusCode::UNPROCESSABLE_ENTITY, &LoginPage::new(&portal, fault))?;
        response.extensions_mut().insert(embedding::any_site());
        Ok(response)
    };
    let Some(mut token) = token(form.text("key")) else {
        return refuse("This is not a link or key of the portal. Paste the whole link, as you received it.");
    };
    let caller = match authenticate(&portal, &mut token, from).await {
        Err(ProviderError::Unauthenticated) => {
            return refuse(
                "This link has expired or was revoked. Get a new link from the service that you received it from.",
            );
        }
        caller => caller?,
    };
    let Scope::Application(of) = &caller.scope else {
        return refuse("This is an API key. The portal accepts the links and keys of one application.");
    };
    // A token may end with its region, which the cookie does not need.
    let secret = token.split_once('.').map_or(token.as_str(), |(secret, _region)| secret);
    let seconds = of.expires_at.duration_since(portal.now()).as_secs();
    let cookie = portal.cookies().for_request(&parts.headers).set(secret, seconds).ok_or_else(ErrorPage::internal)?;
    Ok(([(SET_COOKIE, cookie)], portal.redirect("/endpoints")).into_response())
}

/// Who calls with this token. A code that works once is exchanged for its token first.
async fn authenticate(portal: &Portal, token: &mut String, from: Option<IpAddr>) -> Result<Caller, ProviderError> {
    *token = portal.provider().redeem_portal_code(token).await?;
    portal.provider().authenticate_from(Some(token), from).await
}

/// Ends the session and its token.
pub(super) async fn log_out(State(portal): State<Portal>, request: Request) -> Result<Response, PageError> {
    let (mut parts, _) = request.into_parts();
    let cookie = portal.cookies().for_request(&parts.headers).remove().ok_or_else(ErrorPage::internal)?;
    // Logging out of a session that has ended already succeeds.
    if let Ok(session) = Session::from_request_parts(&mut parts, &portal).await {
        session.provider().log_out(&session.caller).await?;
    }
    Ok(([(SET_COOKIE, cookie)], portal.redirect("/login?done=logged-out")).into_response())
}

/// The token of a link, of a key, or the text itself if it is a token.
fn token(text: &str) -> Option<String> {
    if text.len() > CHARS_MAX {
        return None;
    }
    let key = text.split_once(FRAGMENT).map_or(text, |(_, key)| key);
    // Some mail programs escape characters that need no escaping.
    let key = key.replace("%3D", "=").replace("%2B", "+").replace("%2F", "/");
    if let Ok(key) = STANDARD.decode(&key) {
        let key: Key = serde_json::from_slice(&key).ok()?;
        return Some(key.token);
    }
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    (!key.is_empty() && key.bytes().all(is_word)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_a_link_in_a_key_and_by_itself() {
        let key = STANDARD.encode(r#"{"appId":"app_1","token":"appsk_x.eu"}"#);
        let (link, escaped) = (format!("https://hooks.example/app-portal/login#key={key}"), key.replace('=', "%3D"));
        for text in [&key, &link, &escaped, "appsk_x.eu"] {
            assert_eq!(token(text).as_deref(), Some("appsk_x.eu"), "{text}");
        }
        let long = "a".repeat(CHARS_MAX + 1);
        for text in ["", "two words", "e30=", "https://hooks.example/app-portal/login", &long] {
            assert_eq!(token(text), None, "{text}");
        }
    }
}
