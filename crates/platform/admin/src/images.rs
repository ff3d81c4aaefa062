//! Images of lots: on the page of a lot, many at once by their file names, and as pictures on other pages.
//!
//! Guarantees: each file is read within a limit and handed to the platform by itself, so that one refused file stops no
//! other; uploaded pictures come from this site, those of drafts through the session. A picture that a catalogue gives by its
//! address is loaded by the browser; the server fetches no address that a catalogue names.

mod archives;
mod content;
mod files;
mod lot_images;
pub(crate) mod panel;
mod script_calls;
mod upload;

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::map_response;
use axum::response::Response;
use kit_design::assets::Asset;
use kit_design::site::ImagesOfOtherSites;
use kit_http::page_routes::{form, get, post};
use platform_core::images::ImageVariant;
use platform_core::{Caller, PlatformError, Scope};
use platform_rules::Item;
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;

const WRITE: Need = Need::Has(Scope::AuctionsWrite);

/// The pages of this module with the scope that each requires. [`content`] needs a session for images of drafts only.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/images", WRITE),
    ("POST", "/auctions/{auction}/images", WRITE),
    ("POST", "/auctions/{auction}/images/match", WRITE),
    ("POST", "/auctions/{auction}/images/one", WRITE),
    ("POST", "/auctions/{auction}/images/archive", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/images", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/images/{image}/remove", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/images/{image}/remove", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/images/{image}/first", WRITE),
];

pub(crate) fn router() -> Router<Admin> {
    let uploads = DefaultBodyLimit::max(files::BODY_BYTES_MAX);
    Router::new()
        .route("/images/{image}/{variant}", get(content::show))
        .route("/auctions/{auction}/images", form(upload::page, upload::upload).layer(uploads))
        .route("/auctions/{auction}/images/match", post(script_calls::match_names))
        .route("/auctions/{auction}/images/one", post(script_calls::upload_one))
        .route("/auctions/{auction}/images/archive", post(archives::upload_archive))
        .route("/auctions/{auction}/lots/{lot}/images", post(lot_images::add).layer(uploads))
        .route(
            "/auctions/{auction}/lots/{lot}/images/{image}/remove",
            form(lot_images::ask_removal, lot_images::remove),
        )
        .route("/auctions/{auction}/lots/{lot}/images/{image}/first", post(lot_images::make_first))
        .layer(map_response(allow_other_sites))
}

/// The script of the page that uploads many images.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::script("images", include_str!("images/upload.js")));

/// Path of an image below the site's base.
pub(crate) fn path(image: Uuid, variant: ImageVariant) -> String {
    format!("/images/{image}/{}", variant.as_str())
}

/// A layer of pages that show pictures of lots: the addresses that a catalogue gives lead to any host.
pub(crate) async fn allow_other_sites(mut response: Response) -> Response {
    response.extensions_mut().insert(ImagesOfOtherSites);
    response
}

/// Addresses of the pictures of items of one auction in a variant: of the first uploaded image, or else the address in the
/// catalogue. A page that shows them needs the layer [`allow_other_sites`].
pub(crate) async fn pictures(
    admin: &Admin,
    caller: &Caller,
    items: &[&Item],
    variant: ImageVariant,
) -> Result<HashMap<Uuid, String>, PlatformError> {
    let Some(auction) = items.first().map(|item| item.auction) else { return Ok(HashMap::new()) };
    let base = &admin.site().base;
    let given = items.iter().filter_map(|item| Some((item.uuid, item.image_url.clone()?)));
    let mut pictures: HashMap<Uuid, String> = given.collect();
    let uuids: Vec<Uuid> = items.iter().map(|item| item.uuid).collect();
    // From the last position to the first, so that the first image of an item stays.
    for image in admin.platform().images(caller, auction, &uuids).await?.iter().rev() {
        pictures.insert(image.item, format!("{base}{}", path(image.uuid, variant)));
    }
    Ok(pictures)
}

/// The large picture of one item.
pub(crate) async fn picture(admin: &Admin, caller: &Caller, item: &Item) -> Result<Option<String>, PlatformError> {
    let mut pictures = pictures(admin, caller, &[item], ImageVariant::Large).await?;
    Ok(pictures.remove(&item.uuid))
}
