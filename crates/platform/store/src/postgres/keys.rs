//! API keys after they were made.

use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use platform_core::port::{ApiKey, ApiKeyStore, Page, StoreResult};
use uuid::Uuid;

use super::PostgresStore;
use super::access::{API_KEY, api_key};
use super::customers::{OF_CUSTOMER, after};
use super::rows::{self, SqlResult};
use crate::codec::ms;

#[async_trait]
impl ApiKeyStore for PostgresStore {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        let select = format!("{API_KEY} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], api_key).await?)
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

    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        revoke(&self.client().await?, uuid, at).await?;
        Ok(())
    }
}

/// False when it was revoked before, or there is none.
pub(super) async fn revoke(db: &impl GenericClient, uuid: Uuid, at: Timestamp) -> SqlResult<bool> {
    let revoke = "UPDATE api_keys SET revoked_at_ms = $2 WHERE uuid = $1 AND revoked_at_ms IS NULL";
    Ok(rows::execute(db, revoke, &[&uuid, &ms(at)]).await? == 1)
}
