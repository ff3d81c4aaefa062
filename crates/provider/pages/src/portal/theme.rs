//! The account's colour and logo.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use provider_core::model::PortalSettings;

use super::session::{PathParams, Session};
use crate::page_error::PageError;
use kit_design::error_page::ErrorPage;

/// Path of the style sheet with the account's colour.
pub(super) fn style_path(settings: &PortalSettings) -> Option<String> {
    settings.colour.map(kit_design::theme::path)
}

/// Path of the account's logo.
pub(super) fn logo_path(settings: &PortalSettings) -> Option<String> {
    settings.logo_version.as_ref().map(|version| format!("/logo/{version}"))
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
