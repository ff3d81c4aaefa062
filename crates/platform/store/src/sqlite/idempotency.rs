//! Stored answers of idempotency keys.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{IdempotencyStore, IdempotentAnswer, StoreError, StoreResult};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::ms;

#[async_trait]
impl IdempotencyStore for SqliteStore {
    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let key = key.to_owned();
        self.read(move |db| find_answer(db, caller, &key)).await
    }

    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        self.write(move |db| keep_answer(db, &answer).map(drop)).await
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.write(move |db| delete_expired_answers(db, before, limit)).await
    }
}

pub(super) fn find_answer(db: &Connection, caller: Uuid, key: &str) -> SqlResult<Option<IdempotentAnswer>> {
    let select = "SELECT request_hash, status, body, at_ms, tag FROM idempotent_answers WHERE caller = ?1 AND key = ?2";
    rows::one(db, select, (caller.as_bytes(), key), |row| {
        Ok(IdempotentAnswer {
            caller,
            key: key.to_owned(),
            request_hash: row.get(0)?,
            status: row.get(1)?,
            body: row.get(2)?,
            at: rows::time(row, 3)?,
            tag: row.get(4)?,
        })
    })
}

/// Stores an answer. False when its key was used before; the stored answer stays.
pub(super) fn keep_answer(db: &Connection, answer: &IdempotentAnswer) -> SqlResult<bool> {
    let insert = "INSERT INTO idempotent_answers (caller, key, request_hash, status, body, at_ms, tag) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (caller, key) DO NOTHING";
    let IdempotentAnswer { caller, key, request_hash, status, body, tag, at } = answer;
    let values = params![caller.as_bytes(), key, request_hash, status, body, ms(*at), tag];
    Ok(rows::execute(db, insert, values)? == 1)
}

/// Stores the answer of the running transaction. `Replayed` when its key was used before.
pub(super) fn keep_or_replay(db: &Connection, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    match answer {
        Some(answer) if !keep_answer(db, answer)? => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

/// Deletes an answer that this transaction has stored.
pub(super) fn delete_answer(db: &Connection, answer: &IdempotentAnswer) -> SqlResult<()> {
    let delete = "DELETE FROM idempotent_answers WHERE caller = ?1 AND key = ?2";
    rows::execute(db, delete, (answer.caller.as_bytes(), &answer.key)).map(drop)
}

/// Reads only the `limit` oldest rows, so that the table needs no index by time.
pub(super) fn delete_expired_answers(db: &Connection, before: Timestamp, limit: usize) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE at_ms < ?1 AND no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT ?2)";
    rows::execute(db, delete, (ms(before), rows::limit(limit)))
}
