//! API keys after they were made.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{ApiKey, ApiKeyStore, Page, StoreResult};
use rusqlite::Connection;
use uuid::Uuid;

use super::SqliteStore;
use super::access::{API_KEY, api_key};
use super::customers::after;
use super::rows::{self, SqlResult};
use crate::codec::ms;

#[async_trait]
impl ApiKeyStore for SqliteStore {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("{API_KEY} WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], api_key)).await
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        self.read(move |db| list(db, customer, page)).await
    }

    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |db| revoke(db, uuid, at).map(drop)).await
    }
}

/// False when it was revoked before, or there is none.
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
