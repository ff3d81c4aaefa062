//! Uploaded catalogues: rows in the database, content in files.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{CatalogueUpload, CatalogueUploadStore, StoreResult, UploadPartResult, UploadQuota};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, from_json, ms, to_json};

const UPLOAD: &str = "SELECT uuid, user_uuid, customer, auction, file_name, sheet, bytes, is_complete, expires_at_ms \
     FROM catalogue_uploads";

#[async_trait]
impl CatalogueUploadStore for SqliteStore {
    async fn begin_upload(&self, upload: CatalogueUpload, user_files_max: usize) -> StoreResult<bool> {
        let sheet = upload.sheet.as_ref().map(to_json).transpose()?;
        let insert = "INSERT INTO catalogue_uploads \
             (uuid, user_uuid, customer, auction, file_name, sheet, bytes, is_complete, expires_at_ms) \
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7 \
             WHERE (SELECT count(*) FROM catalogue_uploads WHERE user_uuid = ?2) < ?8";
        self.write(move |db| {
            let values = params![
                upload.uuid.as_bytes(),
                upload.user.as_bytes(),
                upload.customer.as_bytes(),
                upload.auction.as_bytes(),
                upload.file_name,
                sheet,
                ms(upload.expires_at),
                rows::limit(user_files_max),
            ];
            Ok(rows::execute(db, insert, values)? == 1)
        })
        .await
    }

    async fn add_upload_part(
        &self,
        uuid: Uuid,
        part: Vec<u8>,
        quota: UploadQuota,
        expires_at: Timestamp,
    ) -> StoreResult<UploadPartResult> {
        let bytes = part.len() as u64;
        match self.write(move |db| reserve(db, uuid, bytes, quota, expires_at)).await? {
            Ok(offset_bytes) => self.uploads.write(uuid, offset_bytes, part).await.map(|()| UploadPartResult::Added),
            Err(refusal) => Ok(refusal),
        }
    }

    async fn complete_upload(&self, uuid: Uuid, expires_at: Timestamp) -> StoreResult<bool> {
        self.uploads.synchronise(uuid).await?;
        let update = "UPDATE catalogue_uploads SET is_complete = 1, expires_at_ms = ?2 WHERE uuid = ?1";
        self.write(move |db| Ok(rows::execute(db, update, (uuid.as_bytes(), ms(expires_at)))? == 1)).await
    }

    async fn upload(&self, uuid: Uuid) -> StoreResult<Option<CatalogueUpload>> {
        self.read(move |db| rows::one(db, &format!("{UPLOAD} WHERE uuid = ?1"), [uuid.as_bytes()], upload)).await
    }

    async fn upload_part(&self, uuid: Uuid, number: u32) -> StoreResult<Option<Vec<u8>>> {
        self.uploads.read(uuid, number).await
    }

    async fn remove_upload(&self, uuid: Uuid) -> StoreResult<()> {
        self.uploads.remove(uuid).await?;
        let delete = "DELETE FROM catalogue_uploads WHERE uuid = ?1";
        self.write(move |db| rows::execute(db, delete, [uuid.as_bytes()]).map(drop)).await
    }

    async fn remove_first_upload(&self, user: Uuid) -> StoreResult<bool> {
        let select = "SELECT uuid FROM catalogue_uploads WHERE user_uuid = ?1 AND is_complete = 1 \
             ORDER BY expires_at_ms, uuid LIMIT 1";
        let first = self.read(move |db| rows::one(db, select, [user.as_bytes()], |row| rows::uuid(row, 0))).await?;
        let Some(first) = first else { return Ok(false) };
        self.remove_upload(first).await?;
        Ok(true)
    }

    async fn remove_expired_uploads(&self, now: Timestamp, max: usize) -> StoreResult<usize> {
        let select = "SELECT uuid FROM catalogue_uploads WHERE expires_at_ms <= ?1 ORDER BY expires_at_ms LIMIT ?2";
        let values = (ms(now), rows::limit(max));
        let expired = self.read(move |db| rows::list(db, select, values, |row| rows::uuid(row, 0))).await?;
        for uuid in &expired {
            self.remove_upload(*uuid).await?;
        }
        Ok(expired.len())
    }
}

impl SqliteStore {
    /// Removes files without an upload, and the permissions of other users.
    pub(super) async fn tidy_uploads(&self) -> StoreResult<()> {
        let files = self.uploads.all().await?;
        if files.is_empty() {
            return Ok(());
        }
        let select = "SELECT uuid FROM catalogue_uploads";
        let rows = self.read(move |db| rows::list(db, select, [], |row| rows::uuid(row, 0))).await?;
        self.uploads.remove_others(files, &rows.into_iter().collect()).await
    }
}

/// Reserves the bytes of a part. Returns the offset of the part in the file.
fn reserve(
    db: &Connection,
    uuid: Uuid,
    bytes: u64,
    quota: UploadQuota,
    expires_at: Timestamp,
) -> SqlResult<Result<u64, UploadPartResult>> {
    let select = "SELECT u.bytes, sum(a.bytes), \
         sum(a.bytes) FILTER (WHERE a.user_uuid = u.user_uuid), sum(a.bytes) FILTER (WHERE a.customer = u.customer) \
         FROM catalogue_uploads u, catalogue_uploads a WHERE u.uuid = ?1 AND NOT u.is_complete GROUP BY u.uuid";
    let sums = |row: &Row<'_>| -> SqlResult<[i64; 4]> { Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]) };
    let Some(sums) = rows::one(db, select, [uuid.as_bytes()], sums)? else { return Ok(Err(UploadPartResult::Gone)) };
    let [own, all, of_user, of_customer] = sums.map(i64::unsigned_abs);
    if let Some(refusal) = quota.refusal(bytes, [all, of_user, of_customer]) {
        return Ok(Err(refusal));
    }
    let update = "UPDATE catalogue_uploads SET bytes = bytes + ?2, expires_at_ms = ?3 WHERE uuid = ?1";
    rows::execute(db, update, (uuid.as_bytes(), i64::try_from(bytes).unwrap_or(i64::MAX), ms(expires_at)))?;
    Ok(Ok(own))
}

fn upload(row: &Row<'_>) -> SqlResult<CatalogueUpload> {
    let sheet: Option<String> = row.get(5)?;
    Ok(CatalogueUpload {
        uuid: rows::uuid(row, 0)?,
        user: rows::uuid(row, 1)?,
        customer: rows::uuid(row, 2)?,
        auction: rows::uuid(row, 3)?,
        file_name: row.get(4)?,
        sheet: sheet.map(|text| from_json(&text)).transpose()?,
        bytes: u64::try_from(row.get::<_, i64>(6)?).map_err(corrupt)?,
        is_complete: row.get(7)?,
        expires_at: rows::time(row, 8)?,
    })
}
