//! Stored answers of idempotency keys.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::{Answer, IdempotencyStore, IdempotentAnswer, StoreError, StoreResult};

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};
use crate::codec::{Fingerprint, answer_key, fingerprint};

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let client = self.client().await?;
        Ok(find(&client, account, key).await?)
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.transaction(&(before, limit), |db, &(before, limit)| Box::pin(delete_expired(db, before, limit))).await
    }
}

/// Stores the answer of the running transaction. `Replayed` when its key was used before.
pub(super) async fn keep_or_replay(db: &impl Client, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    let Some(answer) = answer else { return Ok(()) };
    match keep(db, &[answer]).await?.len() {
        0 => Err(StoreError::Replayed.into()),
        _ => Ok(()),
    }
}

/// Stores answers with different keys and returns the keys that were not used before. Keys are inserted in order, so
/// that two calls with the same keys can't deadlock.
pub(super) async fn keep(db: &impl Client, answers: &[&IdempotentAnswer]) -> SqlResult<Vec<Fingerprint>> {
    let mut answers: Vec<(Fingerprint, &IdempotentAnswer)> =
        answers.iter().map(|answer| (answer_key(answer), *answer)).collect();
    answers.sort_by_key(|(key, _)| *key);
    let (mut keys, mut hashes, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let (mut applications, mut messages, mut statuses, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (key, answer) in &answers {
        keys.push(key.as_slice());
        hashes.push(answer.request_hash.as_slice());
        times.push(answer.at);
        let (application, message, status, body) = match &answer.answer {
            Answer::Message { application, message } => (Some(&**application), Some(&**message), None, None),
            Answer::Body { status, body } => (None, None, Some(i32::from(*status)), Some(body.as_str())),
        };
        applications.push(application);
        messages.push(message);
        statuses.push(status);
        bodies.push(body);
    }
    let insert = "INSERT INTO idempotent_answers (key, request_hash, created_at, application, message, status, body) \
         SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[], $7::text[]) \
         ON CONFLICT (key) DO NOTHING RETURNING key";
    rows::all(db, insert, &[&keys, &hashes, &times, &applications, &messages, &statuses, &bodies], |row| {
        rows::bytes(row, 0)
    })
    .await
}

/// The keys that were used before.
pub(super) async fn kept(db: &impl Client, keys: &[Fingerprint]) -> SqlResult<Vec<Fingerprint>> {
    let keys: Vec<&[u8]> = keys.iter().map(Fingerprint::as_slice).collect();
    rows::all(db, "SELECT key FROM idempotent_answers WHERE key = ANY ($1)", &[&keys], |row| rows::bytes(row, 0)).await
}

/// Deletes answers that this transaction has stored.
pub(super) async fn delete_answer(db: &impl Client, keys: &[Fingerprint]) -> SqlResult<()> {
    let keys: Vec<&[u8]> = keys.iter().map(Fingerprint::as_slice).collect();
    rows::write(db, "DELETE FROM idempotent_answers WHERE key = ANY ($1)", &[&keys]).await.map(drop)
}

pub(super) async fn find(db: &impl Client, account: &str, key: &str) -> SqlResult<Option<IdempotentAnswer>> {
    let select =
        "SELECT request_hash, created_at, application, message, status, body FROM idempotent_answers WHERE key = $1";
    rows::one(db, select, &[&fingerprint(account, key).as_slice()], |row| {
        let (request_hash, at, answer) = rows::answer(row)?;
        Ok(IdempotentAnswer { account: account.into(), key: key.to_owned(), request_hash, answer, at })
    })
    .await
}

/// Reads only the `limit` oldest rows, so that the table needs no index by time.
pub(super) async fn delete_expired(db: &impl Client, before: Timestamp, limit: usize) -> SqlResult<usize> {
    let delete = "DELETE FROM idempotent_answers WHERE no IN (SELECT no FROM idempotent_answers ORDER BY no LIMIT $2) AND created_at < $1";
    let deleted = rows::write(db, delete, &[&before, &sql_limit(limit)]).await?;
    Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
}
