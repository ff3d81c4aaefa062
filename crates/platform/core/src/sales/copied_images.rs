//! Images of copied items.

use jiff::Timestamp;
use platform_rules::Item;
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::ItemImage;

/// Items whose images are read at once.
const ITEMS_READ_MAX: usize = 250;

impl Platform {
    /// The uploaded images of items for their copies, in their order: pairs of an item and its copy.
    pub(crate) async fn copied_images(
        &self,
        copies: &[(Uuid, Item)],
        created_at: Timestamp,
    ) -> PlatformResult<Vec<ItemImage>> {
        let mut copied = Vec::new();
        for copies in copies.chunks(ITEMS_READ_MAX) {
            let items: Vec<Uuid> = copies.iter().map(|(item, _)| *item).collect();
            for image in self.store().images(&items).await? {
                for (_, copy) in copies.iter().filter(|(item, _)| *item == image.item) {
                    let (uuid, item) = (self.ids().uuid_v7(), copy.uuid);
                    let (auction, customer) = (copy.auction, copy.customer);
                    copied.push(ItemImage { uuid, item, auction, customer, created_at, ..image.clone() });
                }
            }
        }
        Ok(copied)
    }
}
