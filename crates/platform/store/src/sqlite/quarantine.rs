//! The end of a connection, and events in quarantine.

use async_trait::async_trait;
use platform_core::port::{Cursor, IdempotentAnswer, OvertakenPolicy, Quarantine, StoreError, StoreResult};
use rusqlite::Connection;
use uuid::Uuid;

use super::consumers::{self, ConnectionState};
use super::rows::{self, SqlResult};
use super::{SqliteStore, access};

#[async_trait]
impl Quarantine for SqliteStore {
    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>> {
        self.write(move |db| disconnect(db, customer)).await
    }

    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>> {
        self.read(move |db| {
            let mut passed = Vec::new();
            for cursor in cursors {
                if is_overtaken(db, customer, cursor)? {
                    passed.push(cursor);
                }
            }
            Ok(passed)
        })
        .await
    }

    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            access::keep_or_replay(db, answer.as_ref())?;
            if consumers::connected(db, customer)? == ConnectionState::Incomplete {
                return Err(StoreError::Conflict.into());
            }
            for cursor in cursors {
                if after_later == OvertakenPolicy::Refuse && is_overtaken(db, customer, cursor)? {
                    return Err(StoreError::Conflict.into());
                }
                let enter = "INSERT INTO outbox (cursor, customer, subject, attempts) \
                     SELECT q.cursor, q.customer, j.subject, 0 \
                     FROM quarantine q CROSS JOIN journal j ON j.cursor = q.cursor \
                     WHERE q.customer = ?1 AND q.cursor = ?2 ON CONFLICT (cursor) DO NOTHING";
                rows::execute(db, enter, (customer.as_bytes(), cursor))?;
                take_out(db, customer, cursor)?;
            }
            Ok(())
        })
        .await
    }

    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            access::keep_or_replay(db, answer.as_ref())?;
            cursors.into_iter().try_for_each(|cursor| take_out(db, customer, cursor))
        })
        .await
    }
}

pub(super) fn disconnect(db: &Connection, customer: Uuid) -> SqlResult<Option<u64>> {
    if rows::execute(db, "DELETE FROM consumers WHERE customer = ?1", [customer.as_bytes()])? == 0 {
        return Ok(None);
    }
    Ok(Some(rows::execute(db, "DELETE FROM outbox WHERE customer = ?1", [customer.as_bytes()])? as u64))
}

fn take_out(db: &Connection, customer: Uuid, cursor: Cursor) -> SqlResult<()> {
    let delete = "DELETE FROM quarantine WHERE customer = ?1 AND cursor = ?2";
    match rows::execute(db, delete, (customer.as_bytes(), cursor))? {
        0 => Err(StoreError::Conflict.into()),
        _ => Ok(()),
    }
}

fn is_overtaken(db: &Connection, customer: Uuid, cursor: Cursor) -> SqlResult<bool> {
    let select = "SELECT 1 FROM journal j CROSS JOIN journal l INDEXED BY journal_of_subject \
             ON l.subject = j.subject AND l.sequence > j.sequence \
         WHERE j.cursor = ?2 AND j.customer = ?1 AND l.body IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.cursor = l.cursor AND o.owner IS NULL) \
         AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.customer = ?1 AND q.cursor = l.cursor) LIMIT 1";
    Ok(rows::one(db, select, (customer.as_bytes(), cursor), |_| Ok(()))?.is_some())
}
