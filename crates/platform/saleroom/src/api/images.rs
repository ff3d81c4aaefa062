//! Pictures of lots, which pages of every site may show.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use platform_core::images::ImageVariant;

use super::errors::{ApiError, Problem};
use super::requests::AtHouse;

/// Read a picture of a lot
///
/// `variant` is `small`, `large` or `full`. The content never changes; whether it can be seen may.
#[utoipa::path(
    get, path = "/images/{image}/{variant}", tag = "lots",
    params(("house" = String, Path), ("image" = Uuid, Path), ("variant" = String, Path)),
    responses(
        (status = 200, description = "The picture.", content_type = "image/jpeg", body = [u8]),
        (status = 404, body = Problem),
    ),
)]
pub(super) async fn image(
    at: AtHouse<1>,
    Path((_, _, variant)): Path<(String, String, String)>,
) -> Result<Response, ApiError> {
    let variant = ImageVariant::parse(&variant).ok_or_else(ApiError::not_found)?;
    let (media_type, content) = at.platform().saleroom_image(at.saleroom(), at.ids[0], variant).await?;
    let media_type = HeaderValue::from_str(&media_type).map_err(|_| ApiError::not_found())?;
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"))];
    Ok((headers, content).into_response())
}
