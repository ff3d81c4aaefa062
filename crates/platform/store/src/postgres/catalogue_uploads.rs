//! Uploaded catalogues, with their content in parts.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::catalogue::workbook::PART_BYTES;
use platform_core::port::{CatalogueUpload, CatalogueUploadStore, StoreResult, UploadPartResult, UploadQuota};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlError, SqlResult};
use crate::codec::{from_json, ms, to_json};

const UPLOAD: &str = "SELECT uuid, user_uuid, customer, auction, file_name, sheet, bytes, is_complete, expires_at_ms \
     FROM catalogue_uploads";

#[async_trait]
impl CatalogueUploadStore for PostgresStore {
    async fn begin_upload(&self, upload: CatalogueUpload, user_files_max: usize) -> StoreResult<bool> {
        let insert = "INSERT INTO catalogue_uploads \
             (uuid, user_uuid, customer, auction, file_name, sheet, bytes, is_complete, expires_at_ms) \
             SELECT $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::text, $6::text, 0, false, $7::bigint \
             WHERE (SELECT count(*) FROM catalogue_uploads WHERE user_uuid = $2) < $8";
        let sheet = upload.sheet.as_ref().map(to_json).transpose()?;
        let values: rows::Values<'_> = &[
            &upload.uuid,
            &upload.user,
            &upload.customer,
            &upload.auction,
            &rows::foreign_text(&upload.file_name).into_owned(),
            &sheet,
            &ms(upload.expires_at),
            &rows::limit(user_files_max),
        ];
        Ok(rows::execute(&self.client().await?, insert, values).await? == 1)
    }

    async fn add_upload_part(
        &self,
        uuid: Uuid,
        part: Vec<u8>,
        quota: UploadQuota,
        expires_at: Timestamp,
    ) -> StoreResult<UploadPartResult> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(SqlError::from)?;
        // A concurrent removal of the upload waits for this lock.
        let select =
            "SELECT bytes, user_uuid, customer FROM catalogue_uploads WHERE uuid = $1 AND NOT is_complete FOR UPDATE";
        let found = |row: &Row| Ok((rows::get::<i64>(row, 0)?, rows::get::<Uuid>(row, 1)?, rows::get::<Uuid>(row, 2)?));
        let Some((own, user, customer)) = rows::one(&transaction, select, &[&uuid], found).await? else {
            return Ok(UploadPartResult::Gone);
        };
        let select = "SELECT coalesce(sum(bytes), 0)::bigint, \
             coalesce(sum(bytes) FILTER (WHERE user_uuid = $1), 0)::bigint, \
             coalesce(sum(bytes) FILTER (WHERE customer = $2), 0)::bigint FROM catalogue_uploads";
        let sums = |row: &Row| Ok([rows::count(row, 0)?, rows::count(row, 1)?, rows::count(row, 2)?]);
        let sums = rows::one(&transaction, select, &[&user, &customer], sums).await?.unwrap_or_default();
        if let Some(refusal) = quota.refusal(part.len() as u64, sums) {
            return Ok(refusal);
        }
        let part_bytes = i64::try_from(PART_BYTES).unwrap_or(i64::MAX);
        let insert = "INSERT INTO catalogue_upload_parts (upload, number, content) VALUES ($1, $2, $3)";
        rows::execute(&transaction, insert, &[&uuid, &(own / part_bytes), &part]).await?;
        let update = "UPDATE catalogue_uploads SET bytes = bytes + $2, expires_at_ms = $3 WHERE uuid = $1";
        let bytes = i64::try_from(part.len()).unwrap_or(i64::MAX);
        rows::execute(&transaction, update, &[&uuid, &bytes, &ms(expires_at)]).await?;
        transaction.commit().await.map_err(SqlError::from)?;
        Ok(UploadPartResult::Added)
    }

    async fn complete_upload(&self, uuid: Uuid, expires_at: Timestamp) -> StoreResult<bool> {
        let update = "UPDATE catalogue_uploads SET is_complete = true, expires_at_ms = $2 WHERE uuid = $1";
        Ok(rows::execute(&self.client().await?, update, &[&uuid, &ms(expires_at)]).await? == 1)
    }

    async fn upload(&self, uuid: Uuid) -> StoreResult<Option<CatalogueUpload>> {
        let select = format!("{UPLOAD} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], upload).await?)
    }

    async fn upload_part(&self, uuid: Uuid, number: u32) -> StoreResult<Option<Vec<u8>>> {
        let select = "SELECT content FROM catalogue_upload_parts WHERE upload = $1 AND number = $2";
        let number = i64::from(number);
        Ok(rows::one(&self.client().await?, select, &[&uuid, &number], |row| rows::get(row, 0)).await?)
    }

    async fn remove_upload(&self, uuid: Uuid) -> StoreResult<()> {
        let delete = "DELETE FROM catalogue_uploads WHERE uuid = $1";
        rows::execute(&self.client().await?, delete, &[&uuid]).await?;
        Ok(())
    }

    async fn remove_first_upload(&self, user: Uuid) -> StoreResult<bool> {
        let delete = "DELETE FROM catalogue_uploads WHERE uuid = (SELECT uuid FROM catalogue_uploads \
             WHERE user_uuid = $1 AND is_complete ORDER BY expires_at_ms, uuid LIMIT 1)";
        Ok(rows::execute(&self.client().await?, delete, &[&user]).await? == 1)
    }

    async fn remove_expired_uploads(&self, now: Timestamp, max: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM catalogue_uploads WHERE uuid IN (SELECT uuid FROM catalogue_uploads \
             WHERE expires_at_ms <= $1 ORDER BY expires_at_ms LIMIT $2)";
        let deleted = rows::execute(&self.client().await?, delete, &[&ms(now), &rows::limit(max)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

fn upload(row: &Row) -> SqlResult<CatalogueUpload> {
    let sheet: Option<&str> = rows::get(row, 5)?;
    Ok(CatalogueUpload {
        uuid: rows::get(row, 0)?,
        user: rows::get(row, 1)?,
        customer: rows::get(row, 2)?,
        auction: rows::get(row, 3)?,
        file_name: rows::get(row, 4)?,
        sheet: sheet.map(from_json).transpose()?,
        bytes: rows::count(row, 6)?,
        is_complete: rows::get(row, 7)?,
        expires_at: rows::time(row, 8)?,
    })
}
