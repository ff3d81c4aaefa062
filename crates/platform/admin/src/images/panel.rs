//! The images on the page of a lot.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::form_field::FormField;
use platform_core::images::{IMAGE_BYTES_MAX, ImageVariant, ItemImage};
use platform_core::{PlatformError, Scope};
use platform_rules::Item;

use super::files::FileRow;
use super::path;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::Session;

/// Side of the square that a thumbnail fits into, in pixels.
const THUMBNAIL_PX: u32 = 160;

/// The images of a lot with what may be done with them.
#[derive(Template)]
#[template(path = "images/panel.html")]
pub(crate) struct Panel {
    base: String,
    /// Path of the lot below the base.
    lot_path: String,
    lot_number: String,
    images: Vec<Picture>,
    /// Address of the picture in the catalogue, while no image is uploaded.
    given: Option<String>,
    count: String,
    field: FormField,
    may_write: bool,
    /// What became of the files that were just uploaded, if one was refused.
    files: Vec<FileRow>,
    fault: String,
}

impl HtmlSafe for Panel {}

struct Picture {
    full: String,
    small: String,
    name: String,
    size: String,
    /// Size on the page, in pixels.
    width: u32,
    height: u32,
    /// Path of what is done with it.
    path: String,
    is_first: bool,
}

/// The result of an upload that was refused in part.
#[derive(Default)]
pub(crate) struct Uploaded {
    pub(super) files: Vec<FileRow>,
    pub(super) fault: String,
}

impl Panel {
    /// The panel of an item.
    pub(crate) async fn load(
        session: &Session,
        sale: &Sale,
        item: &Item,
        uploaded: Uploaded,
    ) -> Result<Self, PlatformError> {
        let images = session.platform().images(&session.caller, item.auction, &[item.uuid]).await?;
        let lot_path = sale.path(&format!("/lots/{}", item.uuid));
        let base = session.admin.site().base.to_string();
        Ok(Self {
            lot_number: item.lot_number.clone(),
            given: item.image_url.clone().filter(|_| images.is_empty()),
            count: labels::count(images.len() as u64, "image", "images"),
            images: (0..).zip(&images).map(|(place, image)| picture(place, image, &base, &lot_path)).collect(),
            field: FormField::file("files", "Add images", "image/jpeg,image/png,image/webp")
                .attribute("multiple", "")
                .hint(format!(
                    "JPEG, PNG or WebP, one or more; each at most {} MiB and 50 megapixels.",
                    IMAGE_BYTES_MAX >> 20
                )),
            may_write: session.may(Scope::AuctionsWrite) && sale.auction.require_open().is_ok(),
            base,
            lot_path,
            files: uploaded.files,
            fault: uploaded.fault,
        })
    }
}

fn picture(place: usize, image: &ItemImage, base: &str, lot_path: &str) -> Picture {
    let longer = image.width.max(image.height).max(1);
    let side = |pixels: u32| (pixels * THUMBNAIL_PX / longer).max(1);
    Picture {
        full: format!("{base}{}", path(image.uuid, ImageVariant::Full)),
        small: format!("{base}{}", path(image.uuid, ImageVariant::Small)),
        name: image.file_name.clone(),
        size: format!("{} × {} px", image.width, image.height),
        width: side(image.width),
        height: side(image.height),
        path: format!("{lot_path}/images/{}", image.uuid),
        is_first: place == 0,
    }
}
