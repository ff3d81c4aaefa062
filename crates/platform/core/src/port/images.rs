//! Images of items.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::StoreResult;

/// A size in which an image is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageVariant {
    /// As uploaded, upright and without metadata.
    Full,
    /// At most 1,280 px wide.
    Large,
    /// At most 320 px wide.
    Small,
}

impl ImageVariant {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Full, Self::Large, Self::Small];

    /// Stable name in the store and in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Large => "1280",
            Self::Small => "320",
        }
    }

    /// The variant of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.as_str() == name)
    }
}

/// An image of an item, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemImage {
    /// UUID. The content of an image never changes.
    pub uuid: Uuid,
    /// UUID that its content is kept under. The images of copied lots have the content of the originals.
    pub content: Uuid,
    /// The item.
    pub item: Uuid,
    /// The item's auction.
    pub auction: Uuid,
    /// The customer that it belongs to.
    pub customer: Uuid,
    /// Place among the item's images, from 0; the first one leads.
    pub position: i64,
    /// Name of the uploaded file.
    pub file_name: String,
    /// Media type of the full image: `image/jpeg` or `image/png`. The other variants are JPEG.
    pub media_type: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Bytes of the full image.
    pub bytes: u64,
    /// When it was added.
    pub created_at: Timestamp,
}

/// The content of one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageContent {
    /// The variant.
    pub variant: ImageVariant,
    /// The encoded image.
    pub bytes: Vec<u8>,
}

/// Images with their content, which every node reads. On SQLite the content is in files of the data directory's folder
/// `images`, on PostgreSQL in a table.
#[async_trait]
pub trait ImageStore: Send + Sync {
    /// Adds an image after the item's last one, unless the item has `images_max` already; the store sets its position.
    /// None when there was no room.
    async fn add_image(
        &self,
        image: ItemImage,
        contents: Vec<ImageContent>,
        images_max: usize,
    ) -> StoreResult<Option<ItemImage>>;
    /// An image.
    async fn image(&self, uuid: Uuid) -> StoreResult<Option<ItemImage>>;
    /// The images of these items, by item and position.
    async fn images(&self, items: &[Uuid]) -> StoreResult<Vec<ItemImage>>;
    /// A variant of the content with this UUID; none when the last image that has it was removed.
    async fn image_content(&self, content: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>>;
    /// Puts the images of an item into this order. False when these are not exactly the images of the item.
    async fn order_images(&self, item: Uuid, order: Vec<Uuid>) -> StoreResult<bool>;
    /// Removes an image, and its content unless another image has it. False when it does not exist.
    async fn remove_image(&self, uuid: Uuid) -> StoreResult<bool>;
}
