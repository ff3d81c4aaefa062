//! Images of items.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use platform_core::images::{IMAGE_BYTES_MAX, ImageUpload, ImageVariant, ItemImage};
use platform_core::{Platform, PlatformError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::time;
use crate::response;

/// The file of an image.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImageQuery {
    /// Name of the file. Default: empty.
    #[serde(default)]
    file_name: String,
}

/// An image of an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemImage)]
pub(crate) struct ImageView {
    /// UUID of the image.
    uuid: Uuid,
    /// UUID of the item.
    item: Uuid,
    /// Place among the images of the item, from 0; the first one leads.
    position: i64,
    /// Name of the uploaded file.
    file_name: String,
    /// Media type of `full`; the other variants are JPEG.
    media_type: String,
    /// Width in pixels.
    width: u32,
    /// Height in pixels.
    height: u32,
    /// Size of `full` in bytes.
    bytes: u64,
    /// Path of the whole image.
    full: String,
    /// Path of the image with at most 1,280 px width.
    large: String,
    /// Path of the image with at most 320 px width.
    small: String,
    /// When it was added.
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<&ItemImage> for ImageView {
    fn from(image: &ItemImage) -> Self {
        let path = |variant: ImageVariant| format!("/api/v1/images/{}/{}", image.uuid, variant.as_str());
        Self {
            uuid: image.uuid,
            item: image.item,
            position: image.position,
            file_name: image.file_name.clone(),
            media_type: image.media_type.clone(),
            width: image.width,
            height: image.height,
            bytes: image.bytes,
            full: path(ImageVariant::Full),
            large: path(ImageVariant::Large),
            small: path(ImageVariant::Small),
            created_at: time(image.created_at),
        }
    }
}

/// Images of an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemImages {
    /// The images in their order, at most 50.
    data: Vec<ImageView>,
}

impl ItemImages {
    fn of(images: &[ItemImage]) -> Self {
        Self { data: images.iter().map(ImageView::from).collect() }
    }
}

/// Add an image to an item
///
/// After its last one. The caller makes the UUID of the image, so that a repeated request adds no second one. The body is a JPEG, PNG or WebP file of at most 25 MiB and 50 megapixels; 22 megapixels with 16 bits in each channel, 16 with transparency. The server turns it
/// upright, removes its metadata and makes variants of 1,280 and 320 px width. Scope `auctions:write`. Errors: 409
/// `auction_closed`, `busy`, `taken` (another item has this image); 413 `payload_too_large`; 422 `invalid`.
#[utoipa::path(
    put, path = "/items/{uuid}/images/{image}", tag = "images",
    request_body(content = Vec<u8>, content_type = "image/*"),
    params(("uuid" = Uuid, Path), ("image" = Uuid, Path), ImageQuery),
    responses(
        (status = 200, description = "The image.", body = ImageView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn add(
    State(platform): State<Platform>,
    Path((item, image)): Path<(Uuid, Uuid)>,
    request: QueryRequest<ImageQuery>,
    body: Body,
) -> Result<Response, ApiError> {
    let QueryRequest { caller, query } = request;
    let content = kit_http::upload_body::read(body, caller.id.as_u128(), IMAGE_BYTES_MAX).await?;
    let upload = ImageUpload { uuid: image, file_name: query.file_name, content };
    let image = platform.add_image(&caller, item, upload).await?;
    Ok(response::ok(&ImageView::from(&image)))
}

/// List the images of an item
///
/// In their order. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/items/{uuid}/images", tag = "images",
    params(("uuid" = Uuid, Path)),
    responses((status = 200, description = "The images.", body = ItemImages), (status = 404, body = Problem)),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let (item, auction) = platform.item(&request.caller, uuid).await?;
    let images = platform.images(&request.caller, auction.uuid, &[item.uuid]).await?;
    Ok(response::ok(&ItemImages::of(&images)))
}

/// An order of images.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ImageOrderIn {
    /// UUIDs of all images of the item; the first one leads.
    images: Vec<Uuid>,
}

/// Order the images of an item
///
/// The body names each image once. Scope `auctions:write`. Errors: 409 `auction_closed`; 422 `invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/images/order", tag = "images", request_body = ImageOrderIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The images in their new order.", body = ItemImages),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn order(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ImageOrderIn>,
) -> Result<Response, ApiError> {
    let images = platform.order_images(&post.caller, uuid, post.body.images.clone()).await?;
    Ok(response::ok(&ItemImages::of(&images)))
}

/// Remove an image
///
/// With its variants. Scope `auctions:write`. Errors: 409 `auction_closed`.
#[utoipa::path(
    delete, path = "/images/{uuid}", tag = "images",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 204, description = "No content."), (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn remove(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.remove_image(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Get an image
///
/// `variant` is `full`, `1280` or `320`. Images of DRAFT items and DRAFT auctions need a key with the scope
/// `auctions:read`; all others are public and can be cached for an hour. The content of an image never changes.
#[utoipa::path(
    get, path = "/images/{uuid}/{variant}", tag = "images",
    params(("uuid" = Uuid, Path), ("variant" = String, Path)),
    responses(
        (status = 200, description = "The image.", body = Vec<u8>, content_type = "image/jpeg"),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn content(
    State(platform): State<Platform>,
    Path((uuid, variant)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    if let Some(query) = request.uri().query().filter(|query| !query.is_empty()) {
        return Err(ApiError::invalid_query(query, "is not a parameter of this operation: leave it out"));
    }
    let no_image = || ApiError::from(PlatformError::NotFound("image"));
    let image = Uuid::try_parse(&uuid).map_err(|_| no_image())?;
    let variant = ImageVariant::parse(&variant).ok_or_else(no_image)?;
    let caller = match kit_http::bearer::token(request.headers()) {
        Ok(token) => Some(platform.authenticate(token).await?),
        Err(_) => None,
    };
    let (image, bytes, is_public) = platform.image_content(caller.as_ref(), image, variant).await?;
    Ok(respond(&image, variant, bytes, is_public, request.headers()))
}

fn respond(
    image: &ItemImage,
    variant: ImageVariant,
    bytes: Vec<u8>,
    is_public: bool,
    request_headers: &HeaderMap,
) -> Response {
    let tag = format!("{}-{}", image.uuid, variant.as_str());
    let mut response = if kit_http::if_none_match::matches(request_headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        bytes.into_response()
    };
    let media_type = if variant == ImageVariant::Full { image.media_type.as_str() } else { "image/jpeg" };
    // A lot can become DRAFT again, so a public image is kept for an hour only.
    let cache = if is_public { "public, max-age=3600" } else { "private, no-cache" };
    let headers: [(HeaderName, &str); 4] = [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, cache),
        (CONTENT_DISPOSITION, "inline"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    if let Ok(tag) = HeaderValue::try_from(format!("\"{tag}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}
