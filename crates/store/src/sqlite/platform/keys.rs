//! Keys of the platform's API, looked after.

use ::platform::port::{ApiKey, Keys, Page, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::Row;
use uuid::Uuid;

use super::Sqlite;
use super::customers::after;
use super::rows::{self, Outcome};
use crate::platform_codec::ms;

/// Columns of a key, as [`key`] reads them.
const COLUMNS: &str = "uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms";

#[async_trait]
impl Keys for Sqlite {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("SELECT {COLUMNS} FROM api_keys WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], key)).await
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        let (customer, after, limit) = (customer.map(Uuid::into_bytes), after(page), rows::limit(page.limit));
        let select = format!(
            "SELECT {COLUMNS} FROM api_keys WHERE (?1 IS NULL OR customer = ?1) AND uuid > ?2 ORDER BY uuid LIMIT ?3"
        );
        self.read(move |db| rows::list(db, &select, (customer, after.as_bytes(), limit), key)).await
    }

    async fn end_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE api_keys SET expires_at_ms = min(coalesce(expires_at_ms, ?2), ?2) WHERE uuid = ?1";
        self.write(move |db| rows::execute(db, update, (uuid.as_bytes(), ms(at))).map(drop)).await
    }
}

fn key(row: &Row<'_>) -> Outcome<ApiKey> {
    Ok(ApiKey {
        uuid: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        customer: row.get::<_, Option<[u8; 16]>>(2)?.map(Uuid::from_bytes),
        name: row.get(3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
    })
}
