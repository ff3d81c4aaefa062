//! Images of items: rows in the database, content in files.

use async_trait::async_trait;
use platform_core::port::{ImageContent, ImageStore, ImageVariant, ItemImage, StoreResult};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{image_number, ms, to_json};

const IMAGE: &str = "SELECT uuid, item, auction, customer, position, file_name, media_type, width, height, bytes, created_at_ms, \
     content FROM item_images";

#[async_trait]
impl ImageStore for SqliteStore {
    async fn add_image(
        &self,
        image: ItemImage,
        contents: Vec<ImageContent>,
        images_max: usize,
    ) -> StoreResult<Option<ItemImage>> {
        // The files are written first, so that an image in the database always has its content. If the item has
        // `images_max` images, the files are removed again.
        let content = image.content;
        self.images.write(content, contents).await?;
        let added = self.write(move |db| add(db, image, images_max)).await;
        if matches!(added, Ok(None)) {
            self.images.remove(content).await?;
        }
        added
    }

    async fn image(&self, uuid: Uuid) -> StoreResult<Option<ItemImage>> {
        self.read(move |db| rows::one(db, &format!("{IMAGE} WHERE uuid = ?1"), [uuid.as_bytes()], image)).await
    }

    async fn images(&self, items: &[Uuid]) -> StoreResult<Vec<ItemImage>> {
        let items: Vec<String> = items.iter().map(|item| item.simple().to_string().to_uppercase()).collect();
        let items = to_json(&items)?;
        let select = format!("{IMAGE} WHERE item IN (SELECT unhex(value) FROM json_each(?1)) ORDER BY item, position");
        self.read(move |db| rows::list(db, &select, [&items], image)).await
    }

    async fn image_content(&self, content: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>> {
        self.images.read(content, variant).await
    }

    async fn order_images(&self, item: Uuid, order: Vec<Uuid>) -> StoreResult<bool> {
        self.write(move |db| {
            let select = "SELECT uuid FROM item_images WHERE item = ?1 ORDER BY uuid";
            let stored = rows::list(db, select, [item.as_bytes()], |row| rows::uuid(row, 0))?;
            let mut requested = order.clone();
            requested.sort_unstable();
            if requested != stored {
                return Ok(false);
            }
            for (position, image) in (0_i64..).zip(&order) {
                let update = "UPDATE item_images SET position = ?2 WHERE uuid = ?1";
                rows::execute(db, update, (image.as_bytes(), position))?;
            }
            Ok(true)
        })
        .await
    }

    async fn remove_image(&self, uuid: Uuid) -> StoreResult<bool> {
        let Some((content, is_used)) = self.write(move |db| remove(db, uuid)).await? else { return Ok(false) };
        if !is_used {
            // No image can share this content any more, because a copy requires an image with the content.
            self.images.remove(content).await?;
        }
        Ok(true)
    }
}

/// Removes the row. Returns its content, and whether another image has the same content.
fn remove(db: &Connection, uuid: Uuid) -> SqlResult<Option<(Uuid, bool)>> {
    let delete = "DELETE FROM item_images WHERE uuid = ?1 RETURNING content";
    let Some(content) = rows::one(db, delete, [uuid.as_bytes()], |row| rows::uuid(row, 0))? else { return Ok(None) };
    let other = "SELECT 1 FROM item_images WHERE content = ?1 LIMIT 1";
    let is_used = rows::one(db, other, [content.as_bytes()], |_| Ok(()))?.is_some();
    Ok(Some((content, is_used)))
}

/// Inserts images of new items that share the content of existing images.
pub(super) fn insert_copies(db: &Connection, images: &[ItemImage]) -> SqlResult<()> {
    let has_content = "SELECT 1 FROM item_images WHERE content = ?1 LIMIT 1";
    for image in images {
        if rows::one(db, has_content, [image.content.as_bytes()], |_| Ok(()))?.is_some() {
            insert(db, image)?;
        }
    }
    Ok(())
}

fn add(db: &Connection, image: ItemImage, images_max: usize) -> SqlResult<Option<ItemImage>> {
    let select = "SELECT count(*), coalesce(max(position) + 1, 0) FROM item_images WHERE item = ?1";
    let found = rows::one(db, select, [image.item.as_bytes()], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let (count, position) = found.unwrap_or_default();
    if count >= rows::limit(images_max) {
        return Ok(None);
    }
    let image = ItemImage { position, ..image };
    insert(db, &image)?;
    Ok(Some(image))
}

fn insert(db: &Connection, image: &ItemImage) -> SqlResult<()> {
    let insert = "INSERT INTO item_images (uuid, item, auction, customer, position, file_name, media_type, width, height, \
         bytes, created_at_ms, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let values = (
        image.uuid.as_bytes(),
        image.item.as_bytes(),
        image.auction.as_bytes(),
        image.customer.as_bytes(),
        image.position,
        &image.file_name,
        &image.media_type,
        image.width,
        image.height,
        i64::try_from(image.bytes).unwrap_or(i64::MAX),
        ms(image.created_at),
        image.content.as_bytes(),
    );
    rows::execute(db, insert, values)?;
    Ok(())
}

fn image(row: &Row<'_>) -> SqlResult<ItemImage> {
    Ok(ItemImage {
        uuid: rows::uuid(row, 0)?,
        item: rows::uuid(row, 1)?,
        auction: rows::uuid(row, 2)?,
        customer: rows::uuid(row, 3)?,
        position: row.get(4)?,
        file_name: row.get(5)?,
        media_type: row.get(6)?,
        width: image_number(row.get(7)?)?,
        height: image_number(row.get(8)?)?,
        bytes: image_number(row.get(9)?)?,
        created_at: rows::time(row, 10)?,
        content: rows::uuid(row, 11)?,
    })
}
