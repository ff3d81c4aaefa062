//! Accounts and their API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Account, ActivityEntry, ApiKey, KeyScope};
use provider_core::port::{AccountStore, Page, StoreError, StoreResult};
use rusqlite::{Connection, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, activity};
use crate::codec::PageQuery;

#[async_trait]
impl AccountStore for SqliteStore {
    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.write(move |db| create(db, &account)).await
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        let id = id.to_owned();
        self.read(move |db| find(db, &id)).await
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        self.read(move |db| list(db, &page)).await
    }

    async fn update_account(&self, account: Account, entry: ActivityEntry) -> StoreResult<()> {
        self.write(move |db| update(db, &account).and_then(|()| activity::insert(db, &entry))).await
    }

    async fn create_api_key(&self, key: ApiKey, entry: ActivityEntry) -> StoreResult<()> {
        self.write(move |db| create_key(db, &key).and_then(|()| activity::insert(db, &entry))).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        self.read(move |db| key_by_hash(db, hash)).await
    }

    async fn api_key(&self, account: &str, id: &str) -> StoreResult<Option<ApiKey>> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let select = format!("{KEY} WHERE account = ?1 AND id = ?2");
        self.read(move |db| rows::one(db, &select, (account, id), rows::api_key)).await
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        let account = account.to_owned();
        self.read(move |db| keys(db, &account, &page)).await
    }

    async fn touch_api_key(&self, id: &str, at: Timestamp, from: Option<String>) -> StoreResult<()> {
        let id = id.to_owned();
        let update = "UPDATE api_keys SET last_used_at = ?2, last_used_from = ?3 \
             WHERE id = ?1 AND coalesce(last_used_at, 0) < ?2";
        self.write(move |db| Ok(db.execute(update, (id, ms(at), from)).map(drop)?)).await
    }

    async fn expire_api_key(
        &self,
        account: &str,
        id: &str,
        expires_at: Option<Timestamp>,
        entry: ActivityEntry,
    ) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let update = "UPDATE api_keys SET expires_at = ?3 WHERE account = ?1 AND id = ?2";
        self.write(move |db| log_if_changed(db, db.execute(update, (account, id, expires_at.map(ms)))?, &entry)).await
    }

    async fn delete_api_key(&self, account: &str, id: &str, entry: ActivityEntry) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let delete = "DELETE FROM api_keys WHERE account = ?1 AND id = ?2";
        self.write(move |db| log_if_changed(db, db.execute(delete, (account, id))?, &entry)).await
    }
}

fn update(db: &Connection, account: &Account) -> SqlResult<()> {
    let update = "UPDATE accounts SET name = ?2, payload_check = ?3, requests_per_second_max = ?4, endpoints_max = ?5, \
         unknown_event_types = ?6 \
         WHERE id = ?1";
    let settings = &account.settings;
    let values = params![
        &*account.id,
        account.name,
        settings.payload_check.name(),
        settings.requests_per_second_max,
        settings.endpoints_max,
        settings.unknown_event_types.name()
    ];
    match db.execute(update, values)? {
        0 => Err(StoreError::NotFound.into()),
        _ => Ok(()),
    }
}

const ACCOUNT: &str = "SELECT id, name, created_at, payload_check, requests_per_second_max, endpoints_max, unknown_event_types \
     FROM accounts";

const KEY: &str = "SELECT id, account, name, hash, created_at, expires_at, last_used_at, last_used_from, scopes \
     FROM api_keys";

pub(super) fn create(db: &Connection, account: &Account) -> SqlResult<()> {
    let insert = "INSERT INTO accounts (id, name, created_at, payload_check, requests_per_second_max, endpoints_max, \
         unknown_event_types) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
    let settings = &account.settings;
    let values = params![
        &*account.id,
        account.name,
        ms(account.created_at),
        settings.payload_check.name(),
        settings.requests_per_second_max,
        settings.endpoints_max,
        settings.unknown_event_types.name()
    ];
    match db.execute(insert, values)? {
        0 => Err(StoreError::Taken("id").into()),
        _ => Ok(()),
    }
}

pub(super) fn find(db: &Connection, id: &str) -> SqlResult<Option<Account>> {
    rows::one(db, &format!("{ACCOUNT} WHERE id = ?1"), [id], rows::account)
}

pub(super) fn list(db: &Connection, page: &Page) -> SqlResult<Vec<Account>> {
    // Accounts have no owner, so the first parameter is an empty text.
    let select = format!("{ACCOUNT} WHERE '' = $1");
    rows::list(db, &select, "id", "", &PageQuery::new(page), rows::account)
}

pub(super) fn create_key(db: &Connection, key: &ApiKey) -> SqlResult<()> {
    if find(db, &key.account)?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let insert = "INSERT INTO api_keys (id, account, name, hash, created_at, expires_at, last_used_at, last_used_from, \
         scopes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
    let (expires_at, last_used_at) = (key.expires_at.map(ms), key.last_used_at.map(ms));
    let scopes = key.scopes.as_ref().map(KeyScope::list);
    let (id, account, created_at) = (&*key.id, &*key.account, ms(key.created_at));
    let values =
        params![id, account, key.name, key.hash, created_at, expires_at, last_used_at, key.last_used_from, scopes];
    match db.execute(insert, values)? {
        0 => Err(StoreError::Taken("id").into()),
        _ => Ok(()),
    }
}

pub(super) fn key_by_hash(db: &Connection, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{KEY} WHERE hash = ?1"), [hash], rows::api_key)
}

pub(super) fn keys(db: &Connection, account: &str, page: &Page) -> SqlResult<Vec<ApiKey>> {
    rows::list(db, &format!("{KEY} WHERE account = $1"), "id", account, &PageQuery::new(page), rows::api_key)
}

/// Writes the activity entry if one row was changed. True if so.
fn log_if_changed(db: &Connection, changed: usize, entry: &ActivityEntry) -> SqlResult<bool> {
    if changed == 1 {
        activity::insert(db, entry)?;
    }
    Ok(changed == 1)
}
