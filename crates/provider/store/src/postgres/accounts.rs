//! Accounts and their API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Account, ActivityEntry, ApiKey, KeyScope};
use provider_core::port::{AccountStore, Page, StoreError, StoreResult};

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, activity};
use crate::codec::PageQuery;

#[async_trait]
impl AccountStore for PostgresStore {
    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.transaction(&(&account,), |db, &(account,)| Box::pin(create(db, account))).await
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        let client = self.client().await?;
        Ok(find(&client, id).await?)
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        let client = self.client().await?;
        Ok(list(&client, &page).await?)
    }

    async fn update_account(&self, account: Account, entry: ActivityEntry) -> StoreResult<()> {
        self.transaction(&(&account, &entry), |db, &(account, entry)| Box::pin(update(db, account, entry))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn create_api_key(&self, key: ApiKey, entry: ActivityEntry) -> StoreResult<()> {
        self.transaction(&(&key, &entry), |db, &(key, entry)| Box::pin(create_key(db, key, entry))).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        let client = self.client().await?;
        Ok(key_by_hash(&client, hash).await?)
    }

    async fn api_key(&self, account: &str, id: &str) -> StoreResult<Option<ApiKey>> {
        let client = self.client().await?;
        let select = format!("{KEY} WHERE account = $1 AND id = $2");
        Ok(rows::one(&client, &select, &[&account, &id], rows::api_key).await?)
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        let client = self.client().await?;
        Ok(keys(&client, account, &page).await?)
    }

    async fn touch_api_key(&self, id: &str, at: Timestamp, from: Option<String>) -> StoreResult<()> {
        let client = self.client().await?;
        let update = "UPDATE api_keys SET last_used_at = $2, last_used_from = $3 \
             WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
        Ok(rows::write(&client, update, &[&id, &at, &from]).await.map(drop)?)
    }

    async fn expire_api_key(
        &self,
        account: &str,
        id: &str,
        expires_at: Option<Timestamp>,
        entry: ActivityEntry,
    ) -> StoreResult<bool> {
        let changed = self
            .transaction(&(account, id, expires_at, &entry), |db, &(account, id, expires_at, entry)| {
                Box::pin(async move {
                    let update = "UPDATE api_keys SET expires_at = $3 WHERE account = $1 AND id = $2";
                    log_if_changed(db, rows::write(db, update, &[&account, &id, &expires_at]).await?, entry).await
                })
            })
            .await?;
        if changed {
            self.engine.notify().await;
        }
        Ok(changed)
    }

    async fn delete_api_key(&self, account: &str, id: &str, entry: ActivityEntry) -> StoreResult<bool> {
        let deleted = self
            .transaction(&(account, id, &entry), |db, &(account, id, entry)| {
                Box::pin(async move {
                    let delete = "DELETE FROM api_keys WHERE account = $1 AND id = $2";
                    log_if_changed(db, rows::write(db, delete, &[&account, &id]).await?, entry).await
                })
            })
            .await?;
        if deleted {
            self.engine.notify().await;
        }
        Ok(deleted)
    }
}

/// Writes the activity entry if one row was changed. True if so.
async fn log_if_changed(db: &impl Client, changed: u64, entry: &ActivityEntry) -> SqlResult<bool> {
    if changed == 1 {
        activity::insert(db, entry).await?;
    }
    Ok(changed == 1)
}

async fn update(db: &impl Client, account: &Account, entry: &ActivityEntry) -> SqlResult<()> {
    let update = "UPDATE accounts SET name = $2, payload_check = $3, requests_per_second_max = $4, endpoints_max = $5, \
         unknown_event_types = $6 \
         WHERE id = $1";
    let settings = &account.settings;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] = [
        &&*account.id,
        &account.name,
        &settings.payload_check.name(),
        &settings.requests_per_second_max.map(i64::from),
        &settings.endpoints_max.map(i64::from),
        &settings.unknown_event_types.name(),
    ];
    if rows::write(db, update, &values).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    activity::insert(db, entry).await
}

const ACCOUNT: &str = "SELECT id, name, created_at, payload_check, requests_per_second_max, endpoints_max, unknown_event_types \
     FROM accounts";

const KEY: &str = "SELECT id, account, name, hash, created_at, expires_at, last_used_at, last_used_from, scopes \
     FROM api_keys";

pub(super) async fn create(db: &impl Client, account: &Account) -> SqlResult<()> {
    let insert = "INSERT INTO accounts (id, name, created_at, payload_check, requests_per_second_max, endpoints_max, \
         unknown_event_types) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let settings = &account.settings;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] = [
        &&*account.id,
        &account.name,
        &account.created_at,
        &settings.payload_check.name(),
        &settings.requests_per_second_max.map(i64::from),
        &settings.endpoints_max.map(i64::from),
        &settings.unknown_event_types.name(),
    ];
    match rows::write(db, insert, &values).await? {
        0 => Err(StoreError::Taken("id").into()),
        _ => Ok(()),
    }
}

pub(super) async fn find(db: &impl Client, id: &str) -> SqlResult<Option<Account>> {
    rows::one(db, &format!("{ACCOUNT} WHERE id = $1"), &[&id], rows::account).await
}

pub(super) async fn list(db: &impl Client, page: &Page) -> SqlResult<Vec<Account>> {
    // Accounts have no owner, so the first parameter is an empty text.
    let select = format!("{ACCOUNT} WHERE '' = $1");
    rows::list(db, &select, "id", "", &PageQuery::new(page), rows::account).await
}

async fn create_key(db: &impl Client, key: &ApiKey, entry: &ActivityEntry) -> SqlResult<()> {
    if find(db, &key.account).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let insert = "INSERT INTO api_keys (id, account, name, hash, created_at, expires_at, last_used_at, last_used_from, \
         scopes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 9] = [
        &&*key.id,
        &&*key.account,
        &key.name,
        &key.hash.as_slice(),
        &key.created_at,
        &key.expires_at,
        &key.last_used_at,
        &key.last_used_from,
        &key.scopes.as_ref().map(KeyScope::list),
    ];
    match rows::write(db, insert, &values).await? {
        0 => Err(StoreError::Taken("id").into()),
        _ => activity::insert(db, entry).await,
    }
}

pub(super) async fn key_by_hash(db: &impl Client, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{KEY} WHERE hash = $1"), &[&hash.as_slice()], rows::api_key).await
}

pub(super) async fn keys(db: &impl Client, account: &str, page: &Page) -> SqlResult<Vec<ApiKey>> {
    rows::list(db, &format!("{KEY} WHERE account = $1"), "id", account, &PageQuery::new(page), rows::api_key).await
}
