//! API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::Connection;
use platform_core::port::{ApiKey, ApiKeyStore, IdempotentAnswer, Page, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::customers::OF_CUSTOMER;
use super::rows::{self, SqlResult, after};
use super::{PostgresStore, idempotency};
use crate::codec::{corrupt, ms, to_json};

pub(super) const API_KEY: &str = "SELECT uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, \
     last_used_at_ms, revoked_at_ms FROM api_keys";

#[async_trait]
impl ApiKeyStore for PostgresStore {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("{API_KEY} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], api_key).await?)
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        Ok(find_by_hash(&self.client().await?, hash).await?)
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        let client = self.client().await?;
        let (after, limit) = (after(page), rows::limit(page.limit));
        let found = match customer {
            None => {
                let select = format!("{API_KEY} WHERE uuid > $1 ORDER BY uuid LIMIT $2");
                rows::list(&client, &select, &[&after, &limit], api_key).await
            }
            Some(customer) => {
                let select = format!("{API_KEY} {OF_CUSTOMER}");
                rows::list(&client, &select, &[&customer, &after, &limit], api_key).await
            }
        };
        Ok(found?)
    }

    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        Ok(touch(&self.client().await?, uuid, at).await?)
    }
}

/// False when the key does not exist or was revoked before.
pub(super) async fn revoke(db: &impl Connection, uuid: Uuid, at: Timestamp) -> SqlResult<bool> {
    let revoke = "UPDATE api_keys SET revoked_at_ms = $2 WHERE uuid = $1 AND revoked_at_ms IS NULL";
    Ok(rows::execute(db, revoke, &[&uuid, &ms(at)]).await? == 1)
}

/// An error also rolls back the answer.
pub(super) async fn create(db: &impl Connection, key: &ApiKey, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO api_keys (uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms, \
         revoked_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values: rows::Values<'_> = &[
        &key.uuid,
        &key.hash.as_slice(),
        &key.customer,
        &key.name,
        &to_json(&key.scopes)?,
        &ms(key.created_at),
        &key.expires_at.map(ms),
        &key.last_used_at.map(ms),
        &key.revoked_at.map(ms),
    ];
    rows::execute(db, insert, values).await.map(drop).map_err(|error| error.or_taken("key"))
}

pub(super) async fn find_by_hash(db: &impl Connection, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{API_KEY} WHERE hash = $1"), &[&hash.as_slice()], api_key).await
}

pub(super) fn api_key(row: &Row) -> SqlResult<ApiKey> {
    Ok(ApiKey {
        uuid: rows::get(row, 0)?,
        hash: rows::get::<&[u8]>(row, 1)?.try_into().map_err(corrupt)?,
        customer: rows::get(row, 2)?,
        name: rows::get(row, 3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        revoked_at: rows::optional_time(row, 8)?,
    })
}

pub(super) async fn touch(db: &impl Connection, uuid: Uuid, at: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE api_keys SET last_used_at_ms = $2 WHERE uuid = $1";
    rows::execute(db, touch, &[&uuid, &ms(at)]).await.map(drop)
}
