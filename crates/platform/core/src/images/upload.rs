//! Uploads of a person: a file is recognised when the lot has it already, and may replace the one of the same name.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{ImageUpload, ItemImage, file_names};
use crate::error::PlatformResult;
use crate::steps::input::shown_name;
use crate::{Caller, Platform, Scope};

/// Tries to put an image in its place while another node changes the images of the lot.
const PLACE_TRIES_MAX: usize = 4;

/// A file that a person chose.
#[derive(Debug, Clone)]
pub struct ImageFile {
    /// Name of the file.
    pub name: String,
    /// The file.
    pub content: Bytes,
}

/// What an upload does with an image of the lot that has the same file name and another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameName {
    /// It stays, and the new image is added after the last one. Phones give every picture the same name.
    Keep,
    /// The new image takes its place. Without one, the new image is placed by the order of the file names.
    Replace,
}

/// What an upload did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// The lot has one image more.
    Added,
    /// The image took the place of one with the same file name.
    Replaced,
    /// The lot has this image already; nothing was changed.
    Known,
}

impl Platform {
    /// Adds an image to an item, unless the item has the same file already.
    ///
    /// Errors: those of [`Platform::add_image`].
    pub async fn upload_image(
        &self,
        caller: &Caller,
        item: Uuid,
        file: ImageFile,
        same_name: SameName,
    ) -> PlatformResult<(ItemImage, UploadOutcome)> {
        caller.require(Scope::AuctionsWrite)?;
        let uuid = uuid_of(item, &file.content);
        let known = self.store().image(uuid).await?.filter(|known| known.item == item);
        let name = shown_name(&file.name);
        let upload = ImageUpload { uuid, file_name: file.name, content: file.content };
        let image = self.add_image(caller, item, upload).await?;
        if known.is_some() {
            return Ok((image, UploadOutcome::Known));
        }
        if same_name == SameName::Keep {
            return Ok((image, UploadOutcome::Added));
        }
        self.place_image(item, &image, &name).await
    }

    /// Puts a new image in the place of the ones with its file name, which are removed, or else by the order of the
    /// names. If the process ends in between, the item has both.
    async fn place_image(
        &self,
        item: Uuid,
        image: &ItemImage,
        name: &str,
    ) -> PlatformResult<(ItemImage, UploadOutcome)> {
        let _storing = self.image_limits().storing.lock().await;
        let lot_number = self.store().item(item).await?.map(|item| item.lot_number).unwrap_or_default();
        let mut replaced = Vec::new();
        for _ in 0..PLACE_TRIES_MAX {
            let others: Vec<ItemImage> =
                self.store().images(&[item]).await?.into_iter().filter(|other| other.uuid != image.uuid).collect();
            let is_same = |other: &&ItemImage| other.file_name == name;
            replaced = others.iter().filter(is_same).map(|other| other.uuid).collect();
            let place = others.iter().position(|other| other.file_name == name).unwrap_or_else(|| {
                file_names::place(name, &lot_number, others.iter().map(|other| other.file_name.as_str()))
            });
            let mut order: Vec<Uuid> = others.iter().map(|other| other.uuid).collect();
            order.insert(place, image.uuid);
            if self.store().order_images(item, order).await? {
                break;
            }
        }
        for old in &replaced {
            self.store().remove_image(*old).await?;
        }
        let image = self.store().image(image.uuid).await?.unwrap_or_else(|| image.clone());
        Ok((image, if replaced.is_empty() { UploadOutcome::Added } else { UploadOutcome::Replaced }))
    }
}

/// UUID of a file of an item: the same file has the same one, so that it is recognised.
fn uuid_of(item: Uuid, content: &[u8]) -> Uuid {
    let mut hash = Sha256::new();
    hash.update(b"image of an item");
    hash.update(item.as_bytes());
    hash.update(content);
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(short).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_uuid_for_each_item() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(uuid_of(one, b"picture"), uuid_of(one, b"picture"));
        assert_ne!(uuid_of(one, b"picture"), uuid_of(other, b"picture"));
        assert_ne!(uuid_of(one, b"picture"), uuid_of(one, b"picture 2"));
        assert_eq!(uuid_of(one, b"").get_version_num(), 8);
    }
}
