//! API keys, and the answers kept for idempotency keys.

use std::collections::HashMap;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use kit_runtime::batcher::Batcher;
use platform_core::port::{ApiKey, IdempotentAnswer, StoreError, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use crate::codec::{corrupt, ms, to_json};
use crate::postgres::batching::READ_BATCHES;
use kit_engine::postgres::Postgres;

/// An error undoes the answer as well: it is that of the whole job.
pub(super) async fn create_api_key(
    db: &impl GenericClient,
    key: &ApiKey,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO api_keys (uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms, \
         revoked_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values: rows::Values<'_> = &[
        &key.uuid,
        &key.hash.as_slice(),
        &key.customer,
        &key.name,
        &to_json(&key.scopes)?,
        &ms(key.created_at),
        &key.expires_at.map(ms),
        &key.last_used_at.map(ms),
        &key.revoked_at.map(ms),
    ];
    rows::execute(db, insert, values).await.map(drop).map_err(|error| error.or_taken("key"))
}

pub(super) async fn api_key_by_hash(db: &impl GenericClient, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{API_KEY} WHERE hash = $1"), &[&hash.as_slice()], api_key).await
}

pub(super) const API_KEY: &str = "SELECT uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, \
     last_used_at_ms, revoked_at_ms FROM api_keys";

pub(super) fn api_key(row: &Row) -> SqlResult<ApiKey> {
    Ok(ApiKey {
        uuid: rows::get(row, 0)?,
        hash: rows::get::<&[u8]>(row, 1)?.try_into().map_err(corrupt)?,
        customer: rows::get(row, 2)?,
        name: rows::get(row, 3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        revoked_at: rows::optional_time(row, 8)?,
    })
}

pub(super) async fn touch_api_key(db: &impl GenericClient, uuid: Uuid, at: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE api_keys SET last_used_at_ms = $2 WHERE uuid = $1";
    rows::execute(db, touch, &[&uuid, &ms(at)]).await.map(drop)
}

/// A caller's idempotency key.
pub(super) type AnswerKey = (Uuid, String);
/// Looks for answers that wait for each other: every write with a key begins with one.
pub(super) type AnswerReads = Batcher<AnswerKey, StoreResult<Option<IdempotentAnswer>>>;

/// Starts looking for answers.
pub(super) fn start(postgres: &Postgres) -> AnswerReads {
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
    // No key with a NUL was ever kept, and the server could not read one.
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

/// Keeps an answer; false when its key was used before, and the answer that is there stays.
pub(super) async fn keep_answer(db: &impl GenericClient, answer: &IdempotentAnswer) -> SqlResult<bool> {
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

/// Keeps the answer of a write that is under way; `Replayed` when its key was used before.
pub(super) async fn keep_or_replay(db: &impl GenericClient, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    match answer {
        Some(answer) if !keep_answer(db, answer).await? => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

/// Looks at the `limit` answers that were given first: no index by time is needed, and the cost is bounded.
pub(super) async fn delete_expired_answers(
    db: &impl GenericClient,
    before: Timestamp,
    limit: usize,
) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE at_ms < $1 AND no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT $2)";
    let forgotten = rows::execute(db, delete, &[&ms(before), &rows::limit(limit)]).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}
