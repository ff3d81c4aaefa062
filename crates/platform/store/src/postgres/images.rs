//! Images of items, with their content.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{ImageContent, ImageStore, ImageVariant, ItemImage, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::commit::write::column;
use super::rows::{self, SqlError, SqlResult};
use crate::codec::{image_number, ms};

const IMAGE: &str = "SELECT uuid, item, auction, customer, position, file_name, media_type, width, height, bytes, created_at_ms, \
     content FROM item_images";

#[async_trait]
impl ImageStore for PostgresStore {
    async fn add_image(
        &self,
        image: ItemImage,
        contents: Vec<ImageContent>,
        images_max: usize,
    ) -> StoreResult<Option<ItemImage>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(SqlError::from)?;
        // Concurrent additions to the item wait for this lock, so that each image gets a different position.
        let lock = "SELECT 1 FROM items WHERE uuid = $1 FOR NO KEY UPDATE";
        rows::execute(&transaction, lock, &[&image.item]).await?;
        let select = "SELECT count(*), coalesce(max(position) + 1, 0) FROM item_images WHERE item = $1";
        let counted = |row: &Row| Ok((rows::get::<i64>(row, 0)?, rows::get::<i64>(row, 1)?));
        let found = rows::one(&transaction, select, &[&image.item], counted).await?;
        let (count, position) = found.unwrap_or_default();
        if count >= rows::limit(images_max) {
            return Ok(None);
        }
        let image = ItemImage { position, ..image };
        let insert = "INSERT INTO item_images (uuid, item, auction, customer, position, file_name, media_type, width, height, \
             bytes, created_at_ms, content) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let (width, height) = (i64::from(image.width), i64::from(image.height));
        let bytes = i64::try_from(image.bytes).unwrap_or(i64::MAX);
        let file_name = rows::foreign_text(&image.file_name).into_owned();
        let values: rows::Values<'_> = &[
            &image.uuid,
            &image.item,
            &image.auction,
            &image.customer,
            &image.position,
            &file_name,
            &image.media_type,
            &width,
            &height,
            &bytes,
            &ms(image.created_at),
            &image.content,
        ];
        rows::execute(&transaction, insert, values).await?;
        for ImageContent { variant, bytes } in contents {
            let insert = "INSERT INTO image_contents (image, variant, content) VALUES ($1, $2, $3)";
            rows::execute(&transaction, insert, &[&image.content, &variant.as_str(), &bytes]).await?;
        }
        transaction.commit().await.map_err(SqlError::from)?;
        Ok(Some(image))
    }

    async fn image(&self, uuid: Uuid) -> StoreResult<Option<ItemImage>> {
        let select = format!("{IMAGE} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], image).await?)
    }

    async fn images(&self, items: &[Uuid]) -> StoreResult<Vec<ItemImage>> {
        let select = format!("{IMAGE} WHERE item = ANY($1) ORDER BY item, position");
        Ok(rows::list(&self.client().await?, &select, &[&items], image).await?)
    }

    async fn image_content(&self, content: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>> {
        let select = "SELECT content FROM image_contents WHERE image = $1 AND variant = $2";
        let variant = variant.as_str();
        Ok(rows::one(&self.client().await?, select, &[&content, &variant], |row| rows::get(row, 0)).await?)
    }

    async fn order_images(&self, item: Uuid, order: Vec<Uuid>) -> StoreResult<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(SqlError::from)?;
        rows::execute(&transaction, "SELECT 1 FROM items WHERE uuid = $1 FOR NO KEY UPDATE", &[&item]).await?;
        let select = "SELECT uuid FROM item_images WHERE item = $1 ORDER BY uuid";
        let stored: Vec<Uuid> = rows::list(&transaction, select, &[&item], |row| rows::get(row, 0)).await?;
        let mut requested = order.clone();
        requested.sort_unstable();
        if requested != stored {
            return Ok(false);
        }
        let update = "UPDATE item_images SET position = place - 1 \
             FROM unnest($1::uuid[]) WITH ORDINALITY AS placed (image, place) WHERE uuid = image";
        rows::execute(&transaction, update, &[&order]).await?;
        transaction.commit().await.map_err(SqlError::from)?;
        Ok(true)
    }

    async fn remove_image(&self, uuid: Uuid) -> StoreResult<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(SqlError::from)?;
        let delete = "DELETE FROM item_images WHERE uuid = $1 RETURNING content";
        let removed: Option<Uuid> = rows::one(&transaction, delete, &[&uuid], |row| rows::get(row, 0)).await?;
        let Some(content) = removed else { return Ok(false) };
        // The lock waits for transactions that are inserting copies with this content. The next statement finds them.
        let lock = "SELECT 1 FROM image_contents WHERE image = $1 ORDER BY variant FOR UPDATE";
        rows::execute(&transaction, lock, &[&content]).await?;
        let delete = "DELETE FROM image_contents WHERE image = $1 \
             AND NOT EXISTS (SELECT 1 FROM item_images WHERE content = $1)";
        rows::execute(&transaction, delete, &[&content]).await?;
        transaction.commit().await.map_err(SqlError::from)?;
        Ok(true)
    }
}

/// Inserts images of new items that share the content of existing images.
pub(super) async fn insert_copies(db: &Transaction<'_>, images: &[&ItemImage]) -> SqlResult<()> {
    if images.is_empty() {
        return Ok(());
    }
    // The lock keeps the content until this transaction ends: a concurrent removal of its last image can't delete it.
    let insert = "WITH kept AS (SELECT image FROM image_contents WHERE image = ANY($12) AND variant = '320' FOR KEY SHARE) \
         INSERT INTO item_images (uuid, item, auction, customer, position, file_name, media_type, width, height, bytes, \
         created_at_ms, content) SELECT n.* FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], \
         $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[]) \
         AS n (uuid, item, auction, customer, position, file_name, media_type, width, height, bytes, created_at_ms, content) \
         WHERE n.content IN (SELECT image FROM kept)";
    let values: rows::Values<'_> = &[
        &column(images, |image| image.uuid),
        &column(images, |image| image.item),
        &column(images, |image| image.auction),
        &column(images, |image| image.customer),
        &column(images, |image| image.position),
        &column(images, |image| image.file_name.as_str()),
        &column(images, |image| image.media_type.as_str()),
        &column(images, |image| i64::from(image.width)),
        &column(images, |image| i64::from(image.height)),
        &column(images, |image| i64::try_from(image.bytes).unwrap_or(i64::MAX)),
        &column(images, |image| ms(image.created_at)),
        &column(images, |image| image.content),
    ];
    rows::execute(db, insert, values).await?;
    Ok(())
}

fn image(row: &Row) -> SqlResult<ItemImage> {
    Ok(ItemImage {
        uuid: rows::get(row, 0)?,
        item: rows::get(row, 1)?,
        auction: rows::get(row, 2)?,
        customer: rows::get(row, 3)?,
        position: rows::get(row, 4)?,
        file_name: rows::get(row, 5)?,
        media_type: rows::get(row, 6)?,
        width: image_number(rows::get(row, 7)?)?,
        height: image_number(rows::get(row, 8)?)?,
        bytes: image_number(rows::get(row, 9)?)?,
        created_at: rows::time(row, 10)?,
        content: rows::get(row, 11)?,
    })
}
