//! Changes of access, each with its entry in the access log.

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::audit::access_begin;
use platform_core::port::{
    AccessChange, AccessChangeResult, AccessEntry, AccessLogStore, Page, StoreError, StoreResult,
};
use platform_rules::{LogHash, LogHead};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, api_keys, clerks, consumers, invitations, screens, sessions, users};
use crate::codec::corrupt;

#[async_trait]
impl AccessLogStore for PostgresStore {
    async fn apply_access_change(&self, change: AccessChange, content: String) -> StoreResult<AccessChangeResult> {
        let is_connection = matches!(
            change,
            AccessChange::PutConsumer(..) | AccessChange::ReplaceConsumer(..) | AccessChange::Disconnect(_)
        );
        let changed =
            self.write(&(change, content), |db, (change, content)| Box::pin(noted(db, change, content))).await?;
        if is_connection {
            self.postgres.notify().await;
        }
        Ok(changed)
    }

    async fn access_log(&self, page: Page<i64>) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE number > $1 ORDER BY number LIMIT $2";
        let (after, limit) = (page.after.unwrap_or(i64::MIN), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, select, &[&after, &limit], entry).await?)
    }

    async fn latest_access_entries(&self, before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE number < $1 ORDER BY number DESC LIMIT $2";
        let (before, limit) = (before.unwrap_or(i64::MAX), rows::limit(limit));
        Ok(rows::list(&self.client().await?, select, &[&before, &limit], entry).await?)
    }

    async fn access_entries_naming(&self, uuid: Uuid, limit: usize) -> StoreResult<Vec<AccessEntry>> {
        let select = "SELECT number, content, hash FROM access_log WHERE strpos(content, $1) > 0 \
             ORDER BY number DESC LIMIT $2";
        let values: rows::Values<'_> = &[&uuid.to_string(), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, entry).await?)
    }

    async fn access_log_head(&self) -> StoreResult<LogHead> {
        Ok(head(&self.client().await?, "SELECT number, hash FROM access_log_head").await?)
    }
}

async fn noted(db: &Transaction<'_>, change: &AccessChange, content: &str) -> SqlResult<AccessChangeResult> {
    let changed = apply(db, change).await?;
    if changed.is_recorded() {
        append(db, content).await?;
    }
    Ok(changed)
}

async fn apply(db: &Transaction<'_>, change: &AccessChange) -> SqlResult<AccessChangeResult> {
    let done = |()| AccessChangeResult::Done;
    let if_any = |any: bool| if any { AccessChangeResult::Done } else { AccessChangeResult::Unchanged };
    match change {
        AccessChange::EntryOnly => Ok(AccessChangeResult::Done),
        AccessChange::CreateUser(user, answer) => users::create(db, user, answer.as_ref()).await.map(done),
        AccessChange::CreateFirstUser(user, code, now) => users::create_first(db, user, *code, *now).await.map(if_any),
        AccessChange::ChangeUser(change) => users::change_user(db, change).await.map(AccessChangeResult::User),
        AccessChange::RemoveUser(user, version) => {
            users::remove(db, *user, *version).await.map(AccessChangeResult::User)
        }
        AccessChange::CreateInvitation(new, invitations_max) => {
            invitations::create(db, new, *invitations_max).await.map(if_any)
        }
        AccessChange::WithdrawInvitation(invitation) => invitations::withdraw(db, *invitation).await.map(if_any),
        AccessChange::AcceptInvitation(code, user, now) => invitations::accept(db, *code, user, *now).await.map(if_any),
        AccessChange::BeginSession(session, version, sessions_max, answer) => {
            sessions::begin(db, session, *version, *sessions_max, answer.as_ref()).await.map(done)
        }
        AccessChange::CreateApiKey(key, answer) => api_keys::create(db, key, answer.as_ref()).await.map(done),
        AccessChange::RevokeApiKey(key, at) => api_keys::revoke(db, *key, *at).await.map(if_any),
        AccessChange::AssignClerk(clerk, clerks_max) => {
            clerks::assign(db, clerk, *clerks_max).await.map(AccessChangeResult::Clerk)
        }
        AccessChange::UnassignClerk(auction, user) => clerks::unassign(db, *auction, *user).await.map(if_any),
        AccessChange::PutScreenLink(link) => screens::put_link(db, link).await.map(done),
        AccessChange::RevokeScreenLink(auction, kind) => screens::revoke_link(db, *auction, *kind).await.map(if_any),
        AccessChange::PutConsumer(consumer, start) => consumers::put(db, consumer, *start).await.map(done),
        AccessChange::ReplaceConsumer(consumer, expected) => {
            consumers::replace(db, consumer, *expected).await.map(if_any)
        }
        AccessChange::Disconnect(customer) => Ok(consumers::disconnect(db, *customer)
            .await?
            .map_or(AccessChangeResult::Unchanged, AccessChangeResult::Disconnected)),
    }
}

/// Locks the head row, which serialises the appends of all nodes. It is the last lock that a transaction acquires.
pub(super) async fn append(db: &Transaction<'_>, content: &str) -> SqlResult<()> {
    let head = head(db, "SELECT number, hash FROM access_log_head FOR UPDATE").await?;
    let next = AccessEntry::after(head, content.to_owned());
    let insert = "INSERT INTO access_log (number, content, hash) VALUES ($1, $2, $3)";
    let hash = next.hash.0.as_slice();
    rows::execute(db, insert, &[&next.number, &next.content, &hash]).await?;
    rows::execute(db, "UPDATE access_log_head SET number = $1, hash = $2", &[&next.number, &hash]).await.map(drop)
}

async fn head(db: &impl Connection, select: &str) -> SqlResult<LogHead> {
    let found =
        rows::one(db, select, &[], |row| Ok(LogHead { number: rows::get(row, 0)?, hash: hash(row, 1)? })).await?;
    let head = found.ok_or_else(|| StoreError::Corrupt("the access log has no head row".into()))?;
    Ok(if head.number == 0 { access_begin() } else { head })
}

fn entry(row: &Row) -> SqlResult<AccessEntry> {
    Ok(AccessEntry { number: rows::get(row, 0)?, content: rows::get(row, 1)?, hash: hash(row, 2)? })
}

fn hash(row: &Row, column: usize) -> SqlResult<LogHash> {
    Ok(LogHash(rows::get::<&[u8]>(row, column)?.try_into().map_err(corrupt)?))
}
