//! API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{ApiKey, ApiKeyStore, IdempotentAnswer, Page, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, idempotency};
use crate::codec::{ms, to_json};

pub(super) const API_KEY: &str = "SELECT uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, \
     last_used_at_ms, revoked_at_ms FROM api_keys";

#[async_trait]
impl ApiKeyStore for SqliteStore {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("{API_KEY} WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], api_key)).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        self.read(move |db| find_by_hash(db, hash)).await
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        self.read(move |db| list(db, customer, page)).await
    }

    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |db| touch(db, uuid, at)).await
    }
}

/// False when the key does not exist or was revoked before.
pub(super) fn revoke(db: &Connection, uuid: Uuid, at: Timestamp) -> SqlResult<bool> {
    let revoke = "UPDATE api_keys SET revoked_at_ms = ?2 WHERE uuid = ?1 AND revoked_at_ms IS NULL";
    Ok(rows::execute(db, revoke, (uuid.as_bytes(), ms(at)))? == 1)
}

fn list(db: &Connection, customer: Option<Uuid>, page: Page<Uuid>) -> SqlResult<Vec<ApiKey>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = format!("{API_KEY} WHERE uuid > ?1 ORDER BY uuid LIMIT ?2");
            rows::list(db, &select, (after.as_bytes(), limit), api_key)
        }
        Some(customer) => {
            let select = format!("{API_KEY} WHERE customer = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3");
            rows::list(db, &select, (customer.as_bytes(), after.as_bytes(), limit), api_key)
        }
    }
}

/// An error also rolls back the answer.
pub(super) fn create(db: &Connection, key: &ApiKey, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO api_keys (uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms, \
         revoked_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = params![
        key.uuid.as_bytes(),
        key.hash,
        key.customer.as_ref().map(Uuid::as_bytes),
        key.name,
        to_json(&key.scopes)?,
        ms(key.created_at),
        key.expires_at.map(ms),
        key.last_used_at.map(ms),
        key.revoked_at.map(ms)
    ];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("key"))
}

pub(super) fn find_by_hash(db: &Connection, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{API_KEY} WHERE hash = ?1"), [hash], api_key)
}

pub(super) fn api_key(row: &Row<'_>) -> SqlResult<ApiKey> {
    Ok(ApiKey {
        uuid: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        customer: row.get::<_, Option<[u8; 16]>>(2)?.map(Uuid::from_bytes),
        name: row.get(3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        revoked_at: rows::optional_time(row, 8)?,
    })
}

pub(super) fn touch(db: &Connection, uuid: Uuid, at: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE api_keys SET last_used_at_ms = ?2 WHERE uuid = ?1";
    rows::execute(db, touch, (uuid.as_bytes(), ms(at))).map(drop)
}
