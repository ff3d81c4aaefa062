//! Accounts and their API keys.

use provider_core::model::{Account, ApiKey};
use provider_core::port::{Page, StoreError};

use super::rows::{self, Client, SqlResult};
use crate::codec::PageQuery;

const ACCOUNT: &str =
    "SELECT id, name, created_at, payload_check, requests_per_second_max, endpoints_max FROM accounts";
const KEY: &str = "SELECT id, account, name, hash, created_at, expires_at, last_used_at FROM api_keys";

pub(super) async fn create(db: &impl Client, account: &Account) -> SqlResult<()> {
    let insert = "INSERT INTO accounts (id, name, created_at, payload_check, requests_per_second_max, endpoints_max) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let settings = &account.settings;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] = [
        &&*account.id,
        &account.name,
        &account.created_at,
        &settings.payload_check.name(),
        &settings.requests_per_second_max.map(i64::from),
        &settings.endpoints_max.map(i64::from),
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
    // Accounts belong to nobody.
    let select = format!("{ACCOUNT} WHERE '' = $1");
    rows::list(db, &select, "id", "", &PageQuery::new(page), rows::account).await
}

pub(super) async fn create_key(db: &impl Client, key: &ApiKey) -> SqlResult<()> {
    if find(db, &key.account).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let insert = "INSERT INTO api_keys (id, account, name, hash, created_at, expires_at, last_used_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] = [
        &&*key.id,
        &&*key.account,
        &key.name,
        &key.hash.as_slice(),
        &key.created_at,
        &key.expires_at,
        &key.last_used_at,
    ];
    match rows::write(db, insert, &values).await? {
        0 => Err(StoreError::Taken("id").into()),
        _ => Ok(()),
    }
}

pub(super) async fn key_by_hash(db: &impl Client, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{KEY} WHERE hash = $1"), &[&hash.as_slice()], rows::api_key).await
}

pub(super) async fn keys(db: &impl Client, account: &str, page: &Page) -> SqlResult<Vec<ApiKey>> {
    rows::list(db, &format!("{KEY} WHERE account = $1"), "id", account, &PageQuery::new(page), rows::api_key).await
}

pub(super) async fn delete_key(db: &impl Client, account: &str, id: &str) -> SqlResult<bool> {
    Ok(rows::write(db, "DELETE FROM api_keys WHERE account = $1 AND id = $2", &[&account, &id]).await? == 1)
}
