//! Keys of the platform's API, looked after.

use ::platform::port::{ApiKey, Keys, Page, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Shared;
use super::customers::after;
use super::rows::{self, Outcome};
use crate::platform_codec::{corrupt, ms};

/// Columns of a key, as [`key`] reads them.
const COLUMNS: &str = "uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms";

#[async_trait]
impl Keys for Shared {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("SELECT {COLUMNS} FROM api_keys WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], key).await?)
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        let select = format!(
            "SELECT {COLUMNS} FROM api_keys WHERE ($1::uuid IS NULL OR customer = $1) AND uuid > $2 \
             ORDER BY uuid LIMIT $3"
        );
        let values: rows::Values<'_> = &[&customer, &after(page), &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, &select, values, key).await?)
    }

    async fn end_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        // `least` passes over null.
        let update = "UPDATE api_keys SET expires_at_ms = least(expires_at_ms, $2) WHERE uuid = $1";
        rows::execute(&self.client().await?, update, &[&uuid, &ms(at)]).await?;
        Ok(())
    }
}

fn key(row: &Row) -> Outcome<ApiKey> {
    Ok(ApiKey {
        uuid: rows::get(row, 0)?,
        hash: rows::get::<&[u8]>(row, 1)?.try_into().map_err(corrupt)?,
        customer: rows::get(row, 2)?,
        name: rows::get(row, 3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
    })
}
