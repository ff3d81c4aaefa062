//! Stored answers of idempotency keys.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Postgres};
use kit_runtime::batcher::Batcher;
use platform_core::port::{IdempotencyStore, IdempotentAnswer, StoreError, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::batching::{self, READ_BATCHES};
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, ms};

pub(super) type AnswerKey = (Uuid, String);

/// Combines concurrent lookups of answers: every write with an idempotency key begins with one.
pub(super) type AnswerReads = Batcher<AnswerKey, StoreResult<Option<IdempotentAnswer>>>;

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        self.answer_reads.submit((caller, key.to_owned())).await.map_err(batching::batcher_closed)?
    }

    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        Ok(keep_answer(&self.client().await?, &answer).await.map(drop)?)
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        Ok(delete_expired_answers(&self.client().await?, before, limit).await?)
    }
}

pub(super) fn start_answer_reads(postgres: &Postgres) -> AnswerReads {
    let postgres = postgres.clone();
    Batcher::start("answers", READ_BATCHES, move |wanted: Vec<AnswerKey>| {
        let postgres = postgres.clone();
        async move {
            match answers(&postgres, &wanted).await.map_err(StoreError::from) {
                Ok(found) => wanted.iter().map(|key| Ok(found.get(key).cloned())).collect(),
                Err(error) => wanted.iter().map(|_| Err(error.clone())).collect(),
            }
        }
    })
}

async fn answers(postgres: &Postgres, wanted: &[AnswerKey]) -> SqlResult<HashMap<AnswerKey, IdempotentAnswer>> {
    // PostgreSQL rejects texts with a NUL, so no stored key contains one.
    let readable = wanted.iter().filter(|(_, key)| !key.contains('\0'));
    let (callers, keys): (Vec<Uuid>, Vec<&str>) = readable.map(|(caller, key)| (*caller, key.as_str())).unzip();
    let select = "SELECT a.request_hash, a.status, a.body, a.at_ms, a.tag, a.caller, a.key FROM idempotent_answers a \
         JOIN unnest($1::uuid[], $2::text[]) AS n (caller, key) ON a.caller = n.caller AND a.key = n.key";
    let found = rows::list(&postgres.client().await?, select, &[&callers, &keys], |row| {
        Ok(IdempotentAnswer {
            caller: rows::get(row, 5)?,
            key: rows::get(row, 6)?,
            request_hash: request_hash(row)?,
            status: u16::try_from(rows::get::<i32>(row, 1)?).map_err(corrupt)?,
            body: rows::get(row, 2)?,
            at: rows::time(row, 3)?,
            tag: rows::get(row, 4)?,
        })
    })
    .await?;
    Ok(found.into_iter().map(|answer| ((answer.caller, answer.key.clone()), answer)).collect())
}

fn request_hash(row: &Row) -> SqlResult<[u8; 32]> {
    Ok(rows::get::<&[u8]>(row, 0)?.try_into().map_err(corrupt)?)
}

/// Stores an answer. False when its key was used before; the stored answer stays.
pub(super) async fn keep_answer(db: &impl Connection, answer: &IdempotentAnswer) -> SqlResult<bool> {
    let insert = "INSERT INTO idempotent_answers (caller, key, request_hash, status, body, at_ms, tag) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (caller, key) DO NOTHING";
    let values: rows::Values<'_> = &[
        &answer.caller,
        &answer.key,
        &answer.request_hash.as_slice(),
        &i32::from(answer.status),
        &answer.body,
        &ms(answer.at),
        &answer.tag,
    ];
    Ok(rows::execute(db, insert, values).await? == 1)
}

/// Stores the answer of the running transaction. `Replayed` when its key was used before.
pub(super) async fn keep_or_replay(db: &impl Connection, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    match answer {
        Some(answer) if !keep_answer(db, answer).await? => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

/// Reads only the `limit` oldest rows, so that the table needs no index by time.
pub(super) async fn delete_expired_answers(db: &impl Connection, before: Timestamp, limit: usize) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE at_ms < $1 AND no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT $2)";
    let forgotten = rows::execute(db, delete, &[&ms(before), &rows::limit(limit)]).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}
