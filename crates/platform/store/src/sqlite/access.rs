//! API keys, and the answers kept for idempotency keys.

use jiff::Timestamp;
use platform_core::port::{ApiKey, IdempotentAnswer, StoreError};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use crate::codec::{ms, to_json};

/// An error undoes the answer as well: it is that of the whole job.
pub(super) fn create_api_key(db: &Connection, key: &ApiKey, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    keep_or_replay(db, answer)?;
    let insert = "INSERT INTO api_keys (uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, last_used_at_ms, \
         revoked_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = params![
        key.uuid.as_bytes(),
        key.hash,
        key.customer.as_ref().map(Uuid::as_bytes),
        key.name,
        to_json(&key.scopes)?,
        ms(key.created_at),
        key.expires_at.map(ms),
        key.last_used_at.map(ms),
        key.revoked_at.map(ms)
    ];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("key"))
}

pub(super) fn api_key_by_hash(db: &Connection, hash: [u8; 32]) -> SqlResult<Option<ApiKey>> {
    rows::one(db, &format!("{API_KEY} WHERE hash = ?1"), [hash], api_key)
}

pub(super) const API_KEY: &str = "SELECT uuid, hash, customer, name, scopes, created_at_ms, expires_at_ms, \
     last_used_at_ms, revoked_at_ms FROM api_keys";

pub(super) fn api_key(row: &Row<'_>) -> SqlResult<ApiKey> {
    Ok(ApiKey {
        uuid: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        customer: row.get::<_, Option<[u8; 16]>>(2)?.map(Uuid::from_bytes),
        name: row.get(3)?,
        scopes: rows::json(row, 4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::optional_time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        revoked_at: rows::optional_time(row, 8)?,
    })
}

pub(super) fn touch_api_key(db: &Connection, uuid: Uuid, at: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE api_keys SET last_used_at_ms = ?2 WHERE uuid = ?1";
    rows::execute(db, touch, (uuid.as_bytes(), ms(at))).map(drop)
}

pub(super) fn answer(db: &Connection, caller: Uuid, key: &str) -> SqlResult<Option<IdempotentAnswer>> {
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

/// Keeps an answer; false when its key was used before, and the answer that is there stays.
pub(super) fn keep_answer(db: &Connection, answer: &IdempotentAnswer) -> SqlResult<bool> {
    let insert = "INSERT INTO idempotent_answers (caller, key, request_hash, status, body, at_ms, tag) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (caller, key) DO NOTHING";
    let IdempotentAnswer { caller, key, request_hash, status, body, tag, at } = answer;
    let values = params![caller.as_bytes(), key, request_hash, status, body, ms(*at), tag];
    Ok(rows::execute(db, insert, values)? == 1)
}

/// Keeps the answer of a write that is under way; `Replayed` when its key was used before.
pub(super) fn keep_or_replay(db: &Connection, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    match answer {
        Some(answer) if !keep_answer(db, answer)? => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

/// Takes back an answer that this write has kept.
pub(super) fn delete_answer(db: &Connection, answer: &IdempotentAnswer) -> SqlResult<()> {
    let delete = "DELETE FROM idempotent_answers WHERE caller = ?1 AND key = ?2";
    rows::execute(db, delete, (answer.caller.as_bytes(), &answer.key)).map(drop)
}

/// Looks at the `limit` answers that were given first: no index by time is needed, and the cost is bounded.
pub(super) fn delete_expired_answers(db: &Connection, before: Timestamp, limit: usize) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE at_ms < ?1 AND no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT ?2)";
    rows::execute(db, delete, (ms(before), rows::limit(limit)))
}
