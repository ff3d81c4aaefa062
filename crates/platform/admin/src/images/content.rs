//! Shows an image. Those of drafts need the session of a user; all others are public, as in the API, so that a screen
//! that no user is signed in on shows them too.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use kit_design::error_page::ErrorPage;
use platform_core::images::ImageVariant;
use platform_core::{Caller, PlatformError};
use uuid::Uuid;

use crate::admin::Admin;
use crate::page_error::PageError;

/// `GET /images/{image}/{variant}`
pub(super) async fn show(
    State(admin): State<Admin>,
    Path((image, variant)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let image = Uuid::try_parse(&image).map_err(|_| ErrorPage::not_found())?;
    let variant = ImageVariant::parse(&variant).ok_or_else(ErrorPage::not_found)?;
    let caller = caller(&admin, &headers).await?;
    let (image, bytes, is_public) = admin.platform().image_content(caller.as_ref(), image, variant).await?;
    let tag = format!("{}-{}", image.uuid, variant.as_str());
    let mut response = if kit_http::if_none_match::matches(&headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        bytes.into_response()
    };
    let media_type = if variant == ImageVariant::Full { image.media_type.as_str() } else { "image/jpeg" };
    // The browser asks again for each image of a draft, so that it shows none after the session has ended.
    let cache = if is_public { "private, max-age=3600" } else { "private, no-cache" };
    let headers: [(HeaderName, &str); 3] =
        [(CONTENT_TYPE, media_type), (CACHE_CONTROL, cache), (ETAG, &format!("\"{tag}\""))];
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// The user of the session; none without a session.
async fn caller(admin: &Admin, headers: &HeaderMap) -> Result<Option<Caller>, PlatformError> {
    let Some(token) = admin.session_cookie().read(headers) else { return Ok(None) };
    match admin.platform().authenticate_user(token).await {
        Ok(user) => Ok(Some(user.caller)),
        Err(PlatformError::Unauthenticated) => Ok(None),
        Err(error) => Err(error),
    }
}
