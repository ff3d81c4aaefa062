//! What waits for one endpoint: what for, and what somebody may do about it.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Attempt, Id};
use provider_core::port::supervision::{WaitingCounts, WaitingDeliveryStore};
use provider_core::port::{StoreError, StoreResult};
use rusqlite::Connection;

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, applications, attempts, ordering};

#[async_trait]
impl WaitingDeliveryStore for SqliteStore {
    async fn waiting_counts(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingCounts> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| waiting_counts(db, &endpoint, now, count_max)).await
    }

    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| {
            let hasten = "UPDATE deliveries SET next_at = ?2 WHERE endpoint = ?1 AND message IN \
                 (SELECT message FROM deliveries INDEXED BY deliveries_waiting \
                  WHERE endpoint = ?1 AND owner IS NULL AND tried = 1 AND next_at > ?2 LIMIT ?3)";
            Ok(db.prepare_cached(hasten)?.execute((&endpoint, ms(now), sql_limit(limit)))?)
        })
        .await
    }

    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| reset_endpoint_pause(db, &endpoint, now)).await
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let (endpoint, before) = (endpoint.to_owned(), before.to_owned());
        self.read(move |db| waiting_messages(db, &endpoint, &before, limit)).await
    }

    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| cancel_deliveries(db, &endpoint, &attempts)).await
    }
}

fn waiting_counts(db: &Connection, endpoint: &str, now: Timestamp, count_max: usize) -> SqlResult<WaitingCounts> {
    let count = "SELECT total(owner <> 0), total(owner = 0), total(owner IS NULL AND next_at <= ?2), \
             total(owner IS NULL AND next_at > ?2 AND attempts > 0), \
             total(owner IS NULL AND next_at > ?2 AND attempts = 0) \
         FROM (SELECT owner, attempts, next_at FROM deliveries WHERE endpoint = ?1 ORDER BY message LIMIT ?3)";
    let counted = rows::one(db, count, (endpoint, ms(now), sql_limit(count_max)), |row| {
        let number = |column| -> SqlResult<u64> { Ok(row.get::<_, f64>(column)? as u64) };
        Ok(WaitingCounts {
            claimed: number(0)?,
            key: number(1)?,
            due: number(2)?,
            retry: number(3)?,
            later: number(4)?,
        })
    })?;
    Ok(counted.unwrap_or_default())
}

fn reset_endpoint_pause(db: &Connection, endpoint: &str, now: Timestamp) -> SqlResult<()> {
    let touch = "UPDATE endpoints SET updated_at = max(?2, updated_at + 1) WHERE id = ?1 RETURNING application";
    let application = rows::one(db, touch, (endpoint, ms(now)), |row| rows::id(row, 0))?.ok_or(StoreError::NotFound)?;
    applications::raise_version(db, &application)?;
    Ok(())
}

fn waiting_messages(db: &Connection, endpoint: &str, before: &str, limit: usize) -> SqlResult<Vec<Id>> {
    let select = "SELECT message FROM deliveries WHERE endpoint = ?1 AND message < ?2 \
         AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) ORDER BY message DESC LIMIT ?3";
    let mut statement = db.prepare_cached(select)?;
    let mut found = statement.query((endpoint, before, sql_limit(limit)))?;
    let mut messages = Vec::new();
    while let Some(row) = found.next()? {
        messages.push(rows::id(row, 0)?);
    }
    Ok(messages)
}

fn cancel_deliveries(db: &Connection, endpoint: &str, given_up: &[Attempt]) -> SqlResult<usize> {
    let delete = "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 \
         AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) RETURNING key";
    let mut ended = 0;
    for attempt in given_up {
        if ordering::delete(db, endpoint, delete, (endpoint, &*attempt.message))? == 1 {
            attempts::insert(db, attempt)?;
            ended += 1;
        }
    }
    Ok(ended)
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
