//! Images of lots: uploading, ordering, removing and reading them.
//!
//! An upload is decoded with limits and encoded again, so that no metadata, no other format and nothing active is kept.
//! [`crate::image_decoder`] bounds the memory of decoding. The content of an image never changes, so it can be cached for ever.

mod archive;
mod archived_images;
mod file_names;
mod upload;

use bytes::Bytes;
use contract::{AuctionStatus, ItemStatus};
use platform_rules::Item;
use uuid::Uuid;

pub use crate::image_decoder::{IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX};
pub use crate::port::{ImageVariant, ItemImage};
pub use archive::{ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, ArchivedFile, PackedContent};
pub use file_names::{FileNameProblem, LotIndex, MATCHED_FILES_MAX, MatchedLot};
pub use upload::{ImageFile, SameName, UploadOutcome};

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::steps::input::shown_name;
use crate::{Caller, Platform, Scope};

/// Images of one item, at most.
pub const ITEM_IMAGES_MAX: usize = 50;

/// An uploaded image.
#[derive(Debug, Clone)]
pub struct ImageUpload {
    /// UUID of the image, which its sender makes: an upload that arrives twice adds one image.
    pub uuid: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// The file.
    pub content: Bytes,
}

impl Platform {
    /// Adds an image after the last one of an item. An image of this item with the same UUID is returned unchanged.
    ///
    /// Errors: `not_found`, `auction_closed`, `taken` (another item has an image with this UUID), `invalid` (not a JPEG, PNG or WebP image within the limits; too many
    /// images), `busy` (too many uploads at once).
    pub async fn add_image(&self, caller: &Caller, item: Uuid, upload: ImageUpload) -> PlatformResult<ItemImage> {
        caller.require(Scope::AuctionsWrite)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        auction.require_open()?;
        if let Some(known) = self.known_image(&item, upload.uuid).await? {
            return Ok(known);
        }
        self.config().disk_reserve.check()?;
        let limits = self.image_limits();
        let _waiting = limits.waiting.try_acquire().map_err(|_| PlatformError::Busy)?;
        let decoded = limits.decode(upload.content).await?;
        let decoded = decoded.map_err(|problem| PlatformError::invalid("", problem))?;
        let image = ItemImage {
            uuid: upload.uuid,
            content: self.ids().uuid_v7(),
            item: item.uuid,
            auction: auction.uuid,
            customer: auction.customer,
            position: 0,
            file_name: shown_name(&upload.file_name),
            media_type: decoded.media_type.to_owned(),
            width: decoded.width,
            height: decoded.height,
            bytes: decoded.full_bytes(),
            created_at: self.now(),
        };
        let _storing = limits.storing.lock().await;
        if let Some(known) = self.known_image(&item, image.uuid).await? {
            return Ok(known);
        }
        let added = self.store().add_image(image, decoded.contents, ITEM_IMAGES_MAX).await?;
        added.ok_or_else(|| {
            PlatformError::invalid("", format!("the item has {ITEM_IMAGES_MAX} images, which is the limit: remove one"))
        })
    }

    async fn known_image(&self, item: &Item, uuid: Uuid) -> PlatformResult<Option<ItemImage>> {
        match self.store().image(uuid).await? {
            Some(known) if known.item == item.uuid => Ok(Some(known)),
            Some(_) => Err(PlatformError::Taken("uuid")),
            None => Ok(None),
        }
    }

    /// The images of items of one auction, by item and position. Items of other auctions are left out.
    pub async fn images(&self, caller: &Caller, auction: Uuid, items: &[Uuid]) -> PlatformResult<Vec<ItemImage>> {
        let auction = self.auction(caller, auction).await?;
        let mut images = self.store().images(items).await?;
        images.retain(|image| image.auction == auction.uuid);
        Ok(images)
    }

    /// Puts the images of an item into an order, which names each of them once.
    ///
    /// Errors: `not_found`, `auction_closed`, `invalid`.
    pub async fn order_images(&self, caller: &Caller, item: Uuid, order: Vec<Uuid>) -> PlatformResult<Vec<ItemImage>> {
        caller.require(Scope::AuctionsWrite)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        auction.require_open()?;
        if !self.store().order_images(item.uuid, order).await? {
            return Err(PlatformError::invalid("/images", "must name each image of the item once: read them again"));
        }
        Ok(self.store().images(&[item.uuid]).await?)
    }

    /// Removes an image.
    ///
    /// Errors: `not_found`, `auction_closed`.
    pub async fn remove_image(&self, caller: &Caller, image: Uuid) -> PlatformResult<()> {
        caller.require(Scope::AuctionsWrite)?;
        let image = visible(caller, self.store().image(image).await?, "image", |image| image.customer)?;
        let (_, auction) = self.visible_item(caller, image.item).await?;
        auction.require_open()?;
        if self.store().remove_image(image.uuid).await? { Ok(()) } else { Err(PlatformError::NotFound("image")) }
    }

    /// A variant of an image, and whether callers without a key may see it: everybody sees the images of lots that are
    /// announced or on view. Those of DRAFT lots and DRAFT auctions need a caller who sees the auction.
    ///
    /// Errors: `not_found`, also for an image that the caller may not see.
    pub async fn image_content(
        &self,
        caller: Option<&Caller>,
        image: Uuid,
        variant: ImageVariant,
    ) -> PlatformResult<(ItemImage, Vec<u8>, bool)> {
        let image = self.store().image(image).await?.ok_or(PlatformError::NotFound("image"))?;
        let found = self.store().item_with_auction(image.item).await?;
        let (item, auction) = found.ok_or(PlatformError::NotFound("image"))?;
        let is_public = item.status != ItemStatus::Draft && auction.status != AuctionStatus::Draft;
        if !is_public {
            let caller = caller.ok_or(PlatformError::NotFound("image"))?;
            caller.require_one_of(&[Scope::AuctionsRead, Scope::AuctionsWrite, Scope::RingWrite])?;
            visible(caller, Some(&image), "image", |image| image.customer)?;
        }
        let content = self.store().image_content(image.content, variant).await?;
        Ok((image, content.ok_or(PlatformError::NotFound("image"))?, is_public))
    }

    /// The lots of an auction, to match the names of image files to them.
    ///
    /// Errors: `not_found`.
    pub async fn lots_for_images(&self, caller: &Caller, auction: Uuid) -> PlatformResult<LotIndex> {
        caller.require(Scope::AuctionsWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        Ok(LotIndex::new(self.lot_numbers(auction.uuid).await?))
    }
}
