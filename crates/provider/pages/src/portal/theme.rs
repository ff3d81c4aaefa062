//! The account's colour and logo.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use provider_core::Colour;
use provider_core::model::PortalSettings;

use super::session::{PathParams, Session};
use crate::page_error::PageError;
use kit_design::error_page::ErrorPage;

/// Ink on a coloured button: white on light pages, nearly black on dark ones, where the colour is light.
const INK_LIGHT: &str = "#ffffff";
const INK_DARK: &str = "#0b1214";

/// Path of the style sheet with the account's colour.
pub(super) fn style_path(settings: &PortalSettings) -> Option<String> {
    let colour = settings.colour?.to_string();
    Some(format!("/theme/{}.css", colour.trim_start_matches('#')))
}

/// Path of the account's logo.
pub(super) fn logo_path(settings: &PortalSettings) -> Option<String> {
    settings.logo_version.as_ref().map(|version| format!("/logo/{version}"))
}

/// `/theme/{rrggbb}.css`: a style sheet for this colour. It is the same for everyone and needs no session.
pub(super) async fn style(Path(name): Path<String>) -> Result<Response, ErrorPage> {
    let colour = name.strip_suffix(".css").and_then(|digits| Colour::parse(&format!("#{digits}")));
    let colour = colour.ok_or_else(ErrorPage::not_found)?;
    let dark = colour.on_dark_pages();
    let style = format!(
        ":root {{ --accent: light-dark({colour}, {dark}); --on-accent: light-dark({INK_LIGHT}, {INK_DARK}); }}\n"
    );
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    Ok((headers, style).into_response())
}

/// `/logo/{version}`: the logo of the visitor's account.
pub(super) async fn logo(session: Session, PathParams([_version]): PathParams<1>) -> Result<Response, PageError> {
    let logo = session.provider().portal_logo(&session.application.account).await?.ok_or_else(ErrorPage::not_found)?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(logo.media_type.media_type())),
        (CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable")),
    ];
    Ok((headers, logo.bytes).into_response())
}
