//! Stored answers of idempotency keys.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::{Answer, IdempotencyStore, IdempotentAnswer, StoreError, StoreResult};
use rusqlite::{CachedStatement, Connection, params};

use super::SqliteStore;
use super::rows::{self, SqlResult, ms};
use crate::codec::{answer_key, fingerprint};

#[async_trait]
impl IdempotencyStore for SqliteStore {
    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let (account, key) = (account.to_owned(), key.to_owned());
        self.read(move |db| find(db, &account, &key)).await
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.write(move |db| delete_expired(db, before, limit)).await
    }
}

pub(super) const KEEP: &str = "INSERT INTO idempotent_answers (key, request_hash, created_at, application, message, status, body) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO NOTHING";

/// Stores an answer with the prepared statement [`KEEP`]. False when its key was used before.
pub(super) fn keep(statement: &mut CachedStatement<'_>, answer: &IdempotentAnswer) -> rusqlite::Result<bool> {
    let (application, message, status, body) = match &answer.answer {
        Answer::Message { application, message } => (Some(&**application), Some(&**message), None, None),
        Answer::Body { status, body } => (None, None, Some(*status), Some(body.as_str())),
    };
    let kept = statement.execute(params![
        answer_key(answer),
        answer.request_hash,
        ms(answer.at),
        application,
        message,
        status,
        body
    ])?;
    Ok(kept == 1)
}

/// Stores the answer of the running transaction. `Replayed` when its key was used before.
pub(super) fn keep_or_replay(db: &Connection, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    match answer {
        Some(answer) if !keep(&mut db.prepare_cached(KEEP)?, answer)? => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

pub(super) fn is_kept(db: &Connection, answer: &IdempotentAnswer) -> SqlResult<bool> {
    let mut statement = db.prepare_cached("SELECT 1 FROM idempotent_answers WHERE key = ?1")?;
    Ok(statement.exists([answer_key(answer)])?)
}

pub(super) fn find(db: &Connection, account: &str, key: &str) -> SqlResult<Option<IdempotentAnswer>> {
    let select =
        "SELECT request_hash, created_at, application, message, status, body FROM idempotent_answers WHERE key = ?1";
    rows::one(db, select, [fingerprint(account, key)], |row| {
        Ok(IdempotentAnswer {
            account: account.into(),
            key: key.to_owned(),
            request_hash: row.get(0)?,
            at: rows::time(row, 1)?,
            answer: rows::answer(row, 2)?,
        })
    })
}

/// Reads only the `limit` oldest rows, so that the table needs no index by time.
pub(super) fn delete_expired(db: &Connection, before: Timestamp, limit: usize) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE created_at < ?1 AND no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT ?2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(db.prepare_cached(delete)?.execute((ms(before), limit))?)
}
