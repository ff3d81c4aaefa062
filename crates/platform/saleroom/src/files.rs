//! Images of lots, logos, and the style sheet.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use kit_design::assets::Asset;
use kit_design::error_page::ErrorPage;
use platform_core::images::ImageVariant;

use crate::house::OpenHouse;
use crate::page_error::PageError;

/// Every file of the saleroom's own, as `/static/{name}` serves them.
pub(crate) const OWN: &[&LazyLock<Asset>] = &[&STYLE, &BID, &LIVE, &NOTICES, &ZOOM];

/// Bids in place, on the page of a lot.
pub(crate) static BID: LazyLock<Asset> = LazyLock::new(|| Asset::script("bid", include_str!("bid.js")));

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::style("saleroom", include_str!("saleroom.css")));

pub(crate) static LIVE: LazyLock<Asset> = LazyLock::new(|| Asset::script("live", include_str!("live.js")));

/// Shows the pictures of a lot large.
pub(crate) static ZOOM: LazyLock<Asset> = LazyLock::new(|| Asset::script("zoom", include_str!("zoom.js")));

/// Shows a bidder what is new, on every page.
pub(crate) static NOTICES: LazyLock<Asset> =
    LazyLock::new(|| Asset::script("notices", include_str!("notices/notices.js")));

/// `/{house}/images/{image}/{variant}`. The content of an image never changes; that it can be seen may end, so a browser asks
/// again after an hour, and no shared cache keeps it.
pub(crate) async fn image(
    house: OpenHouse<1>,
    Path((_, _, variant)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let variant = ImageVariant::parse(&variant).ok_or_else(ErrorPage::not_found)?;
    let [image] = house.ids;
    let (media_type, content) = house.platform().saleroom_image(&house.saleroom, image, variant).await?;
    let media_type = HeaderValue::from_str(&media_type).map_err(|_| ErrorPage::not_found())?;
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"))];
    Ok((headers, content).into_response())
}

/// `/{house}/logo/{logo}`.
pub(crate) async fn logo(house: OpenHouse<1>) -> Result<Response, PageError> {
    let [logo] = house.ids;
    let content = house.platform().saleroom_logo(&house.saleroom, logo).await?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("image/jpeg")),
        (CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600")),
    ];
    Ok((headers, content).into_response())
}
