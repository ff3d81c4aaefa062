//! Images of items: rows in the database, content in files.

use async_trait::async_trait;
use platform_core::port::{ImageContent, ImageStore, ImageVariant, ItemImage, StoreResult};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{image_number, ms, to_json};

const IMAGE: &str = "SELECT uuid, item, auction, customer, position, file_name, media_type, width, height, bytes, created_at_ms \
     FROM item_images";

#[async_trait]
impl ImageStore for SqliteStore {
    async fn add_image(
        &self,
        image: ItemImage,
        contents: Vec<ImageContent>,
        images_max: usize,
    ) -> StoreResult<Option<ItemImage>> {
        // The files first: an image in the database always has its content. Without room, they are removed again.
        self.images.write(image.uuid, contents).await?;
        let uuid = image.uuid;
        let added = self.write(move |db| add(db, image, images_max)).await;
        if matches!(added, Ok(None)) {
            self.images.remove(uuid).await?;
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

    async fn image_content(&self, uuid: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>> {
        self.images.read(uuid, variant).await
    }

    async fn order_images(&self, item: Uuid, order: Vec<Uuid>) -> StoreResult<bool> {
        self.write(move |db| {
            let select = "SELECT uuid FROM item_images WHERE item = ?1 ORDER BY uuid";
            let known = rows::list(db, select, [item.as_bytes()], |row| rows::uuid(row, 0))?;
            let mut wanted = order.clone();
            wanted.sort_unstable();
            if wanted != known {
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
        let delete = "DELETE FROM item_images WHERE uuid = ?1";
        let is_removed = self.write(move |db| Ok(rows::execute(db, delete, [uuid.as_bytes()])? == 1)).await?;
        self.images.remove(uuid).await?;
        Ok(is_removed)
    }
}

fn add(db: &Connection, image: ItemImage, images_max: usize) -> SqlResult<Option<ItemImage>> {
    let select = "SELECT count(*), coalesce(max(position) + 1, 0) FROM item_images WHERE item = ?1";
    let found = rows::one(db, select, [image.item.as_bytes()], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let (count, position) = found.unwrap_or_default();
    if count >= rows::limit(images_max) {
        return Ok(None);
    }
    let image = ItemImage { position, ..image };
    let insert = "INSERT INTO item_images (uuid, item, auction, customer, position, file_name, media_type, width, height, \
         bytes, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
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
    );
    rows::execute(db, insert, values)?;
    Ok(Some(image))
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
    })
}
