//! Changes of access, each with its entry in the access log.

use async_trait::async_trait;
use platform_core::audit::access_begin;
use platform_core::port::{
    AccessChange, AccessChangeResult, AccessEntry, AccessLogStore, Page, StoreError, StoreResult,
};
use platform_rules::{LogHash, LogHead};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, api_keys, clerks, consumers, invitations, screens, sessions, users};

#[async_trait]
impl AccessLogStore for SqliteStore {
    async fn apply_access_change(&self, change: AccessChange, content: String) -> StoreResult<AccessChangeResult> {
        self.write(move |db| {
            let changed = apply(db, &change)?;
            if changed.is_recorded() {
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

    async fn latest_access_entries(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE number < ?1 ORDER BY number DESC LIMIT ?2";
        let (before, limit) = (before.unwrap_or(i64::MAX), rows::limit(limit));
        self.read(move |db| rows::list(db, select, (before, limit), entry)).await
    }

    async fn access_entries_naming(&self, uuid: Uuid, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE instr(content, ?1) > 0 \
             ORDER BY number DESC LIMIT ?2";
        self.read(move |db| rows::list(db, select, (uuid.to_string(), rows::limit(limit)), entry)).await
    }

    async fn access_log_head(&self) -> StoreResult<LogHead> {
        self.read(head).await
    }
}

fn apply(db: &Connection, change: &AccessChange) -> SqlResult<AccessChangeResult> {
    let done = |()| AccessChangeResult::Done;
    let if_any = |any: bool| if any { AccessChangeResult::Done } else { AccessChangeResult::Unchanged };
    match change {
        AccessChange::EntryOnly => Ok(AccessChangeResult::Done),
        AccessChange::CreateUser(user, answer) => users::create(db, user, answer.as_ref()).map(done),
        AccessChange::CreateFirstUser(user, code, now) => users::create_first(db, user, *code, *now).map(if_any),
        AccessChange::ChangeUser(change) => users::change_user(db, change).map(AccessChangeResult::User),
        AccessChange::RemoveUser(user, version) => users::remove(db, *user, *version).map(AccessChangeResult::User),
        AccessChange::CreateInvitation(new, invitations_max) => {
            invitations::create(db, new, *invitations_max).map(if_any)
        }
        AccessChange::WithdrawInvitation(invitation) => invitations::withdraw(db, *invitation).map(if_any),
        AccessChange::AcceptInvitation(code, user, now) => invitations::accept(db, *code, user, *now).map(if_any),
        AccessChange::BeginSession(session, version, sessions_max, answer) => {
            sessions::begin(db, session, *version, *sessions_max, answer.as_ref()).map(done)
        }
        AccessChange::CreateApiKey(key, answer) => api_keys::create(db, key, answer.as_ref()).map(done),
        AccessChange::RevokeApiKey(key, at) => api_keys::revoke(db, *key, *at).map(if_any),
        AccessChange::AssignClerk(clerk, clerks_max) => {
            clerks::assign(db, clerk, *clerks_max).map(AccessChangeResult::Clerk)
        }
        AccessChange::UnassignClerk(auction, user) => clerks::unassign(db, *auction, *user).map(if_any),
        AccessChange::PutScreenLink(link) => screens::put_link(db, link).map(done),
        AccessChange::RevokeScreenLink(auction, kind) => screens::revoke_link(db, *auction, *kind).map(if_any),
        AccessChange::PutConsumer(consumer, start) => consumers::put(db, consumer, *start).map(done),
        AccessChange::ReplaceConsumer(consumer, expected) => consumers::replace(db, consumer, *expected).map(if_any),
        AccessChange::Disconnect(customer) => Ok(consumers::disconnect(db, *customer)?
            .map_or(AccessChangeResult::Unchanged, AccessChangeResult::Disconnected)),
    }
}

/// SQLite has one writer, so no other entry is inserted between the two statements.
pub(super) fn append(db: &Connection, content: &str) -> SqlResult<()> {
    let next = AccessEntry::after(head(db)?, content.to_owned());
    let insert = "INSERT INTO access_log (number, content, hash) VALUES (?1, ?2, ?3)";
    rows::execute(db, insert, (next.number, &next.content, next.hash.0))?;
    rows::execute(db, "UPDATE access_log_head SET number = ?1, hash = ?2", (next.number, next.hash.0)).map(drop)
}

fn head(db: &Connection) -> SqlResult<LogHead> {
    let found = rows::one(db, "SELECT number, hash FROM access_log_head", [], |row| {
        Ok(LogHead { number: row.get(0)?, hash: LogHash(row.get(1)?) })
    })?;
    let head = found.ok_or_else(|| StoreError::Corrupt("the access log has no head row".into()))?;
    Ok(if head.number == 0 { access_begin() } else { head })
}

fn entry(row: &Row<'_>) -> SqlResult<AccessEntry> {
    Ok(AccessEntry { number: row.get(0)?, content: row.get(1)?, hash: LogHash(row.get(2)?) })
}
