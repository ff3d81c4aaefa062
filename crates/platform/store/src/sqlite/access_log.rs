//! The log of access, and the changes whose entries it has.

use async_trait::async_trait;
use platform_core::audit::{access_begin, access_chain};
use platform_core::port::{AccessChange, AccessChanged, AccessEntry, AccessLogs, Page, StoreError, StoreResult};
use platform_rules::{LogHash, LogHead};
use rusqlite::{Connection, Row};

use super::rows::{self, Outcome};
use super::{Sqlite, access, clerks, consumers, keys, people, quarantine};

#[async_trait]
impl AccessLogs for Sqlite {
    async fn change_access(&self, change: AccessChange, content: String) -> StoreResult<AccessChanged> {
        self.write(move |db| {
            let changed = apply(db, &change)?;
            if changed.is_noted() {
                append(db, &content)?;
            }
            Ok(changed)
        })
        .await
    }

    async fn access_log(&self, page: Page<i64>) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE number > ?1 ORDER BY number LIMIT ?2";
        let (after, limit) = (page.after.unwrap_or(i64::MIN), rows::limit(page.limit));
        self.read(move |db| rows::list(db, select, (after, limit), entry)).await
    }

    async fn latest_access(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE number < ?1 ORDER BY number DESC LIMIT ?2";
        let (before, limit) = (before.unwrap_or(i64::MAX), rows::limit(limit));
        self.read(move |db| rows::list(db, select, (before, limit), entry)).await
    }

    async fn access_head(&self) -> StoreResult<LogHead> {
        self.read(head).await
    }
}

fn apply(db: &Connection, change: &AccessChange) -> Outcome<AccessChanged> {
    let done = |()| AccessChanged::Done;
    let if_any = |any: bool| if any { AccessChanged::Done } else { AccessChanged::Before };
    match change {
        AccessChange::Happened => Ok(AccessChanged::Done),
        AccessChange::CreateUser(user, answer) => people::create(db, user, answer.as_ref()).map(done),
        AccessChange::ChangeUser(change) => people::change_user(db, change).map(AccessChanged::User),
        AccessChange::RemoveUser(user, version) => people::remove(db, *user, *version).map(AccessChanged::User),
        AccessChange::BeginSession(session, version, sessions_max, answer) => {
            people::begin(db, session, *version, *sessions_max, answer.as_ref()).map(done)
        }
        AccessChange::CreateApiKey(key, answer) => access::create_api_key(db, key, answer.as_ref()).map(done),
        AccessChange::RevokeApiKey(key, at) => keys::revoke(db, *key, *at).map(if_any),
        AccessChange::AssignClerk(clerk, clerks_max) => {
            clerks::assign(db, clerk, *clerks_max).map(AccessChanged::Clerk)
        }
        AccessChange::TakeClerkOff(auction, user) => clerks::take_off(db, *auction, *user).map(if_any),
        AccessChange::PutConsumer(consumer, start) => consumers::put(db, consumer, *start).map(done),
        AccessChange::Disconnect(customer) => {
            Ok(quarantine::disconnect(db, *customer)?.map_or(AccessChanged::Before, AccessChanged::Waited))
        }
    }
}

/// The one writer sees to it that no other entry comes between.
fn append(db: &Connection, content: &str) -> Outcome<()> {
    let next = access_chain(head(db)?, content);
    let insert = "INSERT INTO access_log (number, content, hash) VALUES (?1, ?2, ?3)";
    rows::execute(db, insert, (next.number, content, next.hash.0))?;
    rows::execute(db, "UPDATE access_log_head SET number = ?1, hash = ?2", (next.number, next.hash.0)).map(drop)
}

fn head(db: &Connection) -> Outcome<LogHead> {
    let found = rows::one(db, "SELECT number, hash FROM access_log_head", [], |row| {
        Ok(LogHead { number: row.get(0)?, hash: LogHash(row.get(1)?) })
    })?;
    let head = found.ok_or_else(|| StoreError::Corrupt("its head is gone".into()))?;
    Ok(if head.number == 0 { access_begin() } else { head })
}

fn entry(row: &Row<'_>) -> Outcome<AccessEntry> {
    Ok(AccessEntry { number: row.get(0)?, content: row.get(1)?, hash: LogHash(row.get(2)?) })
}
